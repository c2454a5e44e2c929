// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimates the changes of rows and columns with compare/estimate.h: collects their
 * costs in each run of both sides.  With one run per side, the noise is that of
 * independent samples plus an assumed spread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views/diff/diff_internal.h"

enum { SERIES_MAX = 1 << 26 };	/* rows times runs */
/* Standard deviation of the median of normal values relative to that of the
 * mean.  It is the square root of pi / 2 for many values, and less for few. */
#define MEDIAN_SPREAD 1.2533

struct work {
	struct diff *d;
	size_t col;
	bool total;		/* total instead of self cost */
	size_t runs[DIFF_SIDES], n;	/* n: rows with samples */
	/* rows; those that contribute to the prior come first */
	uint32_t *order;
	uint32_t *place;	/* by row: index in `order` */
	struct run_costs costs;
};

static size_t runs_of(const struct diff *d, int side)
{
	return d->side[side].nruns ? d->side[side].nruns : 1;
}

static void fill_pair(const struct diff *d, size_t col, struct cell old,
		      struct cell now, struct cost_pair *s)
{
	const struct diff_column *c = &d->cols.v[col];
	const struct cell x[DIFF_SIDES] = { old, now };

	for (int i = 0; i < DIFF_SIDES; i++) {
		struct cell of = x[i].count ? x[i] : c->all[i];

		s->count[i] = (double)x[i].count;
		s->cost[i] = diff_cost(d, i, col, x[i]);
		s->unit[i] = of.count ? diff_cost(d, i, col, of) /
					(double)of.count : 0;
	}
	/* without any samples, one sample is assumed to cost as much as on the
	 * other side */
	for (int i = 0; i < DIFF_SIDES; i++)
		if (!c->all[i].count)
			s->unit[i] = s->unit[!i];
}

/* Returns the share of both sides' cost that some samples have. */
static double share_of(const struct diff *d, size_t col, const double count[2])
{
	const struct cell *all = d->cols.v[col].all;
	const double n[2] = { (double)all[0].count, (double)all[1].count };

	return cost_share(count, n);
}

/* Returns the relative variance of a run's cost for independent samples. */
static double sampling_of(const struct diff *d, size_t col, const double count[2])
{
	size_t r0 = runs_of(d, 0), r1 = runs_of(d, 1);
	const double mean[2] = { count[0] / (double)r0, count[1] / (double)r1 };

	return d->cols.v[col].uneven *
	       sampling_variance(mean, r0, r1, share_of(d, col, count));
}

/* Widens the intervals of a pair to a relative variance of one run's cost.  A Poisson
 * count is a vanishing share of independent samples. */
static void widen(const struct diff *d, struct cost_pair *s, double variance)
{
	size_t r0 = runs_of(d, 0), r1 = runs_of(d, 1);
	const double mean[2] = { s->count[0] / (double)r0, s->count[1] / (double)r1 };

	s->wide[0] = s->wide[1] = sqrt(variance /
				       sampling_variance(mean, r0, r1, 0));
}

void diff_change_of(const struct diff *d, size_t col, struct cell old,
		    struct cell now, struct cost_change *change)
{
	const struct diff_column *c = &d->cols.v[col];
	struct cost_pair s = { .df = 1e6, .t = change_quantile(1e6) };

	fill_pair(d, col, old, now, &s);
	widen(d, &s, c->even * sampling_of(d, col, s.count) + c->tau * c->tau);
	cost_change_set(change, &s);
}

static struct cell cell_of(const struct work *w, const struct values *v)
{
	return w->total ? v[w->col].total : v[w->col].self;
}

/* Sets the number of a row's samples. */
static void count_row(const struct work *w, uint32_t row, double count[2])
{
	for (int s = 0; s < DIFF_SIDES; s++)
		count[s] = (double)cell_of(w, diff_values(w->d, s, row)).count;
}

/* Orders rows with samples; those that contribute to the prior come first.  Returns
 * the number of these. */
