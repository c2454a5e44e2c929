/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_JUDGE_INTERNAL_H
#define TALLY_CHECK_JUDGE_INTERNAL_H
/* State and functions that the files of the judge share. */
#include <math.h>

#include "check/judge.h"
#include "compare/estimate.h"

/* The functions that are tested one by one, then all others as one. */
struct judge_state {
	const struct judge_input *in;
	struct judge *out;
	size_t runs, nkept;	/* nkept: tested rows, including the others if
				 * there are any */
	bool others;
	bool *other;		/* by function: belongs to the others */
	size_t *kept;		/* function of each row; nfuncs for the others */
	struct run_costs raw;	/* costs of the tested rows */
	struct run_costs relative;	/* the same costs divided by the reference's */
	double *others_ref;	/* part of the others' cost that belongs to the
				 * reference, by run */
	bool *in_ref;		/* by tested row */
	double *ref;		/* the reference's cost by run */
	double *scratch;	/* room for nfuncs values */
	struct arrays arrays;	/* all of the above */
};

static inline double judge_cost(const struct judge_state *w, size_t run,
				size_t f)
{
	return w->in->cost[run * w->in->nfuncs + f];
}

static inline double judge_whole_alpha(const struct judge_options *o)
{
	return o->whole_alpha > 0 ? o->whole_alpha : o->alpha;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/* reference.c: chooses the reference and fills in w->relative. */
int judge_reference(struct judge_state *w);
/* shift.c: judge_shift finds out from the logarithms of the totals whether everything
 * changed at once, and returns 0 or -ERR_NOMEM.  judge_follows returns whether one
 * function changed by about as much as the reference. */
int judge_shift(struct judge_state *w, const double *logs, double *scratch);
bool judge_follows(const struct judge_state *w, size_t k, double *scratch);

#endif
