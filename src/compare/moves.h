/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_MOVES_H
#define TALLY_COMPARE_MOVES_H
/*
 * Code that moved: a function was split or inlined, or handed work to a helper
 * (what only has another name is paired before: renames.h).  What one function
 * gained, related ones lost, and together they cost no more (for FBDetect's filter of
 * cost shifts see Zhang et al., SOSP 2024).  Which are related, and whether some cost
 * more together, the caller says: `tally diff` and `tally check` know costs in their
 * own ways.
 *
 * What fell is spent once: a regression beside moved code stays one.
 */
#include <stdbool.h>
#include <stddef.h>

enum move_kind {
	MOVE_NONE,		/* neither */
	MOVE_LOSS,		/* what it lost may be elsewhere */
	MOVE_GAIN,
	MOVE_NEW,		/* rose, from nothing */
};

struct move_item {
	enum move_kind kind;
	double gain;		/* cost now less that before */
};

struct moves {
	const struct move_item *v;
	size_t n;
	void *ctx;
	bool (*related)(void *ctx, size_t rose, size_t fell);
	bool (*costs_more)(void *ctx, const size_t *items, size_t n);
};

#define MOVE_FROM_NONE ((size_t)-1)
/* Each gain is held against each loss, so many times; where that is not enough (some
 * 4000 functions that gained and as many that lost), the smallest gains are not
 * explained. */
enum { MOVE_QUESTIONS = 1 << 24 };

/* from[i]: the item that most of what i gained came from, or MOVE_FROM_NONE.  0 or
 * -ERR_NOMEM. */
int moves_find(const struct moves *m, size_t *from);

#endif
