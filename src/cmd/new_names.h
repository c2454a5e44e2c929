/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_NEW_NAMES_H
#define TALLY_CMD_NEW_NAMES_H
/* Finds out which functions got names when a recording was symbolized again. */
#include "base/buf.h"
#include "profile/model.h"

/* What the addresses of a profile were called: by location, a hash of the innermost
 * function's name, or 0. */
struct old_names {
	uint64_t *of;
	size_t n;
	size_t details;		/* number of frames and lines of code */
};

/* Returns 0 or -ERR_NOMEM. */
int old_names_take(struct old_names *o, const struct profile *p);
void old_names_fini(struct old_names *o);
/*
 * Appends, as safe text, which functions have other names in `p` than before, those
 * with the most samples first: "names of 12 functions are new: foo, bar, …", or that
 * there are only new lines and inlined functions.  `self`: samples by location; NULL:
 * unknown.  Appends nothing and returns false if nothing is new.
 */
bool new_names_show(const struct old_names *o, const struct profile *p,
		    const uint64_t *self, struct buf *out);

#endif
