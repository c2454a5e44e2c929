// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps and replaces older recordings: see replace.h. */
#include "profile/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/format.h"

enum what { NOTHING, EMPTY, RECORDING, OTHER_FILE, UNREADABLE, NO_FILE };

/* Examines the path itself without following a link.  UNREADABLE sets errno. */
static enum what what_is(const char *path)
{
	char magic[sizeof(FORMAT_MAGIC) - 1];
	struct stat st;
	ssize_t n;
	int fd;

	if (lstat(path, &st) < 0)
		return NOTHING;
	if (!S_ISREG(st.st_mode))
		return NO_FILE;
	if (!st.st_size)
		return EMPTY;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
		  O_NOFOLLOW);
	if (fd < 0)
		return UNREADABLE;
	n = read(fd, magic, sizeof(magic));
	close(fd);
	return n == sizeof(magic) &&
	       (!memcmp(magic, FORMAT_MAGIC, sizeof(magic)) ||
		!memcmp(magic, FORMAT_MAGIC_EARLY, sizeof(magic)))
	       ? RECORDING : OTHER_FILE;
}

static char *old_name(const char *path)
{
	char *old;

	return asprintf(&old, "%s.old", path) < 0 ? NULL : old;
}

int recording_may_replace(const char *path, bool force, struct error *err)
{
	enum what is = what_is(path), behind;
	char *old;
	int rc = 0;

	if (is == UNREADABLE && !force)
		return error_errno(err, errno, "%s exists, and cannot be read "
				   "to check whether it is a recording (-o "
				   "FILE writes "
				   "elsewhere, --force overwrites it)", path);
	if (is == OTHER_FILE && !force)
		return error_set(err, ERR_USAGE, "%s exists and is not a "
				 "recording: -o FILE writes elsewhere, --force "
				 "overwrites it", path);
	if (is != RECORDING)
		return 0;
	old = old_name(path);
	if (!old)
		return error_nomem(err);
	behind = what_is(old);
	if (behind == NO_FILE ||
	    ((behind == OTHER_FILE || behind == UNREADABLE) && !force))
		rc = error_set(err, ERR_USAGE, "%s would be kept as %s, but "
			       "that exists and %s: -o FILE writes elsewhere%s",
			       path, old, behind == UNREADABLE
			       ? "cannot be read" : "is not a recording",
			       behind == NO_FILE ? ""
			       : ", --force overwrites it");
	free(old);
	return rc;
}

int recording_keep_old(struct outfile *f, struct error *err)
{
	char *old;
	int rc;

	if (!f->temp || what_is(f->path) != RECORDING)
		return 0;
	old = old_name(f->path);
	if (!old)
		return error_nomem(err);
	rc = outfile_keep(f, old, err);
	free(old);
	return rc;
}
