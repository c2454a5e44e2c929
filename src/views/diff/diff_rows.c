// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the rows of a diff from those of both reports, and orders them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/diff/diff_internal.h"

struct row_tab {
	struct diff *d;
	struct idtab tab;
};

static bool row_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct diff_row *a = &((const struct diff *)ctx)->rows.v[id];
	const struct diff_row *b = key;

	return a->key == b->key && a->comm == b->comm && a->cpu == b->cpu &&
	       a->wait == b->wait;
}

static uint32_t find_row(struct row_tab *t, const struct diff_row *r)
{
	uint64_t h = hash_mix(hash_mix(r->key, r->comm),
			      (uint64_t)r->wait << 32 | r->cpu);
	uint32_t id = idtab_find(&t->tab, h, row_eq, t->d, r);

	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)t->d->rows.n;
	if (vec_push(&t->d->rows, *r) < 0 || idtab_add(&t->tab, h, id) < 0)
		return PROF_NONE;
	return id;
}

/* Finds the diff's row of each row of a side's report. */
static int match_rows(struct row_tab *t, int side)
{
	struct diff_side *s = &t->d->side[side];
	const struct report *rep = s->rep;

	s->row_of = malloc((rep->table.rows.n + 1) * sizeof(*s->row_of));
	if (!s->row_of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < rep->table.rows.n; i++) {
		const struct row *row = &rep->table.rows.v[i];
		const struct lane *l = &rep->agg.lanes.v[row->lane];
		struct profile *names = &t->d->names;
		struct diff_row r = {
			s->key_of[row->fk],
			profile_str(names, profile_cstr(s->p, l->comm)), l->cpu,
			profile_str(names, profile_cstr(s->p, l->wait)) };

		s->row_of[i] = r.comm == PROF_NONE || r.wait == PROF_NONE
			       ? PROF_NONE : find_row(t, &r);
		if (s->row_of[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

static int sum_rows(struct diff *d, int side)
{
	const struct diff_side *s = &d->side[side];
	const struct report *rep = s->rep;
	size_t nc = d->cols.n;

	d->vals[side] = calloc(d->rows.n * nc + 1, sizeof(struct values));
	if (!d->vals[side])
		return -ERR_NOMEM;
	for (size_t i = 0; i < rep->table.rows.n; i++) {
		struct values *to = &d->vals[side][s->row_of[i] * nc];
		const struct values *v = report_values(rep, (uint32_t)i);

		for (size_t c = 0; c < nc; c++) {
			const struct values *x = &v[d->cols.v[c].col[side]];

			cell_add(&to[c].self, x->self);
			cell_add(&to[c].total, x->total);
		}
	}
	return 0;
}

int diff_rows(struct diff *d)
{
	struct row_tab t = { .d = d };
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = match_rows(&t, s);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = sum_rows(d, s);
	idtab_fini(&t.tab);
	return rc;
}

/* Returns the value by which rows are ordered, largest first. */
static double rank(const struct diff *d, uint32_t row)
{
	const struct cost_change *c = diff_row_change(d, row, 0,
						      d->spec.by_total);
	double ratio = c->cost[DIFF_OLD] > 0 && c->cost[DIFF_NEW] > 0
		? fabs(log(c->cost[DIFF_NEW] / c->cost[DIFF_OLD])) : 1e3;

	switch (d->spec.order) {
	case DIFF_BY_GROWTH:
		return c->change;
	case DIFF_BY_RATIO:
		return c->real ? ratio : ratio - 1e6;
	case DIFF_BY_OLD:
		return c->cost[DIFF_OLD];
	case DIFF_BY_NEW:
		return c->cost[DIFF_NEW];
	case DIFF_BY_NAME:
		return 0;
	default:
		return fabs(c->change);
	}
}

struct sort_row {
	double rank;
	uint32_t row;
};

static int compare_names(const struct diff *d, uint32_t x, uint32_t y)
{
	const struct diff_row *a = &d->rows.v[x], *b = &d->rows.v[y];

	return frame_key_compare(&d->names, &d->keys.keys.v[a->key],
				 &d->keys.keys.v[b->key]) ?:
	       strcmp(profile_cstr(&d->names, a->comm),
		      profile_cstr(&d->names, b->comm)) ?:
	       ascending(a->cpu, b->cpu) ?:
	       strcmp(profile_cstr(&d->names, a->wait),
		      profile_cstr(&d->names, b->wait)) ?:
	       ascending(x, y);
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct sort_row *a = x, *b = y;
	const struct diff *d = ctx;

	return descending(a->rank, b->rank) ?: compare_names(d, a->row, b->row);
}

/* Returns whether a row changed by at least the limit in one of its columns. */
static bool reaches(const struct diff *d, uint32_t row, double limit)
{
	for (size_t c = 0; c < d->cols.n; c++) {
		const struct cost_change *k =
			diff_row_change(d, row, c, d->spec.by_total);
		const double *all = d->cols.v[c].total.cost;
		double most = all[0] > all[1] ? all[0] : all[1];
		const struct values *v[DIFF_SIDES] = {
			&diff_values(d, 0, row)[c], &diff_values(d, 1, row)[c],
		};
		/* without a limit, also callers without self cost */
		uint64_t n = d->spec.by_total || d->spec.limit <= 0
			? v[0]->total.count + v[1]->total.count
			: v[0]->self.count + v[1]->self.count;

		if (n && fabs(k->change) * 100 >= limit * most)
			return true;
	}
	return false;
}

static void set_units(struct diff *d)
{
	for (size_t c = 0; c < d->cols.n; c++) {
		double most = 0;

		for (size_t i = 0; i < d->order.n; i++) {
			const struct cost_change *k = diff_row_change(
				d, d->order.v[i], c, d->spec.by_total);

			for (int s = 0; s < DIFF_SIDES; s++)
				most = k->cost[s] > most ? k->cost[s] : most;
		}
		diff_choose_unit(d, c, most);
	}
}

int diff_order_rows(struct diff *d)
{
	struct sort_row *rows = malloc((d->rows.n + 1) * sizeof(*rows));
	size_t kept = 0, over = 0;

	if (!rows || vec_reserve(&d->order, d->rows.n + 1) < 0) {
		free(rows);
		return -ERR_NOMEM;
	}
	for (uint32_t i = 0; i < d->rows.n; i++)
		if (reaches(d, i, 0))
			rows[kept++] = (struct sort_row){ rank(d, i), i };
	qsort_r(rows, kept, sizeof(*rows), compare_rows, d);
	for (size_t i = 0; i < kept; i++)
		over += reaches(d, rows[i].row, d->spec.limit);
	for (size_t i = 0; i < kept; i++) {
		if (d->spec.top && d->order.n >= d->spec.top)
			break;
		if (reaches(d, rows[i].row, d->spec.limit) ||
		    over < d->spec.at_least) {
			d->order.v[d->order.n++] = rows[i].row;
			if (over < d->spec.at_least &&
			    d->order.n >= d->spec.at_least)
				break;
		}
	}
	d->hidden = kept - d->order.n;
	free(rows);
	set_units(d);
	return 0;
}

/* Returns whether a row's function as a whole has a new name. */
static bool has_new_name(const struct diff *d, uint32_t row)
{
	const struct frame_key *k = &d->keys.keys.v[d->rows.v[row].key];

	return !(d->keys.mask & KEY_BIT(KEY_LINE)) && diff_before(d, k);
}

enum diff_status diff_status(const struct diff *d, uint32_t row, size_t col,
			     bool total)
{
	const struct cost_change *k = diff_row_change(d, row, col, total);
	const struct values *a = &diff_values(d, DIFF_OLD, row)[col];
	const struct values *b = &diff_values(d, DIFF_NEW, row)[col];

	if (!k->real)
		return has_new_name(d, row) ? DIFF_MOVED : DIFF_SAME;
	if (k->change > 0 && d->moved_from[row] != PROF_NONE)
		return DIFF_MOVED;
	if (!a->total.count)
		return DIFF_ADDED;
	if (!b->total.count)
		return d->moved_to[row] != PROF_NONE ? DIFF_MOVED
						     : DIFF_REMOVED;
	return k->change > 0 ? DIFF_GREW : DIFF_SHRANK;
}

const char *diff_status_name(enum diff_status s)
{
	static const char *const names[] = { "same", "grew", "shrank", "new",
					     "gone", "moved" };

	return names[s];
}
