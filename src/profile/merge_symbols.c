// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the symbol parts of several recordings: see merge.h. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/merge_internal.h"

static int compare_str(const struct profile *p, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(profile_cstr(p, a), profile_cstr(p, b));
}

static uint32_t chain_length(const struct profile *p, uint32_t frame)
{
	uint32_t n = 0;

	for (; frame != PROF_NONE; frame = p->frames.v[frame].outer)
		n++;
	return n;
}

static int compare_frame(const struct profile *p, const struct prof_frame *x,
			 const struct prof_frame *y)
{
	const struct prof_func *f = &p->funcs.v[x->func];
	const struct prof_func *g = &p->funcs.v[y->func];

	/* frames with a line come first */
	return descending(x->line != 0, y->line != 0) ?:
	       compare_str(p, f->name, g->name) ?:
	       compare_str(p, f->file, g->file) ?:
	       descending(f->line, g->line) ?: descending(f->vaddr, g->vaddr) ?:
	       ascending(f->image, g->image) ?:
	       compare_str(p, x->file, y->file) ?:
	       descending(x->line, y->line) ?: descending(x->column, y->column);
}

/* Compares the chains of inlined functions of two frames (or PROF_NONE) by their
 * contents, not by their ids.  The more detailed one comes first. */
static int compare_frames(const struct profile *p, uint32_t a, uint32_t b)
{
	uint32_t n, m;
	int c;

	if (a == b)
		return 0;
	n = chain_length(p, a);
	m = chain_length(p, b);
	c = descending(n, m);
	while (!c && a != PROF_NONE && a != b) {
		c = compare_frame(p, &p->frames.v[a], &p->frames.v[b]);
		a = p->frames.v[a].outer;
		b = p->frames.v[b].outer;
	}
	return c;
}

/* Maps the frames of each location, and their functions, to those that the result has
 * for it: machines with the same programs have mostly the same.  They are guesses, which
 * are compared before they are used. */
static void guess_frames(struct merge *m)
{
	const struct profile *f = m->from, *p = m->p;
	uint32_t *frames = m->maps->frame, *funcs = m->maps->func;

	for (uint32_t i = 0; i < f->locs.n; i++) {
		uint32_t a = profile_loc_frame(f, i);
		uint32_t b = profile_loc_frame(p, m->maps->loc[i]);

		while (a != PROF_NONE && b != PROF_NONE &&
		       frames[a] == PROF_NONE) {
			frames[a] = b;
			funcs[f->frames.v[a].func] = p->frames.v[b].func;
			a = f->frames.v[a].outer;
			b = p->frames.v[b].outer;
		}
	}
}

/* Returns the number of a function in the result, which is mostly `guess` or the next
 * one. */
static uint32_t merge_func(struct merge *m, const struct prof_func *k,
			   uint32_t guess)
{
	const struct prof_func *v = m->p->funcs.v;
	uint32_t n = (uint32_t)m->p->funcs.n, next = guess_next(&m->func);
	uint32_t id = guess < n && prof_same_func(&v[guess], k) ? guess
		      : next < n && prof_same_func(&v[next], k) ? next
		      : profile_func(m->p, k);

	guess_found(&m->func, id);
	return id;
}

static uint32_t merge_frame(struct merge *m, const struct prof_frame *k,
			    uint32_t guess)
{
	const struct prof_frame *v = m->p->frames.v;
	uint32_t n = (uint32_t)m->p->frames.n, next = guess_next(&m->frame);
	uint32_t id = guess < n && prof_same_frame(&v[guess], k) ? guess
		      : next < n && prof_same_frame(&v[next], k) ? next
		      : profile_frame(m->p, k);

	guess_found(&m->frame, id);
	return id;
}

