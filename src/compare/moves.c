// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds code that moved between functions (see moves.h). */
#include "compare/moves.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "base/error.h"
#include "base/search.h"

/* Minimum share of a gain that related functions must have lost. */
#define EXPLAINED 0.7

struct shift {
	const struct moves *m;
	double *gain;		/* by item */
	size_t *lost;		/* items whose cost decreased */
	size_t nlost;
	uint64_t left;		/* comparisons still allowed */
	double *budget;		/* by item: loss that explains no gain yet */
	size_t *group;		/* items related to the current one */
};

/* Returns the item that a gain came from, or MOVE_FROM_NONE if it did not
 * move. */
static size_t explain(struct shift *s, size_t item)
{
	const struct moves *m = s->m;
	double want = s->gain[item], have = 0, most = 0;
	size_t n = 0, from = MOVE_FROM_NONE;

	if (s->nlost > s->left)
		return MOVE_FROM_NONE;
	s->left -= s->nlost;
	s->group[n++] = item;
	for (size_t k = 0; k < s->nlost; k++) {
		size_t i = s->lost[k];

		if (!(s->budget[i] > 0) || !m->related(m->ctx, item, i))
			continue;
		s->group[n++] = i;
		have += s->budget[i];
		if (s->budget[i] > most) {
			most = s->budget[i];
			from = i;
		}
	}
	if (have < EXPLAINED * want || from == MOVE_FROM_NONE ||
	    m->costs_more(m->ctx, s->group, n))
		return MOVE_FROM_NONE;
	for (size_t i = 1; i < n; i++)
		s->budget[s->group[i]] *= have > want ? 1 - want / have : 0;
	return from;
}

struct gainer {
	bool added;
	double gain;
	size_t item;
};

/* Sorts new functions first, because moved code usually becomes a new
 * function. */
static int by_gain(const void *a, const void *b)
{
	const struct gainer *x = a, *y = b;

	return descending(x->added, y->added) ?:
	       descending(x->gain, y->gain) ?: ascending(x->item, y->item);
}

int moves_find(const struct moves *m, size_t **out)
{
	struct shift s = { .m = m, .left = MOVE_QUESTIONS };
	struct arrays a = { 0 };
	struct gainer *up = arrays_new(&a, m->n, sizeof(*up));
	size_t *from = calloc(m->n + 1, sizeof(*from)), n = 0;
	int rc;

	s.gain = arrays_new(&a, m->n, sizeof(*s.gain));
	s.budget = arrays_new(&a, m->n, sizeof(*s.budget));
	s.group = arrays_new(&a, m->n + 1, sizeof(*s.group));
	s.lost = arrays_new(&a, m->n, sizeof(*s.lost));
	rc = from && !a.failed ? 0 : -ERR_NOMEM;
	for (size_t i = 0; !rc && i < m->n; i++) {
		struct move_item x = m->item(m->ctx, i);

		from[i] = MOVE_FROM_NONE;
		s.gain[i] = x.gain;
		if (x.kind == MOVE_LOSS && x.gain < 0) {
			s.budget[i] = -x.gain;
			s.lost[s.nlost++] = i;
		} else if (x.kind >= MOVE_GAIN && x.gain > 0) {
			up[n++] = (struct gainer){ x.kind == MOVE_NEW, x.gain,
						  i };
		}
	}
	if (!rc)
		sort_rows(up, n, by_gain);
	for (size_t i = 0; !rc && i < n; i++)
		from[up[i].item] = explain(&s, up[i].item);
	arrays_fini(&a);
	if (rc) {
		free(from);
		from = NULL;
	}
	*out = from;
	return rc;
}
