// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Strings to bytes and back.  Names of C++ repeat each other over longer
 * distances than deflate looks back (32 KB), so what was there before is copied
 * first, from anywhere in the section.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/format.h"

enum {
	PACK_LEAST = 4096,	/* bytes of text, or strings go as they are */
	COPY_LEAST = 64,
	KEY = 32,		/* bytes that are looked up */
	SLOT_BITS = 16,
	GROWTH = 8,		/* text for each byte of the section */
	STRING_ROW = 44,	/* what a string takes beside its text: pointer
				 * and hash entry, in tables that have grown */
};

static uint64_t key_of(const uint8_t *p)
{
	uint64_t w[KEY / 8], h = 0;

	memcpy(w, p, KEY);
	for (size_t i = 0; i < KEY / 8; i++)
		h = (h ^ w[i]) * 0x9e3779b97f4a7c15ull;
	return h >> (64 - SLOT_BITS);
}

/* Text in pieces: so many bytes as they are, then a copy. */
struct packer {
	const uint8_t *text;
	size_t n;
	uint32_t *slots;	/* by key: where it was last, + 1 */
	size_t from;		/* bytes from here on are not told yet */
	size_t distance;	/* of the last copy */
	size_t copies;
	struct buf pieces, rest;
};

static size_t match_length(const struct packer *k, size_t a, size_t b)
{
	size_t n = 0;

	while (b + n < k->n && k->text[a + n] == k->text[b + n])
		n++;
	return n;
}

static void put_copy(struct packer *k, size_t at, size_t before, size_t n)
{
	int64_t further = (int64_t)(at - before) - (int64_t)k->distance;

	buf_uleb(&k->pieces, at - k->from);
	buf_uleb(&k->pieces, n - COPY_LEAST);
	buf_sleb(&k->pieces, further);
	buf_bytes(&k->rest, k->text + k->from, at - k->from);
	k->distance = at - before;
	k->from = at + n;
	k->copies++;
}

static void pack(struct packer *k)
{
	size_t at = 0;

	while (at + KEY <= k->n) {
		uint32_t *slot = &k->slots[key_of(k->text + at)];
		size_t before = *slot, n = 0;

		*slot = (uint32_t)at + 1;
		if (before-- && before < at)
			n = match_length(k, before, at);
		if (n < COPY_LEAST) {
			at++;
			continue;
		}
		put_copy(k, at, before, n);
		for (size_t i = 1; i < n && at + i + KEY <= k->n; i++)
			k->slots[key_of(k->text + at + i)] =
				(uint32_t)(at + i) + 1;
		at += n;
	}
	buf_bytes(&k->rest, k->text + k->from, k->n - k->from);
}

/* False: they are better stored as they are. */
static bool put_packed(struct buf *out, const struct buf *text, size_t first,
		       size_t count)
{
	struct packer k = { .text = text->p, .n = text->n };
	struct buf body = { 0 };
	bool good;

	k.slots = calloc(1u << SLOT_BITS, sizeof(*k.slots));
	if (!k.slots)
		return false;
	pack(&k);
	buf_uleb(&body, first);
	buf_uleb(&body, count);
	buf_uleb(&body, text->n);
	buf_uleb(&body, k.copies);
	buf_bytes(&body, k.pieces.p, k.pieces.n);
	buf_bytes(&body, k.rest.p, k.rest.n);
	good = !body.failed && !k.pieces.failed && !k.rest.failed &&
	       body.n >= text->n / GROWTH;
	if (good)
		section_put(out, SECTION_PACKED_STRINGS, &body);
	buf_fini(&body);
	buf_fini(&k.pieces);
	buf_fini(&k.rest);
	free(k.slots);
	return good;
}

static void put_plain(struct buf *out, const struct profile *p, size_t first,
		      size_t end)
{
	struct buf body = { 0 };

	buf_uleb(&body, first);
	buf_uleb(&body, end - first);
	for (size_t i = first; i < end; i++)
		buf_uleb(&body, strlen(p->str.str.v[i]));
	for (size_t i = first; i < end; i++)
		buf_str(&body, p->str.str.v[i]);
	section_put(out, SECTION_STRINGS, &body);
	buf_fini(&body);
}

void section_put_strings(struct buf *out, const struct profile *p, size_t first,
			 size_t end)
{
	struct buf text = { 0 };

	if (first >= end)
		return;
	for (size_t i = first; i < end; i++) {
		buf_str(&text, p->str.str.v[i]);
		buf_u8(&text, 0);
	}
	if (text.failed || text.n < PACK_LEAST || text.n > CHUNK_MAX ||
	    !put_packed(out, &text, first, end - first))
		put_plain(out, p, first, end);
	buf_fini(&text);
}

