// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes costs by batch relative to unchanged functions: see series.h. */
#include "history/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/stats.h"
#include "check/votes.h"

enum {
	WINDOW = 15,		/* batches that determine a function's level */
	SHARE_WINDOW = 5,	/* batches that determine whether it is large
				 * enough */
	PASSES = 5,
	HALVINGS = 16,
};
#define USUAL_SPEED 0.045	/* usual standard deviation of a machine's speed */
#define MIN_SPEED 0.01
#define MIN_TOTAL 1e-6		/* least variance of the total */
#define MIN_SAMPLING 0.7	/* least variance of a function relative to that of
				 * independent samples.  Of 200 made histories of 30
				 * batches without any change, one shows one; with 0.3,
				 * 13.  (0.7 was chosen by 40 others.) */
#define LEAST_PRIOR 1e-6	/* weight of the usual speed where today's is not near
				 * it, which counts where nothing else is known */
#define USUAL_NOISE 0.015	/* usual standard deviation of a function between
				 * batches, beyond sampling */

/* Returns the version of a release: "6.1" for "6.1.0-56-amd64". */
static uint32_t kernel_version(struct history *h, const char *release)
{
	size_t n = strcspn(release, ".");

	if (release[n])
		n += 1 + strspn(release + n + 1, "0123456789");
	return strtab_add_n(&h->str, release, n);
}

/* A batch and its place among the others. */
struct ranked {
	const struct history *h;
	uint32_t batch;
	uint32_t rank;		/* of its commit, or U64MAP_NONE */
	int64_t time;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return ascending(x->rank, y->rank);
}

static int by_place(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	const struct batch *p = &x->h->batches.v[x->batch];
	const struct batch *q = &y->h->batches.v[y->batch];

	return ascending(x->time, y->time) ?: ascending(x->rank, y->rank) ?:
	       strcmp(history_str(x->h, p->commit),
		      history_str(x->h, q->commit)) ?:
	       ascending(p->recorded, q->recorded) ?:
	       memcmp(p->hash, q->hash, sizeof(p->hash));
}

/* Sorts batches by the ranks of their commits.  Those without one are inserted where
 * the latest commit so far is not newer; clocks differ, so that commits may have
 * other times than their order. */
static void sort_batches(struct ranked *v, size_t n)
{
	int64_t latest = INT64_MIN;

	sort_rows(v, n, by_rank);
	for (size_t i = 0; i < n && v[i].rank != U64MAP_NONE; i++) {
		latest = v[i].time > latest ? v[i].time : latest;
		v[i].time = latest;
	}
	sort_rows(v, n, by_place);
}

static struct history_class *class_of(struct history_classes *c,
				      const struct history_class *key)
{
	for (size_t i = 0; i < c->v.n; i++) {
		struct history_class *x = &c->v.v[i];

		if (x->benchmark == key->benchmark && x->cpu == key->cpu &&
		    x->event == key->event && x->settings == key->settings &&
		    x->kernel == key->kernel)
			return x;
	}
	return vec_push(&c->v, *key) < 0 ? NULL : &c->v.v[c->v.n - 1];
}

static int sort_classes(struct history *h, const struct u64map *order,
			struct history_classes *c, struct ranked *tmp)
{
	size_t newest = 0;

	for (size_t i = 0; i < c->v.n; i++) {
		struct history_class *x = &c->v.v[i];

		for (size_t k = 0; k < x->batches.n; k++) {
			const struct batch *b = &h->batches.v[x->batches.v[k]];

			tmp[k] = (struct ranked){ h, x->batches.v[k],
				order ? u64map_get(order, b->commit)
				      : U64MAP_NONE, b->time };
		}
		sort_batches(tmp, x->batches.n);
		for (size_t k = 0; k < x->batches.n; k++)
			x->batches.v[k] = tmp[k].batch;
	}
	for (size_t i = 1; i < c->v.n; i++) {
		const struct history_class *x = &c->v.v[newest];
		const struct history_class *y = &c->v.v[i];

		if (h->batches.v[y->batches.v[y->batches.n - 1]].recorded >
		    h->batches.v[x->batches.v[x->batches.n - 1]].recorded)
			newest = i;
	}
	if (newest) {
		struct history_class first = c->v.v[newest];

		memmove(c->v.v + 1, c->v.v, newest * sizeof(first));
		c->v.v[0] = first;
	}
	return 0;
}

