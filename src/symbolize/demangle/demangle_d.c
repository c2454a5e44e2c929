// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangles D names (the D language's ABI, "Name Mangling") in one pass that
 * writes while it reads.  Back references allow short names to expand without
 * bound, so output, steps and depth have limits.  A reference inside a
 * referenced part must point to an earlier position. (libiberty's reader has no
 * such limits: names of 200 bytes can take minutes and gigabytes.)
 */
#include <string.h>

#include "symbolize/demangle/manglings.h"

enum { D_OUT_MAX = 64 * 1024, D_STEPS_MAX = 1 << 20, D_DEPTH_MAX = 128 };

struct d_reader {
	const char *s;
	size_t n, at;
	struct buf *out;
	size_t start;		/* start of the demangled name in out */
	size_t back;		/* position of the last reference */
	uint32_t steps;
	unsigned depth;
	bool bad;
};

static void d_read_qualified(struct d_reader *r, bool mods_last);
static void d_read_type(struct d_reader *r);

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

static size_t d_read_number(struct d_reader *r)
{
	size_t v = 0;

	if (!d_is_digit(d_peek(r)))
		d_fail(r);
	while (d_is_digit(d_peek(r)) && v < 1u << 30)
		v = v * 10 + (size_t)(r->s[r->at++] - '0');
	if (v >= 1u << 30)
		d_fail(r);
	return v;
}

/* Reads Q and a distance in base 26, whose last digit is a small letter.
 * Returns the target, r->n if it is invalid. */
static size_t d_read_reference(struct d_reader *r)
{
	size_t from = r->at++, v = 0;

	while (r->at < r->n && v < r->n) {
		char c = r->s[r->at++];

		if (c >= 'a' && c <= 'z') {
			v = v * 26 + (size_t)(c - 'a');
			return v && v <= from ? from - v : r->n;
		}
		if (c < 'A' || c > 'Z')
			break;
		v = v * 26 + (size_t)(c - 'A');
	}
	return r->n;
}

/* Reverses n bytes. */
static void reverse(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint8_t c = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = c;
	}
}

/* Turns the output "ab" after `from` into "ba"; b starts at `mid`. */
static void d_swap_parts(struct d_reader *r, size_t from, size_t mid)
{
	uint8_t *p = r->out->p + from;
	size_t n = r->out->n - from, a = mid - from;

	if (r->out->failed)
		return;
	r->steps += (uint32_t)(n / 16);
	reverse(p, a);
	reverse(p + a, n - a);
	reverse(p, n);
}

/* Writes a number as the value of a template parameter of basic type `type`. */
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

/* Writes a string from: a, w or d, the number of bytes, _, the bytes in
 * hexadecimal. */
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

/* Reads a value. name: the text of its type, for structs. */
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

/* Reads a value argument.  The type's text is needed only before S values;
 * otherwise it is removed. */
static void d_read_value_argument(struct d_reader *r)
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

static bool d_at_call(const struct d_reader *r)
{
	return d_peek(r) && strchr("FUVWRY", d_peek(r));
}

/* Reads modifiers of `this`; their text follows the parameters. */
static void d_read_modifiers(struct d_reader *r, struct buf *mods)
{
	for (;;) {
		if (d_accept(r, 'x')) {
			buf_str(mods, " const");
		} else if (d_accept(r, 'y')) {
			buf_str(mods, " immutable");
		} else if (d_accept(r, 'O')) {
			buf_str(mods, " shared");
		} else if (d_peek(r) == 'N' && d_peek_at(r, 1) == 'g') {
			r->at += 2;
			buf_str(mods, " inout");
		} else {
			return;
		}
	}
}

static void d_read_attributes(struct d_reader *r, bool shown)
{
	static const struct { char code; const char *text; } attrs[] = {
		{ 'a', "pure " }, { 'b', "nothrow " }, { 'c', "ref " },
		{ 'd', "@property " }, { 'e', "@trusted " }, { 'f', "@safe " },
		{ 'i', "@nogc " }, { 'j', "return " }, { 'l', "scope " },
		{ 'm', "@live " },
	};
	size_t i;

	while (d_peek(r) == 'N') {
		for (i = 0; i < COUNT(attrs); i++)
			if (attrs[i].code == d_peek_at(r, 1))
				break;
		if (i == COUNT(attrs))
			return;
		r->at += 2;
		if (shown)
			d_put(r, attrs[i].text);
	}
}

