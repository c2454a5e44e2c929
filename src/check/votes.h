/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_VOTES_H
#define TALLY_CHECK_VOTES_H
/*
 * Did most functions change by the same factor?  Functions with enough samples to show
 * it vote, by number and by weight.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* The functions that could have shown a common change, and those that did. */
struct votes {
	double all, yes;	/* by weight */
	size_t nall, nyes;	/* by number */
	size_t nno;		/* that certainly did not */
};

/* Largest standard error of a function that votes, relative to the common change. */
#define VOTES_SE 0.6
/* Standard errors of a certain disagreement. */
#define VOTES_NO_SE 2

/* Adds the vote of a function, whose cost changed by `change`, on a common change
 * `by`.  Both are logarithms. */
static inline void votes_add(struct votes *v, double by, double change, double se,
			     double weight)
{
	if (se > VOTES_SE * fabs(by))
		return;
	v->nall++;
	v->all += weight;
	/* nearer to the common change than to zero */
	if (fabs(change - by) <= fabs(by) / 2) {
		v->nyes++;
		v->yes += weight;
	} else {
		v->nno += fabs(change - by) > VOTES_NO_SE * se;
	}
}

/* Returns whether more than a third certainly disagrees.  A single one may disagree by
 * chance. */
static inline bool votes_against(const struct votes *v)
{
	return v->nno >= 2 && 3 * v->nno > v->nall;
}

/* Few votes prove nothing. */
static inline bool votes_majority(const struct votes *v)
{
	return v->nall >= 5 && 3 * v->nyes >= 2 * v->nall &&
	       3 * v->yes >= 2 * v->all;
}

/* Returns whether no single function can be said to have changed: most agree, or all
 * if there are few. */
static inline bool votes_together(const struct votes *v)
{
	return votes_majority(v) || (v->nall >= 3 && v->nyes == v->nall);
}

#endif
