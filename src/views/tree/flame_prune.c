// SPDX-License-Identifier: GPL-2.0-or-later
/* Leaves out what is too small to be seen: see flame.h. */
#include <stdlib.h>
#include <string.h>

#include "views/tree/flame.h"
#include "views/query/names.h"

struct pruner {
	const struct flame *f;
	double share;
	uint32_t *new_id;	/* by node; PROF_NONE: below the share */
	uint32_t *small;	/* by node: it has branches to sum */
	VEC(struct flame_node) nodes;
	struct cell *total;
};

static bool keeps(const struct pruner *x, size_t i)
{
	return !i || (x->f->nodes.v[i].fk != FLAME_OTHER &&
		      flame_share(x->f, i) >= x->share);
}

static int emit(struct pruner *x, uint32_t parent, uint32_t fk,
		uint8_t inlined)
{
	struct flame_node n = { parent, 0, fk, inlined };

	return vec_push(&x->nodes, n);
}

/* A node is left: its small branches come last of its children. */
static int leave(struct pruner *x, uint32_t node)
{
	if (!x->small[node])
		return 0;
	x->small[node] = (uint32_t)x->nodes.n;
	return emit(x, x->new_id[node], FLAME_OTHER, 0);
}

static int number(struct pruner *x)
{
	const struct flame_node *v = x->f->nodes.v;
	uint32_t open = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < x->f->nodes.n; i++) {
		for (; !rc && i && open != v[i].parent &&
		       i >= v[open].end; open = v[open].parent)
			rc = leave(x, open);
		if (rc)
			break;
		if (!keeps(x, i)) {
			x->new_id[i] = PROF_NONE;
			x->small[v[i].parent] = 1;
			i = v[i].end - 1;
			continue;
		}
		x->new_id[i] = (uint32_t)x->nodes.n;
		rc = emit(x, i ? x->new_id[v[i].parent] : 0, v[i].fk,
			  v[i].inlined);
		open = i;
	}
	for (; !rc && open; open = v[open].parent)
		rc = leave(x, open);
	return rc ? rc : leave(x, 0);
}

/* Whole subtrees were skipped: their nodes go where their parent's samples of
 * small branches go. */
static void map_skipped(struct pruner *x)
{
	const struct flame_node *v = x->f->nodes.v;

	for (uint32_t i = 1; i < x->f->nodes.n; i++) {
		if (keeps(x, i))
			continue;
		for (uint32_t k = i; k < v[i].end; k++)
			x->new_id[k] = x->small[v[i].parent];
		i = v[i].end - 1;
	}
}

static int sum(struct pruner *x)
{
	const struct flame *f = x->f;
	size_t nc = f->ncols;

	x->total = calloc(x->nodes.n * nc + 1, sizeof(*x->total));
	if (!x->total)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < f->nodes.n; i++) {
		bool kept = keeps(x, i);

		for (size_t c = 0; c < nc; c++)
			cell_add(&x->total[x->new_id[i] * nc + c],
				 f->total[i * nc + c]);
		if (!kept)
			i = f->nodes.v[i].end - 1;
	}
	return 0;
}

static size_t count_small(const struct flame *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nodes.n; i++)
		n += f->nodes.v[i].fk == FLAME_OTHER;
	return n;
}

static void take(struct flame *f, struct pruner *x)
{
	size_t was = f->nodes.n - count_small(f);

	for (size_t n = 0; f->node_of && n < f->rep->fold.n; n++)
		if (f->node_of[n] != PROF_NONE)
			f->node_of[n] = x->new_id[f->node_of[n]];
	free(f->nodes.v);
	free(f->total);
	f->nodes.v = x->nodes.v;
	f->nodes.n = x->nodes.n;
	f->nodes.cap = x->nodes.cap;
	f->total = x->total;
	flame_close_ranges(f);
	f->pruned += was - (f->nodes.n - count_small(f));
}

int flame_prune(struct flame *f, double share, uint32_t **moved,
		struct error *err)
{
	struct pruner x = { .f = f, .share = share };
	size_t n = f->nodes.n;
	int rc = -ERR_NOMEM;

	x.new_id = calloc(n + 1, sizeof(*x.new_id));
	x.small = calloc(n + 1, sizeof(*x.small));
	if (x.new_id && x.small)
		rc = number(&x);
	if (!rc) {
		map_skipped(&x);
		rc = sum(&x);
	}
	if (!rc)
		take(f, &x);
	else
		vec_fini(&x.nodes);
	free(x.small);
	if (!rc && moved)
		*moved = x.new_id;
	else
		free(x.new_id);
	return rc ? error_set(err, ERR_NOMEM,
			      "out of memory for the flame graph") : 0;
}

void flame_name(const struct report *rep, uint32_t fk, struct buf *out)
{
	switch (fk) {
	case FLAME_BROKEN:
		buf_str(out, "[callers missing: broken stack]");
		break;
	case FLAME_CUT:
		buf_str(out, "[callers missing: deep stack cut]");
		break;
	case FLAME_DAMAGED:
		buf_str(out, "[damaged]");
		break;
	case FLAME_OTHER:
		buf_str(out, "[small branches]");
		break;
	case FLAME_ROOT:
		buf_str(out, "all");
		break;
	default:
		name_symbol(rep->p, &rep->keys, &rep->keys.keys.v[fk],
			    NAME_ALONE, out);
	}
}
