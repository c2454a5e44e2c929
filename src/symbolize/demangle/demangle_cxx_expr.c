// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads expressions (Itanium C++ ABI §5.1.6), literals and constraints. */
#include "symbolize/demangle/demangle_cxx.h"

/* Reads expressions up to E. */
static uint32_t list(struct cxx *p)
{
	struct cxx_list l = { 0 };

	while (!p->bad && !cxx_accept(p, 'E'))
		cxx_list_add(p, &l, cxx_expression(p));
	return l.first;
}

static uint32_t node3(struct cxx *p, enum cxx_kind kind, uint32_t a, uint32_t b,
		      uint32_t c)
{
	return cxx_add(p, kind, a, b, c, (cxx_flags(p, a, b) |
			p->v[c].flags) & CXX_F_PARAM);
}

static uint32_t with_op(struct cxx *p, enum cxx_kind kind,
			const struct cxx_operator *op, uint32_t a, uint32_t b)
{
	uint32_t v = cxx_node(p, kind, a, b);

	p->v[v].c = cxx_operator_index(op);
	return v;
}

/* Reads a symbol used as a value: _Z and its encoding. */
static uint32_t symbol(struct cxx *p)
{
	uint32_t v;

	cxx_accept(p, '_');
	cxx_expect(p, 'Z');
	v = cxx_encoding(p, true);
	cxx_expect(p, 'E');
	return v;
}

uint32_t cxx_literal(struct cxx *p)
{
	uint32_t type, v, value = 0;
	const char *s;
	bool minus;

	cxx_expect(p, 'L');
	if (cxx_peek(p) == 'Z' ||
	    (cxx_peek(p) == '_' && cxx_peek_at(p, 1) == 'Z'))
		return symbol(p);
	type = cxx_type(p);
	minus = cxx_accept(p, 'n');
	s = p->p;
	while (cxx_peek(p) && cxx_peek(p) != 'E')
		p->p++;
	if (p->p > s)
		value = cxx_text(p, s, p->p);
	cxx_expect(p, 'E');
	v = cxx_node(p, CXX_LITERAL, type, value);
	p->v[v].n = minus;
	return v;
}

/* Reads a function parameter, after fp or fL; `outer` if it belongs to an
 * enclosing function. */
static uint32_t parameter(struct cxx *p, bool outer)
{
	uint32_t n;

	if (outer) {
		cxx_number(p);
		cxx_expect(p, 'p');
	} else if (cxx_accept(p, 'T')) {
		return cxx_add(p, CXX_THIS, 0, 0, 0, 0);
	}
	cxx_cv_quals(p);
	n = cxx_number_end(p) + 1;
	return cxx_add(p, CXX_PARM, 0, 0, n, 0);
}

/* Reads: fl fr fL fR operator expression [expression]. */
static uint32_t fold(struct cxx *p)
{
	char kind = p->p[1];
	const struct cxx_operator *op;
	uint32_t a, b = 0, v;

	p->p += 2;
	op = cxx_operator_find(cxx_peek(p), cxx_peek_at(p, 1));
	if (!op)
		return cxx_fail(p);
	p->p += 2;
	a = cxx_expression(p);
	if (kind == 'L' || kind == 'R')
		b = cxx_expression(p);
	v = with_op(p, CXX_FOLD, op, a, b);
	p->v[v].n = (uint8_t)kind;
	return v;
}

static uint32_t with_args(struct cxx *p, uint32_t name)
{
	if (cxx_peek(p) != 'I')
		return name;
	return cxx_node(p, CXX_TEMPLATE, name, cxx_template_args(p, NULL));
}

/* Reads: on operator | dn destructor | name, with arguments. */
static uint32_t simple_id(struct cxx *p)
{
	uint32_t v;

	if (cxx_accept2(p, 'd', 'n')) {
		v = text_is_digit(cxx_peek(p)) ? simple_id(p) : cxx_type(p);
		return cxx_node(p, CXX_DTOR, v, 0);
	}
	cxx_accept2(p, 'o', 'n');
	return with_args(p, cxx_unqualified(p, NULL, 0));
}

