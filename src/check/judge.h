/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_JUDGE_H
#define TALLY_CHECK_JUDGE_H
/*
 * The statistical decision.  Its input is a cost for every function in each run of a
 * baseline and of a new version.  It has no access to files or names; equal numbers
 * in equal order give equal results.
 *
 * A function has regressed if all of these hold:
 *
 *	- a moderated t-test finds that it costs more than 1 + margin times as much
 *	  (Benjamini and Hochberg's false discovery rate over all tested functions is
 *	  at most alpha)
 *	- the estimated ratio is at least 1 + threshold
 *	- the increase matters for the whole run
 *	- no single run causes it
 *
 * The variance between runs is the function's own, shrunk towards the variance of
 * all functions (Smyth 2004, "Linear models and empirical Bayes methods", §6).  The
 * hypothesis is that of limma's treat (McCarthy and Smyth 2009).
 *
 * A cost is measured in two ways: absolute, or relative to functions that did not
 * change.  A slower machine does not affect relative costs.  Each function is tested
 * by the measure that promises less noise.  If the other functions changed by about
 * as much, its relative cost is tested.  Runs that were made side by side are compared
 * in pairs if that promises less noise, too.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "compare/estimate.h"

struct judge_options {
	double alpha;		/* false discovery rate of functions; significance
				 * level of the total */
	double whole_alpha;	/* alpha of all looks of the check together; 0: this
				 * is the only one */
	double suspect;		/* largest adjusted p-value that is reported as a
				 * suspect */
	double margin;		/* change that code layout may cause, for example
				 * 0.01 */
	double threshold;	/* smallest estimate that is a regression, for
				 * example 0.03 */
	double single_threshold;	/* the same threshold with one run per side */
	double total_threshold;	/* the same threshold for the total; negative: the
				 * total never fails */
	double min_share;	/* smallest share of the cost that is tested alone;
				 * smaller functions are summed */
	double min_impact;	/* smallest increase that matters, as a share of
				 * the total */
	double session;		/* standard deviation of a machine's speed between the
				 * times at which the sides were recorded; 0: they
				 * were interleaved */
	bool same_machine;	/* absolute costs may be compared */
	bool paired;		/* run i of both sides ran side by side */
};
#define JUDGE_DEFAULTS { \
	.alpha = 0.01, .suspect = 0.05, .margin = 0.01, .threshold = 0.03, \
	.single_threshold = 0.10, .total_threshold = 0.03, \
	.min_share = ESTIMATE_MIN_SHARE, .min_impact = 0.001, .same_machine = true }

/* How much a function's cost depends on the machine. */
enum judge_noise {
	JUDGE_STEADY,
	JUDGE_UNSTEADY,		/* never fails the check with one run per side */
	JUDGE_NOISE,		/* never fails the check */
};

/* Costs are in samples.  The sampling variance of a cost x is at most x. */
struct judge_input {
	size_t nbase, nnew;	/* number of runs, at least 1 each */
	size_t nfuncs;
	const double *cost;	/* [run * nfuncs + function], baseline runs first */
	const uint8_t *noise;	/* enum judge_noise by function; NULL: all steady */
	/* Totals and cost of unchanged functions, by run.  Give them if costs
	 * overlap (inclusive costs); they come from the costs that do not overlap.
	 * NULL if costs add up. */
	const double *totals, *reference;
	const bool *changed;	/* by function: the code is known to differ from
				 * the baseline's; NULL: unknown */
};

enum judge_status {
	JUDGE_SMALL,		/* too small to be tested alone */
	JUDGE_SAME,		/* no change found */
	JUDGE_SUSPECT,		/* possibly slower; more runs would decide */
	JUDGE_REGRESSED,
	JUDGE_IMPROVED,
	JUDGE_NEW,		/* absent from the baseline */
	JUDGE_REMOVED,		/* present in the baseline only */
};

struct judge_row {
	enum judge_status status;
	bool gates;		/* this status alone fails the check */
	bool absolute;		/* absolute cost was tested; for new and gone
				 * functions: for most others */
	bool paired;		/* runs made side by side were compared in pairs */
	bool bursty;		/* varies far more than functions of its size */
	double base, now;	/* mean cost of a run, samples */
	double share;		/* share of all runs' cost */
	double ratio, low, high;	/* estimate and 95 % confidence interval */
	struct log_change change;	/* of the measure that was tested */
	double p, q;		/* p-value for slower than 1 + margin; q: adjusted */
	double p_faster, q_faster;	/* p-value for faster than 1/(1 + margin);
					 * q: adjusted */
	double visible;		/* slowdown that four checks of five would find,
				 * 0.05 for 5 % */
};

