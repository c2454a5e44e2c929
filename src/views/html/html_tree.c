// SPDX-License-Identifier: GPL-2.0-or-later
/* The trees of all recordings of a page as one. */
#include <stdlib.h>
#include <string.h>

#include "views/html/html_data.h"
#include "views/tree/preorder.h"

static int nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for the page");
}

struct merger {
	struct html_data *d;
	VEC(struct flame_node) nodes;	/* parents first */
	struct cell *total;
	size_t room;
	struct idtab tab;
};

static bool node_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct merger *m = ctx;
	const struct flame_node *a = &m->nodes.v[id], *b = key;

	return a->parent == b->parent && a->fk == b->fk &&
	       a->inlined == b->inlined;
}

static uint32_t merged_child(struct merger *m, uint32_t parent, uint32_t fk,
			     uint8_t inlined)
{
	struct flame_node key = { parent, 0, fk, inlined };
	uint64_t h = hash_mix((uint64_t)parent << 32 | fk, inlined);
	uint32_t id = idtab_find(&m->tab, h, node_eq, m, &key);

	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)m->nodes.n;
	if (vec_push(&m->nodes, key) < 0 || idtab_add(&m->tab, h, id) < 0)
		return PROF_NONE;
	return id;
}

static int grow_totals(struct merger *m)
{
	size_t nc = m->d->ncols, n = m->nodes.n * nc;
	struct cell *p = realloc(m->total, (n + 1) * sizeof(*p));

	if (!p)
		return -ERR_NOMEM;
	memset(p + m->room, 0, (n + 1 - m->room) * sizeof(*p));
	m->total = p;
	m->room = n;
	return 0;
}

static uint32_t page_func(const struct html_source *s, uint32_t fk)
{
	uint32_t func = fk >= FLAME_SPECIAL ? fk : s->func_of[fk];

	return func == PROF_NONE ? FLAME_DAMAGED : func;
}

/* One recording's tree goes into the common one. */
static int merge_tree(struct merger *m, struct html_source *s,
		      struct flame *f)
{
	uint32_t *to = malloc((f->nodes.n + 1) * sizeof(*to));
	size_t nc = m->d->ncols;
	int rc = to ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < f->nodes.n; i++) {
		const struct flame_node *n = &f->nodes.v[i];

		to[i] = i ? merged_child(m, to[n->parent],
					 page_func(s, n->fk), n->inlined) : 0;
		rc = to[i] == PROF_NONE ? -ERR_NOMEM : 0;
	}
	if (!rc)
		rc = grow_totals(m);
	for (size_t i = 0; !rc && i < f->nodes.n; i++)
		for (size_t c = 0; c < f->ncols; c++)
			cell_add(&m->total[to[i] * nc + s->col_of[c]],
				 f->total[i * f->ncols + c]);
	for (size_t i = 0; !rc && i < s->in.rep->p->nodes.n; i++)
		if (f->node_of[i] != PROF_NONE)
			f->node_of[i] = to[f->node_of[i]];
	s->node_of = f->node_of;
	f->node_of = NULL;
	free(to);
	return rc;
}

static uint64_t node_count(const struct merger *m, uint32_t node)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < m->d->ncols; c++)
		sum += m->total[node * m->d->ncols + c].count;
	return sum;
}

static int by_parent(const void *x, const void *y, void *ctx)
{
	const struct merger *m = ctx;
	uint32_t ia = *(const uint32_t *)x, ib = *(const uint32_t *)y;
	const struct flame_node *a = &m->nodes.v[ia], *b = &m->nodes.v[ib];
	uint64_t na, nb;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	na = node_count(m, ia);
	nb = node_count(m, ib);
	if (na != nb)
		return na > nb ? -1 : 1;
	if (a->fk != b->fk)
		return a->fk < b->fk ? -1 : 1;
	return a->inlined < b->inlined ? -1 : a->inlined > b->inlined;
}

static uint32_t parent_of(const void *ctx, uint32_t node)
{
	return ((const struct merger *)ctx)->nodes.v[node].parent;
}

static int take_merged(struct merger *m, const struct preorder *p)
{
	struct flame *f = &m->d->flame;
	const uint32_t *id_of = p->id_of;
	size_t nc = m->d->ncols;

	for (size_t i = 0; i < m->nodes.n; i++) {
		struct flame_node n = m->nodes.v[p->at[i]];

		n.parent = id_of[n.parent];
		if (vec_push(&f->nodes, n) < 0)
			return -ERR_NOMEM;
	}
	f->ncols = nc;
	f->total = malloc((m->nodes.n * nc + 1) * sizeof(*f->total));
	if (!f->total)
		return -ERR_NOMEM;
	for (size_t i = 0; i < m->nodes.n; i++)
		memcpy(&f->total[id_of[i] * nc], &m->total[i * nc],
		       nc * sizeof(*f->total));
	for (size_t s = 0; s < m->d->nsrc; s++) {
		struct html_source *src = &m->d->src[s];

		for (size_t i = 0; i < src->in.rep->p->nodes.n; i++)
			if (src->node_of[i] != PROF_NONE)
				src->node_of[i] = id_of[src->node_of[i]];
	}
	flame_close_ranges(f);
	return 0;
}

static int sort_merged(struct merger *m)
{
	struct preorder p;
	int rc = preorder_init(&p, m->nodes.n, parent_of, by_parent, m);

	if (!rc)
		rc = take_merged(m, &p);
	preorder_fini(&p);
	return rc;
}

static int merge_trees(struct html_data *d, struct error *err)
{
	struct flame_node root = { 0, 0, FLAME_ROOT, 0 };
	struct merger m = { .d = d };
	int rc = vec_push(&m.nodes, root) < 0 ? nomem(err) : 0;

	for (size_t i = 0; !rc && i < d->nsrc; i++) {
		struct flame f;

		rc = flame_build(&f, d->src[i].in.rep, err);
		if (rc)
			break;
		rc = merge_tree(&m, &d->src[i], &f) < 0 ? nomem(err) : 0;
		d->flame.folded |= f.folded;
		flame_fini(&f);
	}
	if (!rc)
		rc = sort_merged(&m) < 0 ? nomem(err) : 0;
	vec_fini(&m.nodes);
	idtab_fini(&m.tab);
	free(m.total);
	return rc;
}

int html_tree(struct html_data *d, struct error *err)
{
	struct html_source *s = &d->src[0];
	int rc;

	if (d->nsrc > 1) {
		rc = merge_trees(d, err);
	} else {
		rc = flame_build(&d->flame, s->in.rep, err);
		for (size_t i = 0; !rc && i < d->flame.nodes.n; i++)
			d->flame.nodes.v[i].fk =
				page_func(s, d->flame.nodes.v[i].fk);
		s->node_of = d->flame.node_of;
		d->flame.node_of = NULL;
	}
	d->entries.nodes = d->flame.nodes.n;
	return rc;
}
