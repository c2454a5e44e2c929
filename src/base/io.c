// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads, writes and maps files: see io.h. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

enum { READ_FIRST = 4096, READ_STEP = 64 * 1024, COPY_MAX = 256 * 1024 };

int io_read_until(int fd, const char *name, size_t limit, io_enough *enough, void *ctx,
		  struct buf *out, struct error *err)
{
	size_t total = 0;

	for (;;) {
		/* Most files of /proc are small: large steps would cost fresh pages. */
		size_t step = total < READ_FIRST ? READ_FIRST
			    : total < READ_STEP ? total : READ_STEP;
		uint8_t *room = buf_room(out, step);
		ssize_t n;

		if (!room)
			return error_set(err, ERR_NOMEM, "%s: out of memory",
					 name);
		n = read(fd, room, step);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, errno, "%s: cannot read", name);
		if (n == 0)
			return 0;
		total += (size_t)n;
		if (total > limit)
			return error_set(err, ERR_FORMAT,
					 "%s: larger than %zu bytes", name,
					 limit);
		out->n += (size_t)n;
		if (enough && enough(ctx))
			return 0;
	}
}

int io_read_fd(int fd, const char *name, size_t limit, struct buf *out,
	       struct error *err)
{
	return io_read_until(fd, name, limit, NULL, NULL, out, err);
}

static int check_kind(const struct stat *st, const char *name, struct error *err)
{
	if (S_ISDIR(st->st_mode))
		return error_set(err, ERR_FORMAT, "%s: a folder, not a file",
				 name);
	if (S_ISFIFO(st->st_mode))
		return error_set(err, ERR_FORMAT, "%s: a pipe, where a regular "
				 "file is wanted", name);
	if (!S_ISREG(st->st_mode))
		return error_set(err, ERR_FORMAT, "%s: not a regular file",
				 name);
	return 0;
}

static int check_regular(int fd, const char *name, struct stat *st,
			 struct error *err)
{
	if (fstat(fd, st) < 0)
		return error_errno(err, errno, "%s: cannot stat", name);
	return check_kind(st, name, err);
}

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

void io_descriptor_path(int fd, char out[IO_DESCRIPTOR_PATH])
{
	snprintf(out, IO_DESCRIPTOR_PATH, "/proc/self/fd/%d", fd);
}

int io_open_at(int at)
{
	char link[IO_DESCRIPTOR_PATH];
	struct stat st;
	int fd;

	if (fstat(at, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	io_descriptor_path(at, link);
	fd = open(link, OPEN_FLAGS);
	return fd < 0 ? -errno : fd;
}

int io_open_file(const char *path, struct error *err)
{
	struct stat st;
	int fd, rc;

	if (stat(path, &st) < 0)
		return error_errno(err, errno, "%s: cannot open", path);
	rc = check_kind(&st, path, err);
	if (rc < 0)
		return rc;
	fd = open(path, OPEN_FLAGS);
	if (fd < 0)
		return error_errno(err, errno, "%s: cannot open", path);
	rc = check_regular(fd, path, &st, err);	/* it may have been replaced */
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

DIR *io_open_folder(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int code = errno;

	if (!d && fd >= 0)
		close(fd);
	errno = code;
	return d;
}

char *io_name_of(int fd)
{
	char link[IO_DESCRIPTOR_PATH], name[PATH_MAX];
	ssize_t n;

	io_descriptor_path(fd, link);
	n = readlink(link, name, sizeof(name) - 1);
	return n > 0 && name[0] == '/' ? strndup(name, (size_t)n) : NULL;
}

int io_read_file(const char *path, size_t limit, struct buf *out,
		 struct error *err)
{
	int fd = io_open_file(path, err);
	int rc;

	if (fd < 0)
		return fd;
	rc = io_read_fd(fd, path, limit, out, err);
	close(fd);
	return rc;
}

int io_write_all(int fd, const char *name, const void *p, size_t n,
		 struct error *err)
{
	const uint8_t *b = p;

	while (n) {
		ssize_t w = write(fd, b, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return error_errno(err, w ? errno : EIO,
					   "%s: cannot write", name);
		b += w;
		n -= (size_t)w;
	}
	return 0;
}

size_t io_read_at(int fd, uint64_t at, void *to, size_t n)
{
	size_t got = 0;

	errno = 0;
	while (got < n && at + got <= INT64_MAX) {
		ssize_t r = pread(fd, (uint8_t *)to + got, n - got,
				  (off_t)(at + got));

		if (r < 0 && errno != EINTR)
			break;
		errno = 0;
		if (r == 0)
			break;
		if (r > 0)
			got += (size_t)r;
	}
	return got;
}

/* Copies the n bytes of a file, fewer if it was truncated meanwhile. */
static int copy_file(int fd, const char *name, size_t n, struct io_map *out,
		     struct error *err)
{
	uint8_t *p = malloc(n);

	if (!p)
		return error_set(err, ERR_NOMEM, "%s: out of memory", name);
	out->n = io_read_at(fd, 0, p, n);
	if (out->n < n && errno) {
		int rc = error_errno(err, errno, "%s: cannot read", name);

		free(p);
		return rc;
	}
	out->p = p;
	out->copied = true;
	return 0;
}

static struct io_identity identity(const struct stat *st)
{
	return (struct io_identity){
		st->st_dev, st->st_ino, (uint64_t)st->st_size,
		clock_ns(st->st_mtim), clock_ns(st->st_ctim),
	};
}

bool io_identify(const char *path, struct io_identity *out)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*out = identity(&st);
	return true;
}

/* Files of up to copy_max bytes are copied. */
static int map_fd(int fd, const char *name, size_t copy_max, struct io_map *out,
		  struct error *err)
{
	struct stat st;
	void *p;
	int rc;

	*out = (struct io_map){ 0 };
	rc = check_regular(fd, name, &st, err);
	if (rc < 0)
		return rc;
	out->owner = st.st_uid;
	out->file = identity(&st);
	if (!st.st_size)
		return 0;
	if ((uint64_t)st.st_size <= copy_max)
		return copy_file(fd, name, (size_t)st.st_size, out, err);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return error_errno(err, errno, "%s: cannot map", name);
	out->p = p;
	out->n = (size_t)st.st_size;
	return 0;
}

static int map_file(const char *path, size_t copy_max, struct io_map *out,
		    struct error *err)
{
	int fd = io_open_file(path, err);
	int rc;

	*out = (struct io_map){ 0 };
	if (fd < 0)
		return fd;
	rc = map_fd(fd, path, copy_max, out, err);
	close(fd);
	return rc;
}

int io_map_fd(int fd, const char *name, struct io_map *out, struct error *err)
{
	return map_fd(fd, name, 0, out, err);
}

int io_map_file(const char *path, struct io_map *out, struct error *err)
{
	return map_file(path, 0, out, err);
}

int io_load_fd(int fd, const char *name, struct io_map *out, struct error *err)
{
	return map_fd(fd, name, COPY_MAX, out, err);
}

int io_load_file(const char *path, struct io_map *out, struct error *err)
{
	return map_file(path, COPY_MAX, out, err);
}

void io_unmap(struct io_map *m)
{
	if (m->copied)
		free((void *)m->p);
	else if (m->p)
		munmap((void *)m->p, m->n);
	*m = (struct io_map){ 0 };
}
