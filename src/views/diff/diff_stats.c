// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes confidence intervals and significance of changes.
 *
 * The cost of a function in a run varies by sampling and from run to run.  Its
 * variance is moderated as in `tally check` (base/variance.h): it is shrunk
 * towards the variance of all functions.  With one run per side, it is the
 * variance of independent samples plus an assumed spread.
 *
 * The interval of each side's mean is that of a Poisson count, widened to this
 * variance.  It is a score interval, which holds for few samples, too.  The
 * interval of the difference combines both by the method of variance estimates
 * recovery (Zou and Donner 2008, "Construction of confidence limits about
 * effect measures").  p belongs to that interval.  q is p adjusted for the
 * number of rows (Benjamini and Hochberg 1995).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/variance.h"
#include "views/diff/diff_internal.h"

#define REAL_Q 0.05	/* changes with a smaller q are significant */

enum {
	MIN_SAMPLES = 10,	/* minimum samples of both sides together for a test */
	/* minimum samples of a row that contributes to the prior */
	PRIOR_SAMPLES = 20,
	SERIES_MAX = 1 << 26,	/* rows times runs */
};
#define PRIOR_SHARE 0.004
/* Standard deviation of the median of normal values relative to that of the
 * mean.  It is the square root of pi / 2 for many values, and less for few. */
#define MEDIAN_SPREAD 1.2533

static const double z975 = 1.959963984540054;

struct work {
	struct diff *d;
	size_t col;
	bool total;		/* total instead of self cost */
	size_t runs[DIFF_SIDES], n;	/* n: rows with samples */
	/* rows; those that contribute to the prior come first */
	uint32_t *order;
	uint32_t *place;	/* by row: index in `order` */
	struct series s;
	struct moderated m;
	double *room;		/* memory of the arrays of s and m */
	double *p, *q;
};

/* Input of an interval. */
struct sample {
	double count[DIFF_SIDES], cost[DIFF_SIDES];
	double unit[DIFF_SIDES];	/* cost of one sample */
	/* standard error relative to that of Poisson counts */
	double wide[DIFF_SIDES];
	double t;	/* quantile of 97.5 % */
	double df;
};

static double square(double x)
{
	return x * x;
}

/* Computes the distances from a side's cost to the ends of its interval. */
static void side_interval(const struct sample *s, int side, double *below,
			  double *above)
{
	double c = s->count[side], k = s->wide[side] * s->t / z975;
	double mid = z975 * z975 / 2;
	double half = z975 * sqrt(c + z975 * z975 / 4);

	*below = (half - mid) * s->unit[side] * k;
	*above = (half + mid) * s->unit[side] * k;
	if (*below > s->cost[side])
		*below = s->cost[side];
}

static void set_change(const struct sample *s, struct diff_change *to)
{
	double below[DIFF_SIDES], above[DIFF_SIDES], half;

	for (int i = 0; i < DIFF_SIDES; i++) {
		to->cost[i] = s->cost[i];
		side_interval(s, i, &below[i], &above[i]);
	}
	to->change = to->cost[DIFF_NEW] - to->cost[DIFF_OLD];
	to->low = to->change - sqrt(square(below[DIFF_NEW]) +
				    square(above[DIFF_OLD]));
	to->high = to->change + sqrt(square(above[DIFF_NEW]) +
				     square(below[DIFF_OLD]));
	half = to->change > 0 ? to->change - to->low : to->high - to->change;
	to->p = 1;
	if (to->change != 0 && half > 0)
		to->p = 2 * stats_t_above(fabs(to->change) / half * s->t,
					  s->df);
	if (!(to->p <= 1))
		to->p = 1;
	to->q = to->p;
	to->tested = s->count[0] + s->count[1] >= MIN_SAMPLES;
	to->real = to->tested && to->q <= REAL_Q;
}

static size_t runs_of(const struct diff *d, int side)
{
	return d->side[side].nruns ? d->side[side].nruns : 1;
}

/* Returns the mean number of samples per run, but at least that of half a
 * sample. */
static double mean_count(const struct diff *d, const double *count)
{
	double r0 = (double)runs_of(d, 0), r1 = (double)runs_of(d, 1);
	double least = 0.5 / (r0 < r1 ? r0 : r1);
	double a = count[0] / r0, b = count[1] / r1;

	return ((a > least ? a : least) + (b > least ? b : least)) / 2;
}

static void fill_sample(const struct diff *d, size_t col, struct cell old,
			struct cell now, struct sample *s)
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

static double share_left(const struct diff *d, size_t col, const double *count)
{
	const struct cell *all = d->cols.v[col].all;
	double n = (double)all[0].count + (double)all[1].count;
	double share = n > 0 ? (count[0] + count[1]) / n : 0;

	return share < 0.99 ? 1 - share : 0.01;
}

void diff_change_of(const struct diff *d, size_t col, struct cell old,
		    struct cell now, struct diff_change *change)
{
	const struct diff_column *c = &d->cols.v[col];
	struct sample s = { .t = z975, .df = 1e6 };
	double mu, v;

	fill_sample(d, col, old, now, &s);
	mu = mean_count(d, s.count);
	v = c->even * c->uneven * share_left(d, col, s.count) / mu +
	    c->tau * c->tau;
	s.wide[0] = s.wide[1] = sqrt(v * mu);
	set_change(&s, change);
}

static struct cell cell_of(const struct work *w, const struct values *v)
{
	return w->total ? v[w->col].total : v[w->col].self;
}

/* Orders rows with samples; those that contribute to the prior come first. */
static void order_series(struct work *w)
{
	const struct diff *d = w->d;
	const struct cell *all = d->cols.v[w->col].all;
	double least = PRIOR_SHARE * ((double)all[0].count +
				      (double)all[1].count);

	if (least < PRIOR_SAMPLES)
		least = PRIOR_SAMPLES;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < d->rows.n; i++) {
			double n = (double)cell_of(w, diff_values(d, 0, i))
					   .count +
				   (double)cell_of(w, diff_values(d, 1, i))
					   .count;

			if (n > 0 && (n >= least) == !pass) {
				w->place[i] = (uint32_t)w->n;
				w->order[w->n++] = i;
			}
		}
		if (!pass)
			w->s.prior = w->n;
	}
	if (!w->s.prior)
		w->s.prior = w->n;
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

