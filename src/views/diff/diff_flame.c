// SPDX-License-Identifier: GPL-2.0-or-later
/* One tree of both sides' call stacks: see diff.h. */
#include <stdlib.h>
#include <string.h>

#include "views/diff/diff_internal.h"
#include "views/tree/flame.h"
#include "views/tree/preorder.h"

struct merge_node {
	uint32_t parent, key;
	uint8_t inlined;
};

struct merge {
	struct diff *d;
	struct flame_diff *f;
	VEC(struct merge_node) nodes;
	struct idtab tab;
	struct cell *total[DIFF_SIDES];
	double *width;		/* by node: to order children by */
	struct flame flame[DIFF_SIDES];
	uint32_t *node_of[DIFF_SIDES];	/* by node of the side's flame */
};

static bool node_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct merge_node *a = &((const struct merge *)ctx)->nodes.v[id];
	const struct merge_node *b = key;

	return a->parent == b->parent && a->key == b->key;
}

static uint32_t merged(struct merge *m, uint32_t parent, uint32_t key)
{
	struct merge_node n = { parent, key, 0 };
	uint64_t h = hash_u64((uint64_t)parent << 32 | key);
	uint32_t id = idtab_find(&m->tab, h, node_eq, m, &n);

	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)m->nodes.n;
	if (vec_push(&m->nodes, n) < 0 || idtab_add(&m->tab, h, id) < 0)
		return PROF_NONE;
	return id;
}

/* Nodes of a flame come in pre-order: parents first. */
static int merge_side(struct merge *m, int side)
{
	const struct diff *d = m->d;
	const struct flame *f = &m->flame[side];

	m->node_of[side] = malloc((f->nodes.n + 1) * sizeof(uint32_t));
	if (!m->node_of[side])
		return -ERR_NOMEM;
	m->node_of[side][0] = 0;
	for (size_t i = 1; i < f->nodes.n; i++) {
		const struct flame_node *n = &f->nodes.v[i];
		uint32_t id = merged(m, m->node_of[side][n->parent],
				     n->fk >= FLAME_SPECIAL
				     ? n->fk : d->side[side].key_of[n->fk]);

		if (id == PROF_NONE)
			return -ERR_NOMEM;
		m->node_of[side][i] = id;
		if (n->inlined)
			m->nodes.v[id].inlined |= (uint8_t)(1u << side);
	}
	return 0;
}

static int sum_side(struct merge *m, int side)
{
	const struct diff *d = m->d;
	const struct flame *f = &m->flame[side];
	size_t nc = d->cols.n;

	m->total[side] = calloc(m->nodes.n * nc + 1, sizeof(struct cell));
	if (!m->total[side])
		return -ERR_NOMEM;
	for (size_t i = 0; i < f->nodes.n; i++)
		for (size_t c = 0; c < nc; c++)
			cell_add(&m->total[side][m->node_of[side][i] * nc + c],
				 f->total[i * f->ncols +
					  d->cols.v[c].col[side]]);
	return 0;
}

static int widest_first(const void *x, const void *y, void *ctx)
{
	const struct merge *m = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct merge_node *a = &m->nodes.v[i], *b = &m->nodes.v[k];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (m->width[i] != m->width[k])
		return m->width[i] > m->width[k] ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return i < k ? -1 : i > k;
}

static uint32_t parent_of(const void *ctx, uint32_t node)
{
	return ((const struct merge *)ctx)->nodes.v[node].parent;
}

static void flame_diff_close(struct flame_diff *f)
{
	struct flame_diff_node *v = f->nodes.v;

	for (size_t i = 0; i < f->nodes.n; i++)
		v[i].end = (uint32_t)i + 1;
	for (size_t i = f->nodes.n; --i;)
		if (v[i].end > v[v[i].parent].end)
			v[v[i].parent].end = v[i].end;
}

