// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores entries that wait to be sent as files: see spool.h. */
#include "push/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cursor.h"
#include "base/io.h"
#include "base/outfile.h"
#include "base/search.h"
#include "base/vec.h"

#define MAGIC "TLYPUSH1"
#define ENDING ".push"
#define TEMP "new"

enum {
	HEAD = 20,
	DIGITS = 16,
	NAME_ROOM = DIGITS + sizeof(ENDING),
	ENTRY_MAX = 64 << 20,
	ROOM_MIN = 64 << 10,
};

struct file {
	uint64_t number, bytes;
};

struct spool {
	char *path;
	int dir, lock;
	uint64_t max_bytes, next;
	VEC(struct file) files;		/* sorted by number */
	size_t first;			/* index of the first file that still
					 * exists */
	struct spool_counts counts;
};

static void name_of(uint64_t number, char name[NAME_ROOM])
{
	snprintf(name, NAME_ROOM, "%016llx" ENDING, (unsigned long long)number);
}

static bool number_of(const char *name, uint64_t *number)
{
	if (strspn(name, "0123456789abcdef") != DIGITS ||
	    strcmp(name + DIGITS, ENDING))
		return false;
	*number = strtoull(name, NULL, 16);
	return true;
}

static int by_number(const void *pa, const void *pb)
{
	const struct file *a = pa, *b = pb;

	return ascending(a->number, b->number);
}

