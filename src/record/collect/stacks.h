/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_STACKS_H
#define TALLY_RECORD_COLLECT_STACKS_H
/*
 * From addresses to stacks of the profile.
 *
 * Two caches of fixed size make a repeated stack cheap: one from (address
 * space, address) to a location, one from (address space, all callers) to the
 * node they end in.  The second keeps a 64-bit hash of the callers instead of
 * them; two of a million different stacks are mixed up once in about 20
 * million recordings.
 */
#include "record/collect/images.h"
#include "record/collect/kernel_maps.h"
#include "record/source/mapset.h"
#include "record/source/source.h"

struct stacks {
	struct profile *profile;
	struct images *images;
	struct kernel_maps *kernel;
	struct loc_slot *locs;
	struct caller_slot *callers;
};

/* Borrows all three for its life.  -ERR_NOMEM, and then there is nothing to
 * release. */
int stacks_init(struct stacks *s, struct profile *p, struct images *im,
		struct kernel_maps *k);
void stacks_fini(struct stacks *s);

/* The stack of a sample in the address space `maps`, and its innermost
 * location. PROF_NONE when out of memory. */
uint32_t stacks_add(struct stacks *s, struct mapset *maps,
		    const struct record_sample *sample, uint32_t *loc);

#endif
