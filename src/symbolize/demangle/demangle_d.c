// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangles D names (the D language's ABI, "Name Mangling") in one pass that
 * writes while it reads: qualified names, arguments of templates, and types of
 * parameters as far as they tell overloads apart.  Attributes, return types and
 * keys of arrays are left out; … stands for values other than numbers,
 * characters and strings.
 *
 * Back references allow short names to expand without bound, so output, steps
 * and depth have limits.  A reference inside a referenced part must point to an
 * earlier position.  (libiberty's reader has no such limits: names of 200 bytes
 * can take minutes and gigabytes.)
 */
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/manglings.h"
#include "symbolize/demangle/reader.h"

static void read_qualified(struct r_reader *r);
static void read_type(struct r_reader *r);

static bool accept_any(struct r_reader *r, const char *letters)
{
	return r_peek(r) && strchr(letters, r_peek(r)) && ++r->at;
}

static void expect(struct r_reader *r, char c)
{
	if (!r_accept(r, c))
		r_fail(r);
}

static void skip(struct r_reader *r, void (*read)(struct r_reader *r))
{
	r->quiet++;
	read(r);
	r->quiet--;
}

static bool at_digit(const struct r_reader *r)
{
	return r_peek(r) >= '0' && r_peek(r) <= '9';
}

static size_t read_number(struct r_reader *r)
{
	size_t v = 0;

	if (!at_digit(r))
		r_fail(r);
	while (at_digit(r) && v < 1u << 30)
		v = v * 10 + (size_t)(r->s[r->at++] - '0');
	if (v >= 1u << 30)
		r_fail(r);
	return v;
}

/* Reads Q and a distance in base 26, whose last digit is a small letter.
 * Returns the target, r->n if it is invalid. */
static size_t read_reference(struct r_reader *r)
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

/* Reads decimal digits as a value of the basic type `type`. */
static void read_number_value(struct r_reader *r, char type)
{
	size_t from = r->at, v = 0;

	for (; at_digit(r); r->at++)
		v = v * 10 + (size_t)(r->s[r->at] - '0');
	if (type == 'b')
		r_put(r, v ? "true" : "false");
	else if (type == 'a' && v >= 0x20 && v < 0x7f)
		r_put_bytes(r, (char[]){ '\'', (char)v, '\'' }, 3);
	else
		r_put_bytes(r, r->s + from, r->at - from);
	if (r->at == from)
		r_fail(r);
}

/* Reads the length, _, and the bytes in hexadecimal. */
static void read_string(struct r_reader *r)
{
	size_t n = read_number(r);

	expect(r, '_');
	if (n > (r->n - r->at) / 2)
		r_fail(r);
	r_put(r, "\"");
	for (; n && !r->bad; n--, r->at += 2) {
		int hi = text_hex_digit(r->s[r->at]);
		int lo = text_hex_digit(r->s[r->at + 1]);
		char c = (char)(hi * 16 + lo);

		if (hi < 0 || lo < 0)
			r_fail(r);
		else if (c >= 0x20 && c < 0x7f)
			r_put_bytes(r, &c, 1);
		else {
			r_put(r, "\\x");
			r_put_bytes(r, r->s + r->at, 2);
		}
	}
	r_put(r, "\"");
}

static void skip_real(struct r_reader *r)
{
	if (r_accept_text(r, "NAN") || r_accept_text(r, "INF") || r_accept_text(r, "NINF"))
		return;
	r_accept(r, 'N');
	while (accept_any(r, "0123456789ABCDEF"))
		;
	expect(r, 'P');
	r_accept(r, 'N');
	read_number(r);
}

/* Reads a value of a type that begins with the letter `type`. */
static void read_value(struct r_reader *r, char type)
{
	if (!r_enter(r))
		return;
	if (r_accept(r, 'n')) {
		r_put(r, "null");
	} else if (r_accept(r, 'i') || at_digit(r)) {
		read_number_value(r, type);
	} else if (r_accept(r, 'N')) {
		r_put(r, "-");
		read_number_value(r, type);
	} else if (accept_any(r, "awd")) {
		read_string(r);
	} else if (r_accept_text(r, "f_D")) {
		read_qualified(r);
		expect(r, 'Z');
	} else {
		r_put(r, "…");
		r->quiet++;
		if (r_accept(r, 'e')) {
			skip_real(r);
		} else if (r_accept(r, 'c')) {
			skip_real(r);
			expect(r, 'c');
			skip_real(r);
		} else if (accept_any(r, "AS")) {
			size_t n = read_number(r) * (type == 'H' ? 2 : 1);

			while (n-- && !r->bad)
				read_value(r, '\0');
		} else {
			r_fail(r);
		}
		r->quiet--;
	}
	r->depth--;
}

/* Reads the type of a value, which is not written, and the value. */
static void read_value_argument(struct r_reader *r)
{
	struct r_reader type = *r;

	if (r_peek(r) == 'Q')
		type.at = read_reference(&type);
	skip(r, read_type);
	read_value(r, r_peek(&type));
}

