// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose profile is known beforehand: five functions do 50, 25, 15, 8
 * and 2 % of the work.
 *
 *	known_cost SECONDS [THREADS]
 *
 * Each function runs the same loop, a chain of dependent integer operations
 * (xorshift), a number of times proportional to its share, so the ratios hold
 * on any clock speed.  A round takes a random length, some tens of milliseconds,
 * and the functions of a round come in random order, so that no timer can run in
 * step with them.  As a round is long beside a sampling period, an honest
 * profiler comes closer to the shares than independent draws would: what falls
 * out of their interval is bias and not bad luck.  Nothing is allocated or called inside the loop, and the functions are equal
 * code, aligned alike.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PARTS = 5, MAX_THREADS = 64 };

#define COST_FUNCTION(name)						\
	__attribute__((noinline, aligned(64)))				\
	uint64_t name(uint64_t x, uint64_t steps)			\
	{								\
		for (uint64_t i = 0; i < steps; i++) {			\
			x ^= x << 13;					\
			x ^= x >> 7;					\
			x ^= x << 17;					\
			__asm__ volatile("" : "+r"(x));			\
		}							\
		return x;						\
	}

/* Not static: equal static functions may be folded into one. */
uint64_t cost_50(uint64_t x, uint64_t steps);
uint64_t cost_25(uint64_t x, uint64_t steps);
uint64_t cost_15(uint64_t x, uint64_t steps);
uint64_t cost_08(uint64_t x, uint64_t steps);
uint64_t cost_02(uint64_t x, uint64_t steps);

COST_FUNCTION(cost_50)
COST_FUNCTION(cost_25)
COST_FUNCTION(cost_15)
COST_FUNCTION(cost_08)
COST_FUNCTION(cost_02)

static const struct part {
	uint64_t (*run)(uint64_t x, uint64_t steps);
	uint64_t percent;
} parts[PARTS] = {
	{ cost_50, 50 }, { cost_25, 25 }, { cost_15, 15 },
	{ cost_08, 8 },	 { cost_02, 2 },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t next_random(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return *s >> 33;
}

/* All parts once, in random order, together 100 * unit steps. */
static uint64_t run_round(uint64_t *seed, uint64_t x)
{
	uint64_t unit = 100000 + next_random(seed) % 200000;
	int order[PARTS] = { 0, 1, 2, 3, 4 };

	for (int i = PARTS - 1; i > 0; i--) {
		int j = (int)(next_random(seed) % (uint64_t)(i + 1));
		int t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (int i = 0; i < PARTS; i++)
		x = parts[order[i]].run(x, unit * parts[order[i]].percent);
	return x;
}

struct job {
	pthread_t thread;
	double until;
	uint64_t seed, result;
};

static void *run_job(void *arg)
{
	struct job *j = arg;
	uint64_t x = j->seed | 1;

	do
		x = run_round(&j->seed, x);
	while (now() < j->until);
	j->result = x;
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	struct job jobs[MAX_THREADS];
	uint64_t sum = 0;

	if (threads < 1 || threads > MAX_THREADS || seconds <= 0) {
		fprintf(stderr, "usage: known_cost SECONDS [THREADS]\n");
		return 2;
	}
	for (int i = 0; i < threads; i++) {
		jobs[i].until = now() + seconds;
		jobs[i].seed = (uint64_t)time(NULL) * 97 + (uint64_t)clock() +
			       (uint64_t)i * 7919;
		if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(jobs[i].thread, NULL);
		sum ^= jobs[i].result;
	}
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
