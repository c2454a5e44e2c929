// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees whose open branches are visible (see tree_base.h). */
#include "tui/tree_base.h"

#include <stdlib.h>
#include <string.h>

void open_tree_init(struct open_tree *f, struct data *d)
{
	*f = (struct open_tree){ .d = d };
}

void open_tree_clear(struct open_tree *f)
{
	for (size_t i = 0; i < f->levels.n; i++)
		tree_level_free(f->levels.v[i]);
	f->levels.n = f->rows.n = f->seen.n = 0;
	f->full = false;
}

void open_tree_fini(struct open_tree *f)
{
	open_tree_clear(f);
	vec_fini(&f->levels);
	vec_fini(&f->rows);
	vec_fini(&f->seen);
}

int open_tree_add(struct open_tree *f, const struct tree_row *row)
{
	uint32_t id = (uint32_t)f->rows.n;

	if (vec_push(&f->rows, *row) < 0 || vec_push(&f->seen, id) < 0)
		return -ERR_NOMEM;
	f->rows.v[id].above = PROF_NONE;
	return 0;
}

const struct values *open_tree_values(const struct open_tree *f,
				      const struct tree_row *r)
{
	if (r->kind == TREE_ROW)
		return report_values(f->d->rep, r->id);
	return tree_level_values(f->levels.v[r->level], r->child);
}

const struct frame_keys *open_tree_keys(const struct open_tree *f,
					const struct tree_row *r)
{
	return r->kind != TREE_ROW ? f->d->rep->tree_keys : &f->d->rep->keys;
}

const struct frame_key *open_tree_function(const struct open_tree *f,
					   const struct tree_row *r)
{
	const struct report *rep = f->d->rep;

	if (r->kind != TREE_ROW)
		return &rep->tree_keys->keys.v[r->id];
	if (!key_list_has(&rep->spec.keys, KEY_SYMBOL))
		return NULL;
	return &rep->keys.keys.v[rep->table.rows.v[r->id].fk];
}

/* Adds rows for the branches of a level.  Takes ownership of the level on
 * success. */
static int add_branches(struct open_tree *f, struct tree_level *l,
			const struct tree_row *above, uint32_t above_id,
			uint32_t lane, enum tree_mode mode)
{
	uint32_t level = (uint32_t)f->levels.n;

	if (vec_reserve(&f->rows, f->rows.n + l->children.n) < 0 ||
	    vec_push(&f->levels, l) < 0)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < l->children.n; i++) {
		struct tree_row r = {
			.kind = TREE_BRANCH, .mode = (uint8_t)mode,
			.inlined = l->children.v[i].inlined,
			.id = l->children.v[i].fk, .lane = lane,
			.level = level, .child = i, .above = above_id,
		};

		if (above) {
			r.same = above->kind == TREE_BRANCH &&
				 l->children.n == 1 &&
				 values_same_totals(
					open_tree_values(f, &r),
					open_tree_values(f, above),
					f->d->rep->table.ncols);
			r.depth = (uint16_t)(above->depth + !r.same);
		}
		f->rows.v[f->rows.n++] = r;
	}
	return 0;
}

int open_tree_add_level(struct open_tree *f, struct tree_level *level,
			uint32_t lane, enum tree_mode mode, struct error *err)
{
	size_t first = f->rows.n;

	if (add_branches(f, level, NULL, PROF_NONE, lane, mode) < 0) {
		tree_level_free(level);
		return error_nomem(err);
	}
	for (size_t i = first; i < f->rows.n; i++)
		if (vec_push(&f->seen, (uint32_t)i) < 0)
			return error_nomem(err);
	return 0;
}

static int make_level(struct open_tree *f, const struct tree_row *r,
		      struct tree_level **out, struct error *err)
{
	struct tree_explorer *x = &f->d->trees;

	if (r->kind == TREE_ROW)
		return tree_level_row(x, r->id, r->mode, r->by_total, out, err);
	if (r->kind == TREE_CAPTION)
		return tree_level_function(x, r->lane, r->id, r->mode, out,
					   err);
	return tree_level_below(x, r->lane, f->levels.v[r->level], r->child,
				r->mode, out, err);
}

static int grow(struct open_tree *f, uint32_t id, struct error *err)
{
	struct tree_row above = f->rows.v[id];
	struct tree_level *l = NULL;
	uint32_t first = (uint32_t)f->rows.n;
	int rc;

	if (above.grown)
		return 0;
	if (f->rows.n >= OPEN_TREE_MAX || above.depth >= TREE_DEPTH_MAX)
		return error_set(err, ERR_NOMEM, "too many open branches: at "
				 "most %d", OPEN_TREE_MAX);
	rc = make_level(f, &above, &l, err);
	if (rc)
		return rc;
	above.grown = true;
	above.recursive = l->recursive;
	above.first = first;
	above.n = (uint32_t)l->children.n;
	if (add_branches(f, l, &above, id, above.lane, above.mode) < 0) {
		tree_level_free(l);
		return error_nomem(err);
	}
	f->rows.v[id] = above;
	return 0;
}

