// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens the rows of a tree that were open before the recording got other names: see
 * open_tree_restore.
 *
 * Names do not tell which rows are the same, because they changed.  Locations do: both
 * recordings have the same ones.  A function and its place in the inline chain of a
 * location, counted from outside, lead to the function in its place in the other
 * recording.  Chains that have become longer have more inlined functions inside.
 */
#include "tui/open_tree.h"

#include <stdlib.h>

enum { RESTORED_MAX = 2000 };

struct pair {
	uint32_t from, to;	/* indexes of rows */
};

struct restore {
	const struct open_tree *from;
	struct open_tree *to;
	uint32_t *row_fk, *tree_fk;	/* by old frame key: the new one */
	uint32_t chosen;	/* old row to be found … */
	uint32_t found;		/* … and what is nearest to it, or PROF_NONE */
	size_t left;		/* rows that may still be opened */
	VEC(struct pair) wait;
};

/* Lists the frame keys of a location, outermost first.  Returns their number. */
static size_t chain(const struct frame_keys *k, size_t loc, uint32_t *out)
{
	size_t n = 0;

	for (uint32_t s = k->head[loc]; s != PROF_NONE && n < INLINE_MAX;
	     s = k->steps[s].outer)
		out[n++] = k->steps[s].fk;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t x = out[i];

		out[i] = out[n - 1 - i];
		out[n - 1 - i] = x;
	}
	return n;
}

/* Maps frame keys by their places.  Returns NULL if out of memory. */
static uint32_t *map_keys(const struct frame_keys *from,
			  const struct frame_keys *to, size_t nlocs)
{
	uint32_t *map = malloc((from->keys.n + 1) * sizeof(*map));
	uint32_t a[INLINE_MAX], b[INLINE_MAX];

	for (size_t i = 0; map && i < from->keys.n; i++)
		map[i] = PROF_NONE;
	for (size_t loc = 0; map && loc < nlocs; loc++) {
		size_t na = chain(from, loc, a), nb = chain(to, loc, b);

		for (size_t i = 0; i < na && nb; i++)
			if (a[i] != PROF_NONE && map[a[i]] == PROF_NONE)
				map[a[i]] = b[i < nb ? i : nb - 1];
	}
	if (map && from->unknown != PROF_NONE)
		map[from->unknown] = to->unknown;
	return map;
}

/* Finds the row without a parent that shows the same as an old one.  Lanes are numbered
 * by the samples, which are the same. */
static uint32_t find_row(const struct restore *x, const struct tree_row *old)
{
	const struct row_table *from = &x->from->d->rep->table;
	const struct row_table *to = &x->to->d->rep->table;
	uint32_t fk = from->rows.v[old->id].fk;

	if (fk < x->from->d->rep->keys.keys.n)
		fk = x->row_fk[fk];
	for (uint32_t i = 0; i < x->to->rows.n; i++) {
		const struct tree_row *r = &x->to->rows.v[i];

		if (r->above == PROF_NONE && r->kind == TREE_ROW &&
		    r->lane == old->lane && to->rows.v[r->id].fk == fk)
			return i;
	}
	return PROF_NONE;
}

static uint32_t find_branch(const struct restore *x, const struct tree_row *above,
			    const struct tree_row *old)
{
	for (uint32_t i = 0; i < above->n; i++)
		if (x->to->rows.v[above->first + i].id == x->tree_fk[old->id])
			return above->first + i;
	return PROF_NONE;
}

static size_t position(const struct open_tree *f, uint32_t id)
{
	for (size_t i = 0; i < f->seen.n; i++)
		if (f->seen.v[i] == id)
			return i;
	return SIZE_MAX;
}

/* Opens a row like the old one, and has the rows below it follow. */
static int follow(struct restore *x, struct pair p)
{
	const struct tree_row *old = &x->from->rows.v[p.from];
	size_t seen = position(x->to, p.to);
	int rc = 0;

	if (seen == SIZE_MAX || !old->open || !x->left)
		return 0;
	x->left--;
	if (open_tree_open(x->to, seen, NULL) < 0)
		return 0;
	for (uint32_t i = 0; !rc && i < old->n; i++) {
		struct pair below = { .from = old->first + i };
		const struct tree_row *r = &x->from->rows.v[below.from];

		if (!r->open && below.from != x->chosen)
			continue;
		below.to = find_branch(x, &x->to->rows.v[p.to], r);
		if (below.to != PROF_NONE)
			rc = vec_push(&x->wait, below);
	}
	return rc;
}

/* Takes the new row for the one to be found if the old one is that, or above it. */
static void consider(struct restore *x, struct pair p)
{
	uint32_t up = x->chosen;

	while (up != PROF_NONE && up != p.from)
		up = x->from->rows.v[up].above;
	if (up != PROF_NONE)
		x->found = p.to;
}

/* Rows that wait are taken from those above on, so that the last one that is considered
 * is the nearest. */
static int restore(struct restore *x)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < x->from->rows.n; i++) {
		const struct tree_row *old = &x->from->rows.v[i];
		struct pair p = { i, PROF_NONE };

		if (old->above != PROF_NONE || old->kind != TREE_ROW)
			continue;
		if (old->open || i == x->chosen)
			p.to = find_row(x, old);
		if (p.to != PROF_NONE)
			rc = vec_push(&x->wait, p);
		while (!rc && x->wait.n) {
			p = x->wait.v[--x->wait.n];
			consider(x, p);
			rc = follow(x, p);
		}
	}
	return rc;
}

size_t open_tree_restore(struct open_tree *f, const struct open_tree *from,
			 size_t seen)
{
	const struct report *a = from->d->rep, *b = f->d->rep;
	size_t nlocs = a->p->locs.n < b->p->locs.n ? a->p->locs.n : b->p->locs.n;
	struct restore x = { .from = from, .to = f, .chosen = PROF_NONE,
			     .found = PROF_NONE, .left = RESTORED_MAX };
	size_t at;

	if (seen < from->seen.n)
		x.chosen = from->seen.v[seen];
	x.row_fk = map_keys(&a->keys, &b->keys, nlocs);
	x.tree_fk = map_keys(a->tree_keys, b->tree_keys, nlocs);
	if (x.row_fk && x.tree_fk)
		restore(&x);
	free(x.row_fk);
	free(x.tree_fk);
	vec_fini(&x.wait);
	at = x.found == PROF_NONE ? SIZE_MAX : position(f, x.found);
	return at == SIZE_MAX ? seen : at;
}
