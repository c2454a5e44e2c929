// SPDX-License-Identifier: GPL-2.0-or-later
/* Aligns two sequences by unique elements and longest common subsequence. */
#include "compare/align.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/error.h"
#include "base/search.h"

enum {
	NONE = UINT32_MAX,
	TABLE_MAX = 1 << 20,	/* cells of the table of one common subsequence */
	BUDGET = 64 << 20,	/* elements and cells visited in total */
};

struct range {
	uint32_t from[2], to[2];
};

struct anchor {
	uint32_t at[2];
	uint32_t below;		/* previous anchor of the chain, or NONE */
};

struct aligner {
	const uint32_t *token[2];
	uint32_t *match;	/* by old element: new one, or NONE */
	/* by token: 0, 1 + its element, or NONE if it repeats */
	uint32_t *seen[2];
	VEC(struct range) todo;
	VEC(struct anchor) anchors;
	VEC(uint32_t) top;	/* last anchors of chains, by length */
	uint16_t *table;
	size_t left;		/* remaining budget */
	struct arrays arrays;
};

static void take(struct aligner *a, uint32_t i, uint32_t j)
{
	a->match[i] = j;
}

/* Matches the common start and end of a range. */
static void trim(struct aligner *a, struct range *r)
{
	const uint32_t *s = a->token[0], *t = a->token[1];

	while (r->from[0] < r->to[0] && r->from[1] < r->to[1] &&
	       s[r->from[0]] == t[r->from[1]])
		take(a, r->from[0]++, r->from[1]++);
	while (r->from[0] < r->to[0] && r->from[1] < r->to[1] &&
	       s[r->to[0] - 1] == t[r->to[1] - 1])
		take(a, --r->to[0], --r->to[1]);
}

static void see(struct aligner *a, const struct range *r, bool forget)
{
	for (int s = 0; s < 2; s++)
		for (uint32_t i = r->from[s]; i < r->to[s]; i++) {
			uint32_t *x = &a->seen[s][a->token[s][i]];

			*x = forget ? 0 : *x ? NONE : i + 1;
		}
}

/* Finds the longest chain of anchors that ascend on both sides (patience
 * sorting). */
static int chain(struct aligner *a)
{
	a->top.n = 0;
	for (uint32_t i = 0; i < a->anchors.n; i++) {
		size_t at;

		lower_bound(at, 0, a->top.n,
			    a->anchors.v[a->top.v[at]].at[1] <
				    a->anchors.v[i].at[1]);
		a->anchors.v[i].below = at ? a->top.v[at - 1] : NONE;
		if (at == a->top.n && vec_push(&a->top, i) < 0)
			return -ERR_NOMEM;
		a->top.v[at] = i;
	}
	return 0;
}

/* Splits a range at elements that are unique on both sides.  Returns 1 if it
 * did. */
static int split(struct aligner *a, const struct range *r)
{
	struct range rest = *r;
	int rc = 0;

	a->anchors.n = 0;
	see(a, r, false);
	for (uint32_t i = r->from[0]; !rc && i < r->to[0]; i++) {
		uint32_t t = a->token[0][i], j = a->seen[1][t];

		if (a->seen[0][t] != NONE && j && j != NONE)
			rc = vec_push(&a->anchors, (struct anchor){
				{ i, j - 1 }, NONE });
	}
	see(a, r, true);
	if (!rc)
		rc = chain(a);
	if (rc || !a->top.n)
		return rc ? -ERR_NOMEM : 0;
	/* from the last anchor backwards */
	for (uint32_t k = a->top.v[a->top.n - 1]; k != NONE;
	     k = a->anchors.v[k].below) {
		const struct anchor *x = &a->anchors.v[k];
		struct range piece = { { x->at[0] + 1, x->at[1] + 1 },
				       { rest.to[0], rest.to[1] } };

		take(a, x->at[0], x->at[1]);
		if (vec_push(&a->todo, piece) < 0)
			return -ERR_NOMEM;
		rest.to[0] = x->at[0];
		rest.to[1] = x->at[1];
	}
	return vec_push(&a->todo, rest) < 0 ? -ERR_NOMEM : 1;
}

