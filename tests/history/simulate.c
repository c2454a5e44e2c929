// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated histories of a program, judged by the code of `tally history` and
 * `tally check --history`: how often they alarm where nothing changed, and how often
 * and how well they find what did.
 *
 *	simulate [--reps N] [--seed N] [--part batch,change,models,drift]
 *
 * A program of 200 functions, three runs of 8,000 samples for each commit.  Beside
 * sampling, a function's cost varies by 1 % within a batch and 0.7 % between
 * batches (its own size for each), one in five follows how busy the machine is, the
 * machine is 4 % faster or slower each batch, and each build moves one function in
 * ten by 1 %.  Equal seeds give equal output.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/changes.h"
#include "history/verdict.h"
#include "random.h"

enum { FUNCS = 200, BIG = 3, RUNS = 3, SAMPLES = 8000, COMMITS_MAX = 600 };

static const double big[BIG] = { 0.25, 0.08, 0.02 };
static const double effects[] = { 0.05, 0.10, 0.20 };

struct program {
	double share[FUNCS], within[FUNCS], between[FUNCS], load[FUNCS];
	double state[FUNCS], busy;
	struct rng r;
};

/* A function that costs `ratio` times as much from commit `at` on. */
struct effect {
	int func;
	double ratio;
	size_t at;
	size_t ramp;		/* 0: at once, else over so many commits */
	size_t second;		/* commit that makes it as much slower again; 0: none */
};

static void die(const char *what)
{
	fprintf(stderr, "simulate: %s\n", what);
	exit(1);
}

static struct program make_program(uint64_t seed)
{
	struct program p = { .r = rng_seed(seed) };
	double tail = 0, rest = 1;

	for (int f = 0; f < FUNCS; f++)
		p.share[f] = f < BIG ? big[f] : pow(f, -1.1);
	for (int f = 0; f < FUNCS; f++)
		*(f < BIG ? &rest : &tail) += f < BIG ? -p.share[f] : p.share[f];
	for (int f = 0; f < FUNCS; f++) {
		if (f >= BIG)
			p.share[f] *= rest / tail;
		p.within[f] = 0.010 * exp(0.65 * rng_normal(&p.r));
		p.between[f] = 0.007 * exp(0.65 * rng_normal(&p.r));
		p.load[f] = rng_uniform(&p.r) < 0.2
				    ? 0.015 * rng_normal(&p.r) : 0;
		p.state[f] = 0.01 * rng_normal(&p.r);
	}
	p.busy = rng_normal(&p.r);
	return p;
}

static double effect_of(const struct effect *e, int f, size_t commit)
{
	double part;

	if (!e || e->func != f || commit < e->at)
		return 0;
	part = e->ramp ? (double)(commit - e->at + 1) / (double)e->ramp : 1;
	part = part < 1 ? part : 1;
	return log(e->ratio) * (part + (e->second && commit >= e->second));
}

static uint32_t function(struct history *h, int f)
{
	struct history_func fn = { .image = strtab_add(&h->str, "program") };
	char name[16];

	snprintf(name, sizeof(name), "f%d", f);
	fn.name = strtab_add(&h->str, name);
	return history_func(h, &fn);
}

/* A batch of the commit; `rebuild`: of a new build. */
static void add_batch(struct history *h, struct program *p, size_t commit,
		      const char *cpu, const struct effect *e, bool rebuild)
{
	struct batch b = { .per_sample = 1e6, .first_ended = UINT32_MAX,
			   .is_time = true, .runs = RUNS,
			   .time = (int64_t)commit + 1, .n = FUNCS,
			   .first = (uint32_t)h->costs.n };
	double x[FUNCS], speed[RUNS], all = 0.04 * rng_normal(&p->r);
	char name[16];

	snprintf(name, sizeof(name), "c%zu", commit);
	b.commit = strtab_add(&h->str, name);
	b.benchmark = strtab_add(&h->str, "default");
	b.cpu = strtab_add(&h->str, cpu);
	b.recorded = (int64_t)h->batches.n + 1;
	for (int r = 0; r < RUNS; r++)
		speed[r] = all + 0.02 * rng_normal(&p->r);
	p->busy = 0.4 * p->busy + sqrt(0.84) * rng_normal(&p->r);
	for (int f = 0; f < FUNCS; f++) {
		if (rebuild && rng_uniform(&p->r) < 0.1)
			p->state[f] = 0.01 * rng_normal(&p->r);
		x[f] = p->state[f] + p->load[f] * p->busy +
		       p->between[f] * rng_normal(&p->r) +
		       effect_of(e, f, commit);
	}
	for (int f = 0; f < FUNCS; f++) {
		struct history_cost c = { function(h, f), (uint32_t)h->counts.n };

		for (int r = 0; r < RUNS; r++) {
			double m = SAMPLES * p->share[f] *
				   exp(x[f] + speed[r] +
				       p->within[f] * rng_normal(&p->r));

			if (vec_push(&h->counts, (double)rng_binomial(
					&p->r, 100000, m / 100000)) < 0)
				die("out of memory");
		}
		if (vec_push(&h->costs, c) < 0)
			die("out of memory");
	}
	memcpy(b.hash, &b.recorded, sizeof(b.recorded));
	if (vec_push(&h->batches, b) < 0)
		die("out of memory");
}

