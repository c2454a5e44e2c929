// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes nodes as text: names, types, parameters and packs, lists. */
#include "symbolize/demangle/demangle_cxx.h"

/* Must precede output that may be unbounded.  Returns false if a limit is
 * reached. */
static bool cxx_begin(struct cxx *p)
{
	if (p->bad || p->depth >= CXX_DEPTH_MAX ||
	    ++p->steps > CXX_STEPS_MAX) {
		p->bad = true;
		return false;
	}
	p->depth++;
	return true;
}

/* Names, template parameters and special symbols. */

static void cxx_print_args(struct cxx *p, uint32_t list);
static void cxx_print_item(struct cxx *p, uint32_t id, uint32_t start);
static uint32_t cxx_resolve(struct cxx *p, uint32_t id);

static void print_lambda(struct cxx *p, const struct cxx_node *v)
{
	uint32_t outer = p->lambda_heads;

	CXX_PUTS(p, "{lambda");
	p->in_lambda++;
	p->lambda_heads = v->b;
	if (v->b)
		cxx_print_args(p, v->b);
	CXX_PUTS(p, "(");
	cxx_print_list(p, v->a);
	CXX_PUTS(p, ")#");
	p->in_lambda--;
	p->lambda_heads = outer;
	cxx_put_number(p, v->c);
	CXX_PUTS(p, "}");
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
	if (v->a)
		cxx_print(p, v->a);
	cxx_print_around(p, v->c ? ":" : v->a ? "." : "", v->b, "");
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

static bool print_head(struct cxx *p, const struct cxx_node *v)
{
	switch (v->kind) {
	case CXX_HEAD_PARAM:
		cxx_print_around(p, "", v->a, " ");
		print_head_name(p, v);
		return true;
	case CXX_HEAD_TYPE:
		CXX_PUTS(p, "typename");
		return true;
	case CXX_HEAD_VALUE:
		cxx_print(p, v->a);
		return true;
	case CXX_HEAD_TEMPLATE:
		CXX_PUTS(p, "template");
		cxx_print_args(p, v->a);
		CXX_PUTS(p, " class");
		return true;
	case CXX_HEAD_PACK:
		cxx_print_around(p, "", v->a, "...");
		return true;
	case CXX_CONSTRAINED:
		cxx_print_around(p, "", v->a, v->c == 2 ? " decltype(auto)" :
			     v->c ? " auto" : "");
		return true;
	}
	return false;
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

static bool print_plain_name(struct cxx *p, const struct cxx_node *v)
{
	switch (v->kind) {
	case CXX_SCOPED:
	case CXX_LOCAL:
		cxx_print(p, v->a);
		CXX_PUTS(p, "::");
		cxx_print(p, v->b);
		return true;
	case CXX_TEMPLATE:
		cxx_print(p, v->a);
		cxx_print_args(p, v->b);
		return true;
	case CXX_TAGGED:
		cxx_print(p, v->a);
		cxx_print_around(p, "[abi:", v->b, "]");
		return true;
	case CXX_CTOR:
		cxx_print(p, v->a);
		return true;
	case CXX_DTOR:
		cxx_print_around(p, "~", v->a, "");
		return true;
	case CXX_OPERATOR:
		print_operator(p, v);
		return true;
	case CXX_CONVERSION:
		cxx_print_around(p, "operator ", v->a, "");
		return true;
	case CXX_LITERAL_OPERATOR:
		cxx_print_around(p, "operator\"\" ", v->a, "");
		return true;
	case CXX_LAMBDA:
		print_lambda(p, v);
		return true;
	case CXX_UNNAMED:
		CXX_PUTS(p, "{unnamed type#");
		cxx_put_number(p, v->c);
		CXX_PUTS(p, "}");
		return true;
	case CXX_BINDING:
		CXX_PUTS(p, "[");
		cxx_print_list(p, v->a);
		CXX_PUTS(p, "]");
		return true;
	case CXX_MODULE:
		print_module(p, v);
		return true;
	case CXX_IN_MODULE:
		cxx_print(p, v->a);
		cxx_print_around(p, "@", v->b, "");
		return true;
	case CXX_FRIEND:
		cxx_print_around(p, "", v->a, "[friend]");
		return true;
	case CXX_DEFAULT_ARG:
		CXX_PUTS(p, "{default arg#");
		cxx_put_number(p, v->c);
		cxx_print_around(p, "}::", v->a, "");
		return true;
	}
	return false;
}

static void print_expansion(struct cxx *p, const struct cxx_node *v)
{
	uint32_t pack = cxx_pack_of(p, v->a), start = p->at, n, i;
	const struct cxx_node *of = &p->v[v->a];
	int outer = p->index;

	if (!pack) {
		bool plain = of->kind == CXX_PARM || of->kind == CXX_TEXT ||
			     of->kind == CXX_SCOPED;

		if (!plain)
			CXX_PUTS(p, "(");
		cxx_print(p, v->a);
		if (!plain)
			CXX_PUTS(p, ")");
		CXX_PUTS(p, "...");
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

static bool print_symbol(struct cxx *p, const struct cxx_node *v)
{
	switch (v->kind) {
	case CXX_PARAM:
		print_param(p, v);
		return true;
	case CXX_EXPANSION:
		print_expansion(p, v);
		return true;
	case CXX_BOUND:
		print_bound(p, v);
		return true;
	case CXX_SPECIAL:
		cxx_put(p, v->s, v->n);
		cxx_print(p, v->c);
		return true;
	case CXX_IN_BASE:
		cxx_print_around(p, "construction vtable for ", v->a, "-in-");
		cxx_print(p, v->b);
		return true;
	case CXX_ENABLE_IF:
		cxx_print_around(p, "", v->a, " [enable_if:");
		cxx_print_list(p, v->b);
		CXX_PUTS(p, "]");
		return true;
	case CXX_REF_TEMPORARY:
		CXX_PUTS(p, "reference temporary #");
		cxx_put_number(p, v->c);
		cxx_print_around(p, " for ", v->a, "");
		return true;
	}
	return false;
}

/* Writes a name.  Returns false if the node is not one. */
static bool cxx_print_name(struct cxx *p, const struct cxx_node *v)
{
	return print_plain_name(p, v) || print_symbol(p, v) ||
	       print_head(p, v);
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

/* Writes a type.  Returns false if the node is not one. */
static bool cxx_print_type(struct cxx *p, const struct cxx_node *v)
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

bool cxx_grow(struct cxx *p, uint32_t n)
{
	struct buf *b = p->out;
	size_t start = b->n, room;

	if (n > CXX_OUT_MAX - p->at) {
		p->bad = true;
		return false;
	}
	room = p->at + n < 256 ? 256 : p->at + n;
	if (!buf_room(b, room)) {
		p->bad = true;
		return false;
	}
	p->text = b->p + start;
	room = b->cap - start;
	p->room = room < CXX_OUT_MAX ? (uint32_t)room : CXX_OUT_MAX;
	return true;
}

void cxx_put_number(struct cxx *p, uint32_t v)
{
	char text[12];
	int i = sizeof(text);

	do
		text[--i] = (char)('0' + v % 10);
	while (v /= 10);
	cxx_put(p, text + i, (uint32_t)sizeof(text) - (uint32_t)i);
}

/* Returns item i of a pack, 0 if none.  The parameter remembers its
 * position. */
static uint32_t pack_item(struct cxx *p, struct cxx_node *param, uint32_t pack,
			  uint32_t i)
{
	if (param->a != pack || !param->b || param->text > i) {
		param->a = pack;
		param->b = p->v[pack].a;
		param->text = 0;
	}
	for (; param->b && param->text < i; param->text++)
		param->b = p->v[param->b].b;
	return p->v[param->b].a;
}

/* Returns argument i of the template that is being written; 0 if it has
 * none. */
static uint32_t argument(struct cxx *p, uint32_t i)
{
	uint32_t at = p->args;

	if (i > p->max) {
		p->bad = true;
		return 0;
	}
	p->steps += i / 8;
	for (; at && i; i--)
		at = p->v[at].b;
	return p->v[at].a;
}

/* Returns the value of a parameter in this context; returns 0 and sets bad if
 * it has none. */
static uint32_t cxx_resolve(struct cxx *p, uint32_t id)
{
	int most = 64;

	while (p->v[id].kind == CXX_PARAM && !p->in_lambda) {
		struct cxx_node *v = &p->v[id];

		if (!most--)
			return cxx_fail(p);
		id = argument(p, v->c);
		if (p->v[id].kind == CXX_PACK && p->index >= 0)
			id = pack_item(p, v, id, (uint32_t)p->index);
		if (!id)
			return cxx_fail(p);
	}
	return id;
}

uint32_t cxx_pack_length(const struct cxx *p, uint32_t pack)
{
	uint32_t n = 0, i;

	for (i = p->v[pack].a; i; i = p->v[i].b)
		n++;
	return n;
}

/* Returns a mask of the parts of a node that are nodes: a, b, c. */
static unsigned parts_of(const struct cxx_node *v)
{
	switch (v->kind) {
	case CXX_SPECIAL:
		return 4;
	case CXX_FUNCTION: case CXX_TERNARY: case CXX_DESIGNATED:
	case CXX_SUBOBJECT:
		return 7;
	case CXX_LAMBDA: case CXX_EXPANSION: case CXX_BOUND:
		return 0;
	}
	return 3;
}

/* Returns the first pack in a node that needs expansion; 0 if there is none. */
uint32_t cxx_pack_of(struct cxx *p, uint32_t id)
{
	const struct cxx_node *v = &p->v[id];
	uint32_t found = 0, i;
	unsigned parts;

	if (!(v->flags & CXX_F_PARAM) || !cxx_begin(p))
		return 0;
	if (v->kind == CXX_PARAM) {
		i = p->in_lambda ? 0 : argument(p, v->c);
		found = p->v[i].kind == CXX_PACK ? i : 0;
	} else if (v->kind == CXX_LIST) {
		for (; id && !found; id = p->v[id].b)
			found = cxx_pack_of(p, p->v[id].a);
	} else {
		parts = parts_of(v);
		if (parts & 1)
			found = cxx_pack_of(p, v->a);
		if (!found && parts & 2)
			found = cxx_pack_of(p, v->b);
		if (!found && parts & 4)
			found = cxx_pack_of(p, v->c);
	}
	p->depth--;
	return found;
}

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

void cxx_print_list(struct cxx *p, uint32_t list)
{
	uint32_t start = p->at;

	for (; list && !p->bad; list = p->v[list].b)
		cxx_print_item(p, p->v[list].a, start);
}

void cxx_print_around(struct cxx *p, const char *before, uint32_t id,
		      const char *after)
{
	cxx_put(p, before, (uint32_t)strlen(before));
	cxx_print(p, id);
	cxx_put(p, after, (uint32_t)strlen(after));
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

static void print_whole(struct cxx *p, uint32_t id, const struct cxx_node *v)
{
	if (v->kind == CXX_TEXT)
		cxx_put(p, p->s + v->a, v->b);
	else if (v->kind == CXX_WORD || v->kind == CXX_BUILTIN)
		cxx_put(p, v->s, v->n);
	else if (cxx_is_declarator(v)) {
		cxx_print_declarator(p, v);
	} else if (v->kind == CXX_PARAM && !p->in_lambda)
		cxx_print(p, cxx_resolve(p, id));
	else if (!cxx_print_name(p, v) && !cxx_print_type(p, v) &&
		 !cxx_print_expression(p, v) && id)
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
