// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognizes a program's code that it copied onto huge pages. */
#include "record/collect/hugepage_text.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Number of places compared in each part, and bytes compared at each. */
enum { PLACES = 16, BYTES = 64, NEEDED = 12 };

/* Returns whether the process's memory equals the segment in the range of `m`.  Some
 * places may differ: breakpoints, patched calls. */
static bool is_same_code(const struct recorded_image *r,
			 const struct image_segment *s, uint32_t pid,
			 const struct map *m)
{
	uint8_t want[PLACES][BYTES], got[PLACES][BYTES];
	struct iovec to = { got, sizeof(got) }, from[PLACES];
	uint64_t step = (m->end - m->start - BYTES) / PLACES;
	int same = 0, plain = 0;

	if (m->end - m->start < 4 * BYTES)
		return false;
	for (uint64_t i = 0; i < PLACES; i++) {
		uint64_t addr = m->start + i * step;
		uint64_t at = addr + m->delta - s->vaddr + s->offset;

		if (pread(r->fd, want[i], BYTES, (off_t)at) != BYTES)
			return false;
		from[i] = (struct iovec){ (void *)(uintptr_t)addr, BYTES };
	}
	if (process_vm_readv((pid_t)pid, &to, 1, from, PLACES, 0) !=
	    (ssize_t)sizeof(got))
		return false;
	for (int i = 0; i < PLACES; i++) {
		same += !memcmp(want[i], got[i], BYTES);
		/* Padding is the same in all programs. */
		plain += !memcmp(want[i], want[i] + 1, BYTES - 1);
	}
	return same >= NEEDED && same > plain;
}

/* Adds the parts of `m` that are the image's code at the offset given by `delta`. */
static int add_pieces(const struct images *im, uint32_t pid,
		      const struct map *m, struct map *pieces, int n)
{
	const struct recorded_image *r = &im->v.v[m->image];

	if (r->kind != PROF_IMAGE_ELF || r->fd < 0)
		return n;
	for (size_t i = 0; i < r->nsegs && n < HUGEPAGE_TEXT_PIECES; i++) {
		const struct image_segment *s = &r->segs[i];
		uint64_t lo = s->vaddr - m->delta, hi = lo + s->filesz;
		struct map p = *m;

		p.start = lo > p.start ? lo : p.start;
		p.end = hi < p.end ? hi : p.end;
		if (s->exec && lo < hi && p.start < p.end &&
		    is_same_code(r, s, pid, &p))
			pieces[n++] = p;
	}
	return n;
}

static bool is_file(const struct images *im, uint32_t image)
{
	return im->v.v[image].nsegs || im->v.v[image].kind == PROF_IMAGE_VDSO;
}

int hugepage_text_find(const struct images *im, const struct map_owner *who,
		       const struct map *m,
		       struct map pieces[HUGEPAGE_TEXT_PIECES])
{
	const struct mapset *s = who->maps;
	int n = 0;

	if (is_file(im, m->image) || im->foreign_proc)
		return 0;
	for (size_t i = mapset_lower(s, m->start);
	     i < s->maps.n && s->maps.v[i].start < m->end; i++) {
		struct map old = s->maps.v[i];

		old.start = old.start < m->start ? m->start : old.start;
		old.end = old.end > m->end ? m->end : old.end;
		n = add_pieces(im, who->pid, &old, pieces, n);
	}
	return n;
}

int hugepage_text_find_between(const struct images *im,
			       const struct map_owner *who, size_t at,
			       struct map pieces[HUGEPAGE_TEXT_PIECES])
{
	const struct mapset *s = who->maps;
	const struct map *m = &s->maps.v[at];
	int n = 0;

	if (is_file(im, m->image) || im->foreign_proc)
		return 0;
	for (int side = 0; side < 2 && !n; side++) {
		struct map as = *m;

		if (side ? at + 1 >= s->maps.n || m[1].start != m->end
			 : !at || m[-1].end != m->start)
			continue;
		as.image = side ? m[1].image : m[-1].image;
		as.delta = side ? m[1].delta : m[-1].delta;
		n = add_pieces(im, who->pid, &as, pieces, n);
	}
	return n;
}
