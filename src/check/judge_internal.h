/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_JUDGE_INTERNAL_H
#define TALLY_CHECK_JUDGE_INTERNAL_H
/* What the parts of the judge share. */
#include "base/variance.h"
#include "check/judge.h"

/* The functions that are tested, one by one, and at last all others as one. */
struct judge_state {
	const struct judge_input *in;
	struct judge *out;
	size_t runs, nkept;	/* nkept: with the others, if there are any */
	bool others;
	size_t *kept;		/* function, nfuncs for the others */
	struct series raw;	/* costs of the kept */
	struct series relative;	/* the same over the reference's */
	struct moderated ma, mr;	/* absolute, relative */
	double *others_ref;	/* by run: of the others, what the reference
				 * holds */
	bool *in_ref;		/* by kept */
	double *ref;		/* by run: the reference's cost */
	double *scratch;	/* room for nfuncs */
	void *blocks[32];
	size_t nblocks;
};

static inline double judge_cost(const struct judge_state *w, size_t run,
				size_t f)
{
	return w->in->cost[run * w->in->nfuncs + f];
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/* Zeroed memory that judge_run releases; NULL when there is none. */
void *judge_alloc(struct judge_state *w, size_t n, size_t size);

/* reference.c: chooses the reference and fills w->relative, w->mr. */
int judge_reference(struct judge_state *w);
/* shift.c: whether everything changed at once, by the logarithms of the totals, and
 * whether one function changed by about as much as the reference. */
void judge_shift(struct judge_state *w, const double *logs, double *scratch);
bool judge_follows(const struct judge_state *w, size_t k, double *scratch);
/* sight.c: the least slowdown that a row's or the total's measures would show; the
 * least estimate that is a regression. */
double judge_row_visible(const struct judge *j, const struct judge_row *row);
double judge_total_visible(const struct judge *j);
double judge_threshold(const struct judge *j);

#endif
