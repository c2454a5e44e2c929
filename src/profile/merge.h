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

/* Makes *out, which the caller closes, of the samples of these threads (by row)
 * and of the runs that have one of them, with the losses and totals of those
 * runs. */
int recording_select(struct reader *in, const uint8_t *thread_ok,
		     const char *path, struct reader **out, struct error *err);

/* Adds the symbol part of `from` to p, whose other tables are complete:
 * images[i] and locs[i] are the rows of p for those of `from`.  Symbols that p
 * already has are kept.  Call symbols_merged after the last one.  Returns 0 or
 * -ERR_NOMEM. */
int symbols_merge(struct profile *p, const struct profile *from,
		  const uint32_t *images, const uint32_t *locs);
int symbols_merged(struct profile *p);

/*
 * Sums recordings of many machines into one, whose size follows its different
 * stacks.  Recordings are added one after another, so that memory follows the
 * result.
 *
 * The result does not depend on the order of recordings, and results can be
 * added again: merges of any groups of recordings give the same bytes.
 *
 * - Samples of a thread with the same event and stack become one, with the sum
 *   of their weights, at the start of the run and without a CPU.
 * - Runs, their threads, losses and totals stay apart.  The clock of the result
 *   is the calendar, in nanoseconds since 1970.
 * - Labels, host and revision become those of each run.  Of other facts that
 *   differ, the values are listed in their order, as far as they are short.
 * - Events that differ in anything, also in rate, period or what was asked for,
 *   stay apart.
 * - Of several symbols for one address, the most detailed one is taken.
 */
struct merger;

/* Returns 0 or -ERR_NOMEM. */
int merger_open(struct merger **out);
void merger_close(struct merger *m);
/* Returns a pool for the strings of the recordings that will be added, if they are opened
 * one after another (reader_open_in). */
struct strpool *merger_strings(struct merger *m);
/* Adds a recording, which is not needed afterwards; `name` is used in
 * messages.  After an error only merger_close may be called. */
int merger_add(struct merger *m, struct reader *r, const char *name,
	       struct error *err);
/* Returns the number of runs so far. */
size_t merger_runs(const struct merger *m);
/* Appends the names of events that are kept apart although they measure the same,
 * with their rates, as text to show: "cpu-clock at 19 and 99 Hz".  Appends
 * nothing if there are none. */
void merger_apart(const struct merger *m, struct buf *out);
/* Writes the result to an fd; `name` is used in messages.  Nothing may be added
 * afterwards. */
int merger_write(struct merger *m, int fd, const char *name,
		 struct error *err);

#endif
