/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SOURCE_ACCESS_H
#define TALLY_PROFILE_SOURCE_ACCESS_H
/*
 * Which source files of this machine may be read.  Recordings and programs name
 * them, and both may come from strangers: a program made of
 * `#line 1 "/home/me/.ssh/id_rsa"` names a key.  All source files are opened here.
 *
 * - What others may get (pages, pictures, files, also those that the terminal view
 *   writes, pipes, recordings with embedded source) holds only files below the
 *   folders that the user named or stands in.  No symbolic link leads out of
 *   these; what is hidden (".git", ".env") or may not be read by others is left
 *   out.
 * - What only a terminal shows may be any file that the user may read.  The name
 *   of the file that was opened is returned, to be shown with it.
 * - For another user's recording nothing is read (profile.foreign): that user would
 *   choose with the reader's rights.
 */
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

enum source_use {
	SOURCES_FOR_OTHERS,	/* the default */
	SOURCES_ON_SCREEN,
};

struct source_root {
	char *name;		/* absolute, without "." and ".." */
	int fd;
};

/* All-zero: for others, below no folder: nothing is read. */
struct source_access {
	enum source_use use;
	VEC(struct source_root) roots;
};

/* A file that was read. */
struct source_read {
	struct buf text;
	char *name;		/* what it is called on this machine */
	const char *root;	/* the folder that it is below, of the access;
				 * NULL: none was needed */
	struct stat st;
};

/* Allows what is below the working directory, unless that is "/", and below the top
 * of the git work tree that it is in, where all folders up to there, and .git, are
 * the user's own, and the top is not the user's home. */
int source_access_init(struct source_access *a, enum source_use use,
		       struct error *err);
/* Allows what is below `folder`, if there is one of that name. */
int source_access_add(struct source_access *a, const char *folder,
		      struct error *err);
void source_access_fini(struct source_access *a);

/* "/a/./b//c/../d" is "/a/b/d"; false for what is no such path, or has too many
 * parts. */
bool source_path_clean(const char *path, struct buf *out);
/* Whether a file of this name might be read, wherever it leads. */
bool source_access_allows(const struct source_access *a, const char *path);
/* Reads a file of at most `limit` bytes.  The error does not tell whether a file
 * is there that may not be read. */
int source_access_read(const struct source_access *a, const char *path,
		       size_t limit, struct source_read *out,
		       struct error *err);
void source_read_fini(struct source_read *r);

#endif
