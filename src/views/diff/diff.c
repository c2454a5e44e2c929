// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds a diff of two recordings. */
#include "views/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "compare/moves.h"
#include "views/diff/diff_internal.h"

static int refuse_keys(const struct diff_spec *spec, struct error *err)
{
	static const struct {
		enum view_key key;
		const char *why;
	} refused[] = {
		{ KEY_PID, "processes have other numbers in each recording: "
			   "comm compares them by name" },
		{ KEY_TID, "threads have other numbers in each recording: "
			   "comm compares them by name" },
		{ KEY_RUN, "all runs of a side are combined; --run "
			   "chooses some" },
		{ KEY_EVENT, "events stand beside each other anyway" },
		{ KEY_LABEL, "--label chooses some" },
		{ KEY_HOST, "--label chooses some" },
		{ KEY_SERVICE, "--label chooses some" },
		{ KEY_CONTAINER, "--label chooses some" },
		{ KEY_POD, "--label chooses some" },
		{ KEY_CGROUP, "--label chooses some" },
		{ KEY_TASK, "--label chooses some" },
	};

	for (size_t i = 0; i < COUNT(refused); i++)
		if (key_list_has(&spec->keys, refused[i].key))
			return error_set(err, ERR_USAGE, "cannot compare by "
					 "%s: %s", key_name(refused[i].key),
					 refused[i].why);
	return 0;
}

/* Reads the names of a side, before anything is summed by them. */
static int open_side(struct diff *d, int side, struct reader *r,
		     struct error *err)
{
	struct diff_side *s = &d->side[side];
	struct report_spec spec = { .keys = d->spec.keys,
				    .select = d->spec.select,
				    .no_inline = d->spec.no_inline,
				    .spread = true };

	s->reader = r;
	s->p = reader_profile(r);
	s->path = d->spec.path[side];
	if (s->p->runs.n > 1)
		spec.keys.mask |= KEY_BIT(KEY_RUN);
	return report_prepare(r, &spec, &s->rep, err);
}

/* --- the rows of both reports as those of the diff, and their order */

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

	return idtab_row(&t->tab, &t->d->rows, h, row_eq, t->d, r);
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

static int build_rows(struct diff *d)
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

static int order_rows(struct diff *d)
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
	sort_rows_r(rows, kept, compare_rows, d);
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

/* --- rows whose code moved (compare/moves.h) */

/* Maximum p of a decrease that may explain a gain: more likely than by chance
 * alone. */
#define FELL_P 0.1
/* Maximum ratio of combined costs that counts as unchanged. */
#define SAME_COST 1.03

static bool was_there(const struct diff *d, uint32_t row)
{
	return diff_values(d, DIFF_OLD, row)->total.count;
}

static uint32_t row_func(const struct diff *d, size_t row)
{
	return d->keys.keys.v[d->rows.v[row].key].func - 1;
}

static bool moved_between(void *ctx, size_t gained, size_t lost)
{
	struct diff *d = ctx;

	return compare_related(&d->match, row_func(d, gained), row_func(d, lost));
}

static bool costs_more(void *ctx, const size_t *rows, size_t n)
{
	const struct diff *d = ctx;
	struct cell sum[DIFF_SIDES] = { { 0, 0 }, { 0, 0 } };
	struct cost_change c;

	for (int s = 0; s < DIFF_SIDES; s++)
		for (size_t i = 0; i < n; i++)
			cell_add(&sum[s], diff_values(d, s, (uint32_t)rows[i])
						  ->self);
	diff_change_of(d, 0, sum[DIFF_OLD], sum[DIFF_NEW], &c);
	return c.cost[DIFF_NEW] > SAME_COST * c.cost[DIFF_OLD] && c.low > 0;
}

static struct move_item move_item_of(void *ctx, size_t i)
{
	const struct diff *d = ctx;
	uint32_t row = (uint32_t)i;
	const struct cost_change *c = diff_row_change(d, row, 0, false);
	struct move_item x = { MOVE_NONE, c->change };

	/* code without a name cannot be identified */
	if (!d->keys.keys.v[d->rows.v[row].key].func)
		return x;
	if (c->change < 0 && c->tested && (c->real || c->p <= FELL_P))
		x.kind = MOVE_LOSS;
	else if (c->change > 0 && c->real)
		x.kind = was_there(d, row) ? MOVE_GAIN : MOVE_NEW;
	return x;
}

