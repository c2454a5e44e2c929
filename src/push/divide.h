/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_DIVIDE_H
#define TALLY_PUSH_DIVIDE_H
/*
 * Some samples of a profile as a profile of its own: with what they refer to and
 * nothing else, so that it is smaller.  pprof's Profile, or a request of OTLP as
 * src/export/otlp.c writes it.  The bytes are hostile; messages that refer to rows
 * that are not there, and profiles whose ids are not 1, 2, 3 …, cannot be divided.
 */
#include "base/buf.h"

/* The number of samples, 0 where it cannot be divided. */
size_t divide_samples(const void *p, size_t n, bool otlp);
/* Appends samples [first, end), counted over the whole message; false: it cannot be
 * divided, or memory ran out (out->failed). */
bool divide_part(const void *p, size_t n, bool otlp, size_t first, size_t end,
		 struct buf *out);

#endif