static void read_parameter(struct d_reader *r)
{
	for (;;) {
		if (d_accept(r, 'M')) {
			d_put(r, "scope ");
		} else if (d_peek(r) == 'N' && d_peek_at(r, 1) == 'k') {
			r->at += 2;
			d_put(r, "return ");
		} else {
			break;
		}
	}
	if (d_accept(r, 'I')) {
		d_put(r, "in ");
		if (d_accept(r, 'K'))
			d_put(r, "ref ");
	} else if (d_accept(r, 'J')) {
		d_put(r, "out ");
	} else if (d_accept(r, 'K')) {
		d_put(r, "ref ");
	} else if (d_accept(r, 'L')) {
		d_put(r, "lazy ");
	}
	d_read_type(r);
}

/* Reads parameters up to their end: X typesafe variadic, Y C-style variadic, Z
 * plain. */
static void d_read_parameters(struct d_reader *r)
{
	bool first = true;

	d_put(r, "(");
	for (; !r->bad; first = false) {
		if (d_accept(r, 'X')) {
			d_put(r, "...");
			break;
		}
		if (d_accept(r, 'Y')) {
			d_put(r, first ? "..." : ", ...");
			break;
		}
		if (d_accept(r, 'Z'))
			break;
		if (!first)
			d_put(r, ", ");
		read_parameter(r);
	}
	d_put(r, ")");
}

static void put_convention(struct d_reader *r, char c)
{
	d_put(r, c == 'U' ? "extern(C) " : c == 'W' ? "extern(Windows) " :
	    c == 'V' ? "extern(Pascal) " : c == 'R' ? "extern(C++) " :
	    c == 'Y' ? "extern(Objective-C) " : "");
}

/* Writes: type(parameters) attributes word. */
static void read_function_type(struct d_reader *r, const char *word,
			       const char *mods)
{
	size_t attrs, from, params;

	if (!d_at_call(r)) {
		d_fail(r);
		return;
	}
	put_convention(r, r->s[r->at++]);
	attrs = r->out->n;
	d_read_attributes(r, true);
	from = r->out->n;
	d_read_parameters(r);
	params = r->out->n;
	d_read_type(r);
	if (r->bad)
		return;
	d_swap_parts(r, from, params);
	/* attributes come first in the name, last in the text */
	d_put(r, " ");
	d_swap_parts(r, attrs, from);
	d_put(r, word);
	d_put(r, mods);
}

static void read_delegate(struct d_reader *r)
{
	struct buf mods = { 0 };

	d_read_modifiers(r, &mods);
	if (d_peek(r) == 'Q') {
		d_read_type(r);
		d_put(r, "delegate");
	} else {
		read_function_type(r, "delegate", buf_cstr(&mods));
	}
	buf_fini(&mods);
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		"char", "bool", "creal", "double", "real", "float", "byte",
		"ubyte", "int", "ireal", "uint", "long", "ulong",
		"typeof(null)", "ifloat", "idouble", "cfloat", "cdouble",
		"short", "ushort", "wchar", "void", "dchar",
	};

	return c >= 'a' && c <= 'w' ? names[c - 'a'] : NULL;
}

static void read_wrapped(struct d_reader *r, const char *open, size_t skip)
{
	r->at += skip;
	d_put(r, open);
	d_read_type(r);
	d_put(r, ")");
}

static void read_type_reference(struct d_reader *r)
{
	size_t from = r->at, saved = r->back, at, to = d_read_reference(r);

	at = r->at;
	if (to >= r->n || from >= r->back) {
		d_fail(r);
		return;
	}
	r->back = from;
	r->at = to;
	if (d_at_call(r))		/* D and Q: a delegate's function type */
		read_function_type(r, "", "");
	else
		d_read_type(r);
	r->back = saved;
	r->at = at;
}

