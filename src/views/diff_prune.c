// SPDX-License-Identifier: GPL-2.0-or-later
/* Leaves out of a differential flame graph what is too small to be seen: see
 * diff.h. */
#include <stdlib.h>

#include "views/diff_internal.h"
#include "views/flame.h"

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
	return !i || (x->f->nodes.v[i].key != FLAME_SMALL &&
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
			n.key = FLAME_SMALL;
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
