// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes nodes as text: names, types, parameters and packs, lists. */
#include "base/vec.h"
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

void cxx_format(struct cxx *p, const struct cxx_node *v, const char *format)
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
		case 'x': cxx_print_operand(p, v->a); break;
		case 'y': cxx_print_operand(p, v->b); break;
		case 'z': cxx_print_operand(p, v->c); break;
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

/* How names and types are written: by a format, or by a function.  Types with two
 * sides and expressions have functions of their own. */
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
	[CXX_TERNARY] = { "%x?%y : %z", NULL },
	[CXX_PARM] = { "{parm#%n}", NULL },
	[CXX_THIS] = { "this", NULL },
	[CXX_INIT_LIST] = { "%a{%B}", NULL },
	[CXX_VENDOR_CALL] = { "%a(%B)", NULL },
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
	else if (!cxx_print_expression(p, v))
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
