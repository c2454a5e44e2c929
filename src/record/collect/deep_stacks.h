/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_DEEP_STACKS_H
#define TALLY_RECORD_COLLECT_DEEP_STACKS_H
/*
 * The outer frames of threads with very deep stacks, kept from sample to sample.
 *
 * A walk over a million frames takes 25 ms, longer than the time between two samples.
 * But in deep recursion only the innermost part changes from one sample to the next.
 * A walk may therefore stop when its last frames equal frames kept for the thread
 * (deep_join).  The program's memory must still hold the return addresses of the
 * outer frames.  To check this, tally reads and compares the nearest 512 of them and
 * some spread over the rest, different ones in each batch of samples.  Such stacks
 * are marked as read later (PROF_MARK_READ_LATE), as are all that go on beyond the
 * copy.
 */
#include <sys/types.h>

#include "base/vec.h"
#include "record/collect/live_memory.h"
#include "record/source/source.h"

enum {
	DEEP_INNER = 1 << 10,	/* frames walked for each sample */
	DEEP_MAX = 1 << 20,	/* maximum number of frames in one stack, unless `most` is
				 * less */
	DEEP_THREADS = 16,	/* number of threads whose stacks are kept, the
				 * latest */
	DEEP_KEPT = 2,		/* maximum of the frames of all stacks, in longest stacks */
};

/* Kept frames of one thread, from the outermost frame inwards. */
struct deep_stack {
	uint32_t pid, tid, space;	/* space: generation of the mappings */
	uint64_t used;
	struct record_end end;
	VEC(uint64_t) pc, sp;		/* as in unwind_stack */
	VEC(uint8_t) marks;
	VEC(uint32_t) node;		/* nodes of the profile; shorter than pc while
					 * nodes are missing */
	uint32_t end_node;		/* parent node of node[0] */
	uint32_t epoch;			/* of the nodes: see stacks.h */
};

struct deep_stacks {
	struct deep_stack stacks[DEEP_THREADS];
	uint64_t clock;
	size_t most;		/* maximum number of frames in one stack: 2 * DEEP_INNER to
				 * DEEP_MAX */
};

struct unwind_stack;

void deep_fini(struct deep_stacks *d);
/* Forgets the nodes of all stacks, because the profile has forgotten them. */
void deep_forget_nodes(struct deep_stacks *d);
/* Drops the stacks of threads that have ended. */
void deep_drop_ended(struct deep_stacks *d);
/* Returns the kept stack of the thread, or NULL. */
struct deep_stack *deep_find(struct deep_stacks *d, uint32_t pid, uint32_t tid,
			     uint32_t space);
/* Returns an empty stack for the thread.  Others may be dropped for it. */
struct deep_stack *deep_new(struct deep_stacks *d, uint32_t pid, uint32_t tid,
			    uint32_t space);
/* Returns an empty stack for the frames of one sample, which no walk joins. */
struct deep_stack *deep_new_unshared(struct deep_stacks *d);
void deep_drop(struct deep_stack *k);

/* Returns the index in k of the frame in which the walk so far (out->n frames) ends.
 * Returns -1 if it did not join the kept frames or if memory no longer holds them. */
ssize_t deep_join(const struct deep_stack *k, struct live_memory *live,
		  const struct unwind_stack *out, unsigned int word);
/* Keeps the frames of k below `at`, and those of the walk from `inner` on.  Returns
 * false, with k empty, when out of memory or when there are too many frames. */
bool deep_keep(const struct deep_stacks *d, struct deep_stack *k, size_t at, const struct unwind_stack *out,
	       size_t inner);

#endif
