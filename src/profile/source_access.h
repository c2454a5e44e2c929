/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SOURCE_ACCESS_H
#define TALLY_PROFILE_SOURCE_ACCESS_H
/*
 * Decides which source files of this machine may be read.  Recordings and
 * programs name them, and both may be hostile: a program compiled from `#line 1
 * "/home/me/.ssh/id_rsa"` names a key.  All source files are opened here.
 *
 * - Output that others may receive contains only files below the folders that
 *   the user named or works in.  Such output is pages, images, files (including
 *   those written by the terminal view), pipes, and recordings with embedded
 *   source.  Symbolic links that lead out of these folders are not followed;
 *   hidden files (".git", ".env") and files that others may not read or whose
 *   folders they may not search are left out.  The folders that were named are not
 *   checked: that a home or a project is closed to others is no reason to show
 *   nothing of it.
 * - Output that only a terminal shows may contain any file that the user may
 *   read.  The name of the file that was opened is returned, to be shown with
 *   it.
 * - For another user's recording nothing is read (profile.foreign), because
 *   that user would choose files with the reader's permissions.
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

/* All-zero: SOURCES_FOR_OTHERS without folders, so nothing may be read. */
struct source_access {
	enum source_use use;
	VEC(struct source_root) roots;
};

/* A file that was read. */
struct source_read {
	struct buf text;
	char *name;		/* its name on this machine */
	const char *root;	/* its root folder in the access; NULL: none was
				 * needed */
	struct stat st;
};

/* Initializes an access.  Allows files below the working directory, unless that
 * is "/".  Also allows files below the top of the surrounding git work tree,
 * unless that is the user's home.  All folders up to the top, and .git, must
 * belong to the user. */
int source_access_init(struct source_access *a, enum source_use use,
		       struct error *err);
/* Allows files below `folder`, if it exists. */
int source_access_add(struct source_access *a, const char *folder,
		      struct error *err);
void source_access_fini(struct source_access *a);

/* Returns whether others have a right (S_IROTH, S_IXOTH) too; for the user's own files
 * and folders, whether the group has it. */
bool source_is_public(const struct stat *st, mode_t right);
/* Simplifies an absolute path: "/a/./b//c/../d" becomes "/a/b/d".  Returns
 * false if it is not absolute or has too many parts. */
bool source_path_clean(const char *path, struct buf *out);
/* Returns whether a file with this name may be read, before symbolic links are
 * considered. */
bool source_access_allows(const struct source_access *a, const char *path);
/* Returns whether an absolute path without symbolic links is one of the folders or
 * below one. */
bool source_access_covers(const struct source_access *a, const char *path);
/* Reads a file of at most `limit` bytes; free *out with source_read_fini.  The
 * error does not reveal whether a forbidden file exists. */
int source_access_read(const struct source_access *a, const char *path,
		       size_t limit, struct source_read *out,
		       struct error *err);
void source_read_fini(struct source_read *r);

/* A folder whose files may be read. */
struct source_folder {
	int fd;				/* O_PATH */
	const struct source_root *root;	/* that contains it; NULL: none */
	bool is_root;			/* the user named it or works in it */
	bool all;			/* private files and all places, too */
};

/* Opens the folder with the clean path `path`, if it is a root or below one, like
 * files.  Returns 0 or ERR_NOTFOUND. */
int source_access_folder(const struct source_access *a, const char *path,
			 struct source_folder *out);
/* Returns 0 if a text that had the relative path `name` in the folder may be shown:
 * the path is not hidden and, as far as it exists now, not private. */
int source_folder_check(const struct source_folder *f, const char *name,
			struct error *err);
void source_folder_close(struct source_folder *f);

#endif
