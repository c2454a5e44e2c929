/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_SOURCE_GIT_H
#define TALLY_VIEWS_CODE_SOURCE_GIT_H
/*
 * Source files from the commit that was checked out when a recording was made.
 * Only the blob is read with git, without hooks, filters, pager or network
 * (gitrepository-layout(5), git-cat-file(1)).
 */
#include "profile/model.h"
#include "profile/source_access.h"

struct source_git {
	/* paths whose repositories may be read */
	const struct source_access *access;
	const char *repo;	/* additional repository with sources, or NULL */
	char revision[65];	/* "": unknown to the recording */
	bool listed;
	struct buf names;	/* NUL-terminated names of files in `repo` */
	struct u64map by_name;	/* hash of a name to its offset in `names` */
};

void source_git_init(struct source_git *g, const struct profile *p,
		     const struct source_access *access, const char *repo);
void source_git_fini(struct source_git *g);
/*
 * Appends the text of the file that was at `path` to `out`, and its origin
 * ("git 1234abcd:src/a.c") to `name`.  Returns ERR_NOTFOUND if no repository
 * has it.  The message is empty if there was no repository to read.
 */
int source_git_read(struct source_git *g, const char *path, size_t limit,
		    struct buf *out, struct buf *name, struct error *err);

#endif
