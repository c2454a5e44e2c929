/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_OUTER_CALLERS_H
#define TALLY_RECORD_OUTER_CALLERS_H
/*
 * Who calls the function whose frame leaves the copy of a stack.
 *
 * The frames of its callers are read from the program's memory a moment later
 * (live_memory.h).  Meanwhile the function may have returned and have been
 * called again from elsewhere, with the same return addresses below it.  What
 * memory holds at one moment does not tell; what it held before and holds now
 * does: a caller that was there in each of the last batches of samples, and is
 * there now, was there in between.
 *
 * For each place, a function at a stack pointer in a thread, this keeps the
 * callers that were last seen, and in how many batches in a row.  A function
 * that is seen with other callers at one of its places needs a longer row from
 * then on, at all of them, until it kept its callers for long:
 *
 *	changes of callers	0	1	2	…	6
 *	batches in a row	8	32	128	…	32,768
 *
 * The share of samples that get a wrong caller is thus small whatever a program
 * does: a function that is called from two places in turn is found out within a few
 * batches, and the callers of one that changes them each second are known most of
 * the time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	OUTER_PLACES = 256,
	OUTER_FUNCTIONS = 512,
	OUTER_FRAMES = 32,	/* of a place's callers that are kept one by one */
	OUTER_ROW = 8,		/* batches in a row that are enough at first */
	OUTER_CHANGES = 6,	/* that are counted at most */
};

/* What the call before a return address calls. */
enum outer_call {
	OUTER_CALL_UNKNOWN,	/* by a pointer, or in another image */
	OUTER_CALL_THIS,	/* the function that is the next frame */
	OUTER_CALL_OTHER,
};

/* The outer part of one walk, as memory has it now. */
struct outer_view {
	uint32_t pid, tid, space;	/* space: generation of the mappings */
	uint64_t function, sp;	/* where the callee begins, its stack pointer */
	/* The return addresses in the copy are still in their places. */
	bool in_place;
	uint64_t *pc;		/* of the frames behind the callee, outwards; … */
	const uint64_t *sps;	/* … their stack pointers */
	size_t n;		/* at least 1 */
	/* What is called at pc, by the caller number i … */
	enum outer_call (*call)(void *ctx, size_t i, uint64_t pc);
	/* … and whether two addresses are of one function. */
	bool (*same_function)(void *ctx, uint64_t a, uint64_t b);
	void *ctx;
};

struct outer_place {
	uint32_t pid, tid, space, batch;
	uint64_t function, sp;
	uint64_t pc[OUTER_FRAMES];
	uint64_t rest;		/* hash of stack pointers and the other frames */
	uint32_t row;		/* batches that saw the same; 0: empty */
};

struct outer_function {
	uint64_t function;
	uint32_t pid, space, changes;
};

struct outer_callers {
	struct outer_place places[OUTER_PLACES];
	struct outer_function functions[OUTER_FUNCTIONS];
};

/*
 * Notes what a walk found in this batch of samples.  True: these are the callers
 * that the function had at the time of the sample, most likely.  False: not known.
 *
 * A caller that has returned from the call meanwhile and is in another call now is
 * still the same caller: its pc is made that of the call which led to the sample.
 */
bool outer_callers_see(struct outer_callers *o, const struct outer_view *v,
		       uint32_t batch);

#endif
