/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_RUST_H
#define TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_RUST_H
/*
 * Rust names of version 0 (RFC 2603), written in one pass while they are read.
 * Back references allow short names to expand without bound, so output, steps
 * and depth have limits.  A reference always points to an earlier position.
 *
 *	demangle_rust.c		the legacy names, identifiers, Punycode
 *	demangle_rust_v0.c	paths, types, values of generic arguments
 */
#include "base/buf.h"

enum { R_OUT_MAX = 64 * 1024, R_STEPS_MAX = 1 << 17, R_DEPTH_MAX = 300 };

struct r_reader {
	const char *s;		/* text after _R */
	size_t n, at;
	struct buf *out;
	size_t start;		/* start of the demangled name in out */
	uint64_t lifetimes;	/* number bound by enclosing for<…> */
	uint32_t steps;
	unsigned depth;
	unsigned quiet;		/* greater than 0: output is suppressed */
	bool bad;
};

struct r_ident {
	const char *s;
	size_t n;
	uint64_t number;	/* disambiguator, 0 if none */
	bool punycode;
};

static inline void r_fail(struct r_reader *r)
{
	r->bad = true;
}

static inline char r_peek(const struct r_reader *r)
{
	return r->at < r->n ? r->s[r->at] : '\0';
}

static inline bool r_accept(struct r_reader *r, char c)
{
	if (r->at >= r->n || r->s[r->at] != c)
		return false;
	r->at++;
	return true;
}

static inline char r_next(struct r_reader *r)
{
	if (r->at < r->n)
		return r->s[r->at++];
	r->bad = true;
	return '\0';
}

static inline bool r_enter(struct r_reader *r)
{
	if (r->bad || ++r->steps > R_STEPS_MAX || r->depth == R_DEPTH_MAX ||
	    r->out->n - r->start > R_OUT_MAX) {
		r->bad = true;
		return false;
	}
	r->depth++;
	return true;
}

static inline void r_put(struct r_reader *r, const char *s)
{
	if (!r->quiet && !r->bad)
		buf_str(r->out, s);
}

static inline void r_put_char(struct r_reader *r, char c)
{
	if (!r->quiet && !r->bad)
		buf_u8(r->out, (uint8_t)c);
}

void r_put_number(struct r_reader *r, uint64_t v);

/* demangle_rust.c */
struct r_ident r_read_ident(struct r_reader *r);
void r_put_ident(struct r_reader *r, const struct r_ident *id);
void r_put_utf8(struct r_reader *r, uint32_t c);
/* Reads a base-62 number terminated by _; _ alone is 0. */
uint64_t r_read_62(struct r_reader *r);

/* demangle_rust_v0.c */
bool demangle_rust_v0(const char *s, size_t n, struct buf *out);

#endif
