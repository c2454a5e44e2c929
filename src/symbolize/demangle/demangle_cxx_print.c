// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes nodes as text: names, types, expressions, lists. */
#include "base/vec.h"
#include "symbolize/demangle/demangle_cxx.h"

/* Writes a text that has parts of a node: %a %b %c nodes, %A %B lists of nodes,
 * separated by commas; %n the number c; %x %y %z like %a %b %c as operands. */
static void cxx_format(struct cxx *p, const struct cxx_node *v, const char *format);
static void cxx_print_args(struct cxx *p, uint32_t list);
static void cxx_print_item(struct cxx *p, uint32_t id, uint32_t start);

/* Names, template parameters and special symbols. */

static void print_lambda(struct cxx *p, const struct cxx_node *v)
{
	uint32_t outer = p->lambda_heads;

	CXX_PUTS(p, "{lambda");
	p->in_lambda++;
	p->lambda_heads = v->b;
	if (v->b)
		cxx_print_args(p, v->b);
	cxx_format(p, v, "(%A)");
	p->in_lambda--;
	p->lambda_heads = outer;
	cxx_format(p, v, "#%n}");
}

static void print_operator(struct cxx *p, const struct cxx_node *v)
{
	const char *text = cxx_operator_at(v->c)->text;
	uint32_t n = (uint32_t)strlen(text);

	CXX_PUTS(p, "operator");
	if (text[0] >= 'a' && text[0] <= 'z')
		CXX_PUTS(p, " ");
	cxx_put(p, text, n - (text[n - 1] == ' '));
}

static void print_module(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->c ? "%a:%b" : v->a ? "%a.%b" : "%b");
}

/* Writes parameters of a lambda's template: $T0, $N1. */
static void print_head_name(struct cxx *p, const struct cxx_node *v)
{
	cxx_put(p, "$TT", v->n == 't' ? 3 : 1);
	if (v->n != 't')
		cxx_put_char(p, (char)v->n);
	cxx_put_number(p, v->c);
}

static void print_param(struct cxx *p, const struct cxx_node *v)
{
	uint32_t head = p->lambda_heads, i;

	/* a parameter that was read before the lambda, for another template,
	 * has no letter */
	for (i = 0; head && i < v->c && i < sizeof(p->heads); i++)
		head = p->v[head].b;
	if (v->n) {
		print_head_name(p, v);
	} else if (head) {
		print_head_name(p, &p->v[p->v[head].a]);
	} else {
		CXX_PUTS(p, "auto:");
		cxx_put_number(p, v->c + 1);
	}
}

static void print_head_param(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, "%a ");
	print_head_name(p, v);
}

static void print_head_template(struct cxx *p, const struct cxx_node *v)
{
	CXX_PUTS(p, "template");
	cxx_print_args(p, v->a);
	CXX_PUTS(p, " class");
}

static void print_constrained(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->c == 2 ? "%a decltype(auto)" : v->c ? "%a auto" : "%a");
}

static void print_bound(struct cxx *p, const struct cxx_node *v)
{
	uint32_t outer = p->args;
	unsigned in_lambda = p->in_lambda;
	int index = p->index;

	p->args = v->b;
	p->in_lambda = 0;
	cxx_print(p, v->a);
	p->args = outer;
	p->in_lambda = in_lambda;
	p->index = index;
}

/* The most frequent kind: faster than by a format. */
static void print_scoped(struct cxx *p, const struct cxx_node *v)
{
	cxx_print(p, v->a);
	CXX_PUTS(p, "::");
	cxx_print(p, v->b);
}

static void print_template(struct cxx *p, const struct cxx_node *v)
{
	cxx_print(p, v->a);
	cxx_print_args(p, v->b);
}

static void print_expansion(struct cxx *p, const struct cxx_node *v)
{
	uint32_t pack = cxx_pack_of(p, v->a), start = p->at, n, i;
	const struct cxx_node *of = &p->v[v->a];
	int outer = p->index;

	if (!pack) {
		bool plain = of->kind == CXX_PARM || of->kind == CXX_TEXT ||
			     of->kind == CXX_SCOPED;

		cxx_format(p, v, plain ? "%a..." : "(%a)...");
		return;
	}
	n = cxx_pack_length(p, pack);
	for (i = 0; i < n && !p->bad; i++) {
		p->index = (int)i;
		p->steps++;
		cxx_print_item(p, v->a, start);
	}
	p->index = outer;
}