static struct history make_history(void)
{
	struct history h;

	if (history_init(&h, NULL) < 0)
		die("out of memory");
	return h;
}

static struct verdict reach(struct history *h, size_t stored, size_t fresh)
{
	struct verdict_options o = verdict_defaults();
	uint32_t id[COMMITS_MAX];
	struct verdict v;

	for (uint32_t i = 0; i < stored + fresh; i++)
		id[i] = i;
	if (verdict_reach(h, id, stored, id + stored, fresh, &o, &v, NULL) < 0)
		die("no verdict");
	return v;
}

/* Whether f was named, and how many others were. */
static bool named(const struct history *h, const struct verdict *v, int f,
		  size_t *others)
{
	bool found = false;

	for (size_t i = 0; i < v->rows.n; i++) {
		const char *name = history_str(h, h->funcs.v[v->rows.v[i].func]
							  .name);

		if (v->rows.v[i].status != VERDICT_SLOWER)
			continue;
		if (f >= 0 && atoi(name + 1) == f)
			found = true;
		else
			++*others;
	}
	*others += v->total.slower && f < 0;
	return found;
}

/* A commit's verdict by its batches, recorded again while there are suspects; the
 * history keeps the first.  `again` counts those recorded beyond it. */
static bool judge_commit(struct history *h, struct program *p, size_t commit,
			 const char *cpu, const struct effect *e, int f,
			 size_t *wrong, size_t *again)
{
	size_t stored = h->batches.n, more = 0;
	struct verdict v;
	bool hit;

	add_batch(h, p, commit, cpu, e, true);
	v = reach(h, stored, 1);
	while (v.suspects || (v.slower && !more)) {
		verdict_fini(&v);
		add_batch(h, p, commit, cpu, e, false);
		v = reach(h, stored, 2 + more++);
	}
	hit = named(h, &v, f, wrong);
	verdict_fini(&v);
	h->batches.n = stored + 1;
	*again += more;
	return hit;
}

/* Twenty stored batches, then two commits, both of which are slower. */
static void part_batch(size_t reps, uint64_t seed)
{
	printf("## batch: 20 stored, then two commits; more batches where the "
	       "first leaves a doubt\n%-12s %8s %8s %8s %8s\n", "slower",
	       "first", "by 2nd", "wrong", "again");
	for (int k = -1; k < 9; k++) {
		int f = k < 0 ? -1 : k / 3;
		size_t first = 0, second = 0, wrong = 0, again = 0;
		char name[32] = "nothing";

		if (k >= 0)
			snprintf(name, sizeof(name), "f%.0f%% +%.0f%%",
				 100 * big[f], 100 * effects[k % 3]);
		for (size_t i = 0; i < reps; i++) {
			struct program p = make_program(seed + i * 100 +
							(uint64_t)(k + 1));
			struct effect e = { f, k < 0 ? 1 : 1 + effects[k % 3],
					    20, 0, 0 };
			struct history h = make_history();
			size_t other = 0, of = 0;
			bool hit;

			for (size_t c = 0; c < 20; c++)
				add_batch(&h, &p, c, "cpu", &e, true);
			hit = judge_commit(&h, &p, 20, "cpu", &e, f, &other,
					   &of);
			first += hit;
			hit |= judge_commit(&h, &p, 21, "cpu", &e, f, &other,
					    &of);
			second += hit;
			wrong += other > 0;
			again += of;
			history_fini(&h);
		}
		printf("%-12s %7.1f%% %7.1f%% %7.2f%% %8.2f\n", name,
		       100.0 * (double)first / (double)reps,
		       100.0 * (double)second / (double)reps,
		       100.0 * (double)wrong / (double)reps,
		       (double)again / (double)reps / 2);
	}
}

static struct changes find(struct history *h, struct cost_series *s)
{
	uint32_t id[COMMITS_MAX];
	struct changes c = { .v = { 0 } };

	for (uint32_t i = 0; i < h->batches.n; i++)
		id[i] = i;
	if (series_build(h, id, h->batches.n, 0, 0.004, s, NULL) < 0 ||
	    changes_find(s, &c, NULL) < 0)
		die("no changes");
	return c;
}

static int func_of(const struct cost_series *s, const struct change *c)
{
	if (c->func == SERIES_TOTAL)
		return -2;
	return atoi(history_str(s->h, s->h->funcs.v[s->funcs.v[c->func].func]
					    .name) + 1);
}

