/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_CODE_OVERLAP_H
#define TALLY_COMPARE_CODE_OVERLAP_H
/*
 * Whether code of one function became part of another, where no debug information
 * says: renamed functions have all of their instructions in common, a helper has
 * most of its own in the function that it was taken out of.  Held against each
 * other are runs of three instructions, and of five mnemonics, which stay when
 * registers are given out anew.
 */
#include "compare/insn_tokens.h"

/* What runs of instructions a function has: sorted, each once. */
struct code_ngrams {
	uint64_t *text, *kind;
	size_t ntext, nkind;
};

/* Reads the code of a symbol; `by_address`: as insn_tokens takes it.  1: the code is
 * not known or too short to say anything; -ERR_NOMEM. */
int code_ngrams_of(const struct profile *p, const struct prof_symbol *s,
		   const struct prof_symbol *by_address, struct code_ngrams *out);
void code_ngrams_fini(struct code_ngrams *r);
/* Whether most of the smaller one is in the other. */
bool code_overlaps(const struct code_ngrams *a, const struct code_ngrams *b);
/* Whether code that `now` has and `before` had not, both of one function, was part of
 * `other`: most of it, or most of the other. */
bool code_came_from(const struct code_ngrams *now,
		    const struct code_ngrams *before,
		    const struct code_ngrams *other);
/* Which share of the larger one's mnemonics, or instructions, both have: 0 to 1. */
double mnemonic_overlap(const struct code_ngrams *a, const struct code_ngrams *b);
double code_same_text(const struct code_ngrams *a, const struct code_ngrams *b);

#endif
