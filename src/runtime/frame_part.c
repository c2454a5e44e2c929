// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the frames of interpreters into samples. */
#include "runtime/frame_part.h"

#define ADDRESS_MAX (1ull << 47)

uint64_t frame_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

bool frame_is_pointer(uint64_t p)
{
	return p && p < ADDRESS_MAX && !(p & 7);
}

bool frame_read(const struct frame_door *door, uint64_t at, size_t n, void *to)
{
	struct frame_span v = { at, n };

	return frame_is_pointer(at) && door->read(door->ctx, &v, 1, to) == n;
}

const void *frame_window_at(struct frame_window *w, const struct frame_door *door,
			    uint64_t at, size_t n)
{
	uint64_t from = at & ~(uint64_t)(FRAME_WINDOW - 1);

	if (!frame_is_pointer(at))
		return NULL;
	if (at < w->at || n > w->n || at - w->at > w->n - n) {
		if (at + n - from > FRAME_WINDOW)
			from = at + n - FRAME_WINDOW;
		w->at = from;
		w->n = at + n - from;
		if (!frame_read(door, from, w->n, w->bytes)) {
			w->n = 0;
			return NULL;
		}
	}
	return (const uint8_t *)w->bytes + (at - w->at);
}

static void put(struct frame_out *o, const void *p, size_t n)
{
	o->door->put(o->door->ctx, p, n);
	o->all += n;
}

void frame_put_entry(struct frame_out *o, uint64_t at, uint32_t what, uint32_t more)
{
	struct frame_entry e;

	e.at = at;
	e.what = what;
	e.more = more;
	put(o, &e, sizeof(e));
}

void frame_put_entries(struct frame_out *o, const struct frame_entry *e, size_t n)
{
	if (n)
		put(o, e, n * sizeof(*e));
}

static uint64_t *place_of(const struct frame_out *o, uint64_t key)
{
	return &o->door->seen[key >> 32 & (FRAME_SEEN - 2)];
}

bool frame_is_written(const struct frame_out *o, uint64_t at, uint32_t witness)
{
	uint64_t key = frame_mix(at, witness);
	const uint64_t *place = place_of(o, key);

	return place[0] == (key | 1) || place[1] == (key | 1);
}

void frame_set_written(const struct frame_out *o, uint64_t at, uint32_t witness)
{
	uint64_t key = frame_mix(at, witness);
	uint64_t *place = place_of(o, key);

	place[1] = place[0];
	place[0] = key | 1;
}

/* Writes a piece of text.  Unreadable text still fills its space, because its length
 * was already written. */
static bool put_piece(struct frame_out *o, const struct frame_piece *p)
{
	struct frame_span v;
	bool good = true;

	if (p->literal) {
		put(o, p->literal, p->n);
		return true;
	}
	for (size_t at = 0; at < p->n; at += (size_t)v.n) {
		v.at = p->at + at;
		v.n = p->n - at < FRAME_WINDOW ? p->n - at : FRAME_WINDOW;
		good &= o->door->read(o->door->ctx, &v, 1, o->room) == v.n;
		put(o, o->room, (size_t)v.n);
	}
	return good;
}

bool frame_put_code(struct frame_out *o, uint64_t at, uint32_t witness,
		    const struct frame_code *c, const struct frame_piece *pieces,
		    size_t n)
{
	static const uint64_t zero;
	size_t bytes = sizeof(*c) + c->name_bytes + c->file_bytes + c->table_bytes;
	bool good = true;

	if (o->codes + sizeof(struct frame_entry) + bytes + 8 > FRAME_CODES_MAX)
		return true;
	frame_put_entry(o, at, FRAME_CODE, witness);
	put(o, c, sizeof(*c));
	for (size_t i = 0; i < n; i++)
		good &= put_piece(o, &pieces[i]);
	put(o, &zero, -bytes & 7);
	if (!good)
		return false;
	o->codes += sizeof(struct frame_entry) + bytes + (-bytes & 7);
	frame_set_written(o, at, witness);
	return true;
}

void frame_put_text(struct frame_out *o, uint32_t what, uint8_t kind,
		    const struct frame_piece *text)
{
	static const uint64_t zero;

	frame_put_entry(o, text->n, what, kind);
	put_piece(o, text);
	put(o, &zero, -text->n & 7);
}