int history_classify(struct history *h, const char *benchmark,
		     const struct u64map *order, struct history_classes *out,
		     struct error *err)
{
	struct ranked *tmp = calloc(h->batches.n + 1, sizeof(*tmp));
	int rc = tmp ? 0 : -ERR_NOMEM;

	*out = (struct history_classes){ .v = { 0 } };
	for (uint32_t i = 0; !rc && i < h->batches.n; i++) {
		const struct batch *b = &h->batches.v[i];
		struct history_class key = { .benchmark = b->benchmark,
			.cpu = b->cpu, .event = b->event,
			.settings = b->settings,
			.kernel = kernel_version(h, history_str(h, b->kernel)) };
		struct history_class *c;

		if (benchmark && strcmp(benchmark,
					history_str(h, b->benchmark)))
			continue;
		if (order && u64map_get(order, b->commit) == HISTORY_ASIDE) {
			rc = vec_push(&out->aside, i);
			continue;
		}
		c = key.kernel == UINT32_MAX ? NULL : class_of(out, &key);
		rc = c && vec_push(&c->batches, i) == 0 ? 0 : -ERR_NOMEM;
	}
	if (!rc)
		rc = sort_classes(h, order, out, tmp);
	free(tmp);
	if (rc)
		history_classes_fini(out);
	return rc ? error_nomem(err) : 0;
}

void history_classes_fini(struct history_classes *c)
{
	for (size_t i = 0; i < c->v.n; i++)
		vec_fini(&c->v.v[i].batches);
	vec_fini(&c->v);
	vec_fini(&c->aside);
}

/* Returns the mean samples of a run of each function of the program, [func * n +
 * batch], and the totals. */
static double *all_samples(const struct cost_series *s)
{
	double *x = calloc(s->h->funcs.n * s->n + 1, sizeof(*x));

	for (size_t c = 0; x && c < s->n; c++) {
		const struct batch *b = &s->h->batches.v[s->batch[c]];
		double user = 0, kernel = 0;

		for (uint32_t i = 0; i < b->n; i++) {
			const struct history_cost *k =
				&s->h->costs.v[b->first + i];
			double m = stats_mean(s->h->counts.v + k->counts,
					      b->runs);

			if (s->h->funcs.v[k->func].kernel) {
				kernel += m;
				continue;
			}
			user += m;
			x[k->func * s->n + c] += m;
		}
		user = user > 0 ? user : 1;
		s->total[c] = log(user * b->per_sample);
		s->total_v0[c] = 1 / (user * b->runs);
		s->kernel[c] = user + kernel > 0 ? kernel / (user + kernel) : 0;
	}
	return x;
}

/* Returns the share of x samples per run in a batch. */
static double share_in(const struct cost_series *s, size_t c, double x)
{
	return x * s->h->batches.v[s->batch[c]].per_sample / exp(s->total[c]);
}

/* Returns the mean share of a function, and the largest mean over consecutive
 * batches, of which the last `nlast` are judged by the others. */
static double shares(const struct cost_series *s, size_t nlast, const double *x,
		     double *most)
{
	double sum = 0, window = 0, last = 0;
	size_t n = s->n - nlast, w = n < SHARE_WINDOW ? n : SHARE_WINDOW;

	*most = 0;
	for (size_t c = 0; c < n; c++) {
		double share = share_in(s, c, x[c]);

		sum += share;
		window += share;
		if (c >= w)
			window -= share_in(s, c - w, x[c - w]);
		if (c + 1 >= w && window / (double)w > *most)
			*most = window / (double)w;
	}
	for (size_t c = n; c < s->n; c++)
		last += share_in(s, c, x[c]);
	if (nlast && last / (double)nlast > *most)
		*most = last / (double)nlast;
	return (sum + last) / (double)s->n;
}