static size_t order_rows(struct work *w)
{
	size_t prior = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < w->d->rows.n; i++) {
			double count[DIFF_SIDES];
			bool large;

			count_row(w, i, count);
			large = count[0] + count[1] >= ESTIMATE_MIN_SAMPLES &&
				share_of(w->d, w->col, count) >= ESTIMATE_MIN_SHARE;
			if (count[0] + count[1] > 0 && large == !pass) {
				w->place[i] = (uint32_t)w->n;
				w->order[w->n++] = i;
			}
		}
		if (!pass)
			prior = w->n;
	}
	return prior ? prior : w->n;
}

/* Returns the normalised cost of a run's samples. */
static double run_cost(const struct work *w, int side, uint32_t run,
		       struct cell c, const double *run_all)
{
	const struct diff *d = w->d;
	const struct diff_column *k = &d->cols.v[w->col];
	double x = (double)(k->by_count ? c.count : c.weight);
	double seconds = d->side[side].run_seconds[run];

	if (d->norm == DIFF_NORM_TOTAL)
		return run_all[run] > 0 ? 100 * x / run_all[run] : 0;
	if (d->norm == DIFF_NORM_TIME)
		return seconds > 0 ? x * k->lost[side] / seconds : 0;
	return x * k->lost[side];
}

struct run_sums {
	const struct work *w;
	int side;
	double *all;		/* by selected run */
};

static void add_run(void *ctx, uint32_t stack, const struct slot *slot,
		    struct cell c)
{
	const struct run_sums *x = ctx;
	const struct diff_side *s = &x->w->d->side[x->side];
	const struct diff_column *k = &x->w->d->cols.v[x->w->col];
	uint32_t run = s->rep->agg.lanes.v[slot->lane].run;

	(void)stack;
	if (slot->event == k->event[x->side] && run < s->p->runs.n &&
	    s->run_at[run] != PROF_NONE)
		x->all[s->run_at[run]] +=
			(double)(k->by_count ? c.count : c.weight);
}

/* Returns the sum of all selected samples, by selected run. */
static double *sum_runs(const struct work *w, int side)
{
	const struct diff_side *s = &w->d->side[side];
	struct run_sums x = { w, side, calloc(s->nruns + 1, sizeof(double)) };

	if (x.all)
		aggregate_each(&s->rep->agg, add_run, &x);
	return x.all;
}

static int fill_runs(struct work *w, int side)
{
	const struct diff_side *s = &w->d->side[side];
	const struct report *rep = s->rep;
	double *all = sum_runs(w, side);

	if (!all)
		return -ERR_NOMEM;
	for (size_t i = 0; i < rep->table.rows.n; i++) {
		uint32_t run = rep->agg.lanes.v[rep->table.rows.v[i].lane].run;
		const struct values *v = report_values(rep, (uint32_t)i);
		const struct values *x = &v[w->d->cols.v[w->col].col[side]];
		uint32_t place = w->place[s->row_of[i]], at;

		if (run >= s->p->runs.n || place == PROF_NONE)
			continue;
		at = s->run_at[run];
		if (at == PROF_NONE)
			continue;
		run_costs_of(&w->costs, place)[(side ? w->costs.nold : 0) + at] +=
			run_cost(w, side, at, w->total ? x->total : x->self,
				 all);
	}
	free(all);
	return 0;
}

/* Computes means as if each side were one run. */
static void fill_pooled(struct work *w)
{
	for (size_t i = 0; i < w->n; i++)
		for (int s = 0; s < DIFF_SIDES; s++)
			w->costs.y[2 * i + (size_t)s] = diff_cost(
				w->d, s, w->col,
				cell_of(w, diff_values(w->d, s, w->order[i])));
}

