/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_REPO_FILES_H
#define TALLY_CHECK_REPO_FILES_H
/*
 * Finds the files of a git repository that recordings name.  Programs may have been
 * built in another folder, and recordings also name files of libraries that are not in
 * the repository but have the base name of one that is.
 */
#include "base/buf.h"
#include "base/vec.h"

struct repo_files {
	struct buf list;	/* paths relative to `folder`, each with a NUL */
	struct buf folder;	/* absolute path of the folder, "" if unknown */
	struct buf prefix;	/* the folder in the repository: "" or "sub/" */
	VEC(const char *) by_base;	/* the paths, sorted by base name */
};

/* Sorts the paths of `list`.  Returns 0 or -ERR_NOMEM. */
int repo_files_sort(struct repo_files *f);
void repo_files_fini(struct repo_files *f);

struct repo_match {
	const char *path;	/* NULL: the file is not in the repository, or is not
				 * known */
	const char *like;	/* one of several equally likely files */
	size_t several;		/* number of these files, or 0 */
};

/*
 * Finds a recorded file: the file at this place; else the one whose whole path in the
 * repository is the end of the recorded path; else the one with the longest common end
 * of at least a folder and a base name.  A base name alone is enough if it is unique and
 * one of the two paths has no folder.
 */
struct repo_match repo_files_find(const struct repo_files *f, const char *recorded);

#endif
