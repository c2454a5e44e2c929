// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the nearest word: see nearest.h. */
#include "base/nearest.h"

#include <string.h>

enum { WORD_MAX = 64 };

static size_t least(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Returns the number of insertions, deletions, substitutions and swaps of
 * neighbours (optimal string alignment distance). */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[3][WORD_MAX + 1];

	for (size_t j = 0; j <= nb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *cur = row[i % 3], *up = row[(i + 2) % 3];
		size_t *up2 = row[(i + 1) % 3];

		cur[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t diff = a[i - 1] != b[j - 1];

			cur[j] = least(up[j] + 1, cur[j - 1] + 1,
				       up[j - 1] + diff);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < cur[j])
				cur[j] = up2[j - 2] + 1;
		}
	}
	return row[na % 3][nb];
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t na = strlen(n->word), nb = strlen(candidate), d;

	if (na > WORD_MAX || nb > WORD_MAX)
		return;
	d = edits(n->word, na, candidate, nb);
	/* A prefix of the candidate is nearer than its edit distance
	 * suggests. */
	if (na >= 2 && !strncmp(n->word, candidate, na))
		d = 1;
	if (!n->best || d < n->distance) {
		n->best = candidate;
		n->distance = d;
	}
}

const char *nearest_best(const struct nearest *n)
{
	size_t len = strlen(n->word), limit = len / 3 < 2 ? 2 : len / 3;

	if (!n->best || n->distance > limit || n->distance >= len)
		return NULL;
	/* Changing half of a short word can produce any word. */
	return n->distance == 1 || n->distance * 2 < len ? n->best : NULL;
}
