// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds slower rows whose code was moved from other functions (compare/moves.h). */
#include <stdlib.h>

#include "check/check_internal.h"
#include "compare/moves.h"

enum { CHANCE_ONE_IN = 20 };

static double gain(const struct check *c, const struct check_row *r)
{
	return check_now(c, r) - r->j.base;
}

static bool cost_fell(const struct check *c, const struct check_row *r)
{
	if (gain(c, r) >= 0)
		return false;
	return r->status == CHECK_FASTER || r->status == CHECK_REMOVED ||
	       (r->status == CHECK_SAME && r->j.change.df > 0 &&
		r->j.p_faster * CHANCE_ONE_IN <= 1);
}

static bool related(void *ctx, size_t gained, size_t lost)
{
	struct check *c = ctx;
	uint32_t a = c->rows.v[gained].unit.func, b = c->rows.v[lost].unit.func;

	/* lines of one function are related */
	return a == b || compare_related(&c->runs.match, a, b);
}

/* The increase must be as large and as significant as that of a slower function. */
static bool costs_more(void *ctx, const size_t *rows, size_t n)
{
	struct check *c = ctx;
	const struct judge_options *o = &c->o.judge;
	struct judge_sum s;

	if (judge_group(&c->judge, rows, n, &s) < 0) {
		c->runs.match.failed = true;
		return true;
	}
	return !(s.ratio <= 1 + o->threshold || s.p > o->alpha);
}

static struct move_item item_of(void *ctx, size_t row)
{
	const struct check *c = ctx;
	const struct check_row *r = &c->rows.v[row];
	struct move_item x = { MOVE_NONE, 0 };

	/* unnamed code cannot be matched */
	if (!check_func_named(&c->runs, r->unit.func))
		return x;
	x.gain = gain(c, r);
	if (cost_fell(c, r))
		x.kind = MOVE_LOSS;
	else if (r->status == CHECK_ADDED)
		x.kind = MOVE_NEW;
	else if (r->status == CHECK_SLOWER || r->status == CHECK_SUSPECT)
		x.kind = MOVE_GAIN;
	return x;
}

static void set_moved(struct check *c, const size_t *from)
{
	for (size_t i = 0; i < c->rows.n; i++) {
		struct check_row *r = &c->rows.v[i];

		r->partner = PROF_NONE;
		if (r->status == CHECK_SAME && check_row_renamed(c, r))
			r->status = CHECK_MOVED;
		if (from[i] == MOVE_FROM_NONE)
			continue;
		r->partner = (uint32_t)from[i];
		r->status = CHECK_MOVED;
		r->fails = false;
	}
}

int check_moved(struct check *c, struct error *err)
{
	struct moves moves = { c->rows.n, c, item_of, related, costs_more };
	size_t *from;
	int rc = moves_find(&moves, &from);

	if (c->runs.match.failed)
		rc = -ERR_NOMEM;
	if (!rc)
		set_moved(c, from);
	free(from);
	return rc ? error_nomem(err) : 0;
}
