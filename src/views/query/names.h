/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_NAMES_H
#define TALLY_VIEWS_QUERY_NAMES_H
/* Frame keys as words.  Only what is printed is ever demangled. */
#include "views/query/framekey.h"

enum {
	NAME_SHORT = 1,		/* without template arguments and parameters */
	/* Shown without its image: functions of one name in several images are
	 * told apart, too. */
	NAME_ALONE = 2,
	NAME_BARE = 4,		/* nothing tells it from others of its name */
};

/* The readable name of a frame's symbol (unsafe).  Functions of one name get what
 * tells them apart: "process (a.c)". */
void name_symbol(const struct profile *p, const struct frame_keys *keys,
		 const struct frame_key *k, unsigned int how, struct buf *out);
/* Shortens such a name, as demangle_short, and keeps what tells it apart. */
void name_shorten(const char *name, struct buf *out);
/* A function's image, by its path or (short) the last part of that; where images of one
 * name differ, with what tells them apart (unsafe). */
void name_image(const struct profile *p, const struct frame_keys *keys,
		const struct frame_key *k, bool full, struct buf *out);
/* What name_stable writes, from its parts: image's label, function's label, or ""
 * and the file where it is declared. */
void name_id(const char *image, const char *label, const char *file,
	     const char *name, const struct frame_key *k, struct buf *out);
/* "image:file:linkage name": one function's in all recordings, also of other
 * builds and on other machines.  What is not known is empty. */
void name_stable(const struct profile *p, const struct frame_keys *keys,
		 const struct frame_key *k, struct buf *out);

/* Names made ready for text once for each fk. */
struct name_cache {
	const struct profile *p;
	const struct frame_keys *keys;
	unsigned int how;	/* NAME_* */
	uint32_t *at;		/* by fk: 1 + offset in text, 0: not made */
	struct buf text;
	struct buf tmp;
};

int name_cache_init(struct name_cache *c, const struct profile *p,
		    const struct frame_keys *keys, unsigned int how);
void name_cache_fini(struct name_cache *c);
/* Safe text; kernel functions begin with "[k] ".  The
 * pointer lives until the next call. */
const char *name_cached(struct name_cache *c, uint32_t fk);

#endif
