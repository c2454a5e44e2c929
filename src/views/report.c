// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds a report: rows and their order. */
#include "views/report.h"
#include "base/search.h"

#include <stdlib.h>

uint32_t report_event(const struct report *rep, uint32_t lane, size_t col)
{
	if (key_list_has(&rep->spec.keys, KEY_EVENT))
		return rep->agg.lanes.v[lane].event;
	return rep->agg.cols.v[col];
}

double report_percent(const struct report *rep, uint32_t lane, size_t col,
		      struct cell c)
{
	return cell_percent(c, rep->agg.shown[report_event(rep, lane, col)]);
}

void report_at_row(const struct report *rep, uint32_t row, struct column_at *x)
{
	const struct row *r = &rep->table.rows.v[row];

	*x = (struct column_at){ .p = rep->p, .keys = &rep->keys,
				 .frame = &rep->keys.keys.v[r->fk],
				 .lane = &rep->agg.lanes.v[r->lane] };
}

void report_at_event(const struct report *rep, uint32_t lane, size_t col,
		     const struct values *v, struct column_at *x)
{
	x->v = v[col];
	x->metric = report_metric(rep, &x->v);
	x->all = rep->agg.shown[report_event(rep, lane, col)];
}

bool report_shows(const struct report *rep, uint32_t lane,
		  const struct values *v, bool total)
{
	for (size_t c = 0; c < rep->table.ncols; c++) {
		struct cell x = total ? v[c].total : v[c].self;

		if (rep->spec.limit <= 0 ||
		    (x.count && report_percent(rep, lane, c, x) >=
				rep->spec.limit))
			return true;
	}
	return false;
}

/* A row during sorting.  The weight of the first column decides nearly always,
 * so it is stored next to the row's number. */
struct sort_row {
	uint64_t weight;
	uint32_t row;
};

static int compare_values(const struct report *rep, uint32_t a, uint32_t b)
{
	const struct values *va = report_values(rep, a);
	const struct values *vb = report_values(rep, b);

	int order = 0;

	for (size_t c = 0; !order && c < rep->table.ncols; c++) {
		struct cell x = report_metric(rep, &va[c]);
		struct cell y = report_metric(rep, &vb[c]);

		order = descending(x.weight, y.weight) ?:
			descending(x.count, y.count);
	}
	for (size_t c = 0; !order && c < rep->table.ncols; c++)
		order = descending(va[c].total.weight, vb[c].total.weight) ?:
			descending(va[c].self.weight, vb[c].self.weight);
	return order;
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct report *rep = ctx;
	const struct sort_row *a = x, *b = y;
	const struct row *ra = &rep->table.rows.v[a->row];
	const struct row *rb = &rep->table.rows.v[b->row];

	return descending(a->weight, b->weight) ?:
	       compare_values(rep, a->row, b->row) ?:
	       frame_key_compare(rep->p, &rep->keys.keys.v[ra->fk],
				 &rep->keys.keys.v[rb->fk]) ?:
	       lane_compare(rep->p, &rep->agg.lanes.v[ra->lane],
			    &rep->agg.lanes.v[rb->lane]) ?:
	       ascending(a->row, b->row);
}

/* Returns whether a row has any of the cost by which the report is ordered. */
static bool has_metric(const struct report *rep, const struct values *v)
{
	for (size_t c = 0; c < rep->table.ncols; c++)
		if (report_metric(rep, &v[c]).count)
			return true;
	return false;
}

/* Returns the column by which rows are ordered: wall-clock time, if it was
 * recorded. */
static size_t rank_column(const struct report *rep)
{
	for (size_t c = 0; c < rep->agg.ncols && rep->agg.ncols > 1; c++)
		if (prof_is_latency(&rep->p->events.v[rep->agg.cols.v[c]]))
			return c;
	return 0;
}

/* Selects rows by the limit, or all that have any cost.  Returns their
 * number. */
static size_t choose_rows(const struct report *rep, struct sort_row *rows,
			  bool limited)
{
	size_t kept = 0, rank = rank_column(rep);

	for (size_t i = 0; i < rep->table.rows.n; i++) {
		const struct values *v = report_values(rep, (uint32_t)i);
		uint32_t lane = rep->table.rows.v[i].lane;

		if (limited ? !report_shows(rep, lane, v, rep->spec.by_total)
			    : !has_metric(rep, v))
			continue;
		rows[kept].weight = report_metric(rep, &v[rank]).weight;
		rows[kept++].row = (uint32_t)i;
	}
	return kept;
}

