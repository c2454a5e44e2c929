/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_GO_CALLERS_H
#define TALLY_RECORD_COLLECT_GO_CALLERS_H
/*
 * The callers of Go's runtime.systemstack, which runs a function on the stack of the
 * thread while the goroutine that called it waits on its own stack.
 *
 * A copy of the thread's stack does not contain the goroutine's.  The kernel follows
 * frame pointers from one to the other at the moment of the sample (record_sample.
 * chain): systemstack leaves rbp unchanged, and all Go functions with a frame save it.
 * Until Go 1.20, systemstack saves no frame pointer, so the chain lacks the function
 * that called it.  The rest of the chain and the code show which one that is:
 *
 *	- the caller's caller calls it directly, or
 *	- the goroutine's stack still has its frame, below the frame pointer.
 *
 * In both cases the function must contain a call of systemstack, for the function
 * that systemstack runs if code names that.  If none is found, there are no callers:
 * a stack is never continued by a guess.
 *
 * Other switches are not followed.  mcall leaves its goroutine for good, which may
 * run on another thread when the sample is taken.  At morestack, the chain lacks two
 * functions.  The goroutines' code is x86-64.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

/* Code of a program at an address. */
struct go_code {
	struct image *img;
	uint64_t delta;		/* address + delta = vaddr in the image */
	uint64_t start, end;	/* addresses of the function; 0: unknown */
};

struct go_switch {
	uint64_t at;		/* the address in systemstack, in its call */
	uint64_t callee;	/* an address in the function that it calls */
	uint64_t rbp;		/* in systemstack; 0: unknown */
	/* Return addresses from the goroutine's stack, by frame pointers, of the
	 * moment of the sample. */
	const uint64_t *chain;
	size_t nchain;
	bool (*code)(void *ctx, uint64_t pc, struct go_code *out);
	/* Reads the program's current memory. */
	bool (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	/* Returns whether the frame of a function called at `ra`, whose stack pointer
	 * is sp after the return, belongs to the frame pointer and to a caller at
	 * `caller`. */
	bool (*fits)(void *ctx, uint64_t ra, uint64_t sp, uint64_t rbp,
		     uint64_t caller);
	void *ctx;
};

/* How the function that called systemstack was found. */
enum go_caller {
	GO_CALLER_NONE,
	GO_CALLER_CHAIN,	/* it is the first in the chain */
	GO_CALLER_CODE,		/* it is the one that chain[0] calls */
	GO_CALLER_LATE,		/* it was on the goroutine's stack some time later */
};

/* Returns whether an address of a return, minus 1, is in systemstack's call. */
bool go_is_switch(const struct go_code *code, uint64_t at);
/* Finds the function that called systemstack.  Unless it is in the chain, *pc is an
 * address of its call of systemstack, or its start if it has several. */
enum go_caller go_find_caller(const struct go_switch *s, uint64_t *pc);
/* Returns whether a goroutine's stack begins at this address, minus 1. */
bool go_is_begin(const struct go_code *code, uint64_t at);

#endif