static void set_moved(struct diff *d, const size_t *from)
{
	for (uint32_t i = 0; i < d->rows.n; i++) {
		uint32_t of = from[i] == MOVE_FROM_NONE ? PROF_NONE
							: (uint32_t)from[i];
		double most = 0;

		d->moved_from[i] = of;
		if (of == PROF_NONE)
			continue;
		if (d->moved_to[of] != PROF_NONE)
			most = diff_row_change(d, d->moved_to[of], 0, false)
				       ->change;
		if (diff_row_change(d, i, 0, false)->change > most)
			d->moved_to[of] = i;
	}
}

static int find_moved(struct diff *d)
{
	struct moves moves = { d->rows.n, d, move_item_of, moved_between, costs_more };
	size_t *from;
	int rc = moves_find(&moves, &from);

	if (!rc && !d->match.failed)
		set_moved(d, from);
	free(from);
	return rc || d->match.failed ? -ERR_NOMEM : 0;
}

/* Fills moved_from and moved_to. */
static int find_all_moved(struct diff *d)
{
	size_t bytes = (d->rows.n + 1) * sizeof(uint32_t);

	d->moved_from = malloc(bytes);
	d->moved_to = malloc(bytes);
	if (!d->moved_from || !d->moved_to)
		return -ERR_NOMEM;
	memset(d->moved_from, 0xff, bytes);
	memset(d->moved_to, 0xff, bytes);
	/* functions only: lines and threads do not move */
	if (!d->cols.n || (d->spec.keys.mask & ~KEY_BIT(KEY_IMAGE)) !=
				  KEY_BIT(KEY_SYMBOL))
		return 0;
	return find_moved(d);
}

/* --- the whole diff */

static int build(struct diff *d, struct reader *const readers[DIFF_SIDES],
		 struct error *err)
{
	int rc = refuse_keys(&d->spec, err);

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		rc = open_side(d, s, readers[s], err);
		if (rc < 0 && rc != -ERR_USAGE)
			error_prefix(err, "%s", d->spec.path[s]);
	}
	if (!rc)
		rc = diff_columns(d, err) ?: diff_normalise(d, err);
	if (!rc && diff_match(d) < 0)
		rc = error_nomem(err);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = report_complete(d->side[s].rep, err);
	if (!rc && (build_rows(d) < 0 || diff_stats(d) < 0 ||
		    find_all_moved(d) < 0 || order_rows(d) < 0))
		rc = error_nomem(err);
	return rc;
}

int diff_build(struct reader *const readers[DIFF_SIDES],
	       const struct diff_spec *spec, struct diff **out,
	       struct error *err)
{
	struct diff *d = calloc(1, sizeof(*d));
	int rc;

	*out = NULL;
	if (!d)
		return error_nomem(err);
	d->spec = *spec;
	rc = profile_init(&d->names) < 0 ? error_nomem(err)
					 : build(d, readers, err);
	if (rc < 0) {
		diff_free(d);
		return rc;
	}
	*out = d;
	return 0;
}

int diff_side_report(const struct diff *d, int side, struct report **out,
		     struct error *err)
{
	const struct diff_side *s = &d->side[side];
	const struct frame_keys *from = &s->rep->keys;
	struct report_spec spec = { .keys = d->spec.keys,
				    .select = d->spec.select,
				    .no_inline = d->spec.no_inline };
	int rc = report_prepare(s->reader, &spec, out, err);

	if (rc)
		return rc;
	memcpy((*out)->keys.steps, from->steps,
	       (from->nframes + s->p->locs.n) * sizeof(*from->steps));
	(*out)->keys.unknown = from->unknown;
	return report_complete(*out, err);
}

static void side_fini(struct diff_side *s)
{
	report_free(s->rep);
	vec_fini(&s->cells);
	free(s->key_of);
	free(s->row_of);
	free(s->file_of);
	free(s->run_at);
	free(s->run_seconds);
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	for (int s = 0; s < DIFF_SIDES; s++) {
		side_fini(&d->side[s]);
		vec_fini(&d->key_fk[s]);
		free(d->vals[s]);
	}
	frame_keys_fini(&d->keys);
	profile_fini(&d->names);
	vec_fini(&d->cols);
	vec_fini(&d->rows);
	compare_match_fini(&d->match);
	line_map_fini(&d->lines);
	vec_fini(&d->order);
	free(d->moved_from);
	free(d->moved_to);
	free(d->self);
	free(d->total);
	free(d);
}
