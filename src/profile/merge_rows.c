// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds rows of a recording to the result of a merge, and maps their numbers: see
 * merge_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "profile/merge_internal.h"

uint32_t *merge_map(size_t n)
{
	uint32_t *map = malloc((n + 1) * sizeof(*map));

	if (map)
		memset(map, 0xff, (n + 1) * sizeof(*map));
	return map;
}

void merge_maps_fini(struct merge_maps *m)
{
	uint32_t *all[] = { m->str, m->event, m->run, m->thread, m->image,
			    m->loc, m->node, m->func, m->frame };

	for (size_t i = 0; i < COUNT(all); i++)
		free(all[i]);
}

int merge_maps_init(struct merge_maps *m, const struct profile *p)
{
	*m = (struct merge_maps){
		merge_map(p->str.str.n), merge_map(p->events.n),
		merge_map(p->runs.n), merge_map(p->threads.n),
		merge_map(p->images.n), merge_map(p->locs.n),
		merge_map(p->nodes.n), merge_map(p->funcs.n),
		merge_map(p->frames.n),
	};
	return m->str && m->event && m->run && m->thread && m->image &&
	       m->loc && m->node && m->func && m->frame ? 0 : -ERR_NOMEM;
}

uint32_t merge_str(struct merge *m, uint32_t id)
{
	uint32_t next = guess_next(&m->str), to = m->maps->str[id];
	const char *s;

	if (to != PROF_NONE)
		return to;
	s = profile_cstr(m->from, id);
	to = next < m->p->str.str.n && !strcmp(m->p->str.str.v[next], s)
	     ? next : profile_str(m->p, s);
	m->maps->str[id] = to;
	guess_found(&m->str, to);
	m->failed |= to == PROF_NONE;
	return to;
}

static const uint32_t *map_of(const struct merge_maps *m,
			      const struct table *t, uint8_t ref)
{
	switch ((enum ref)ref) {
	case REF_STR:
		return m->str;
	case REF_RUN:
	case REF_RUN_OPT:
		return m->run;
	case REF_EVENT:
	case REF_EVENT_OPT:
		return m->event;
	case REF_IMAGE:
	case REF_IMAGE_OPT:
		return m->image;
	case REF_NODE:
		return m->node;
	case REF_LOC:
		return m->loc;
	case REF_FUNC:
		return m->func;
	case REF_FRAME_OPT:
		return m->frame;
	case REF_BACK:
		return t->section == SECTION_NODES ? m->node : m->frame;
	case REF_NONE:
		break;
	}
	return NULL;
}

uint64_t merge_ref(const struct merge_maps *m, const struct table *t,
		   const struct column *c, const void *row)
{
	const uint32_t *map = map_of(m, t, c->ref);
	uint64_t v = column_get(row, c);

	return !map || v == PROF_NONE ||
	       (c->ref == REF_LOC && prof_is_mark((uint32_t)v)) ? v : map[v];
}

void merge_refs(struct merge *m, const struct table *t, void *row)
{
	for (size_t i = 0; i < t->ncolumns; i++) {
		const struct column *c = &t->columns[i];

		if (c->ref == REF_STR)
			column_set(row, c, merge_str(m, (uint32_t)
						     column_get(row, c)));
		else if (c->ref != REF_NONE)
			column_set(row, c, merge_ref(m->maps, t, c, row));
	}
}

void *merge_add(struct merge *m, const struct table *t, const void *row)
{
	void *added = table_add(m->p, t, row);

	if (added)
		merge_refs(m, t, added);
	return added;
}

void merge_bytes(const struct buf *from, uint32_t *offset, uint32_t size,
		 struct buf *to)
{
	uint32_t at = (uint32_t)to->n;

	if (size)
		buf_bytes(to, from->p + *offset, size);
	*offset = at;
}

static bool image_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct prof_image *a = &((const struct profile *)ctx)->images.v[id];
	const struct prof_image *b = key;

	return a->path == b->path && a->kind == b->kind &&
	       a->flags == b->flags && a->base == b->base &&
	       a->reason == b->reason &&
	       build_id_equal(&a->build_id, &b->build_id);
}