static int fill_costs(struct work *w)
{
	const struct diff *d = w->d;
	size_t runs = w->runs[0] + w->runs[1], prior = order_rows(w);
	bool single = runs < 3 || w->n > SERIES_MAX / runs;
	int rc = run_costs_init(&w->costs, w->n, single ? 1 : w->runs[0],
				single ? 1 : w->runs[1]);

	w->costs.prior = prior;
	if (!rc && single)
		fill_pooled(w);
	for (int s = 0; !rc && !single && s < DIFF_SIDES; s++)
		rc = fill_runs(w, s);
	for (size_t i = 0; !rc && i < w->n; i++) {
		double count[DIFF_SIDES];

		count_row(w, w->order[i], count);
		w->costs.v0[i] = sampling_of(d, w->col, count);
	}
	return rc;
}

/* Replaces means by medians if single runs are known. */
static void take_medians(struct work *w, size_t place, struct cost_pair *s)
{
	const size_t n[DIFF_SIDES] = { w->costs.nold, w->costs.nnew };
	double *y = run_costs_of(&w->costs, place);

	for (int i = 0; i < DIFF_SIDES; i++) {
		if (n[i] > 2)
			s->wide[i] *= MEDIAN_SPREAD;
		/* costs of runs are already divided by everything but the number
		 * of runs */
		if (n[i] > 1)
			s->cost[i] = stats_median(i ? y + n[0] : y, n[i]);
	}
}

static void set_changes(struct work *w)
{
	struct diff *d = w->d;
	struct cost_change *to = w->total ? d->total : d->self;
	double runs = 1.0 / (double)w->costs.nold + 1.0 / (double)w->costs.nnew;
	struct cost_pair s = { .df = 0 };

	for (size_t i = 0; i < w->n; i++) {
		const struct log_change *c = &w->costs.change[i];
		uint32_t row = w->order[i];

		if (c->df != s.df)
			s.t = change_quantile(c->df);
		s.df = c->df;
		fill_pair(d, w->col, cell_of(w, diff_values(d, 0, row)),
			  cell_of(w, diff_values(d, 1, row)), &s);
		widen(d, &s, c->se * c->se / runs);
		if (d->spec.median)
			take_medians(w, i, &s);
		cost_change_set(&to[row * d->cols.n + w->col], &s);
	}
}

/* Adjusts p, because many rows are tested at once. */
static int adjust(const struct work *w)
{
	struct diff *d = w->d;
	struct cost_change *v = (w->total ? d->total : d->self) + w->col;
	long tested = cost_changes_adjust(v, d->rows.n, d->cols.n);

	if (tested < 0)
		return (int)tested;
	if (w->col || w->total != d->spec.by_total)
		return 0;
	d->tested = (size_t)tested;
	for (size_t i = 0; i < d->rows.n; i++)
		d->real += v[i * d->cols.n].real;
	return 0;
}

static int estimate(struct diff *d, size_t col, bool total)
{
	struct work w = { .d = d, .col = col, .total = total,
			  .runs = { runs_of(d, 0), runs_of(d, 1) } };
	size_t bytes = (d->rows.n + 1) * sizeof(*w.order);
	int rc = -ERR_NOMEM;

	w.order = malloc(bytes);
	w.place = malloc(bytes);
	if (w.order && w.place) {
		memset(w.place, 0xff, bytes);
		rc = fill_costs(&w);
	}
	if (!rc) {
		run_costs_estimate(&w.costs);
		set_changes(&w);
		rc = adjust(&w);
	}
	if (!rc && !total) {
		d->cols.v[col].tau = sqrt(w.costs.tau2);
		d->cols.v[col].even = w.costs.kappa;
		d->tau_assumed = w.costs.nold + w.costs.nnew < 3;
	}
	free(w.order);
	free(w.place);
	run_costs_fini(&w.costs);
	return rc;
}

/* Writes a side's cost in each run, at least that of one sample, so that its logarithm
 * exists.  It is 0 if the run's duration is unknown, but needed. */
