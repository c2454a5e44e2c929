/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_LOST_RBP_H
#define TALLY_RECORD_COLLECT_LOST_RBP_H
/*
 * The frame pointer of a function, where only its stack pointer is known: a look at a
 * sleeping thread gives no other register.  A function with a frame pointer pushes its
 * caller's first; so rbp is the address x where the word above, at x + 8, is a return
 * address into its caller, behind a call of the very function.  x86-64.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rbp_search {
	uint64_t function;	/* where it begins */
	const uint8_t *stack;	/* from its stack pointer up */
	uint64_t sp;
	size_t size;
	/* What the program's memory holds now; false: nothing. */
	bool (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	bool (*is_code)(void *ctx, uint64_t addr);
	void *ctx;
};

/* False when there is none.  *guessed: not behind a call of this function, but the
 * first behind a call through a register or memory, which may be of it. */
bool lost_rbp_find(const struct rbp_search *s, uint64_t *rbp, bool *guessed);

#endif
