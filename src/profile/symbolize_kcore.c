// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the current code of the running kernel, patched by alternatives and
 * tracing, from /proc/kcore (proc(5)): an ELF core file whose segments are the
 * kernel's memory.  Only root may read it, and some kernels do not have it.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "profile/symbolize_kernel.h"

enum { MAX_SEGMENTS = 4096 };

struct kcore {
	int fd;
	ElfW(Phdr) *segs;
	size_t n;
};

static bool read_at(int fd, void *out, size_t n, uint64_t offset)
{
	return io_read_at(fd, offset, out, n) == n;
}

static bool read_segments(struct kcore *k)
{
	ElfW(Ehdr) h;

	if (!read_at(k->fd, &h, sizeof(h), 0) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) || !h.e_phnum ||
	    h.e_phnum > MAX_SEGMENTS || h.e_phentsize != sizeof(*k->segs))
		return false;
	k->n = h.e_phnum;
	k->segs = malloc(k->n * sizeof(*k->segs));
	return k->segs &&
	       read_at(k->fd, k->segs, k->n * sizeof(*k->segs), h.e_phoff);
}

void kcore_close(struct kcore *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	free(k->segs);
	free(k);
}

static struct kcore *kcore_open(const char *path)
{
	struct kcore *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (k->fd >= 0 && read_segments(k))
		return k;
	kcore_close(k);
	return NULL;
}

static size_t kcore_read(struct kcore *k, uint64_t addr, size_t n, struct buf *out)
{
	uint8_t *room;

	for (size_t i = 0; i < k->n; i++) {
		const ElfW(Phdr) *s = &k->segs[i];

		if (s->p_type != PT_LOAD || addr < s->p_vaddr ||
		    addr - s->p_vaddr >= s->p_filesz ||
		    n > s->p_filesz - (addr - s->p_vaddr))
			continue;
		room = buf_room(out, n);
		if (!room ||
		    !read_at(k->fd, room, n, s->p_offset + (addr - s->p_vaddr)))
			return 0;
		out->n += n;
		return n;
	}
	return 0;
}

struct code_at {
	struct kcore *kcore;
	struct image *img;
	uint64_t delta;		/* vaddr in the image + delta = address in the source */
};

static size_t read_code(void *ctx, uint64_t vaddr, size_t n, struct buf *out)
{
	const struct code_at *c = ctx;

	if (c->kcore)
		return kcore_read(c->kcore, vaddr + c->delta, n, out);
	return read_image_code(c->img, vaddr + c->delta, n, out);
}

/* /proc/kcore is preferred: a module's file has no addresses, and its jumps are
 * not yet filled in. */
int symbolize_kernel_code(const struct kernel_part *k, struct image *img,
			  uint32_t first)
{
	struct symbolize_run *f = k->f;
	struct code_at at = { .img = img, .delta = k->delta };

	if (!f->o->self_samples || !f->o->code_budget)
		return 0;
	if (k->live && !f->o->kallsyms) {
		if (!f->kcore)
			f->kcore = kcore_open("/proc/kcore");
		at.kcore = f->kcore;
		if (at.kcore)
			at.delta = k->base;
	}
	if (!at.kcore && (!img || !k->has_delta))
		return 0;
	return symbolize_keep_code(f, first, read_code, &at);
}
