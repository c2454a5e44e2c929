// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads from a program's file, before it is sampled, what the program may do.
 *
 * Programs that trace: they name ptrace(2), or a library that calls it, among the
 * symbols and libraries that they need.  Sanitizers check for leaks with a helper
 * that traces the program itself.  Not detected: static programs without a symbol
 * table, calls by syscall(2), libraries loaded by dlopen(3) or LD_PRELOAD.
 *
 * Programs that may run Python: they export the interpreter, or need the library that
 * does.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "image/image.h"
#include "record/collect/image_identity.h"
#include "record/ptrace/ptrace_internal.h"

enum { IMAGES_MAX = 1 << 16 };

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/* Linkers let names share their ends, so any text may precede a name. */
static unsigned int flags_of_names(struct span s)
{
#define NAME(text) text, sizeof(text)
#define PART(text) text, sizeof(text) - 1
	static const struct {
		const char *text;
		size_t n;
		unsigned int what;
	} names[] = {
		{ NAME("ptrace"), TRACER_TRACES },
		{ PART("syscall.ptrace"), TRACER_TRACES },
		{ PART("unix.ptrace"), TRACER_TRACES },
		{ PART("libdw.so."), TRACER_TRACES },
		{ PART("libunwind-ptrace.so."), TRACER_TRACES },
		{ NAME("__asan_init"), TRACER_TRACES },
		{ NAME("__lsan_init"), TRACER_TRACES },
		{ NAME("__hwasan_init"), TRACER_TRACES },
		{ PART("liblsan.so."), TRACER_TRACES },
		{ NAME("_PyRuntime"), TRACER_PYTHON },
		{ PART("libpython3."), TRACER_PYTHON },
	};
#undef NAME
#undef PART
	unsigned int what = 0;

	for (size_t i = 0; s.n && i < COUNT(names); i++)
		if (!(what & names[i].what) &&
		    memmem(s.p, s.n, names[i].text, names[i].n))
			what |= names[i].what;
	return what;
}

/* .gopclntab holds the names of Go's functions when symbols are stripped. */
static unsigned int flags_of_file(int fd)
{
	struct image *img;
	struct span dynamic;
	unsigned int what;

	if (image_open_fd(fd, "", &img, NULL) < 0)
		return 0;
	dynamic = image_section(img, ".dynstr");
	what = flags_of_names(dynamic);
	if (!(what & TRACER_TRACES))
		what |= flags_of_names(image_section(img, ".gopclntab")) &
			TRACER_TRACES;
	if (!dynamic.n)
		what |= flags_of_names(image_section(img, ".strtab")) &
			TRACER_TRACES;
	image_close(img);
	return what;
}

static uint64_t key_of(const struct stat *st)
{
	struct file_stamp stamp = file_stamp_of(st);
	uint64_t h = hash_mix(st->st_dev, st->st_ino);

	h = hash_mix(hash_mix(h, stamp.size), (uint64_t)stamp.mtime_s);
	return hash_mix(h, (uint64_t)stamp.mtime_ns);
}

/* Returns whether a file may be read.  FUSE files are not, because their server may
 * be waiting for tally. */
static bool is_plain(int fd, struct stat *st)
{
	struct statfs fs;

	return !fstat(fd, st) && S_ISREG(st->st_mode) && !fstatfs(fd, &fs) &&
	       fs.f_type != FUSE_SUPER_MAGIC;
}

uint32_t *tracer_image_known(struct u64map *images, int fd, struct stat *st)
{
	if (!is_plain(fd, st))
		return NULL;
	if (images->n >= IMAGES_MAX)
		u64map_clear(images);
	return u64map_slot(images, key_of(st));
}

static unsigned int look(struct tracer *t, int fd)
{
	struct stat st;
	uint32_t *known = tracer_image_known(&t->images, fd, &st);

	if (!known)
		return 0;
	if (*known == U64MAP_NONE)
		*known = flags_of_file(fd);
	return *known;
}

unsigned int tracer_image(struct tracer *t, uint32_t pid)
{
	char path[64];
	unsigned int what;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	what = look(t, fd);
	close(fd);
	return what;
}