static int choose(struct cost_series *s, size_t nlast, const double *x, double least)
{
	for (uint32_t f = 0; f < s->h->funcs.n; f++) {
		struct series_func to = { .func = f };
		double most;

		/* code that is no single function has no level */
		if (s->h->funcs.v[f].kernel || (!s->h->funcs.v[f].image &&
						!s->h->funcs.v[f].name))
			continue;
		to.share = shares(s, nlast, x + f * s->n, &most);
		if (most >= least && vec_push(&s->funcs, to) < 0)
			return -ERR_NOMEM;
	}
	s->samples = arrays_new(&s->arrays, s->funcs.n, s->n * sizeof(double));
	s->y = arrays_new(&s->arrays, s->funcs.n, s->n * sizeof(double));
	s->v0 = arrays_new(&s->arrays, s->funcs.n, s->n * sizeof(double));
	if (s->arrays.failed)
		return -ERR_NOMEM;
	for (size_t k = 0; k < s->funcs.n; k++)
		memcpy(s->samples + k * s->n,
		       x + s->funcs.v[k].func * s->n, s->n * sizeof(double));
	return 0;
}

/* Room for the comparison of one batch with those before it. */
struct relating {
	double *d;		/* change by function */
	double *tolerance;	/* change that chance may cause, by function: three
				 * standard deviations */
	double *sampling;	/* standard error by sampling alone, by function */
	double *offset;		/* common change of the other functions, by
				 * function */
	double *speed;		/* common change of the functions, by batch */
	double *tmp;		/* scratch space by batch */
};

/* Tukey's weight of a value at a distance from the centre. */
static double biweight(double x)
{
	x = fabs(x) < 1 ? 1 - x * x : 0;
	return x * x;
}

/* Returns the weight of a function in the common change.  It depends on the
 * function's noise and decreases with the distance from the centre. */
static double weight_of(const struct relating *w, size_t i, double centre)
{
	return biweight((w->d[i] - centre) / w->tolerance[i]) /
	       (w->tolerance[i] * w->tolerance[i]);
}

/* Returns whether most functions changed by about `centre`, or all if there are few.
 * The machine changed then, however unusual that is. */
static bool together(const struct cost_series *s, const struct relating *w,
		     double centre, double usual)
{
	struct votes v = { .all = 0 };

	for (size_t i = 0; i < s->funcs.n; i++)
		votes_add(&v, centre - usual, w->d[i] - usual, w->sampling[i],
			  s->funcs.v[i].share);
	return votes_together(&v);
}

/* Returns the change that has most other changes near it.  `usual` is the usual
 * difference between batches of this machine; a value far from it needs more of
 * them, or most functions. */
static double most_alike(const struct cost_series *s, const struct relating *w,
			 double usual, double speed)
{
	double best = -INFINITY, all = 0, centre = usual;
	size_t n = s->funcs.n;

	for (size_t k = 0; k < n; k++)
		all += sqrt(s->funcs.v[k].share);
	for (size_t k = 0; k < n; k++) {
		double far = (w->d[k] - usual) / (4 * speed), score;

		score = together(s, w, w->d[k], usual)
				? 0 : -0.5 * all * far * far;
		for (size_t i = 0; i < n; i++) {
			double x = (w->d[i] - w->d[k]) / w->tolerance[i];

			if (fabs(x) < 1)
				score += sqrt(s->funcs.v[i].share) *
					 (1 - x * x);
		}
		if (score > best) {
			best = score;
			centre = w->d[k];
		}
	}
	return centre;
}

/* Returns the mean of functions, of which `sum` and `weight` are the sums of weighted
 * changes and of weights, and of the usual behaviour of the machine.  That matters if
 * there are few functions; unless most agree, or these say that today is unusual. */
static double with_prior(double sum, double weight, double usual, double speed,
			 bool agree)
{
	/* tolerances are three standard deviations */
	double spread = sqrt(speed * speed + 1 / (9 * weight + LEAST_PRIOR));
	double far = weight > 0 ? (sum / weight - usual) / (4 * spread) : 0;
	double prior = ((agree ? 0 : biweight(far)) + LEAST_PRIOR) /
		       (9 * speed * speed);

	return (sum + prior * usual) / (weight + prior);
}

/* Computes in w->offset the change that most functions made, without each function: a
 * large one would otherwise hide its own change.  Returns the machine's change. */
