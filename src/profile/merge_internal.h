/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MERGE_INTERNAL_H
#define TALLY_PROFILE_MERGE_INTERNAL_H
/* Shared by the parts of a merge. */
#include "base/guess.h"
#include "profile/format.h"
#include "profile/merge.h"

/* Rows of one recording mapped to rows of the result; PROF_NONE: unknown.  Where
 * a map is NULL, rows keep their numbers. */
struct merge_maps {
	uint32_t *str, *event, *run, *thread, *image, *loc, *node, *func,
		*frame;
};

struct merge {
	struct profile *p;		/* the result */
	const struct profile *from;	/* the current recording */
	struct merge_maps *maps;	/* maps of the current recording */
	bool failed;			/* no memory for a string */
	/* Machines that run the same programs have many rows in the same order. */
	struct guess str, loc, node, func, frame;
};

/* merge_rows.c: returns the id of a string of the current recording in the result;
 * PROF_NONE if out of memory. */
uint32_t merge_str(struct merge *m, uint32_t id);
/* Maps a row of another table; PROF_NONE stays PROF_NONE. */
static inline uint32_t merge_row(const uint32_t *map, uint32_t id)
{
	return id == PROF_NONE ? PROF_NONE : map[id];
}
/* Returns a map of `n` unknown rows; NULL if out of memory. */
uint32_t *merge_map(size_t n);

/* Returns the value of a column, which may refer to a row, for the result. */
uint64_t merge_ref(const struct merge_maps *m, const struct table *t,
		   const struct column *c, const void *row);
/* Replaces all references of a row by those of the result. */
void merge_refs(struct merge *m, const struct table *t, void *row);
/* Adds a row of the current recording to a table, with its references replaced.
 * Returns the new row, or NULL if out of memory. */
void *merge_add(struct merge *m, const struct table *t, const void *row);
/* Appends the bytes at *offset of `from`, where they are checked to be, and sets
 * *offset to their place in `to`. */
void merge_bytes(const struct buf *from, uint32_t *offset, uint32_t size,
		 struct buf *to);

int merge_maps_init(struct merge_maps *m, const struct profile *p);
void merge_maps_fini(struct merge_maps *m);
/* Adds the images; `tab` finds those of the result. */
int merge_images(struct merge *m, struct idtab *tab);
/* Adds locations, stacks and kinds of waits; the images exist. */
int merge_stacks(struct merge *m);
/* Adds losses and totals of the runs that are mapped, `shift` later. */
int merge_totals(struct merge *m, uint64_t shift);
/* merge_facts.c: adds the properties of the recording and of its runs, which already
 * exist. */
int merge_facts(struct merge *m);
/* merge_symbols.c: adds the symbol part; all other tables exist. */
int merge_symbols(struct merge *m);
/* Sorts the result and removes duplicates.  May be called after each
 * recording. */
int merge_finish_symbols(struct profile *p);

#endif