static void print_special(struct cxx *p, const struct cxx_node *v)
{
	cxx_put(p, v->s, v->n);
	cxx_print(p, v->c);
}

/*
 * Types and functions.  A type is written on both sides of what it declares:
 * left is "void (*", right is ")(int)".
 */

static void type_left(struct cxx *p, uint32_t id);
static void type_right(struct cxx *p, uint32_t id);

static void print_quals(struct cxx *p, unsigned quals)
{
	if (quals & CXX_Q_CONST)
		CXX_PUTS(p, " const");
	if (quals & CXX_Q_VOLATILE)
		CXX_PUTS(p, " volatile");
	if (quals & CXX_Q_RESTRICT)
		CXX_PUTS(p, " restrict");
	if (quals & CXX_Q_TRANSACTION)
		CXX_PUTS(p, " transaction_safe");
	if (quals & CXX_Q_LVALUE)
		CXX_PUTS(p, " &");
	if (quals & CXX_Q_RVALUE)
		CXX_PUTS(p, " &&");
}

/* Returns the kind of the type below qualifiers: pointers to CXX_FUNCTION and
 * CXX_ARRAY need parentheses; qualifiers of a function have already added
 * them. */
static enum cxx_kind base_kind(struct cxx *p, uint32_t id)
{
	bool qualified = false;
	int most = 64;

	if (!(p->v[id].flags & CXX_F_RIGHT))
		return CXX_NONE;
	while (most--) {
		id = cxx_resolve(p, id);
		if (p->v[id].kind != CXX_QUALIFIED &&
		    p->v[id].kind != CXX_VENDOR)
			return qualified && p->v[id].kind == CXX_FUNCTION ?
				CXX_NONE : p->v[id].kind;
		qualified = true;
		id = p->v[id].a;
	}
	return CXX_NONE;
}

/* Returns whether a type has a right side. */
static bool is_open(struct cxx *p, uint32_t id)
{
	while (p->v[id].flags & CXX_F_RIGHT) {
		if (++p->steps > CXX_STEPS_MAX) {
			p->bad = true;
			return false;
		}
		id = cxx_resolve(p, id);
		switch (p->v[id].kind) {
		case CXX_FUNCTION: case CXX_ARRAY:
			return true;
		case CXX_QUALIFIED: case CXX_VENDOR: case CXX_POINTER:
		case CXX_REFERENCE: case CXX_RVALUE: case CXX_MEMBER_POINTER:
			id = p->v[id].a;
			break;
		default:
			return false;
		}
	}
	return false;
}

/* Opens a parenthesis before * and &; other declarators are preceded by a
 * space. */
static void open_paren(struct cxx *p, uint32_t type, bool pointer)
{
	enum cxx_kind kind = base_kind(p, type);
	char last = cxx_last_char(p);

	if (kind == CXX_ARRAY)
		CXX_PUTS(p, " ");
	else if (kind != CXX_FUNCTION)
		return;
	else if (last != ' ' && !(pointer && (last == '(' || last == '*')))
		CXX_PUTS(p, " ");
	CXX_PUTS(p, "(");
}

static void close_paren(struct cxx *p, uint32_t type)
{
	enum cxx_kind kind = base_kind(p, type);

	if (kind == CXX_FUNCTION || kind == CXX_ARRAY)
		CXX_PUTS(p, ")");
	type_right(p, type);
}

/* Collapses references to references (C++ [dcl.ref]).  Returns the referenced
 * type and sets *rvalue. */
