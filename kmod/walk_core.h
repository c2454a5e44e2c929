/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_WALK_CORE_H
#define TALLY_WALK_CORE_H
/*
 * Unwinds user stacks by rows of call frame information (tally/kmod.h: tally_page).
 * Compiled into the module, unit tests and a fuzz target.
 *
 * A walk follows rip, rsp and rbp, as tally's own unwinder does (src/unwind/walk.c).
 * It gives up where that one would need other registers, instructions or heuristics.
 * A complete walk therefore finds the same frames.  It calls only `read`, allocates
 * nothing, and ends after `max` frames at the latest.  Each frame costs two binary
 * searches and at most five reads.
 */
#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif
#include "tally/kmod.h"

/* A page that walk_page_check has accepted. */
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
	const struct walk_page **page;	/* [pages]; NULL: unknown.  Loaded once per
					 * frame, because other pages may replace
					 * them */
};

struct walk_map {
	uint64_t start, end, delta;
	const struct walk_table *table;	/* NULL: no table */
};

struct walk_memory {
	/* Reads a word, or up to 8 bytes, of the program's memory.  Returns false
	 * if the memory is not present. */
	bool (*read)(void *ctx, uint64_t addr, void *to, unsigned int n);
	void *ctx;
};

/* Returns whether all indices in the page are in range.  Rows and words must not
 * change afterwards. */
bool walk_page_check(const struct walk_page *p);
/* Returns whether the maps are not empty, ascend without overlap and end below
 * `end`. */
bool walk_maps_check(const struct walk_map *maps, uint32_t n, uint64_t end);

/* Unwinds a stack.  Registers have the numbers of tally_copy and must all be
 * known.  Frames go to pc[0..*n), innermost first, as addresses within their
 * instructions (return addresses minus 1). */
enum tally_walk walk_user(const struct walk_map *maps, uint32_t nmaps,
			const uint64_t regs[TALLY_COPY_REGS],
			const struct walk_memory *mem, uint64_t *pc,
			uint32_t max, uint32_t *n);

#endif
