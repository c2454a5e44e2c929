/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_CORE_H
#define TALLY_COUNT_CORE_H
/*
 * A table of samples that differ only in time and weight.  Entries are dense; `slot`
 * finds them by a hash.  An entry is never replaced: a sample without room is refused,
 * and its caller puts it into the ring instead.  Compiled into the module and into unit
 * tests.
 */
#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#endif

#include "tally/kmod.h"

#define COUNT_SLOTS	2048u	/* a power of two, twice as many as entries */
#define COUNT_PROBES	8u

struct count_table {
	uint32_t n;
	uint16_t slot[COUNT_SLOTS];	/* index of an entry + 1; 0: free */
	struct tally_count entry[TALLY_COUNTS_MAX];
};

static inline uint32_t count_hash(const struct tally_count *k)
{
	uint64_t h = (uint64_t)k->tid << 32 | k->stack;

	h = (h ^ (uint64_t)k->generation << 16 ^ k->r.event) *
	    0x9e3779b97f4a7c15ull;
	return (uint32_t)(h >> 40) & (COUNT_SLOTS - 1);
}

/* A stack's number stands for its addresses. */
static inline bool count_same(const struct tally_count *a,
			      const struct tally_count *b)
{
	return a->stack == b->stack && a->tid == b->tid && a->pid == b->pid &&
	       a->generation == b->generation && a->flags == b->flags &&
	       a->r.event == b->r.event;
}

/* Adds a sample, whose `first` is its time.  Returns false if there is no room. */
static inline bool count_add(struct count_table *t, const struct tally_count *one)
{
	uint32_t i, at = count_hash(one);

	for (i = 0; i < COUNT_PROBES; i++, at = (at + 1) & (COUNT_SLOTS - 1)) {
		struct tally_count *e;

		if (!t->slot[at]) {
			if (t->n >= TALLY_COUNTS_MAX)
				return false;
			t->entry[t->n++] = *one;
			t->slot[at] = (uint16_t)t->n;
			return true;
		}
		e = &t->entry[t->slot[at] - 1];
		/* A full entry is followed by another one of its kind. */
		if (e->n >= TALLY_COUNT_SAMPLES || !count_same(e, one))
			continue;
		e->n += one->n;
		e->weight += one->weight;
		e->r.time = one->r.time;
		return true;
	}
	return false;
}

static inline void count_clear(struct count_table *t)
{
	memset(t->slot, 0, sizeof(t->slot));
	t->n = 0;
}

#endif
