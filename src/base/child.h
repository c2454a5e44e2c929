/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_CHILD_H
#define TALLY_BASE_CHILD_H
/* Runs a helper program without a shell and without input, with limits on its
 * run time and output. */
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Runs argv (found by PATH, terminated by NULL) with the environment `env`.
 * Appends its standard output to `out` and returns its exit status, 0 to 255.
 * Standard error is discarded.  Runs in the folder of the descriptor `dir`, if not
 * AT_FDCWD.  Fails if the program takes longer than `ms`
 * (ERR_STOPPED), writes more than `limit` bytes (ERR_FORMAT) or is ended by a
 * signal (ERR_IO).  The program and the processes it started are then killed.
 */
int child_run(int dir, char *const *argv, char *const *env, size_t limit, int ms,
	      struct buf *out, struct error *err);

#endif
