// SPDX-License-Identifier: GPL-2.0-or-later
/* Distinguishes code that programs put at the same address, by the times of samples. */
#include "record/collect/held_samples.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "record/collect/jit_map.h"

enum held_kind {
	HELD_UNKNOWN,
	HELD_PLAIN,	/* one function, or none known */
	HELD_SHARED,	/* several functions; for a node: its location or a caller's
			 * is shared */
};

struct held_dump {
	int fd;
	struct jitdump *j;
	uint32_t image;		/* image whose addresses are offsets; UINT32_MAX: none
				 * yet */
};

static void dump_free(struct held_dump *d)
{
	jitdump_close(d->j);
	close(d->fd);
	free(d);
}

void held_fini(struct held_samples *h)
{
	for (size_t i = 0; i < h->dumps.n; i++)
		dump_free(h->dumps.v[i]);
	vec_fini(&h->rows);
	vec_fini(&h->dumps);
	vec_fini(&h->locs);
	vec_fini(&h->nodes);
	vec_fini(&h->path);
	u64map_fini(&h->by_image);
	h->on = false;
}

void held_forget_nodes(struct held_samples *h)
{
	h->nodes.n = 0;
}

void held_forget_rows(struct held_samples *h)
{
	h->nodes.n = h->locs.n = 0;
}

static size_t read_file(void *ctx, uint64_t at, void *to, size_t n)
{
	return io_read_at(((const struct held_dump *)ctx)->fd, at, to, n);
}

/* Returns NULL if the file has no header (yet), or uses another clock than samples. */
static struct held_dump *dump_new(const struct images *im, const struct recorded_image *r)
{
	struct held_dump *d = calloc(1, sizeof(*d));
	struct jitdump_door door = { read_file, d };

	if (!d)
		return NULL;
	d->image = UINT32_MAX;
	d->fd = jit_dump_open(im, r);
	if (d->fd >= 0 && !jitdump_open(&door, &d->j) && jitdump_is_timed(d->j))
		return d;
	if (d->j)
		jitdump_close(d->j);
	if (d->fd >= 0)
		close(d->fd);
	free(d);
	return NULL;
}

/* Returns the dump of the process whose memory is `r`, or NULL. */
static struct held_dump *dump_of(struct held_samples *h, const struct images *im,
				 const struct recorded_image *r)
{
	uint32_t file, at;
	uint32_t *slot;
	struct held_dump *d;

	if (r->kind != PROF_IMAGE_ANON || r->named || r->jit_offsets || r->jit_lines)
		return NULL;
	file = u64map_get(&im->jit_dumps, r->base);
	if (file == U64MAP_NONE)
		return NULL;
	at = u64map_get(&h->by_image, file);
	if (at < h->dumps.n)
		return h->dumps.v[at];
	d = dump_new(im, r);
	slot = d ? u64map_slot(&h->by_image, file) : NULL;
	if (!slot || jitdump_read(d->j) < 0 || vec_push(&h->dumps, d) < 0) {
		if (slot)
			*slot = U64MAP_NONE - 1;
		if (d)
			dump_free(d);
		return NULL;
	}
	*slot = (uint32_t)h->dumps.n - 1;
	return d;
}

static const struct recorded_image *image_at(const struct images *im,
					     const struct profile *p, uint32_t loc)
{
	uint32_t row = p->locs.v[loc].image;

	return row < im->by_row.n ? &im->v.v[im->by_row.v[row]] : NULL;
}

static bool is_shared(struct held_samples *h, const struct images *im,
		      const struct profile *p, uint32_t loc)
{
	const struct recorded_image *r = image_at(im, p, loc);
	struct held_dump *d = r ? dump_of(h, im, r) : NULL;

	return d && jitdump_is_shared(d->j, p->locs.v[loc].vaddr);
}

/* Nodes that exist only in the file were sampled before the first jitdump file was
 * seen, or belong to samples that are no longer held. */
static enum held_kind kind_of(const struct held_samples *h, const struct profile *p,
			      uint32_t node)
{
	size_t i = node - p->nodes_gone;

	return node < p->nodes_gone || i >= h->nodes.n ? HELD_PLAIN
						       : (enum held_kind)h->nodes.v[i];
}

