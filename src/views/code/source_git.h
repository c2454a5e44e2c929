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
	struct buf checked;	/* folder of the last repository that was accepted */
	bool listed;
	struct source_folder folder;	/* `repo`, once listed */
	struct buf names;	/* NUL-terminated rows of git-ls-tree(1) in `repo` */
	struct u64map by_name;	/* hash of a name to its offset in `names` */
};

struct source_git_file {
	struct buf text;
	struct buf name;	/* "git 1234abcd:src/a.c" */
	struct buf folder;	/* of the repository; its files' names start there */
};

void source_git_init(struct source_git *g, const struct profile *p,
		     const struct source_access *access, const char *repo);
void source_git_fini(struct source_git *g);
/*
 * Reads the file that was at `path`; free *out with source_git_file_fini.  Returns
 * ERR_NOTFOUND if no repository has it.  The message is empty if there was no
 * repository to read.  What source_access.h refuses as a file is refused here, too:
 * a folder behind a link that leads out, and files that are hidden or, as they are
 * now, private.
 */
int source_git_read(struct source_git *g, const char *path, size_t limit,
		    struct source_git_file *out, struct error *err);
void source_git_file_fini(struct source_git_file *f);

#endif
