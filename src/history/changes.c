// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds change points of series: see changes.h. */
#include "history/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/search.h"
#include "base/stats.h"

#define SPAN 10.0		/* in 2 log likelihood */
#define MIN_Z 5.0
#define MIN_CHANGE 0.0295588	/* log 1.03 */
/* 2 log likelihood that a ramp and a step must gain.  A step has two parameters, its
 * place and height, at 3 each.  A ramp has three, but its ends are the best of many.
 * In simulated histories of 200 commits (tests/history/simulate --part drift) of which
 * 100 make one function 10 % slower, 53 % show a slope of it, and there are 0.37 slopes
 * of unchanged functions; with 9, 60 % and 0.67; with 30, 43 % and 0.17.  Two steps of
 * 5 % are taken for a slope in 23, 23 and 13 %, and steps of 10 % never. */
#define RAMP_PENALTY 15.0
#define STEP_PENALTY 6.0
#define LONE_SLOPE 30.0	/* evidence that a ramp needs where no step was found, in 2
			 * log likelihood */
enum {
	BEFORE = 40, AFTER = 20,	/* batches on each side by which a change
					 * is measured */
	MIN_BEFORE = 3,
	SPAN_REACH = 15,
	RAMP_GRID = 10,
	DRIFT_ENDS = 20,
};

/* Prefix sums of a series: of weights, of weighted values and of their squares.  A
 * value's weight is the inverse of its variance, as batches have more or fewer
 * samples. */
struct sums {
	double *w, *x, *xx;
	size_t n;
	struct arrays arrays;
};

/* Returns the variance of the mean of [a, b). */
static double variance(const struct sums *s, size_t a, size_t b)
{
	return 1 / (s->w[b] - s->w[a]);
}

/* Returns the weighted sum of squares around the mean of [a, b). */
static double cost(const struct sums *s, size_t a, size_t b)
{
	double x = s->x[b] - s->x[a];

	return s->xx[b] - s->xx[a] - x * x * variance(s, a, b);
}

static double mean(const struct sums *s, size_t a, size_t b)
{
	return (s->x[b] - s->x[a]) * variance(s, a, b);
}

static int sums_init(struct sums *s, const double *y, size_t n,
		     const double *variances)
{
	*s = (struct sums){ .n = n };
	s->w = arrays_new(&s->arrays, n + 1, sizeof(double));
	s->x = arrays_new(&s->arrays, n + 1, sizeof(double));
	s->xx = arrays_new(&s->arrays, n + 1, sizeof(double));
	if (s->arrays.failed)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		/* relative to the first value, to avoid cancellation */
		double v = y[i] - y[0], w = 1 / variances[i];

		s->w[i + 1] = s->w[i] + w;
		s->x[i + 1] = s->x[i] + w * v;
		s->xx[i + 1] = s->xx[i] + w * v * v;
	}
	return 0;
}

/* Returns the edge where [a, b) divides most clearly into two levels; a if there
 * is none. */
static size_t best_split(const struct sums *s, const bool *edge, size_t a,
			 size_t b)
{
	double most = 0, all = cost(s, a, b);
	size_t best = a;

	for (size_t c = a + 1; c < b; c++) {
		double gain;

		if (edge && !edge[c])
			continue;
		gain = all - cost(s, a, c) - cost(s, c, b);
		if (gain > most) {
			most = gain;
			best = c;
		}
	}
	return best;
}

/* Returns whether the last batches before `end` are certainly on another level
 * than the batches before them, from `start` on.  *from receives the first of
 * these last batches. */
static bool alarm(const struct sums *s, size_t start, size_t end, size_t *from)
{
	static const size_t windows[] = { 1, 2, 3, 5, 8, 13, 20 };

	for (size_t i = 0; i < COUNT(windows); i++) {
		size_t w = windows[i], middle, before;
		double d;

		if (end < start + w + MIN_BEFORE)
			return false;
		middle = end - w;
		before = middle - start < BEFORE ? middle - start : BEFORE;
		d = fabs(mean(s, middle, end) -
			 mean(s, middle - before, middle));
		if (d > MIN_Z * sqrt(variance(s, middle, end) +
				     variance(s, middle - before, middle)) &&
		    d >= MIN_CHANGE) {
			*from = middle - before;
			return true;
		}
	}
	return false;
}

/* Processes batches in order of arrival.  Each alarm is a change, and earlier
 * batches no longer count.  Returns the cuts in order. */
