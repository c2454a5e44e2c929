/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_INSN_TOKENS_H
#define TALLY_COMPARE_INSN_TOKENS_H
/*
 * The instructions of a function as tokens that do not depend on the code's
 * address.  Addresses are replaced by names, and jumps within the function are
 * all equal.  Used to compare the code of two builds.
 */
#include "base/buf.h"
#include "profile/model.h"
#include "compare/align.h"

struct insn_tokens {
	VEC(uint64_t) offset;	/* offset of each instruction in the function */
	VEC(uint32_t) full; /* token of the whole instruction, in `tokens` */
	VEC(uint32_t) weak;	/* token of its mnemonic, in `tokens` */
};

/* Returns the architecture of an image's code (EM_*); 0 if unknown. */
uint16_t insn_machine(const struct profile *p, uint32_t image);
/* Appends the text of an instruction with its address `target` replaced by
 * `name` ("": removed). */
void insn_normalize(const char *text, uint64_t target, const char *name,
		    struct buf *out);

/*
 * Computes the tokens of a symbol's code.  `by_address` contains all symbols in
 * the order of symbols_sort.  Returns 0, 1 if the profile does not contain the
 * code or the architecture cannot be disassembled, or -ERR_NOMEM.
 */
int insn_tokens(const struct profile *p, const struct prof_symbol *s,
		const struct prof_symbol *by_address, struct strtab *tokens,
		struct insn_tokens *out);
void insn_tokens_fini(struct insn_tokens *w);
static inline struct align_side insn_side(const struct insn_tokens *w)
{
	return (struct align_side){ w->full.v, w->weak.v, w->full.n };
}

#endif
