/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_GO_CALLERS_H
#define TALLY_RECORD_COLLECT_GO_CALLERS_H
/*
 * The callers of Go's runtime.systemstack, which runs a function on the stack of the
 * thread while the goroutine that called it waits on its own stack, and of asmcgocall,
 * which does the same with functions of C.
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
 * Of other switches, only the one to C is followed (below).  mcall leaves its goroutine
 * for good, which may run on another thread when the sample is taken.  At morestack,
 * the chain lacks two functions.  The goroutines' code is x86-64.
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

/*
 * The callers of C code.  asmcgocall runs a function of C on the stack of the thread
 * while the goroutine waits on its own.  Its callers are read from there some time
 * after the sample, when C may have returned already.  A goroutine that calls the same
 * function again from the same depth of its stack most often has the same callers, so
 * they are kept.
 */
struct go_c_call {
	uint32_t pid, generation;	/* of its mappings */
	uint64_t g;		/* the goroutine */
	uint64_t depth;		/* bytes of its stack */
	uint64_t fn;		/* the start of the C function */
};

enum { GO_C_CALLS = 16, GO_C_CALLERS = 64 };

struct go_c_callers {
	struct {
		struct go_c_call call;
		size_t n;
		uint64_t pc[GO_C_CALLERS];
	} kept[GO_C_CALLS];
	size_t next;
};

/* Keeps the n callers of a call.  Long ones are not kept. */
void go_c_keep(struct go_c_callers *c, const struct go_c_call *call,
	       const uint64_t *pc, size_t n);
/* Returns the number of callers kept for such a call, and sets *pc to them; or 0. */
size_t go_c_find(const struct go_c_callers *c, const struct go_c_call *call,
		 const uint64_t **pc);

#endif
