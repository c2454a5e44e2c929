/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_INSN_TOKENS_H
#define TALLY_COMPARE_INSN_TOKENS_H
/*
 * The instructions of a function as words that mean the same wherever the code
 * lies: addresses count by what is there, jumps within the function by no more
 * than being jumps.  For code of two builds that is to be held against each other.
 */
#include "base/buf.h"
#include "profile/model.h"
#include "compare/align.h"

struct insn_tokens {
	VEC(uint64_t) offset;	/* of each instruction in the function */
	VEC(uint32_t) full;	/* words: all of it */
	VEC(uint32_t) weak;	/* … its mnemonic */
};

/* The machine of an image's code (EM_*); 0 where nothing says. */
uint16_t insn_machine(const struct profile *p, uint32_t image);
/* Appends an instruction's text with `name` ("": nothing) in the place of the
 * address `target`. */
void insn_normalize(const char *text, uint64_t target, const char *name,
		    struct buf *out);

/* The symbol of a function by its name, without what compilers append, whose code
 * the profile holds; the largest of several, or NULL. */
const struct prof_symbol *insn_find(const struct profile *p, const char *name);
/*
 * The words of a symbol's code.  `by_address` are all symbols, as symbols_sort
 * orders them.  1: the profile does not hold the code, or it is of a machine that
 * cannot be disassembled; -ERR_NOMEM.
 */
int insn_tokens(const struct profile *p, const struct prof_symbol *s,
		const struct prof_symbol *by_address, struct strtab *words,
		struct insn_tokens *out);
void insn_words_fini(struct insn_tokens *w);
static inline struct align_side insn_side(const struct insn_tokens *w)
{
	return (struct align_side){ w->full.v, w->weak.v, w->full.n };
}

#endif
