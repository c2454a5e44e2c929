// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens regular files by their paths here or in a process. */
#include "record/collect/file_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/io.h"

int open_plain(const char *path, struct stat *st)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd;

	if (at < 0)
		return -errno;
	fd = fstat(at, st) < 0 ? -errno : io_open_at(at);
	close(at);
	return fd == -EINVAL ? -ENOENT : fd;
}

int open_of_process(const char *proc, uint32_t pid, const char *path, bool links,
		    struct stat *st)
{
	char root[PATH_SPACE];
	int dir, fd;

	if (snprintf(root, sizeof(root), "%s/%u/root", proc, pid) >=
	    (int)sizeof(root))
		return -ENAMETOOLONG;
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = beneath_open_root(dir, path, links);
	close(dir);
	if (fd >= 0 && fstat(fd, st) < 0) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}