static uint32_t referred(struct cxx *p, const struct cxx_node *v, bool *rvalue)
{
	uint32_t id = v->a;
	int most = 64;

	*rvalue = v->kind == CXX_RVALUE;
	while (most-- && p->v[id].flags & CXX_F_RIGHT) {
		uint32_t r = cxx_resolve(p, id);

		if (p->v[r].kind == CXX_REFERENCE)
			*rvalue = false;
		else if (p->v[r].kind != CXX_RVALUE)
			return id;
		id = p->v[r].a;
	}
	for (; most-- > 0 && (p->v[id].kind == CXX_REFERENCE ||
			      p->v[id].kind == CXX_RVALUE); id = p->v[id].a)
		*rvalue &= p->v[id].kind == CXX_RVALUE;
	return id;
}

/* Returns the qualifiers that a type already has; for an array, those of its
 * elements. */
static unsigned known_quals(struct cxx *p, uint32_t id)
{
	unsigned quals = 0;
	int most = 64;

	while (most--) {
		id = cxx_resolve(p, id);
		if (p->v[id].kind == CXX_QUALIFIED)
			quals |= p->v[id].c;
		else if (p->v[id].kind != CXX_ARRAY)
			break;
		id = p->v[id].a;
	}
	return quals;
}

static void print_left(struct cxx *p, const struct cxx_node *v)
{
	bool rvalue;
	uint32_t id;
	char last;

	switch (v->kind) {
	case CXX_QUALIFIED:
		type_left(p, v->a);
		if (base_kind(p, v->a) == CXX_FUNCTION)
			open_paren(p, v->a, false);
		print_quals(p, v->c & ~known_quals(p, v->a));
		break;
	case CXX_VENDOR:
		type_left(p, v->a);
		if (base_kind(p, v->a) == CXX_FUNCTION)
			open_paren(p, v->a, false);
		cxx_format(p, v, " %b");
		break;
	case CXX_POINTER:
		type_left(p, v->a);
		open_paren(p, v->a, true);
		CXX_PUTS(p, "*");
		break;
	case CXX_REFERENCE:
	case CXX_RVALUE:
		id = referred(p, v, &rvalue);
		type_left(p, id);
		open_paren(p, id, true);
		cxx_put(p, "&&", rvalue ? 2 : 1);
		break;
	case CXX_COMPLEX:
		type_left(p, v->a);
		CXX_PUTS(p, " _Complex");
		break;
	case CXX_IMAGINARY:
		type_left(p, v->a);
		CXX_PUTS(p, " _Imaginary");
		break;
	case CXX_MEMBER_POINTER:
		type_left(p, v->a);
		open_paren(p, v->a, false);
		cxx_format(p, v, cxx_last_char(p) != '(' ? " %b::*" : "%b::*");
		break;
	case CXX_FUNCTION:
		if (v->a) {
			type_left(p, v->a);
			last = cxx_last_char(p);
			if ((last != '*' && last != '&') || !is_open(p, v->a))
				CXX_PUTS(p, " ");
		}
		break;
	case CXX_ARRAY:
		type_left(p, v->a);
		break;
	}
}

static void print_right(struct cxx *p, const struct cxx_node *v)
{
	bool rvalue;

	switch (v->kind) {
	case CXX_QUALIFIED:
	case CXX_VENDOR:
		if (base_kind(p, v->a) == CXX_FUNCTION)
			CXX_PUTS(p, ")");
		type_right(p, v->a);
		break;
	case CXX_COMPLEX:
	case CXX_IMAGINARY:
		type_right(p, v->a);
		break;
	case CXX_POINTER:
	case CXX_MEMBER_POINTER:
		close_paren(p, v->a);
		break;
	case CXX_REFERENCE:
	case CXX_RVALUE:
		close_paren(p, referred(p, v, &rvalue));
		break;
	case CXX_FUNCTION:
		cxx_format(p, v, "(%B)");
		print_quals(p, v->n);
		cxx_print(p, v->c);
		type_right(p, v->a);
		break;
	case CXX_ARRAY:
		cxx_format(p, v, cxx_last_char(p) == ']' ? "[%b]" : " [%b]");
		type_right(p, v->a);
		break;
	}
}

/* Returns whether a type has a left and possibly a right side. */
static bool cxx_is_declarator(const struct cxx_node *v)
{
	return v->kind >= CXX_QUALIFIED && v->kind <= CXX_ARRAY;
}

