// SPDX-License-Identifier: GPL-2.0-or-later
/* Encodes and decodes columns of samples: see columns.h. */
#include "profile/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "profile/format.h"

enum { CODE_CONST, CODE_DELTA, CODE_PLANES, CODE_RECENT };
/* Times are stored in microseconds.  Smaller differences are noise from a
 * software clock or the latency of an NMI, and each bit of noise takes a bit of
 * the file. */
enum { TICK_NS = 1000 };

int columns_init(struct sample_columns *c)
{
	*c = (struct sample_columns){ 0 };
	c->time_ns = malloc(SAMPLE_BATCH * sizeof(*c->time_ns));
	c->weight = malloc(SAMPLE_BATCH * sizeof(*c->weight));
	c->thread = malloc(SAMPLE_BATCH * sizeof(*c->thread));
	c->cpu = malloc(SAMPLE_BATCH * sizeof(*c->cpu));
	c->event = malloc(SAMPLE_BATCH * sizeof(*c->event));
	c->stack = malloc(SAMPLE_BATCH * sizeof(*c->stack));
	c->more = calloc(SAMPLE_BATCH, sizeof(*c->more));
	if (c->more && c->time_ns && c->weight && c->thread && c->cpu && c->event &&
	    c->stack)
		return 0;
	columns_fini(c);
	return -ERR_NOMEM;
}

void columns_fini(struct sample_columns *c)
{
	free(c->time_ns);
	free(c->weight);
	free(c->thread);
	free(c->cpu);
	free(c->event);
	free(c->stack);
	free(c->more);
	*c = (struct sample_columns){ 0 };
}

/* One column of any width in memory. */
struct view {
	uint64_t *w64;
	uint32_t *w32;
};

static uint64_t view_get(const struct view *v, size_t i)
{
	return v->w64 ? v->w64[i] : v->w32[i];
}

static uint64_t tick_of(uint64_t time_ns, uint64_t base)
{
	return (time_ns - base) / TICK_NS;
}

static void put_deltas(struct buf *b, const struct view *v, size_t n,
		       uint64_t base)
{
	uint64_t prev = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t t = tick_of(view_get(v, i), base);

		buf_sleb(b, (int64_t)(t - prev));
		prev = t;
	}
}

static void put_planes(struct buf *b, const struct view *v, size_t n,
		       uint64_t max)
{
	unsigned int width = 1;
	uint8_t *room;

	while (width < 8 && max >> (8 * width))
		width++;
	buf_u8(b, (uint8_t)width);
	room = buf_room(b, n * width);
	if (!room)
		return;
	for (unsigned int k = 0; k < width; k++)
		for (size_t i = 0; i < n; i++)
			*room++ = (uint8_t)(view_get(v, i) >> (8 * k));
	b->n += n * width;
}

static void put_coded(struct buf *out, struct deflater *d, uint8_t code,
		      const struct buf *raw)
{
	struct buf packed = { 0 };
	bool smaller = raw->n > 32 && format_deflate(d, raw->p, raw->n, &packed) &&
		       packed.n < raw->n;
	const struct buf *bytes = smaller ? &packed : raw;

	buf_u8(out, code);
	buf_u8(out, smaller ? CODEC_ZLIB : CODEC_STORED);
	buf_uleb(out, raw->n);
	buf_uleb(out, bytes->n);
	buf_bytes(out, bytes->p, bytes->n);
	out->failed |= raw->failed;
	buf_fini(&packed);
}

static void put_column(struct buf *out, struct deflater *d, const struct view *v, size_t n)
{
	struct buf raw = { 0 };
	uint64_t max = 0, differs = 0, first = n ? view_get(v, 0) : 0;

	for (size_t i = 0; i < n; i++) {
		max |= view_get(v, i);
		differs |= view_get(v, i) ^ first;
	}
	if (differs)
		put_planes(&raw, v, n, max);
	else
		buf_uleb(&raw, first);
	put_coded(out, d, differs ? CODE_PLANES : CODE_CONST, &raw);
	buf_fini(&raw);
}

/* Encodes ids of a table that grows while it is used: new rows appear in
 * order. */