static double common_change(const struct cost_series *s, struct relating *w,
			    double usual, double speed)
{
	double centre = most_alike(s, w, usual, speed), sum = 0, weight = 0;
	bool agree = together(s, w, centre, usual);
	size_t n = s->funcs.n;
	double most = -1, machine = usual;

	for (int pass = 0; pass < PASSES; pass++) {
		sum = weight = 0;
		for (size_t i = 0; i < n; i++) {
			double x = weight_of(w, i, centre);

			sum += x * w->d[i];
			weight += x;
		}
		centre = with_prior(sum, weight, usual, speed, agree);
	}
	for (size_t i = 0; i < n; i++) {
		double own = weight_of(w, i, centre);
		double others = weight - own > 1e-9 * weight ? weight - own : 0;

		w->offset[i] = with_prior(others > 0 ? sum - own * w->d[i] : 0,
					  others, usual, speed, agree);
		/* what the function that shows it best does not cause itself */
		if (own > most) {
			most = own;
			machine = w->offset[i];
		}
	}
	return machine;
}

static double speed_of(const struct cost_series *s, double *tmp)
{
	double speed = s->n >= 5 ? series_spread(s->total, s->n, tmp)
				 : USUAL_SPEED;

	return speed < MIN_SPEED ? MIN_SPEED : speed;
}

/* Computes each function's change since the batches before batch c. */
static void find_changes(struct cost_series *s, struct relating *w, size_t c)
{
	const struct batch *b = &s->h->batches.v[s->batch[c]];
	size_t from = c > WINDOW ? c - WINDOW : 0, n = s->n;

	for (size_t k = 0; k < s->funcs.n; k++) {
		double x = s->samples[k * n + c], *y = series_y(s, k);

		/* half a sample if there is none */
		x = x > 0.5 / b->runs ? x : 0.5 / b->runs;
		y[c] = log(x * b->per_sample);
		s->v0[k * n + c] = 1 / (x * b->runs);
		w->sampling[k] = sqrt(s->v0[k * n + c]);
		w->tolerance[k] = 3 * sqrt(s->v0[k * n + c] +
					   USUAL_NOISE * USUAL_NOISE);
		if (c)
			memcpy(w->tmp, y + from, (c - from) * sizeof(*y));
		w->d[k] = c ? y[c] - stats_median(w->tmp, c - from) : 0;
	}
}

static void relate(struct cost_series *s, struct relating *w)
{
	double speed = speed_of(s, w->tmp);

	for (size_t c = 0; c < s->n; c++) {
		size_t from = c > WINDOW ? c - WINDOW : 0;
		double usual = 0;

		find_changes(s, w, c);
		if (c) {
			memcpy(w->tmp, w->speed + from,
			       (c - from) * sizeof(*w->tmp));
			usual = stats_median(w->tmp, c - from);
		}
		w->speed[c] = common_change(s, w, usual, speed);
		for (size_t k = 0; k < s->funcs.n; k++)
			series_y(s, k)[c] -= w->offset[k];
	}
}

/* Returns how much larger the variance of y is than `between` and v0 (NULL: 0) together,
 * estimated from differences of neighbours. */
static double dispersion(const double *y, const double *v0, size_t n,
			 double between, double *tmp)
{
	double sum = 0, median;

	if (n < 2)
		return 0;
	for (size_t i = 0; i + 1 < n; i++) {
		tmp[i] = fabs(y[i + 1] - y[i]) /
			 sqrt(2 * between + (v0 ? v0[i] + v0[i + 1] : 0));
		sum += tmp[i] * tmp[i];
	}
	sum /= (double)(n - 1);
	median = stats_median(tmp, n - 1);
	median = 2.86 * median * median;
	return sum < median ? sum : median;
}

double series_spread(const double *y, size_t n, double *tmp)
{
	return sqrt(dispersion(y, NULL, n, 1, tmp));
}

/* Divides the variance of y into that of sampling and the rest.  Sampling causes at
 * least `least` times v0, because a series without variation over a few batches is a
 * coincidence. */
