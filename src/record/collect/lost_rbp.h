/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_LOST_RBP_H
#define TALLY_RECORD_COLLECT_LOST_RBP_H
/*
 * Finds the frame pointer of a function when only its stack pointer is known, because
 * a poll of a sleeping thread gives no other register.  A function with a frame
 * pointer first pushes its caller's.  The word above it, at x + 8, is a return
 * address into the caller, after a call to this function. rbp is that address x.
 * x86-64.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rbp_search {
	uint64_t function;	/* start address of the function */
	const uint8_t *stack;	/* copy from its stack pointer upwards */
	uint64_t sp;
	size_t size;
	/* Reads the program's current memory; false: no data. */
	bool (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	bool (*is_code)(void *ctx, uint64_t addr);
	void *ctx;
};

/* Returns false if there is none.  *guessed: the return address does not follow a
 * call to this function.  It is the first after an indirect call, which may have
 * called it. */
bool lost_rbp_find(const struct rbp_search *s, uint64_t *rbp, bool *guessed);

#endif
