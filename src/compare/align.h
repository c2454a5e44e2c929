/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_ALIGN_H
#define TALLY_COMPARE_ALIGN_H
/*
 * Aligns two sequences, such as source lines or instructions.
 *
 * The common start and end are matched first.  In between, elements that occur
 * once on both sides in the same order are anchors ("patience").  The pieces
 * between anchors are aligned in the same way.  Pieces without anchors are
 * aligned by their longest common subsequence if they are short enough.  Time
 * and memory are bounded; elements of a hostile input that exceed the bound
 * stay unmatched.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum align_how {
	ALIGN_SAME,		/* equal on both sides */
	ALIGN_CHANGED,		/* one replaces the other */
	ALIGN_OLD, ALIGN_NEW,	/* on one side only */
};

struct align_row {
	/* index of the element on each side; UINT32_MAX: none */
	uint32_t at[2];
	uint8_t how;		/* enum align_how */
};

struct align_rows {
	struct align_row *v;
	size_t n, cap;
};

/*
 * Elements are equal if their tokens are equal; all tokens are below `tokens`.
 * `weak` (may be NULL) holds the tokens by which unmatched elements are paired
 * as changed.  Without it, elements at the same place are paired.  align
 * appends to `out` in order and returns 0 or -ERR_NOMEM.
 */
struct align_side {
	const uint32_t *token, *weak;
	size_t n;
};
int align(const struct align_side side[2], size_t tokens,
	  struct align_rows *out);

#endif
