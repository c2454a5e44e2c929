/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_SOURCE_GIT_H
#define TALLY_VIEWS_CODE_SOURCE_GIT_H
/*
 * Source files as they were in the commit that was checked out when a recording
 * was made.  git is asked for the blob alone: no hook, filter, pager or network
 * (gitrepository-layout(5), git-cat-file(1)).
 */
#include "profile/model.h"
#include "profile/source_access.h"

struct source_git {
	const struct source_access *access;	/* paths whose repositories may
						 * be asked */
	const char *repo;	/* where files may be, besides at their paths, or
				 * NULL */
	char revision[65];	/* "": the recording knows none */
	bool listed;
	struct buf names;	/* of files in `repo`, NUL after each */
	struct u64map by_name;	/* hash of a name: its offset in names */
};

void source_git_init(struct source_git *g, const struct profile *p,
		     const struct source_access *access, const char *repo);
void source_git_fini(struct source_git *g);
/*
 * The file that was at `path`: its text is appended to `out`, what it is called
 * ("git 1234abcd:src/a.c") to `name`.  ERR_NOTFOUND where no repository has it,
 * without a message where there was none to ask.
 */
int source_git_read(struct source_git *g, const char *path, size_t limit,
		    struct buf *out, struct buf *name, struct error *err);

#endif
