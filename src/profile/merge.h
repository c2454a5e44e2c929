/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MERGE_H
#define TALLY_PROFILE_MERGE_H
/*
 * Several recordings as one: the runs of all, one behind the other, with the
 * tables that they share made one.  What reads a profile need not know.
 *
 * The result is written to memory as a recording is to disk and read from there,
 * so that memory follows the compressed samples.  Facts of the environment that
 * differ become "A, B".
 */
#include "profile/reader.h"

/* The recordings are symbolized as far as they will be, and hold the same events
 * (ERR_USAGE if not); `paths` are for messages.  Nothing of them is needed
 * afterwards. */
int recordings_merge(struct reader *const *in, const char *const *paths,
		     size_t n, struct reader **out, struct error *err);

/* Adds the symbol part of `from` to that of p, whose other tables are there:
 * images[i] and locs[i] are the rows in p of those of `from`.  What p knows stays.
 * symbols_merged when all are added.  0 or -ERR_NOMEM. */
int symbols_merge(struct profile *p, const struct profile *from,
		  const uint32_t *images, const uint32_t *locs);
int symbols_merged(struct profile *p);

#endif
