/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_OUTFILE_H
#define TALLY_BASE_OUTFILE_H
/*
 * The output file of a command.  All commands use it:
 *
 * - A regular file is written without a name in the same directory, and gets its
 *   name when it is complete.  No partial file is ever visible, and an old file
 *   survives a failure.  Where the file system has no such files, it has a temporary
 *   name.  A process that is killed may leave that; the next command that writes the
 *   same file removes it.
 * - If no file can be created in the directory, an old file is overwritten in
 *   place.  The exception is a recording, which would be lost on failure.
 * - Symbolic links are an error: whoever can create links in a directory could
 *   otherwise choose which file is overwritten.
 * - /dev/stdout, /dev/stderr and /dev/fd/N are open descriptors; pipes and
 *   character devices are written directly.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "base/error.h"

struct outfile {
	int fd;			/* -1: not open */
	char *path;		/* final path, also for messages */
	char *temp;		/* temporary name; NULL once renamed, or if the file is
				 * written in place */
	bool unnamed;		/* the file does not have this name yet */
	char *keep;		/* new name for an older file; NULL: the older file
				 * is deleted */
	bool tried;		/* outfile_try gave the file its final name … */
	bool displaced;		/* … and `keep` (or `path`, if keep is NULL) was the
				 * name of another file */
	int older;		/* … and descriptor of the file that is now named
				 * temp, or -1 */
};

/* Opens the output file.  `private_mode` uses mode 0600 instead of the
 * umask.  "-" is an ERR_USAGE error, because users mean standard output by it. */
int outfile_open(struct outfile *f, const char *path, bool private_mode,
		 struct error *err);
/* Gives the file its temporary name now, for callers that must open it by name. */
int outfile_name(struct outfile *f, struct error *err);
/* Keeps the existing older file under the name `keep`.  Returns 0 or
 * -ERR_NOMEM. */
int outfile_keep(struct outfile *f, const char *keep, struct error *err);
/*
 * Renames the file to its final name but keeps it open, so that this can be
 * undone: outfile_place makes it final, outfile_drop restores the old state.
 * If the process is killed in between, there is a complete file at `path`.  An
 * older file to be kept is then either at `path` or under the name `keep`.  On
 * file systems that cannot exchange files, nothing happens before
 * outfile_place.
 */
int outfile_try(struct outfile *f, struct error *err);
/* Renames the file to its final name and keeps it open; an older file is
 * replaced or kept. */
int outfile_place(struct outfile *f, struct error *err);
/* Checks whether the file still has its final name, which a long-running command may
 * have lost to another one.  Returns 0, or an error that says where the file is. */
int outfile_check(const struct outfile *f, struct error *err);
/* Renames the file to its final name and closes it. */
int outfile_close(struct outfile *f, struct error *err);
/* Closes the file and removes it unless it has its final name.  May be called
 * at any time. */
void outfile_drop(struct outfile *f);

/* Writes a complete file in one call. */
int outfile_write(const char *path, const void *p, size_t n,
		  struct error *err);

/* Replaces the file `name` of a folder by `parts`, which are written as `temp` first and,
 * if `sync`, are on the disk before the file has its name.  `temp` is removed before and
 * on failure, whatever it is.  Sets errno if it fails. */
int outfile_replace(int dir, const char *temp, const char *name, unsigned int mode,
		    bool sync, const struct iovec *parts, size_t n, struct error *err);

/* Renames a file of the folder `dir`, or AT_FDCWD, unless `to` exists (EEXIST).  File
 * systems that cannot do this in one step (NFS, 9p) do it by a link or, without links,
 * after a check.  Returns 0 or an errno. */
int outfile_rename(int dir, const char *from, const char *to);

/* Opens the folder of a command that goes on writing and reading files there, and
 * makes it with `mode` if it does not exist.  A folder of another user, or one in
 * which all users may write, is an error: others could replace the files.  `what`
 * says in messages what the folder is ("the spool").  Returns the descriptor or a
 * negative error. */
int outfile_folder(const char *path, unsigned int mode, const char *what,
		   struct error *err);

#endif
