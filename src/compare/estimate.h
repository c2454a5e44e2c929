/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_ESTIMATE_H
#define TALLY_COMPARE_ESTIMATE_H
/*
 * How much did costs change between an old and a new side, and how certain is that?
 * `tally diff`, `check` and `history` all take their answers from here, and draw their
 * own conclusions from an estimate (significance, verdicts, machines of varying speed).
 *
 * The cost of a function in a run varies by sampling and from run to run:
 *
 *	struct run_costs c;
 *	run_costs_init(&c, nfuncs, nold, nnew);
 *	c.prior = number of leading functions that are no sums of others;
 *	run_costs_of(&c, f)[run] = cost; c.v0[f] = sampling_variance(…);
 *	run_costs_estimate(&c);
 *	log_change_ratio(&c.change[f], &ratio, &low, &high);
 *
 * The variance of a few runs is uncertain, but there are many functions.  Each
 * function's variance is shrunk towards the value predicted from sampling and a
 * common spread between runs (Smyth 2004, "Linear models and empirical Bayes
 * methods", §6).
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/arrays.h"
#include "base/stats.h"

/* Functions below either limit are too small for an estimate of their own, and say
 * nothing about the noise of others. */
#define ESTIMATE_MIN_SHARE 0.004	/* of all cost: cost_share */
enum { ESTIMATE_MIN_SAMPLES = 20 };	/* of both sides together */

/* Standard deviation between runs that is assumed if it cannot be measured, that is,
 * with one run on each side. */
#define ASSUMED_TAU 0.02

/* Returns the share of two sums of all cost; both sides count alike, whatever their
 * numbers of runs. */
double cost_share(const double sum[2], const double all[2]);
/* Returns the relative variance that sampling adds to one run's cost, for samples that
 * a timer distributes over all functions.  `mean` is each side's number of samples per
 * run. */
double sampling_variance(const double mean[2], size_t nold, size_t nnew,
			 double share);
/*
 * Returns the variance that counting whole samples adds to the log ratio of two costs.
 * `mean` is each side's number of samples per run.  The timer of a run starts with the
 * run, so runs that cost the same are all cut off at the same sample and do not differ.
 * Each side's cost lies anywhere within a sample, however many runs it has.
 */
double counting_variance(const double mean[2]);
/* Returns how many times as many samples of weights with this sum and sum of squares
 * are needed for the information of `n` equal ones. */
double weight_spread(double n, double sum, double squares);

/* The logarithm of new cost / old cost. */
struct log_change {
	double log_ratio, se, df;
};
/* Returns the ratio and its 95 % confidence interval. */
void log_change_ratio(const struct log_change *c, double *ratio, double *low,
		      double *high);
/* Returns the p-value of "the new side costs at most 1 + margin times as much", or if
 * `faster` "the old side costs at most 1 + margin times as much". */
double log_change_p(const struct log_change *c, double margin, bool faster);
/* Returns the log ratio that a test at level alpha finds to be above 1 + margin in four
 * of five cases. */
double log_change_visible(const struct log_change *c, double alpha, double margin);
/* Returns the increase (0.05: 5 %) that is found in four of five cases by such a test
 * that also requires an estimate of at least `least`. */
double log_change_detectable(const struct log_change *c, double alpha, double margin,
			     double least);

/*
 * Compares the costs of whole runs, whose noise comes from the machine: it is known
 * only from the spread between runs, never from the number of samples.  Uses Welch's
 * test on logarithms; a side with one run has the other's spread.  `logs` are those of
 * the costs, the old side's first; both sides together have at least three.  If
 * `paired`, run i of both sides ran side by side, and both have more than one.
 */
struct log_change totals_change(const double *logs, size_t nold, size_t nnew,
				bool paired);

/* Costs of n functions in each run, and their changes. */
struct run_costs {
	size_t n, nold, nnew;
	size_t prior;		/* number of leading functions that determine the
				 * prior; the others are sums of functions */
	bool paired;		/* run i of both sides ran side by side: what both
				 * runs of a pair have in common is no noise; needs
				 * nold == nnew > 1 */
	double *y;		/* [function * (nold + nnew) + run], old runs first */
	double *v0;		/* by function: relative sampling variance of one
				 * run, for independent samples */
	/* results of run_costs_estimate, by function */
	struct log_change *change;
	double *v;		/* own variance, relative */
	bool *bursty;		/* varies far more than functions of its size */
	double kappa, tau2;	/* noise: sampling relative to independent samples;
				 * variance beyond sampling */
	struct stats_weighted *tmp;	/* room for n */
	struct arrays arrays;
};

/* Costs are 0 and all functions determine the prior.  Returns 0 or -ERR_NOMEM; call
 * run_costs_fini in both cases. */
int run_costs_init(struct run_costs *c, size_t n, size_t nold, size_t nnew);
void run_costs_fini(struct run_costs *c);

static inline double *run_costs_of(const struct run_costs *c, size_t f)
{
	return c->y + f * (c->nold + c->nnew);
}
void run_costs_estimate(struct run_costs *c);
/* Returns the variance between runs beyond sampling that all functions have in common,
 * like tau2 but without kappa. */
double run_costs_tau2(struct run_costs *c);
/* Sets `bursty` of functions in `use` whose variance is `times` what the functions in
 * `use` predict.  It looks at each side alone, so changes do not matter. */
void run_costs_bursty(struct run_costs *c, const bool *use, double times);

/* A change in the cost's unit. */
struct cost_change {
	double cost[2];
	/* new - old, and its 95 % confidence interval */
	double change, low, high;
	/* p-value of no change; q: p adjusted for all that were tested together */
	double p, q;
	bool tested;		/* enough samples for a test */
	bool real;		/* significant: q is at most 0.05 */
};
/* What a change is computed from.  Indices: old, new. */
struct cost_pair {
	double count[2], cost[2];
	double unit[2];		/* cost of one sample */
	/* standard error relative to that of Poisson counts */
	double wide[2];
	double df, t;		/* t: quantile of 97.5 % (change_quantile) */
};
/* Returns the quantile of 97.5 %, which takes a while; many costs have the same df. */
double change_quantile(double df);
/*
 * The interval of each side's cost is that of a Poisson count, widened.  It is a score
 * interval, which holds for few samples, too.  The interval of the difference combines
 * both by the method of variance estimates recovery (Zou and Donner 2008,
 * "Construction of confidence limits about effect measures").  p belongs to that
 * interval.
 */
void cost_change_set(struct cost_change *to, const struct cost_pair *from);
/* Adjusts p of `n` changes that are tested at once, and decides which are significant
 * (Benjamini and Hochberg 1995).  They are `stride` apart.  Returns the number of
 * tested ones, or -ERR_NOMEM. */
long cost_changes_adjust(struct cost_change *v, size_t n, size_t stride);

#endif
