/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_FUNC_MATCH_H
#define TALLY_COMPARE_FUNC_MATCH_H
/*
 * Which functions of several recordings are the same one.
 *
 * Where no recording has two functions of a name in an image, the name says it.
 * Else those of one build are matched by where they are; those of other builds by
 * the longest common end of their source files' paths, and by their order where
 * files have as many of them.  Copies that a compiler made (foo.constprop.0)
 * count for the function that they were made of.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match_item {
	uint32_t image, name;	/* only what is equal in both may be the same */
	uint32_t recording;
	bool clone;		/* has the name with a suffix */
	const char *file;	/* "": not known */
	uint32_t line;		/* 0: not known */
	uint64_t vaddr;		/* 0: not known */
	uint64_t build;		/* equal: addresses mean the same; 0: not known */
	uint32_t id;		/* the answer, from 0 */
};

/* Fills v[].id and *nids; recordings of one build should have numbers close to
 * each other.  The order of v does not matter.  0 or -ERR_NOMEM. */
int match_items(struct match_item *v, size_t n, uint32_t *nids);

#endif