static size_t partition(const struct sums *s, const bool *edge, size_t *cuts)
{
	size_t start = 0, n = 0;

	for (size_t end = 1; end <= s->n; end++) {
		size_t from, c;

		if (!alarm(s, start, end, &from))
			continue;
		c = best_split(s, edge, from, end);
		if (c == from)
			continue;
		start = cuts[n++] = c;
	}
	/* later batches locate the change more precisely */
	for (size_t i = 0; i < n; i++) {
		size_t a = i ? cuts[i - 1] : 0, b = i + 1 < n ? cuts[i + 1]
							     : s->n;
		size_t c = best_split(s, edge, a, b);

		cuts[i] = c > a ? c : cuts[i];
	}
	return n;
}

/* Batches from `first` to before `end`. */
struct side {
	size_t first, end;
};

/* A change at cuts[i], measured by the batches next to it. */
struct jump {
	double size, se;
	struct side before, after;
};

static struct jump jump_at(const struct sums *s, const size_t *cuts, size_t n,
			   size_t i)
{
	size_t c = cuts[i], a = i ? cuts[i - 1] : 0;
	size_t b = i + 1 < n ? cuts[i + 1] : s->n;

	a = c - a > BEFORE ? c - BEFORE : a;
	b = b - c > AFTER ? c + AFTER : b;
	return (struct jump){ mean(s, c, b) - mean(s, a, c),
			      sqrt(variance(s, a, c) + variance(s, c, b)),
			      { a, c }, { c, b } };
}

/* Removes changes that turn out to be small, the smallest first. */
static size_t prune(const struct sums *s, size_t *cuts, size_t n)
{
	for (;;) {
		size_t worst = n;
		double least = MIN_CHANGE;

		for (size_t i = 0; i < n; i++) {
			double size = fabs(jump_at(s, cuts, n, i).size);

			if (size < least) {
				least = size;
				worst = i;
			}
		}
		if (worst == n)
			return n;
		memmove(cuts + worst, cuts + worst + 1,
			(n - worst - 1) * sizeof(*cuts));
		n--;
	}
}

long changes_cut(const double *y, size_t n, const double *variances,
		 const bool *edge, size_t *cuts)
{
	struct sums s;
	long found = -ERR_NOMEM;

	if (n < 2)
		return 0;
	if (sums_init(&s, y, n, variances) == 0)
		found = (long)prune(&s, cuts, partition(&s, edge, cuts));
	arrays_fini(&s.arrays);
	return found;
}

/* The state for the analysis of one series. */
struct looking {
	const struct cost_series *series;
	struct changes *out;
	const bool *edge;
	size_t *cuts;
	double *ramp, *variances;	/* room for a value for each batch */
};

/* Finds the best ramp: its cost, ends and height. */
static double best_ramp(const struct sums *s, double *ramp, size_t *from,
			size_t *to, double *height)
{
	double all = cost(s, 0, s->n), best = 0;

	for (size_t a = 0; a + 2 * RAMP_GRID <= s->n; a += RAMP_GRID)
		for (size_t b = a + 2 * RAMP_GRID; b <= s->n; b += RAMP_GRID) {
			double m = 0, xy = 0, xx = 0, x;

			for (size_t i = 0; i < s->n; i++) {
				x = ((double)i - (double)a) / (double)(b - a);
				ramp[i] = x < 0 ? 0 : x > 1 ? 1 : x;
				m += ramp[i] * (s->w[i + 1] - s->w[i]);
			}
			m /= s->w[s->n];
			for (size_t i = 0; i < s->n; i++) {
				xy += (ramp[i] - m) * (s->x[i + 1] - s->x[i]);
				xx += (ramp[i] - m) * (ramp[i] - m) *
				      (s->w[i + 1] - s->w[i]);
			}
			if (xx > 0 && xy * xy / xx > best) {
				best = xy * xy / xx;
				*from = a;
				*to = b < s->n ? b : s->n - 1;
				*height = xy / xx;
			}
		}
	return all - best;
}

static double samples_of(const struct cost_series *s, size_t func, struct side x)
{
	return stats_mean(s->samples + func * s->n + x.first, x.end - x.first);
}

/* Finds out what a change means for the program, by batches before and after it. */
static void weigh(const struct cost_series *s, struct change *c, struct side before,
		  struct side after)
{
	double now = 1;