static int order_rows(struct report *rep, struct error *err)
{
	size_t n = rep->table.rows.n, kept;
	bool few;
	struct sort_row *rows = malloc((n + 1) * sizeof(*rows));

	if (!rows || vec_reserve(&rep->order, n + 1) < 0) {
		free(rows);
		return error_nomem(err);
	}
	kept = choose_rows(rep, rows, true);
	few = rep->spec.limit > 0 && kept < rep->spec.at_least;
	if (few)
		kept = choose_rows(rep, rows, false);
	sort_rows_r(rows, kept, compare_rows, rep);
	if (few && kept > rep->spec.at_least)
		kept = rep->spec.at_least;
	rep->below_limit = n - kept;
	if (rep->spec.top && kept > rep->spec.top) {
		rep->beyond_top = kept - rep->spec.top;
		kept = rep->spec.top;
	}
	for (size_t i = 0; i < kept; i++)
		rep->order.v[rep->order.n++] = rows[i].row;
	free(rows);
	return 0;
}

/* Chooses the keys of trees, which consist of functions.  If rows are not
 * functions, or are filtered, the tree has its own keys. */
static int choose_tree_keys(struct report *rep, struct error *err)
{
	uint32_t mask = rep->spec.keys.mask & KEYS_OF_FRAME;

	rep->tree_keys = &rep->keys;
	if (rep->spec.tree == TREE_NONE ||
	    ((mask & KEY_BIT(KEY_SYMBOL)) &&
	     !selection_filters_frames(&rep->sel)))
		return 0;
	if (!(mask & KEY_BIT(KEY_SYMBOL)))
		mask = KEY_BIT(KEY_SYMBOL);
	rep->tree_keys = &rep->own_tree_keys;
	return frame_keys_init(&rep->own_tree_keys, rep->p, mask,
			       !rep->spec.no_inline, NULL, err);
}

/* Builds everything that names rows. */
static int prepare(struct report *rep, struct reader *r, struct error *err)
{
	uint32_t mask = rep->spec.keys.mask;
	int rc = selection_init(&rep->sel, rep->p, &rep->spec.select, err) ?:
		 aggregate_run(r, &rep->sel, mask & ~KEYS_OF_FRAME, rep->spec.spread,
			       &rep->agg, err);

	if (!rc && rep->agg.ncols > REPORT_COLUMNS_MAX)
		rc = error_set(
			err, ERR_USAGE,
			"%zu events do not fit side by side: choose some "
			"with --event, or group by event (-s event,…)",
			rep->agg.ncols);
	if (!rc)
		rc = quality_build(&rep->quality, r, &rep->agg, err) ?:
		     missing_build(&rep->missing, &rep->quality, err) ?:
		     frame_keys_init(&rep->keys, rep->p, mask, !rep->spec.no_inline,
				     &rep->sel, err);
	return rc;
}

int report_complete(struct report *rep, struct error *err)
{
	enum table_kind kind = rep->spec.tree == TREE_CALLEES &&
			       !rep->spec.lazy ? TABLE_ROOTS : TABLE_FUNCTIONS;

	return choose_tree_keys(rep, err) ?:
	       fold_init(&rep->fold, &rep->agg, err) ?:
	       table_build(&rep->table, &rep->fold, &rep->keys, kind, err) ?:
	       order_rows(rep, err);
}

int report_prepare(struct reader *r, const struct report_spec *spec,
		   struct report **out, struct error *err)
{
	struct report *rep = calloc(1, sizeof(*rep));
	int rc;

	*out = NULL;
	if (!rep)
		return error_nomem(err);
	rep->p = reader_profile(r);
	rep->max_memory = reader_max_memory(r);
	rep->spec = *spec;
	/* Roots call everything and have no self cost. */
	if (spec->tree == TREE_CALLEES && !spec->lazy)
		rep->spec.by_total = true;
	rc = prepare(rep, r, err);
	if (rc < 0) {
		report_free(rep);
		return rc;
	}
	*out = rep;
	return 0;
}

int report_build(struct reader *r, const struct report_spec *spec,
		 struct report **out, struct error *err)
{
	int rc = report_prepare(r, spec, out, err) ?: report_complete(*out, err);

	if (rc < 0) {
		report_free(*out);
		*out = NULL;
	}
	return rc;
}

void report_free(struct report *rep)
{
	if (!rep)
		return;
	selection_fini(&rep->sel);
	aggregate_fini(&rep->agg);
	frame_keys_fini(&rep->keys);
	frame_keys_fini(&rep->own_tree_keys);
	fold_fini(&rep->fold);
	table_fini(&rep->table);
	missing_fini(&rep->missing);
	quality_fini(&rep->quality);
	vec_fini(&rep->order);
	vec_fini(&rep->tree);
	vec_fini(&rep->tree_vals);
	free(rep);
}
