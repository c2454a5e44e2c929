/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_GZIP_H
#define TALLY_BASE_GZIP_H
/* Bytes in memory to and from the gzip format (RFC 1952). */
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Appends the compressed bytes; the same input makes the same output. */
int gzip_pack(struct buf *out, const void *p, size_t n, struct error *err);
/* Appends the unpacked bytes, at most `limit`; ERR_FORMAT where they are more, or p
 * is no whole gzip member. */
int gzip_unpack(struct buf *out, const void *p, size_t n, size_t limit,
		struct error *err);

#endif
