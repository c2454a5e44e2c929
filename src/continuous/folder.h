/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_FOLDER_H
#define TALLY_CONTINUOUS_FOLDER_H
/* What a continuous recording holds open while others may replace it: its folder with
 * the lock, and the control group. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Opens and locks the folder, which is made if it does not exist.  `wait`: for
 * processes that a killed supervisor left behind. */
int folder_open(const char *path, bool wait, int *dir, int *lock,
		struct error *err);
/* Returns whether the path still names an open folder. */
bool folder_is_at(int dir, const char *path);
/* Returns the inode of a control group; 0 if it does not exist. */
uint64_t cgroup_inode(const char *path);

#endif
