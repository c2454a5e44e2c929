// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds rows whose code moved (compare/moves.h). */
#include <stdlib.h>
#include <string.h>

#include "compare/moves.h"
#include "views/diff/diff_internal.h"

/* Maximum p of a decrease that may explain a gain: more likely than by chance
 * alone. */
#define FELL_P 0.1
/* Maximum ratio of combined costs that counts as unchanged. */
#define SAME_COST 1.03

static bool was_there(const struct diff *d, uint32_t row)
{
	return diff_values(d, DIFF_OLD, row)->total.count;
}

static uint32_t row_func(const struct diff *d, size_t row)
{
	return d->keys.keys.v[d->rows.v[row].key].func - 1;
}

static bool related(void *ctx, size_t gained, size_t lost)
{
	struct diff *d = ctx;

	return compare_related(&d->match, row_func(d, gained), row_func(d, lost));
}

static bool costs_more(void *ctx, const size_t *rows, size_t n)
{
	const struct diff *d = ctx;
	struct cell sum[DIFF_SIDES] = { { 0, 0 }, { 0, 0 } };
	struct cost_change c;

	for (int s = 0; s < DIFF_SIDES; s++)
		for (size_t i = 0; i < n; i++)
			cell_add(&sum[s], diff_values(d, s, (uint32_t)rows[i])
						  ->self);
	diff_change_of(d, 0, sum[DIFF_OLD], sum[DIFF_NEW], &c);
	return c.cost[DIFF_NEW] > SAME_COST * c.cost[DIFF_OLD] && c.low > 0;
}

static struct move_item item_of(void *ctx, size_t i)
{
	const struct diff *d = ctx;
	uint32_t row = (uint32_t)i;
	const struct cost_change *c = diff_row_change(d, row, 0, false);
	struct move_item x = { MOVE_NONE, c->change };

	/* code without a name cannot be identified */
	if (!d->keys.keys.v[d->rows.v[row].key].func)
		return x;
	if (c->change < 0 && c->tested && (c->real || c->p <= FELL_P))
		x.kind = MOVE_LOSS;
	else if (c->change > 0 && c->real)
		x.kind = was_there(d, row) ? MOVE_GAIN : MOVE_NEW;
	return x;
}

static void set_moved(struct diff *d, const size_t *from)
{
	for (uint32_t i = 0; i < d->rows.n; i++) {
		uint32_t of = from[i] == MOVE_FROM_NONE ? PROF_NONE
							: (uint32_t)from[i];
		double most = 0;

		d->moved_from[i] = of;
		if (of == PROF_NONE)
			continue;
		if (d->moved_to[of] != PROF_NONE)
			most = diff_row_change(d, d->moved_to[of], 0, false)
				       ->change;
		if (diff_row_change(d, i, 0, false)->change > most)
			d->moved_to[of] = i;
	}
}

static int find(struct diff *d)
{
	struct moves moves = { d->rows.n, d, item_of, related, costs_more };
	size_t *from;
	int rc = moves_find(&moves, &from);

	if (!rc && !d->match.failed)
		set_moved(d, from);
	free(from);
	return rc || d->match.failed ? -ERR_NOMEM : 0;
}

int diff_moved(struct diff *d)
{
	size_t bytes = (d->rows.n + 1) * sizeof(uint32_t);

	d->moved_from = malloc(bytes);
	d->moved_to = malloc(bytes);
	if (!d->moved_from || !d->moved_to)
		return -ERR_NOMEM;
	memset(d->moved_from, 0xff, bytes);
	memset(d->moved_to, 0xff, bytes);
	/* functions only: lines and threads do not move */
	if (!d->cols.n || (d->spec.keys.mask & ~KEY_BIT(KEY_IMAGE)) !=
				  KEY_BIT(KEY_SYMBOL))
		return 0;
	return find(d);
}
