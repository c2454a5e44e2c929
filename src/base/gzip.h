/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_GZIP_H
#define TALLY_BASE_GZIP_H
/* Compresses and decompresses memory in the gzip format (RFC 1952). */
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

enum gzip_level { GZIP_FAST = 2, GZIP_SMALL = 9 };

/* Appends the compressed bytes.  Equal input gives equal output. */
int gzip_pack(struct buf *out, const void *p, size_t n, enum gzip_level level,
	      struct error *err);
/* Appends the decompressed bytes.  Returns ERR_FORMAT if they exceed `limit` or
 * if p is not one complete gzip member. */
int gzip_unpack(struct buf *out, const void *p, size_t n, size_t limit,
		struct error *err);

#endif
