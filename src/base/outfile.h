/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_OUTFILE_H
#define TALLY_BASE_OUTFILE_H
/*
 * A file that a command was told to write.  All commands open theirs here:
 *
 * - A regular file is written under another name in the same folder and takes
 *   its place when it is whole, so that nobody sees a part of it and an old file
 *   survives a failure.  A process that is killed may leave that other file; the
 *   next that writes the same file removes it.
 * - Where a folder takes no new files an old file is written in place, unless it
 *   is a recording: that would be lost if anything failed.
 * - Nothing is written through a symbolic link: whoever may make links in a
 *   folder would choose what we overwrite.  A link is an error.
 * - /dev/stdout, /dev/stderr and /dev/fd/N are descriptors that are open already;
 *   pipes and character devices are written as they are.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct outfile {
	int fd;			/* -1: not open */
	char *path;		/* for messages, and where the file goes */
	char *temp;		/* its name until then; NULL: it is in place */
	char *keep;		/* what an older file is to be called, or NULL:
				 * it goes */
	bool tried;		/* outfile_try: it has its name … */
	bool displaced;		/* … and `keep`, or without it `path`, was another
				 * file's name */
	int older;		/* … and what has the name temp now, or -1 */
};

/* `private_mode`: nobody else may read it (0600); else as the umask says. */
int outfile_open(struct outfile *f, const char *path, bool private_mode,
		 struct error *err);
/* Keeps the older file, of which there must be one, under the name `keep`.
 * 0 or -ERR_NOMEM. */
int outfile_keep(struct outfile *f, const char *keep, struct error *err);
/*
 * Puts the file in its place, still open, so that it can be taken back:
 * outfile_place makes it final, outfile_drop undoes it.  Whenever the process is
 * killed meanwhile, there is a whole file at `path`, and an older one that is to
 * be kept is there or under the name `keep`.  Where the file system cannot swap
 * two files nothing happens before outfile_place.
 */
int outfile_try(struct outfile *f, struct error *err);
/* Puts the file in its place, still open; an older one is gone or kept. */
int outfile_place(struct outfile *f, struct error *err);
/* Puts it in its place and closes it. */
int outfile_close(struct outfile *f, struct error *err);
/* Closes it; what is not in its place is removed.  May be called at any time. */
void outfile_drop(struct outfile *f);

/* A whole file in one go. */
int outfile_write(const char *path, const void *p, size_t n,
		  struct error *err);

#endif
