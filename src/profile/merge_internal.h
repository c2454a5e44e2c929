/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MERGE_INTERNAL_H
#define TALLY_PROFILE_MERGE_INTERNAL_H
/* What the parts of a merge share. */
#include "profile/merge.h"

/* Rows of one recording: which they are in the result, PROF_NONE: not known. */
struct merge_maps {
	uint32_t *str, *event, *run, *thread, *image, *loc, *node, *func,
		*frame;
};

struct merge {
	struct profile *p;		/* the result */
	const struct profile *from;	/* the recording at hand */
	struct merge_maps *maps;	/* its own */
	bool failed;			/* a string found no memory */
};

/* The id of a string of the recording at hand in the result; PROF_NONE when out
 * of memory. */
uint32_t merge_str(struct merge *m, uint32_t id);
/* A row of another table; PROF_NONE stays. */
static inline uint32_t merge_row(const uint32_t *map, uint32_t id)
{
	return id == PROF_NONE ? PROF_NONE : map[id];
}
/* A map of `n` rows, none of them known yet; NULL when out of memory. */
uint32_t *merge_map(size_t n);

/* Takes in what is said of the whole recording, and of its runs, which are
 * there. */
int merge_facts(struct merge *m);
/* Takes the symbol part in; all other tables are there. */
int merge_symbols(struct merge *m);
/* Orders what was taken in and leaves out what is there twice. */
int merge_finish_symbols(struct profile *p);

#endif
