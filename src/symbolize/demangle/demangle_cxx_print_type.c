// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types into text, and the functions that they are of.  Types stand on both sides
 * of what they declare: left is "void (*", right is ")(int)".
 */
#include "symbolize/demangle/demangle_cxx.h"

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

/* The type behind qualifiers: CXX_FUNCTION and CXX_ARRAY need parentheses
 * around what points to them; qualifiers of a function have put them already. */
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

/* Whether a type has a right side. */
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

/* Before * and &; all else is set off by a space. */
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

/* References to references are one (C++ [dcl.ref]): to what, and of which kind. */
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

/* What the type is qualified with already; of an array, its elements. */
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
		CXX_PUTS(p, " ");
		cxx_print(p, v->b);
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
		if (cxx_last_char(p) != '(')
			CXX_PUTS(p, " ");
		cxx_print(p, v->b);
		CXX_PUTS(p, "::*");
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
		CXX_PUTS(p, "(");
		cxx_print_list(p, v->b);
		CXX_PUTS(p, ")");
		print_quals(p, v->n);
		if (v->c)
			cxx_print(p, v->c);
		type_right(p, v->a);
		break;
	case CXX_ARRAY:
		if (cxx_last_char(p) == ']')
			CXX_PUTS(p, "[");
		else
			CXX_PUTS(p, " [");
		cxx_print(p, v->b);
		CXX_PUTS(p, "]");
		type_right(p, v->a);
		break;
	}
}

bool cxx_is_declarator(const struct cxx_node *v)
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

void cxx_print_declarator(struct cxx *p, const struct cxx_node *v)
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
	if (v->b) {
		if (v->n & CXX_Q_THIS && fn->b)
			CXX_PUTS(p, "(this ");
		else
			CXX_PUTS(p, "(");
		cxx_print_list(p, fn->b);
		CXX_PUTS(p, ")");
	}
	print_quals(p, v->n);
	if (v->b && fn->a)
		type_right(p, fn->a);
	if (v->c) {
		CXX_PUTS(p, " requires ");
		cxx_print(p, v->c);
	}
}

bool cxx_print_type(struct cxx *p, const struct cxx_node *v)
{
	switch (v->kind) {
	case CXX_VECTOR:
		cxx_print(p, v->a);
		cxx_print_around(p, " __vector(", v->b, ")");
		return true;
	case CXX_DECLTYPE:
		cxx_print_around(p, "decltype (", v->a, ")");
		return true;
	case CXX_BITINT:
		cxx_print_around(p, v->c ? "unsigned _BitInt(" : "_BitInt(", v->a,
			     ")");
		return true;
	case CXX_NOEXCEPT:
		CXX_PUTS(p, " noexcept");
		if (v->a)
			cxx_print_around(p, "(", v->a, ")");
		return true;
	case CXX_THROW:
		CXX_PUTS(p, " throw(");
		cxx_print_list(p, v->a);
		CXX_PUTS(p, ")");
		return true;
	case CXX_PACK:
		cxx_print_list(p, v->a);
		return true;
	case CXX_ENCODING:
		print_encoding(p, v);
		return true;
	}
	return false;
}