static bool at_simple_id(const struct cxx *p, size_t i)
{
	char c = cxx_peek_at(p, i);

	return text_is_digit(c) ||
	       ((c == 'o' || c == 'd') && cxx_peek_at(p, i + 1) == 'n');
}

/* Returns whether a member name follows; old compilers omitted the `on`. */
static bool at_member(const struct cxx *p)
{
	char c = cxx_peek(p), d = cxx_peek_at(p, 1);

	return at_simple_id(p, 0) ||
	       (!(c == 's' && d == 'r') && cxx_operator_find(c, d));
}

/* Reads names up to E; or, from old compilers, a class without E. */
static uint32_t levels(struct cxx *p)
{
	struct cxx was = *p;
	uint32_t v = with_args(p, cxx_source_name(p));

	while (!p->bad && text_is_digit(cxx_peek(p)))
		v = cxx_node(p, CXX_SCOPED, v,
			     with_args(p, cxx_source_name(p)));
	if (!p->bad && cxx_peek(p) == 'E' && at_simple_id(p, 1)) {
		p->p++;
		return v;
	}
	cxx_back(p, &was);
	return cxx_type(p);
}

/* Reads a scope and a name, after sr. */
static uint32_t unresolved(struct cxx *p)
{
	uint32_t in;

	in = text_is_digit(cxx_peek(p)) ? levels(p) : cxx_type(p);
	return cxx_node(p, CXX_SCOPED, in, simple_id(p));
}

/* Reads: [expression…] _ type (E | pi expression… E | init list). */
static uint32_t new_expr(struct cxx *p, const struct cxx_operator *op)
{
	struct cxx_list place = { 0 };
	uint32_t type, init = 0, v, c;

	while (!p->bad && !cxx_accept(p, '_'))
		cxx_list_add(p, &place, cxx_expression(p));
	type = cxx_type(p);
	if (cxx_accept2(p, 'p', 'i')) {
		init = list(p);
		init = cxx_node(p, CXX_CALL, 0, init);
	} else if (cxx_peek(p) == 'i' && cxx_peek_at(p, 1) == 'l') {
		init = cxx_expression(p);
	} else {
		cxx_expect(p, 'E');
	}
	c = cxx_node(p, CXX_LIST, type, init);
	v = cxx_node(p, CXX_NEW, place.first, c);
	p->v[v].c = cxx_operator_index(op);
	return v;
}

static uint32_t cast(struct cxx *p)
{
	uint32_t type, v;
	bool conversion = p->conversion;

	p->conversion = false;
	type = cxx_type(p);
	p->conversion = conversion;
	if (cxx_accept(p, '_')) {
		v = list(p);
		return cxx_add(p, CXX_CAST, type, v, 1, cxx_flags(p, type, v) &
			       CXX_F_PARAM);
	}
	v = cxx_expression(p);
	return cxx_node(p, CXX_CAST, type, v);
}

/* Reads a subobject, after so: type, object, [offset], union members that
 * contain it, [p]ast the end. */
static uint32_t subobject(struct cxx *p)
{
	uint32_t type = cxx_type(p), of = cxx_expression(p), at, v;
	bool minus = cxx_accept(p, 'n');
	const char *s = p->p;

	if (minus || text_is_digit(cxx_peek(p))) {
		cxx_number(p);
		at = cxx_text(p, s, p->p);
	} else {
		at = cxx_word(p, CXX_WORD, "0", 0);
	}
	while (!p->bad && cxx_accept(p, '_'))
		if (text_is_digit(cxx_peek(p)))
			cxx_number(p);
	cxx_accept(p, 'p');
	cxx_expect(p, 'E');
	v = node3(p, CXX_SUBOBJECT, type, of, at);
	p->v[v].n = minus;
	return v;
}