static uint64_t image_hash(const struct prof_image *im)
{
	uint64_t h = hash_mix((uint64_t)im->path << 32 | im->reason, im->base);

	h = hash_mix(h, (uint64_t)im->kind << 32 | im->flags);
	return hash_mix(h, hash_bytes(im->build_id.bytes, im->build_id.len));
}

int merge_images(struct merge *m, struct idtab *tab)
{
	for (size_t i = 0; i < m->from->images.n; i++) {
		struct prof_image im = m->from->images.v[i];

		im.path = merge_str(m, im.path);
		im.reason = merge_str(m, im.reason);
		im.debug_file = im.note = 0;	/* part of the symbol part */
		m->maps->image[i] = idtab_row(tab, &m->p->images, image_hash(&im),
					      image_eq, m->p, &im);
		if (m->maps->image[i] == IDTAB_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

static uint32_t merge_loc(struct merge *m, const struct prof_loc *l)
{
	uint32_t image = m->maps->image[l->image], next = guess_next(&m->loc);
	const struct prof_loc *v = m->p->locs.v;
	uint32_t id = next < m->p->locs.n && v[next].vaddr == l->vaddr &&
		      v[next].image == image
		      ? next : profile_loc(m->p, image, l->vaddr);

	guess_found(&m->loc, id);
	return id;
}

static uint32_t merge_node(struct merge *m, uint32_t parent, uint32_t loc)
{
	const struct prof_node *v = m->p->nodes.v;
	uint32_t next = guess_next(&m->node);
	uint32_t id = next < m->p->nodes.n && v[next].parent == parent &&
		      v[next].loc == loc && !prof_is_mark(loc)
		      ? next : profile_node(m->p, parent, loc);

	guess_found(&m->node, id);
	return id;
}

static int take_wait_kinds(struct merge *m)
{
	const struct table *t = format_table(SECTION_WAIT_KINDS);

	for (size_t i = 0; i < m->from->wait_kinds.n; i++)
		if (!merge_add(m, t, &m->from->wait_kinds.v[i]))
			return -ERR_NOMEM;
	return 0;
}

int merge_stacks(struct merge *m)
{
	const struct profile *f = m->from;
	uint32_t *end_of = merge_map(f->nodes.n);	/* row of `ends` for each
							 * node */
	bool good = true;

	if (!end_of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < f->ends.n; i++)
		end_of[f->ends.v[i].node] = (uint32_t)i;
	for (size_t i = 0; i < f->locs.n; i++) {
		m->maps->loc[i] = merge_loc(m, &f->locs.v[i]);
		good &= m->maps->loc[i] != PROF_NONE;
	}
	m->maps->node[0] = 0;
	for (size_t i = 1; good && i < f->nodes.n; i++) {
		const struct prof_node *n = &f->nodes.v[i];
		uint32_t parent = m->maps->node[n->parent], id;

		if (end_of[i] != PROF_NONE && prof_is_mark(n->loc)) {
			const struct prof_stack_end *e = &f->ends.v[end_of[i]];

			id = profile_end(m->p, n->loc, e->reason,
					 merge_row(m->maps->image, e->image));
		} else {
			id = merge_node(m, parent, prof_is_mark(n->loc)
					? n->loc : merge_row(m->maps->loc,
							     n->loc));
		}
		m->maps->node[i] = id;
		good = id != PROF_NONE;
	}
	free(end_of);
	return good ? take_wait_kinds(m) : -ERR_NOMEM;
}

int merge_totals(struct merge *m, uint64_t shift)
{
	const struct profile *f = m->from;
	const struct table *losses = format_table(SECTION_LOSSES);
	const struct table *stats = format_table(SECTION_STATS);

	for (size_t i = 0; i < f->losses.n; i++) {
		struct prof_loss *l;

		if (m->maps->run[f->losses.v[i].run] == PROF_NONE)
			continue;
		l = merge_add(m, losses, &f->losses.v[i]);
		if (!l)
			return -ERR_NOMEM;
		l->time_ns += shift;
	}
	for (size_t i = 0; i < f->stats.n; i++)
		if (m->maps->run[f->stats.v[i].run] != PROF_NONE &&
		    !merge_add(m, stats, &f->stats.v[i]))
			return -ERR_NOMEM;
	return 0;
}
