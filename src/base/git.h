/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_GIT_H
#define TALLY_BASE_GIT_H
/*
 * git as a program that is asked about a repository which may be hostile, or be
 * named by a hostile recording.  Nothing that the repository or the environment
 * configures is run: no hooks, monitors, filters, pagers, signature checks; nothing
 * goes to the network, and GIT_* variables lead nowhere else.
 */
#include "base/buf.h"
#include "base/error.h"

/*
 * git -C DIR WORDS… (n of them): appends its answer of at most `limit` bytes to
 * `out` and returns its exit status.  Negative as child_run, also where it takes
 * longer than `ms`.
 */
int git_ask(const char *dir, const char *const *words, size_t n, size_t limit,
	    int ms, struct buf *out, struct error *err);

/* Of `git log`: runs no program of the repository's attributes and settings. */
#define GIT_LOG_WORDS "log", "--no-color", "--no-textconv", "--no-ext-diff", \
		      "--no-show-signature"

#endif