static void part_change(size_t reps, uint64_t seed)
{
	printf("## change: 200 commits; one step at a random place\n"
	       "%-12s %8s %8s %8s %8s %14s\n", "slower", "found", "exactly",
	       "by 2", "in span", "wrong per 500");
	for (int k = -1; k < 9; k++) {
		int f = k < 0 ? -1 : k / 3;
		size_t found = 0, exact = 0, near = 0, span = 0, wrong = 0;
		char name[32] = "nothing";

		if (k >= 0)
			snprintf(name, sizeof(name), "f%.0f%% +%.0f%%",
				 100 * big[f], 100 * effects[k % 3]);
		for (size_t i = 0; i < reps; i++) {
			struct program p = make_program(seed + i * 100 +
							(uint64_t)(k + 1));
			size_t at = 40 + (size_t)(120 * rng_uniform(&p.r));
			struct effect e = { f, k < 0 ? 1 : 1 + effects[k % 3],
					    at, 0, 0 };
			struct history h = make_history();
			struct cost_series s;
			struct changes c;
			bool hit = false;

			for (size_t b = 0; b < 200; b++)
				add_batch(&h, &p, b, "cpu", &e, true);
			c = find(&h, &s);
			for (size_t x = 0; x < c.v.n; x++) {
				const struct change *v = &c.v.v[x];
				long d = (long)v->at - (long)at;

				if (func_of(&s, v) == -2 && labs(d) <= 10)
					continue;	/* a run costs more, too */
				if (func_of(&s, v) != f || labs(d) > 10 || hit) {
					wrong++;
					continue;
				}
				hit = true;
				exact += d == 0;
				near += labs(d) <= 2;
				span += v->from <= at && at <= v->to;
			}
			found += hit;
			changes_fini(&c);
			series_fini(&s);
			history_fini(&h);
		}
		printf("%-12s %7.0f%% %7.0f%% %7.0f%% %7.0f%% %14.1f\n", name,
		       100.0 * (double)found / (double)reps,
		       found ? 100.0 * (double)exact / (double)found : 0,
		       found ? 100.0 * (double)near / (double)found : 0,
		       found ? 100.0 * (double)span / (double)found : 0,
		       2.5 * (double)wrong / (double)reps);
	}
}

/* 500 commits on three processor models in turns: each is judged by those of its
 * model. */
static void part_models(size_t reps, uint64_t seed)
{
	static const char *const models[] = { "a", "b", "c" };
	size_t wrong = 0, failed = 0, again = 0;

	for (size_t i = 0; i < reps; i++) {
		for (int m = 0; m < 3; m++) {
			struct program p = make_program(seed + i * 3 +
							(uint64_t)m);
			struct history h = make_history();

			for (size_t c = 0; c < 167; c++) {
				size_t before = wrong;

				if (c < VERDICT_STORED_MIN) {
					add_batch(&h, &p, c, models[m], NULL,
						  true);
					continue;
				}
				judge_commit(&h, &p, c, models[m], NULL, -1,
					     &wrong, &again);
				failed += wrong > before;
			}
			history_fini(&h);
		}
	}
	printf("## models: 500 identical commits on three processor models: "
	       "%.2f checks failed, %.2f names wrong, %.2f batches a commit "
	       "recorded again\n", (double)failed / (double)reps,
	       (double)wrong / (double)reps, (double)again / (double)reps / 500);
}

/* A slow drift, and two steps that look like one: how often each is told as a slope, and
 * how many steps are told. */
static void part_drift(size_t reps, uint64_t seed)
{
	static const struct {
		const char *what;
		struct effect e;
	} cases[] = {
		{ "+10 % over 100 of 200 commits", { 0, 1.10, 50, 100, 0 } },
		{ "+5 % at once, +5 % 50 later", { 0, 1.05, 75, 0, 125 } },
		{ "+10 % at once, +10 % 50 later", { 0, 1.10, 75, 0, 125 } },
		{ "+10 % at once", { 0, 1.10, 100, 0, 0 } },
		{ "nothing", { 0, 1, 100, 0, 0 } },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		size_t slopes = 0, steps = 0, others = 0;

		for (size_t i = 0; i < reps; i++) {
			struct program p = make_program(seed + i);
			struct history h = make_history();
			struct cost_series s;
			struct changes c;

			for (size_t b = 0; b < 200; b++)
				add_batch(&h, &p, b, "cpu", &cases[k].e, true);
			c = find(&h, &s);
			for (size_t x = 0; x < c.v.n; x++)
				if (func_of(&s, &c.v.v[x]) == 0)
					*(c.v.v[x].slope ? &slopes : &steps) += 1;
				else if (func_of(&s, &c.v.v[x]) > 0)
					others += c.v.v[x].slope;
			changes_fini(&c);
			series_fini(&s);
			history_fini(&h);
		}
		printf("## drift: %s: a slope in %.0f%%, %.2f steps, slopes of other "
		       "functions %.2f\n", cases[k].what,
		       100.0 * (double)slopes / (double)reps,
		       (double)steps / (double)reps,
		       (double)others / (double)reps);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *parts = "batch,change,models,drift";
	size_t reps = 40;
	uint64_t seed = 1;

	for (int i = 1; i + 1 < argc; i += 2)
		if (!strcmp(argv[i], "--reps"))
			reps = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--part"))
			parts = argv[i + 1];
		else
			die("--reps N, --seed N, --part LIST");
	if (strstr(parts, "batch"))
		part_batch(reps, seed);
	if (strstr(parts, "change"))
		part_change(reps, seed);
	if (strstr(parts, "models"))
		part_models(reps, seed);
	if (strstr(parts, "drift"))
		part_drift(reps, seed);
	return 0;
}