/* Returns the sum of all selected samples, by selected run. */
static double *sum_runs(const struct work *w, int side)
{
	const struct diff_side *s = &w->d->side[side];
	const struct aggregate *a = &s->rep->agg;
	const struct diff_column *k = &w->d->cols.v[w->col];
	double *all = calloc(s->nruns + 1, sizeof(*all));

	for (size_t i = 0; all && i < a->slots.n; i++) {
		const struct slot *slot = &a->slots.v[i];
		uint32_t run = a->lanes.v[slot->lane].run;
		size_t n = slot->dense ? slot->cap : slot->n;

		if (slot->event != k->event[side] || run >= s->p->runs.n ||
		    s->run_at[run] == PROF_NONE)
			continue;
		for (size_t j = 0; j < n; j++) {
			struct cell c = slot->dense
				? slot->dense[j]
				: a->sparse.v[slot->first + j].c;

			all[s->run_at[run]] +=
				(double)(k->by_count ? c.count : c.weight);
		}
	}
	return all;
}

static int fill_series(struct work *w, int side)
{
	const struct diff_side *s = &w->d->side[side];
	const struct report *rep = s->rep;
	size_t runs = w->s.nbase + w->s.nnew;
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
		w->s.y[place * runs + (side ? w->s.nbase : 0) + at] +=
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
			w->s.y[2 * i + (size_t)s] = diff_cost(
				w->d, s, w->col,
				cell_of(w, diff_values(w->d, s, w->order[i])));
}

static int alloc_work(struct work *w)
{
	size_t n = w->d->rows.n + 1;

	w->order = malloc(n * sizeof(*w->order));
	w->place = malloc(n * sizeof(*w->place));
	w->room = calloc(n, 5 * sizeof(double));
	w->m.bursty = calloc(n, sizeof(*w->m.bursty));
	w->m.tmp = calloc(n, sizeof(*w->m.tmp));
	w->p = calloc(n, 2 * sizeof(*w->p));
	if (!w->order || !w->place || !w->room || !w->m.bursty || !w->m.tmp ||
	    !w->p)
		return -ERR_NOMEM;
	memset(w->place, 0xff, n * sizeof(*w->place));
	w->m.log_ratio = w->room;
	w->m.se = w->room + n;
	w->m.df = w->room + 2 * n;
	w->m.v = w->room + 3 * n;
	w->s.v0 = w->room + 4 * n;
	w->q = w->p + n;
	return 0;
}

