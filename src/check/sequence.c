// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides when to analyse runs while more are being recorded, and when they suffice.
 *
 * Each look spends its own part of alpha, and the parts add up to alpha.  By Boole's
 * inequality, all looks together raise no more false alarms than a single one would,
 * however their results depend on each other.  Exact boundaries of a group
 * sequential test (Lan and DeMets 1983) have slightly more power.  This method also
 * holds for the false discovery rate over functions, whose joint distribution is
 * unknown.  Stopping without a regression needs no alpha.
 */
#include <math.h>

#include "check/judge.h"

enum { LEAST_RUNS = 8 };
#define HOPE_P 0.2		/* p-value below which a change may exist */
#define HOPE_IMPACT 0.005	/* share of a run that matters */

size_t judge_looks(size_t runs, double alpha, struct judge_look *out)
{
	static const double at[] = { 0.4, 0.7, 1 }, part[] = { 0.2, 0.3, 0.5 };

	if (runs < LEAST_RUNS) {
		out[0] = (struct judge_look){ runs, alpha };
		return 1;
	}
	for (size_t i = 0; i < JUDGE_LOOKS; i++)
		out[i] = (struct judge_look){ (size_t)ceil(at[i] * (double)runs),
					      alpha * part[i] };
	return JUDGE_LOOKS;
}

bool judge_promising(const struct judge *j)
{
	const struct judge_total *t = &j->total;

	if (t->tested && t->p < HOPE_P && t->ratio > 1 + HOPE_IMPACT)
		return true;
	for (size_t f = 0; f < j->nfuncs; f++) {
		const struct judge_row *row = &j->rows[f];

		if (row->df > 0 && row->p < HOPE_P &&
		    (row->ratio - 1) * row->share > HOPE_IMPACT)
			return true;
	}
	return false;
}
