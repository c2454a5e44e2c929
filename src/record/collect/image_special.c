// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates images that are not files: the vdso, anonymous memory, deleted files. */
#include "record/collect/image_special.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/proc_read.h"
#include "record/collect/image_open.h"

enum { VDSO_MAX = 1 << 18 };

#define BELOW_4G 0x100000000ull

static int memfd_of(const void *p, size_t n)
{
	int fd = memfd_create("tally-vdso", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, p, n) != (ssize_t)n) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void image_vdso_init(struct images *im)
{
	const void *p = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct self_map self;

	im->vdso = -1;
	if (!p || !self_map_find(p, &self) ||
	    self.start != (uint64_t)(uintptr_t)p ||
	    self.end - self.start > VDSO_MAX)
		return;
	im->vdso_size = self.end - self.start;
	im->vdso = memfd_of(p, im->vdso_size);
}

static uint32_t vdso_own(struct images *im)
{
	uint32_t image = image_special(im, "[vdso]", PROF_IMAGE_VDSO, 0);
	struct recorded_image *r;

	if (image == UINT32_MAX || im->v.v[image].nsegs)
		return image;
	r = &im->v.v[image];
	if (image_take(r, im->vdso, NULL))
		r->fd = fcntl(im->vdso, F_DUPFD_CLOEXEC, 0);
	return image;
}

/* Returns the image of a vdso that is only available in the process.  Such images are
 * distinguished by size and machine. */
static uint32_t vdso_other(struct images *im, const struct map_owner *who,
			   const struct mapping *m)
{
	void *copy = m->len <= VDSO_MAX ? malloc(m->len) : NULL;
	struct recorded_image *r;
	uint64_t number = m->len;
	uint32_t image;

	if (copy && !im->foreign_proc && m->len > sizeof(Elf32_Ehdr) &&
	    proc_memory(who->pid, m->start, copy, m->len))
		number |= (uint64_t)((Elf32_Ehdr *)copy)->e_machine << 32;
	image = image_special(im, "[vdso]", PROF_IMAGE_VDSO, number);
	r = image == UINT32_MAX ? NULL : &im->v.v[image];
	if (!r || r->nsegs)
		goto out;
	r->base = 0;
	if (number >> 32)
		r->fd = memfd_of(copy, m->len);
	if (r->fd >= 0)
		image_take(r, r->fd, NULL);
	if (!r->nsegs && !r->reason) {
		r->flags |= PROF_IMAGE_UNREADABLE;
		r->reason = strdup("the process ended, or forbade it, before "
				   "its vdso could be read");
	}
out:
	free(copy);
	return image;
}

uint32_t image_vdso(struct images *im, const struct map_owner *who,
		    const struct mapping *m)
{
	uint64_t own = getauxval(AT_SYSINFO_EHDR);

	if (im->vdso >= 0 && m->len == im->vdso_size &&
	    (own < BELOW_4G) == (m->start < BELOW_4G))
		return vdso_own(im);
	return vdso_other(im, who, m);
}

static uint64_t overlap(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
	uint64_t lo = a > b ? a : b;
	uint64_t ae = a + an < a ? UINT64_MAX : a + an;
	uint64_t be = b + bn < b ? UINT64_MAX : b + bn;
	uint64_t hi = ae < be ? ae : be;

	return hi > lo ? hi - lo : 0;
}

/* Returns address - vaddr of the image's next lower mapping.  Returns 0, the value
 * for programs with fixed addresses, if there is none. */
static uint64_t bias_below(const struct mapset *maps, uint32_t image,
			   uint64_t start)
{
	uint64_t bias = 0;

	for (size_t i = 0; maps && i < maps->maps.n; i++) {
		if (maps->maps.v[i].start >= start)
			break;
		if (maps->maps.v[i].image == image)
			bias = 0 - maps->maps.v[i].delta;
	}
	return bias;
}

/* Returns how well the mapping fits the loader's way of mapping the segment (gABI 5,
 * "Program Loading"); 0: not at all. */
static int segment_fit(const struct image_segment *s, uint64_t offset,
		       uint64_t len, uint64_t page)
{
	uint64_t lo = s->offset & ~(page - 1);
	uint64_t hi = (s->offset + s->filesz + page - 1) & ~(page - 1);

	if (!overlap(offset, len, s->offset, s->filesz))
		return 0;
	return (s->exec ? 4 : 0) + (lo == offset && hi == offset + len ? 2 : 1);
}

/*
 * Segments need not start at page boundaries: one page of the file may belong to
 * several, and each mapping of it shows all of them.  The best segment is one that
 * would be mapped exactly so.  Among several, it is the one with the same bias as the
 * image's previous mapping, and otherwise the one with most bytes in the mapping.
 */
const struct image_segment *image_segment_of(const struct images *im,
					     uint32_t image,
					     const struct mapset *maps,
					     const struct map *m)
{
	const struct recorded_image *r = &im->v.v[image];
	const struct image_segment *best = NULL;
	uint64_t offset = m->start + m->delta, len = m->end - m->start;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), most = 0;
	int fit = 0, rivals = 0;

	for (size_t i = 0; i < r->nsegs; i++) {
		const struct image_segment *s = &r->segs[i];
		int f = segment_fit(s, offset, len, page);
		uint64_t n = overlap(offset, len, s->offset, s->filesz);

		rivals = f > fit ? 0 : rivals + (f && f == fit);
		if (f > fit || (f && f == fit && f % 4 == 1 && n > most)) {
			best = s;
			fit = f;
			most = n;
		}
	}
	if (rivals) {
		uint64_t bias = bias_below(maps, image, m->start);

		for (size_t i = 0; i < r->nsegs; i++) {
			const struct image_segment *s = &r->segs[i];

			if (segment_fit(s, offset, len, page) == fit &&
			    m->start - offset + s->offset - s->vaddr == bias)
				return s;
		}
	}
	return best;
}
