/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_NAMES_H
#define TALLY_VIEWS_NAMES_H
/* Frame keys as words.  Only what is printed is ever demangled. */
#include "views/framekey.h"

/* The readable name of a frame's symbol, whole and as it is (unsafe). */
void name_symbol(const struct profile *p, const struct frame_key *k,
		 struct buf *out);

/* Names made ready for text once for each fk. */
struct name_cache {
	const struct profile *p;
	const struct frame_keys *keys;
	bool full;
	uint32_t *at;		/* by fk: 1 + offset in text, 0: not made */
	struct buf text;
	struct buf tmp, tmp2;
};

int name_cache_init(struct name_cache *c, const struct profile *p,
		    const struct frame_keys *keys, bool full);
void name_cache_fini(struct name_cache *c);
/* Safe text, shortened unless `full`; kernel functions begin with "[k] ".  The
 * pointer lives until the next call. */
const char *name_cached(struct name_cache *c, uint32_t fk);

#endif
