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

/* Returns whether a kind is a call without its object, and another one is the same call
 * with one. */
static bool is_call_of(const struct profile *p, uint32_t a, uint32_t b)
{
	const char *call = profile_cstr(p, a);
	size_t n = strlen(call);

	return n && !strncmp(call, profile_cstr(p, b), n) &&
	       profile_cstr(p, b)[n] == ' ';
}

/* Adds a kind to that of a node.  `mixed`: it is that of several objects.  Returns 0 or
 * -ERR_NOMEM. */
static int add_kind(struct profile *p, uint32_t *kind, bool *mixed, uint32_t more)
{
	if (!*kind || (!*mixed && is_call_of(p, *kind, more))) {
		*kind = more;
	} else if (*kind != SEVERAL && *kind != more && !is_call_of(p, more, *kind)) {
		*kind = unite(p, *kind, more);
		*mixed = true;
	}
	return *kind ? 0 : -ERR_NOMEM;
}

uint32_t *wait_kinds_of_nodes(struct profile *p)
{
	uint32_t *kind = calloc(p->nodes.n + 1, sizeof(*kind));
	bool *mixed = calloc(p->nodes.n + 1, sizeof(*mixed));
	int r = kind && mixed ? 0 : -ERR_NOMEM;

	for (size_t i = 0; i < p->wait_kinds.n && r >= 0; i++) {
		const struct prof_wait_kind *k = &p->wait_kinds.v[i];

		if (k->kind)
			r = add_kind(p, &kind[k->node], &mixed[k->node], k->kind);
	}
	for (size_t i = 0; r >= 0 && i < p->nodes.n; i++)
		if (kind[i] == SEVERAL)
			kind[i] = PROF_STR_EMPTY;
	free(mixed);
	if (r < 0) {
		free(kind);
		return NULL;
	}
	return kind;
}