static void put_recent(struct buf *out, struct deflater *d, const uint32_t *v, size_t n)
{
	uint64_t *z = malloc((n + 1) * sizeof(*z));
	uint64_t all = 0;
	uint32_t max = n ? v[0] : 0;
	struct buf raw = { 0 };

	if (!z) {
		out->failed = true;
		return;
	}
	buf_uleb(&raw, max);
	for (size_t i = 0; i < n; i++) {
		z[i] = recent_code(v[i], &max);
		all |= z[i];
	}
	put_planes(&raw, &(struct view){ .w64 = z }, n, all);
	/* Ids with such differences are not from a growing table. */
	if (all > UINT32_MAX)
		put_column(out, d, &(struct view){ .w32 = (uint32_t *)v }, n);
	else
		put_coded(out, d, CODE_RECENT, &raw);
	buf_fini(&raw);
	free(z);
}

void columns_put(struct buf *out, const struct sample_columns *c, struct deflater *d)
{
	uint64_t base = c->n ? c->time_ns[0] : 0;
	struct buf raw = { 0 };

	for (size_t i = 0; i < c->n; i++)
		if (c->time_ns[i] < base)
			base = c->time_ns[i];
	buf_uleb(out, TICK_NS);
	buf_uleb(out, base);
	put_deltas(&raw, &(struct view){ .w64 = c->time_ns }, c->n, base);
	put_coded(out, d, CODE_DELTA, &raw);
	buf_fini(&raw);
	put_column(out, d, &(struct view){ .w32 = c->thread }, c->n);
	put_column(out, d, &(struct view){ .w32 = c->cpu }, c->n);
	put_column(out, d, &(struct view){ .w32 = c->event }, c->n);
	put_column(out, d, &(struct view){ .w64 = c->weight }, c->n);
	put_recent(out, d, c->stack, c->n);
	for (size_t i = 0; i < c->n; i++)
		if (c->more[i]) {
			put_column(out, d, &(struct view){ .w64 = c->more }, c->n);
			break;
		}
}

static bool get_const(struct cursor *c, const struct view *v, size_t n)
{
	uint64_t x = cursor_uleb(c);

	if (c->bad || (v->w32 && x > UINT32_MAX))
		return false;
	for (size_t i = 0; v->w64 && i < n; i++)
		v->w64[i] = x;
	for (size_t i = 0; v->w32 && i < n; i++)
		v->w32[i] = (uint32_t)x;
	return true;
}

static bool get_deltas(struct cursor *c, const struct view *v, size_t n)
{
	uint64_t prev = 0;

	for (size_t i = 0; i < n; i++) {
		prev += (uint64_t)cursor_sleb(c);
		if (v->w64)
			v->w64[i] = prev;
		else
			v->w32[i] = (uint32_t)prev;
		if (v->w32 && prev > UINT32_MAX)
			return false;
	}
	return !c->bad;
}

/* Values whose number is known to the compiler, which then uses vector instructions. */
enum { BLOCK = 16 };

/* Sets n values to the bytes of a plane, or adds these as bits from `shift` on. */
static void put_plane32(uint32_t *restrict out, const uint8_t *restrict p, size_t n,
			unsigned int shift)
{
	size_t i = 0;

	for (; !shift && i + BLOCK <= n; i += BLOCK)
		for (size_t k = i; k < i + BLOCK; k++)
			out[k] = p[k];
	for (; shift && i + BLOCK <= n; i += BLOCK)
		for (size_t k = i; k < i + BLOCK; k++)
			out[k] |= (uint32_t)p[k] << shift;
	for (; i < n; i++)
		out[i] = (shift ? out[i] : 0) | (uint32_t)p[i] << shift;
}

static void put_plane64(uint64_t *restrict out, const uint8_t *restrict p, size_t n,
			unsigned int shift)
{
	size_t i = 0;

	for (; !shift && i + BLOCK <= n; i += BLOCK)
		for (size_t k = i; k < i + BLOCK; k++)
			out[k] = p[k];
	for (; shift && i + BLOCK <= n; i += BLOCK)
		for (size_t k = i; k < i + BLOCK; k++)
			out[k] |= (uint64_t)p[k] << shift;
	for (; i < n; i++)
		out[i] = (shift ? out[i] : 0) | (uint64_t)p[i] << shift;
}

