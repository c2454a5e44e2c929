/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_FUNC_MATCH_H
#define TALLY_COMPARE_FUNC_MATCH_H
/*
 * Matches the functions of several recordings.
 *
 * If no recording has two functions with the same name in an image, functions
 * are matched by name.  Otherwise functions of the same build are matched by
 * address, and functions of different builds by the longest common end of their
 * source paths, and by their order if the files have equally many.  Copies made
 * by a compiler (foo.constprop.0) count as the function they were made from.
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

/* Sets v[].id and *nids; recordings of one build should have adjacent numbers.
 * The order of v does not matter.  Returns 0 or -ERR_NOMEM. */
int match_items(struct match_item *v, size_t n, uint32_t *nids);

#endif