static int run_totals(const struct work *w, int side, double *y)
{
	const struct diff *d = w->d;
	const struct diff_column *c = &d->cols.v[w->col];
	double *all = sum_runs(w, side), least = 1;

	if (!all)
		return -ERR_NOMEM;
	if (!c->by_count && c->all[side].count)
		least = (double)c->all[side].weight / (double)c->all[side].count;
	for (uint32_t i = 0; i < d->side[side].nruns; i++) {
		y[i] = (all[i] > least ? all[i] : least) * c->lost[side];
		if (d->norm == DIFF_NORM_TIME)
			y[i] = d->side[side].run_seconds[i] > 0
				       ? y[i] / d->side[side].run_seconds[i] : 0;
	}
	free(all);
	return 0;
}

/* Returns whether the noise of a column's sum can be estimated.  Shares always sum to
 * 100 %. */
static bool has_noise(const struct diff *d, const struct cost_change *t, const double *y)
{
	size_t runs[DIFF_SIDES] = { d->side[0].nruns, d->side[1].nruns };
	bool known = d->norm != DIFF_NORM_TOTAL && runs[0] && runs[1] &&
		     runs[0] + runs[1] >= 3 && t->cost[0] > 0 && t->cost[1] > 0;

	for (size_t i = 0; i < runs[0] + runs[1]; i++)
		known &= y[i] > 0;
	return known;
}

static int estimate_total(struct diff *d, size_t col)
{
	struct work w = { .d = d, .col = col };
	struct cost_change *t = &d->cols.v[col].total;
	size_t n[DIFF_SIDES] = { d->side[0].nruns, d->side[1].nruns };
	double *y = calloc(n[0] + n[1] + 1, sizeof(*y)), ratio, low, high;
	double samples[DIFF_SIDES];
	bool medians = d->spec.median && d->norm != DIFF_NORM_TOTAL;
	struct log_change c;
	int rc = y ? 0 : -ERR_NOMEM;

	*t = (struct cost_change){ .p = 1, .q = 1, .low = NAN, .high = NAN };
	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		double *side = y + (s ? n[0] : 0);

		t->cost[s] = diff_cost(d, s, col, d->cols.v[col].all[s]);
		rc = run_totals(&w, s, side);
		if (!rc && medians && n[s] > 2)
			t->cost[s] = stats_median(side, n[s]);
	}
	t->change = t->cost[1] - t->cost[0];
	if (rc || !has_noise(d, t, y)) {
		free(y);
		return rc;
	}
	for (size_t i = 0; i < n[0] + n[1]; i++)
		y[i] = log(y[i]);
	c = totals_change(y, n[0], n[1], false);
	free(y);
	if (medians) {
		c.log_ratio = log(t->cost[1] / t->cost[0]);
		c.se *= n[0] > 2 || n[1] > 2 ? MEDIAN_SPREAD : 1;
	}
	for (int s = 0; s < DIFF_SIDES; s++)
		samples[s] = (double)d->cols.v[col].all[s].count *
			     d->cols.v[col].lost[s] / (double)n[s];
	c.se = sqrt(c.se * c.se + counting_variance(samples));
	log_change_ratio(&c, &ratio, &low, &high);
	t->low = t->cost[0] * (low - 1);
	t->high = t->cost[0] * (high - 1);
	t->tested = true;
	t->real = low > 1 || high < 1;
	return 0;
}

int diff_stats(struct diff *d)
{
	size_t n = d->rows.n * d->cols.n + 1;
	int rc = 0;

	d->self = calloc(n, sizeof(*d->self));
	d->total = calloc(n, sizeof(*d->total));
	if (!d->self || !d->total)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		d->self[i].p = d->self[i].q = d->total[i].p =
			d->total[i].q = 1;
	for (size_t c = 0; !rc && c < d->cols.n; c++)
		rc = estimate_total(d, c) ?:
		     estimate(d, c, false) ?:
		     estimate(d, c, true);
	return rc;
}