/* Matches the longest common subsequence of a short range. */
static int common(struct aligner *a, const struct range *r)
{
	size_t m = r->to[0] - r->from[0], n = r->to[1] - r->from[1];
	const uint32_t *s = a->token[0] + r->from[0];
	const uint32_t *t = a->token[1] + r->from[1];
	size_t i, j;

	if (!m || !n || (m + 1) > TABLE_MAX / (n + 1) || m * n > a->left)
		return 0;
	a->left -= m * n;
	if (!a->table)
		a->table = arrays_new(&a->arrays, TABLE_MAX, sizeof(*a->table));
	if (!a->table)
		return -ERR_NOMEM;
	/* table[i][j] is the length for the elements from i and j on */
	for (i = m + 1; i-- > 0;)
		for (j = n + 1; j-- > 0;) {
			uint16_t *x = &a->table[i * (n + 1) + j];

			if (i == m || j == n)
				*x = 0;
			else if (s[i] == t[j])
				*x = (uint16_t)(1 + x[n + 2]);
			else
				*x = x[1] > x[n + 1] ? x[1] : x[n + 1];
		}
	for (i = j = 0; i < m && j < n;) {
		const uint16_t *x = &a->table[i * (n + 1) + j];

		if (s[i] == t[j]) {
			take(a, r->from[0] + (uint32_t)i++,
			     r->from[1] + (uint32_t)j++);
		} else if (x[n + 1] >= x[1]) {
			i++;
		} else {
			j++;
		}
	}
	return 0;
}

static int align_range(struct aligner *a, struct range r)
{
	int rc = vec_push(&a->todo, r);

	while (!rc && a->todo.n) {
		size_t size;

		r = a->todo.v[--a->todo.n];
		trim(a, &r);
		size = (size_t)(r.to[0] - r.from[0]) + r.to[1] - r.from[1];
		if (r.from[0] == r.to[0] || r.from[1] == r.to[1] ||
		    size > a->left)
			continue;
		a->left -= size;
		rc = split(a, &r);
		if (!rc)
			rc = common(a, &r);
		else if (rc > 0)
			rc = 0;
	}
	return rc ? -ERR_NOMEM : 0;
}

static int put(struct align_rows *out, uint32_t old, uint32_t now, int how)
{
	struct align_row row = { { old, now }, (uint8_t)how };

	return vec_push(out, row);
}

/* Appends the elements between two matches, paired by place or by weak
 * tokens. */
static int put_gap(struct aligner *a, const struct align_side side[2],
		   struct range r, struct align_rows *out)
{
	uint32_t i = r.from[0], j = r.from[1];
	int rc = 0;

	if (side[0].weak && i < r.to[0] && j < r.to[1]) {
		a->token[0] = side[0].weak;
		a->token[1] = side[1].weak;
		rc = align_range(a, r);
	} else {
		for (; i < r.to[0] && j + (i - r.from[0]) < r.to[1]; i++)
			a->match[i] = j + (i - r.from[0]);
		i = r.from[0];
	}
	for (; !rc && i < r.to[0]; i++) {
		if (a->match[i] == NONE) {
			rc = put(out, i, NONE, ALIGN_OLD);
			continue;
		}
		for (; !rc && j < a->match[i]; j++)
			rc = put(out, NONE, j, ALIGN_NEW);
		if (!rc)
			rc = put(out, i, j++, ALIGN_CHANGED);
	}
	for (; !rc && j < r.to[1]; j++)
		rc = put(out, NONE, j, ALIGN_NEW);
	return rc;
}

static int put_all(struct aligner *a, const struct align_side side[2],
		   struct align_rows *out)
{
	struct range gap = { { 0, 0 }, { 0, 0 } };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < side[0].n; i++) {
		uint32_t j = a->match[i];

		if (j == NONE)
			continue;
		gap.to[0] = i;
		gap.to[1] = j;
		rc = put_gap(a, side, gap, out) ?: put(out, i, j, ALIGN_SAME);
		gap.from[0] = i + 1;
		gap.from[1] = j + 1;
	}
	gap.to[0] = (uint32_t)side[0].n;
	gap.to[1] = (uint32_t)side[1].n;
	return rc ? rc : put_gap(a, side, gap, out);
}

int align(const struct align_side side[2], size_t tokens,
	  struct align_rows *out)
{
	struct aligner a = { .token = { side[0].token, side[1].token },
			     .left = BUDGET };
	struct range all = { { 0, 0 },
			     { (uint32_t)side[0].n, (uint32_t)side[1].n } };
	int rc = -ERR_NOMEM;

	if (side[0].n >= NONE || side[1].n >= NONE)
		return -ERR_NOMEM;
	a.match = arrays_new(&a.arrays, side[0].n, sizeof(*a.match));
	a.seen[0] = arrays_new(&a.arrays, tokens, sizeof(**a.seen));
	a.seen[1] = arrays_new(&a.arrays, tokens, sizeof(**a.seen));
	if (!a.arrays.failed) {
		memset(a.match, 0xff, side[0].n * sizeof(*a.match));
		rc = align_range(&a, all);
	}
	if (!rc)
		rc = put_all(&a, side, out);
	arrays_fini(&a.arrays);
	vec_fini(&a.todo);
	vec_fini(&a.anchors);
	vec_fini(&a.top);
	return rc ? -ERR_NOMEM : 0;
}
