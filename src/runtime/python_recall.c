// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what the last walk of a thread read. */
#include "runtime/python_recall.h"

/* Returns where a place is in the row, by its number in the order of the walk. */
static size_t row_of(uint32_t i)
{
	return PYTHON_RECALL_FIRST + PYTHON_RECALL_PLACES - 1 - i;
}

void python_recall_forget(struct python_recall *kept)
{
	kept->places[kept->last].n = kept->places[kept->last].bytes = 0;
}

bool python_recall_begin(struct python_recalled *c, struct python_recall *kept,
			 const uint64_t *first, const struct frame_door *door)
{
	const size_t need = 8 * PYTHON_RECALL_FIRST;
	struct python_places *last = kept ? &kept->places[kept->last] : NULL;
	struct frame_span few[PYTHON_RECALL_FIRST], *v = few;
	size_t got;

	c->kept = kept;
	c->last = last;
	c->n = last ? last->n : 0;
	c->end = last ? last->bytes : 0;
	c->done = c->noted = c->bytes = 0;
	c->same = true;
	c->indexed = false;
	if (last)
		v = &last->row[row_of(c->n + PYTHON_RECALL_FIRST - 1)];
	for (size_t i = 0; i < PYTHON_RECALL_FIRST; i++)
		v[i] = (struct frame_span){ first[i], 8 };
	got = door->read(door->ctx, v, PYTHON_RECALL_FIRST + c->n, c->words);
	/* pass over what was not read */
	while (got >= need && c->end > got - need)
		c->end -= (size_t)last->row[row_of(c->done++)].n;
	return got >= need;
}

static bool is_at(const struct python_recalled *c, uint32_t i, uint64_t at, size_t n)
{
	const struct frame_span *v = i < c->n ? &c->last->row[row_of(i)] : NULL;

	return v && v->at == at && v->n == n;
}

/* Returns the bytes of a place, and passes over all before it. */
static const void *take(struct python_recalled *c, uint32_t i)
{
	while (c->done <= i)
		c->end -= (size_t)c->last->row[row_of(c->done++)].n;
	return (const uint8_t *)(c->words + PYTHON_RECALL_FIRST) + c->end;
}

const void *python_recall_next(struct python_recalled *c, uint64_t at, size_t n,
			       uint32_t *witness)
{
	if (!is_at(c, c->done, at, n))
		return NULL;
	*witness = c->last->witness[c->done];
	return take(c, c->done);
}

static uint16_t *index_of(struct python_recalled *c, uint64_t at)
{
	return &c->index[(frame_mix(0, at) >> 32) % PYTHON_RECALL_INDEX];
}

static void set_index(struct python_recalled *c)
{
	for (uint32_t i = c->n; i-- > c->done;)
		*index_of(c, c->last->row[row_of(i)].at) = (uint16_t)i;
	c->indexed = true;
}

const void *python_recall_find(struct python_recalled *c, uint64_t at, size_t n)
{
	uint32_t i = c->done;

	if (i < c->n && !is_at(c, i, at, n)) {
		if (!c->indexed)
			set_index(c);
		i = *index_of(c, at);
	}
	return i >= c->done && is_at(c, i, at, n) ? take(c, i) : NULL;
}

void python_recall_note(struct python_recalled *c, uint64_t at, size_t n,
			uint32_t witness)
{
	const uint32_t i = c->noted;
	struct python_places *now;

	if (!c->kept || i == PYTHON_RECALL_PLACES || c->bytes + n > PYTHON_RECALL_BYTES)
		return;
	now = &c->kept->places[!c->kept->last];
	c->noted++;
	c->bytes += (uint32_t)n;
	if (c->same && is_at(c, i, at, n) && c->last->witness[i] == witness)
		return;
	for (uint32_t k = 0; k < i && c->same; k++) {
		now->row[row_of(k)] = c->last->row[row_of(k)];
		now->witness[k] = c->last->witness[k];
	}
	c->same = false;
	now->row[row_of(i)] = (struct frame_span){ at, n };
	now->witness[i] = witness;
}

/* A compiler would make a call of memcpy() of a plain loop. */
static void copy(void *to, const void *from, size_t n)
{
	volatile uint8_t *p = to;

	for (size_t i = 0; i < n; i++)
		p[i] = ((const uint8_t *)from)[i];
}

size_t python_recall_read(struct python_recalled *c, const struct frame_door *door,
			  const struct frame_span *v, size_t n, void *to)
{
	bool found = true;
	size_t all = 0, got;

	for (size_t i = 0; i < n; all += (size_t)v[i++].n) {
		const void *p = python_recall_find(c, v[i].at, (size_t)v[i].n);

		if (p)
			copy((uint8_t *)to + all, p, (size_t)v[i].n);
		else
			found = false;
	}
	got = found ? all : door->read(door->ctx, v, n, to);
	for (size_t i = 0; i < n && got == all; i++)
		if (v[i].n <= PYTHON_RECALL_PLACE)
			python_recall_note(c, v[i].at, (size_t)v[i].n, 0);
	return got;
}

void python_recall_end(const struct python_recalled *c)
{
	struct python_places *p;

	if (!c->kept)
		return;
	c->kept->last ^= !c->same;
	p = &c->kept->places[c->kept->last];
	p->n = c->noted;
	p->bytes = c->bytes;
}
