/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_D_H
#define TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_D_H
/*
 * D names (the D language's ABI, "Name Mangling").  One pass that writes while it
 * reads.  References back make short names stand for endless ones, so output,
 * steps and depth have limits, and a reference inside what is referred to must
 * lie before it.
 */
#include <string.h>

#include "symbolize/demangle/manglings.h"

enum { D_OUT_MAX = 64 * 1024, D_STEPS_MAX = 1 << 20, D_DEPTH_MAX = 128 };

struct d_reader {
	const char *s;
	size_t n, at;
	struct buf *out;
	size_t start;		/* of our text in out */
	size_t back;		/* where the last reference stood */
	uint32_t steps;
	unsigned depth;
	bool bad;
};

static inline bool d_fail(struct d_reader *r)
{
	r->bad = true;
	return false;
}

static inline char d_peek(const struct d_reader *r)
{
	return r->at < r->n ? r->s[r->at] : '\0';
}

static inline char d_peek_at(const struct d_reader *r, size_t i)
{
	return i < r->n - r->at ? r->s[r->at + i] : '\0';
}

static inline bool d_accept(struct d_reader *r, char c)
{
	if (!c || d_peek(r) != c)
		return false;
	r->at++;
	return true;
}

static inline bool d_enter(struct d_reader *r)
{
	if (r->bad || ++r->steps > D_STEPS_MAX || r->depth == D_DEPTH_MAX ||
	    r->out->n - r->start > D_OUT_MAX)
		return d_fail(r);
	r->depth++;
	return true;
}

static inline void d_put(struct d_reader *r, const char *text)
{
	buf_str(r->out, text);
}

static inline bool d_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t d_read_number(struct d_reader *r);
/* Q and a distance in base 26, the last digit a small letter: where it leads,
 * r->n if nowhere. */
size_t d_read_reference(struct d_reader *r);
/* Of the text behind `from`, puts what begins at `mid` first. */
void d_swap_parts(struct d_reader *r, size_t from, size_t mid);
/* Names joined by dots, with the parameters of those that are functions;
 * mods_last: their modifiers follow. */
void d_read_qualified(struct d_reader *r, bool mods_last);

/* demangle_d_value.c: the type and value of a template's argument. */
void d_read_value_argument(struct d_reader *r);

/* demangle_d_type.c */
void d_read_type(struct d_reader *r);
bool d_at_call(const struct d_reader *r);
/* Modifiers of `this`, each with a space before. */
void d_read_modifiers(struct d_reader *r, struct buf *mods);
void d_read_attributes(struct d_reader *r, bool shown);
/* Parameters up to their end: X typesafe, Y C-style variadic, Z plain. */
void d_read_parameters(struct d_reader *r);

#endif