static int list(struct spool *s, struct error *err)
{
	DIR *d = io_open_folder(s->dir, ".");
	struct dirent *e;
	int rc = 0;

	if (!d)
		return error_errno(err, errno, "%s", s->path);
	while (!rc && (e = readdir(d))) {
		struct file f = { 0 };
		struct stat st;

		if (!number_of(e->d_name, &f.number) ||
		    fstatat(s->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		f.bytes = (uint64_t)st.st_size;
		if (vec_push(&s->files, f) < 0)
			rc = error_nomem(err);
		s->counts.files++;
		s->counts.bytes += f.bytes;
	}
	closedir(d);
	vec_sort(&s->files, by_number);
	s->next = s->files.n ? s->files.v[s->files.n - 1].number + 1 : 1;
	return rc;
}

static int take_lock(struct spool *s, struct error *err)
{
	s->lock = openat(s->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC |
			 O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return error_errno(err, errno, "%s/lock", s->path);
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		return errno != EWOULDBLOCK
			       ? error_errno(err, errno, "%s/lock", s->path)
			       : error_set(err, ERR_USAGE, "%s: another tally "
					   "process is sending from this "
					   "spool; use another folder",
					   s->path);
	return 0;
}

int spool_open(const char *path, uint64_t max_bytes, struct spool **out,
	       struct error *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s || !(s->path = strdup(path))) {
		free(s);
		return error_nomem(err);
	}
	s->max_bytes = max_bytes;
	s->lock = -1;
	s->dir = outfile_folder(path, 0700, "the spool", err);
	rc = s->dir < 0 ? s->dir : take_lock(s, err);
	/* Remove what a killed process left unfinished. */
	if (!rc)
		unlinkat(s->dir, TEMP, 0);
	if (!rc)
		rc = list(s, err);
	if (rc)
		spool_close(s);
	else
		*out = s;
	return rc;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->lock >= 0)
		close(s->lock);
	if (s->dir >= 0)
		close(s->dir);
	vec_fini(&s->files);
	free(s->path);
	free(s);
}

/* Removes the oldest file behind `skip` others.  Returns false if there is none or
 * it cannot be removed. */
static bool drop(struct spool *s, size_t skip)
{
	struct file *first = s->files.v + s->first;
	char name[NAME_ROOM];

	if (skip >= s->files.n - s->first)
		return false;
	name_of(first[skip].number, name);
	if (unlinkat(s->dir, name, 0) < 0 && errno != ENOENT)
		return false;
	s->counts.files--;
	s->counts.bytes -= first[skip].bytes;
	memmove(first + 1, first, skip * sizeof(*first));
	s->first++;
	if (s->first == s->files.n)
		s->first = s->files.n = 0;
	return true;
}

static int try_write(struct spool *s, const void *entry, size_t n,
		     const char *name, struct error *err)
{
	struct buf head = { 0 };
	struct iovec parts[2];
	int rc, code;

	buf_str(&head, MAGIC);
	buf_u32(&head, (uint32_t)crc32(0, entry, (uInt)n));
	buf_u64(&head, n);
	parts[0] = (struct iovec){ head.p, head.n };
	parts[1] = (struct iovec){ (void *)(uintptr_t)entry, n };
	errno = 0;
	rc = head.failed ? error_nomem(err)
	   : outfile_replace(s->dir, TEMP, name, 0600, true, parts, 2, err);
	code = errno;
	if (rc && !head.failed)
		error_prefix(err, "%s", s->path);
	buf_fini(&head);
	errno = code;
	return rc;
}

/* Frees the places of files that were removed from the start of the list. */
static void tidy(struct spool *s)
{
	if (!s->first || s->first < s->files.n / 2)
		return;
	s->files.n -= s->first;
	memmove(s->files.v, s->files.v + s->first,
		s->files.n * sizeof(*s->files.v));
	s->first = 0;
}

/* Writes a file, removing others while the disk is full.  What is freed may be
 * used up by other programs; then the rest of the spool is kept. */
static int write_for_room(struct spool *s, const void *entry, size_t n,
			  uint64_t number, bool may_drop,
			  struct error *err)
{
	uint64_t before = s->counts.bytes;
	char name[NAME_ROOM];
	int rc;

	name_of(number, name);
	while ((rc = try_write(s, entry, n, name, err)) < 0) {
		if ((errno != ENOSPC && errno != EDQUOT) || !may_drop ||
		    before - s->counts.bytes > 2 * n + ROOM_MIN ||
		    !drop(s, 0))
			return rc;
		s->counts.dropped++;
	}
	return 0;
}

int spool_add(struct spool *s, const void *entry, size_t n, bool may_drop,
	      struct error *err)
{
	struct file f = { s->next, HEAD + n };
	int rc;

	if (n > ENTRY_MAX || f.bytes > s->max_bytes)
		return error_set(err, ERR_IO, "%s: a request of %zu bytes "
				 "exceeds the size limit of the spool",
				 s->path, n);
	tidy(s);
	if (vec_reserve(&s->files, s->files.n + 1) < 0)
		return error_nomem(err);
	while (s->counts.bytes + f.bytes > s->max_bytes) {
		if (!may_drop || !drop(s, 0))
			return error_set(err, ERR_IO, "%s: the spool is full",
					 s->path);
		s->counts.dropped++;
	}
	rc = write_for_room(s, entry, n, f.number, may_drop, err);
	if (rc)
		return rc;
	s->next++;
	vec_push(&s->files, f);
	s->counts.files++;
	s->counts.bytes += f.bytes;
	return 0;
}

bool spool_payload(const void *p, size_t n, const uint8_t **payload,
		   size_t *bytes)
{
	struct cursor c = cursor_of(p, n);
	const uint8_t *magic = cursor_take(&c, sizeof(MAGIC) - 1);
	uint32_t crc = cursor_u32(&c);
	uint64_t size = cursor_u64(&c);

	if (c.bad || memcmp(magic, MAGIC, sizeof(MAGIC) - 1) ||
	    size != cursor_left(&c) || size > ENTRY_MAX ||
	    crc != (uint32_t)crc32(0, c.p, (uInt)size))
		return false;
	*payload = c.p;
	*bytes = (size_t)size;
	return true;
}

/* Reads a file into `out`.  Returns 1, or 0 if the file is invalid, gone, or not
 * readable for this user. */
static int read_file(struct spool *s, uint64_t number, struct buf *out,
		     struct error *err)
{
	char name[NAME_ROOM];
	struct buf raw = { 0 };
	const uint8_t *p;
	size_t n;
	int fd, rc;

	name_of(number, name);
	fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
		    O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP || errno == EACCES ? 0
		       : error_errno(err, errno, "%s/%s", s->path, name);
	rc = io_read_fd(fd, name, HEAD + ENTRY_MAX, &raw, err);
	close(fd);
	if (rc == -ERR_FORMAT)
		rc = 0;
	else if (!rc && spool_payload(raw.p, raw.n, &p, &n)) {
		buf_again(out);
		buf_bytes(out, p, n);
		rc = out->failed ? error_nomem(err) : 1;
	}
	buf_fini(&raw);
	return rc;
}

int spool_oldest(struct spool *s, size_t skip, struct buf *out,
		 struct error *err)
{
	while (skip < s->files.n - s->first) {
		int rc = read_file(s, s->files.v[s->first + skip].number, out,
				   err);

		if (rc)
			return rc;
		s->counts.damaged++;
		if (!drop(s, skip))
			return error_errno(err, errno, "%s: cannot remove a "
					   "damaged file", s->path);
	}
	return 0;
}

int spool_discard(struct spool *s,
		  bool (*unwanted)(void *ctx, const void *entry, size_t n),
		  void *ctx, struct error *err)
{
	struct buf entry = { 0 };
	char name[NAME_ROOM];
	size_t kept = s->first;
	int rc = 0;

	for (size_t i = s->first; i < s->files.n; i++) {
		struct file f = s->files.v[i];
		bool gone = false;

		if (rc >= 0)
			rc = read_file(s, f.number, &entry, err);
		if (rc > 0 && unwanted(ctx, entry.p, entry.n)) {
			name_of(f.number, name);
			gone = !unlinkat(s->dir, name, 0) || errno == ENOENT;
		}
		if (!gone) {
			s->files.v[kept++] = f;
			continue;
		}
		s->counts.files--;
		s->counts.bytes -= f.bytes;
	}
	s->files.n = kept;
	buf_fini(&entry);
	return rc < 0 ? rc : 0;
}

int spool_remove(struct spool *s, size_t skip, struct error *err)
{
	return drop(s, skip) ? 0
	       : error_errno(err, errno, "%s: cannot remove a sent request",
			     s->path);
}

struct spool_counts spool_count(const struct spool *s)
{
	return s->counts;
}
