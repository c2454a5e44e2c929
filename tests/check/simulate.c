// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated runs of a program, judged by the code of `tally check`: how often it
 * alarms when nothing changed, and how often it finds what did.
 *
 *	simulate [--reps N] [--seed N] [--part aa,ab,shift,total,single,many,looks,pairs]
 *
 * A run of 200 functions costs share x effect x machine x own noise, and takes
 * multinomial samples; two functions burst as interrupts do.  Each setting is of
 * one of five machines (quiet, ci, bad, rebuild, phases: see `noises`).  Equal seeds give
 * equal output.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/judge.h"
#include "random.h"

enum { FUNCS = 200, TARGETS = 4, BURSTY = 20, RUNS_MAX = 40,
       EVERYTHING = FUNCS + 1 };

struct noise {
	const char *name;
	double common;	/* of the machine, each run */
	double drift;	/* … shared by the runs of a block */
	double spike;	/* probability of 10 to 20 % more */
	double tau;	/* of a function, each run */
	double phase;	/* of a function, shared by the runs of a block */
	double build;	/* of a function, each build: layout */
	bool user;	/* without the bursty functions */
};

static const struct noise noises[] = {
	{ "quiet", 0.005, 0, 0, 0.005, 0, 0, false },
	{ "ci", 0.027, 0.02, 0.05, 0.010, 0, 0, false },
	{ "bad", 0.05, 0.05, 0.10, 0.025, 0, 0, false },
	{ "rebuild", 0.027, 0.02, 0.05, 0.010, 0, 0.01, false },
	{ "quiet/user", 0.005, 0, 0, 0.005, 0, 0, true },
	{ "ci/user", 0.027, 0.02, 0.05, 0.010, 0, 0, true },
	{ "bad/user", 0.05, 0.05, 0.10, 0.025, 0, 0, true },
	{ "rebuild/user", 0.027, 0.02, 0.05, 0.010, 0, 0.01, true },
	{ "phases", 0.01, 0.05, 0, 0.010, 0.03, 0, false },
};

static const char *const target_names[] = { "f50", "f10", "f2", "f05" };
static const double target_shares[] = { 0.50, 0.10, 0.02, 0.005 };

struct setting {
	const struct noise *noise;
	size_t nbase, nnew;
	double samples;		/* of a run */
	int target;		/* function that changes, -1: none */
	double effect;		/* 0.1: 10 % slower */
	double machine;		/* all of the new side: 0.08 is 8 % slower */
	bool paired;		/* judge runs of a block in pairs */
};

struct options {
	size_t reps;
	uint64_t seed;
	const char *parts;
	double alpha;
};

/* Percentages of all checks. */
struct outcome {
	double hit;		/* the target was named */
	double wrong;		/* another function was */
	double covered;		/* intervals of tested functions that hold
				 * the truth */
	double total;		/* the total regressed */
};

static const struct noise *noise_named(const char *name)
{
	for (size_t i = 0; i < sizeof(noises) / sizeof(noises[0]); i++)
		if (!strcmp(noises[i].name, name))
			return &noises[i];
	return NULL;
}

/* Four targets, and a tail that holds the rest of the time. */
static void make_shares(double *share)
{
	double sum = 0, rest = 1;

	for (int i = 0; i < TARGETS; i++) {
		share[i] = target_shares[i];
		rest -= share[i];
	}
	for (int i = TARGETS; i < FUNCS; i++) {
		share[i] = 1 / pow(3 + i - TARGETS, 1.1);
		sum += share[i];
	}
	for (int i = TARGETS; i < FUNCS; i++)
		share[i] *= rest / sum;
}

static void sample_run(struct rng *g, const double *time, double samples,
		       double *count)
{
	double all = 0, left;
	uint64_t n;

	for (int f = 0; f < FUNCS; f++)
		all += time[f];
	n = (uint64_t)llround(samples * all);
	left = all;
	for (int f = 0; f < FUNCS; f++) {
		double p = left > 0 ? time[f] / left : 0;
		uint64_t k = f == FUNCS - 1 || p >= 1
				     ? n : rng_binomial(g, n, p);

		count[f] = (double)k;
		n -= k;
		left -= time[f];
	}
}

