// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes expressions as text. */
#include "symbolize/demangle/demangle_cxx.h"

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

void cxx_print_operand(struct cxx *p, uint32_t id)
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
	cxx_print_operand(p, strcmp(op->code, "ad") ? v->a : addressed(p, v->a));
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
	cxx_print_operand(p, v->a);
	if (op->shape == 'i') {
		cxx_format(p, v, "[%b]");
	} else {
		put_text(p, op->text);
		cxx_print_operand(p, v->b);
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
		cxx_print_operand(p, v->b);
	}
	CXX_PUTS(p, ")");
	p->index = outer;
}

static void print_call(struct cxx *p, const struct cxx_node *v)
{
	uint32_t name = function_name(p, v->a);

	if (v->a)
		cxx_print_operand(p, name ? name : v->a);
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

bool cxx_print_expression(struct cxx *p, const struct cxx_node *v)
{
	switch (v->kind) {
	case CXX_UNARY:
		print_unary(p, v);
		return true;
	case CXX_POSTFIX:
		cxx_print_operand(p, v->a);
		put_text(p, cxx_operator_at(v->c)->text);
		return true;
	case CXX_BINARY:
		print_binary(p, v);
		return true;
	case CXX_FOLD:
		print_fold(p, v);
		return true;
	case CXX_CALL:
		print_call(p, v);
		return true;
	case CXX_CAST:
		cxx_format(p, v, v->c ? "(%a)(%B)" : "(%a)%y");
		return true;
	case CXX_NEW:
		print_new(p, v);
		return true;
	case CXX_LITERAL:
		print_literal(p, v);
		return true;
	case CXX_SUBOBJECT:
		cxx_format(p, v, v->n ? "%b.<%a at offset -%c>"
				      : "%b.<%a at offset %c>");
		return true;
	case CXX_DESIGNATED:
		print_designated(p, v);
		return true;
	case CXX_SIZEOF_PACK:
		print_pack_size(p, v);
		return true;
	case CXX_REQUIRES:
		print_requires(p, v);
		return true;
	case CXX_REQUIRE_EXPR:
		print_require_expr(p, v);
		return true;
	}
	return false;
}