/* Reads modifiers of `this`, or of a delegate's context. */
static void read_modifiers(struct r_reader *r)
{
	for (;;)
		if (r_accept(r, 'x'))
			r_put(r, " const");
		else if (r_accept(r, 'y'))
			r_put(r, " immutable");
		else if (r_accept(r, 'O'))
			r_put(r, " shared");
		else if (r_accept_text(r, "Ng"))
			r_put(r, " inout");
		else
			return;
}

/* Reads parameters up to their end: X typesafe variadic, Y C-style variadic, Z
 * plain. */
static void read_parameters(struct r_reader *r)
{
	const char *sep = "";

	r_put(r, "(");
	for (; !r->bad && !r_accept(r, 'Z'); sep = ", ") {
		if (r_accept(r, 'X')) {
			r_put(r, "...");
			break;
		}
		r_put(r, sep);
		if (r_accept(r, 'Y')) {
			r_put(r, "...");
			break;
		}
		read_type(r);
	}
	r_put(r, ")");
}

/* Reads a calling convention, attributes and parameters. */
static void read_call(struct r_reader *r)
{
	if (!accept_any(r, "FUVWRY"))
		r_fail(r);
	while (r_peek(r) == 'N' && r->n - r->at > 1 &&
	       memchr("abcdefijlm", r->s[r->at + 1], 10))
		r->at += 2;
	read_parameters(r);
}

/* Reads a function's type; the text is that of its parameters. */
static void read_function(struct r_reader *r)
{
	read_call(r);
	skip(r, read_type);
}

/* Reads a reference to what `read` reads. */
static void follow(struct r_reader *r, void (*read)(struct r_reader *r))
{
	size_t from = r->at, saved = r->back, to = read_reference(r), at = r->at;

	if (to >= r->n || from >= r->back) {
		r_fail(r);
		return;
	}
	r->back = from;
	r->at = to;
	read(r);
	r->back = saved;
	r->at = at;
}

/* Reads the number of elements and their type. */
static void read_static_array(struct r_reader *r)
{
	size_t from = r->at, to;

	read_number(r);
	to = r->at;
	read_type(r);
	r_put(r, "[");
	r_put_bytes(r, r->s + from, to - from);
	r_put(r, "]");
}

/* Reads a code of one or two letters: a basic type, or what is around the type
 * that follows, such as a pointer or the storage class of a parameter. */
static bool read_simple_type(struct r_reader *r)
{
	static const struct {
		char code[3], before[15];
		const char *after;		/* NULL: no type follows */
	} words[] = {
		{ "O", "shared(", ")" }, { "x", "const(", ")" },
		{ "y", "immutable(", ")" }, { "Ng", "inout(", ")" },
		{ "Nh", "__vector(", ")" }, { "A", "", "[]" }, { "P", "", "*" },
		{ "I", "in ", "" }, { "J", "out ", "" }, { "K", "ref ", "" },
		{ "L", "lazy ", "" }, { "M", "scope ", "" }, { "Nk", "return ", "" },
		{ "a", "char", NULL }, { "b", "bool", NULL },
		{ "c", "creal", NULL }, { "d", "double", NULL },
		{ "e", "real", NULL }, { "f", "float", NULL },
		{ "g", "byte", NULL }, { "h", "ubyte", NULL },
		{ "i", "int", NULL }, { "j", "ireal", NULL },
		{ "k", "uint", NULL }, { "l", "long", NULL },
		{ "m", "ulong", NULL }, { "n", "typeof(null)", NULL },
		{ "o", "ifloat", NULL }, { "p", "idouble", NULL },
		{ "q", "cfloat", NULL }, { "r", "cdouble", NULL },
		{ "s", "short", NULL }, { "t", "ushort", NULL },
		{ "u", "wchar", NULL }, { "v", "void", NULL },
		{ "w", "dchar", NULL }, { "zi", "cent", NULL },
		{ "zk", "ucent", NULL }, { "Nn", "typeof(*null)", NULL },
	};

	for (size_t i = 0; i < COUNT(words); i++) {
		if (!r_accept_text(r, words[i].code))
			continue;
		r_put(r, words[i].before);
		if (words[i].after) {
			read_type(r);
			r_put(r, words[i].after);
		}
		return true;
	}
	return false;
}

static bool at_function(const struct r_reader *r, size_t skipped)
{
	return skipped < r->n - r->at && memchr("FUVWRY", r->s[r->at + skipped], 6);
}