/* Makes the open rows below a row visible; *n becomes their number. */
static int insert_below(struct open_tree *f, size_t seen, size_t *n)
{
	VEC(uint32_t) in = { 0 }, wait = { 0 };
	const struct tree_row *r = open_tree_row(f, seen);
	int rc = 0;

	for (uint32_t i = r->n; !rc && i--;)
		rc = vec_push(&wait, r->first + i);
	while (!rc && wait.n) {
		uint32_t id = wait.v[--wait.n];

		r = &f->rows.v[id];
		rc = vec_push(&in, id);
		for (uint32_t i = r->open ? r->n : 0; !rc && i--;)
			rc = vec_push(&wait, r->first + i);
	}
	if (!rc)
		rc = vec_reserve(&f->seen, f->seen.n + in.n);
	if (!rc && in.n) {
		memmove(&f->seen.v[seen + 1 + in.n], &f->seen.v[seen + 1],
			(f->seen.n - seen - 1) * sizeof(*f->seen.v));
		memcpy(&f->seen.v[seen + 1], in.v, in.n * sizeof(*in.v));
		f->seen.n += in.n;
	}
	*n = in.n;
	vec_fini(&in);
	vec_fini(&wait);
	return rc ? -ERR_NOMEM : 0;
}

/* Marks a row as open, and the rows below while there is just one that has
 * everything. */
static int mark_open(struct open_tree *f, uint32_t id, struct error *err)
{
	int rc = 0;

	for (;;) {
		rc = grow(f, id, err);
		if (rc)
			return rc;
		f->rows.v[id].open = f->rows.v[id].n > 0;
		if (f->rows.v[id].n != 1)
			return 0;
		if (f->rows.v[id].kind == TREE_BRANCH &&
		    !f->rows.v[f->rows.v[id].first].same)
			return 0;
		id = f->rows.v[id].first;
		if (f->rows.v[id].depth >= TREE_DEPTH_MAX ||
		    f->rows.v[id].open)
			return 0;
	}
}

int open_tree_open(struct open_tree *f, size_t seen, struct error *err)
{
	size_t n;
	int rc;

	if (open_tree_row(f, seen)->open)
		return 0;
	rc = mark_open(f, f->seen.v[seen], err);
	if (open_tree_row(f, seen)->open && insert_below(f, seen, &n) < 0)
		rc = error_nomem(err);
	return rc;
}

void open_tree_shut(struct open_tree *f, size_t seen)
{
	struct tree_row *r = open_tree_row(f, seen);
	size_t end = seen + 1;

	if (!r->open)
		return;
	r->open = false;
	/* Rows below follow directly, whatever their depth: all rows of a chain
	 * have the same depth. */
	while (end < f->seen.n) {
		uint32_t up = open_tree_row(f, end)->above;

		while (up != PROF_NONE && up != f->seen.v[seen])
			up = f->rows.v[up].above;
		if (up == PROF_NONE)
			break;
		end++;
	}
	memmove(&f->seen.v[seen + 1], &f->seen.v[end],
		(f->seen.n - end) * sizeof(*f->seen.v));
	f->seen.n -= end - seen - 1;
}

static bool reaches(const struct open_tree *f, const struct tree_row *r,
		    double percent)
{
	const struct values *v = open_tree_values(f, r);

	for (size_t c = 0; c < f->d->rep->table.ncols; c++)
		if (report_percent(f->d->rep, r->lane, c, v[c].total) >=
		    percent)
			return true;
	return false;
}

int open_tree_open_all(struct open_tree *f, size_t seen, double percent,
		       struct error *err)
{
	VEC(uint32_t) wait = { 0 };
	size_t n, left = OPEN_TREE_ALL_MAX;
	int rc = vec_push(&wait, f->seen.v[seen]);

	open_tree_shut(f, seen);
	while (!rc && wait.n && left--) {
		uint32_t id = wait.v[--wait.n];

		rc = mark_open(f, id, err);
		for (uint32_t i = 0; !rc && i < f->rows.v[id].n; i++) {
			uint32_t below = f->rows.v[id].first + i;

			if (reaches(f, &f->rows.v[below], percent) &&
			    vec_push(&wait, below) < 0)
				rc = error_nomem(err);
		}
	}
	if (!rc && wait.n)
		rc = error_set(err, ERR_NOMEM, "more than %d branches: not all "
			       "are open", OPEN_TREE_ALL_MAX);
	if (open_tree_row(f, seen)->open && insert_below(f, seen, &n) < 0)
		rc = error_nomem(err);
	vec_fini(&wait);
	return rc;
}

void open_tree_shut_all(struct open_tree *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->rows.n; i++)
		f->rows.v[i].open = false;
	for (size_t i = 0; i < f->seen.n; i++)
		if (f->rows.v[f->seen.v[i]].above == PROF_NONE)
			f->seen.v[n++] = f->seen.v[i];
	f->seen.n = n;
}

size_t open_tree_above(const struct open_tree *f, size_t seen)
{
	uint32_t above = open_tree_row(f, seen)->above;

	if (above == PROF_NONE)
		return SIZE_MAX;
	while (seen && f->seen.v[seen] != above)
		seen--;
	return seen;
}

/*
 * --- Opens the rows of a tree that were open before the recording got other names: see
 * open_tree_restore.
 *
 * Names do not tell which rows are the same, because they changed.  Locations do: both
 * recordings have the same ones.  A function and its place in the inline chain of a
 * location, counted from outside, lead to the function in its place in the other
 * recording.  Chains that have become longer have more inlined functions inside.
 */

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
