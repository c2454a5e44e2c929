/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_FUNC_MATCH_H
#define TALLY_COMPARE_FUNC_MATCH_H
/*
 * Matches the functions of several recordings.
 *
 * If no recording has two functions with the same name in an image, nor several
 * recordings of one build, functions are matched by name.  Otherwise functions of the
 * same build are matched by address.  Functions of different builds are matched by the longest common end
 * of their source paths, and by their order if the files have equally many.
 * Copies made by a compiler (foo.constprop.0) count as the function they were
 * made from.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match_item {
	uint32_t image, name;	/* two items match only if both are equal */
	uint32_t recording;
	bool clone;		/* the symbol is the name with a suffix */
	const char *file;	/* source file; "": unknown */
	uint32_t line;		/* 0: unknown */
	uint64_t vaddr;		/* 0: unknown */
	/* hash of the build; 0: unknown.  Equal builds have equal addresses. */
	uint64_t build;
	uint32_t id;		/* result: number of the function, from 0 */
};

/* Sets v[].id and *nids.  Recordings of one build should have adjacent numbers.
 * The order of v does not matter.  Returns 0 or -ERR_NOMEM. */
int match_items(struct match_item *v, size_t n, uint32_t *nids);

#endif
