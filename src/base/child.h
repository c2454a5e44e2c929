/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_CHILD_H
#define TALLY_BASE_CHILD_H
/* A program that is asked something: started without a shell and without input,
 * bounded in time and in what it may say. */
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Runs argv (by PATH, ended by NULL) with the environment `env`, appends what it
 * writes to its output to `out`, and returns its exit status: 0 to 255.  What it
 * writes to its standard error is dropped.  One that takes longer than `ms`
 * (ERR_STOPPED), writes more than `limit` bytes (ERR_FORMAT) or dies of a signal
 * (ERR_IO) is no answer; it and what it started are killed.
 */
int child_run(char *const *argv, char *const *env, size_t limit, int ms,
	      struct buf *out, struct error *err);

#endif
