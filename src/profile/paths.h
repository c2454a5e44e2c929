/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_PATHS_H
#define TALLY_PROFILE_PATHS_H
/*
 * Nodes and the locations that they bring, coded together: whom a place in the
 * code calls is most often whom it called before, and new code is near to what
 * else is called from there.  doc/tally-format.5, "PATHS".
 *
 * Sections form groups: what one has told helps those that follow.  A section
 * that begins a group needs nothing of the file before it, so that damage costs
 * the rest of a group at most.
 */
#include "profile/format.h"

struct paths;

struct paths *paths_new(void);
void paths_free(struct paths *s);

/* Appends a section of the locations from `loc` on and the nodes from `node` on;
 * false, and nothing is appended: plain tables have to tell these. */
bool paths_put(struct paths *s, struct buf *out, const struct profile *p,
	       size_t loc, size_t node);
/* As section_get. */
bool paths_get(struct paths *s, struct profile *p, struct cursor *c,
	       size_t gap);

#endif