static void simulate(struct rng *g, const struct setting *s,
		     const double *share, double *cost, double *quality)
{
	double tau[FUNCS], build[FUNCS], drift[RUNS_MAX], time[FUNCS];
	static double phase[RUNS_MAX * FUNCS];
	const struct noise *n = s->noise;

	for (int f = 0; f < FUNCS; f++) {
		tau[f] = n->tau * exp(0.5 * rng_normal(g));
		build[f] = n->build > 0 ? exp(n->build * rng_normal(g)) : 1;
		quality[f] = (f == s->target ? 1 + s->effect : 1) *
			   (1 + s->machine);
	}
	for (int r = 0; r < RUNS_MAX; r++)
		drift[r] = exp(n->drift * rng_normal(g));
	for (size_t i = 0; i < RUNS_MAX * FUNCS && n->phase > 0; i++)
		phase[i] = exp(n->phase * rng_normal(g));
	for (size_t r = 0; r < s->nbase + s->nnew; r++) {
		bool new = r >= s->nbase;
		size_t block = new ? r - s->nbase : r;
		double c = drift[block] * exp(n->common * rng_normal(g));

		if (rng_uniform(g) < n->spike)
			c *= 1.1 + 0.1 * rng_uniform(g);
		for (int f = 0; f < FUNCS; f++) {
			double e = exp(tau[f] * rng_normal(g));

			if (n->phase > 0)
				e *= phase[block * FUNCS + (size_t)f];
			if (!n->user && (f == BURSTY || f == BURSTY + 1))
				e *= 4 * rng_gamma(g, 0.25);
			time[f] = share[f] * c * e *
				  (new ? quality[f] * build[f] : 1);
		}
		sample_run(g, time, s->samples, cost + r * FUNCS);
	}
}

static struct outcome try_setting(const struct options *o,
				  const struct setting *s, size_t reps)
{
	static double share[FUNCS], cost[2 * RUNS_MAX * FUNCS], quality[FUNCS];
	struct rng g = rng_seed(o->seed);
	struct judge_options jo = JUDGE_DEFAULTS;
	struct outcome out = { 0, 0, 0, 0 };
	double tested = 0;

	jo.alpha = o->alpha;
	jo.paired = s->paired;
	make_shares(share);
	for (size_t i = 0; i < reps; i++) {
		struct judge_input in = { s->nbase, s->nnew, FUNCS, cost,
					  NULL, NULL, NULL, NULL };
		struct judge j;
		bool wrong = false;

		simulate(&g, s, share, cost, quality);
		if (judge_run(&in, &jo, &j, NULL) < 0)
			exit(2);
		for (int f = 0; f <= FUNCS; f++) {
			const struct judge_row *row = &j.rows[f];
			double t;

			if (f == s->target)
				out.hit += row->status == JUDGE_REGRESSED;
			else
				wrong |= row->status == JUDGE_REGRESSED;
			if (f == FUNCS || !(row->change.se > 0) || row->bursty)
				continue;
			/* a relative cost has no machine in it */
			t = quality[f] / (row->absolute ? 1 : 1 + s->machine);
			out.covered += row->low <= t && t <= row->high;
			tested++;
		}
		out.wrong += wrong;
		out.total += j.total.regressed;
		judge_fini(&j);
	}
	out.hit *= 100.0 / (double)reps;
	out.wrong *= 100.0 / (double)reps;
	out.total *= 100.0 / (double)reps;
	out.covered *= 100.0 / tested;
	return out;
}

