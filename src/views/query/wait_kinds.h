/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_WAIT_KINDS_H
#define TALLY_VIEWS_QUERY_WAIT_KINDS_H
/*
 * What threads wait for, by stack.  A stack at which the same call waited for several
 * kinds of files has only the word for the call; a stack of different calls has none.  A
 * kind without a file is that of a wait whose file is unknown, and adds nothing.
 */
#include <string.h>

#include "profile/model.h"

/* Returns the kind of each node as a string of the profile: 0 if it is unknown.
 * Returns NULL if out of memory.  The caller frees the result. */
uint32_t *wait_kinds_of_nodes(struct profile *p);

/* Returns whether an event has kinds: it is `blocked`. */
static inline bool wait_kinds_has(const struct profile *p,
				  const struct prof_event *e)
{
	return prof_is_wait(e) && !strcmp(profile_cstr(p, e->name), "blocked");
}

#endif
