/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MERGE_H
#define TALLY_PROFILE_MERGE_H
/*
 * Merges several recordings into one that contains the runs of all, in order,
 * with shared tables combined.  Readers need no special support for merged
 * profiles.
 *
 * The result is written to memory like a recording to disk, and read from
 * there, so memory use follows the compressed samples.  Environment values that
 * differ become "A, B".
 */
#include "profile/reader.h"

/* Merges n recordings into *out, which the caller closes.  They must be
 * symbolized and contain the same events (ERR_USAGE otherwise); `paths` are
 * used in messages.  They are not needed afterwards. */
int recordings_merge(struct reader *const *in, const char *const *paths,
		     size_t n, struct reader **out, struct error *err);

/* Adds the symbol part of `from` to p, whose other tables are complete:
 * images[i] and locs[i] are the rows of p for those of `from`.  Symbols that p
 * already has are kept.  Call symbols_merged after the last one.  Returns 0 or
 * -ERR_NOMEM. */
int symbols_merge(struct profile *p, const struct profile *from,
		  const uint32_t *images, const uint32_t *locs);
int symbols_merged(struct profile *p);

#endif