	c->share = 1;
	if (c->func != SERIES_TOTAL) {
		c->share = series_share(s, c->func, before.first, before.end);
		now = series_share(s, c->func, after.first, after.end);
		c->kind = samples_of(s, c->func, before) < 1 ? CHANGE_NEW
			: samples_of(s, c->func, after) < 1 ? CHANGE_GONE
							    : CHANGE_COST;
	}
	c->impact = c->kind == CHANGE_NEW ? now : c->kind == CHANGE_GONE
		? -c->share : (c->ratio - 1) * c->share;
}

static struct change make_change(size_t func, double log_ratio, double se)
{
	struct change c = { .func = func };

	c.ratio = exp(log_ratio);
	c.low = exp(log_ratio - 1.96 * se);
	c.high = exp(log_ratio + 1.96 * se);
	return c;
}

/* Returns 1 if the series has a slope, which was added. */
static int add_slope(struct looking *l, size_t func, const struct sums *s,
		     size_t ncuts)
{
	/* of the mean of an average end */
	double end = variance(s, 0, s->n) * (double)s->n / DRIFT_ENDS;
	double steps = 0, height = 0, ramp;
	size_t from = 0, to = 0, at = 0;
	struct change c;

	if (s->n < 4 * RAMP_GRID)
		return 0;
	for (size_t i = 0; i < ncuts; i++) {
		steps += cost(s, at, l->cuts[i]);
		at = l->cuts[i];
	}
	steps += cost(s, at, s->n) + STEP_PENALTY * (double)ncuts;
	ramp = best_ramp(s, l->ramp, &from, &to, &height) + RAMP_PENALTY;
	if (!ncuts)
		ramp += LONE_SLOPE;
	if (ramp >= steps ||
	    fabs(height) < (ncuts ? 1 : 2) * MIN_CHANGE)
		return 0;
	c = make_change(func, height, sqrt(2 * end));
	c.slope = true;
	c.at = to;
	c.from = from;
	c.to = to;
	weigh(l->series, &c, (struct side){
			from > DRIFT_ENDS ? from - DRIFT_ENDS : 0,
			from ? from : RAMP_GRID / 2 },
	      (struct side){ to, to + DRIFT_ENDS < s->n ? to + DRIFT_ENDS : s->n });
	return vec_push(&l->out->v, c) < 0 ? -ERR_NOMEM : 1;
}

/* Finds the places near a cut that explain the series nearly as well. */
static void find_span(const struct looking *l, const struct sums *s,
		      size_t ncuts, size_t i, struct change *c)
{
	size_t a = i ? l->cuts[i - 1] : 0, at = l->cuts[i];
	size_t b = i + 1 < ncuts ? l->cuts[i + 1] : s->n;
	double best = cost(s, a, at) + cost(s, at, b);

	c->at = c->from = c->to = at;
	for (size_t k = a + 1; k < b; k++) {
		if (k + SPAN_REACH < at || k > at + SPAN_REACH ||
		    !l->edge[k] || cost(s, a, k) + cost(s, k, b) > best + SPAN)
			continue;
		c->from = k < c->from ? k : c->from;
		c->to = k > c->to ? k : c->to;
	}
}

static int look_at(struct looking *l, size_t func, const double *y)
{
	struct sums s;
	size_t n = 0;
	int rc;

	series_variances(l->series, func, l->variances);
	rc = sums_init(&s, y, l->series->n, l->variances);
	if (!rc) {
		n = prune(&s, l->cuts, partition(&s, l->edge, l->cuts));
		rc = add_slope(l, func, &s, n);
	}
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct jump j = jump_at(&s, l->cuts, n, i);
		struct change c = make_change(func, j.size, j.se);

		weigh(l->series, &c, j.before, j.after);
		find_span(l, &s, n, i, &c);
		rc = vec_push(&l->out->v, c) < 0 ? -ERR_NOMEM : 0;
	}
	arrays_fini(&s.arrays);
	return rc < 0 ? rc : 0;
}

static int by_impact(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double p = fabs(x->impact), q = fabs(y->impact);

	/* the total comes last, because it follows from its parts */
	return ascending(x->group, y->group) ?:
	       ascending(x->func == SERIES_TOTAL, y->func == SERIES_TOTAL) ?:
	       descending(p, q) ?: ascending(x->func, y->func);
}

static int by_age(const void *a, const void *b)
{
	const struct change_group *x = a, *y = b;

	return ascending(x->slope, y->slope) ?: descending(x->at, y->at);
}

/* Returns the batch that most ungrouped spans contain, and the number of these
 * spans. */
