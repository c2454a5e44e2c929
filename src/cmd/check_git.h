/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_CHECK_GIT_H
#define TALLY_CMD_CHECK_GIT_H
/*
 * Asks git about the commits and changes between two revisions of a repository.  All
 * questions together have a limit of time, and no question is asked twice.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "check/edits.h"
#include "check/repo_files.h"

enum { CHECK_GIT_MS = 30000 };

/* An answer: lines "ID<tab>SUBJECT", newest first. */
struct check_git_log {
	char *path;
	uint32_t first, last;	/* lines of the new revision; 0: all of the file */
	struct buf commits;
	bool of_file;		/* git could not tell which commits changed the lines:
				 * these changed the file */
};

struct check_git {
	int folder;
	uint64_t end_ns;	/* when no more is asked, by clock_now() */
	bool out_of_time;
	bool cut;		/* commits between the revisions are missing */
	const char *old, *new;	/* revisions: hexadecimal, as recordings are not
				 * trusted */
	struct repo_files files;	/* of the new revision */
	VEC(struct check_git_log) logs;
};

/*
 * Opens a folder of a repository with both revisions.  Appends to `why` what is wrong
 * and the smallest fix, if it cannot be asked or something is missing.  Returns 1 if it
 * can be asked, 0 if not, or -ERR_NOMEM.  Call check_git_close in any case.
 */
int check_git_open(struct check_git *g, const char *repo, struct buf *why);
void check_git_close(struct check_git *g);

/* Returns the commits that changed lines of a file, or the file if `first` is 0; none if
 * git cannot tell.  Valid until the next call; NULL without memory. */
const struct check_git_log *check_git_log(struct check_git *g, const char *path,
					  uint32_t first, uint32_t last);
/* Adds what changed between the revisions.  Appends to `why` what is wrong.  Returns 0
 * or -ERR_NOMEM. */
int check_git_edits(struct check_git *g, struct edits *e, struct buf *why);

#endif
