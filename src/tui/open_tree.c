// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees whose open branches are visible (see open_tree.h). */
#include "tui/open_tree.h"

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
