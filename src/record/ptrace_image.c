// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which programs trace: they name ptrace(2), or a library that calls it, among the
 * symbols and libraries that they need.  Sanitizers check for leaks by a helper
 * that traces the program itself.  Not found: static programs without a symbol
 * table, calls by syscall(2), libraries that are loaded by dlopen(3) or LD_PRELOAD.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "image/image.h"
#include "record/image_identity.h"
#include "record/ptrace_tracer.h"

enum { IMAGES_MAX = 1 << 16 };

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/* Linkers let names share their ends, so what comes before one may be anything. */
static bool names_tracing(struct span s)
{
#define NAME(text) { text, sizeof(text) }
#define PART(text) { text, sizeof(text) - 1 }
	static const struct {
		const char *text;
		size_t n;
	} names[] = {
		NAME("ptrace"), PART("syscall.ptrace"), PART("unix.ptrace"),
		PART("libdw.so."), PART("libunwind-ptrace.so."),
		NAME("__asan_init"), NAME("__lsan_init"), NAME("__hwasan_init"),
		PART("liblsan.so."),
	};
#undef NAME
#undef PART

	for (size_t i = 0; s.n && i < sizeof(names) / sizeof(*names); i++)
		if (memmem(s.p, s.n, names[i].text, names[i].n))
			return true;
	return false;
}

/* .gopclntab has the names of Go's functions when symbols are stripped. */
static bool file_traces(int fd)
{
	struct image *img;
	struct span dynamic;
	bool found;

	if (image_open_fd(fd, "", &img, NULL) < 0)
		return false;
	dynamic = image_section(img, ".dynstr");
	found = names_tracing(dynamic) ||
		names_tracing(image_section(img, ".gopclntab")) ||
		(!dynamic.n && names_tracing(image_section(img, ".strtab")));
	image_close(img);
	return found;
}

static uint64_t key_of(const struct stat *st)
{
	struct file_stamp stamp = file_stamp_of(st);
	uint64_t h = hash_mix(st->st_dev, st->st_ino);

	h = hash_mix(hash_mix(h, stamp.size), (uint64_t)stamp.mtime_s);
	return hash_mix(h, (uint64_t)stamp.mtime_ns);
}

/* Who serves a FUSE file may wait for us: it is not read. */
static bool is_plain(int fd, struct stat *st)
{
	struct statfs fs;

	return !fstat(fd, st) && S_ISREG(st->st_mode) && !fstatfs(fd, &fs) &&
	       fs.f_type != FUSE_SUPER_MAGIC;
}

static bool look(struct tracer *t, int fd)
{
	struct stat st;
	uint32_t *known;

	if (!is_plain(fd, &st))
		return false;
	if (t->images.n >= IMAGES_MAX)
		u64map_clear(&t->images);
	known = u64map_slot(&t->images, key_of(&st));
	if (!known)
		return false;
	if (*known == U64MAP_NONE)
		*known = file_traces(fd);
	return *known;
}

bool tracer_image_traces(struct tracer *t, uint32_t pid)
{
	char path[64];
	bool found;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	found = look(t, fd);
	close(fd);
	return found;
}
