// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads fields of protocol buffers: see proto_in.h. */
#include "base/proto_in.h"

bool proto_next(struct cursor *c, struct proto_field *f)
{
	const uint8_t *start = c->p;
	uint64_t tag;

	if (!cursor_left(c))
		return false;
	tag = cursor_uleb(c);
	*f = (struct proto_field){ .number = tag >> 3 < 1u << 29
					     ? (unsigned int)(tag >> 3) : 0,
				   .wire = tag & 7, .start = start };
	switch (f->wire) {
	case PROTO_VARINT:
		f->v = cursor_uleb(c);
		break;
	case PROTO_FIXED64:
		f->v = cursor_u64(c);
		break;
	case PROTO_BYTES:
		f->part = cursor_sub(c, cursor_uleb(c));
		break;
	case PROTO_FIXED32:
		f->v = cursor_u32(c);
		break;
	default:
		cursor_fail(c);
	}
	if (!f->number)
		cursor_fail(c);
	f->end = c->p;
	return !c->bad;
}
