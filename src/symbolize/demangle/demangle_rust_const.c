// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of generics' arguments in Rust names (RFC 2603, "Constants"; the rustc
 * book, "v0 Symbol Format", has those that came later). */
#include <string.h>

#include "symbolize/demangle/demangle_rust.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Hexadecimal digits up to _. */
static const char *read_hex(struct r_reader *r, size_t *n)
{
	const char *s = r->s + r->at;

	while (hex(r_peek(r)) >= 0)
		r->at++;
	*n = (size_t)(r->s + r->at - s);
	if (!r_accept(r, '_'))
		r_fail(r);
	return s;
}

static bool to_number(const char *s, size_t n, uint64_t *v)
{
	*v = 0;
	for (; n && *s == '0'; n--)
		s++;
	if (n > 16)
		return false;
	for (; n; n--)
		*v = *v << 4 | (uint64_t)hex(*s++);
	return true;
}

static void read_int(struct r_reader *r, bool is_signed)
{
	const char *s;
	uint64_t v;
	size_t n;

	if (is_signed && r_accept(r, 'n'))
		r_put(r, "-");
	s = read_hex(r, &n);
	if (r->bad)
		return;
	if (to_number(s, n, &v)) {
		r_put_number(r, v);
		return;
	}
	r_put(r, "0x");
	for (; n; n--)
		r_put_char(r, *s++);
}

/* As Rust writes it in its source. */
static void put_char_escaped(struct r_reader *r, uint32_t c, char quote)
{
	static const char digits[] = "0123456789abcdef";
	int shift;

	switch (c) {
	case '\t': r_put(r, "\\t"); return;
	case '\r': r_put(r, "\\r"); return;
	case '\n': r_put(r, "\\n"); return;
	case '\\': r_put(r, "\\\\"); return;
	case 0: r_put(r, "\\0"); return;
	}
	if (c == (uint8_t)quote) {
		r_put_char(r, '\\');
		r_put_char(r, quote);
	} else if (c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0)) {
		r_put_utf8(r, c);
	} else {
		r_put(r, "\\u{");
		for (shift = 20; shift && !(c >> shift); shift -= 4)
			;
		for (; shift >= 0; shift -= 4)
			r_put_char(r, digits[c >> shift & 15]);
		r_put(r, "}");
	}
}

static void read_char(struct r_reader *r)
{
	const char *s;
	uint64_t v;
	size_t n;

	s = read_hex(r, &n);
	if (r->bad || !to_number(s, n, &v) || v > 0x10ffff ||
	    (v >= 0xd800 && v < 0xe000)) {
		r_fail(r);
		return;
	}
	r_put(r, "'");
	put_char_escaped(r, (uint32_t)v, '\'');
	r_put(r, "'");
}

static void read_bool(struct r_reader *r)
{
	const char *s;
	size_t n;

	s = read_hex(r, &n);
	if (r->bad || n != 1 || (*s != '0' && *s != '1'))
		r_fail(r);
	else
		r_put(r, *s == '1' ? "true" : "false");
}

/* One character of UTF-8 in hexadecimal digits; false if it is none. */
static bool next_char(const char **s, const char *end, uint32_t *c)
{
	unsigned byte, more;

	byte = (unsigned)(hex((*s)[0]) << 4 | hex((*s)[1]));
	*s += 2;
	more = byte < 0x80 ? 0 : byte < 0xc2 ? 9 : byte < 0xe0 ? 1 :
	       byte < 0xf0 ? 2 : byte < 0xf5 ? 3 : 9;
	if (more > 3 || (size_t)(end - *s) < 2 * more)
		return false;
	*c = more ? byte & (0x3fU >> more) : byte;
	for (; more; more--, *s += 2) {
		byte = (unsigned)(hex((*s)[0]) << 4 | hex((*s)[1]));
		if (byte >> 6 != 2)
			return false;
		*c = *c << 6 | (byte & 0x3f);
	}
	return *c <= 0x10ffff && !(*c >= 0xd800 && *c < 0xe000);
}

static void read_str(struct r_reader *r)
{
	const char *s, *end;
	uint32_t c;
	size_t n;

	s = read_hex(r, &n);
	if (r->bad || n % 2) {
		r_fail(r);
		return;
	}
	r_put(r, "\"");
	for (end = s + n; s < end && !r->bad; ) {
		if (!next_char(&s, end, &c))
			r_fail(r);
		else
			put_char_escaped(r, c, '"');
	}
	r_put(r, "\"");
}

/* Values up to E; -> how many. */
static size_t read_list(struct r_reader *r)
{
	size_t n = 0;

	for (; !r->bad && !r_accept(r, 'E'); n++) {
		if (n)
			r_put(r, ", ");
		r_read_const(r, true);
	}
	return n;
}

static void read_fields(struct r_reader *r)
{
	struct r_ident id;
	bool more = false;

	r_put(r, " { ");
	while (!r->bad && !r_accept(r, 'E')) {
		if (more)
			r_put(r, ", ");
		more = true;
		id = r_read_ident(r);
		r_put_ident(r, &id);
		r_put(r, ": ");
		r_read_const(r, true);
	}
	r_put(r, " }");
}

/* V: a path, and U nothing, T values in parentheses, S fields. */
static void read_adt(struct r_reader *r)
{
	r_read_path(r, true);
	switch (r_next(r)) {
	case 'U':
		break;
	case 'T':
		r_put(r, "(");
		read_list(r);
		r_put(r, ")");
		break;
	case 'S':
		read_fields(r);
		break;
	default:
		r_fail(r);
	}
}

/* What is more than a literal stands in braces. */
static void read_compound(struct r_reader *r, char c)
{
	switch (c) {
	case 'R': case 'Q':
		r_put(r, c == 'R' ? "&" : "&mut ");
		r_read_const(r, true);
		break;
	case 'A':
		r_put(r, "[");
		read_list(r);
		r_put(r, "]");
		break;
	case 'T':
		r_put(r, "(");
		if (read_list(r) == 1)
			r_put(r, ",");
		r_put(r, ")");
		break;
	case 'V':
		read_adt(r);
		break;
	default:
		r_fail(r);
	}
}

static void read_const(struct r_reader *r, char c, bool in_value)
{
	switch (c) {
	case 'p':
		r_put(r, "_");
		break;
	case 'h': case 't': case 'm': case 'y': case 'o': case 'j':
		read_int(r, false);
		break;
	case 'a': case 's': case 'l': case 'x': case 'n': case 'i':
		read_int(r, true);
		break;
	case 'b':
		read_bool(r);
		break;
	case 'c':
		read_char(r);
		break;
	case 'e':	/* a str itself, not what points to it */
		r_put(r, in_value ? "*" : "{*");
		read_str(r);
		r_put(r, in_value ? "" : "}");
		break;
	case 'B':
		r_read_back(r, r_read_const, in_value);
		break;
	default:
		if (c == 'R' && r_accept(r, 'e')) {
			read_str(r);
			break;
		}
		r_put(r, in_value ? "" : "{");
		read_compound(r, c);
		r_put(r, in_value ? "" : "}");
	}
}

void r_read_const(struct r_reader *r, bool in_value)
{
	if (!r_enter(r))
		return;
	read_const(r, r_next(r), in_value);
	r->depth--;
}