static uint32_t designated(struct cxx *p, char kind)
{
	uint32_t a, b = 0, v;

	p->p += 2;
	a = kind == 'i' ? cxx_source_name(p) : cxx_expression(p);
	if (kind == 'X')
		b = cxx_expression(p);
	v = node3(p, CXX_DESIGNATED, a, b, cxx_expression(p));
	p->v[v].n = (uint8_t)kind;
	return v;
}

static uint32_t vendor_call(struct cxx *p)
{
	struct cxx_list l = { 0 };
	uint32_t name;

	p->p++;
	name = cxx_source_name(p);
	while (!p->bad && !cxx_accept(p, 'E'))
		cxx_list_add(p, &l, cxx_template_arg(p));
	return cxx_node(p, CXX_VENDOR_CALL, name, l.first);
}

uint32_t cxx_constraint(struct cxx *p)
{
	bool outer = p->levels;
	uint32_t v;

	p->levels = false;
	v = cxx_expression(p);
	if (p->levels)
		v = 0;
	p->levels |= outer;
	return v;
}

static uint32_t requirement(struct cxx *p)
{
	uint32_t a, b = 0, v;
	bool nothrow;

	switch (p->p < p->end ? *p->p++ : '\0') {
	case 'X':
		a = cxx_expression(p);
		nothrow = cxx_accept(p, 'N');
		if (cxx_accept(p, 'R'))
			b = cxx_name(p, NULL);
		v = cxx_node(p, CXX_REQUIRE_EXPR, a, b);
		p->v[v].c = nothrow;
		return v;
	case 'T':
		return cxx_node(p, CXX_REQUIRE_TYPE, cxx_type(p), 0);
	case 'Q':
		return cxx_node(p, CXX_REQUIRE_NESTED, cxx_constraint(p), 0);
	}
	return cxx_fail(p);
}

/* Reads: rq requirement… E | rQ parameter… _ requirement… E. */
static uint32_t requires_expr(struct cxx *p)
{
	struct cxx_list l = { 0 }, params = { 0 };
	bool with_params = p->p[1] == 'Q';

	p->p += 2;
	while (with_params && !p->bad && !cxx_accept(p, '_'))
		cxx_list_add(p, &params, cxx_type(p));
	while (!p->bad && !cxx_accept(p, 'E'))
		cxx_list_add(p, &l, requirement(p));
	return cxx_node(p, CXX_REQUIRES, params.first, l.first);
}

static uint32_t sized_pack(struct cxx *p)
{
	struct cxx_list l = { 0 };
	uint32_t v;

	if (cxx_accept2(p, 's', 'P')) {
		while (!p->bad && !cxx_accept(p, 'E'))
			cxx_list_add(p, &l, cxx_template_arg(p));
		return cxx_add(p, CXX_SIZEOF_PACK, 0, l.first, 1,
			       p->v[l.first].flags & CXX_F_PARAM);
	}
	p->p += 2;
	v = cxx_expression(p);
	return cxx_add(p, CXX_SIZEOF_PACK, v, 0, 0, p->v[v].flags & CXX_F_PARAM);
}

