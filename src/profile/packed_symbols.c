// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols in few bits: they come in the order of their addresses, most begin at a
 * multiple of 16 and have the next new string as their name.
 * doc/tally-format.5, "PACKED_SYMBOLS".
 */
#include <stdlib.h>

#include "base/range.h"
#include "profile/format.h"

enum {
	ROWS_LEAST = 32,	/* fewer go as a table */
	ROWS_A_BYTE = 8,
	ALIGN = 16,		/* of functions */
};

/* What a symbol's name is. */
enum { NAMELESS, NEXT, OTHER };

struct symbol_coder {
	struct range r;
	uint32_t image, name;	/* image of the last one; largest name */
	uint64_t end;		/* of the last one in its image */
	unsigned int kind;	/* of the last one's name */
	struct range_bit same, aligned;
	struct range_number images, kinds[3], names, gap, jump, size;
};

static bool code_image(struct symbol_coder *s, struct prof_symbol *y)
{
	uint64_t v = y->image;

	if (range_bit(&s->r, &s->same, y->image == s->image)) {
		y->image = s->image;
		return true;
	}
	v = range_number(&s->r, &s->images, v);
	y->image = s->image = (uint32_t)v;
	s->end = 0;
	return v <= UINT32_MAX;
}

static bool code_name(struct symbol_coder *s, struct prof_symbol *y)
{
	uint64_t v = y->name == 0 ? NAMELESS
		     : y->name == s->name + 1ull ? NEXT : OTHER;

	v = range_number(&s->r, &s->kinds[s->kind], v);
	if (v > OTHER)
		return false;
	s->kind = (unsigned int)v;
	if (v == NAMELESS) {
		y->name = 0;
		return true;
	}
	v = s->name + 1ull;
	if (s->kind == OTHER)
		v += range_unzigzag(range_number(&s->r, &s->names,
						 range_zigzag(y->name - v)));
	y->name = (uint32_t)v;
	if (y->name > s->name)
		s->name = y->name;
	return v <= UINT32_MAX;
}

static void code_extent(struct symbol_coder *s, struct prof_symbol *y)
{
	uint64_t next = (s->end + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);

	if (range_bit(&s->r, &s->aligned,
		      y->vaddr >= next && y->vaddr % ALIGN == 0))
		y->vaddr = next + ALIGN * range_number(&s->r, &s->gap,
						       (y->vaddr - next) /
						       ALIGN);
	else
		y->vaddr = s->end + range_unzigzag(
			range_number(&s->r, &s->jump,
				     range_zigzag(y->vaddr - s->end)));
	y->size = range_number(&s->r, &s->size, y->size);
	s->end = y->vaddr + y->size;
}

static bool code_symbols(struct symbol_coder *s, struct prof_symbol *v,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct prof_symbol y = v[i];

		if (s->r.missing > 4 || !code_image(s, &y) ||
		    !code_name(s, &y))
			return false;
		code_extent(s, &y);
		v[i] = y;
	}
	return range_end(&s->r);
}

bool section_put_symbols(struct buf *out, const struct profile *p)
{
	size_t n = p->symbols.n, from;
	struct symbol_coder *s = NULL;
	struct buf body = { 0 };
	bool good;

	if (n >= ROWS_LEAST)
		s = calloc(1, sizeof(*s));
	if (!s)
		return false;
	buf_uleb(&body, n);
	from = body.n;
	range_write(&s->r, &body);
	good = code_symbols(s, p->symbols.v, n) && !body.failed &&
	       n / ROWS_A_BYTE <= body.n - from;
	if (good)
		section_put(out, SECTION_PACKED_SYMBOLS, &body);
	buf_fini(&body);
	free(s);
	return good;
}

bool section_get_symbols(struct profile *p, struct cursor *c)
{
	uint64_t n = cursor_uleb(c);
	struct symbol_coder *s;
	bool good;

	if (c->bad || p->symbols.n || n / ROWS_A_BYTE > cursor_left(c) ||
	    !profile_charge(p, n * PROF_ROW_VIEWS) ||
	    profile_reserve(p, &p->symbols, (size_t)n) < 0)
		return false;
	s = calloc(1, sizeof(*s));
	if (!s)
		return false;
	for (size_t i = 0; i < n; i++)
		p->symbols.v[i] = (struct prof_symbol){ 0 };
	range_read(&s->r, c->p, cursor_left(c));
	good = code_symbols(s, p->symbols.v, (size_t)n);
	p->symbols.n = good ? (size_t)n : 0;
	free(s);
	return good;
}
