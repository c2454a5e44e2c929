// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of template arguments: see demangle_d.h. */
#include "symbolize/demangle/demangle_d.h"

/* A number as the value of a template parameter of basic type `type`. */
static void put_number(struct d_reader *r, char type, bool minus)
{
	size_t from = r->at;
	uint64_t v = 0;

	if (!d_is_digit(d_peek(r))) {
		d_fail(r);
		return;
	}
	for (; d_is_digit(d_peek(r)); r->at++)
		v = v * 10 + (uint64_t)(r->s[r->at] - '0');
	if (type == 'b') {
		d_put(r, v ? "true" : "false");
		return;
	}
	if ((type == 'a' && v < 0x80 && v >= 0x20)) {
		buf_printf(r->out, "'%c'", (int)v);
		return;
	}
	if (type == 'a' || type == 'u' || type == 'w') {
		buf_printf(r->out, type == 'a' ? "'\\x%02llx'"
				 : type == 'u' ? "'\\u%04llx'"
				 : "'\\U%08llx'", (unsigned long long)v);
		return;
	}
	if (minus)
		d_put(r, "-");
	buf_bytes(r->out, r->s + from, r->at - from);
	if (type == 'h' || type == 't' || type == 'k')
		d_put(r, "u");
	else if (type == 'l')
		d_put(r, "L");
	else if (type == 'm')
		d_put(r, "uL");
}

static void put_real(struct d_reader *r)
{
	static const char *const words[][2] = {
		{ "NINF", "-Inf" }, { "NAN", "NaN" }, { "INF", "Inf" },
	};
	size_t i, n;

	for (i = 0; i < 3; i++) {
		n = strlen(words[i][0]);
		if (r->n - r->at >= n && !memcmp(r->s + r->at, words[i][0], n)) {
			r->at += n;
			d_put(r, words[i][1]);
			return;
		}
	}
	if (d_accept(r, 'N'))
		d_put(r, "-");
	d_put(r, "0x");
	for (n = 0; memchr("0123456789ABCDEF", d_peek(r) ? d_peek(r) : '#', 16); n++) {
		buf_u8(r->out, (uint8_t)r->s[r->at++]);
		if (!n)
			d_put(r, ".");
	}
	if (!n || !d_accept(r, 'P')) {
		d_fail(r);
		return;
	}
	d_put(r, "p");
	if (d_accept(r, 'N'))
		d_put(r, "-");
	for (n = 0; d_is_digit(d_peek(r)); n++)
		buf_u8(r->out, (uint8_t)r->s[r->at++]);
	if (!n)
		d_fail(r);
}

static int hex(char c)
{
	return d_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* a, w or d, the number of bytes, _ and these in hexadecimal. */
static void put_string(struct d_reader *r)
{
	char kind = r->s[r->at++];
	size_t n = d_read_number(r);

	if (r->bad || !d_accept(r, '_') || n > (r->n - r->at) / 2) {
		d_fail(r);
		return;
	}
	d_put(r, "\"");
	for (; n; n--, r->at += 2) {
		int hi = hex(r->s[r->at]), lo = hex(r->s[r->at + 1]);
		int c = hi * 16 + lo;

		if (hi < 0 || lo < 0) {
			d_fail(r);
			return;
		}
		if (c == '\n' || c == '\t' || c == '\r' || c == '\f' ||
		    c == '\v')
			buf_printf(r->out, "\\%c", c == '\n' ? 'n' :
				   c == '\t' ? 't' : c == '\r' ? 'r' :
				   c == '\f' ? 'f' : 'v');
		else if (c >= 0x20 && c < 0x7f)
			buf_u8(r->out, (uint8_t)c);
		else
			buf_printf(r->out, "\\x%02x", (unsigned int)c);
	}
	d_put(r, "\"");
	if (kind != 'a')
		buf_u8(r->out, (uint8_t)kind);
}

static void d_read_value(struct d_reader *r, char type, size_t name, size_t name_n);

static void put_list(struct d_reader *r, char type, const char *close)
{
	size_t i, n = d_read_number(r);

	for (i = 0; i < n && !r->bad; i++) {
		if (i)
			d_put(r, ", ");
		d_read_value(r, '\0', 0, 0);
		if (type == 'H') {
			d_put(r, ":");
			d_read_value(r, '\0', 0, 0);
		}
	}
	d_put(r, close);
}

/* name: what the value's type was written as, for structs. */
static void d_read_value(struct d_reader *r, char type, size_t name, size_t name_n)
{
	char c = d_peek(r);

	if (!d_enter(r))
		return;
	if (c == 'n') {
		r->at++;
		d_put(r, "null");
	} else if (c == 'N' || c == 'i' || d_is_digit(c)) {
		r->at += !d_is_digit(c);
		put_number(r, type, c == 'N');
	} else if (c == 'e') {
		r->at++;
		put_real(r);
	} else if (c == 'c') {
		r->at++;
		put_real(r);
		d_put(r, "+");
		if (!d_accept(r, 'c'))
			d_fail(r);
		else
			put_real(r);
		d_put(r, "i");
	} else if (c == 'a' || c == 'w' || c == 'd') {
		put_string(r);
	} else if (c == 'A') {
		r->at++;
		d_put(r, "[");
		put_list(r, type, "]");
	} else if (c == 'S') {
		r->at++;
		for (size_t i = 0; i < name_n; i++)
			buf_u8(r->out, r->out->p[name + i]);
		d_put(r, "(");
		put_list(r, '\0', ")");
	} else if (c == 'f' && d_peek_at(r, 1) == '_' && d_peek_at(r, 2) == 'D') {
		r->at += 3;
		d_read_qualified(r, false);
		if (!d_accept(r, 'Z'))
			d_fail(r);
	} else {
		d_fail(r);
	}
	r->depth--;
}

/* The type's text is needed only before S values; it is taken back. */
void d_read_value_argument(struct d_reader *r)
{
	char type = d_peek(r);
	size_t from = r->out->n, mid, n;

	if (type == 'Q') {
		size_t at = r->at, to = d_read_reference(r);

		type = to < r->n ? r->s[to] : '\0';
		r->at = at;
	}
	d_read_type(r);
	mid = r->out->n;
	if (r->bad || r->out->failed)
		return;
	d_read_value(r, type, from, mid - from);
	if (r->bad || r->out->failed)
		return;
	n = r->out->n - mid;
	memmove(r->out->p + from, r->out->p + mid, n);
	r->out->n = from + n;
}