static void type_left(struct cxx *p, uint32_t id)
{
	if (!(p->v[id].flags & CXX_F_RIGHT)) {
		cxx_print(p, id);
		return;
	}
	if (!cxx_begin(p))
		return;
	id = cxx_resolve(p, id);
	if (cxx_is_declarator(&p->v[id]))
		print_left(p, &p->v[id]);
	else
		cxx_print(p, id);
	p->depth--;
}

static void type_right(struct cxx *p, uint32_t id)
{
	if (!(p->v[id].flags & CXX_F_RIGHT) || !cxx_begin(p))
		return;
	id = cxx_resolve(p, id);
	if (cxx_is_declarator(&p->v[id]) && p->v[id].flags & CXX_F_RIGHT)
		print_right(p, &p->v[id]);
	p->depth--;
}

static void cxx_print_declarator(struct cxx *p, const struct cxx_node *v)
{
	print_left(p, v);
	if (v->flags & CXX_F_RIGHT)
		print_right(p, v);
}

static void print_encoding(struct cxx *p, const struct cxx_node *v)
{
	const struct cxx_node *fn = &p->v[v->b];

	if (v->b)
		print_left(p, fn);
	cxx_print(p, v->a);
	if (v->b)
		cxx_format(p, fn, v->n & CXX_Q_THIS && fn->b ? "(this %B)" : "(%B)");
	print_quals(p, v->n);
	if (v->b && fn->a)
		type_right(p, fn->a);
	if (v->c)
		cxx_format(p, v, " requires %c");
}

static void print_bitint(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->c ? "unsigned _BitInt(%a)" : "_BitInt(%a)");
}

static void print_noexcept(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->a ? " noexcept(%a)" : " noexcept");
}

/* Expressions. */

static void put_text(struct cxx *p, const char *s)
{
	cxx_put(p, s, (uint32_t)strlen(s));
}

/* Returns the name of a symbol without its parameters, or 0. */
static uint32_t function_name(const struct cxx *p, uint32_t id)
{
	const struct cxx_node *v = &p->v[id];

	if (v->kind != CXX_BOUND)
		return 0;
	v = &p->v[v->a];
	return v->kind == CXX_ENCODING && v->b ? v->a : 0;
}

static bool is_simple(const struct cxx *p, uint32_t id)
{
	if (p->v[id].kind == CXX_BOUND)
		id = p->v[id].a;
	if (p->v[id].kind == CXX_SCOPED)
		return p->v[p->v[id].b].kind != CXX_TEMPLATE;
	switch (p->v[id].kind) {
	case CXX_TEXT: case CXX_INIT_LIST: case CXX_PARM:
	case CXX_THIS: case CXX_REQUIRES: case CXX_SUBOBJECT:
		return true;
	}
	return false;
}

/* Writes a node, in parentheses unless it is simple. */
static void print_operand(struct cxx *p, uint32_t id)
{
	bool simple = is_simple(p, id);

	if (!simple)
		CXX_PUTS(p, "(");
	cxx_print(p, id);
	if (!simple)
		CXX_PUTS(p, ")");
}

/* Returns the node to write after &, as in &A::f: the name without
 * parameters. */
static uint32_t addressed(const struct cxx *p, uint32_t id)
{
	uint32_t name = function_name(p, id);
	const struct cxx_node *e = &p->v[p->v[id].a];

	return name && p->v[name].kind == CXX_SCOPED && !e->n &&
	       !p->v[e->b].a ? name : id;
}

static void print_unary(struct cxx *p, const struct cxx_node *v)
{
	const struct cxx_operator *op = cxx_operator_at(v->c);

	put_text(p, op->text);
	if (op->shape == 't' || !strcmp(op->code, "nx")) {
		cxx_format(p, v, "(%a)");
		return;
	}
	print_operand(p, strcmp(op->code, "ad") ? v->a : addressed(p, v->a));
}

