// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens files below a folder: see beneath.h. */
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

enum {
	FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	ATTEMPTS = 100,
};

#ifdef SYS_openat2
/* Opens the path with openat2(2).  Returns -ENOSYS if the kernel (before 5.6)
 * or a filter does not support the call. */
static int open_resolved(int dir, const char *path)
{
	struct open_how how = { .flags = FLAGS,
				.resolve = RESOLVE_BENEATH |
					   RESOLVE_NO_MAGICLINKS };
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
static int open_resolved(int dir, const char *path)
{
	(void)dir;
	(void)path;
	return -ENOSYS;
}
#endif

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
			fd = openat(at, name, O_NOFOLLOW |
				    (*rest ? O_PATH | O_DIRECTORY | O_CLOEXEC
					   : FLAGS));
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

int beneath_open(int dir, const char *path)
{
	int fd = open_resolved(dir, path);

	/* EPERM: filters of containers return it for unknown calls; opening for
	 * reading never fails with it otherwise */
	return fd == -ENOSYS || fd == -EPERM ? open_by_steps(dir, path) : fd;
}
