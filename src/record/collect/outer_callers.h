/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_OUTER_CALLERS_H
#define TALLY_RECORD_OUTER_CALLERS_H
/*
 * Finds the callers of the function whose frame crosses the end of a stack's copy.
 *
 * The frames of its callers are read from the program's memory a moment later
 * (live_memory.h).  In between, the function may have returned and been called again
 * from elsewhere, with the same return addresses below it.  Memory at one moment
 * cannot show this, but a history can: a caller that was there in each of the last
 * batches of samples, and is there now, was also there in between.
 *
 * For each place (a function at a stack pointer in a thread), this part keeps the
 * callers last seen, and in how many consecutive batches.  When a function is seen
 * with different callers at one place, it needs a longer run of batches from then on,
 * at all of its places.  That ends when it has kept its callers for a long time:
 *
 *	changes of callers	0	1	2	…	6
 *	batches in a row	8	32	128	…	32,768
 *
 * The share of samples with a wrong caller is thus small whatever a program does.  A
 * function called from two places alternately is detected within a few batches.  If a
 * function's callers change every second, they are still known most of the time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	OUTER_PLACES = 256,
	OUTER_FUNCTIONS = 512,
	OUTER_FRAMES = 32,	/* number of a place's callers kept individually */
	OUTER_ROW = 8,		/* initial number of consecutive batches required */
	OUTER_CHANGES = 6,	/* maximum number of changes counted */
};

/* What the call before a return address calls. */
enum outer_call {
	OUTER_CALL_UNKNOWN,	/* an indirect call, or a call into another image */
	OUTER_CALL_THIS,	/* the function of the next inner frame */
	OUTER_CALL_OTHER,
};

/* The outer part of one walk, as memory holds it now. */
struct outer_view {
	uint32_t pid, tid, space;	/* space: generation of the mappings */
	uint64_t function, sp;	/* start address of the callee, and its stack pointer */
	/* The return addresses in the copy are still in place. */
	bool in_place;
	uint64_t *pc;		/* return addresses of the frames beyond the callee,
				 * outwards */
	const uint64_t *sps;	/* stack pointers of these frames */
	size_t n;		/* at least 1 */
	/* Returns what caller number i calls at pc. */
	enum outer_call (*call)(void *ctx, size_t i, uint64_t pc);
	/* Returns whether two addresses belong to the same function. */
	bool (*same_function)(void *ctx, uint64_t a, uint64_t b);
	void *ctx;
};

struct outer_place {
	uint32_t pid, tid, space, batch;
	uint64_t function, sp;
	uint64_t pc[OUTER_FRAMES];
	uint64_t rest;		/* hash of stack pointers and of the remaining frames */
	uint32_t row;		/* number of consecutive batches with the same
				 * callers; 0: empty */
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
 * Records what a walk found in this batch of samples.  Returns true if these are most
 * likely the function's callers at the time of the sample, false if they are unknown.
 *
 * A caller that has returned from the call and is now in another call is still the
 * same caller.  Its pc is then set to the call that led to the sample.
 */
bool outer_callers_see(struct outer_callers *o, const struct outer_view *v,
		       uint32_t batch);

#endif
