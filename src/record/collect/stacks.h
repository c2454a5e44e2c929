/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_STACKS_H
#define TALLY_RECORD_COLLECT_STACKS_H
/*
 * Converts addresses to stacks of the profile.
 *
 * Two caches of fixed size make a repeated stack cheap.  One maps (address space,
 * address) to a location; the other maps (address space, all callers) to the node
 * they end in, also for the outer frames of walked stacks.  The second stores a 64-bit hash in place of the callers.  Two of a
 * million different stacks collide once in about 20 million recordings.
 */
#include "record/collect/images.h"
#include "record/collect/kernel_maps.h"
#include "record/source/mapset.h"
#include "record/source/source.h"

struct stacks {
	struct profile *profile;
	struct images *images;
	struct kernel_maps *kernel;
	struct stack_cache *cache;
};

/* Initialises `s` and borrows all three for its life.  Returns 0, or -ERR_NOMEM with
 * nothing to release. */
int stacks_init(struct stacks *s, struct profile *p, struct images *im,
		struct kernel_maps *k);
void stacks_fini(struct stacks *s);

/* Drops the caches, because the profile has forgotten its nodes or locations. */
void stacks_forget(struct stacks *s);

/* Returns the stack of a sample in the address space `maps`, and sets its innermost
 * location.  Returns PROF_NONE when out of memory. */
uint32_t stacks_add(struct stacks *s, struct mapset *maps,
		    const struct record_sample *sample, uint32_t *loc);

#endif
