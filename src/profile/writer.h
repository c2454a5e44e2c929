/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_WRITER_H
#define TALLY_PROFILE_WRITER_H
/*
 * Writes a .tally file (doc/tally-format.5).  Samples are appended as they
 * arrive and leave memory at each flush.  Of the model's tables, a flush writes
 * the rows added since the last one.  After a flush the file is complete up to
 * that point, even if the process is killed later.
 */
#include "profile/model.h"

struct writer;

/* Opens a writer on an fd owned by the caller, and writes the header; `name` is used in
 * messages.  The profile must outlive the writer. */
int writer_open_fd(int fd, const char *name, const struct profile *p,
		   struct writer **out, struct error *err);
/* Stores tables and symbols uncompressed from now on, for a file that is read once,
 * soon. */
void writer_skip_compression(struct writer *w);
/* Appends one sample; its rows (thread, stack…) must be in the model.  Flushes
 * automatically when a batch is full.  After an error (disk full) every later
 * call returns the same error, and the file stays complete up to the last
 * flush. */
int writer_sample(struct writer *w, const struct prof_sample *s,
		  struct error *err);
/* From now on the samples are sums of those before: a row for each event and stack, in
 * this order.  Readers that need no more take them instead of the samples. */
int writer_begin_sums(struct writer *w, struct error *err);
/* Writes pending data to the kernel. */
int writer_flush(struct writer *w, struct error *err);
/* Flushes, writes the symbol part (if profile.symbolized) and the end mark. */
int writer_finish(struct writer *w, struct error *err);
/* Returns the number of bytes written so far. */
uint64_t writer_bytes(const struct writer *w);
void writer_close(struct writer *w);

/* Writes a copy of the file `src` to `dst` (may be equal: replaced atomically)
 * with the symbol part of `p`, which was read from src. */
int writer_replace_symbols(const char *src, const char *dst,
			   const struct profile *p, struct error *err);

#endif
