// SPDX-License-Identifier: GPL-2.0-or-later
/* Begins the tables of a recording again, for its next file. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/merge_internal.h"

static bool is_kept(const struct table *t)
{
	return t->section == SECTION_RUNS || t->section == SECTION_ENVS ||
	       t->section == SECTION_EVENTS;
}

/* Copies the rows of a table; their strings get new ids. */
static int copy_rows(struct merge *m, const struct table *t)
{
	for (size_t i = 0; i < table_rows(m->from, t); i++)
		if (!merge_add(m, t, table_row(m->from, t, i)))
			return -ERR_NOMEM;
	return 0;
}

/* Drops the facts about one file only. */
static void drop_facts(struct profile *p)
{
	static const char *const keys[] = { PROF_ENV_REPEATED, PROF_ENV_THINNED,
					    PROF_ENV_SHORTENED, PROF_ENV_FULL };
	size_t n = 0;

	for (size_t i = 0; i < p->envs.n; i++) {
		const char *key = profile_cstr(p, p->envs.v[i].key);
		bool drop = false;

		for (size_t k = 0; k < COUNT(keys); k++)
			drop |= !strcmp(key, keys[k]);
		if (!drop)
			p->envs.v[n++] = p->envs.v[i];
	}
	p->envs.n = n;
}

int profile_restart(struct profile *p, struct profile *old)
{
	struct profile fresh;
	struct merge_maps maps = { .str = merge_map(p->str.str.n) };
	struct merge m = { .p = &fresh, .from = p, .maps = &maps };
	int rc = profile_init(&fresh) < 0 || !maps.str ? -ERR_NOMEM : 0;

	profile_keep_nodes(&fresh, p->nodes_kept);
	for (size_t i = 0; !rc && i < format_ntables; i++)
		if (is_kept(&format_tables[i]))
			rc = copy_rows(&m, &format_tables[i]);
	merge_maps_fini(&maps);
	if (rc || m.failed) {
		profile_fini(&fresh);
		return -ERR_NOMEM;
	}
	drop_facts(&fresh);
	*old = *p;
	*p = fresh;
	return 0;
}
