/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_DETAIL_H
#define TALLY_HISTORY_DETAIL_H
/*
 * Why the cost of a function changed: its lines, its callers and its code.
 *
 * Lines are stored by their distance from the function's declaration, which edits
 * elsewhere in the file do not change.  Of the code, a store has a hash of all
 * instructions and a sketch: the 32 smallest hashes of its sequences of five
 * mnemonics (compare/code_overlap.h).  Sketches show how much of the code of two
 * functions is the same (Broder 1997, "On the resemblance and containment of
 * documents").
 */
#include "history/changes.h"

enum { DETAIL_LINES = 5, DETAIL_CALLERS = 3, DETAIL_HASHES = 32 };

/* A function of a batch that gets details. */
struct detail_func {
	uint32_t func;		/* in check_runs.funcs */
	uint32_t cost;		/* in history.costs */
};
/* Adds details of functions, sorted by cost.  Returns 0 or -ERR_NOMEM. */
int details_gather(struct history *h, struct check_runs *runs,
		   const struct detail_func *v, size_t n, double per_sample);

/* Returns the details of a function in a batch, or NULL. */
const struct history_detail *detail_find(const struct history *h, uint32_t batch,
					 uint32_t func);
/* Returns whether code of `other` became part of a function, which is `now` and was
 * `before` (NULL: it is new). */
bool detail_moved(const struct history *h, const struct history_detail *now,
		  const struct history_detail *before,
		  const struct history_detail *other);

/* A line or a caller whose share of the program's cost changed. */
struct evidence_part {
	bool caller;
	uint32_t name;		/* str: of the caller; base name of the file */
	uint32_t line;		/* today's */
	double base, now;	/* shares of the program's earlier cost */
};
enum evidence_code { EVIDENCE_UNKNOWN, EVIDENCE_SAME_CODE, EVIDENCE_NEW_CODE };
struct evidence {
	enum evidence_code code;
	uint32_t moved_from;	/* in history.funcs: what lost the code that this one
				 * has now, or UINT32_MAX */
	VEC(struct evidence_part) v;	/* most of the change first, at most 2 of each
					 * kind */
};
/* Finds the evidence of a change; those of `group` may have given it code.  Returns 0 or
 * -ERR_NOMEM.  Call evidence_fini in both cases. */
int evidence_find(const struct cost_series *s, const struct changes *all,
		  const struct change *c, struct evidence *out);
void evidence_fini(struct evidence *e);

#endif
