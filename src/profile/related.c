// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/related.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)-(int64_t)(v >> 63);
}

static uint64_t unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

static uint64_t symbol_key(uint32_t image, uint64_t vaddr)
{
	return hash_mix(vaddr, image);
}

static int index_symbols(struct related *r)
{
	const struct profile *p = r->p;

	for (size_t i = 0; i < p->symbols.n; i++) {
		const struct prof_symbol *s = &p->symbols.v[i];
		uint32_t *slot = u64map_slot(&r->symbols,
					     symbol_key(s->image, s->vaddr));

		if (!slot)
			return -ERR_NOMEM;
		*slot = (uint32_t)i;
	}
	return 0;
}

int related_init(struct related *r, const struct profile *p,
		 const struct table *t, uint8_t code, bool writing)
{
	*r = (struct related){ .p = p, .t = t };
	if (code == COL_SYMBOL)
		return writing ? index_symbols(r) : 0;
	if (code != COL_NESTED && code != COL_FUNC_LINE)
		return 0;
	r->last = malloc((p->funcs.n + 1) * sizeof(*r->last));
	if (!r->last)
		return -ERR_NOMEM;
	for (size_t i = 0; i <= p->funcs.n; i++)
		r->last[i] = PROF_NONE;
	return 0;
}

void related_fini(struct related *r)
{
	free(r->last);
	u64map_fini(&r->symbols);
}

static const struct prof_frame *frame(const struct related *r, size_t i)
{
	return table_row(r->p, r->t, i);
}

/* Where `last` keeps a function's value; 0: no function. */
static size_t place(const struct related *r, uint32_t func)
{
	return func < r->p->funcs.n ? (size_t)func + 1 : 0;
}

/* The function that row i is inlined into. */
static uint32_t *nested_last(struct related *r, size_t i)
{
	uint32_t outer = frame(r, i)->outer;

	return &r->last[outer < i ? place(r, frame(r, outer)->func) : 0];
}

static uint64_t func_file(const struct related *r, size_t i)
{
	uint32_t func = frame(r, i)->func;

	return func < r->p->funcs.n ? r->p->funcs.v[func].file : 0;
}

/* The line that the last row of the function had, or where it is declared. */
static uint32_t func_line(const struct related *r, size_t i, uint32_t **last)
{
	uint32_t func = frame(r, i)->func;

	*last = &r->last[place(r, func)];
	if (**last != PROF_NONE)
		return **last;
	return func < r->p->funcs.n ? r->p->funcs.v[func].line : 0;
}

/* 0: the same as the last function that was inlined into this one; then new ones
 * by how far they are above the largest. */
static void put_nested(struct related *r, size_t i, uint32_t v, struct buf *out)
{
	uint32_t *last = nested_last(r, i);

	if (v == *last)
		buf_uleb(out, 0);
	else
		buf_uleb(out, v > r->max && v - r->max < RECENT_NEW
			      ? v - r->max : (uint64_t)v + RECENT_NEW);
	if (v > r->max)
		r->max = v;
	*last = v;
}

static uint64_t get_nested(struct related *r, size_t i, struct cursor *c)
{
	uint64_t z = cursor_uleb(c), v;
	uint32_t *last = nested_last(r, i);

	v = !z ? *last : z < RECENT_NEW ? r->max + z : z - RECENT_NEW;
	if (v >= PROF_NONE)
		cursor_fail(c);
	if (v > r->max)
		r->max = (uint32_t)v;
	*last = (uint32_t)v;
	return v;
}

static void put_symbol(struct related *r, size_t i, uint64_t v, struct buf *out)
{
	const struct prof_func *f = &r->p->funcs.v[i];
	const struct prof_symbol *s;
	uint32_t at;

	if (!v) {
		buf_uleb(out, 0);
		return;
	}
	at = u64map_get(&r->symbols, symbol_key(f->image, v));
	s = at < r->p->symbols.n ? &r->p->symbols.v[at] : NULL;
	if (!s || s->image != f->image || s->vaddr != v) {
		buf_uleb(out, 1);
		buf_uleb(out, v);
		return;
	}
	buf_uleb(out, 2 + zigzag(at - r->prev));
	r->prev = at;
}

static uint64_t get_symbol(struct related *r, struct cursor *c)
{
	uint64_t z = cursor_uleb(c);

	if (z < 2)
		return z ? cursor_uleb(c) : 0;
	r->prev += unzigzag(z - 2);
	if (r->prev < r->p->symbols.n)
		return r->p->symbols.v[r->prev].vaddr;
	cursor_fail(c);
	return 0;
}

void related_put(struct related *r, uint8_t code, size_t i, uint64_t v,
		 struct buf *out)
{
	uint32_t *last;

	switch (code) {
	case COL_NESTED:
		put_nested(r, i, (uint32_t)v, out);
		break;
	case COL_FUNC_FILE:
		buf_uleb(out, v == func_file(r, i) ? 0 : v + 1);
		break;
	case COL_FUNC_LINE:
		buf_uleb(out, zigzag(v - func_line(r, i, &last)));
		*last = (uint32_t)v;
		break;
	default:
		put_symbol(r, i, v, out);
	}
}

uint64_t related_get(struct related *r, uint8_t code, size_t i,
		     struct cursor *c)
{
	uint32_t *last;
	uint64_t v;

	switch (code) {
	case COL_NESTED:
		return get_nested(r, i, c);
	case COL_FUNC_FILE:
		v = cursor_uleb(c);
		return v ? v - 1 : func_file(r, i);
	case COL_FUNC_LINE:
		v = func_line(r, i, &last);
		v += unzigzag(cursor_uleb(c));
		*last = (uint32_t)v;
		return v;
	default:
		return get_symbol(r, c);
	}
}