static void print_binary(struct cxx *p, const struct cxx_node *v)
{
	const struct cxx_operator *op = cxx_operator_at(v->c);
	bool greater = !strcmp(op->text, ">");

	if (op->shape == 'a') {
		put_text(p, op->text);
		cxx_format(p, v, "<%a");
		cxx_format(p, v, cxx_last_char(p) == '>' ? " >(%b)" : ">(%b)");
		return;
	}
	/* not the end of template arguments */
	if (greater)
		CXX_PUTS(p, "(");
	print_operand(p, v->a);
	if (op->shape == 'i') {
		cxx_format(p, v, "[%b]");
	} else {
		put_text(p, op->text);
		print_operand(p, v->b);
	}
	if (greater)
		CXX_PUTS(p, ")");
}

static void print_fold(struct cxx *p, const struct cxx_node *v)
{
	const char *op = cxx_operator_at(v->c)->text;
	int outer = p->index;

	p->index = -1;	/* packs are written as a whole */
	CXX_PUTS(p, "(");
	cxx_format(p, v, v->n == 'l' ? "..." : "%x");
	put_text(p, op);
	cxx_format(p, v, v->n == 'l' ? "%x" : "...");
	if (v->n != 'l' && v->b) {
		put_text(p, op);
		print_operand(p, v->b);
	}
	CXX_PUTS(p, ")");
	p->index = outer;
}

static void print_call(struct cxx *p, const struct cxx_node *v)
{
	uint32_t name = function_name(p, v->a);

	if (v->a)
		print_operand(p, name ? name : v->a);
	cxx_format(p, v, "(%B)");
}

static void print_new(struct cxx *p, const struct cxx_node *v)
{
	const struct cxx_node *what = &p->v[v->b];

	cxx_format(p, v, v->a ? "new (%A) " : "new ");
	cxx_format(p, what, "%a%b");
}

static const char *suffix_of(char code)
{
	switch (code) {
	case 'i': return "";
	case 'j': return "u";
	case 'l': return "l";
	case 'm': return "ul";
	case 'x': return "ll";
	case 'y': return "ull";
	}
	return NULL;
}

static void print_literal(struct cxx *p, const struct cxx_node *v)
{
	const struct cxx_node *type = &p->v[v->a], *value = &p->v[v->b];
	const char *suffix = NULL, *s = p->s + value->a;
	char code = type->kind == CXX_BUILTIN ? (char)type->c : '\0';
	bool is_float = code && memchr("defg", code, 4);

	if (type->kind == CXX_ARRAY && !v->b) {
		cxx_format(p, v, "\"<%a>\"");
		return;
	}
	if (!v->b) {
		cxx_print(p, v->a);
		return;
	}
	if (code == 'b' && !v->n && value->b == 1 && (*s == '0' || *s == '1')) {
		put_text(p, *s == '0' ? "false" : "true");
		return;
	}
	suffix = suffix_of(code);
	if (!suffix)
		cxx_format(p, v, "(%a)");
	if (v->n)
		CXX_PUTS(p, "-");
	cxx_format(p, v, is_float ? "[%b]" : "%b");
	if (suffix)
		put_text(p, suffix);
}

static void print_designated(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->n == 'i' ? ".%a" : v->n == 'X' ? "[%a ... %b]" : "[%a]");
	cxx_format(p, v, p->v[v->c].kind == CXX_DESIGNATED ? "%c" : "=%z");
}

/* Writes sizeof...; writes the number if the pack is known. */
static void print_pack_size(struct cxx *p, const struct cxx_node *v)
{
	uint32_t n = 0, pack, i;

	if (!v->c) {
		pack = cxx_pack_of(p, v->a);
		if (pack) {
			cxx_put_number(p, cxx_pack_length(p, pack));
			return;
		}
		cxx_format(p, v, "sizeof...(%a)");
		return;
	}
	for (i = v->b; i; i = p->v[i].b) {
		const struct cxx_node *item = &p->v[p->v[i].a];

		if (item->kind == CXX_EXPANSION)
			pack = cxx_pack_of(p, item->a);
		else
			pack = cxx_pack_of(p, p->v[i].a);
		n += pack ? cxx_pack_length(p, pack) : 1;
	}
	cxx_put_number(p, n);
}

