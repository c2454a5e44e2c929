// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens files below a folder: see beneath.h. */
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#include "base/io.h"

enum {
	/* opens nothing, so that a file's kind and mode can be checked first */
	PATH_FLAGS = O_PATH | O_CLOEXEC,
	ATTEMPTS = 100,
};

#ifndef SYS_openat2
/* the constants of linux/openat2.h */
enum {
	RESOLVE_NO_MAGICLINKS = 0x02,
	RESOLVE_NO_SYMLINKS = 0x04,
	RESOLVE_BENEATH = 0x08,
	RESOLVE_IN_ROOT = 0x10,
};
#endif

#ifdef SYS_openat2
/* Opens the path with openat2(2).  Returns -ENOSYS if the kernel (before 5.6)
 * or a filter does not support the call. */
static int open_resolved(int dir, const char *path, unsigned int resolve)
{
	struct open_how how = { .flags = PATH_FLAGS,
				.resolve = resolve | RESOLVE_NO_MAGICLINKS };
	long fd = -1;

	/* EAGAIN: a component of the path was renamed meanwhile */
	for (int i = 0; i < ATTEMPTS; i++) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd >= 0 ? (int)fd : -errno;
}
#else
static int open_resolved(int dir, const char *path, unsigned int resolve)
{
	(void)dir;
	(void)path;
	(void)resolve;
	return -ENOSYS;
}
#endif

/* Returns fd, or -ELOOP if it is of a symbolic link itself. */
static int no_link(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && !S_ISLNK(st.st_mode))
		return fd;
	close(fd);
	return -ELOOP;
}

/* Opens the path component by component; none may be a symbolic link. */
static int open_by_steps(int dir, const char *path)
{
	char name[NAME_MAX + 1];
	int at = dir;

	if (*path == '/')
		return -EXDEV;
	for (;;) {
		size_t n = strcspn(path, "/");
		const char *rest = path + n + strspn(path + n, "/");
		int fd, e = 0;

		if (n > NAME_MAX)
			e = -ENAMETOOLONG;
		else if (n == 2 && !strncmp(path, "..", 2))
			e = -EXDEV;
		if (e) {
			fd = -1;
		} else {
			memcpy(name, path, n);
			name[n] = 0;
			fd = openat(at, name, O_NOFOLLOW | PATH_FLAGS |
				    (*rest ? O_DIRECTORY : 0));
			e = fd < 0 ? -errno : 0;
		}
		if (at != dir)
			close(at);
		if (fd < 0 || !*rest)
			return fd < 0 ? e : no_link(fd);
		at = fd;
		path = rest;
	}
}

/* Returns whether openat2 cannot be used.  EPERM: filters of containers return it for
 * unknown calls; opening for reading never fails with it otherwise. */
static bool is_unknown(int fd)
{
	return fd == -ENOSYS || fd == -EPERM;
}

int beneath_find(int dir, const char *path)
{
	int fd = open_resolved(dir, path, RESOLVE_BENEATH);

	return is_unknown(fd) ? open_by_steps(dir, path) : fd;
}

int beneath_open_root(int dir, const char *path, bool links)
{
	int at = open_resolved(dir, path, RESOLVE_IN_ROOT |
			       (links ? 0 : RESOLVE_NO_SYMLINKS));
	int fd;

	if (is_unknown(at))
		at = open_by_steps(dir, path + strspn(path, "/"));
	if (at < 0)
		return at;
	fd = io_open_at(at);
	close(at);
	return fd == -EINVAL ? -ENOENT : fd;
}
