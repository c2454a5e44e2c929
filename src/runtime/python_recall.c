// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what the last walk of a thread read. */
#include "runtime/python_recall.h"

enum { SCANS_MAX = 4096 };

static const struct frame_span *spans_of(const struct python_recall *r, uint32_t i)
{
	return &r->spans[PYTHON_RECALL_FIRST + 2 * i];
}

static size_t bytes_of(const struct python_recall *r, uint32_t i)
{
	const struct frame_span *v = spans_of(r, i);

	return (size_t)(v[0].n + v[1].n);
}

/* Finds the items that are among the bytes which were read. */
static void count_items(struct python_recalled *c, size_t got)
{
	const struct python_recall *r = c->kept;

	c->left = r->n;
	c->end = r->bytes;
	while (c->end > got)
		c->end -= bytes_of(r, --c->left);
}

bool python_recall_begin(struct python_recalled *c, struct python_recall *kept,
			 const uint64_t *first, const struct frame_door *door)
{
	const size_t need = 8 * PYTHON_RECALL_FIRST;
	struct frame_span few[PYTHON_RECALL_FIRST];
	struct frame_span *spans = kept ? kept->spans : few;
	size_t got;

	c->kept = kept;
	c->left = c->top = c->n = 0;
	c->end = 0;
	c->full = c->filtered = false;
	c->scans = SCANS_MAX;
	for (size_t i = 0; i < PYTHON_RECALL_FIRST; i++)
		spans[i] = (struct frame_span){ first[i], 8 };
	got = door->read(door->ctx, spans,
			 PYTHON_RECALL_FIRST + (kept ? 2ul * kept->n : 0), c->words);
	if (got < need)
		return false;
	if (kept)
		count_items(c, got - need);
	c->top = c->left;
	return true;
}

static void visit(struct python_recalled *c, const struct python_recall_item *item)
{
	if (c->n == PYTHON_RECALL_ITEMS)
		c->full = true;
	else
		c->visited[c->n++] = *item;
}

static void get_item(const struct python_recall *r, uint32_t i,
		     struct python_recall_item *item)
{
	item->place = spans_of(r, i)[0];
	item->code = spans_of(r, i)[1];
	item->witness = r->witness[i];
}

/* Moves the items from `bottom` on that were visited to those that are noted. */
static void move(struct python_recalled *c, uint32_t bottom)
{
	struct python_recall_item item;

	while (c->top > bottom) {
		get_item(c->kept, --c->top, &item);
		visit(c, &item);
	}
	c->top = c->left;
}

static bool is_at(const struct python_recalled *c, uint32_t i,
		  const struct frame_span *place)
{
	const struct frame_span *v = spans_of(c->kept, i);

	return v->at == place->at && v->n == place->n;
}

static uint32_t bit_of(uint64_t at)
{
	return (uint32_t)(frame_mix(0, at) >> 32) % PYTHON_RECALL_FILTER;
}

static void set_filter(struct python_recalled *c)
{
	uint32_t bit;

	for (size_t i = 0; i < PYTHON_RECALL_FILTER / 64; i++)
		((volatile uint64_t *)c->filter)[i] = 0;
	for (uint32_t i = 0; i < c->left; i++) {
		bit = bit_of(spans_of(c->kept, i)->at);
		c->filter[bit / 64] |= 1ull << bit % 64;
	}
	c->filtered = true;
}

/* Returns whether the place may be among the items that are left.  It often is the
 * last. */
static bool may_be_left(struct python_recalled *c, const struct frame_span *place)
{
	const uint32_t bit = bit_of(place->at);

	if (!c->left)
		return false;
	if (is_at(c, c->left - 1, place))
		return true;
	if (!c->filtered)
		set_filter(c);
	return c->filter[bit / 64] >> bit % 64 & 1;
}

const void *python_recall_find(struct python_recalled *c, const struct frame_span *place,
			       struct python_recall_item *item, const void **code)
{
	uint32_t i = may_be_left(c, place) ? c->left : 0;
	size_t end = c->end;