static struct series_noise measure(const double *y, const double *v0, size_t n,
				   double least, double *tmp)
{
	struct series_noise out = { 0, dispersion(y, v0, n, 0, tmp), 0 };
	double low = 0, high = series_spread(y, n, tmp);

	high *= high;
	for (int i = 0; out.sampling > 1 && i < HALVINGS; i++) {
		out.between = (low + high) / 2;
		if (dispersion(y, v0, n, out.between, tmp) > 1)
			low = out.between;
		else
			high = out.between;
	}
	if (out.sampling > 1)
		out.sampling = 1;
	if (out.sampling < least)
		out.sampling = least;
	memcpy(tmp, v0, n * sizeof(*tmp));
	out.typical = sqrt(out.between + out.sampling * stats_median(tmp, n));
	return out;
}

static void measure_noise(struct cost_series *s, double *tmp)
{
	double v;

	for (size_t k = 0; k < s->funcs.n; k++)
		s->funcs.v[k].noise = measure(series_y(s, k), s->v0 + k * s->n,
					      s->n, MIN_SAMPLING, tmp);
	memcpy(tmp, s->total_v0, s->n * sizeof(*tmp));
	v = s->n ? stats_median(tmp, s->n) : 1;
	s->total_noise = measure(s->total, s->total_v0, s->n, MIN_TOTAL / v, tmp);
}

double series_share(const struct cost_series *s, size_t func, size_t from, size_t to)
{
	double sum = 0;

	for (size_t c = from; c < to; c++)
		sum += share_in(s, c, s->samples[func * s->n + c]);
	return sum / (double)(to - from);
}

void series_variances(const struct cost_series *s, size_t func, double *out)
{
	bool total = func == SERIES_TOTAL;
	const struct series_noise *x = total ? &s->total_noise
					     : &s->funcs.v[func].noise;
	const double *v0 = total ? s->total_v0 : s->v0 + func * s->n;

	for (size_t c = 0; c < s->n; c++)
		out[c] = x->between + x->sampling * v0[c];
}

static int relate_all(struct cost_series *s)
{
	size_t k = s->funcs.n, n = s->n;
	struct arrays a = { 0 };
	struct relating w = {
		.d = arrays_new(&a, k, sizeof(double)),
		.tolerance = arrays_new(&a, k, sizeof(double)),
		.sampling = arrays_new(&a, k, sizeof(double)),
		.offset = arrays_new(&a, k, sizeof(double)),
		.speed = arrays_new(&a, n, sizeof(double)),
		.tmp = arrays_new(&a, n, sizeof(double)),
	};
	int rc = a.failed ? -ERR_NOMEM : 0;

	if (!rc) {
		relate(s, &w);
		measure_noise(s, w.tmp);
	}
	arrays_fini(&a);
	return rc;
}

int series_build(const struct history *h, const uint32_t *batches, size_t n,
		 size_t nlast, double least_share, struct cost_series *out,
		 struct error *err)
{
	double *x = NULL;
	int rc = -ERR_NOMEM;

	*out = (struct cost_series){ .h = h, .n = n };
	out->batch = arrays_new(&out->arrays, n, sizeof(*out->batch));
	out->total = arrays_new(&out->arrays, n, sizeof(double));
	out->total_v0 = arrays_new(&out->arrays, n, sizeof(double));
	out->kernel = arrays_new(&out->arrays, n, sizeof(double));
	if (!out->arrays.failed) {
		memcpy(out->batch, batches, n * sizeof(*batches));
		x = all_samples(out);
	}
	if (x)
		rc = choose(out, nlast, x, least_share) ?: relate_all(out);
	free(x);
	if (rc) {
		series_fini(out);
		return error_nomem(err);
	}
	return 0;
}

static int by_share(const void *a, const void *b, void *ctx)
{
	const struct cost_series *s = ctx;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return descending(s->funcs.v[x].share, s->funcs.v[y].share) ?: ascending(x, y);
}

size_t *series_by_share(const struct cost_series *s)
{
	size_t *order = calloc(s->funcs.n + 1, sizeof(*order));

	for (size_t k = 0; order && k < s->funcs.n; k++)
		order[k] = k;
	if (order)
		sort_rows_r(order, s->funcs.n, by_share, (void *)(uintptr_t)s);
	return order;
}

void series_fini(struct cost_series *s)
{
	vec_fini(&s->funcs);
	arrays_fini(&s->arrays);
	*s = (struct cost_series){ .n = 0 };
}
