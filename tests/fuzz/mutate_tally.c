// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutations of recordings for libFuzzer that leave the file whole: a section, a
 * column of samples or the fields of a chunk's header change, and lengths, zlib
 * and checksums around them are made anew.  Mutations of single bytes alone
 * would end in a wrong length or a damaged zlib stream almost always.
 *
 * A recording begins wherever its magic stands, so one input may hold two; two
 * bytes before the first are its length then (fuzz_diff.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "profile/columns.h"
#include "profile/format.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

enum { MAGIC = sizeof(FORMAT_MAGIC) - 1, RAW_MAX = 1 << 20, CHUNKS = 64 };

static uint32_t draw(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

/* Some bytes of `from`, changed, or made longer or shorter. */
static void put_mutated(struct buf *out, const uint8_t *from, size_t n)
{
	size_t max = n + n / 4 + 8;
	uint8_t *room = buf_room(out, max);

	if (!room)
		return;
	memcpy(room, from, n);
	out->n += LLVMFuzzerMutate(room, n, max);
}

static void put_section(struct buf *out, uint64_t kind, const struct buf *body)
{
	buf_uleb(out, kind);
	buf_uleb(out, body->n);
	buf_bytes(out, body->p, body->n);
}

/* A payload of sections with one of them changed, twice there, gone, or of
 * another kind. */
static void put_sections(struct buf *out, const uint8_t *p, size_t n,
			 uint32_t *seed)
{
	struct cursor c = cursor_of(p, n);
	size_t count = 0, chosen;
	struct buf body = { 0 };

	while (cursor_left(&c) && !c.bad) {
		cursor_uleb(&c);
		cursor_skip(&c, cursor_uleb(&c));
		count++;
	}
	chosen = draw(seed, (uint32_t)count + 1);
	c = cursor_of(p, n);
	for (size_t i = 0; cursor_left(&c); i++) {
		uint64_t kind = cursor_uleb(&c), size = cursor_uleb(&c);
		const uint8_t *bytes = cursor_take(&c, size);
		uint32_t how = draw(seed, 10);

		if (c.bad)
			break;
		buf_reset(&body);
		if (i == chosen && how < 7)
			put_mutated(&body, bytes, size);
		else
			buf_bytes(&body, bytes, size);
		if (i == chosen && how == 7)
			kind = draw(seed, SECTION_END + 2);
		if (i == chosen && how == 8)
			put_section(out, kind, &body);
		if (i != chosen || how != 9)
			put_section(out, kind, &body);
	}
	buf_fini(&body);
}

/* The bytes of one column, inflated. */
static bool get_column(struct cursor *c, struct buf *raw)
{
	uint8_t codec = cursor_u8(c);
	uint64_t size = cursor_uleb(c), stored = cursor_uleb(c);
	const uint8_t *bytes = cursor_take(c, stored);
	uint8_t *room;

	if (c->bad || size > RAW_MAX)
		return false;
	buf_reset(raw);
	if (codec == CODEC_STORED) {
		buf_bytes(raw, bytes, stored);
		return true;
	}
	room = buf_room(raw, size + 1);
	if (!room || !format_inflate(bytes, stored, room, size))
		return false;
	raw->n += size;
	return true;
}

/* A payload of samples, or of their sums, with one column changed. */
static void put_samples(struct buf *out, const uint8_t *p, size_t n, bool sums,
			uint32_t *seed)
{
	struct cursor c = cursor_of(p, n);
	uint64_t rows = sums ? cursor_uleb(&c) : 0;
	uint64_t tick = cursor_uleb(&c), base = cursor_uleb(&c);
	uint32_t chosen = draw(seed, COLUMNS + 1);
	struct buf raw = { 0 }, changed = { 0 };

	if (sums)
		buf_uleb(out, draw(seed, 12) ? rows : draw(seed, 8200));
	if (chosen == COLUMNS)
		base = tick = draw(seed, 1 << 24);
	buf_uleb(out, tick);
	buf_uleb(out, base);
	for (uint32_t i = 0; i < COLUMNS; i++) {
		uint8_t code = cursor_u8(&c);

		if (!get_column(&c, &raw))
			break;
		buf_reset(&changed);
		if (i == chosen)
			put_mutated(&changed, raw.p, raw.n);
		else
			buf_bytes(&changed, raw.p, raw.n);
		buf_u8(out, i == chosen && !draw(seed, 8)
			       ? (uint8_t)draw(seed, 5) : code);
		buf_u8(out, CODEC_STORED);
		buf_uleb(out, changed.n);
		buf_uleb(out, changed.n);
		buf_bytes(out, changed.p, changed.n);
	}
	buf_fini(&raw);
	buf_fini(&changed);
}

static bool get_payload(const uint8_t *p, const struct chunk *c,
			struct buf *raw)
{
	uint8_t *room;

	if (c->codec == CODEC_STORED) {
		buf_bytes(raw, p, c->stored);
		return true;
	}
	room = c->raw <= RAW_MAX ? buf_room(raw, (size_t)c->raw + 1) : NULL;
	if (!room || !format_inflate(p, c->stored, room, c->raw))
		return false;
	raw->n += c->raw;
	return true;
}

static void put_chunk(struct buf *out, struct chunk c, const struct buf *body)
{
	c.raw = c.stored = (uint32_t)body->n;
	c.codec = CODEC_STORED;
	c.payload_crc = format_crc(body->p, body->n);
	chunk_put_header(out, &c);
	buf_bytes(out, body->p, body->n);
}

/* The chunk at `p` with something else in it. */
static void put_changed(struct buf *out, const uint8_t *p, struct chunk c,
			uint32_t *seed)
{
	struct buf raw = { 0 }, body = { 0 };

	if (!get_payload(p + CHUNK_HEADER, &c, &raw)) {
		put_mutated(&body, p + CHUNK_HEADER, c.stored);
	} else if (!draw(seed, 12)) {
		uint32_t *const fields[] = { &c.seq, &c.kind, &c.rows };

		*fields[draw(seed, 3)] = draw(seed, 8);
		buf_bytes(&body, raw.p, raw.n);
	} else if (c.kind == CHUNK_SAMPLES || c.kind == CHUNK_SUMS) {
		put_samples(&body, raw.p, raw.n, c.kind == CHUNK_SUMS, seed);
	} else {
		put_sections(&body, raw.p, raw.n, seed);
	}
	put_chunk(out, c, &body);
	buf_fini(&raw);
	buf_fini(&body);
}

/* A recording with one chunk changed, twice there or gone. */
static void put_file(struct buf *out, const uint8_t *p, size_t n,
		     uint32_t *seed)
{
	struct chunk chunks[CHUNKS];
	size_t at = FORMAT_HEADER, count = 0, end, chosen;
	uint32_t how;

	while (count < CHUNKS && n - at >= CHUNK_HEADER &&
	       chunk_get_header(p + at, &chunks[count]) &&
	       chunks[count].stored <= n - at - CHUNK_HEADER) {
		chunks[count].offset = at;
		at += CHUNK_HEADER + chunks[count++].stored;
	}
	end = at;
	chosen = count ? draw(seed, (uint32_t)count) : 0;
	how = draw(seed, 20);
	buf_bytes(out, p, FORMAT_HEADER);
	for (size_t i = 0; i < count; i++) {
		const struct chunk *c = &chunks[i];
		size_t size = CHUNK_HEADER + c->stored;

		if (i == chosen && how < 18)
			put_changed(out, p + c->offset, *c, seed);
		else if (i != chosen || how == 18)
			buf_bytes(out, p + c->offset, size);
		if (i == chosen && how == 18)
			buf_bytes(out, p + c->offset, size);
	}
	buf_bytes(out, p + end, n - end);
}

static const uint8_t *find_magic(const uint8_t *p, const uint8_t *end)
{
	return p < end ? memmem(p, (size_t)(end - p), FORMAT_MAGIC, MAGIC)
		       : NULL;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	const uint8_t *end = data + size, *first = find_magic(data, end);
	const uint8_t *second = first ? find_magic(first + MAGIC, end) : NULL;
	const uint8_t *from = first, *to = second ? second : end;
	size_t prefix = (size_t)(first ? first - data : 0), between;
	uint32_t s = seed;
	struct buf out = { 0 };

	if (!first || draw(&s, 8) == 0)
		return LLVMFuzzerMutate(data, size, max);
	if (second && draw(&s, 2)) {
		from = second;
		to = end;
	}
	if ((size_t)(to - from) < FORMAT_HEADER)
		return LLVMFuzzerMutate(data, size, max);
	buf_bytes(&out, data, (size_t)(from - data));
	put_file(&out, from, (size_t)(to - from), &s);
	between = from == first ? out.n : (size_t)(second - data);
	buf_bytes(&out, to, (size_t)(end - to));
	if (second && prefix == 2 && !out.failed) {
		out.p[0] = (uint8_t)(between - prefix);
		out.p[1] = (uint8_t)((between - prefix) >> 8);
	}
	if (out.failed || !out.n || out.n > max)
		size = LLVMFuzzerMutate(data, size, max);
	else
		memcpy(data, out.p, size = out.n);
	buf_fini(&out);
	return size;
}