static void print_requires(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->a ? "requires (%A) {" : "requires {");
	for (uint32_t i = v->b; i && !p->bad; i = p->v[i].b)
		cxx_format(p, &p->v[i], " %a;");
	CXX_PUTS(p, " }");
}

static void print_require_expr(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->b || v->c ? "{%a}" : "%a");
	if (v->c)
		CXX_PUTS(p, " noexcept");
	if (v->b)
		cxx_format(p, v, " -> %b");
}

static void print_postfix(struct cxx *p, const struct cxx_node *v)
{
	print_operand(p, v->a);
	put_text(p, cxx_operator_at(v->c)->text);
}

static void print_cast(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->c ? "(%a)(%B)" : "(%a)%y");
}

static void print_subobject(struct cxx *p, const struct cxx_node *v)
{
	cxx_format(p, v, v->n ? "%b.<%a at offset -%c>" : "%b.<%a at offset %c>");
}

/* Lists, formats, and nodes as a whole. */

/* Writes one more item of a list whose text starts at `start`. */
static void cxx_print_item(struct cxx *p, uint32_t id, uint32_t start)
{
	uint32_t before = p->at, mid;

	if (before != start)
		CXX_PUTS(p, ", ");
	mid = p->at;
	cxx_print(p, id);
	if (p->at == mid && mid != before)	/* an empty pack */
		p->at = p->cut = before;
}

/* Writes a list separated by commas; empty items get no comma. */
static void cxx_print_list(struct cxx *p, uint32_t list)
{
	uint32_t start = p->at;

	for (; list && !p->bad; list = p->v[list].b)
		cxx_print_item(p, p->v[list].a, start);
}

static void cxx_format(struct cxx *p, const struct cxx_node *v, const char *format)
{
	for (; *format && !p->bad; format++) {
		if (*format != '%') {
			cxx_put_char(p, *format);
			continue;
		}
		switch (*++format) {
		case 'a': cxx_print(p, v->a); break;
		case 'b': cxx_print(p, v->b); break;
		case 'c': cxx_print(p, v->c); break;
		case 'A': cxx_print_list(p, v->a); break;
		case 'B': cxx_print_list(p, v->b); break;
		case 'n': cxx_put_number(p, v->c); break;
		case 'x': print_operand(p, v->a); break;
		case 'y': print_operand(p, v->b); break;
		case 'z': print_operand(p, v->c); break;
		}
	}
}

static void cxx_print_args(struct cxx *p, uint32_t list)
{
	if (cxx_last_char(p) == '<')
		CXX_PUTS(p, " ");
	CXX_PUTS(p, "<");
	cxx_print_list(p, list);
	if (cxx_last_char(p) == '>')
		CXX_PUTS(p, " ");
	CXX_PUTS(p, ">");
}

/* How nodes are written: by a format, or by a function.  Types with two sides have
 * functions of their own. */
