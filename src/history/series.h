/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_SERIES_H
#define TALLY_HISTORY_SERIES_H
/*
 * What functions cost in batch after batch of one benchmark on one kind of
 * machine: costs are logarithms, relative to the functions that did not change, so
 * that a machine that is slower today moves none of them.
 *
 * Which did not change is found for each batch: of the functions' changes since the
 * 15 batches before, the value that most of them (each by the root of its share of
 * the time) are near to, where a value far from what batches of this machine usually
 * differ by counts less.
 *
 * Only functions of the program are in a series, not the kernel's.
 */
#include "history/history.h"

/* Batches of one kind: their costs may be compared. */
struct history_class {
	uint32_t benchmark, cpu, event, settings;	/* str */
	uint32_t kernel;	/* str: its first two numbers, "6.1" */
	VEC(uint32_t) batches;	/* oldest first */
};
struct history_classes {
	VEC(struct history_class) v;	/* that of the newest batch first */
};
/* `benchmark` NULL: all.  `order` ranks commits (commit's str id -> rank, oldest
 * first), U64MAP_NONE where it knows none: NULL or unknown ones are ordered by
 * their time. */
int history_classify(struct history *h, const char *benchmark,
		     const struct u64map *order, struct history_classes *out,
		     struct error *err);
void history_classes_fini(struct history_classes *c);

struct series_func {
	uint32_t func;		/* in history.funcs */
	double share;		/* of the program's own time, on average */
	double noise;		/* standard deviation between batches */
};

struct cost_series {
	const struct history *h;
	size_t n;		/* batches */
	uint32_t *batch;	/* their rows in history.batches, oldest first */
	VEC(struct series_func) funcs;	/* that take least_share somewhere */
	double *samples;	/* [func * n + batch]: mean of a run */
	double *y;		/* [func * n + batch]: log of the relative cost */
	double *v0;		/* [func * n + batch]: variance by sampling */
	double *total;		/* [batch]: log cost of a run, program's own */
	double *kernel;		/* [batch]: share of the kernel in all */
	double total_noise;
};
static inline double *series_y(const struct cost_series *s, size_t func)
{
	return s->y + func * s->n;
}
/* Batches are rows of h.  `least_share`: 0.004 is 0.4 % of the time. */
int series_build(const struct history *h, const uint32_t *batches, size_t n,
		 double least_share, struct cost_series *out,
		 struct error *err);
void series_fini(struct cost_series *s);
/* Rows of funcs, those of the largest share first; the caller's to free, NULL: out of
 * memory. */
size_t *series_by_share(const struct cost_series *s);
/* Standard deviation of y between neighbours, which a few steps do not widen;
 * `tmp` has room for n. */
double series_spread(const double *y, size_t n, double *tmp);

#endif
