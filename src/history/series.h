/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_SERIES_H
#define TALLY_HISTORY_SERIES_H
/*
 * The costs of functions in successive batches of one benchmark on one kind of
 * machine.  Costs are logarithms relative to the functions that did not change.  A
 * machine that is slower today therefore affects none of them.
 *
 * The common change is found for each batch.  It is the value near which the changes
 * of most functions since the previous 15 batches lie.  Each function is weighted by
 * the square root of its share of the time.  Values far outside the usual
 * differences between batches of this machine get less weight, unless most functions
 * with enough samples agree on one, by number and by weight.  The machine changed then,
 * and no single function.
 *
 * A series contains functions of the program only, not the kernel's.
 */
#include "history/history.h"

/* Batches whose costs are comparable. */
struct history_class {
	uint32_t benchmark, cpu, event, settings;	/* str */
	uint32_t kernel;	/* str: first two numbers of the release, "6.1" */
	VEC(uint32_t) batches;	/* oldest first */
};
struct history_classes {
	VEC(struct history_class) v;	/* the class of the newest batch comes
					 * first */
	VEC(uint32_t) aside;	/* batches of commits on other branches, in no
				 * class: their order relative to the others is
				 * unknown */
};

#define HISTORY_ASIDE (U64MAP_NONE - 1)	/* rank of a commit on another branch */

/* Divides batches into classes.  `benchmark` NULL: all benchmarks.  `order` maps a
 * commit's str ID to its rank, oldest first, HISTORY_ASIDE, or U64MAP_NONE if unknown.
 * Commits without a rank are inserted by their time; NULL: all have none. */
int history_classify(struct history *h, const char *benchmark,
		     const struct u64map *order, struct history_classes *out,
		     struct error *err);
void history_classes_fini(struct history_classes *c);

#define SERIES_TOTAL SIZE_MAX	/* in place of a function: the cost of a run */

/* What varies between batches: the variance of a batch is `between`, and `sampling` times
 * its sampling variance. */
struct series_noise {
	double between, sampling;
	double typical;		/* standard deviation of an average batch */
};

struct series_func {
	uint32_t func;		/* in history.funcs */
	double share;		/* average share of the program's own time */
	struct series_noise noise;
};

struct cost_series {
	const struct history *h;
	size_t n;		/* number of batches */
	uint32_t *batch;	/* indices in history.batches, oldest first */
	VEC(struct series_func) funcs;	/* functions that reach least_share in some
					 * batch */
	double *samples;	/* [func * n + batch]: mean samples of a run */
	double *y;		/* [func * n + batch]: log of the relative cost */
	double *v0;		/* [func * n + batch]: sampling variance */
	double *total;		/* [batch]: log cost of a run without the kernel */
	double *total_v0;	/* [batch]: its sampling variance */
	double *kernel;		/* [batch]: share of the kernel in the total cost */
	struct series_noise total_noise;
	struct arrays arrays;	/* all of the above */
};
static inline double *series_y(const struct cost_series *s, size_t func)
{
	return s->y + func * s->n;
}
/* Builds the series of batches, which are indices in h->batches.  A least_share of
 * 0.004 is 0.4 % of the time, in some consecutive batches or in the last `nlast`, which
 * are to be judged by the others. */
int series_build(const struct history *h, const uint32_t *batches, size_t n,
		 size_t nlast, double least_share, struct cost_series *out,
		 struct error *err);
void series_fini(struct cost_series *s);
/* Returns a function's mean share of the program's time in batches from `from` to before
 * `to`. */
double series_share(const struct cost_series *s, size_t func, size_t from, size_t to);
/* Writes the variance of a function's y, or of the total, in each batch. */
void series_variances(const struct cost_series *s, size_t func, double *out);
/* Returns indices in funcs, largest share first.  The caller frees them; NULL if
 * memory ran out. */
size_t *series_by_share(const struct cost_series *s);
/* Returns the standard deviation of y, estimated from differences of neighbours so
 * that a few steps do not widen it.  `tmp` has room for n values. */
double series_spread(const double *y, size_t n, double *tmp);

#endif
