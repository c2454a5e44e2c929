// SPDX-License-Identifier: GPL-2.0-or-later
/* Types and parameters of D: see demangle_d.h. */
#include "symbolize/demangle/demangle_d.h"

bool d_at_call(const struct d_reader *r)
{
	return d_peek(r) && strchr("FUVWRY", d_peek(r));
}

/* Modifiers of `this`; their text goes behind the parameters. */
void d_read_modifiers(struct d_reader *r, struct buf *mods)
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

void d_read_attributes(struct d_reader *r, bool shown)
{
	static const struct { char code; const char *text; } attrs[] = {
		{ 'a', "pure " }, { 'b', "nothrow " }, { 'c', "ref " },
		{ 'd', "@property " }, { 'e', "@trusted " }, { 'f', "@safe " },
		{ 'i', "@nogc " }, { 'j', "return " }, { 'l', "scope " },
		{ 'm', "@live " },
	};
	size_t i;

	while (d_peek(r) == 'N') {
		for (i = 0; i < sizeof(attrs) / sizeof(*attrs); i++)
			if (attrs[i].code == d_peek_at(r, 1))
				break;
		if (i == sizeof(attrs) / sizeof(*attrs))
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

/* Parameters up to their end: X typesafe, Y C-style variadic, Z plain. */
void d_read_parameters(struct d_reader *r)
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

/* type(parameters) attributes word */
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
	/* attributes stand first in the name, last in the text */
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

void d_read_type(struct d_reader *r)
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
