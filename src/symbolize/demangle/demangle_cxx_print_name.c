// SPDX-License-Identifier: GPL-2.0-or-later
/* Names, templates' parameters and special symbols into text. */
#include "symbolize/demangle/demangle_cxx.h"

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

/* $T0, $N1: parameters of a lambda's template. */
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

	/* one that was read before the lambda, for another template, has no letter */
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

bool cxx_print_name(struct cxx *p, const struct cxx_node *v)
{
	return print_plain_name(p, v) || print_symbol(p, v) ||
	       print_head(p, v);
}