static void part_aa(const struct options *o)
{
	static const struct {
		const char *noise;
		size_t runs;
		double samples;
	} cells[] = { { "quiet", 5, 5000 }, { "ci", 3, 1000 },
		      { "ci", 5, 1000 }, { "ci", 5, 5000 },
		      { "ci", 10, 20000 }, { "bad", 5, 5000 },
		      { "bad", 10, 20000 }, { "rebuild", 5, 5000 },
		      { "rebuild", 10, 20000 } };

	printf("# A/A: %% of checks that name a function; intervals that hold "
	       "the truth\n");
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		struct setting s = { noise_named(cells[i].noise),
				     cells[i].runs, cells[i].runs,
				     cells[i].samples, -1, 0, 0, false };
		struct outcome r = try_setting(o, &s, o->reps);

		printf("%-8s %2zux%-3.0fk  alarms %4.1f  intervals %5.1f\n",
		       cells[i].noise, s.nbase, s.samples / 1000, r.wrong,
		       r.covered);
	}
}

static void part_ab(const struct options *o)
{
	static const struct {
		const char *noise;
		size_t runs;
		double samples;
	} cells[] = { { "ci", 5, 5000 }, { "ci", 10, 5000 },
		      { "ci", 10, 20000 }, { "ci", 20, 20000 },
		      { "quiet", 5, 20000 } };
	static const double effects[] = { 0.02, 0.03, 0.05, 0.10 };

	printf("# A/B: %% of checks that name the slowed function (another "
	       "one)\n%-15s", "");
	for (int t = 0; t < TARGETS; t++)
		for (int e = 0; e < 4; e++)
			printf(" %4s+%02.0f%%", target_names[t],
			       100 * effects[e]);
	printf("\n");
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		printf("%-8s %2zux%-3.0fk", cells[i].noise, cells[i].runs,
		       cells[i].samples / 1000);
		for (int t = 0; t < TARGETS; t++)
			for (int e = 0; e < 4; e++) {
				struct setting s = {
					noise_named(cells[i].noise),
					cells[i].runs, cells[i].runs,
					cells[i].samples, t, effects[e], 0, false };
				struct outcome r = try_setting(o, &s,
						(o->reps + 2) / 3);
				char text[16];

				snprintf(text, sizeof(text), "%.0f(%.0f)",
					 r.hit, r.wrong);
				printf(" %8s", text);
			}
		printf("\n");
	}
}

static void part_shift(const struct options *o)
{
	static const struct {
		const char *title, *noise;
		size_t runs;
		double samples;
		int target;
		double effect, machine;
	} cells[] = {
		{ "all +8%", "quiet", 5, 5000, -1, 0, 0.08 },
		{ "all +8%", "quiet", 10, 20000, -1, 0, 0.08 },
		{ "all +8%", "ci", 5, 5000, -1, 0, 0.08 },
		{ "all +8%", "ci", 10, 20000, -1, 0, 0.08 },
		{ "all +5%", "ci", 10, 5000, -1, 0, 0.05 },
		{ "f50 -20%", "ci", 5, 5000, 0, -0.2, 0 },
		{ "f50 -20%", "ci", 10, 20000, 0, -0.2, 0 },
		{ "f50 -20%", "quiet", 10, 20000, 0, -0.2, 0 },
		{ "all +8%, f10 +10%", "ci", 10, 20000, 1, 0.1, 0.08 },
		{ "all +8%, f10 +10%", "quiet", 10, 20000, 1, 0.1, 0.08 },
		{ "all -8%, f10 +10%", "quiet", 10, 20000, 1, 0.1, -0.08 },
	};

	printf("# machine or large function changed: %% of checks that name "
	       "the target, another one\n");
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		struct setting s = { noise_named(cells[i].noise),
				     cells[i].runs, cells[i].runs,
				     cells[i].samples, cells[i].target,
				     cells[i].effect, cells[i].machine, false };
		struct outcome r = try_setting(o, &s, o->reps);

		printf("%-18s %-8s %2zux%-3.0fk target %5.1f  wrong %4.1f\n",
		       cells[i].title, cells[i].noise, s.nbase,
		       s.samples / 1000, r.hit, r.wrong);
	}
}

