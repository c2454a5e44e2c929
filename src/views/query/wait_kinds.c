// SPDX-License-Identifier: GPL-2.0-or-later
/* Unites the kinds of each stack of waits. */
#include "views/query/wait_kinds.h"

#include <stdlib.h>
#include <string.h>

enum { SEVERAL = PROF_NONE };	/* different calls */

/* Returns what two kinds have in common: a kind, its first word, or SEVERAL.
 * PROF_STR_EMPTY: out of memory. */
static uint32_t unite(struct profile *p, uint32_t a, uint32_t b)
{
	const char *x = profile_cstr(p, a), *y = profile_cstr(p, b);
	size_t n = strcspn(x, " ");
	char *word;
	uint32_t id;

	if (!n || n != strcspn(y, " ") || strncmp(x, y, n) != 0)
		return SEVERAL;
	word = strndup(x, n);
	id = word ? profile_str(p, word) : PROF_NONE;
	free(word);
	return id == PROF_NONE ? PROF_STR_EMPTY : id;
}

uint32_t *wait_kinds_of_nodes(struct profile *p)
{
	uint32_t *kind = calloc(p->nodes.n + 1, sizeof(*kind));

	for (size_t i = 0; kind && i < p->wait_kinds.n; i++) {
		const struct prof_wait_kind *k = &p->wait_kinds.v[i];
		uint32_t *at = &kind[k->node];

		if (!k->kind) {
			continue;
		} else if (!*at) {
			*at = k->kind;
		} else if (*at != SEVERAL && *at != k->kind) {
			*at = unite(p, *at, k->kind);
			if (!*at) {
				free(kind);
				return NULL;
			}
		}
	}
	for (size_t i = 0; kind && i < p->nodes.n; i++)
		if (kind[i] == SEVERAL)
			kind[i] = PROF_STR_EMPTY;
	return kind;
}
