/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_JUDGE_H
#define TALLY_CHECK_JUDGE_H
/*
 * The decision, as arithmetic on counts: runs of a baseline and of something
 * new, each a cost for every function.  It knows no files and no names; equal
 * numbers in equal order give equal results.
 *
 * A function regressed when a moderated t-test says that it costs more than
 * 1 + margin times what it did (Benjamini and Hochberg's false discovery rate
 * over all functions tested at most alpha), and the estimate is at least
 * 1 + threshold, and it matters for the whole, and no single run made it.  The
 * variance between runs is the function's own, shrunk to what all functions show
 * (Smyth 2004, "Linear models and empirical Bayes methods", §6); the hypothesis
 * is that of limma's treat (McCarthy and Smyth 2009).
 *
 * A cost is measured in two ways: absolute, or relative to functions that did not
 * change, which a slower machine does not move.  Each function is tested on the
 * one that promises less noise, unless the others changed by about as much: then on
 * what it costs beside them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct judge_options {
	double alpha;		/* of the functions, and of the total */
	double suspect;		/* reported, but no regression, up to this */
	double margin;		/* 0.01: layout may move a function so far */
	double threshold;	/* 0.03: estimates below are no regression */
	double single_threshold;	/* … of one run a side */
	double total_threshold;	/* … of the total; negative: do not gate it */
	double min_share;	/* functions below are summed as one */
	double min_impact;	/* of the total */
	bool same_machine;	/* absolute costs may be compared */
	bool paired;		/* run i of both sides ran side by side */
};
struct judge_options judge_defaults(void);

/* How much a function's cost is its machine's. */
enum judge_noise {
	JUDGE_STEADY,
	JUDGE_UNSTEADY,		/* never gated on one run a side */
	JUDGE_NOISE,		/* never gated */
};

/* Costs in samples: the sampling variance of a cost x is at most x. */
struct judge_input {
	size_t nbase, nnew;	/* runs, at least one each */
	size_t nfuncs;
	const double *cost;	/* [run * nfuncs + function], baseline first */
	const uint8_t *noise;	/* by function: enum judge_noise; NULL: steady */
	/* Costs that overlap (with what was called) are judged beside those that
	 * do not: the runs' totals and unchanged cost by run come from there.
	 * NULL: costs add up. */
	const double *totals, *reference;
	const bool *changed;	/* by function: known to be other code than it
				 * was; NULL: not known of any */
};

enum judge_status {
	JUDGE_SMALL,		/* too small to be tested alone */
	JUDGE_SAME,		/* no change was seen */
	JUDGE_SUSPECT,		/* might be slower: more runs would tell */
	JUDGE_REGRESSED,
	JUDGE_IMPROVED,
	JUDGE_NEW,		/* the baseline never ran it */
	JUDGE_GONE,		/* only the baseline ran it */
};

struct judge_row {
	enum judge_status status;
	bool gates;		/* its status alone fails the check */
	bool absolute;		/* which cost was tested; of new and gone ones:
				 * as most were */
	bool bursty;		/* varies far more than functions of its size */
	double base, now;	/* mean cost of a run, samples */
	double share;		/* of all runs' cost */
	double ratio, low, high;	/* estimate and 95 % interval */
	double log_ratio, se, df;
	double p, q;		/* slower than 1 + margin; q: adjusted */
	double p_faster, q_faster;	/* faster than 1/(1 + margin) */
	double visible;		/* the slowdown (0.05: 5 %) that would be seen
				 * in four checks of five */
};

struct judge_total {
	bool tested, gates, regressed, improved, paired;
	double base, now;	/* mean of a run */
	double ratio, low, high, p, p_faster, visible;
	double se, df;		/* of the log ratio */
	double cv_base, cv_now;	/* spread between runs; 0 for one run */
};

struct judge {
	struct judge_options o;
	size_t nfuncs, nbase, nnew;
	struct judge_row *rows;	/* nfuncs, and one for all small ones */
	size_t tested;		/* rows that were (with the last, if it is one) */
	struct judge_total total;
	bool single;		/* one run a side: noise is assumed */
	bool absolute;		/* most of what was tested was by its cost */
	bool drifted;		/* the machine may have changed: costs as they
				 * are say nothing of one function */
	bool shifted;		/* most functions, by number and by weight, cost
				 * more or less by the same */
	double shift;		/* … by this: 0.04 is 4 % more */
	double kappa, tau;	/* of the relative costs */
	double *totals;		/* cost by run */
	double *reference;	/* cost of the unchanged functions, by run */
	bool *in_reference;	/* by function */
	const double *cost;	/* the input's */
};

int judge_run(const struct judge_input *in, const struct judge_options *o,
	      struct judge *out, struct error *err);
void judge_fini(struct judge *j);

/* The minimum detectable effect of a check as a whole: the least slowdown, of one
 * function or of the total where that is gated, that would be surely more than the
 * margin in four checks of five, by what it adds to a run. */
#define JUDGE_TOTAL SIZE_MAX
#define JUDGE_NOWHERE (SIZE_MAX - 1)	/* nothing was tested: mde is infinite */
struct judge_sight {
	double mde;		/* 0.05: 5 % of a run */
	size_t row;		/* where: a function, or one of the above */
	size_t runs;		/* of the new side, and no fewer of the baseline,
				 * that would see `want`; 0: it is seen, or no
				 * number of runs would show it */
};
/* Of the functions that are asked for, NULL: of all. */
struct judge_sight judge_sight(const struct judge *j, const bool *asked,
			       double want);

/* A look at runs of both sides while more may be made: see sequence.c. */
enum { JUDGE_LOOKS = 3 };
struct judge_look {
	size_t runs;		/* of each side, so far */
	double alpha;		/* to judge them by */
};
/* Of at most so many runs; 1: there are too few to look twice. */
size_t judge_looks(size_t runs, double alpha, struct judge_look *out);
/* Whether something may be slower that no test is sure of yet. */
bool judge_promising(const struct judge *j);

/* What some functions cost together, measured as the first one was. */
struct judge_sum {
	double base, now, ratio, log_ratio, se;
	double p;		/* more than 1 + margin */
};
/* 0 or -ERR_NOMEM. */
int judge_group(const struct judge *j, const size_t *funcs, size_t n,
		struct judge_sum *out);

#endif