static void part_total(const struct options *o)
{
	static const char *const names[] = { "quiet/user", "ci/user",
					     "bad/user" };
	static const size_t runs[] = { 3, 5, 10, 20 };
	static const double effects[] = { 0, 0.05, 0.10, 0.20 };

	printf("# total: %% of checks in which it regressed (not paired)\n");
	for (int n = 0; n < 3; n++)
		for (int k = 0; k < 4; k++) {
			printf("%-10s %2zu runs ", names[n], runs[k]);
			for (int e = 0; e < 4; e++) {
				struct setting s = { noise_named(names[n]),
					runs[k], runs[k], 5000, -1, 0,
					effects[e], false };

				printf(" +%.0f%%: %3.0f", 100 * effects[e],
				       try_setting(o, &s, o->reps).total);
			}
			printf("\n");
		}
}

static void part_single(const struct options *o)
{
	static const struct {
		int target;
		double effect;
	} cases[] = { { 0, 0.1 }, { 0, 0.2 }, { 1, 0.2 }, { 2, 0.3 },
		      { 2, 1.0 } };

	printf("# one run a side: %% alarms, then %% that name the target\n");
	for (size_t i = 4; i < 8; i++)
		for (double n = 1000; n <= 20000; n *= n < 5000 ? 5 : 4) {
			struct setting s = { &noises[i], 1, 1, n, -1, 0, 0, false };

			printf("%-12s %2.0fk alarms %4.1f ", noises[i].name,
			       n / 1000, try_setting(o, &s, o->reps).wrong);
			for (int k = 0; k < 5; k++) {
				s.target = cases[k].target;
				s.effect = cases[k].effect;
				printf(" %s+%.0f%%: %3.0f",
				       target_names[s.target],
				       100 * s.effect,
				       try_setting(o, &s, (o->reps + 3) / 4)
					       .hit);
			}
			printf("\n");
		}
}

/* A case of part_looks. */
struct looks_cell {
	const char *noise;
	double samples;
	int target;
	double effect, machine;
};

struct looks_result {
	double hit, wrong, runs;	/* percentages of checks; mean runs a side */
};

static bool named(const struct judge *j, int target, bool *other)
{
	bool hit = target == EVERYTHING && j->total.gates;

	*other = target < 0 && j->total.gates;
	for (int f = 0; f <= FUNCS; f++) {
		if (f == target)
			hit = j->rows[f].gates;
		else
			*other |= j->rows[f].gates;
	}
	return hit;
}

/* Judges the first r of 40 runs of each side. */
static struct judge judge_first(const double *cost, size_t r, double alpha,
				double whole)
{
	static double part[2 * RUNS_MAX * FUNCS];
	struct judge_input in = { r, r, FUNCS, part, NULL, NULL, NULL, NULL };
	struct judge_options jo = JUDGE_DEFAULTS;
	struct judge j;

	jo.alpha = alpha;
	jo.whole_alpha = whole;
	jo.paired = true;
	memcpy(part, cost, r * FUNCS * sizeof(*cost));
	memcpy(part + r * FUNCS, cost + RUNS_MAX / 2 * FUNCS,
	       r * FUNCS * sizeof(*cost));
	if (judge_run(&in, &jo, &j, NULL) < 0)
		exit(2);
	return j;
}

/* One check as `tally check --run` makes it (out[0]), and one of ten runs (out[1]). */
static void look_once(const struct options *o, const double *cost, int target,
		      struct looks_result out[2])
{
	struct judge_look looks[JUDGE_LOOKS];
	size_t n = judge_looks(10, false, o->alpha, looks);
	bool asked[FUNCS], hit = false, other = false;
	struct judge j;

