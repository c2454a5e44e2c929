/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_ERROR_H
#define TALLY_BASE_ERROR_H
/*
 * Error codes and messages of all libraries.
 *
 * A function that can fail returns 0 (or a count) on success and a negative
 * enum errcode on failure.  On failure it also fills `struct error` with a
 * sentence that names the thing, the reason and the smallest fix, if there is
 * one.  The message is set where file and offset are known; callers above may
 * prefix it with error_prefix() but never replace it.  A failed lookup (no
 * symbol, no DWARF) is a normal result, not an error.  Libraries never print
 * and never exit.
 */
#include <stddef.h>

enum errcode {
	ERR_NOMEM = 1,		/* an allocation failed or a stated limit was hit */
	ERR_IO,			/* the system refused: errno text is in the message */
	ERR_FORMAT,		/* input does not conform to its specification */
	ERR_USAGE,		/* invalid command line or request */
	ERR_PERM,		/* not allowed; the message names the setting */
	ERR_NOTFOUND,		/* a named thing does not exist */
	ERR_UNSUPPORTED,	/* valid, but not on this machine or build */
	ERR_STOPPED,		/* a callback asked to stop */
	ERR_FILES,		/* the process has no free file descriptor */
};

struct error {
	int code;		/* enum errcode, 0 when unset */
	char msg[1024];		/* without newline */
};

/* Sets code and message; `err` may be NULL.  Returns -code. */
int error_set(struct error *err, enum errcode code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets "out of memory".  Returns -ERR_NOMEM. */
int error_nomem(struct error *err);

/* Like error_set, with ": strerror(errnum)" appended; EPERM and EACCES become
 * ERR_PERM, ENOMEM becomes ERR_NOMEM, ENOENT becomes ERR_NOTFOUND, EMFILE becomes
 * ERR_FILES, all else ERR_IO. */
int error_errno(struct error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "text: " before the message that `err` already holds. */
void error_prefix(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
