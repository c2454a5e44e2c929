/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_PROTO_IN_H
#define TALLY_BASE_PROTO_IN_H
/*
 * Reads the wire format of protocol buffers (protobuf.dev, "Encoding") field by
 * field.  The bytes are hostile: groups, unknown wire types and truncated
 * fields set the cursor's `bad`.
 *
 *	struct cursor c = cursor_of(p, n);
 *	struct proto_field f;
 *
 *	while (proto_next(&c, &f))
 *		if (f.number == 1 && f.wire == PROTO_BYTES) …
 *	if (c.bad) …
 */
#include "base/cursor.h"

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
	unsigned int number, wire;
	uint64_t v;		/* value of a number */
	struct cursor part;	/* contents of PROTO_BYTES: text, a message, packed
				 * numbers */
	const uint8_t *start, *end;	/* the whole field, with its tag */
};

/* Reads the next field.  Returns false at the end, and if the bytes are invalid
 * (c->bad). */
bool proto_next(struct cursor *c, struct proto_field *f);

#endif