/* What was summed goes under the new numbers. */
static int take_over(struct merge *m, const struct preorder *p)
{
	struct flame_diff *f = m->f;
	const uint32_t *id_of = p->id_of;
	size_t nc = f->ncols;

	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct merge_node *x = &m->nodes.v[p->at[i]];
		struct flame_diff_node n = { id_of[x->parent], 0, x->key,
					     x->inlined };

		if (vec_push(&f->nodes, n) < 0)
			return -ERR_NOMEM;
	}
	for (int s = 0; s < DIFF_SIDES; s++) {
		struct flame *side = &m->flame[s];
		size_t n = m->d->side[s].p->nodes.n;

		f->total[s] = malloc((f->nodes.n * nc + 1) *
				     sizeof(struct cell));
		if (!f->total[s])
			return -ERR_NOMEM;
		for (size_t i = 0; i < m->nodes.n; i++)
			memcpy(&f->total[s][id_of[i] * nc],
			       &m->total[s][i * nc],
			       nc * sizeof(struct cell));
		for (size_t i = 0; i < n; i++)
			if (side->node_of[i] != PROF_NONE)
				side->node_of[i] = id_of[m->node_of[s][
					side->node_of[i]]];
		f->node_of[s] = side->node_of;
		side->node_of = NULL;
	}
	flame_diff_close(f);
	return 0;
}

/* The mean of both sides as shares of their totals: the largest over columns. */
static double width(const struct diff *d, struct cell *const total[DIFF_SIDES],
		    size_t node)
{
	size_t nc = d->cols.n;
	double most = 0;

	for (size_t c = 0; c < nc; c++) {
		double all = 0, x = 0;

		for (int s = 0; s < DIFF_SIDES; s++) {
			all += diff_cost(d, s, c, total[s][c]);
			x += diff_cost(d, s, c, total[s][node * nc + c]);
		}
		if (all > 0 && x / all > most)
			most = x / all;
	}
	return most;
}

static int sort_nodes(struct merge *m)
{
	size_t n = m->nodes.n;
	struct preorder p = { 0 };
	int rc = -ERR_NOMEM;

	m->width = malloc(n * sizeof(*m->width));
	if (m->width) {
		for (size_t i = 0; i < n; i++)
			m->width[i] = width(m->d, m->total, i);
		rc = preorder_init(&p, n, parent_of, widest_first, m);
	}
	if (!rc)
		rc = take_over(m, &p);
	preorder_fini(&p);
	return rc;
}

/* The report of one side by its stacks: the diff's own where that has one lane,
 * else one of its own, whose frame keys are numbered alike. */
static int build_side(struct merge *m, int side, struct error *err)
{
	struct diff *d = m->d;
	struct diff_side *s = &d->side[side];
	struct report_spec spec = { .keys = d->spec.keys,
				    .select = d->spec.select,
				    .no_inline = d->spec.no_inline };
	struct report *rep = NULL;
	int rc;

	if (s->p->runs.n <= 1)
		return flame_build(&m->flame[side], s->rep, err);
	rc = report_build(s->reader, &spec, &rep, err);
	if (!rc)
		rc = flame_build(&m->flame[side], rep, err);
	report_free(rep);
	m->flame[side].rep = NULL;
	return rc;
}

static int build(struct merge *m, struct error *err)
{
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = build_side(m, s, err);
	if (rc)
		return rc;
	rc = vec_push(&m->nodes, (struct merge_node){ 0, FLAME_ROOT, 0 });
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = merge_side(m, s);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = sum_side(m, s);
	if (!rc)
		rc = sort_nodes(m);
	return rc ? diff_nomem(err) : 0;
}

int flame_diff_build(struct flame_diff *f, struct diff *d, struct error *err)
{
	struct merge m = { .d = d, .f = f };
	int rc;

	*f = (struct flame_diff){ .d = d, .ncols = d->cols.n };
	if (d->spec.keys.mask != (KEY_BIT(KEY_IMAGE) | KEY_BIT(KEY_SYMBOL)) ||
	    d->spec.select.symbols.n || d->spec.select.images.n)
		return error_set(err, ERR_USAGE, "a flame graph shows functions "
				 "and all of them: leave out what else to "
				 "compare by, and which functions");
	rc = build(&m, err);
	vec_fini(&m.nodes);
	idtab_fini(&m.tab);
	free(m.width);
	for (int s = 0; s < DIFF_SIDES; s++) {
		flame_fini(&m.flame[s]);
		free(m.total[s]);
		free(m.node_of[s]);
	}
	if (rc < 0)
		flame_diff_fini(f);
	return rc;
}

