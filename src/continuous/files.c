// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists finished files and removes old ones: see files.h. */
#include "continuous/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/outfile.h"
#include "base/search.h"

void recorder_file(int slot, char name[FILE_NAME_ROOM])
{
	snprintf(name, FILE_NAME_ROOM, "record-%d.tally", slot);
}

bool is_finished_name(const char *name)
{
	char first[FILE_NAME_ROOM];

	for (int slot = 0; slot < RECORDERS; slot++) {
		size_t n;

		recorder_file(slot, first);
		n = strlen(first);
		if (!strncmp(name, first, n) && name[n] == '.' && name[n + 1] &&
		    strlen(name) < FILE_NAME_ROOM &&
		    !name[n + 1 + strspn(name + n + 1, "0123456789")])
			return true;
	}
	return false;
}

static int by_age(const void *pa, const void *pb)
{
	const struct finished *a = pa, *b = pb;

	return ascending(a->born_ns, b->born_ns)
	       ?: ascending(a->mtime_ns, b->mtime_ns) ?: strcmp(a->name, b->name);
}

static const struct finished *find(const struct files *f, const char *name)
{
	for (size_t i = 0; i < f->v.n; i++)
		if (!strcmp(f->v.v[i].name, name))
			return &f->v.v[i];
	return NULL;
}

/* `now`, CLOCK_BOOTTIME, and `wall` are of the same moment. */
static int add(struct files *f, const struct files *before, const char *name,
	       const struct stat *st, int64_t now, int64_t wall,
	       struct error *err)
{
	const struct finished *known = find(before, name);
	int64_t mtime = clock_ns(st->st_mtim);
	struct finished file;

	if (known) {
		file = *known;
		if (file.mtime_ns != mtime)
			file.written_ns = now;
	} else {
		int64_t age = wall > mtime ? wall - mtime : 0;

		if (before->updated_ns && age > now - before->updated_ns)
			age = now - before->updated_ns;
		file = (struct finished){ .born_ns = now - age,
					  .written_ns = now - age };
		memcpy(file.name, name, strlen(name) + 1);	/* is_finished_name has
								 * checked the length */
	}
	file.bytes = (uint64_t)st->st_size;
	file.mtime_ns = mtime;
	f->bytes += file.bytes;
	return vec_push(&f->v, file) < 0 ? error_nomem(err) : 0;
}

int files_update(struct files *f, int dir, struct error *err)
{
	DIR *d = io_open_folder(dir, ".");
	int64_t wall = (int64_t)clock_read(CLOCK_REALTIME);
	struct files now = { .updated_ns = (int64_t)clock_read(CLOCK_BOOTTIME) };
	struct dirent *e;
	struct stat st;
	int rc = 0;

	if (!d)
		return error_errno(err, errno, "the folder of the recordings");
	while (!rc && (e = readdir(d)))
		if (is_finished_name(e->d_name) &&
		    !fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			rc = add(&now, f, e->d_name, &st, now.updated_ns, wall,
				 err);
	closedir(d);
	vec_sort(&now.v, by_age);
	if (!rc) {
		files_fini(f);
		*f = now;
	} else {
		files_fini(&now);
	}
	return rc;
}

void files_fini(struct files *f)
{
	vec_fini(&f->v);
	f->bytes = 0;
}

static uint64_t since(int64_t then_ns)
{
	return (uint64_t)((int64_t)clock_read(CLOCK_BOOTTIME) - then_ns);
}

uint64_t finished_quiet_ns(const struct finished *f)
{
	return since(f->written_ns);
}

uint64_t disk_free(int dir)
{
	struct statvfs v;

	return fstatvfs(dir, &v) < 0 ? UINT64_MAX
				     : (uint64_t)v.f_bavail * v.f_frsize;
}

static bool too_much(const struct files *f, int dir, const struct retention *r)
{
	const struct finished *oldest = &f->v.v[0];

	return (r->keep_ns && since(oldest->born_ns) > r->keep_ns) ||
	       (r->keep_bytes && f->bytes > r->keep_bytes) ||
	       (r->free_bytes && disk_free(dir) < r->free_bytes);
}

bool files_retain(struct files *f, int dir, const struct retention *r,
		  uint64_t *removed)
{
	size_t gone = 0;
	struct files left = *f;

	while (left.v.n && too_much(&left, dir, r)) {
		if (unlinkat(dir, left.v.v[0].name, 0) < 0 && errno != ENOENT)
			break;
		++*removed;
		left.bytes -= left.v.v[0].bytes;
		left.v.v++;
		left.v.n--;
		gone++;
	}
	f->bytes = left.bytes;
	f->v.n -= gone;
	if (gone)
		memmove(f->v.v, f->v.v + gone, f->v.n * sizeof(*f->v.v));
	return !r->free_bytes || disk_free(dir) >= r->free_bytes;
}

int files_adopt(int dir, int slot, struct error *err)
{
	char name[FILE_NAME_ROOM], final[FILE_NAME_ROOM];
	struct stat st;
	struct tm tm;

	recorder_file(slot, name);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "%s", name);
	localtime_r(&st.st_mtim.tv_sec, &tm);
	for (long hundredth = st.st_mtim.tv_nsec / 10000000, i = 0; i < 100;
	     hundredth = (hundredth + 1) % 100, i++) {
		size_t n = strlen(name);
		int e;

		memcpy(final, name, n);
		n += strftime(final + n, sizeof(final) - n, ".%Y%m%d%H%M%S",
			      &tm);
		snprintf(final + n, sizeof(final) - n, "%02ld", hundredth);
		e = outfile_rename(dir, name, final);
		if (!e)
			return 0;
		if (e != EEXIST)
			return error_errno(err, e, "cannot rename %s", name);
	}
	return error_set(err, ERR_IO, "cannot rename %s: no name is free", name);
}