static const struct {
	const char *format;
	void (*print)(struct cxx *p, const struct cxx_node *v);
} spellings[] = {
	[CXX_SCOPED] = { NULL, print_scoped },
	[CXX_LOCAL] = { NULL, print_scoped },
	[CXX_TEMPLATE] = { NULL, print_template },
	[CXX_TAGGED] = { "%a[abi:%b]", NULL },
	[CXX_CTOR] = { "%a", NULL },
	[CXX_DTOR] = { "~%a", NULL },
	[CXX_OPERATOR] = { NULL, print_operator },
	[CXX_CONVERSION] = { "operator %a", NULL },
	[CXX_LITERAL_OPERATOR] = { "operator\"\" %a", NULL },
	[CXX_LAMBDA] = { NULL, print_lambda },
	[CXX_UNNAMED] = { "{unnamed type#%n}", NULL },
	[CXX_BINDING] = { "[%A]", NULL },
	[CXX_MODULE] = { NULL, print_module },
	[CXX_IN_MODULE] = { "%a@%b", NULL },
	[CXX_FRIEND] = { "%a[friend]", NULL },
	[CXX_DEFAULT_ARG] = { "{default arg#%n}::%a", NULL },
	[CXX_ENCODING] = { NULL, print_encoding },
	[CXX_BOUND] = { NULL, print_bound },
	[CXX_SPECIAL] = { NULL, print_special },
	[CXX_IN_BASE] = { "construction vtable for %a-in-%b", NULL },
	[CXX_ENABLE_IF] = { "%a [enable_if:%B]", NULL },
	[CXX_REF_TEMPORARY] = { "reference temporary #%n for %a", NULL },
	[CXX_VECTOR] = { "%a __vector(%b)", NULL },
	[CXX_DECLTYPE] = { "decltype (%a)", NULL },
	[CXX_BITINT] = { NULL, print_bitint },
	[CXX_NOEXCEPT] = { NULL, print_noexcept },
	[CXX_THROW] = { " throw(%A)", NULL },
	[CXX_PACK] = { "%A", NULL },
	[CXX_PARAM] = { NULL, print_param },
	[CXX_EXPANSION] = { NULL, print_expansion },
	[CXX_HEAD_PARAM] = { NULL, print_head_param },
	[CXX_HEAD_TYPE] = { "typename", NULL },
	[CXX_HEAD_VALUE] = { "%a", NULL },
	[CXX_HEAD_TEMPLATE] = { NULL, print_head_template },
	[CXX_HEAD_PACK] = { "%a...", NULL },
	[CXX_CONSTRAINED] = { NULL, print_constrained },
	[CXX_UNARY] = { NULL, print_unary },
	[CXX_POSTFIX] = { NULL, print_postfix },
	[CXX_BINARY] = { NULL, print_binary },
	[CXX_TERNARY] = { "%x?%y : %z", NULL },
	[CXX_FOLD] = { NULL, print_fold },
	[CXX_CALL] = { NULL, print_call },
	[CXX_CAST] = { NULL, print_cast },
	[CXX_NEW] = { NULL, print_new },
	[CXX_LITERAL] = { NULL, print_literal },
	[CXX_PARM] = { "{parm#%n}", NULL },
	[CXX_THIS] = { "this", NULL },
	[CXX_INIT_LIST] = { "%a{%B}", NULL },
	[CXX_SUBOBJECT] = { NULL, print_subobject },
	[CXX_DESIGNATED] = { NULL, print_designated },
	[CXX_SIZEOF_PACK] = { NULL, print_pack_size },
	[CXX_VENDOR_CALL] = { "%a(%B)", NULL },
	[CXX_REQUIRES] = { NULL, print_requires },
	[CXX_REQUIRE_EXPR] = { NULL, print_require_expr },
	[CXX_REQUIRE_TYPE] = { "typename %a", NULL },
	[CXX_REQUIRE_NESTED] = { "requires %a", NULL },
};

static void print_whole(struct cxx *p, uint32_t id, const struct cxx_node *v)
{
	if (v->kind == CXX_TEXT)
		cxx_put(p, p->s + v->a, v->b);
	else if (v->kind == CXX_WORD || v->kind == CXX_BUILTIN)
		cxx_put(p, v->s, v->n);
	else if (cxx_is_declarator(v))
		cxx_print_declarator(p, v);
	else if (v->kind == CXX_PARAM && !p->in_lambda)
		cxx_print(p, cxx_resolve(p, id));
	else if (v->kind < COUNT(spellings) && spellings[v->kind].format)
		cxx_format(p, v, spellings[v->kind].format);
	else if (v->kind < COUNT(spellings) && spellings[v->kind].print)
		spellings[v->kind].print(p, v);
	else
		p->bad = true;
}

/* Writes a node.  One that was already written is copied from its earlier
 * text. */
void cxx_print(struct cxx *p, uint32_t id)
{
	struct cxx_node *v = &p->v[id];
	uint32_t start = p->at;

	if (v->len && !p->bad) {
		if (v->len > p->room - p->at && !cxx_grow(p, v->len))
			return;
		memcpy(p->text + p->at, p->text + v->text, v->len);
		p->at += v->len;
		return;
	}
	if (!id || !cxx_begin(p))
		return;
	print_whole(p, id, v);
	p->depth--;
	if (!(v->flags & CXX_F_PARAM)) {
		v->text = start;
		v->len = p->at - start;
	}
}
