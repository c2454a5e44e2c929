/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_FILE_OPEN_H
#define TALLY_RECORD_COLLECT_FILE_OPEN_H
/* Opens regular files by their paths here or in a process. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum { PATH_SPACE = 4096 + 64 };

/* Opens a regular file only.  Returns the descriptor, or -errno. */
int open_plain(const char *path, struct stat *st);
/* Opens a regular file of a process by the path that the process sees.  The process
 * cannot lead to files outside of its root directory, whatever links it makes; with
 * links false, none are followed.  Returns the descriptor, or -errno. */
int open_of_process(const char *proc, uint32_t pid, const char *path, bool links,
		    struct stat *st);

#endif