/* Classifies locations and nodes, again where a file has grown. */
static int classify(struct held_samples *h, const struct images *im,
		    const struct profile *p)
{
	bool grown = false;

	for (size_t i = 0; i < h->dumps.n; i++) {
		size_t n = jitdump_count(h->dumps.v[i]->j);

		if (jitdump_read(h->dumps.v[i]->j) < 0)
			return -ERR_NOMEM;
		grown |= jitdump_count(h->dumps.v[i]->j) != n;
	}
	if (grown)
		h->locs.n = h->nodes.n = 0;
	if (vec_reserve(&h->locs, p->locs.n) < 0 ||
	    vec_reserve(&h->nodes, p->nodes.n) < 0)
		return -ERR_NOMEM;
	while (h->locs.n < p->locs.n) {
		uint32_t loc = (uint32_t)h->locs.n;

		h->locs.v[h->locs.n++] = is_shared(h, im, p, loc) ? HELD_SHARED
								  : HELD_PLAIN;
	}
	while (h->nodes.n < p->nodes.n) {
		size_t i = h->nodes.n++;
		const struct prof_node *n = &p->nodes.v[i];

		h->nodes.v[i] = HELD_PLAIN;	/* the root is its own parent */
		h->nodes.v[i] = kind_of(h, p, n->parent) == HELD_SHARED ||
				(n->loc < h->locs.n && h->locs.v[n->loc] == HELD_SHARED)
				? HELD_SHARED : HELD_PLAIN;
	}
	return 0;
}

/* Returns the location of a function's code at an offset. */
static uint32_t loc_in_file(struct images *im, struct profile *p, struct held_dump *d,
			    const struct recorded_image *r, uint64_t offset)
{
	uint32_t row;

	if (d->image == UINT32_MAX) {
		d->image = images_add(im, r->path, PROF_IMAGE_ANON, r->base, NULL);
		if (d->image == UINT32_MAX)
			return PROF_NONE;
		im->v.v[d->image].jit_offsets = true;
	}
	row = images_row(im, d->image);
	return row == PROF_NONE ? row : profile_loc(p, row, offset);
}

/* Returns the location at a sample's time. */
static uint32_t loc_then(struct held_samples *h, struct images *im, struct profile *p,
			 uint32_t loc, uint64_t time_ns)
{
	const struct recorded_image *r;
	const struct jitdump_code *c;
	struct held_dump *d;
	uint64_t addr;

	if (loc >= h->locs.n || h->locs.v[loc] != HELD_SHARED)
		return loc;
	r = image_at(im, p, loc);
	d = dump_of(h, im, r);
	addr = p->locs.v[loc].vaddr;
	c = jitdump_find(d->j, addr, time_ns);
	return c ? loc_in_file(im, p, d, r, c->bytes_at + (addr - c->addr)) : loc;
}

static uint32_t node_then(struct held_samples *h, struct images *im, struct profile *p,
			  uint32_t node, uint64_t time_ns)
{
	h->path.n = 0;
	while (node && kind_of(h, p, node) == HELD_SHARED) {
		if (vec_push(&h->path, node) < 0)
			return PROF_NONE;
		node = p->nodes.v[node - p->nodes_gone].parent;
	}
	for (size_t i = h->path.n; i-- > 0 && node != PROF_NONE;) {
		uint32_t then = p->nodes.v[h->path.v[i] - p->nodes_gone].loc;
		uint32_t loc = loc_then(h, im, p, then, time_ns);

		node = loc == PROF_NONE ? PROF_NONE : profile_node(p, node, loc);
	}
	return node;
}

int held_resolve(struct held_samples *h, struct images *im, struct profile *p)
{
	if (!h->on || !h->rows.n)
		return 0;
	if (classify(h, im, p) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < h->rows.n; i++) {
		struct prof_sample *s = &h->rows.v[i];

		if (kind_of(h, p, s->stack) != HELD_SHARED)
			continue;
		s->stack = node_then(h, im, p, s->stack, s->time_ns);
		if (s->stack == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}