static void free_work(struct work *w)
{
	free(w->order);
	free(w->place);
	free(w->room);
	free(w->m.bursty);
	free(w->m.tmp);
	free(w->s.y);
	free(w->p);
}

static int make_series(struct work *w)
{
	const struct diff *d = w->d;
	bool single = w->runs[0] + w->runs[1] < 3 ||
		      w->n > SERIES_MAX / (w->runs[0] + w->runs[1]);
	int rc = 0;

	w->s.n = w->n;
	w->s.nbase = single ? 1 : w->runs[0];
	w->s.nnew = single ? 1 : w->runs[1];
	w->s.y = calloc(w->n + 1, (w->s.nbase + w->s.nnew) * sizeof(double));
	if (!w->s.y)
		return -ERR_NOMEM;
	if (single)
		fill_pooled(w);
	for (int s = 0; !rc && !single && s < DIFF_SIDES; s++)
		rc = fill_series(w, s);
	for (size_t i = 0; i < w->n; i++) {
		double count[DIFF_SIDES];

		for (int s = 0; s < DIFF_SIDES; s++)
			count[s] = (double)cell_of(w, diff_values(
					d, s, w->order[i])).count;
		w->s.v0[i] = d->cols.v[w->col].uneven *
			     share_left(d, w->col, count) /
			     mean_count(d, count);
	}
	return rc;
}

/* Replaces means by medians if single runs are known. */
static void take_medians(struct work *w, size_t place, struct sample *s)
{
	const size_t n[DIFF_SIDES] = { w->s.nbase, w->s.nnew };
	double *y = w->s.y + place * (n[0] + n[1]);

	for (int i = 0; i < DIFF_SIDES; i++) {
		if (n[i] > 2)
			s->wide[i] *= MEDIAN_SPREAD;
		/* the series are already divided by everything but the number
		 * of runs */
		if (n[i] > 1)
			s->cost[i] = stats_median(i ? y + n[0] : y, n[i]);
	}
}

static void set_changes(struct work *w)
{
	struct diff *d = w->d;
	struct diff_change *to = w->total ? d->total : d->self;
	double runs = 1.0 / (double)w->s.nbase + 1.0 / (double)w->s.nnew;
	double last_df = 0, t = z975;

	for (size_t i = 0; i < w->n; i++) {
		uint32_t row = w->order[i];
		struct sample s = { .df = w->m.df[i] };

		fill_sample(d, w->col, cell_of(w, diff_values(d, 0, row)),
			    cell_of(w, diff_values(d, 1, row)), &s);
		/* a quantile is expensive, and most rows have the same */
		if (s.df != last_df)
			t = s.df >= 1e6 ? z975 : stats_t_quantile(0.975, s.df);
		last_df = s.df;
		s.t = t;
		s.wide[0] = s.wide[1] = w->m.se[i] *
					sqrt(mean_count(d, s.count) / runs);
		if (d->spec.median)
			take_medians(w, i, &s);
		set_change(&s, &to[row * d->cols.n + w->col]);
	}
}

/* Adjusts p, because many rows are tested at once. */
static int adjust(struct work *w)
{
	struct diff *d = w->d;
	struct diff_change *v = w->total ? d->total : d->self;
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_change *k = &v[i * d->cols.n + w->col];

		if (k->tested)
			w->p[n++] = k->p;
	}
	rc = stats_adjust(w->p, n, w->q);
	n = 0;
	for (size_t i = 0; !rc && i < d->rows.n; i++) {
		struct diff_change *k = &v[i * d->cols.n + w->col];

		if (!k->tested)
			continue;
		k->q = w->q[n++];
		k->real = k->q <= REAL_Q;
		if (!w->col && w->total == d->spec.by_total)
			d->real += k->real;
	}
	if (!w->col && w->total == d->spec.by_total)
		d->tested = n;
	return rc;
}

static int judge(struct diff *d, size_t col, bool total)
{
	struct work w = { .d = d, .col = col, .total = total,
			  .runs = { runs_of(d, 0), runs_of(d, 1) } };
	int rc = alloc_work(&w);

	if (!rc) {
		order_series(&w);
		rc = make_series(&w);
	}
	if (!rc) {
		shrink_variances(&w.s, &w.m);
		set_changes(&w);
		rc = adjust(&w);
	}
	if (!rc && !total) {
		d->cols.v[col].tau = sqrt(w.m.tau2);
		d->cols.v[col].even = w.m.kappa;
		d->tau_assumed = w.s.nbase + w.s.nnew < 3;
	}
	free_work(&w);
	return rc;
}