static size_t most_common(const struct changes *c, size_t n, size_t *count)
{
	size_t best = 0;

	*count = 0;
	for (size_t at = 0; at < n; at++) {
		size_t k = 0;

		for (size_t i = 0; i < c->v.n; i++)
			k += c->v.v[i].group == SIZE_MAX &&
			     c->v.v[i].from <= at && at <= c->v.v[i].to;
		if (k > *count) {
			*count = k;
			best = at;
		}
	}
	return best;
}

/* Makes one group of the changes that may be at `at`.  A slope forms its own
 * group. */
static int make_group(struct changes *c, size_t at)
{
	struct change_group g = { .from = 0, .to = SIZE_MAX };
	double weight = 0, sum = 0;

	for (size_t i = 0; i < c->v.n; i++) {
		struct change *x = &c->v.v[i];
		double w = fabs(x->impact) / (double)(1 + x->to - x->from);

		if (x->group != SIZE_MAX || at < x->from || at > x->to)
			continue;
		x->group = c->groups.n;
		g.from = x->from > g.from ? x->from : g.from;
		g.to = x->to < g.to ? x->to : g.to;
		/* narrow spans and large changes give the best date */
		sum += w * (double)x->at;
		weight += w;
		g.n++;
		if (x->func != SERIES_TOTAL)
			g.impact += x->impact;
	}
	g.at = weight > 0 ? (size_t)(sum / weight + 0.5) : at;
	g.at = g.at < g.from ? g.from : g.at > g.to ? g.to : g.at;
	return vec_push(&c->groups, g) < 0 ? -ERR_NOMEM : 0;
}

static int group_changes(struct changes *c, size_t n)
{
	size_t count, at;
	int rc = 0;

	for (size_t i = 0; !rc && i < c->v.n; i++) {
		struct change *x = &c->v.v[i];

		x->group = SIZE_MAX;
		if (x->slope) {
			struct change_group g = { .at = x->at, .from = x->from,
				.to = x->to, .n = 1, .impact = x->impact,
				.slope = true };

			x->group = c->groups.n;
			rc = vec_push(&c->groups, g) < 0 ? -ERR_NOMEM : 0;
		}
	}
	while (!rc && (at = most_common(c, n, &count), count))
		rc = make_group(c, at);
	return rc;
}

/* Sorts groups by age, and changes by group. */
static int order_groups(struct changes *c)
{
	size_t *place = calloc(c->groups.n + 1, sizeof(*place)), first = 0;

	if (!place)
		return -ERR_NOMEM;
	for (size_t i = 0; i < c->groups.n; i++)
		c->groups.v[i].first = i;	/* temporarily holds the old index */
	vec_sort(&c->groups, by_age);
	for (size_t i = 0; i < c->groups.n; i++)
		place[c->groups.v[i].first] = i;
	for (size_t i = 0; i < c->v.n; i++)
		c->v.v[i].group = place[c->v.v[i].group];
	vec_sort(&c->v, by_impact);
	for (size_t i = 0; i < c->groups.n; i++) {
		c->groups.v[i].first = first;
		first += c->groups.v[i].n;
	}
	free(place);
	return 0;
}

int changes_find(const struct cost_series *s, struct changes *out,
		 struct error *err)
{
	struct arrays a = { 0 };
	bool *edge = arrays_new(&a, s->n, sizeof(*edge));
	struct looking l = { .series = s, .out = out, .edge = edge,
			     .cuts = arrays_new(&a, s->n, sizeof(*l.cuts)),
			     .ramp = arrays_new(&a, s->n, sizeof(*l.ramp)),
			     .variances = arrays_new(&a, s->n, sizeof(*l.ramp)) };
	int rc = a.failed ? -ERR_NOMEM : 0;

	*out = (struct changes){ .v = { 0 } };
	/* batches of one commit have the same cost */
	for (size_t i = 1; !rc && i < s->n; i++)
		edge[i] = s->h->batches.v[s->batch[i]].commit !=
			  s->h->batches.v[s->batch[i - 1]].commit;
	for (size_t k = 0; !rc && k < s->funcs.n; k++)
		rc = look_at(&l, k, series_y(s, k));
	if (!rc && s->n > 1)
		rc = look_at(&l, SERIES_TOTAL, s->total);
	if (!rc)
		rc = group_changes(out, s->n) ?: order_groups(out);
	arrays_fini(&a);
	if (rc)
		changes_fini(out);
	return rc ? error_nomem(err) : 0;
}

void changes_fini(struct changes *c)
{
	vec_fini(&c->v);
	vec_fini(&c->groups);
}
