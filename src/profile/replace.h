/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_REPLACE_H
#define TALLY_PROFILE_REPLACE_H
/*
 * Replaces older recordings.  The older one is kept as FILE.old, as perf does.
 * A file that is not a recording is left unchanged unless `force` is set.
 */
#include <stdbool.h>

#include "base/outfile.h"

/* Checks whether a recording may be written to `path`.  Returns 0 or an error
 * that describes the existing file. */
int recording_may_replace(const char *path, bool force, struct error *err);
/* Keeps the recording that `f` will replace, if there is one, as FILE.old. */
int recording_keep_old(struct outfile *f, struct error *err);

#endif
