/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_DIVIDE_H
#define TALLY_PUSH_DIVIDE_H
/*
 * Extracts some samples of a profile as a smaller profile that contains only what
 * these samples refer to.  The profile is a pprof Profile or an OTLP request as
 * src/export/otlp.c writes it.  The bytes are hostile.  A message that refers to
 * missing rows, or whose IDs are not 1, 2, 3 …, cannot be divided.
 */
#include "base/buf.h"

/* Returns the number of samples, 0 if the profile cannot be divided. */
size_t divide_samples(const void *p, size_t n, bool otlp);
/* Appends samples [first, end), counted over the whole message.  Returns false if
 * it cannot be divided or memory ran out (out->failed). */
bool divide_part(const void *p, size_t n, bool otlp, size_t first, size_t end,
		 struct buf *out);

#endif
