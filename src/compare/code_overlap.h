/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_CODE_OVERLAP_H
#define TALLY_COMPARE_CODE_OVERLAP_H
/*
 * Decides whether code of one function became part of another, without debug
 * information.
 *
 * A renamed function has all instructions in common with the function it was
 * before.  A helper has most of its instructions in common with the function it
 * was taken from.  Compared are sequences of three instructions, and sequences
 * of five mnemonics, which do not change with register allocation.
 */
#include "compare/insn_tokens.h"

/* Instruction sequences of a function: sorted, without duplicates. */
struct code_ngrams {
	uint64_t *text, *kind;
	size_t ntext, nkind;
	uint64_t whole;		/* hash of all instructions; 0: unknown.  It is also
				 * set if the code is too short to compare. */
};

/* Reads the code of a symbol; `by_address` as in insn_tokens.  Returns 0, 1 if
 * the code is unknown or too short to compare, or -ERR_NOMEM. */
int code_ngrams_of(const struct profile *p, const struct prof_symbol *s,
		   const struct prof_symbol *by_address, struct code_ngrams *out);
void code_ngrams_fini(struct code_ngrams *r);
/* Returns whether most of the smaller function is in the larger one. */
bool code_overlaps(const struct code_ngrams *a, const struct code_ngrams *b);
/* Compares the code added between `before` and `now`, two versions of one
 * function, with `other`.  Returns whether most of the added code is in
 * `other`, or most of `other` is in the added code. */
bool code_came_from(const struct code_ngrams *now,
		    const struct code_ngrams *before,
		    const struct code_ngrams *other);
/* Return the share, 0 to 1, of the larger function's mnemonics or instructions
 * that both functions have. */
double mnemonic_overlap(const struct code_ngrams *a, const struct code_ngrams *b);
double code_same_text(const struct code_ngrams *a, const struct code_ngrams *b);

#endif