static void read_array(struct d_reader *r)
{
	size_t from = r->at, to, start = r->out->n;
	char c = r->s[r->at++];

	if (c == 'G') {
		from = r->at;
		d_read_number(r);
		to = r->at;
		d_read_type(r);
		d_put(r, "[");
		buf_bytes(r->out, r->s + from, to - from);
		d_put(r, "]");
	} else if (c == 'H') {
		d_put(r, "[");
		d_read_type(r);
		d_put(r, "]");
		from = r->out->n;
		d_read_type(r);
		if (!r->bad)
			d_swap_parts(r, start, from);
	} else {
		d_read_type(r);
		d_put(r, "[]");
	}
}

static void read_tuple(struct d_reader *r)
{
	size_t i, n = d_read_number(r);

	d_put(r, "Tuple!(");
	for (i = 0; i < n && !r->bad; i++) {
		if (i)
			d_put(r, ", ");
		d_read_type(r);
	}
	d_put(r, ")");
}

static void read_n_type(struct d_reader *r)
{
	char c = d_peek_at(r, 1);

	if (c == 'g') {
		read_wrapped(r, "inout(", 2);
	} else if (c == 'h') {
		read_wrapped(r, "__vector(", 2);
	} else if (c == 'n') {
		r->at += 2;
		d_put(r, "typeof(*null)");
	} else {
		d_fail(r);
	}
}

static void d_read_type(struct d_reader *r)
{
	char c = d_peek(r);

	if (!d_enter(r))
		return;
	if (c == 'O')
		read_wrapped(r, "shared(", 1);
	else if (c == 'x')
		read_wrapped(r, "const(", 1);
	else if (c == 'y')
		read_wrapped(r, "immutable(", 1);
	else if (c == 'N')
		read_n_type(r);
	else if (c == 'A' || c == 'G' || c == 'H')
		read_array(r);
	else if (c == 'Q')
		read_type_reference(r);
	else if (d_at_call(r))
		read_function_type(r, "function", "");
	else if (c == 'z' && (d_peek_at(r, 1) == 'i' || d_peek_at(r, 1) == 'k')) {
		d_put(r, d_peek_at(r, 1) == 'i' ? "cent" : "ucent");
		r->at += 2;
	} else if (basic_type(c)) {
		r->at++;
		d_put(r, basic_type(c));
	} else if (c && strchr("ISCETPDB", c)) {
		r->at++;
		if (c == 'P' && d_at_call(r))
			read_function_type(r, "function", "");
		else if (c == 'P') {
			d_read_type(r);
			d_put(r, "*");
		} else if (c == 'D')
			read_delegate(r);
		else if (c == 'B')
			read_tuple(r);
		else
			d_read_qualified(r, false);
	} else {
		d_fail(r);
	}
	r->depth--;
}