static bool get_planes(struct cursor *c, const struct view *v, size_t n)
{
	unsigned int width = cursor_u8(c);
	const uint8_t *p;

	if (!width || width > (v->w64 ? 8u : 4u))
		return false;
	p = cursor_take(c, (uint64_t)n * width);
	if (!p)
		return false;
	for (unsigned int k = 0; k < width; k++) {
		if (v->w32)
			put_plane32(v->w32, p + k * n, n, 8 * k);
		else
			put_plane64(v->w64, p + k * n, n, 8 * k);
	}
	return true;
}

static bool get_recent(struct cursor *c, const struct view *v, size_t n)
{
	uint32_t max = cursor_uleb32(c);

	if (!v->w32 || c->bad || !get_planes(c, v, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t x = recent_value(v->w32[i], &max);

		if (x > UINT32_MAX)	/* also if it wrapped below 0 */
			return false;
		v->w32[i] = (uint32_t)x;
	}
	return true;
}

/* Returns the column's decompressed bytes, or NULL.  They have at most ten
 * bytes for each row plus a width. */
static const uint8_t *unpack(const uint8_t *bytes, size_t stored,
			     uint64_t raw, uint8_t codec, size_t rows,
			     struct buf *scratch)
{
	uint8_t *room;

	if (raw > rows * 10 + 16)
		return NULL;
	if (codec == CODEC_STORED)
		return stored == raw ? bytes : NULL;
	if (codec != CODEC_ZLIB)
		return NULL;
	buf_reset(scratch);
	room = buf_room(scratch, (size_t)raw + 1);
	if (!room || !format_inflate(bytes, stored, room, (size_t)raw))
		return NULL;
	return room;
}

static bool get_column(struct cursor *c, struct view *v, size_t rows,
		       bool wanted, struct buf *scratch)
{
	uint8_t code = cursor_u8(c), codec = cursor_u8(c);
	uint64_t raw = cursor_uleb(c), stored = cursor_uleb(c);
	const uint8_t *bytes = cursor_take(c, stored);
	struct cursor body;

	if (!bytes)
		return false;
	if (!wanted)
		return true;
	bytes = unpack(bytes, (size_t)stored, raw, codec, rows, scratch);
	if (!bytes)
		return false;
	body = cursor_of(bytes, (size_t)raw);
	switch (code) {
	case CODE_CONST:
		return get_const(&body, v, rows);
	case CODE_DELTA:
		return get_deltas(&body, v, rows);
	case CODE_PLANES:
		return get_planes(&body, v, rows);
	case CODE_RECENT:
		return get_recent(&body, v, rows);
	default:
		return false;
	}
}

/* Returns whether counts are so small that no sum of a file's rows overflows. */
static bool more_good(const uint64_t *v, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= v[i];
	return all <= UINT32_MAX;
}

bool columns_get(const uint8_t *p, size_t n, size_t rows, unsigned int mask,
		 struct sample_columns *out, struct buf *scratch)
{
	struct cursor c = cursor_of(p, n);
	uint64_t tick = cursor_uleb(&c), base = cursor_uleb(&c);
	struct view v[COLUMNS] = {
		{ .w64 = out->time_ns }, { .w32 = out->thread },
		{ .w32 = out->cpu },	 { .w32 = out->event },
		{ .w64 = out->weight },	 { .w32 = out->stack },
		{ .w64 = out->more },
	};

	if (c.bad || rows > SAMPLE_BATCH)
		return false;
	for (int i = 0; i < COLUMNS; i++) {
		if (i == COLUMNS - 1 && !cursor_left(&c)) {
			memset(out->more, 0, rows * sizeof(*out->more));
			break;
		}
		if (!get_column(&c, &v[i], rows, mask >> i & 1, scratch) ||
		    (i == COLUMNS - 1 && mask >> i & 1 &&
		     !more_good(out->more, rows)))
			return false;
	}
	if (mask & COLUMN_TIME)
		for (size_t i = 0; i < rows; i++)
			out->time_ns[i] = base + out->time_ns[i] * tick;
	out->n = rows;
	return true;
}