static void read_type(struct r_reader *r)
{
	bool pointer = r_peek(r) == 'P';

	if (!r_enter(r))
		return;
	if (at_function(r, pointer)) {
		r->at += pointer;
		r_put(r, "function");
		read_function(r);
	} else if (r_accept(r, 'D')) {
		r_put(r, "delegate");
		skip(r, read_modifiers);
		if (r_peek(r) == 'Q')
			follow(r, read_function);
		else
			read_function(r);
	} else if (r_accept(r, 'H')) {
		skip(r, read_type);
		read_type(r);
		r_put(r, "[…]");
	} else if (r_peek(r) == 'Q') {
		follow(r, read_type);
	} else if (accept_any(r, "CEST")) {
		read_qualified(r);
	} else if (r_accept(r, 'G')) {
		read_static_array(r);
	} else if (!read_simple_type(r)) {
		r_fail(r);
	}
	r->depth--;
}

static void read_identifier(struct r_reader *r);

/* Reads the name and the arguments of a template's instance. */
static void read_template(struct r_reader *r)
{
	const char *sep = "";
	size_t n;

	read_identifier(r);
	r_put(r, "!(");
	for (; !r->bad && !r_accept(r, 'Z'); sep = ", ") {
		r_put(r, sep);
		r_accept(r, 'H');		/* specialized */
		if (r_accept(r, 'T')) {
			read_type(r);
		} else if (r_accept(r, 'V')) {
			read_value_argument(r);
		} else if (r_accept(r, 'S')) {
			bool whole = r_accept_text(r, "_D");

			read_qualified(r);
			if (whole && !r_accept(r, 'Z'))
				skip(r, read_type);
		} else if (r_accept(r, 'X') && (n = read_number(r)) <= r->n - r->at) {
			r_put_bytes(r, r->s + r->at, n);
			r->at += n;
		} else {
			r_fail(r);
		}
	}
	r_put(r, ")");
}

static bool accept_template(struct r_reader *r)
{
	return r_accept_text(r, "__T") || r_accept_text(r, "__U");
}

/* Reads a name with its length; old compilers put templates in it. */
static void read_lname(struct r_reader *r)
{
	size_t n = read_number(r), all = r->n;

	if (r->bad || !n || n > r->n - r->at) {
		r_fail(r);
		return;
	}
	r->n = r->at + n;
	if (accept_template(r)) {
		read_template(r);
	} else if (n == 6 && r_accept_text(r, "__ctor")) {
		r_put(r, "this");
	} else if (n == 6 && r_accept_text(r, "__dtor")) {
		r_put(r, "~this");
	} else {
		r_put_bytes(r, r->s + r->at, n);
		r->at += n;
	}
	if (r->at != r->n)
		r_fail(r);
	r->n = all;
}

static void read_identifier(struct r_reader *r)
{
	if (!r_enter(r))
		return;
	if (accept_template(r)) {
		read_template(r);
	} else if (r_peek(r) == 'Q') {
		size_t to = read_reference(r), at = r->at;

		r->at = to;
		read_lname(r);
		r->at = at;
	} else {
		read_lname(r);
	}
	r->depth--;
}

/* Returns whether a name continues: a length, a template, a reference to a
 * name. */
static bool at_symbol(const struct r_reader *r)
{
	struct r_reader next = *r;

	if (r_peek(r) == 'Q')
		next.at = read_reference(&next);
	else if (accept_template(&next))
		return true;
	return at_digit(&next);
}

/* Reads the parameters after a name, if it is a function.  If the type of a
 * variable or the next parameter follows instead, restores the state. */
static void read_signature(struct r_reader *r)
{
	struct r_reader saved = *r;
	size_t n = r->out->n, modifiers = r->at + r_accept(r, 'M'), end;

	skip(r, read_modifiers);
	read_call(r);
	end = r->at;
	if (r->bad) {
		saved.steps = r->steps;
		*r = saved;
		r->out->n = n;
	} else {
		r->at = modifiers;
		read_modifiers(r);
		r->at = end;
	}
}

/* Reads names and writes them joined by dots, with the parameters of functions. */
static void read_qualified(struct r_reader *r)
{
	const char *sep = "";

	if (!r_enter(r))
		return;
	do {
		if (r_accept(r, '0'))		/* unnamed */
			continue;
		r_put(r, sep);
		sep = ".";
		read_identifier(r);
		if (!r->bad && (r_peek(r) == 'M' || at_function(r, 0)))
			read_signature(r);
	} while (!r->bad && at_symbol(r));
	r->depth--;
}

bool demangle_d(const char *s, size_t n, struct buf *out)
{
	struct r_reader r = { .s = s, .n = n, .out = out, .start = out->n,
			    .back = SIZE_MAX };

	if (n == 6 && !memcmp(s, "_Dmain", 6)) {
		buf_str(out, "D main");
		return true;
	}
	if (!r_accept_text(&r, "_D") || !at_symbol(&r))
		return false;
	read_qualified(&r);
	if (!r_accept(&r, 'Z'))		/* return type, or type of a variable */
		skip(&r, read_type);
	if (!r.bad && r.at == n && out->n - r.start <= R_OUT_MAX)
		return true;
	out->n = r.start;
	return false;
}
