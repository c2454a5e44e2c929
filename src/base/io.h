/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_IO_H
#define TALLY_BASE_IO_H
/* Helpers for read(2), write(2) and mmap(2) that handle EINTR and short
 * transfers and name the file in their errors.  Paths come from outside, so
 * files opened by path must be regular files (ERR_FORMAT otherwise): a FIFO
 * could block, and a device could have side effects. */
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Open a regular file for reading.  Its kind is checked before it is opened: the open
 * alone would wake a writer that waits on a FIFO, or start a device.  io_open_file checks
 * the path first, which takes less time for the thousand files of a package database.  If
 * the file is replaced by a FIFO in between, the FIFO is opened, and then refused.
 *
 * io_open_at opens what the O_PATH descriptor `at` is of, which stays open.  Returns a
 * negative errno: EINVAL for other kinds of files, ELOOP for a symbolic link.  Requires
 * /proc.
 */
int io_open_at(int at);
int io_open_file(const char *path, struct error *err);
/* Writes the path by which /proc leads to an open file. */
enum { IO_DESCRIPTOR_PATH = 32 };
void io_descriptor_path(int fd, char out[IO_DESCRIPTOR_PATH]);
/* Returns the path of an open file, which the caller frees; NULL without /proc, or if it
 * has none. */
char *io_name_of(int fd);

/* Opens a folder for readdir(3); a symbolic link is not followed.  `dir` is the folder
 * that `name` is in, or AT_FDCWD; a `name` of "." opens `dir` itself anew.  Returns NULL
 * with errno. */
DIR *io_open_folder(int dir, const char *name);

/* Appends a whole file to `out`, also /proc and /sys files with a size of 0.  A
 * file larger than `limit` is ERR_FORMAT. */
int io_read_file(const char *path, size_t limit, struct buf *out,
		 struct error *err);
int io_read_fd(int fd, const char *name, size_t limit, struct buf *out,
	       struct error *err);
/* Like io_read_fd, but stops as soon as `enough` says so.  It is asked after each part
 * that was appended to `out`, and may shorten it. */
typedef bool io_enough(void *ctx);
int io_read_until(int fd, const char *name, size_t limit, io_enough *enough, void *ctx,
		  struct buf *out, struct error *err);
/* Reads n bytes from an offset.  Returns how many there were: fewer at the end of the file
 * (errno is 0) or on failure (errno says why). */
size_t io_read_at(int fd, uint64_t at, void *to, size_t n);
/* Writes all bytes or fails; `name` is used in the message. */
int io_write_all(int fd, const char *name, const void *p, size_t n,
		 struct error *err);

/*
 * Which file this is, and in which state.  Two equal identities are the same contents:
 * programs can choose all of these but `changed_ns` (st_ctime), which the kernel sets to
 * the current time with every change, at a resolution of some milliseconds.
 */
struct io_identity {
	uint64_t dev, ino, size;
	int64_t written_ns;	/* time of the last change, since 1970 */
	int64_t changed_ns;
};
/* Returns false if there is nothing at the path. */
bool io_identify(const char *path, struct io_identity *out);

/*
 * A file mapped read-only.  Access to a file that was truncated while mapped
 * raises SIGBUS; cli/guard.c then maps zeros instead, so readers see bad data
 * and do not crash.
 */
struct io_map {
	const uint8_t *p;	/* NULL when empty */
	size_t n;
	uint32_t owner;		/* user ID */
	struct io_identity file;
	bool copied;		/* `p` is allocated, not mapped */
};
int io_map_fd(int fd, const char *name, struct io_map *out, struct error *err);
int io_map_file(const char *path, struct io_map *out, struct error *err);
/* The same for files that are read as a whole.  Small ones are copied, because ending a
 * mapping interrupts the other processors. */
int io_load_fd(int fd, const char *name, struct io_map *out, struct error *err);
int io_load_file(const char *path, struct io_map *out, struct error *err);
void io_unmap(struct io_map *m);

#endif