static int take_frames(struct merge *m)
{
	const struct profile *f = m->from;
	uint32_t *funcs = m->maps->func, *frames = m->maps->frame;

	guess_frames(m);
	for (size_t i = 0; i < f->funcs.n; i++) {
		struct prof_func k = f->funcs.v[i];

		k.image = m->maps->image[k.image];
		k.name = merge_str(m, k.name);
		k.file = merge_str(m, k.file);
		funcs[i] = merge_func(m, &k, funcs[i]);
		if (funcs[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < f->frames.n; i++) {
		struct prof_frame k = f->frames.v[i];

		k.func = funcs[k.func];
		k.file = merge_str(m, k.file);
		k.outer = merge_row(frames, k.outer);
		frames[i] = merge_frame(m, &k, frames[i]);
		if (frames[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Merges the frames of locations; the most detailed one wins. */
static int take_places(struct merge *m)
{
	struct profile *p = m->p;

	if (vec_reserve(&p->loc_frame, p->locs.n + 1) < 0)
		return -ERR_NOMEM;
	while (p->loc_frame.n < p->locs.n)
		p->loc_frame.v[p->loc_frame.n++] = PROF_NONE;
	for (uint32_t i = 0; i < m->from->locs.n; i++) {
		uint32_t frame = profile_loc_frame(m->from, i);
		uint32_t loc = m->maps->loc[i];

		frame = merge_row(m->maps->frame, frame);
		if (frame != p->loc_frame.v[loc] &&
		    compare_frames(p, frame, p->loc_frame.v[loc]) < 0)
			p->loc_frame.v[loc] = frame;
	}
	return 0;
}

/* Compares what is known of an image; the row that knows more comes first. */
static int compare_source(const struct profile *p,
			  const struct image_debug_info *a,
			  const struct image_debug_info *b)
{
	return descending(a->names, b->names) ?:
	       ascending(a->missing, b->missing) ?:
	       ascending(a->units, b->units) ?:
	       compare_str(p, a->file, b->file) ?:
	       descending(a->machine, b->machine);
}

static int take_sources(struct merge *m)
{
	struct profile *p = m->p;
	const struct profile *f = m->from;
	uint32_t *row = merge_map(p->images.n);
	int rc = row ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < p->sources.n; i++)
		row[p->sources.v[i].image] = (uint32_t)i;
	for (size_t i = 0; !rc && i < f->sources.n; i++) {
		struct image_debug_info s = f->sources.v[i];
		struct image_debug_info *old;

		merge_refs(m, format_table(SECTION_SOURCES), &s);
		old = row[s.image] == PROF_NONE ? NULL
						: &p->sources.v[row[s.image]];
		if (old) {
			if (compare_source(p, &s, old) < 0)
				*old = s;
			continue;
		}
		row[s.image] = (uint32_t)p->sources.n;
		rc = vec_push(&p->sources, s) < 0 ? -ERR_NOMEM : 0;
	}
	free(row);
	return rc;
}

/* Takes over a text unless there is one, or that one comes later. */
static void take_note(struct merge *m, uint32_t *to, uint32_t from)
{
	uint32_t id = from ? merge_str(m, from) : 0;

	if (id && id != PROF_NONE &&
	    (!*to || compare_str(m->p, id, *to) < 0))
		*to = id;
}

static void take_notes(struct merge *m)
{
	const struct profile *f = m->from;

	for (size_t i = 0; i < f->images.n; i++) {
		struct prof_image *to = &m->p->images.v[m->maps->image[i]];

		take_note(m, &to->debug_file, f->images.v[i].debug_file);
		take_note(m, &to->note, f->images.v[i].note);
	}
}

static int take_symbols(struct merge *m)
{
	const struct profile *f = m->from;
	const struct table *symbols = format_table(SECTION_SYMBOLS);
	const struct table *lines = format_table(SECTION_LINES);

	for (size_t i = 0; i < f->symbols.n; i++)
		if (!merge_add(m, symbols, &f->symbols.v[i]))
			return -ERR_NOMEM;
	for (size_t i = 0; i < f->lines.n; i++)
		if (!merge_add(m, lines, &f->lines.v[i]))
			return -ERR_NOMEM;
	return m->failed ? -ERR_NOMEM : 0;
}

/* Returns whether a row's bytes exist, and offsets after them still fit. */
static bool bytes_fit(const struct buf *from, uint32_t offset, uint32_t size,
		      const struct buf *to)
{
	return offset <= from->n && size <= from->n - offset &&
	       to->n <= UINT32_MAX - size;
}

/* Merges code and source with their bytes. */
static int take_bytes(struct merge *m)
{
	const struct profile *f = m->from;
	struct profile *p = m->p;

	for (size_t i = 0; i < f->codes.n; i++) {
		struct prof_code *c = &f->codes.v[i];

		if (!bytes_fit(&f->code_bytes, c->offset, c->size,
			       &p->code_bytes))
			continue;
		c = merge_add(m, &code_table, c);
		if (!c)
			return -ERR_NOMEM;
		merge_bytes(&f->code_bytes, &c->offset, c->size,
			    &p->code_bytes);
	}
	for (size_t i = 0; i < f->texts.n; i++) {
		struct source_excerpt *t = &f->texts.v[i];

		if (!bytes_fit(&f->text_bytes, t->offset, t->size,
			       &p->text_bytes))
			continue;
		t = merge_add(m, &text_table, t);
		if (!t)
			return -ERR_NOMEM;
		merge_bytes(&f->text_bytes, &t->offset, t->size,
			    &p->text_bytes);
	}
	return m->failed || p->code_bytes.failed || p->text_bytes.failed
		       ? -ERR_NOMEM : 0;
}

int merge_symbols(struct merge *m)
{
	int rc = take_frames(m) ?: take_places(m);

	if (!rc)
		take_notes(m);
	if (!rc)
		rc = take_sources(m) ?: take_symbols(m);
	return rc ? rc : take_bytes(m);
}

/* A row with a name comes first. */
static int by_symbol(const void *x, const void *y, void *ctx)
{
	const struct prof_symbol *a = x, *b = y;

	return ascending(a->image, b->image) ?: ascending(a->vaddr, b->vaddr) ?:
	       descending(!!a->name, !!b->name) ?:
	       compare_str(ctx, a->name, b->name) ?: descending(a->size, b->size);
}

static int by_line(const void *x, const void *y, void *ctx)
{
	const struct prof_line *a = x, *b = y;

	return ascending(a->image, b->image) ?: ascending(a->vaddr, b->vaddr) ?:
	       compare_frames(ctx, a->frame, b->frame);
}

static int by_code(const void *x, const void *y, void *ctx)
{
	const struct prof_code *a = x, *b = y;
	const struct profile *p = ctx;

	return ascending(a->image, b->image) ?: ascending(a->vaddr, b->vaddr) ?:
	       descending(a->size, b->size) ?:
	       memcmp(p->code_bytes.p + a->offset, p->code_bytes.p + b->offset,
		      a->size);
}

static int by_text(const void *x, const void *y, void *ctx)
{
	const struct source_excerpt *a = x, *b = y;
	const struct profile *p = ctx;
	int c = ascending(a->file, b->file) ?: ascending(a->line, b->line) ?:
		descending(a->size, b->size);

	if (!c && a->size)
		c = memcmp(p->text_bytes.p + a->offset,
			   p->text_bytes.p + b->offset, a->size);
	return c ?: ascending(a->flags, b->flags);
}

/* Keeps the first of each image and address (file and line) of sorted rows. */
#define KEEP_FIRST(rows, a, b) \
	do { \
		size_t kept = 0; \
		for (size_t i = 0; i < (rows)->n; i++) \
			if (!kept || \
			    (rows)->v[kept - 1].a != (rows)->v[i].a || \
			    (rows)->v[kept - 1].b != (rows)->v[i].b) \
				(rows)->v[kept++] = (rows)->v[i]; \
		(rows)->n = kept; \
	} while (0)

static int replace_bytes(struct buf *bytes, struct buf *kept)
{
	bool failed = kept->failed;

	buf_fini(failed ? kept : bytes);
	if (!failed)
		*bytes = *kept;
	return failed ? -ERR_NOMEM : 0;
}

/* Removes the bytes of rows that were dropped. */
#define PACK(rows, bytes, rc) \
	do { \
		struct buf kept = { 0 }; \
		for (size_t i = 0; i < (rows)->n; i++) \
			merge_bytes((bytes), &(rows)->v[i].offset, \
				    (rows)->v[i].size, &kept); \
		(rc) = replace_bytes((bytes), &kept); \
	} while (0)

int merge_finish_symbols(struct profile *p)
{
	int rc = 0;

	vec_sort_r(&p->symbols, by_symbol, p);
	KEEP_FIRST(&p->symbols, image, vaddr);
	vec_sort_r(&p->lines, by_line, p);
	KEEP_FIRST(&p->lines, image, vaddr);
	if (p->codes.n) {
		vec_sort_r(&p->codes, by_code, p);
		KEEP_FIRST(&p->codes, image, vaddr);
		PACK(&p->codes, &p->code_bytes, rc);
	}
	if (!rc && p->texts.n) {
		vec_sort_r(&p->texts, by_text, p);
		KEEP_FIRST(&p->texts, file, line);
		PACK(&p->texts, &p->text_bytes, rc);
	}
	return rc;
}

int symbols_merge(struct profile *p, const struct profile *from,
		  const uint32_t *images, const uint32_t *locs)
{
	struct merge_maps maps = {
		.str = merge_map(from->str.str.n),
		.func = merge_map(from->funcs.n),
		.frame = merge_map(from->frames.n),
		.image = merge_map(from->images.n),
		.loc = merge_map(from->locs.n),
	};
	struct merge m = { .p = p, .from = from, .maps = &maps };
	int rc = -ERR_NOMEM;

	if (maps.str && maps.func && maps.frame && maps.image && maps.loc) {
		memcpy(maps.image, images, from->images.n * sizeof(*images));
		memcpy(maps.loc, locs, from->locs.n * sizeof(*locs));
		rc = merge_symbols(&m);
	}
	merge_maps_fini(&maps);
	return rc || m.failed ? -ERR_NOMEM : 0;
}

int symbols_merged(struct profile *p)
{
	return merge_finish_symbols(p);
}
