/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MERGE_INTERNAL_H
#define TALLY_PROFILE_MERGE_INTERNAL_H
/* Shared by the parts of a merge. */
#include "profile/merge.h"

/* Rows of one recording mapped to rows of the result; PROF_NONE: unknown. */
struct merge_maps {
	uint32_t *str, *event, *run, *thread, *image, *loc, *node, *func,
		*frame;
};

struct merge {
	struct profile *p;		/* the result */
	const struct profile *from;	/* the current recording */
	struct merge_maps *maps;	/* maps of the current recording */
	bool failed;			/* no memory for a string */
};

/* Returns the id of a string of the current recording in the result; PROF_NONE
 * if out of memory. */
uint32_t merge_str(struct merge *m, uint32_t id);
/* Maps a row of another table; PROF_NONE stays PROF_NONE. */
static inline uint32_t merge_row(const uint32_t *map, uint32_t id)
{
	return id == PROF_NONE ? PROF_NONE : map[id];
}
/* Returns a map of `n` unknown rows; NULL if out of memory. */
uint32_t *merge_map(size_t n);

/* Adds the properties of the recording and of its runs, which already exist. */
int merge_facts(struct merge *m);
/* Adds the symbol part; all other tables exist. */
int merge_symbols(struct merge *m);
/* Sorts the result and removes duplicates. */
int merge_finish_symbols(struct profile *p);

#endif