/* A string that takes a place even when an equal one exists: ids in the file
 * count rows. */
static bool add_string(struct profile *p, const char *s, size_t n, size_t id)
{
	char gap_name[32];

	if (!profile_charge(p, STRING_ROW + (n < sizeof(gap_name)
					     ? sizeof(gap_name) : n)))
		return false;
	if (strtab_add_n(&p->str, s, n) == id)
		return true;
	/* A duplicate or a NUL inside: no writer makes these; keep ids in step. */
	snprintf(gap_name, sizeof(gap_name), "[damaged #%zu]", id);
	return strtab_add(&p->str, gap_name) == id;
}

/* Strings that damaged chunks took with them. */
static bool fill_gap(struct profile *p, uint64_t first)
{
	while (p->str.str.n < first)
		if (!add_string(p, "", 0, p->str.str.n))
			return false;
	return true;
}

bool section_get_strings(struct profile *p, struct cursor *c, size_t gap)
{
	uint64_t first = cursor_uleb(c), count = cursor_uleb(c);
	struct cursor text;

	if (c->bad || count > cursor_left(c) ||
	    !section_placed(first, count, p->str.str.n, false, gap))
		return false;
	/* The lengths come first: the text begins after them. */
	text = *c;
	for (uint64_t i = 0; i < count; i++)
		(void)cursor_uleb(&text);
	if (!fill_gap(p, first))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t n = cursor_uleb(c);
		const uint8_t *s = cursor_take(&text, n);

		if (!s || c->bad || !add_string(p, (const char *)s, (size_t)n,
						p->str.str.n))
			return false;
	}
	return true;
}

/* The bytes that are no copies begin behind the pieces. */
static bool find_rest(struct cursor c, uint64_t copies, struct cursor *rest)
{
	for (uint64_t i = 0; i < copies && !c.bad; i++) {
		(void)cursor_uleb(&c);
		(void)cursor_uleb(&c);
		(void)cursor_sleb(&c);
	}
	*rest = c;
	return !c.bad;
}

static bool unpack(struct cursor *c, uint64_t copies, uint8_t *text, size_t size)
{
	struct cursor rest;
	uint64_t distance = 0;
	size_t at = 0;

	if (!find_rest(*c, copies, &rest))
		return false;
	for (uint64_t i = 0; i < copies; i++) {
		uint64_t plain = cursor_uleb(c), n = cursor_uleb(c);
		const uint8_t *s = cursor_take(&rest, plain);

		distance += (uint64_t)cursor_sleb(c);
		if (!s || c->bad || plain > size - at)
			return false;
		memcpy(text + at, s, (size_t)plain);
		at += (size_t)plain;
		if (n > size || COPY_LEAST + n > size - at || !distance ||
		    distance > at)
			return false;
		n += COPY_LEAST;
		/* it may reach into itself */
		for (uint64_t k = 0; k < n; k++)
			text[at + k] = text[at + k - distance];
		at += (size_t)n;
	}
	if (cursor_left(&rest) != size - at)
		return false;
	memcpy(text + at, rest.p, size - at);
	return true;
}

static bool add_text(struct profile *p, const uint8_t *text, size_t size,
		     uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *end = memchr(text, 0, size);
		size_t n = end ? (size_t)(end - text) : 0;

		if (!end || !add_string(p, (const char *)text, n,
					p->str.str.n))
			return false;
		text += n + 1;
		size -= n + 1;
	}
	return !size;
}

bool section_get_packed_strings(struct profile *p, struct cursor *c, size_t gap)
{
	uint64_t left = cursor_left(c);
	uint64_t first = cursor_uleb(c), count = cursor_uleb(c);
	uint64_t size = cursor_uleb(c), copies = cursor_uleb(c);
	uint8_t *text;
	bool good;

	if (c->bad || size > CHUNK_MAX || size / GROWTH > left ||
	    count > size || copies > cursor_left(c) / 3 || !size ||
	    !section_placed(first, count, p->str.str.n, false, gap))
		return false;
	if (!profile_charge(p, size))
		return false;
	text = malloc((size_t)size);
	good = text && unpack(c, copies, text, (size_t)size) &&
	       fill_gap(p, first) && add_text(p, text, (size_t)size, count);
	free(text);
	profile_uncharge(p, size);
	return good;
}
