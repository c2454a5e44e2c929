// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens files below a folder: see beneath.h. */
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

enum {
	FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	/* opens nothing, so that a file's kind can be checked first */
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
static int open_resolved(int dir, const char *path, int flags,
			 unsigned int resolve)
{
	struct open_how how = { .flags = (unsigned int)flags,
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
static int open_resolved(int dir, const char *path, int flags,
			 unsigned int resolve)
{
	(void)dir;
	(void)path;
	(void)flags;
	(void)resolve;
	return -ENOSYS;
}
#endif

/* Opens the path component by component; none may be a symbolic link. */
static int open_by_steps(int dir, const char *path, int flags)
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
			fd = openat(at, name, O_NOFOLLOW |
				    (*rest ? O_PATH | O_DIRECTORY | O_CLOEXEC
					   : flags));
			e = fd < 0 ? -errno : 0;
		}
		if (at != dir)
			close(at);
		if (fd < 0 || !*rest)
			return fd < 0 ? e : fd;
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

int beneath_open(int dir, const char *path)
{
	int fd = open_resolved(dir, path, FLAGS, RESOLVE_BENEATH);

	return is_unknown(fd) ? open_by_steps(dir, path, FLAGS) : fd;
}

int beneath_open_root(int dir, const char *path, bool links)
{
	int at = open_resolved(dir, path, PATH_FLAGS, RESOLVE_IN_ROOT |
			       (links ? 0 : RESOLVE_NO_SYMLINKS));
	char name[32];
	struct stat st;
	int fd;

	if (is_unknown(at))
		at = open_by_steps(dir, path + strspn(path, "/"), PATH_FLAGS);
	if (at < 0)
		return at;
	if (fstat(at, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(at);
		return -ENOENT;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
	fd = open(name, FLAGS);
	fd = fd < 0 ? -errno : fd;
	close(at);
	return fd;
}
