// SPDX-License-Identifier: GPL-2.0-or-later
/* Divides the waits of one function by callers. */
#include "views/wait_callers.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

/* Callers of less than this part of the waits are not significant. */
enum { LEAST_PART = 50 };

bool wait_kind_is_any(const char *kind)
{
	return !strcmp(kind, "epoll") || !strcmp(kind, "poll");
}

static int by_callers(const void *a, const void *b)
{
	const struct wait_called *x = a, *y = b;

	for (int i = 0; i < WAIT_CALLERS; i++)
		if (x->callers[i] != y->callers[i])
			return x->callers[i] < y->callers[i] ? -1 : 1;
	return ascending(x->row, y->row);
}

/* Divides sorted waits that share their callers below `depth`.  `from`: the outermost
 * of these that divides waits.  Recursion ends at WAIT_CALLERS. */
static void divide(struct wait_called *v, size_t n, int depth, uint32_t from)
{
	uint64_t all = 0;
	size_t parts = 0, end;

	for (size_t i = 0; i < n; i++) {
		v[i].from = from;
		all += v[i].weight;
	}
	if (depth == WAIT_CALLERS)
		return;
	/* Counts the parts first, because a single one divides nothing. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i = end) {
			uint32_t fk = v[i].callers[depth];
			uint64_t sum = 0;

			for (end = i; end < n && v[end].callers[depth] == fk; end++)
				sum += v[end].weight;
			if (fk == PROF_NONE || sum < all / LEAST_PART || !sum)
				continue;
			if (!pass)
				parts++;
			else
				divide(&v[i], end - i, depth + 1,
				     parts > 1 ? fk : from);
		}
	}
}

void wait_callers_find(struct wait_called *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), by_callers);
	divide(v, n, 0, PROF_NONE);
}