	for (int f = 0; f < FUNCS; f++)
		asked[f] = f != BURSTY && f != BURSTY + 1;
	for (size_t i = 0; i < n; i++) {
		enum judge_step step;

		j = judge_first(cost, looks[i].runs, looks[i].alpha, o->alpha);
		hit = named(&j, target, &other);
		step = judge_step(&j, asked, 0.1, 10, looks[n - 1].runs);
		judge_fini(&j);
		if (!hit && !other && step == JUDGE_MORE && i + 1 < n)
			continue;
		out[0].runs += (double)looks[i].runs;
		break;
	}
	out[0].hit += hit;
	out[0].wrong += other;
	j = judge_first(cost, 10, o->alpha, 0);
	out[1].hit += named(&j, target, &other);
	out[1].wrong += other;
	judge_fini(&j);
}

/* Runs until a look is sure, and beside it checks of ten.  Target EVERYTHING: all is
 * slower. */
static void part_looks(const struct options *o)
{
	static const struct looks_cell cells[] = {
		{ "quiet", 5000, -1, 0, 0 }, { "quiet", 20000, -1, 0, 0 },
		{ "ci", 5000, -1, 0, 0 }, { "ci", 20000, -1, 0, 0 },
		{ "phases", 5000, -1, 0, 0 }, { "bad", 5000, -1, 0, 0 },
		{ "quiet", 5000, 0, 0.05, 0 }, { "quiet", 5000, 1, 0.10, 0 },
		{ "quiet", 5000, 1, 0.20, 0 }, { "quiet", 20000, 1, 0.10, 0 },
		{ "quiet", 20000, 2, 0.20, 0 },
		{ "ci", 5000, 0, 0.10, 0 }, { "ci", 5000, 0, 0.20, 0 },
		{ "ci", 5000, 1, 0.10, 0 }, { "ci", 5000, 1, 0.20, 0 },
		{ "ci", 20000, 0, 0.05, 0 }, { "ci", 20000, 0, 0.10, 0 },
		{ "ci", 20000, 1, 0.05, 0 }, { "ci", 20000, 1, 0.10, 0 },
		{ "ci", 20000, 1, 0.20, 0 }, { "ci", 20000, 2, 0.10, 0 },
		{ "ci", 20000, 2, 0.20, 0 }, { "ci", 20000, 2, 0.50, 0 },
		{ "phases", 20000, 0, 0.10, 0 }, { "phases", 20000, 1, 0.20, 0 },
		{ "bad", 20000, 0, 0.20, 0 }, { "bad", 20000, 1, 0.20, 0 },
		{ "quiet", 5000, EVERYTHING, 0, 0.05 }, { "ci", 5000, FUNCS, 0, 0.10 },
	};
	static double share[FUNCS], cost[2 * RUNS_MAX * FUNCS], quality[FUNCS];
	double mean[2] = { 0, 0 }, n[2] = { 0, 0 }, gain = 0;

	printf("# looks: %% that name the target, another one; runs a side; "
	       "10 runs at once\n");
	make_shares(share);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		const struct looks_cell *c = &cells[i];
		bool slower = c->target >= 0;
		struct setting s = { noise_named(c->noise), RUNS_MAX / 2,
				     RUNS_MAX / 2, c->samples, c->target,
				     c->effect, c->machine, true };
		struct rng g = rng_seed(o->seed);
		struct looks_result r[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
		/* rare alarms need more checks */
		size_t reps = slower ? o->reps : 3 * o->reps;
		double percent = 100 / (double)reps;

		for (size_t k = 0; k < reps; k++) {
			simulate(&g, &s, share, cost, quality);
			look_once(o, cost, c->target, r);
		}
		printf("%-6s %2.0fk %-4s +%2.0f%%: target %5.1f wrong %4.1f runs "
		       "%4.1f; at once: target %5.1f wrong %4.1f\n", c->noise,
		       c->samples / 1000, !slower ? "none" : c->target == EVERYTHING
		       ? "all" : target_names[c->target],
		       100 * (c->effect + c->machine), percent * r[0].hit,
		       percent * r[0].wrong, r[0].runs / (double)reps,
		       percent * r[1].hit, percent * r[1].wrong);
		fflush(stdout);
		mean[slower] += r[0].runs / (double)reps;
		gain += slower ? percent * (r[0].hit - r[1].hit) : 0;
		n[slower]++;
	}
	printf("means: identical %.1f runs, slower %.1f runs, named %+.1f %% more "
	       "than by 10\n", mean[0] / n[0], mean[1] / n[1], gain / n[1]);
}

