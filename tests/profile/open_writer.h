/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_PROFILE_OPEN_WRITER_H
#define TESTS_PROFILE_OPEN_WRITER_H
/* Opens a writer on a file, which stays open until the test ends. */
#include <errno.h>
#include <fcntl.h>

#include "base/error.h"
#include "profile/writer.h"

static inline int open_writer(const char *path, const struct profile *p,
			      struct writer **out, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? error_errno(err, errno, "%s", path)
		      : writer_open_fd(fd, path, p, out, err);
}

#endif