void flame_diff_fini(struct flame_diff *f)
{
	vec_fini(&f->nodes);
	for (int s = 0; s < DIFF_SIDES; s++) {
		free(f->total[s]);
		free(f->node_of[s]);
	}
	*f = (struct flame_diff){ 0 };
}

double flame_diff_share(const struct flame_diff *f, size_t node)
{
	return width(f->d, f->total, node);
}

void flame_diff_sure(const struct flame_diff *f, size_t node, size_t col,
		     struct diff_change *change)
{
	size_t at = node * f->ncols + col;

	diff_change_of(f->d, col, f->total[DIFF_OLD][at],
		       f->total[DIFF_NEW][at], change);
}

void flame_diff_name(const struct flame_diff *f, size_t node, struct buf *out)
{
	uint32_t key = f->nodes.v[node].key;

	if (key > FLAME_ROOT)
		buf_str(out, "[unknown]");
	else if (key >= FLAME_SPECIAL)
		flame_name(f->d->side[0].rep, key, out);
	else
		diff_name_alone(f->d, key, out);
}

/* Pruning: leaves out what is too small to be seen. */

struct pruner {
	struct flame_diff *f;
	double share;
	uint32_t *new_id;
	uint32_t *small;	/* by node: of its branches, 0: none yet */
	VEC(struct flame_diff_node) nodes;
	struct cell *total[DIFF_SIDES];
};

static bool keeps(const struct pruner *x, size_t i)
{
	return !i || (x->f->nodes.v[i].key != FLAME_OTHER &&
		      flame_diff_share(x->f, i) >= x->share);
}

/* Children come widest first, so what is summed comes last of them. */
static int cut(struct pruner *x)
{
	const struct flame_diff_node *v = x->f->nodes.v;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < x->f->nodes.n; i++) {
		uint32_t up = v[i].parent;
		struct flame_diff_node n = { i ? x->new_id[up] : 0, 0, v[i].key,
					     v[i].inlined };

		x->new_id[i] = (uint32_t)x->nodes.n;
		if (keeps(x, i)) {
			rc = vec_push(&x->nodes, n);
			continue;
		}
		if (!x->small[up]) {
			x->small[up] = (uint32_t)x->nodes.n;
			n.key = FLAME_OTHER;
			n.inlined = 0;
			rc = vec_push(&x->nodes, n);
		}
		for (uint32_t k = i; k < v[i].end; k++)
			x->new_id[k] = x->small[up];
		x->f->pruned += v[i].end - i;
		i = v[i].end - 1;
	}
	return rc;
}

static int sum_kept(struct pruner *x, int side)
{
	const struct flame_diff *f = x->f;
	size_t nc = f->ncols;

	x->total[side] = calloc(x->nodes.n * nc + 1, sizeof(struct cell));
	if (!x->total[side])
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < f->nodes.n; i++) {
		for (size_t c = 0; c < nc; c++)
			cell_add(&x->total[side][x->new_id[i] * nc + c],
				 f->total[side][i * nc + c]);
		if (!keeps(x, i))
			i = f->nodes.v[i].end - 1;
	}
	return 0;
}

static void take_pruned(struct flame_diff *f, struct pruner *x)
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		size_t n = f->d->side[s].p->nodes.n;

		for (size_t i = 0; i < n; i++)
			if (f->node_of[s][i] != PROF_NONE)
				f->node_of[s][i] = x->new_id[f->node_of[s][i]];
		free(f->total[s]);
		f->total[s] = x->total[s];
	}
	free(f->nodes.v);
	f->nodes.v = x->nodes.v;
	f->nodes.n = x->nodes.n;
	f->nodes.cap = x->nodes.cap;
	flame_diff_close(f);
}

int flame_diff_prune(struct flame_diff *f, double share, struct error *err)
{
	struct pruner x = { .f = f, .share = share };
	int rc = -ERR_NOMEM;

	x.new_id = calloc(f->nodes.n + 1, sizeof(*x.new_id));
	x.small = calloc(f->nodes.n + 1, sizeof(*x.small));
	if (x.new_id && x.small)
		rc = cut(&x);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = sum_kept(&x, s);
	if (!rc) {
		take_pruned(f, &x);
	} else {
		vec_fini(&x.nodes);
		free(x.total[0]);
		free(x.total[1]);
	}
	free(x.new_id);
	free(x.small);
	return rc ? diff_nomem(err) : 0;
}
