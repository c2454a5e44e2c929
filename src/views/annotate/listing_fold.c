// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects the rows of annotated code to show, and folds the others. */
#include <stdlib.h>

#include "views/annotate/listing.h"

/* Lines or instructions of one group, without those below lines. */
struct folder {
	const struct listing *l;
	const struct listing_group *g;
	VEC(size_t) row;	/* indexes in rows */
	bool *show;		/* by row */
	size_t first, last;	/* range of the unit, in `row`; first > last: none */
};

static const struct listing_row *fold_row(const struct folder *f, size_t i)
{
	return &f->l->rows.v[f->row.v[i]];
}

/* Returns whether an instruction with cost belongs to the unit, which may be
 * inlined in a part of the code only. */
static bool is_mine(const struct listing *l, const struct listing_row *r)
{
	for (int s = 0; s < LISTING_SIDES; s++) {
		const struct annotation *a = l->spec.a[s];
		const struct annot_unit *u = l->spec.u[s];
		uint32_t frame;

		if (r->kind != LISTING_INSN || (u && u->kind == UNIT_CODE))
			return true;
		if (!u || r->at[s] == PROF_NONE)
			continue;
		frame = a->insns.v[a->codes.v[r->code[s]].insn +
				   r->at[s]].frame;
		if (annot_unit_frame(a, u, frame) != PROF_NONE)
			return true;
	}
	return false;
}

/* Returns whether row k is at most `context` lines from row i. */
static bool is_near(const struct folder *f, size_t i, size_t k,
		    unsigned int context)
{
	const struct listing_row *a = fold_row(f, i), *b = fold_row(f, k);

	for (int s = 0; s < LISTING_SIDES; s++) {
		uint32_t x = a->at[s], y = b->at[s];

		if (a->kind != LISTING_LINE || x == PROF_NONE ||
		    y == PROF_NONE)
			continue;
		return x && y ? (x > y ? x - y : y - x) <= context : x == y;
	}
	return true;
}

/* Returns whether a row is the code without a line, which is always first. */
static bool is_lineless(const struct listing_row *r)
{
	return r->kind == LISTING_LINE && (!r->at[0] || !r->at[1]);
}

/* Finds the rows that belong to the unit: lines from its first to its last one,
 * and all instructions. */
static void find_range(struct folder *f)
{
	bool whole = f->g->is_code;

	for (int s = 0; s < LISTING_SIDES; s++)
		whole |= f->l->spec.u[s] && f->l->spec.u[s]->kind == UNIT_FILE;
	f->first = whole ? 0 : f->row.n;
	f->last = whole && f->row.n ? f->row.n - 1 : 0;
	for (size_t i = 0; !whole && i < f->row.n; i++) {
		const struct listing_row *r = fold_row(f, i);

		if (is_lineless(r) || (r->cost[0] == SIZE_MAX &&
				       r->cost[1] == SIZE_MAX && !r->head))
			continue;
		f->first = f->first < i ? f->first : i;
		f->last = i;
	}
}

static bool *shown(struct folder *f, size_t i)
{
	return &f->show[f->row.v[i]];
}

/* Shows rows of the unit that are hidden alone: a fold is no shorter. */
static void show_single(struct folder *f)
{
	for (size_t i = f->first; i <= f->last && i < f->row.n; i++) {
		bool before = i == f->first || *shown(f, i - 1);
		bool after = i == f->last || *shown(f, i + 1);

		if (before && after && f->first < f->last &&
		    !is_lineless(fold_row(f, i)))
			*shown(f, i) = true;
	}
}

/* Shows the rows with cost, those near them, and the function's head. */
static void show_near(struct folder *f, unsigned int context)
{
	size_t head = SIZE_MAX;
	bool any = false;

	for (size_t i = 0; i < f->row.n; i++) {
		const struct listing_row *r = fold_row(f, i);

		if (r->head)
			head = i;
		if (!listing_has_cost(f->l, r) || !is_mine(f->l, r))
			continue;
		any = true;
		for (size_t k = i > context ? i - context : 0;
		     k < f->row.n && k <= i + context; k++)
			if (is_near(f, i, k, context))
				*shown(f, k) = true;
	}
	if (head != SIZE_MAX && any)
		*shown(f, head) = true;
	if (any)
		show_single(f);
}

