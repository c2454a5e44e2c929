/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_REPLACE_H
#define TALLY_PROFILE_REPLACE_H
/*
 * Recordings that take the place of older ones: the older is kept as FILE.old,
 * as perf does.  What is no recording stays as it is unless `force`.
 */
#include <stdbool.h>

#include "base/outfile.h"

/* May a recording be called `path`?  0, or an error that says what is there. */
int recording_may_replace(const char *path, bool force, struct error *err);
/* Keeps the recording, if there is one, that `f` will take the place of as
 * FILE.old. */
int recording_keep_old(struct outfile *f, struct error *err);

#endif