static const char *special_name(const char *s, size_t n)
{
	static const char *const names[][2] = {
		{ "__ctor", "this" }, { "__dtor", "~this" },
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (strlen(names[i][0]) == n && !memcmp(s, names[i][0], n))
			return names[i][1];
	return NULL;
}

static bool at_template(const struct d_reader *r)
{
	return r->n - r->at > 3 && !memcmp(r->s + r->at, "__", 2) &&
	       (r->s[r->at + 2] == 'T' || r->s[r->at + 2] == 'U');
}

/* Reads a whole symbol, _D name type, or only its name. */
static void read_symbol_argument(struct d_reader *r)
{
	size_t end;

	if (d_peek(r) != '_' || d_peek_at(r, 1) != 'D') {
		d_read_qualified(r, false);
		return;
	}
	r->at += 2;
	d_read_qualified(r, false);
	end = r->out->n;
	if (!r->bad && !d_accept(r, 'Z'))
		d_read_type(r);
	if (!r->bad)
		r->out->n = end;
}

static bool read_template_args(struct d_reader *r)
{
	bool first = true;

	for (; !d_accept(r, 'Z'); first = false) {
		if (!d_enter(r))
			return false;
		r->depth--;
		if (!first)
			d_put(r, ", ");
		d_accept(r, 'H');		/* specialized */
		if (d_accept(r, 'T')) {
			d_read_type(r);
		} else if (d_accept(r, 'V')) {
			d_read_value_argument(r);
		} else if (d_accept(r, 'S')) {
			read_symbol_argument(r);
		} else if (d_accept(r, 'X')) {
			size_t n = d_read_number(r);

			if (r->bad || n > r->n - r->at)
				return d_fail(r);
			buf_bytes(r->out, r->s + r->at, n);
			r->at += n;
		} else {
			return d_fail(r);
		}
	}
	return !r->bad;
}

static void read_identifier(struct d_reader *r);

static void read_template(struct d_reader *r)
{
	r->at += 3;
	if (!d_is_digit(d_peek(r)) && d_peek(r) != 'Q') {
		d_fail(r);
		return;
	}
	read_identifier(r);
	d_put(r, "!(");
	read_template_args(r);
	d_put(r, ")");
}

/* Reads a name with its length; old compilers put templates in it. */
static void read_lname(struct d_reader *r)
{
	size_t n = d_read_number(r), all = r->n;
	const char *special;

	if (r->bad || !n || n > r->n - r->at) {
		d_fail(r);
		return;
	}
	if (n > 5 && at_template(r)) {
		r->n = r->at + n;
		read_template(r);
		if (r->at != r->n)
			d_fail(r);
		r->n = all;
		return;
	}
	r->steps += (uint32_t)(n / 16);
	special = special_name(r->s + r->at, n);
	if (special)
		d_put(r, special);
	else
		buf_bytes(r->out, r->s + r->at, n);
	r->at += n;
}

static void read_identifier(struct d_reader *r)
{
	size_t to, at;

	if (!d_enter(r))
		return;
	if (d_peek(r) == 'Q') {
		to = d_read_reference(r);
		at = r->at;
		if (to >= r->n || !d_is_digit(r->s[to])) {
			d_fail(r);
		} else {
			r->at = to;
			read_lname(r);
			r->at = at;
		}
	} else if (at_template(r)) {
		read_template(r);
	} else {
		read_lname(r);
	}
	r->depth--;
}

/* Returns true if a name continues: a length, a template, a reference to a
 * name. */
static bool at_symbol(struct d_reader *r)
{
	size_t at = r->at, to;

	if (d_peek(r) != 'Q')
		return d_is_digit(d_peek(r)) || at_template(r);
	to = d_read_reference(r);
	r->at = at;
	return to < r->n && d_is_digit(r->s[to]);
}

/* Reads the parameters after a name, if it is a function.  If the type of a
 * variable follows instead, restores the state. */
static void read_signature(struct d_reader *r, bool mods_last)
{
	struct buf mods = { 0 };
	struct d_reader saved = *r;
	size_t n = r->out->n;

	if (d_accept(r, 'M'))
		d_read_modifiers(r, &mods);
	if (d_at_call(r)) {
		r->at++;
		d_read_attributes(r, false);
		d_read_parameters(r);
	} else {
		d_fail(r);
	}
	if (r->bad) {
		saved.steps = r->steps;
		*r = saved;
		r->out->n = n;
	} else if (mods_last) {
		d_put(r, buf_cstr(&mods));
	}
	buf_fini(&mods);
}

/* Reads names and writes them joined by dots, with the parameters of functions;
 * mods_last: their modifiers follow. */
static void d_read_qualified(struct d_reader *r, bool mods_last)
{
	bool first = true;

	if (!d_enter(r))
		return;
	do {
		if (d_accept(r, '0')) {	/* unnamed */
			while (d_accept(r, '0'))
				;
			continue;
		}
		if (!first)
			d_put(r, ".");
		first = false;
		read_identifier(r);
		if (!r->bad && (d_peek(r) == 'M' || d_at_call(r)))
			read_signature(r, mods_last);
	} while (!r->bad && at_symbol(r));
	r->depth--;
}

bool demangle_d(const char *s, size_t n, struct buf *out)
{
	struct d_reader r = { .s = s, .n = n, .at = 2, .out = out,
			    .start = out->n, .back = SIZE_MAX };
	size_t end;

	if (n == 6 && !memcmp(s, "_Dmain", 6)) {
		d_put(&r, "D main");
		return true;
	}
	if (n < 4 || s[0] != '_' || s[1] != 'D' ||
	    !(d_is_digit(s[2]) || at_template(&r)))
		return false;
	d_read_qualified(&r, true);
	end = out->n;
	if (!r.bad && !d_accept(&r, 'Z'))
		d_read_type(&r);		/* return type, or type of a variable */
	if (!r.bad && r.at == n && end - r.start <= D_OUT_MAX) {
		out->n = end;
		return true;
	}
	out->n = r.start;
	return false;
}
