/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_WALK_CORE_H
#define TALLY_WALK_CORE_H
/*
 * User stacks by rows of call frame information (tally/kmod.h: tally_page),
 * compiled into the module and into unit tests and a fuzz target.
 *
 * A walk follows rip, rsp and rbp, as tally's own does (src/unwind/walk.c), and
 * gives up where that one would need more: other registers, instructions, a guess.
 * So what it finds to the end is what that one would find.  It calls nothing but
 * `read`, allocates nothing, and ends after `max` frames at the latest; each frame
 * costs two binary searches and at most five reads.
 */
#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif
#include "tally/kmod.h"

/* Pages that walk_page_check found to be in order. */
struct walk_page {
	uint32_t nrows, nwords, nrules;
	const uint16_t *starts, *word;	/* [nrows] */
	const uint32_t *words;		/* [nwords] */
	const struct tally_rule *rules;	/* [nrules] */
};

struct walk_table {
	uint64_t base;
	uint32_t pages;
	uint32_t flags;			/* TALLY_TABLE_* */
	const struct walk_page **page;	/* [pages]; NULL: not known.  Loaded once
					 * a frame: others may be put there */
};

struct walk_map {
	uint64_t start, end, delta;
	const struct walk_table *table;	/* NULL: none */
};

struct walk_memory {
	/* A word, or up to 8 bytes, of the program's; false: it is not there. */
	bool (*read)(void *ctx, uint64_t addr, void *to, unsigned int n);
	void *ctx;
};

/* Whether numbers in it lead nowhere else; of rows and words that nobody changes
 * meanwhile. */
bool walk_page_check(const struct walk_page *p);
/* Whether maps are not empty, rise, do not overlap and end below `end`. */
bool walk_maps_check(const struct walk_map *maps, uint32_t n, uint64_t end);

/* Registers by the numbers of tally_copy, all known.  Frames go to pc[0..*n),
 * innermost first, in their instructions (return addresses less 1). */
enum tally_walk walk_user(const struct walk_map *maps, uint32_t nmaps,
			const uint64_t regs[TALLY_COPY_REGS],
			const struct walk_memory *mem, uint64_t *pc,
			uint32_t max, uint32_t *n);

#endif
