// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs renamed functions by the similarity of their code (see renames.h). */
#include "compare/renames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"

/*
 * Minimum share of the larger function's mnemonic sequences that both have, if
 * they are the same function.  A function that changed a tenth of its
 * instructions shares 0.6. A smaller share suffices if both are declared in the
 * same file.
 */
#define SAME_SHARE 0.7
#define SAME_FILE_SHARE 0.4

struct pair {
	double alike, apart;
	uint32_t old, new;
};

struct pairs {
	VEC(struct pair) v;
};

static int by_likeness(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	return descending(a->alike, b->alike) ?:
	       ascending(a->apart, b->apart) ?:
	       ascending(a->old, b->old) ?:
	       ascending(a->new, b->new);
}

/* Returns the similarity of two functions; 0 if they are not the same. */
static double likeness(const struct rename_item *a, const struct rename_item *b)
{
	double kinds = mnemonic_overlap(&a->code, &b->code);
	bool file = *a->file && !strcmp(a->file, b->file);

	if (kinds < (file ? SAME_FILE_SHARE : SAME_SHARE))
		return 0;
	return kinds + code_same_text(&a->code, &b->code) + file +
	       !strcmp(a->name, b->name) + !strcmp(a->image, b->image);
}

static int find_pairs(const struct rename_item *old, size_t nold,
		      const struct rename_item *new, size_t nnew,
		      struct pairs *out)
{
	size_t work = 0;

	for (uint32_t i = 0; i < nold; i++)
		for (uint32_t k = 0; k < nnew && work < RENAME_WORK; k++) {
			const struct rename_item *a = &old[i], *b = &new[k];
			struct pair p = { .old = i, .new = k };

			work += a->code.nkind + b->code.nkind;
			p.alike = likeness(a, b);
			if (!(p.alike > 0))
				continue;
			p.apart = fabs(log(a->share / b->share));
			if (vec_push(&out->v, p) < 0)
				return -ERR_NOMEM;
		}
	return 0;
}

int renames_find(const struct rename_item *old, size_t nold,
		 const struct rename_item *new, size_t nnew, size_t *now)
{
	bool *taken = calloc(nnew + 1, sizeof(*taken));
	struct pairs pairs = { { 0 } };
	int rc = taken ? find_pairs(old, nold, new, nnew, &pairs) : -ERR_NOMEM;

	for (size_t i = 0; i < nold; i++)
		now[i] = RENAME_NONE;
	if (!rc)
		vec_sort(&pairs.v, by_likeness);
	for (size_t i = 0; !rc && i < pairs.v.n; i++) {
		const struct pair *p = &pairs.v.v[i];

		if (now[p->old] != RENAME_NONE || taken[p->new])
			continue;
		now[p->old] = p->new;
		taken[p->new] = true;
	}
	vec_fini(&pairs.v);
	free(taken);
	return rc;
}