	while (i && c->scans) {
		const struct frame_span *v = spans_of(c->kept, --i);

		end -= (size_t)(v[0].n + v[1].n);
		if (!is_at(c, i, place)) {
			c->scans--;
			continue;
		}
		if (i + 1 != c->left) {
			move(c, c->left);
			c->top = i + 1;
		}
		c->left = i;
		c->end = end;
		get_item(c->kept, i, item);
		*code = (const uint8_t *)(c->words + PYTHON_RECALL_FIRST) + end + v[0].n;
		return (const uint8_t *)(c->words + PYTHON_RECALL_FIRST) + end;
	}
	return NULL;
}

uint32_t python_recall_note(struct python_recalled *c, const struct python_recall_item *item,
			    bool instead)
{
	if (!c->kept)
		return PYTHON_RECALL_NONE;
	/* All inner ones are as they were, and this one had no room. */
	if (c->kept->cut && !c->left && !instead && !c->n && c->top == c->kept->n)
		return PYTHON_RECALL_NONE;
	move(c, c->left + instead);
	visit(c, item);
	return c->full ? PYTHON_RECALL_NONE : c->n - 1;
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
	uint64_t missing = 0;
	size_t all = 0, got;

	for (size_t i = 0; i < n; i++) {
		struct python_recall_item item;
		const void *code, *p = python_recall_find(c, &v[i], &item, &code);

		if (p)
			copy((uint8_t *)to + all, p, (size_t)v[i].n);
		else
			missing |= 1ull << i % 64;
		all += (size_t)v[i].n;
	}
	if (!missing)
		return all;
	got = door->read(door->ctx, v, n, to);
	for (size_t i = 0; i < n && got == all; i++) {
		const struct python_recall_item item = { .place = v[i] };

		if ((missing >> i % 64 & 1) && v[i].n <= PYTHON_RECALL_PLACE)
			python_recall_note(c, &item, false);
	}
	return got;
}

/* Returns how many of the visited items, innermost first, have room. */
static uint32_t that_fit(const struct python_recalled *c)
{
	size_t bytes = 0;
	uint32_t n = 0;

	for (; n < c->n; n++) {
		bytes += (size_t)(c->visited[n].place.n + c->visited[n].code.n);
		if (bytes > PYTHON_RECALL_BYTES)
			break;
	}
	return n;
}

static void append(struct python_recall *r, const struct python_recall_item *item)
{
	struct frame_span *v = &r->spans[PYTHON_RECALL_FIRST + 2 * r->n];

	v[0] = item->place;
	/* an address that can be read, whatever a reader makes of 0 bytes */
	v[1] = item->code.n ? item->code : (struct frame_span){ item->place.at, 0 };
	r->witness[r->n++] = item->witness;
	r->bytes += (uint32_t)(item->place.n + item->code.n);
}

/* Returns whether the outermost items can stay where they are. */
static bool may_stay(const struct python_recalled *c, uint32_t fit)
{
	size_t bytes = 0;

	if (c->left || fit < c->n || c->top + c->n > PYTHON_RECALL_ITEMS)
		return false;
	for (uint32_t i = 0; i < c->top; i++)
		bytes += bytes_of(c->kept, i);
	for (uint32_t i = 0; i < c->n; i++)
		bytes += (size_t)(c->visited[i].place.n + c->visited[i].code.n);
	return bytes <= PYTHON_RECALL_BYTES;
}

static void keep(struct python_recalled *c, struct python_recall *r)
{
	uint32_t fit;

	if (!may_stay(c, that_fit(c))) {
		move(c, c->left);
		c->top = 0;
	}
	fit = that_fit(c);
	r->cut = c->full || fit < c->n;
	while (r->n > c->top)
		r->bytes -= (uint32_t)bytes_of(r, --r->n);
	while (fit)
		append(r, &c->visited[--fit]);
}

void python_recall_end(struct python_recalled *c)
{
	struct python_recall *r = c->kept;

	/* mostly nothing has changed */
	if (r && (c->left || c->n || c->top != r->n))
		keep(c, r);
	c->kept = NULL;
	c->left = 0;
}