struct judge_total {
	bool tested, gates, regressed, improved, paired;
	double base, now;	/* mean cost of a run, samples */
	double ratio, low, high, p, p_faster, visible;
	struct log_change change;
	double cv_base, cv_now;	/* coefficient of variation between runs; 0 for one
				 * run */
};

struct judge {
	struct judge_options o;
	size_t nfuncs, nbase, nnew;
	struct judge_row *rows;	/* nfuncs rows, then one for all small functions */
	size_t tested;		/* number of tested rows, including the last one if
				 * it was tested */
	struct judge_total total;
	bool single;		/* one run per side: the noise is assumed */
	bool absolute;		/* most rows were tested by their absolute cost */
	bool drifted;		/* the machine may have changed, so absolute costs
				 * of single functions mean nothing */
	bool ref_changed;	/* the reference changed by more than the machine can
				 * have: relative costs mean nothing */
	bool shifted;		/* most functions, by number and by weight, changed
				 * by the same ratio */
	double shift;		/* that common change, 0.04 for 4 % more */
	double kappa, tau;	/* noise of relative costs: sampling relative to
				 * chance; standard deviation beyond sampling */
	double *totals;		/* cost by run */
	double *reference;	/* cost of the unchanged functions by run */
	bool *in_reference;	/* by function */
	const double *cost;	/* costs of the input, borrowed */
	struct arrays arrays;	/* all others */
};

/* Judges the input, whose costs must outlive *out.  Returns 0 or -ERR_NOMEM, after
 * which *out is empty. */
int judge_run(const struct judge_input *in, const struct judge_options *o,
	      struct judge *out, struct error *err);
void judge_fini(struct judge *j);

/* The minimum detectable effect of a check as a whole.  It is the smallest
 * slowdown that four checks of five would find to be above the margin.  It covers
 * each function, and the total if the total can fail, and is expressed by what it
 * adds to a run. */
#define JUDGE_TOTAL SIZE_MAX
#define JUDGE_NOWHERE (SIZE_MAX - 1)	/* nothing was tested: mde is infinite */
struct judge_sensitivity {
	double mde;		/* share of a run, 0.05 for 5 % */
	size_t row;		/* function with this effect, or one of the
				 * constants above */
	size_t runs;		/* runs of the new side (and at least as many of
				 * the baseline) that would make `want` visible; 0:
				 * it already is, or no number of runs suffices */
};
/* Returns the sensitivity for the functions in `asked`; NULL: all functions. */
struct judge_sensitivity judge_sensitivity(const struct judge *j, const bool *asked,
					   double want);

/* An interim analysis of both sides while more runs may follow: see sequence.c. */
enum { JUDGE_LOOKS = 32 };
struct judge_look {
	size_t runs;		/* runs of each side so far */
	double alpha;		/* significance level of this look */
};
/* Fills `out`, which has room for JUDGE_LOOKS, with the looks of a check that finds
 * at least what `planned` runs of each side would find.  The last look has the most
 * runs: 1.6 times as many, or with a budget of time 6 times.  Returns the number of
 * looks; it is 1 if there are too few runs for a second one. */
size_t judge_looks(size_t planned, bool budget, double alpha,
		   struct judge_look *out);
/* Returns the likelihood ratio of a slowdown that `planned` runs would certainly find
 * in one of the functions in `asked` (NULL: all) or in the total. */
double judge_doubt(const struct judge *j, const bool *asked, size_t planned);
enum judge_step {
	JUDGE_MORE,		/* record more */
	JUDGE_CERTAIN,		/* nothing is slower */
	JUDGE_BLIND,		/* the most runs would not make `want` visible */
};
/* Returns what to do after a look that found no regression.  `want` is that of
 * judge_sensitivity; `most` is the number of runs at the last look. */
enum judge_step judge_step(const struct judge *j, const bool *asked, double want,
			   size_t planned, size_t most);

/* The total cost of some functions, measured in the way of the first one. */
struct judge_sum {
	double base, now, ratio;
	struct log_change change;
	double p;		/* p-value for more than 1 + margin */
};
/* Sums the cost of functions.  Returns 0 or -ERR_NOMEM. */
int judge_group(const struct judge *j, const size_t *funcs, size_t n,
		struct judge_sum *out);

#endif
