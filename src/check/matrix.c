// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the rows by name, and their costs in each run. */
#include <stdlib.h>

#include "base/search.h"
#include "check/check_internal.h"

/* Compares units with qsort_r(3). */
static int by_name(const void *a, const void *b, void *runs)
{
	const struct check_runs *r = runs;
	const struct check_unit *x = &r->units.v[*(const uint32_t *)a];
	const struct check_unit *y = &r->units.v[*(const uint32_t *)b];

	return check_compare_funcs(r, x->func, y->func) ?:
	       check_compare_str(r, x->base, y->base) ?:
	       ascending(x->line, y->line);
}

/* Merges units of equal names into one row; `row_of` receives the row of each
 * unit. */
static int make_rows(struct check *c, uint32_t *order, uint32_t *row_of)
{
	struct check_runs *r = &c->runs;
	size_t n = r->units.n;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), by_name, r);
	for (size_t i = 0; i < n; i++) {
		struct check_row row = { .unit = r->units.v[order[i]],
					 .partner = PROF_NONE };

		if ((!i || by_name(&order[i - 1], &order[i], r)) &&
		    vec_push(&c->rows, row) < 0)
			return -ERR_NOMEM;
		row_of[order[i]] = (uint32_t)c->rows.n - 1;
	}
	/* from here on, units are numbered like rows */
	for (size_t i = 0; i < r->files.n; i++)
		for (size_t k = 0; k < r->files.v[i].keys.keys.n; k++)
			r->files.v[i].unit[k] =
				row_of[r->files.v[i].unit[k]];
	return 0;
}

int check_matrix(struct check *c, struct error *err)
{
	size_t n = c->runs.units.n + 1;
	uint32_t *order = calloc(n, 2 * sizeof(*order));
	int rc = order ? make_rows(c, order, order + n) : -ERR_NOMEM;

	free(order);
	if (rc < 0)
		return error_nomem(err);
	c->per_sample = check_per_sample(&c->runs);
	c->cost = check_self_costs(&c->runs, true, c->rows.n, c->per_sample);
	return c->cost ? 0 : error_nomem(err);
}

/* Adds a cell once to each row on its stack. */
static void add_stack(struct check *c, const struct check_file *f,
		      const struct compare_cell *cell, double *run,
		      uint32_t *seen, uint32_t mark)
{
	const struct profile *p = f->p;
	double w = (double)cell->weight / c->per_sample;
	uint32_t node = cell->stack, row;

	row = check_leaf(f, node) == PROF_NONE
		      ? PROF_NONE : f->unit[check_leaf(f, node)];
	if (row != PROF_NONE) {
		seen[row] = mark;
		run[row] += w;
	}
	for (; node; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc, s;

		if (prof_is_mark(loc))
			continue;
		for (s = f->keys.head[loc]; s != PROF_NONE;
		     s = f->keys.steps[s].outer) {
			row = f->keys.steps[s].fk == PROF_NONE
				      ? PROF_NONE
				      : f->unit[f->keys.steps[s].fk];
			if (row == PROF_NONE || seen[row] == mark)
				continue;
			seen[row] = mark;
			run[row] += w;
		}
	}
}

int check_matrix_inclusive(struct check *c, struct error *err)
{
	size_t n = c->rows.n - 1;	/* without the row of small functions */
	uint32_t *seen = calloc(n + 1, sizeof(*seen)), mark = 0;
	int rc = seen ? 0 : -ERR_NOMEM;

	c->inclusive_cost = calloc(c->runs.runs.n * n + 1, sizeof(double));
	if (!c->inclusive_cost)
		rc = -ERR_NOMEM;
	for (size_t i = 0; !rc && i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];

		for (size_t k = 0; k < f->cells.n; k++)
			add_stack(c, f, &f->cells.v[k], c->inclusive_cost +
				  f->cells.v[k].run * n, seen, ++mark);
	}
	free(seen);
	return rc < 0 ? error_nomem(err) : 0;
}
