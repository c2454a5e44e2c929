/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_READER_H
#define TALLY_SYMBOLIZE_DEMANGLE_READER_H
/*
 * Reads Rust and D names, which are written in one pass while they are read.
 * Back references allow short names to expand without bound, so output, steps
 * and depth have limits: each nested part begins with r_enter and ends with
 * depth--.
 */
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

enum { R_OUT_MAX = 64 * 1024, R_STEPS_MAX = 1 << 17, R_DEPTH_MAX = 300 };

struct r_reader {
	const char *s;
	size_t n, at;
	struct buf *out;
	size_t start;		/* start of the demangled name in out */
	uint64_t lifetimes;	/* Rust: number bound by enclosing for<…> */
	size_t back;		/* D: position of the last reference */
	uint32_t steps;
	unsigned depth;
	unsigned quiet;		/* greater than 0: output is suppressed */
	bool bad;
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

static inline bool r_accept_text(struct r_reader *r, const char *text)
{
	size_t n = strlen(text);

	if (r->at > r->n || n > r->n - r->at || memcmp(r->s + r->at, text, n))
		return false;
	r->at += n;
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

static inline void r_put_bytes(struct r_reader *r, const char *s, size_t n)
{
	r->steps += (uint32_t)(n / 16);
	if (!r->quiet && !r->bad)
		buf_bytes(r->out, s, n);
}

static inline void r_put(struct r_reader *r, const char *s)
{
	r_put_bytes(r, s, strlen(s));
}

static inline void r_put_char(struct r_reader *r, char c)
{
	if (!r->quiet && !r->bad)
		buf_u8(r->out, (uint8_t)c);
}

#endif
