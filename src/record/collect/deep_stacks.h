/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_DEEP_STACKS_H
#define TALLY_RECORD_COLLECT_DEEP_STACKS_H
/*
 * The outer frames of threads with very deep stacks, kept from sample to sample.
 *
 * A million frames take 25 ms to walk, more than there is between two samples.
 * But of deep recursion only the innermost part changes from one sample to the
 * next.  A walk whose last frames are those that the thread's stack had before
 * (deep_join) need not go on, if the program's memory still holds the return
 * addresses farther out: the nearest 512 of them and some over all the rest,
 * others in each batch of samples, are read and compared.  Such stacks are
 * marked as read later (PROF_MARK_READ_LATE), as all are that go on behind the copy.
 */
#include <sys/types.h>

#include "base/vec.h"
#include "record/collect/live_memory.h"
#include "record/source/source.h"

enum {
	DEEP_INNER = 1 << 10,	/* frames that are walked for each sample */
	DEEP_MAX = 1 << 20,	/* frames of one stack at most */
	DEEP_THREADS = 16,	/* whose stacks are kept, the latest … */
	DEEP_KEPT = 2 * DEEP_MAX,	/* … with this many frames in total */
};

/* Frames from the outermost on. */
struct deep_stack {
	uint32_t pid, tid, space;	/* space: generation of the mappings */
	uint64_t used;
	struct record_end end;
	VEC(uint64_t) pc, sp;		/* as in unwind_stack */
	VEC(uint8_t) marks;
	VEC(uint32_t) node;		/* of the profile; shorter: not made yet */
	uint32_t end_node;		/* that node[0] is below */
};

struct deep_stacks {
	struct deep_stack stacks[DEEP_THREADS];
	uint64_t clock;
};

struct unwind_stack;

void deep_fini(struct deep_stacks *d);
/* The thread's stack, NULL where none is kept. */
struct deep_stack *deep_find(struct deep_stacks *d, uint32_t pid, uint32_t tid,
			     uint32_t space);
/* An empty one for the thread; others may be dropped for it. */
struct deep_stack *deep_new(struct deep_stacks *d, uint32_t pid, uint32_t tid,
			    uint32_t space);
/* An empty one for the frames of one sample: no walk joins it. */
struct deep_stack *deep_new_unshared(struct deep_stacks *d);
void deep_drop(struct deep_stack *k);

/* The index in k of the frame in which a walk so far (out->n frames) ends; -1:
 * it did not join the frames that were kept, or they are not there any more. */
ssize_t deep_join(const struct deep_stack *k, struct live_memory *live,
		  const struct unwind_stack *out, unsigned int word);
/* Keeps the frames of k below `at`, and those of the walk from `inner` on.  Returns
 * false, and k is empty, when out of memory or when there are too many. */
bool deep_keep(struct deep_stack *k, size_t at, const struct unwind_stack *out,
	       size_t inner);

#endif
