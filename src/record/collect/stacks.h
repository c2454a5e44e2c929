/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_STACKS_H
#define TALLY_RECORD_COLLECT_STACKS_H
/*
 * Converts addresses to stacks of the profile.
 *
 * Two caches of limited size make a repeated stack cheap.  One maps (address space,
 * address) to a location; the other maps (address space, all callers) to the node
 * they end in, also for the outer frames of walked stacks.  The second stores a 64-bit
 * hash in place of the callers.  Two of a million different stacks collide once in about
 * 20 million recordings.  Where code replaces other code, the address space counts as
 * another one (jit_lines.h).
 */
#include "record/collect/images.h"
#include "record/collect/jit_lines.h"
#include "record/collect/kernel_maps.h"
#include "record/source/mapset.h"
#include "record/source/source.h"

struct stacks {
	struct profile *profile;
	struct images *images;
	struct kernel_maps *kernel;
	struct stack_cache *cache;
	/* Of the current sample, see stacks_at: */
	struct jit_lines *lines;	/* NULL: all addresses have their first names */
	uint64_t time_ns;
	uint32_t epoch;		/* see jit_lines_epoch */
};

/* Initialises `s` and borrows all three for its life.  Returns 0, or -ERR_NOMEM with
 * nothing to release. */
int stacks_init(struct stacks *s, struct profile *p, struct images *im,
		struct kernel_maps *k);
void stacks_fini(struct stacks *s);

/* Drops the caches, because the profile has forgotten its nodes or locations. */
void stacks_forget(struct stacks *s);

/* Sets the time of the next samples, and the perf map of their process or NULL. */
void stacks_at(struct stacks *s, struct jit_lines *lines, uint64_t time_ns);
/* Returns the stack of a sample in the address space `maps`, and sets its innermost
 * location.  Returns PROF_NONE when out of memory. */
uint32_t stacks_add(struct stacks *s, struct mapset *maps,
		    const struct record_sample *sample, uint32_t *loc);

#endif
