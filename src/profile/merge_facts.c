// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the properties of several recordings: see merge.h. */
#include <string.h>

#include "base/error.h"
#include "profile/merge_internal.h"

enum {
	ENV_VALUE = 300,	/* maximum bytes of a combined value */
	FACTS_MAX = 1024,	/* maximum properties of a recording, which has about
				 * twenty */
};

/* Returns whether a list "A, B" contains this value. */
static bool has_value(const char *all, const char *value)
{
	size_t n = strlen(value);

	for (const char *s = all;; s += 2) {
		if (!strncmp(s, value, n) &&
		    (!s[n] || !strncmp(s + n, ", ", 2)))
			return true;
		s = strstr(s, ", ");
		if (!s)
			return false;
	}
}

/* Adds a property of the whole recording; different values become a list. */
static int add_fact(struct profile *p, const char *key, const char *value)
{
	const char *old = profile_env(p, PROF_NONE, key);
	struct buf both = { 0 };
	int rc;

	if (!old || (!*old && *value))
		return profile_set_env(p, PROF_NONE, key, value);
	if (!*value || has_value(old, value) ||
	    strlen(old) + strlen(value) > ENV_VALUE)
		return 0;
	buf_printf(&both, "%s, %s", old, value);
	rc = both.failed ? -ERR_NOMEM
			 : profile_set_env(p, PROF_NONE, key, buf_cstr(&both));
	buf_fini(&both);
	return rc;
}

int merge_facts(struct merge *m)
{
	size_t facts = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->from->envs.n; i++) {
		struct prof_env e = m->from->envs.v[i];
		const char *key = profile_cstr(m->from, e.key);
		const char *value = profile_cstr(m->from, e.value);

		if (e.run != PROF_NONE)
			rc = profile_set_env(m->p, m->maps->run[e.run], key,
					     value);
		/* a newer value replaced an older one of the same file */
		else if (facts++ < FACTS_MAX &&
			 profile_env(m->from, PROF_NONE, key) == value)
			rc = add_fact(m->p, key, value);
	}
	return rc;
}
