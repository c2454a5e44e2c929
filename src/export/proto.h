/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_PROTO_H
#define TALLY_EXPORT_PROTO_H
/*
 * Encoder for the wire format of protocol buffers, limited to what profiles
 * need: varints, fixed 64-bit numbers, and length-delimited bytes (text,
 * messages, packed numbers).  Zero is omitted, as in proto3.
 */
#include <string.h>

#include "base/buf.h"

static inline void proto_tag(struct buf *b, unsigned int field,
			     unsigned int wire)
{
	buf_uleb(b, (uint64_t)field << 3 | wire);
}

static inline void proto_uint(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	proto_tag(b, field, 0);
	buf_uleb(b, v);
}

static inline void proto_fixed64(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	proto_tag(b, field, 1);
	buf_u64(b, v);
}

static inline void proto_bytes(struct buf *b, unsigned int field,
			       const void *p, size_t n)
{
	proto_tag(b, field, 2);
	buf_uleb(b, n);
	buf_bytes(b, p, n);
}

static inline void proto_str(struct buf *b, unsigned int field, const char *s)
{
	proto_bytes(b, field, s, strlen(s));
}

/* Appends `part` as a message, or as packed numbers, and empties it. */
static inline void proto_part(struct buf *b, unsigned int field,
			      struct buf *part)
{
	proto_bytes(b, field, part->p, part->n);
	b->failed |= part->failed;
	buf_again(part);
}

#endif
