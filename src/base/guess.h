/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_GUESS_H
#define TALLY_BASE_GUESS_H
/*
 * Guesses ids of rows that are looked up one after another, where many follow each other
 * in the same order: the id after the last one is compared before a hash table is searched,
 * whose memory is rarely in a cache.  As the row of a wrong guess is not in a cache either,
 * there are no guesses after some wrong ones until two ids follow each other again.
 *
 *	id = guess_next(&g);
 *	if (id >= rows || !equal(id, key))
 *		id = find(key);
 *	guess_found(&g, id);
 *
 * All-zero guesses 0 first.
 */
#include <stdint.h>

enum { GUESS_WRONG = 4 };

struct guess {
	uint32_t next;
	unsigned int wrong;	/* ids in a row that did not follow the last one */
};

/* Returns UINT32_MAX for no guess. */
static inline uint32_t guess_next(const struct guess *g)
{
	return g->wrong < GUESS_WRONG ? g->next : UINT32_MAX;
}

static inline void guess_found(struct guess *g, uint32_t id)
{
	g->wrong = id == g->next ? 0 : g->wrong + (g->wrong < GUESS_WRONG);
	g->next = id + 1;
}

#endif
