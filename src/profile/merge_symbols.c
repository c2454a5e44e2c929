// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the symbol parts of several recordings: see merge.h. */
#include <stdlib.h>
#include <string.h>

#include "profile/merge_internal.h"

static int take_frames(struct merge *m)
{
	const struct profile *f = m->from;

	for (size_t i = 0; i < f->funcs.n; i++) {
		struct prof_func k = f->funcs.v[i];

		k.image = m->maps->image[k.image];
		k.name = merge_str(m, k.name);
		k.file = merge_str(m, k.file);
		m->maps->func[i] = profile_func(m->p, &k);
		if (m->maps->func[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < f->frames.n; i++) {
		struct prof_frame k = f->frames.v[i];

		k.func = m->maps->func[k.func];
		k.file = merge_str(m, k.file);
		k.outer = merge_row(m->maps->frame, k.outer);
		m->maps->frame[i] = profile_frame(m->p, &k);
		if (m->maps->frame[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Merges the frames of locations; the first recording that has one wins. */
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

		if (p->loc_frame.v[loc] == PROF_NONE)
			p->loc_frame.v[loc] = merge_row(m->maps->frame, frame);
	}
	return 0;
}

static int take_sources(struct merge *m)
{
	const struct profile *f = m->from;
	uint8_t *has = calloc(m->p->images.n + 1, 1);
	int rc = has ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < m->p->sources.n; i++)
		has[m->p->sources.v[i].image] = 1;
	for (size_t i = 0; !rc && i < f->sources.n; i++) {
		struct image_debug_info s = f->sources.v[i];

		s.image = m->maps->image[s.image];
		s.file = merge_str(m, s.file);
		if (has[s.image])
			continue;
		has[s.image] = 1;
		rc = vec_push(&m->p->sources, s) < 0 ? -ERR_NOMEM : 0;
	}
	free(has);
	return rc;
}

static void take_notes(struct merge *m)
{
	const struct profile *f = m->from;

	for (size_t i = 0; i < f->images.n; i++) {
		struct prof_image *to = &m->p->images.v[m->maps->image[i]];

		if (!to->debug_file)
			to->debug_file = merge_str(m, f->images.v[i].debug_file);
		if (!to->note)
			to->note = merge_str(m, f->images.v[i].note);
	}
}

static int take_symbols(struct merge *m)
{
	const struct profile *f = m->from;

	for (size_t i = 0; i < f->symbols.n; i++) {
		struct prof_symbol s = f->symbols.v[i];

		s.image = m->maps->image[s.image];
		s.name = merge_str(m, s.name);
		if (s.name == PROF_NONE || vec_push(&m->p->symbols, s) < 0)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < f->lines.n; i++) {
		struct prof_line l = f->lines.v[i];

		l.image = m->maps->image[l.image];
		l.frame = merge_row(m->maps->frame, l.frame);
		if (vec_push(&m->p->lines, l) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Merges code and source with their bytes. */
static int take_bytes(struct merge *m)
{
	const struct profile *f = m->from;

	for (size_t i = 0; i < f->codes.n; i++) {
		struct prof_code c = f->codes.v[i];
		uint32_t at = (uint32_t)m->p->code_bytes.n;

		if (c.offset > f->code_bytes.n ||
		    c.size > f->code_bytes.n - c.offset ||
		    m->p->code_bytes.n > UINT32_MAX - c.size)
			continue;
		buf_bytes(&m->p->code_bytes, f->code_bytes.p + c.offset,
			  c.size);
		c.image = m->maps->image[c.image];
		c.offset = at;
		if (m->p->code_bytes.failed || vec_push(&m->p->codes, c) < 0)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < f->texts.n; i++) {
		struct source_excerpt t = f->texts.v[i];
		uint32_t at = (uint32_t)m->p->text_bytes.n;

		if (t.offset > f->text_bytes.n ||
		    t.size > f->text_bytes.n - t.offset ||
		    m->p->text_bytes.n > UINT32_MAX - t.size)
			continue;
		buf_bytes(&m->p->text_bytes, f->text_bytes.p + t.offset,
			  t.size);
		t.file = merge_str(m, t.file);
		t.offset = at;
		if (m->p->text_bytes.failed || t.file == PROF_NONE ||
		    vec_push(&m->p->texts, t) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

int merge_symbols(struct merge *m)
{
	int rc = take_frames(m);

	if (!rc)
		rc = take_places(m);
	if (!rc)
		take_notes(m);
	if (!rc)
		rc = take_sources(m);
	if (!rc)
		rc = take_symbols(m);
	return rc ? rc : take_bytes(m);
}

static int by_symbol(const void *x, const void *y)
{
	const struct prof_symbol *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->name != b->name)	/* a row with a name comes first */
		return a->name > b->name ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

/* Compares by address; among equal addresses, the row with more information
 * comes first. */
static int by_line(const void *x, const void *y)
{
	const struct prof_line *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static int by_code(const void *x, const void *y)
{
	const struct prof_code *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int by_text(const void *x, const void *y)
{
	const struct source_excerpt *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
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

/* Removes the bytes of rows that were dropped. */
static int pack(struct buf *bytes, struct buf *out)
{
	if (out->failed) {
		buf_fini(out);
		return -ERR_NOMEM;
	}
	buf_fini(bytes);
	*bytes = *out;
	return 0;
}

static int pack_codes(struct profile *p)
{
	struct buf kept = { 0 };

	for (size_t i = 0; i < p->codes.n; i++) {
		struct prof_code *c = &p->codes.v[i];
		uint32_t at = (uint32_t)kept.n;

		buf_bytes(&kept, p->code_bytes.p + c->offset, c->size);
		c->offset = at;
	}
	return pack(&p->code_bytes, &kept);
}

static int pack_texts(struct profile *p)
{
	struct buf kept = { 0 };

	for (size_t i = 0; i < p->texts.n; i++) {
		struct source_excerpt *t = &p->texts.v[i];
		uint32_t at = (uint32_t)kept.n;

		buf_bytes(&kept, p->text_bytes.p + t->offset, t->size);
		t->offset = at;
	}
	return pack(&p->text_bytes, &kept);
}

int merge_finish_symbols(struct profile *p)
{
	int rc = 0;

	if (p->symbols.n)
		qsort(p->symbols.v, p->symbols.n, sizeof(*p->symbols.v),
		      by_symbol);
	KEEP_FIRST(&p->symbols, image, vaddr);
	if (p->lines.n)
		qsort(p->lines.v, p->lines.n, sizeof(*p->lines.v), by_line);
	KEEP_FIRST(&p->lines, image, vaddr);
	if (p->codes.n) {
		qsort(p->codes.v, p->codes.n, sizeof(*p->codes.v), by_code);
		KEEP_FIRST(&p->codes, image, vaddr);
		rc = pack_codes(p);
	}
	if (!rc && p->texts.n) {
		qsort(p->texts.v, p->texts.n, sizeof(*p->texts.v), by_text);
		KEEP_FIRST(&p->texts, file, line);
		rc = pack_texts(p);
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
	free(maps.str);
	free(maps.func);
	free(maps.frame);
	free(maps.image);
	free(maps.loc);
	return rc || m.failed ? -ERR_NOMEM : 0;
}

int symbols_merged(struct profile *p)
{
	return merge_finish_symbols(p);
}