/* Tests a column's sum.  Its noise is the machine's, so it is known only from
 * the spread between runs. */
static int judge_total(struct diff *d, size_t col)
{
	struct work w = { .d = d, .col = col };
	struct diff_column *c = &d->cols.v[col];
	double mean[DIFF_SIDES], var[DIFF_SIDES], spread[DIFF_SIDES], df, half;
	size_t n[DIFF_SIDES] = { d->side[0].nruns, d->side[1].nruns };

	c->total = (struct diff_change){ .p = 1, .q = 1, .low = NAN,
					 .high = NAN };
	for (int s = 0; s < DIFF_SIDES; s++) {
		double *all = sum_runs(&w, s), *y;

		c->total.cost[s] = diff_cost(d, s, col, c->all[s]);
		y = all ? malloc((n[s] + 1) * sizeof(*y)) : NULL;
		if (!y) {
			free(all);
			return -ERR_NOMEM;
		}
		for (size_t i = 0; i < n[s]; i++)
			y[i] = d->norm != DIFF_NORM_TIME ? all[i] * c->lost[s]
			     : d->side[s].run_seconds[i] > 0
			     ? all[i] * c->lost[s] / d->side[s].run_seconds[i]
			     : 0;
		mean[s] = n[s] ? stats_mean(y, n[s]) : 0;
		var[s] = stats_variance(y, n[s]);
		spread[s] = 1;
		if (d->spec.median && d->norm != DIFF_NORM_TOTAL && n[s] > 2) {
			c->total.cost[s] = stats_median(y, n[s]);
			spread[s] = square(MEDIAN_SPREAD);
		}
		free(y);
		free(all);
	}
	c->total.change = c->total.cost[1] - c->total.cost[0];
	if (d->norm == DIFF_NORM_TOTAL || !n[0] || !n[1] || n[0] + n[1] < 3 ||
	    !(mean[0] > 0) || !(mean[1] > 0))
		return 0;
	/* equal relative variances, so that one run borrows the other's */
	df = (double)(n[0] + n[1] - 2);
	half = ((double)(n[0] - 1) * var[0] / square(mean[0]) +
		(double)(n[1] - 1) * var[1] / square(mean[1])) / df;
	half = stats_t_quantile(0.975, df) *
	       sqrt(half * (spread[0] * square(c->total.cost[0]) /
				    (double)n[0] +
			    spread[1] * square(c->total.cost[1]) /
				    (double)n[1]));
	c->total.low = c->total.change - half;
	c->total.high = c->total.change + half;
	c->total.tested = true;
	c->total.real = fabs(c->total.change) > half;
	return 0;
}

/* Measures the variation of weights.  Samples of unequal weight carry less
 * information than as many equal ones. */
static void measure_weights(struct diff *d)
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		double sum[REPORT_COLUMNS_MAX] = { 0 };
		double squares[REPORT_COLUMNS_MAX] = { 0 };
		double n[REPORT_COLUMNS_MAX] = { 0 };
		const struct report *rep = d->side[s].rep;
		struct sample_batch b;

		reader_columns(d->side[s].reader, COLUMN_EVENT | COLUMN_WEIGHT |
			       COLUMN_MORE);
		reader_rewind(d->side[s].reader);
		while (reader_next(d->side[s].reader, &b))
			for (size_t i = 0; i < b.n; i++) {
				uint32_t c = rep->agg.col_of[b.event[i]];
				double w = (double)b.weight[i];

				if (c >= REPORT_COLUMNS_MAX)
					continue;
				n[c] += (double)b.more[i] + 1;
				sum[c] += w;
				squares[c] += w * w / ((double)b.more[i] + 1);
			}
		reader_columns(d->side[s].reader, COLUMN_ALL);
		reader_rewind(d->side[s].reader);
		for (size_t c = 0; c < d->cols.n; c++) {
			uint32_t k = d->cols.v[c].col[s];
			double u = sum[k] > 0 ? n[k] * squares[k] /
						square(sum[k]) : 1;

			if (!d->cols.v[c].by_count && u > d->cols.v[c].uneven)
				d->cols.v[c].uneven = u;
		}
	}
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
	measure_weights(d);
	for (size_t c = 0; !rc && c < d->cols.n; c++) {
		rc = judge_total(d, c);
		if (!rc)
			rc = judge(d, c, false);
		if (!rc)
			rc = judge(d, c, true);
	}
	return rc;
}
