/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_NAMES_H
#define TALLY_VIEWS_QUERY_NAMES_H
/* Display names of frame keys.  Only names that are printed are demangled. */
#include "views/query/framekey.h"
#include "views/query/table.h"

enum {
	NAME_SHORT = 1,		/* without template arguments and parameters */
	/* The image is not shown beside it: functions with one name in several
	 * images are distinguished, too. */
	NAME_ALONE = 2,
	NAME_BARE = 4,		/* omit the label that distinguishes equal names */
};

/* Appends the readable name of a frame's symbol as unsafe text.  Functions with
 * the same name get a label: "process (a.c)". */
void name_symbol(const struct profile *p, const struct frame_keys *keys,
		 const struct frame_key *k, unsigned int how, struct buf *out);
/* Returns the label that name_symbol appends in brackets, or "". */
const char *name_label(const struct profile *p, const struct frame_keys *keys,
		       const struct frame_key *k, unsigned int how);
/* Shortens such a name like demangle_short, and keeps its label.  Appends the name
 * itself if nothing is left. */
void name_shorten(const char *name, struct buf *out);
/* Names that are shown together.  Append to full[i] what name_symbol makes, and to
 * brief[i] what must not be shortened; name_set_shorten makes the other short
 * names, such that different names differ (struct short_names). */
struct name_set {
	size_t n;		/* 0 after a failed allocation */
	struct buf *full, *brief;
	bool failed;
};

void name_set_init(struct name_set *s, size_t n);
void name_set_shorten(struct name_set *s);
/* Returns whether memory was missing for any name. */
bool name_set_fini(struct name_set *s);
/* Appends a function's image as unsafe text: its path or, unless `full`, the
 * last path component.  Images with the same name get a label. */
void name_image(const struct profile *p, const struct frame_keys *keys,
		const struct frame_key *k, bool full, struct buf *out);
/* Appends what name_stable writes, from its parts: the image's label, the
 * function's label or "", and the file that declares it. */
void name_id(const char *image, const char *label, const char *file,
	     const char *name, const struct frame_key *k, struct buf *out);
/* Appends "image:file:linkage name", which identifies a function in all
 * recordings, also of other builds and machines.  Unknown parts are empty. */
void name_stable(const struct profile *p, const struct frame_keys *keys,
		 const struct frame_key *k, struct buf *out);

/* Cache of display names, by fk. */
struct name_cache {
	const struct profile *p;
	const struct frame_keys *keys;
	unsigned int how;	/* NAME_* */
	uint32_t *at;		/* by fk: 1 + offset in `text`; 0: not cached */
	struct buf text;
	struct buf tmp;
};

int name_cache_init(struct name_cache *c, const struct profile *p,
		    const struct frame_keys *keys, unsigned int how);
void name_cache_fini(struct name_cache *c);
/* Returns safe text; kernel functions begin with "[k] ".  The pointer is valid
 * until the next call. */
const char *name_cached(struct name_cache *c, uint32_t fk);
/* Makes the names of rows that are shown together, so that different functions do
 * not get the same short name.  Beyond some thousand rows, names are made one by
 * one. */
void name_cache_rows(struct name_cache *c, const struct row_table *t,
		     const uint32_t *order, size_t n);

#endif
