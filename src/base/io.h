/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_IO_H
#define TALLY_BASE_IO_H
/* Small helpers over read(2), write(2) and mmap(2) that handle EINTR and short
 * transfers and name the file in their errors.  What is opened by path must be a
 * regular file (ERR_FORMAT if not), as paths come from outside: a FIFO would
 * hang, a device do things. */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* Appends a whole file (also /proc and /sys files, whose size reads 0) to
 * `out`, at most `limit` bytes; a larger file is ERR_FORMAT. */
int io_read_file(const char *path, size_t limit, struct buf *out,
		 struct error *err);
int io_read_fd(int fd, const char *name, size_t limit, struct buf *out,
	       struct error *err);
/* Writes everything or fails; `name` is only for the message. */
int io_write_all(int fd, const char *name, const void *p, size_t n,
		 struct error *err);

/*
 * A file mapped read-only.  A file cut short while it is mapped raises SIGBUS on
 * access: cli/guard.c maps zeros in its place, so that readers see bad data and
 * not death.
 */
struct io_map {
	const uint8_t *p;	/* NULL when empty */
	size_t n;
	uint32_t owner;		/* user number */
};
int io_map_fd(int fd, const char *name, struct io_map *out, struct error *err);
int io_map_file(const char *path, struct io_map *out, struct error *err);
void io_unmap(struct io_map *m);

#endif
