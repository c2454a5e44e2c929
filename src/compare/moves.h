/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_MOVES_H
#define TALLY_COMPARE_MOVES_H
/*
 * Finds code that moved because a function was split or inlined, or handed work
 * to a helper.  (Renamed functions are paired before: renames.h.) Code moved if
 * related functions lost what one function gained and their combined cost did
 * not increase.  Compare FBDetect's filter of cost shifts (Zhang et al., SOSP
 * 2024).  The caller decides which functions are related and whether their
 * combined cost increased, because `tally diff` and `tally check` compute costs
 * differently.
 *
 * Each decrease explains one increase only, so a regression next to moved code
 * is still reported.
 */
#include <stdbool.h>
#include <stddef.h>

enum move_kind {
	MOVE_NONE,		/* no significant change */
	MOVE_LOSS,		/* cost decreased; it may be in another function */
	MOVE_GAIN,
	MOVE_NEW,		/* cost increased from nothing */
};

struct move_item {
	enum move_kind kind;
	double gain;		/* new cost minus old cost */
};

struct moves {
	size_t n;		/* number of items */
	void *ctx;
	struct move_item (*item)(void *ctx, size_t i);
	bool (*related)(void *ctx, size_t gained, size_t lost);
	bool (*costs_more)(void *ctx, const size_t *items, size_t n);
};

#define MOVE_FROM_NONE ((size_t)-1)
/* Maximum number of comparisons of gains with losses.  Beyond it (some 4000
 * functions that gained and as many that lost) the smallest gains stay
 * unexplained. */
enum { MOVE_QUESTIONS = 1 << 24 };

/* Sets (*from)[i] to the item that most of the gain of i came from, or
 * MOVE_FROM_NONE.  The caller frees *from, which is NULL after an error.  Returns
 * 0 or -ERR_NOMEM. */
int moves_find(const struct moves *m, size_t **from);

#endif
