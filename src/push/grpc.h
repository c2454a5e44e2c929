/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_GRPC_H
#define TALLY_PUSH_GRPC_H
/* Messages of gRPC ("gRPC over HTTP2", Length-Prefixed-Message): five bytes precede
 * each, whether it is compressed, and its length, big-endian. */
#include "base/buf.h"

enum { GRPC_PREFIX = 5 };

static inline void grpc_frame(struct buf *out, bool gzip, const void *p,
			      size_t n)
{
	buf_u8(out, gzip);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_u8(out, (uint8_t)(n >> shift));
	buf_bytes(out, p, n);
}

#endif
