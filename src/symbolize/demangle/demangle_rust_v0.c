// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangles Rust names of version 0 (RFC 2603; Punycode is RFC 3492): paths, types,
 * values.
 */
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/manglings.h"
#include "symbolize/demangle/reader.h"

enum { PUNYCODE_MAX = 256 };

struct r_ident {
	const char *s;
	size_t n;
	uint64_t number;	/* disambiguator, 0 if none */
	bool punycode;
};

/* Numbers in base 62 and identifiers. */

static void put_number(struct r_reader *r, uint64_t v)
{
	if (!r->quiet && !r->bad)
		buf_decimal(r->out, v);
}

static void put_utf8(struct r_reader *r, uint32_t c)
{
	if (!r->quiet && !r->bad)
		text_utf8(r->out, c);
}

static int digit_62(char c)
{
	if (text_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 36;
	return -1;
}

static uint64_t read_62(struct r_reader *r)
{
	uint64_t v = 0;
	int d;

	if (r_accept(r, '_'))
		return 0;
	while (!r->bad && !r_accept(r, '_')) {
		d = digit_62(r_next(r));
		if (d < 0 || v > (UINT64_MAX - 61) / 62)
			r_fail(r);
		else
			v = v * 62 + (uint64_t)d;
	}
	if (v == UINT64_MAX)
		r_fail(r);
	return v + 1;
}

static struct r_ident read_ident(struct r_reader *r)
{
	struct r_ident id = { 0 };
	size_t n = 0;

	if (r_accept(r, 's'))
		id.number = read_62(r) + 1;
	id.punycode = r_accept(r, 'u');
	if (!text_is_digit(r_peek(r)))
		r_fail(r);
	if (!r_accept(r, '0'))
		while (text_is_digit(r_peek(r)) && n < r->n)
			n = n * 10 + (size_t)(r_next(r) - '0');
	r_accept(r, '_');
	if (r->bad || n > r->n - r->at) {
		r_fail(r);
		return id;
	}
	id.s = r->s + r->at;
	id.n = n;
	r->at += n;
	return id;
}

static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta /= first ? 700 : 2;
	delta += delta / points;
	for (; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

/* Reads the next generalized integer of RFC 3492 and adds it to *i. */
static bool punycode_delta(const char **s, const char *end, uint32_t bias,
			   uint32_t *i)
{
	uint32_t w = 1, k = 36, d, t;

	for (;; k += 36) {
		if (*s == end)
			return false;
		d = (uint8_t)*(*s)++;
		if (d >= 'a' && d <= 'z')
			d -= 'a';
		else if (d >= '0' && d <= '9')
			d = d - '0' + 26;
		else
			return false;
		if (d * (uint64_t)w > 0x10000000 - *i)
			return false;
		*i += d * w;
		t = k <= bias + 1 ? 1 : k >= bias + 26 ? 26 : k - bias;
		if (d < t)
			return true;
		if (w > 0x1000000)
			return false;
		w *= 36 - t;
	}
}

/* Decodes Punycode.  Returns the number of characters; 0 if it is invalid. */
static size_t punycode(const struct r_ident *id, uint32_t *chars)
{
	const char *s = id->s, *end = s + id->n, *cut = NULL, *p;
	uint32_t i = 0, c = 0x80, bias = 72, from;
	size_t n = 0;

	for (p = s; p < end; p++)
		if (*p == '_')
			cut = p;
	for (p = s; cut && p < cut && n < PUNYCODE_MAX; p++)
		chars[n++] = (uint8_t)*p;
	s = cut ? cut + 1 : s;
	if (s == end)
		return 0;
	while (s < end) {
		from = i;
		if (n == PUNYCODE_MAX || !punycode_delta(&s, end, bias, &i))
			return 0;
		n++;
		bias = adapt(i - from, (uint32_t)n, from == 0);
		c += i / (uint32_t)n;
		i %= (uint32_t)n;
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return 0;
		memmove(chars + i + 1, chars + i,
			(n - 1 - i) * sizeof(*chars));
		chars[i++] = c;
	}
	return n;
}

static void put_ident(struct r_reader *r, const struct r_ident *id)
{
	uint32_t chars[PUNYCODE_MAX];
	size_t i, n;

	if (r->quiet || r->bad)
		return;
	if (!id->punycode) {
		buf_bytes(r->out, id->s, id->n);
		return;
	}
	n = punycode(id, chars);
	for (i = 0; i < n; i++)
		text_utf8(r->out, chars[i]);
	if (!n) {
		buf_str(r->out, "punycode{");
		buf_bytes(r->out, id->s, id->n);
		buf_u8(r->out, '}');
	}
}

/* Values of generic arguments in Rust names (RFC 2603, "Constants"; the rustc
 * book, "v0 Symbol Format", has later additions). */

static void r_read_const(struct r_reader *r, bool in_value);
static void r_read_path(struct r_reader *r, bool in_value);
static void r_read_back(struct r_reader *r,
			void (*fn)(struct r_reader *r, bool arg), bool arg);
static void r_read_type(struct r_reader *r);

static unsigned two_digits(const char *s)
{
	return (unsigned)(text_hex_digit(s[0]) << 4 | text_hex_digit(s[1]));
}

/* Reads hexadecimal digits up to _. */
static const char *read_hex(struct r_reader *r, size_t *n)
{
	const char *s = r->s + r->at;

	while (text_hex_digit(r_peek(r)) >= 0)
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
		*v = *v << 4 | (uint64_t)text_hex_digit(*s++);
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
		put_number(r, v);
		return;
	}
	r_put(r, "0x");
	for (; n; n--)
		r_put_char(r, *s++);
}

/* Writes a character as in Rust source. */
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
		put_utf8(r, c);
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

/* Reads one UTF-8 character in hexadecimal digits.  Returns false if it is
 * invalid. */
static bool next_char(const char **s, const char *end, uint32_t *c)
{
	unsigned byte, more;

	byte = two_digits(*s);
	*s += 2;
	more = byte < 0x80 ? 0 : byte < 0xc2 ? 9 : byte < 0xe0 ? 1 :
	       byte < 0xf0 ? 2 : byte < 0xf5 ? 3 : 9;
	if (more > 3 || (size_t)(end - *s) < 2 * more)
		return false;
	*c = more ? byte & (0x3fU >> more) : byte;
	for (; more; more--, *s += 2) {
		byte = two_digits(*s);
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

/* Reads values up to E.  Returns their number. */
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
		id = read_ident(r);
		put_ident(r, &id);
		r_put(r, ": ");
		r_read_const(r, true);
	}
	r_put(r, " }");
}

/* Reads V: a path, then U for nothing, T for values in parentheses, S for
 * fields. */
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

/* Reads a compound value; anything more than a literal is written in braces. */
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
	case 'e':	/* a str itself, not a reference to it */
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

/* Reads a constant. in_value: inside another value. */
static void r_read_const(struct r_reader *r, bool in_value)
{
	if (!r_enter(r))
		return;
	read_const(r, r_next(r), in_value);
	r->depth--;
}

/* Reads B and a position, and lets `fn` read there unless output is
 * suppressed. */
static void r_read_back(struct r_reader *r,
			void (*fn)(struct r_reader *r, bool arg), bool arg)
{
	size_t from = r->at - 1, at;
	uint64_t to = read_62(r);

	if (r->bad || to >= from) {
		r_fail(r);
		return;
	}
	if (r->quiet)	/* already checked at its position */
		return;
	at = r->at;
	r->at = (size_t)to;
	fn(r, arg);
	r->at = at;
}

static void put_lifetime(struct r_reader *r, uint64_t i)
{
	uint64_t depth;

	r_put_char(r, '\'');
	if (!i) {
		r_put_char(r, '_');
		return;
	}
	if (i > r->lifetimes) {
		r_fail(r);
		return;
	}
	depth = r->lifetimes - i;
	if (depth < 26) {
		r_put_char(r, (char)('a' + depth));
	} else {
		r_put_char(r, '_');
		put_number(r, depth);
	}
}

/* Reads [G number]: for<'a, 'b>. */
static void read_binder(struct r_reader *r)
{
	uint64_t n, i;

	if (!r_accept(r, 'G'))
		return;
	n = read_62(r) + 1;
	if (n > 1000)	/* more than any compiler emits */
		r_fail(r);
	r_put(r, "for<");
	for (i = 0; i < n && !r->bad; i++) {
		if (i)
			r_put(r, ", ");
		r->lifetimes++;
		put_lifetime(r, 1);
	}
	r_put(r, "> ");
}

/* Reads: K value | L lifetime | type. */
static void read_arg(struct r_reader *r)
{
	if (r_accept(r, 'L'))
		put_lifetime(r, read_62(r));
	else if (r_accept(r, 'K'))
		r_read_const(r, false);
	else
		r_read_type(r);
}

/* Reads arguments, after I; leaves the bracket open. */
static void read_args_open(struct r_reader *r, bool in_value)
{
	bool more = false;

	r_read_path(r, in_value);
	r_put(r, in_value ? "::<" : "<");
	while (!r->bad && !r_accept(r, 'E')) {
		if (more)
			r_put(r, ", ");
		more = true;
		read_arg(r);
	}
}

/* Reads N: a namespace, a parent path, a name. */
static void read_nested(struct r_reader *r, bool in_value)
{
	char space = r_next(r);
	struct r_ident id;

	if (!((space >= 'a' && space <= 'z') || (space >= 'A' && space <= 'Z')))
		r_fail(r);
	r_read_path(r, in_value);
	id = read_ident(r);
	if (r->bad)
		return;
	if (space >= 'a') {
		if (id.n) {
			r_put(r, "::");
			put_ident(r, &id);
		}
		return;
	}
	r_put(r, "::{");
	if (space == 'C')
		r_put(r, "closure");
	else if (space == 'S')
		r_put(r, "shim");
	else
		r_put_char(r, space);
	if (id.n) {
		r_put(r, ":");
		put_ident(r, &id);
	}
	r_put(r, "#");
	put_number(r, id.number);
	r_put(r, "}");
}

/* Skips the path of the impl in M and X. */
static void skip_impl(struct r_reader *r)
{
	if (r_accept(r, 's'))
		read_62(r);
	r->quiet++;
	r_read_path(r, false);
	r->quiet--;
}

static void read_impl(struct r_reader *r, char kind)
{
	if (kind != 'Y')
		skip_impl(r);
	r_put(r, "<");
	r_read_type(r);
	if (kind != 'M') {
		r_put(r, " as ");
		r_read_path(r, false);
	}
	r_put(r, ">");
}

static void r_read_path(struct r_reader *r, bool in_value)
{
	struct r_ident id;
	char c;

	if (!r_enter(r))
		return;
	c = r_next(r);
	switch (c) {
	case 'C':
		id = read_ident(r);
		put_ident(r, &id);
		break;
	case 'N':
		read_nested(r, in_value);
		break;
	case 'M': case 'X': case 'Y':
		read_impl(r, c);
		break;
	case 'I':
		read_args_open(r, in_value);
		r_put(r, ">");
		break;
	case 'B':
		r_read_back(r, r_read_path, in_value);
		break;
	default:
		r_fail(r);
	}
	r->depth--;
}

static const char *r_basic_type(char c)
{
	static const char *const names['z' - 'a' + 1] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char",
		['d' - 'a'] = "f64", ['e' - 'a'] = "str", ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8", ['i' - 'a'] = "isize",
		['j' - 'a'] = "usize", ['l' - 'a'] = "i32", ['m' - 'a'] = "u32",
		['n' - 'a'] = "i128", ['o' - 'a'] = "u128", ['p' - 'a'] = "_",
		['s' - 'a'] = "i16", ['t' - 'a'] = "u16", ['u' - 'a'] = "()",
		['v' - 'a'] = "...", ['x' - 'a'] = "i64", ['y' - 'a'] = "u64",
		['z' - 'a'] = "!",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

/* Reads an ABI, after K: C, or a name with _ for -. */
static void read_abi(struct r_reader *r)
{
	struct r_ident id;
	size_t i;

	r_put(r, "extern \"");
	if (r_accept(r, 'C')) {
		r_put(r, "C");
	} else {
		id = read_ident(r);
		if (id.punycode || !id.n)
			r_fail(r);
		for (i = 0; i < id.n && !r->bad; i++)
			r_put_char(r, id.s[i] == '_' ? '-' : id.s[i]);
	}
	r_put(r, "\" ");
}

/* Reads types up to E.  Returns their number. */
static size_t read_types(struct r_reader *r)
{
	size_t n = 0;

	for (; !r->bad && !r_accept(r, 'E'); n++) {
		if (n)
			r_put(r, ", ");
		r_read_type(r);
	}
	return n;
}

static void read_fn(struct r_reader *r)
{
	uint64_t lifetimes = r->lifetimes;

	read_binder(r);
	if (r_accept(r, 'U'))
		r_put(r, "unsafe ");
	if (r_accept(r, 'K'))
		read_abi(r);
	r_put(r, "fn(");
	read_types(r);
	r_put(r, ")");
	if (!r_accept(r, 'u')) {
		r_put(r, " -> ");
		r_read_type(r);
	}
	r->lifetimes = lifetimes;
}

/* Reads a path whose arguments may be continued by the caller; returns whether
 * the bracket is open. */
static bool read_open_path(struct r_reader *r);

static void back_open(struct r_reader *r, bool arg)
{
	(void)arg;
	/* the target of the reference decides */
	if (read_open_path(r))
		r->steps |= 0x80000000;
}

static bool read_open_path(struct r_reader *r)
{
	bool open = false;

	if (!r_enter(r))
		return false;
	if (r_accept(r, 'I')) {
		read_args_open(r, false);
		open = true;
	} else if (r_accept(r, 'B')) {
		r_read_back(r, back_open, false);
		open = r->steps >> 31;
		r->steps &= 0x7fffffff;
	} else {
		r_read_path(r, false);
	}
	r->depth--;
	return open;
}

/* Reads path {p name type}: Trait<Name = Type>. */
static void read_dyn_trait(struct r_reader *r)
{
	bool open = read_open_path(r);
	struct r_ident id;

	while (!r->bad && r_accept(r, 'p')) {
		r_put(r, open ? ", " : "<");
		open = true;
		id = read_ident(r);
		put_ident(r, &id);
		r_put(r, " = ");
		r_read_type(r);
	}
	if (open)
		r_put(r, ">");
}

static void read_dyn(struct r_reader *r)
{
	uint64_t lifetimes = r->lifetimes, i;
	bool more = false;

	r_put(r, "dyn ");
	read_binder(r);
	while (!r->bad && !r_accept(r, 'E')) {
		if (more)
			r_put(r, " + ");
		more = true;
		read_dyn_trait(r);
	}
	r->lifetimes = lifetimes;
	if (!r_accept(r, 'L')) {
		r_fail(r);
		return;
	}
	i = read_62(r);
	if (i) {
		r_put(r, " + ");
		put_lifetime(r, i);
	}
}

static void read_reference(struct r_reader *r, bool mutable)
{
	uint64_t i;

	r_put(r, "&");
	if (r_accept(r, 'L')) {
		i = read_62(r);
		if (i) {
			put_lifetime(r, i);
			r_put(r, " ");
		}
	}
	if (mutable)
		r_put(r, "mut ");
	r_read_type(r);
}

static void read_array(struct r_reader *r, bool sized)
{
	r_put(r, "[");
	r_read_type(r);
	if (sized) {
		r_put(r, "; ");
		r_read_const(r, true);
	}
	r_put(r, "]");
}

static void back_type(struct r_reader *r, bool arg)
{
	(void)arg;
	r_read_type(r);
}

static void read_type(struct r_reader *r, char c)
{
	switch (c) {
	case 'R': case 'Q':
		read_reference(r, c == 'Q');
		break;
	case 'P': case 'O':
		r_put(r, c == 'P' ? "*const " : "*mut ");
		r_read_type(r);
		break;
	case 'A': case 'S':
		read_array(r, c == 'A');
		break;
	case 'T':
		r_put(r, "(");
		if (read_types(r) == 1)
			r_put(r, ",");
		r_put(r, ")");
		break;
	case 'F':
		read_fn(r);
		break;
	case 'D':
		read_dyn(r);
		break;
	case 'B':
		r_read_back(r, back_type, false);
		break;
	default:	/* a path reads its letter itself */
		r->at--;
		r_read_path(r, false);
	}
}

static void r_read_type(struct r_reader *r)
{
	const char *basic;
	char c;

	if (!r_enter(r))
		return;
	c = r_next(r);
	basic = r_basic_type(c);
	if (basic)
		r_put(r, basic);
	else if (!r->bad)
		read_type(r, c);
	r->depth--;
}

/* Demangles _R path [path of the instantiating crate] [suffix]. */
bool demangle_rust_v0(const char *s, size_t n, struct buf *out)
{
	struct r_reader r = { .s = s + 2, .n = n - 2, .out = out,
			      .start = out->n };
	const char *end = s + n, *p;

	for (p = s + 2; p < end && *p != '.'; p++)
		if (!text_is_word(*p) || (unsigned char)*p >= 0x80)
			return false;
	r.n = (size_t)(p - r.s);
	if (!text_is_upper(r_peek(&r)))	/* an unknown version */
		return false;
	r_read_path(&r, true);
	if (!r.bad && r.at < r.n) {
		r.quiet = 1;
		r_read_path(&r, false);
	}
	if (r.bad || r.at != r.n || out->n - r.start > R_OUT_MAX) {
		out->n = r.start;
		return false;
	}
	demangle_clones(p, end, out);
	return true;
}