/* Reads an operation by the shape of its operator. */
static uint32_t operation(struct cxx *p)
{
	const struct cxx_operator *op;
	uint32_t a, b;

	op = cxx_operator_find(cxx_peek(p), cxx_peek_at(p, 1));
	if (!op)
		return cxx_fail(p);
	p->p += 2;
	switch (op->shape) {
	case '0':
		return cxx_word(p, CXX_WORD, op->text, 0);
	case '1':
		return with_op(p, CXX_UNARY, op, cxx_expression(p), 0);
	case 'k':
		if (cxx_accept(p, '_'))
			return with_op(p, CXX_UNARY, op, cxx_expression(p), 0);
		return with_op(p, CXX_POSTFIX, op, cxx_expression(p), 0);
	case 't':
		return with_op(p, CXX_UNARY, op, cxx_type(p), 0);
	case 'c':
		a = cxx_expression(p);
		return cxx_node(p, CXX_CALL, a, list(p));
	case 'v':
		return cast(p);
	case 'n':
		return new_expr(p, op);
	case 'a':
		a = cxx_type(p);
		b = cxx_expression(p);
		return with_op(p, CXX_BINARY, op, a, b);
	case 'm':
		a = cxx_expression(p);
		b = at_member(p) ? simple_id(p) : cxx_expression(p);
		return with_op(p, CXX_BINARY, op, a, b);
	case '2':
	case 'i':
		a = cxx_expression(p);
		b = cxx_expression(p);
		return with_op(p, CXX_BINARY, op, a, b);
	case '3':
		a = cxx_expression(p);
		b = cxx_expression(p);
		return node3(p, CXX_TERNARY, a, b, cxx_expression(p));
	}
	return cxx_fail(p);
}

static uint32_t init_list(struct cxx *p, bool typed)
{
	uint32_t type;

	p->p += 2;
	type = typed ? cxx_type(p) : 0;
	return cxx_node(p, CXX_INIT_LIST, type, list(p));
}

static uint32_t expansion(struct cxx *p)
{
	uint32_t v;

	p->p += 2;
	v = cxx_expression(p);
	return cxx_add(p, CXX_EXPANSION, v, 0, 0, p->v[v].flags & CXX_F_PARAM);
}

static uint32_t global(struct cxx *p)
{
	p->p += 2;
	return cxx_special(p, "::", cxx_expression(p));
}

#define PAIR(c, d) ((unsigned)(c) << 8 | (unsigned)(d))

static uint32_t by_pair(struct cxx *p)
{
	char d = cxx_peek_at(p, 1);

	switch (PAIR((uint8_t)cxx_peek(p), (uint8_t)d)) {
	case PAIR('s', 'r'):
		p->p += 2;
		return unresolved(p);
	case PAIR('s', 'p'):
		return expansion(p);
	case PAIR('s', 'Z'):
	case PAIR('s', 'P'):
		return sized_pack(p);
	case PAIR('f', 'p'):
		p->p += 2;
		return parameter(p, false);
	case PAIR('f', 'L'):
		if (!text_is_digit(cxx_peek_at(p, 2)))
			return fold(p);
		p->p += 2;
		return parameter(p, true);
	case PAIR('f', 'R'):
	case PAIR('f', 'l'):
	case PAIR('f', 'r'):
		return fold(p);
	case PAIR('s', 'o'):
		p->p += 2;
		return subobject(p);
	case PAIR('o', 'n'):
	case PAIR('d', 'n'):
		return simple_id(p);
	case PAIR('t', 'l'):
		return init_list(p, true);
	case PAIR('i', 'l'):
		return init_list(p, false);
	case PAIR('r', 'q'):
	case PAIR('r', 'Q'):
		return requires_expr(p);
	case PAIR('g', 's'):
		return global(p);
	case PAIR('d', 'i'):
	case PAIR('d', 'x'):
	case PAIR('d', 'X'):
		return designated(p, d);
	}
	return operation(p);
}

static uint32_t expression(struct cxx *p)
{
	char c = cxx_peek(p);

	if (text_is_digit(c))
		return simple_id(p);
	switch (c) {
	case 'L':
		return cxx_literal(p);
	case 'T':
		p->p++;
		return cxx_template_param(p);
	case 'N':
	case 'S':
		return cxx_type(p);
	case 'u':
		return vendor_call(p);
	}
	return by_pair(p);
}

uint32_t cxx_expression(struct cxx *p)
{
	uint32_t v;

	if (!cxx_enter(p))
		return 0;
	v = expression(p);
	p->depth--;
	return v;
}
