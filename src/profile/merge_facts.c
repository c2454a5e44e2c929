// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the properties of several recordings: see merge.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/search.h"
#include "profile/merge_internal.h"

enum {
	ENV_VALUE = 300,	/* maximum bytes of a combined value */
	FACTS_MAX = 1024,	/* maximum properties of a recording, which has about
				 * twenty */
};

/* Splits "A, B" into values.  Their texts point into `copy`, which the caller
 * frees.  Returns 0 or -ERR_NOMEM. */
struct values {
	VEC(const char *) v;
};

static int split(struct values *out, char *copy)
{
	for (char *at = copy, *next; at; at = next) {
		next = strstr(at, ", ");
		if (next) {
			*next = 0;
			next += 2;
		}
		if (vec_push(&out->v, at) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int by_value(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/*
 * Combines different values to a sorted list without repetitions, of the first
 * values that fit.  What does not fit into a list of some values does not fit
 * into one of more, so that lists can be combined in any order.
 */
static int combine(const char *a, const char *b, struct buf *out)
{
	struct values all = { .v = { 0 } };
	char *copy[2] = { strdup(a), strdup(b) };
	int rc = copy[0] && copy[1] ? 0 : -ERR_NOMEM;

	for (int i = 0; !rc && i < 2; i++)
		rc = split(&all, copy[i]);
	if (!rc)
		vec_sort(&all.v, by_value);
	for (size_t i = 0; !rc && i < all.v.n; i++) {
		if ((i && !strcmp(all.v.v[i - 1], all.v.v[i])) || !*all.v.v[i])
			continue;
		if (out->n + 2 + strlen(all.v.v[i]) > ENV_VALUE)
			break;
		buf_printf(out, "%s%s", out->n ? ", " : "", all.v.v[i]);
	}
	vec_fini(&all.v);
	free(copy[0]);
	free(copy[1]);
	return rc || out->failed ? -ERR_NOMEM : 0;
}

/* Adds a property of the whole recording; different values become a list. */
static int add_fact(struct profile *p, const char *key, const char *value)
{
	const char *old = profile_env(p, PROF_NONE, key);
	struct buf both = { 0 };
	int rc;

	if (!old)
		return profile_set_env(p, PROF_NONE, key, value);
	if (!strcmp(old, value))
		return 0;
	rc = combine(old, value, &both);
	if (!rc && strcmp(old, buf_cstr(&both)) != 0)
		rc = profile_set_env(p, PROF_NONE, key, buf_cstr(&both));
	buf_fini(&both);
	return rc;
}

/* Gives a property of the recording to its runs that do not have it. */
static int give_runs(struct merge *m, uint32_t key_id, const char *key,
		     const char *value)
{
	uint8_t *has = calloc(m->from->runs.n + 1, 1);
	int rc = has ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < m->from->envs.n; i++) {
		const struct prof_env *e = &m->from->envs.v[i];

		if (e->key == key_id && e->run < m->from->runs.n)
			has[e->run] = 1;
	}
	for (size_t i = 0; !rc && i < m->from->runs.n; i++)
		if (!has[i] && m->maps->run[i] != PROF_NONE)
			rc = profile_set_env(m->p, m->maps->run[i], key, value);
	free(has);
	return rc;
}

static int take_fact(struct merge *m, const struct prof_env *e)
{
	const char *key = profile_cstr(m->from, e->key);
	const char *value = profile_cstr(m->from, e->value);
	/* equal stacks become one */
	bool skipped = !strcmp(key, PROF_ENV_REPEATED) ||
		       !strcmp(key, PROF_ENV_FULL);
	bool label = !strncmp(key, PROF_ENV_LABEL, strlen(PROF_ENV_LABEL));
	int rc = 0;

	if (label || !strcmp(key, "hostname") || !strcmp(key, "revision"))
		rc = give_runs(m, e->key, key, value);
	return rc || label || skipped ? rc : add_fact(m->p, key, value);
}

/* A newer value of a fact replaces an older one of the same file: the last of each. */
static int find_last(const struct profile *p, struct u64map *last)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->envs.n; i++)
		if (p->envs.v[i].run == PROF_NONE)
			rc = u64map_put(last, p->envs.v[i].key, (uint32_t)i);
	return rc;
}

int merge_facts(struct merge *m)
{
	struct u64map last = { 0 };	/* by key */
	size_t facts = 0;
	int rc = find_last(m->from, &last);

	for (size_t i = 0; !rc && i < m->from->envs.n; i++) {
		const struct prof_env *e = &m->from->envs.v[i];

		if (e->run < m->from->runs.n &&
		    m->maps->run[e->run] == PROF_NONE)
			continue;
		if (e->run < m->from->runs.n)
			rc = profile_set_env(m->p, m->maps->run[e->run],
					     profile_cstr(m->from, e->key),
					     profile_cstr(m->from, e->value));
		else if (e->run == PROF_NONE && facts++ < FACTS_MAX &&
			 u64map_get(&last, e->key) == i)
			rc = take_fact(m, e);
	}
	u64map_fini(&last);
	return rc;
}
