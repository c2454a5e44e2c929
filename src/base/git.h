/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_GIT_H
#define TALLY_BASE_GIT_H
/*
 * Runs git on a repository that may be hostile or may be named by a hostile
 * recording.  No program configured by the repository or the environment is
 * run: no hooks, monitors, filters, pagers or signature checks.  There is no
 * network access, and GIT_* variables have no effect.
 */
#include "base/buf.h"
#include "base/error.h"

/*
 * Runs git -C DIR with n arguments, appends at most `limit` bytes of output to
 * `out`, and returns the exit status.  Fails if git takes longer than `ms`
 * (ERR_STOPPED), writes more (ERR_FORMAT) or is ended by a signal (ERR_IO).  Git
 * and the processes it started are then killed.
 */
int git_ask(const char *dir, const char *const *words, size_t n, size_t limit,
	    int ms, struct buf *out, struct error *err);
/* The same in an open folder, which may have another name by now. */
int git_ask_in(int dir, const char *const *words, size_t n, size_t limit,
	       int ms, struct buf *out, struct error *err);

/* Arguments for `git log` that run no program from the repository's
 * configuration. */
#define GIT_LOG_ARGS "log", "--no-color", "--no-textconv", "--no-ext-diff", \
		      "--no-show-signature"

#endif