/* Runs side by side, compared in pairs and without. */
static void part_pairs(const struct options *o)
{
	static const char *const names[] = { "quiet", "ci", "bad", "phases" };
	static const size_t runs[] = { 3, 5, 10 };
	static const double effects[] = { 0.05, 0.10 };

	printf("# pairs: alarms (intervals that hold the truth), then %% that name "
	       "the target; in pairs / without\n");
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 3; k++) {
			struct setting s = { noise_named(names[i]), runs[k],
					     runs[k], 20000, -1, 0, 0, false };
			struct outcome r[2];

			for (int p = 0; p < 2; p++) {
				s.paired = !p;
				r[p] = try_setting(o, &s, o->reps);
			}
			printf("%-6s %2zu alarms %4.1f (%4.1f) / %4.1f (%4.1f)",
			       names[i], runs[k], r[0].wrong, r[0].covered,
			       r[1].wrong, r[1].covered);
			for (int t = 0; t < 3; t++)
				for (int e = 0; e < 2; e++) {
					s.target = t;
					s.effect = effects[e];
					for (int p = 0; p < 2; p++) {
						s.paired = !p;
						r[p] = try_setting(o, &s,
							(o->reps + 2) / 3);
					}
					printf("  %s+%.0f%% %3.0f/%3.0f",
					       target_names[t], 100 * effects[e],
					       r[0].hit, r[1].hit);
				}
			printf("\n");
			fflush(stdout);
		}
}

static void part_many(const struct options *o)
{
	static const struct {
		int target;
		double effect;
	} cases[] = { { 0, 0.1 }, { 0, 0.2 }, { 1, 0.2 }, { 2, 0.5 } };
	static const char *const names[] = { "ci", "bad" };

	printf("# ten baseline runs: %% alarms, then %% that name the "
	       "target\n");
	for (int i = 0; i < 2; i++)
		for (size_t new = 1; new <= 3; new += 2)
			for (double n = 5000; n <= 20000; n *= 4) {
				struct setting s = { noise_named(names[i]),
						     10, new, n, -1, 0, 0, false };

				printf("%-4s 10 vs %zu %2.0fk alarms %4.1f ",
				       names[i], new, n / 1000,
				       try_setting(o, &s, o->reps).wrong);
				for (int k = 0; k < 4; k++) {
					s.target = cases[k].target;
					s.effect = cases[k].effect;
					printf(" %s+%.0f%%: %3.0f",
					       target_names[s.target],
					       100 * s.effect,
					       try_setting(o, &s, (o->reps + 3)
							   / 4).hit);
				}
				printf("\n");
			}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const struct options *o);
	} parts[] = { { "aa", part_aa }, { "ab", part_ab },
		      { "shift", part_shift }, { "total", part_total },
		      { "single", part_single }, { "many", part_many },
		    { "looks", part_looks }, { "pairs", part_pairs } };
	struct options o = { 400, 1,
			     "aa,ab,shift,total,single,many,looks,pairs",
			     0.01 };

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--reps"))
			o.reps = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--seed"))
			o.seed = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--alpha"))
			o.alpha = strtod(argv[i + 1], NULL);
		else if (!strcmp(argv[i], "--part"))
			o.parts = argv[i + 1];
	}
	if (!o.reps)
		return 2;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(o.parts, parts[i].name)) {
			parts[i].run(&o);
			fflush(stdout);
		}
	return 0;
}