/* Selects the rows of a group to show. */
static int choose_rows(struct folder *f, unsigned int context, bool all)
{
	const struct listing *l = f->l;
	size_t end = f->g->row + f->g->nrows;
	bool any = false;

	f->row.n = 0;
	for (size_t i = f->g->row; i < end; i++) {
		any |= listing_has_cost(l, &l->rows.v[i]);
		if (l->rows.v[i].kind != LISTING_NOTE && !l->rows.v[i].below &&
		    vec_push(&f->row, i) < 0)
			return -ERR_NOMEM;
	}
	find_range(f);
	if (!all)
		show_near(f, context);
	for (size_t i = 0; all && f->first <= f->last && i < f->row.n; i++)
		f->show[f->row.v[i]] = i + context >= f->first &&
				       i <= f->last + context;
	for (size_t i = f->g->row; i < end; i++) {
		const struct listing_row *r = &l->rows.v[i];

		if (r->kind == LISTING_NOTE)
			f->show[i] = all || any || f->g->is_code;
		else if (r->below)
			f->show[i] = f->show[i - 1];
		else if (is_lineless(r))
			f->show[i] = listing_has_cost(l, r);
	}
	return 0;
}

/* Returns the number of lines or instructions hidden between row i and the
 * next one shown, k. */
static uint32_t count_hidden(const struct folder *f, size_t i, size_t k)
{
	uint32_t n = 0, lines = 0;

	for (size_t x = i < f->row.n ? i + 1 : f->first;
	     x < k && x <= f->last; x++)
		n += !is_lineless(fold_row(f, x));
	/* lines that are unknown have no rows */
	if (i < f->row.n && k < f->row.n && !listing_is_pair(f->l) &&
	    !f->g->is_code && fold_row(f, i)->at[0])
		lines = fold_row(f, k)->at[0] - fold_row(f, i)->at[0] - 1;
	return lines > n && lines > 1 ? lines : n;
}

/* Appends a group's rows to l->shown, with folds. */
static int copy_rows(struct folder *f, struct listing *l, bool all)
{
	size_t last = SIZE_MAX, at = 0, end = f->g->row + f->g->nrows;
	bool any = false;
	int rc = 0;

	for (size_t i = f->g->row; !rc && i <= end; i++) {
		struct listing_row fold = listing_new_row(LISTING_FOLD);
		bool own = at < f->row.n && f->row.v[at] == i;

		if (i < end && !f->show[i]) {
			at += own;
			continue;
		}
		any |= own;
		fold.group = (uint32_t)(f->g - l->groups.v);
		fold.hidden = !all && (own || (i == end && (any || f->g->is_code)))
				      ? count_hidden(f, last, at) : 0;
		if (fold.hidden)
			rc = vec_push(&l->shown, fold);
		if (!rc && i < end)
			rc = vec_push(&l->shown, l->rows.v[i]);
		if (own)
			last = at++;
	}
	return rc;
}

int listing_fold(struct listing *l, unsigned int context, bool all)
{
	struct folder f = { .l = l,
			    .show = calloc(l->rows.n + 1, sizeof(bool)) };
	size_t next = 0;
	int rc = f.show ? 0 : -ERR_NOMEM;

	l->shown.n = 0;
	for (size_t i = 0; !rc && i <= l->groups.n; i++) {
		struct listing_group *g = i < l->groups.n ? &l->groups.v[i] : NULL;
		size_t end = g ? g->row : l->rows.n;

		for (; !rc && next < end; next++)	/* notes between groups */
			rc = vec_push(&l->shown, l->rows.v[next]);
		if (rc || !g)
			break;
		f.g = g;
		next = g->row + g->nrows;
		g->shown = l->shown.n;
		rc = choose_rows(&f, context, all) ?: copy_rows(&f, l, all);
		g->nshown = l->shown.n - g->shown;
	}
	vec_fini(&f.row);
	free(f.show);
	return rc;
}
