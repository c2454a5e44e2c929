/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_WALK_TABLES_H
#define TALLY_RECORD_COLLECT_WALK_TABLES_H
/*
 * The unwind tables of recorded images, and the cache of walks that refers to them.
 *
 * A table is built from the mapped file that the recorder has seen (images.h), when a
 * stack first leads through it.  Tables are closed, the longest unused first, when there
 * are too many or when nothing has used them for a while.
 *
 * Code without unwind information in its file is unwound by .debug_frame of its
 * separate debug file, if there is one.
 */
#include "record/collect/images.h"
#include "unwind/unwind.h"

struct walk_tables {
	struct images *images;
	struct unwind_cache *cache;	/* refers to tables by image */
	bool stale;			/* some were closed: the next walk clears it */
	VEC(struct walk_table) v;	/* by image of images.h */
	size_t open;			/* number of open tables */
	uint64_t clock;			/* number of walks so far */
	uint64_t released;	/* value of `clock` when pages were last released */
	uint64_t checked;	/* ... when tables were last checked */
	const char *debug_dirs;		/* as in sym_options */
	/* Tables of more than kept_bytes in total are closed after unused_walks walks
	 * that did not use them. */
	uint64_t kept_bytes, unused_walks;
};

/* Returns 0 or -ERR_NOMEM. */
int walk_tables_init(struct walk_tables *t, struct images *im);
void walk_tables_fini(struct walk_tables *t);
/* Begins a walk. */
void walk_tables_begin(struct walk_tables *t);
/* Returns the image's table, or NULL if it has none. */
struct unwind_table *walk_tables_get(struct walk_tables *t, uint32_t image);
/* Forgets an image that is no longer mapped. */
void walk_tables_forget(struct walk_tables *t, uint32_t image);
/* Closes unused tables between two batches of samples. */
void walk_tables_idle(struct walk_tables *t);
/* Releases pages of mapped files, which are read again when needed. */
void walk_tables_release(struct walk_tables *t);

#endif
