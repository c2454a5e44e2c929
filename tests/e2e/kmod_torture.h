/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMOD_TORTURE_H
#define KMOD_TORTURE_H
/*
 * What the parts of kmod_torture share; each part is one of its commands.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/kmod.h"

enum { RING = 65536 };

/* The next number of a sequence that begins with any number but 0. */
static inline uint64_t roll(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Well mixed, never 0: neighbouring seeds have nothing in common. */
uint64_t seeded(uint64_t seed, unsigned int which);
/* A recording of everything by timers. */
struct tally_setup plain_setup(void);
/* Makes it one by an event of the kernel's, as perf_event_open(2) names them. */
void by_kernel(struct tally_setup *s, uint32_t type, uint64_t config);
/* Makes it one by cycles of K8 or P6, as `source` is. */
void by_counters(struct tally_setup *s, uint32_t source);
/* Which of K8 and P6 counters the module has here, or 0. */
uint32_t counters_here(void);
/* Open a recording and map the ring of the first processor.  Return the descriptor, or
 * -1. */
int begin_as(struct tally_setup *s, void **ring);
int begin(void **ring, uint32_t bytes, uint32_t copy, bool by_the_kernel);
void nap(long ns);
/* Writes a word to a file of /sys. */
bool put(const char *path, const char *text);

/* Each returns an exit status and says on stdout how far it came. */
int stats(const char *pmu, bool callers);
int copies(uint32_t bytes, size_t depth);
int counts(void);
int twice(void);
int clock_forward(unsigned int seconds);
int waits(void);
int hostile(unsigned long calls, uint64_t seed);
int walk(unsigned long steps, uint64_t seed, const char *pmu);
int memory(const char *when);
int reload(unsigned long n, uint64_t seed, const char *module, char *tally);

#endif
