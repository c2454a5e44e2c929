// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the kernel's type information. */
#include "record/perf/btf.h"

#include <string.h>

#include "base/cursor.h"

/* linux/btf.h, of which old versions lack the newest kinds. */
enum {
	BTF_MAGIC_NUMBER = 0xeb9f,
	HEADER_BYTES = 24, MEMBER_BYTES = 12,
	KIND_INT = 1, KIND_PTR, KIND_ARRAY, KIND_STRUCT, KIND_UNION, KIND_ENUM, KIND_FWD,
	KIND_TYPEDEF, KIND_VOLATILE, KIND_CONST, KIND_RESTRICT, KIND_FUNC, KIND_FUNC_PROTO,
	KIND_VAR, KIND_DATASEC, KIND_FLOAT, KIND_DECL_TAG, KIND_TYPE_TAG, KIND_ENUM64, KINDS,
};

/* Bytes that follow the three words of a type: `fixed`, and `each` of its parts. */
static const struct extra {
	uint8_t fixed, each;
} extras[KINDS] = {
	[KIND_INT] = { 4, 0 },
	[KIND_ARRAY] = { 12, 0 },
	[KIND_STRUCT] = { 0, MEMBER_BYTES },
	[KIND_UNION] = { 0, MEMBER_BYTES },
	[KIND_ENUM] = { 0, 8 },
	[KIND_FUNC_PROTO] = { 0, 8 },
	[KIND_VAR] = { 4, 0 },
	[KIND_DATASEC] = { 0, 12 },
	[KIND_DECL_TAG] = { 4, 0 },
	[KIND_ENUM64] = { 0, 12 },
};

struct type {
	uint32_t name, kind, parts;
	bool bit_fields;	/* members may be bit fields */
};

static struct type take_type(struct cursor *c)
{
	uint32_t name = cursor_u32(c), info = cursor_u32(c);

	cursor_skip(c, 4);
	return (struct type){ name, info >> 24 & 0x1f, info & 0xffff, info >> 31 };
}

static bool is_named(const struct btf *b, uint32_t at, const char *name)
{
	size_t size = strlen(name) + 1;

	return at < b->string_bytes && b->strings[at] == *name &&
	       size <= b->string_bytes - at && !memcmp(b->strings + at, name, size);
}

static bool read_types(struct btf *b, struct btf_name *names, size_t count)
{
	static const uint8_t kinds[] = {
		[BTF_STRUCTURE] = KIND_STRUCT, [BTF_TYPEDEF] = KIND_TYPEDEF,
		[BTF_VARIABLE] = KIND_VAR,
	};
	struct cursor c = cursor_of(b->types, b->type_bytes);

	while (cursor_left(&c)) {
		size_t at = cursor_offset(&c);
		struct type t = take_type(&c);

		if (!t.kind || t.kind >= KINDS || vec_push(&b->at, (uint32_t)at) < 0)
			return false;
		cursor_skip(&c, extras[t.kind].fixed +
				(uint64_t)extras[t.kind].each * t.parts);
		if (c.bad)
			return false;
		for (size_t i = 0; i < count; i++)
			if (t.kind == kinds[names[i].kind] && !names[i].number &&
			    is_named(b, t.name, names[i].name))
				names[i].number = (uint32_t)b->at.n;
	}
	return true;
}

bool btf_open(struct btf *b, const uint8_t *bytes, size_t n, struct btf_name *names,
	      size_t count)
{
	struct cursor c = cursor_of(bytes, n);
	uint32_t head, type_at, string_at;

	*b = (struct btf){ 0 };
	for (size_t i = 0; i < count; i++)
		names[i].number = 0;
	if (cursor_u16(&c) != BTF_MAGIC_NUMBER)
		return false;
	cursor_skip(&c, 2);		/* version, flags */
	head = cursor_u32(&c);
	type_at = cursor_u32(&c);
	b->type_bytes = cursor_u32(&c);
	string_at = cursor_u32(&c);
	b->string_bytes = cursor_u32(&c);
	if (c.bad || head < HEADER_BYTES || head > n || type_at > n - head ||
	    b->type_bytes > n - head - type_at || string_at > n - head ||
	    b->string_bytes > n - head - string_at)
		return false;
	b->types = bytes + head + type_at;
	b->strings = (const char *)bytes + head + string_at;
	return read_types(b, names, count);
}

void btf_close(struct btf *b)
{
	vec_fini(&b->at);
}

/* Looks in a structure or union at `base` bits.  `depth` limits how many are nested. */
static bool find_member(const struct btf *b, uint32_t number, const char *name,
			uint64_t base, int depth, uint32_t *offset)
{
	struct cursor c = cursor_of(b->types, b->type_bytes);
	struct type t;

	if (!number || number > b->at.n || !depth)
		return false;
	cursor_skip(&c, b->at.v[number - 1]);
	t = take_type(&c);
	if (t.kind != KIND_STRUCT && t.kind != KIND_UNION)
		return false;
	for (uint32_t i = 0; i < t.parts && !c.bad; i++) {
		uint32_t own = cursor_u32(&c), type = cursor_u32(&c), at = cursor_u32(&c);
		/* Then the upper byte is the number of a field's bits. */
		uint32_t bits = t.bit_fields ? at >> 24 : 0;
		uint64_t from = base + (t.bit_fields ? at & 0xffffff : at);

		if (!own && find_member(b, type, name, from, depth - 1, offset))
			return true;
		if (!own || !is_named(b, own, name))
			continue;
		*offset = (uint32_t)(from / 8);
		return !bits && !(from & 7) && from / 8 <= INT32_MAX;
	}
	return false;
}

bool btf_member(const struct btf *b, uint32_t number, const char *name, uint32_t *offset)
{
	enum { DEPTH = 4 };

	return find_member(b, number, name, 0, DEPTH, offset);
}

bool btf_in_section(const struct btf *b, const char *section, uint32_t number,
		    uint32_t *offset)
{
	for (size_t k = b->at.n; k--;) {
		struct cursor c = cursor_of(b->types, b->type_bytes);
		struct type t;

		cursor_skip(&c, b->at.v[k]);
		t = take_type(&c);
		if (t.kind != KIND_DATASEC || !is_named(b, t.name, section))
			continue;
		for (uint32_t i = 0; i < t.parts && !c.bad; i++) {
			uint32_t variable = cursor_u32(&c);

			*offset = cursor_u32(&c);
			cursor_skip(&c, 4);
			if (variable == number && !c.bad)
				return number;
		}
	}
	return false;
}
