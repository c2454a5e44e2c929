// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums one lane over the tree of stacks. */
#include "views/query/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

int fold_init(struct fold *f, const struct aggregate *a, struct error *err)
{
	*f = (struct fold){ .a = a, .n = a->p->nodes.n, .ncols = a->ncols,
			    .lane = PROF_NONE };
	f->words = (f->n + 63) / 64;
	f->bits = calloc(f->words + 1, sizeof(*f->bits));
	f->sub = pages_calloc(f->n * f->ncols + 1, sizeof(*f->sub));
	f->own = calloc(f->ncols + 1, sizeof(*f->own));
	f->own_cap = calloc(f->ncols + 1, sizeof(*f->own_cap));
	f->scratch = calloc(f->ncols + 1, sizeof(*f->scratch));
	f->first = pages_calloc(f->n + 1, sizeof(*f->first));
	f->next = pages_calloc(f->n + 1, sizeof(*f->next));
	if (f->bits && f->sub && f->own && f->own_cap && f->scratch &&
	    f->first && f->next)
		return 0;
	fold_fini(f);
	return error_nomem(err);
}

void fold_fini(struct fold *f)
{
	for (size_t c = 0; f->scratch && c < f->ncols; c++)
		free(f->scratch[c]);
	free(f->bits);
	pages_free(f->sub, f->n * f->ncols + 1, sizeof(*f->sub));
	free(f->own);
	free(f->own_cap);
	free(f->scratch);
	pages_free(f->first, f->n + 1, sizeof(*f->first));
	pages_free(f->next, f->n + 1, sizeof(*f->next));
	*f = (struct fold){ 0 };
}

static void clear(struct fold *f)
{
	for (size_t w = 0; w < f->words; w++) {
		uint64_t left = f->bits[w];

		for (; left; left &= left - 1) {
			size_t n = w * 64 + (size_t)__builtin_ctzll(left);

			memset(&f->sub[n * f->ncols], 0,
			       f->ncols * sizeof(*f->sub));
			f->first[n] = f->next[n] = 0;
		}
		f->bits[w] = 0;
	}
	f->lane = PROF_NONE;
}

/* Marks a node and all its ancestors.  All ancestors of a marked node are
 * marked. */
static void touch(struct fold *f, uint32_t n)
{
	const struct prof_node *nodes = f->a->p->nodes.v;

	while (!(f->bits[n / 64] >> (n % 64) & 1)) {
		f->bits[n / 64] |= 1ull << (n % 64);
		if (!n)
			break;
		n = nodes[n].parent;
	}
}

static void touch_dense(struct fold *f, const struct slot *s)
{
	size_t n = f->a->leaves.n < s->cap ? f->a->leaves.n : s->cap;

	for (size_t i = 0; i < n; i++)
		if (s->dense[i].count)
			touch(f, f->a->leaves.v[i]);
}

static int load_column(struct fold *f, size_t col, const struct slot *s)
{
	size_t leaves = f->a->leaves.n;

	if (s->dense) {
		f->own[col] = s->dense;
		f->own_cap[col] = s->cap;
		touch_dense(f, s);
		return 0;
	}
	if (!f->scratch[col])
		f->scratch[col] = calloc(leaves + 1, sizeof(struct cell));
	if (!f->scratch[col])
		return -ERR_NOMEM;
	f->own[col] = f->scratch[col];
	f->own_cap[col] = leaves;
	for (size_t i = 0; i < s->n; i++) {
		const struct sparse_cell *c = &f->a->sparse.v[s->first + i];

		f->own[col][f->a->leaf_of[c->stack] - 1] = c->c;
		touch(f, c->stack);
	}
	return 0;
}

/* Clears the buffer of a sparse slot for the next one. */
static void unload_column(struct fold *f, size_t col)
{
	uint32_t slot;
	const struct slot *s;

	if (f->lane == PROF_NONE || !f->scratch[col] ||
	    f->own[col] != f->scratch[col])
		return;
	slot = f->a->lane_slot[f->lane * f->ncols + col];
	s = &f->a->slots.v[slot];
	for (size_t i = 0; i < s->n; i++)
		f->scratch[col][f->a->leaf_of[f->a->sparse.v[s->first + i]
						      .stack] - 1] =
			(struct cell){ 0, 0 };
}

/* Sums subtrees.  A parent's id is below its children's.  So, from the last
 * node to the first, each sum is complete when it is added to the parent's.
 * Prepending leaves the children's lists in ascending order. */
static void sum_up(struct fold *f)
{
	const struct prof_node *nodes = f->a->p->nodes.v;

	for (size_t w = f->words; w--;) {
		uint64_t left = f->bits[w];

		while (left) {
			size_t bit = 63 - (size_t)__builtin_clzll(left);
			size_t n = w * 64 + bit;
			uint32_t up = nodes[n].parent;
			struct cell *sub = &f->sub[n * f->ncols];

			left &= ~(1ull << bit);
			for (size_t c = 0; f->a->leaf_of[n] && c < f->ncols;
			     c++)
				cell_add(&sub[c],
					 fold_own(f, (uint32_t)n, c));
			if (!n)
				return;
			for (size_t c = 0; c < f->ncols; c++)
				cell_add(&f->sub[up * f->ncols + c], sub[c]);
			f->next[n] = f->first[up];
			f->first[up] = (uint32_t)n;
		}
	}
}

int fold_lane(struct fold *f, uint32_t lane, struct error *err)
{
	if (f->lane == lane)
		return 0;
	for (size_t c = 0; c < f->ncols; c++)
		unload_column(f, c);
	clear(f);
	for (size_t c = 0; c < f->ncols; c++) {
		uint32_t slot = f->a->lane_slot[lane * f->ncols + c];

		f->own[c] = NULL;
		if (slot != PROF_NONE &&
		    load_column(f, c, &f->a->slots.v[slot]) < 0)
			return error_nomem(err);
	}
	sum_up(f);
	f->lane = lane;
	return 0;
}

void fold_walk(const struct fold *f, fold_visit *enter, fold_visit *leave,
	       void *ctx)
{
	const struct prof_node *nodes = f->a->p->nodes.v;
	uint32_t n = f->first[0];

	while (n) {
		enter(ctx, n);
		if (f->first[n]) {
			n = f->first[n];
			continue;
		}
		for (;;) {
			leave(ctx, n);
			if (f->next[n]) {
				n = f->next[n];
				break;
			}
			n = nodes[n].parent;
			if (!n)
				return;
		}
	}
}
