// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unqualified names: operators, constructors, lambdas and types without a name,
 * tags and modules (Itanium C++ ABI §5.1.3, §5.1.4.1, §5.1.7).
 */
#include "base/search.h"
#include "symbolize/demangle/demangle_cxx.h"

/*
 * Sorted by code.  Shapes, of the expressions that they make:
 *	1 before its operand	2 between two	3 conditional	k ++ and --
 *	c call	i [index]	m member of	n new	a const_cast<type>(x)
 *	t before a type	v conversion	0 alone	f pack's size	s its content
 */
static const struct cxx_operator operators[] = {
	{ "aN", '2', "&=" }, { "aS", '2', "=" }, { "aa", '2', "&&" },
	{ "ad", '1', "&" }, { "an", '2', "&" }, { "at", 't', "alignof " },
	{ "aw", '1', "co_await " }, { "az", '1', "alignof " },
	{ "cc", 'a', "const_cast" }, { "cl", 'c', "()" }, { "cm", '2', "," },
	{ "co", '1', "~" }, { "cp", 'c', "()" }, { "cv", 'v', "" },
	{ "dV", '2', "/=" }, { "da", '1', "delete[] " },
	{ "dc", 'a', "dynamic_cast" }, { "de", '1', "*" },
	{ "dl", '1', "delete " }, { "ds", '2', ".*" }, { "dt", 'm', "." },
	{ "dv", '2', "/" }, { "eO", '2', "^=" }, { "eo", '2', "^" },
	{ "eq", '2', "==" }, { "ge", '2', ">=" }, { "gt", '2', ">" },
	{ "ix", 'i', "[]" }, { "lS", '2', "<<=" }, { "le", '2', "<=" },
	{ "ls", '2', "<<" }, { "lt", '2', "<" }, { "mI", '2', "-=" },
	{ "mL", '2', "*=" }, { "mi", '2', "-" }, { "ml", '2', "*" },
	{ "mm", 'k', "--" }, { "na", 'n', "new[]" }, { "ne", '2', "!=" },
	{ "ng", '1', "-" }, { "nt", '1', "!" }, { "nw", 'n', "new" },
	{ "nx", '1', "noexcept" }, { "oR", '2', "|=" }, { "oo", '2', "||" },
	{ "or", '2', "|" }, { "pL", '2', "+=" }, { "pl", '2', "+" },
	{ "pm", '2', "->*" }, { "pp", 'k', "++" }, { "ps", '1', "+" },
	{ "pt", 'm', "->" }, { "qu", '3', "?" }, { "rM", '2', "%=" },
	{ "rS", '2', ">>=" }, { "rc", 'a', "reinterpret_cast" },
	{ "rm", '2', "%" }, { "rs", '2', ">>" }, { "sP", 's', "sizeof..." },
	{ "sZ", 'f', "sizeof..." }, { "sc", 'a', "static_cast" },
	{ "ss", '2', "<=>" }, { "st", 't', "sizeof " }, { "sz", '1', "sizeof " },
	{ "te", '1', "typeid " }, { "ti", 't', "typeid " },
	{ "tr", '0', "throw" }, { "tw", '1', "throw " },
};

enum { OPERATORS = sizeof(operators) / sizeof(*operators) };

static int code_of(const struct cxx_operator *op)
{
	return op->code[0] << 8 | op->code[1];
}

const struct cxx_operator *cxx_operator_find(char c, char d)
{
	int want = (uint8_t)c << 8 | (uint8_t)d;
	size_t at;

	lower_bound(at, 0, OPERATORS, code_of(&operators[at]) < want);
	return at < OPERATORS && code_of(&operators[at]) == want
		       ? &operators[at] : NULL;
}

const struct cxx_operator *cxx_operator_at(uint32_t i)
{
	return &operators[i < OPERATORS ? i : 0];
}

uint32_t cxx_operator_index(const struct cxx_operator *op)
{
	return (uint32_t)(op - operators);
}

static uint32_t conversion(struct cxx *p, struct cxx_name *of)
{
	bool outer = p->conversion;
	uint32_t type;

	p->conversion = true;
	type = cxx_type(p);
	p->conversion = outer;
	if (of)
		of->no_return = true;
	return cxx_node(p, CXX_CONVERSION, type, 0);
}

static uint32_t operator_name(struct cxx *p, struct cxx_name *of)
{
	const struct cxx_operator *op;

	if (cxx_accept2(p, 'c', 'v'))
		return conversion(p, of);
	if (cxx_accept2(p, 'l', 'i'))
		return cxx_node(p, CXX_LITERAL_OPERATOR, cxx_source_name(p), 0);
	/* of a vendor: v, how many operands, a name */
	if (cxx_peek(p) == 'v' && cxx_is_digit(cxx_peek_at(p, 1))) {
		p->p += 2;
		return cxx_node(p, CXX_CONVERSION, cxx_source_name(p), 0);
	}
	op = cxx_operator_find(cxx_peek(p), cxx_peek_at(p, 1));
	if (!op)
		return cxx_fail(p);
	p->p += 2;
	return cxx_add(p, CXX_OPERATOR, 0, 0, cxx_operator_index(op), 0);
}

static uint32_t constructor(struct cxx *p, struct cxx_name *of)
{
	bool ctor = *p->p++ == 'C', inherited = ctor && cxx_accept(p, 'I');
	uint32_t last = p->last;
	char c = cxx_peek(p);

	if (!last || c < (ctor ? '1' : '0') || c > '5')
		return cxx_fail(p);
	p->p++;
	if (inherited) {	/* what it is inherited from */
		cxx_type(p);
		/* c++filt and gdb call it as its base does */
	}
	if (of)
		of->no_return = true;
	last = inherited ? p->last : last;
	return cxx_node(p, ctor ? CXX_CTOR : CXX_DTOR, last, 0);
}

static uint32_t binding(struct cxx *p)
{
	struct cxx_list l = { 0 };

	p->p += 2;
	while (!p->bad && !cxx_accept(p, 'E')) {
		cxx_accept(p, 'L');	/* seen in this file only */
		cxx_list_add(p, &l, cxx_source_name(p));
	}
	return cxx_node(p, CXX_BINDING, l.first, 0);
}

uint32_t cxx_head(struct cxx *p, char *letter)
{
	struct cxx_list l = { 0 };
	uint32_t v;
	char inner;

	if (!cxx_enter(p))
		return 0;
	switch (p->p < p->end ? *p->p++ : '\0') {
	case 'y':
		*letter = 'T';
		v = cxx_node(p, CXX_HEAD_TYPE, 0, 0);
		break;
	case 'n':
		*letter = 'N';
		v = cxx_node(p, CXX_HEAD_VALUE, cxx_type(p), 0);
		break;
	case 'k':
		*letter = 'T';
		v = cxx_node(p, CXX_CONSTRAINED, cxx_name(p, NULL), 0);
		break;
	case 'p':
		*letter = 'T';
		cxx_expect(p, 'T');
		v = cxx_node(p, CXX_HEAD_PACK, cxx_head(p, letter), 0);
		break;
	case 't':
		while (!p->bad && !cxx_accept(p, 'E')) {
			if (cxx_accept(p, 'Q')) {
				cxx_constraint(p);
				continue;
			}
			cxx_expect(p, 'T');
			cxx_list_add(p, &l, cxx_head(p, &inner));
		}
		*letter = 't';
		v = cxx_node(p, CXX_HEAD_TEMPLATE, l.first, 0);
		break;
	default:
		v = cxx_fail(p);
	}
	p->depth--;
	return v;
}

bool cxx_at_head(const struct cxx *p)
{
	char c = cxx_peek_at(p, 1);

	return cxx_peek(p) == 'T' && c && memchr("ynptk", c, 5);
}

static uint32_t lambda_heads(struct cxx *p)
{
	struct cxx_list l = { 0 };
	char letter = 'T';

	p->nheads = 0;
	while (!p->bad && cxx_at_head(p)) {
		uint32_t v, i = p->nheads;

		p->p++;
		v = cxx_head(p, &letter);
		if (i == sizeof(p->heads))
			return cxx_fail(p);
		p->heads[p->nheads++] = letter;
		v = cxx_add(p, CXX_HEAD_PARAM, v, 0, i, 0);
		p->v[v].n = (uint8_t)letter;
		cxx_list_add(p, &l, v);
	}
	return l.first;
}

/* Behind Ul. */
static uint32_t lambda(struct cxx *p)
{
	char heads[sizeof(p->heads)];
	unsigned nheads = p->nheads;
	uint32_t head_list, params, n, last = p->last;
	bool conv = p->conversion;

	if (!cxx_enter(p))
		return 0;
	memcpy(heads, p->heads, sizeof(heads));
	p->lambda++;
	p->conversion = false;
	head_list = lambda_heads(p);
	if (cxx_accept(p, 'Q'))
		cxx_constraint(p);
	params = cxx_parameters(p);
	if (cxx_accept(p, 'Q'))
		cxx_constraint(p);
	cxx_expect(p, 'E');
	n = cxx_number_end(p) + 1;
	p->lambda--;
	p->conversion = conv;
	memcpy(p->heads, heads, sizeof(heads));
	p->nheads = nheads;
	p->last = last;
	p->depth--;
	return cxx_add(p, CXX_LAMBDA, params, head_list, n, 0);
}

/* -> what it is in, given a module that was read before (0 if none). */
static uint32_t modules(struct cxx *p, uint32_t m)
{
	while (cxx_peek(p) == 'W' && !p->bad) {
		bool part;

		p->p++;
		part = cxx_accept(p, 'P');
		m = cxx_add(p, CXX_MODULE, m, cxx_source_name(p), part, 0);
		cxx_sub_add(p, m);
	}
	return m;
}

uint32_t cxx_tags(struct cxx *p, uint32_t name)
{
	uint32_t last = p->last;

	while (!p->bad && cxx_accept(p, 'B'))
		name = cxx_node(p, CXX_TAGGED, name, cxx_source_name(p));
	p->last = last;
	return name;
}

static uint32_t without_name(struct cxx *p)
{
	if (cxx_accept2(p, 'U', 'l'))
		return lambda(p);
	if (cxx_accept2(p, 'U', 't'))
		return cxx_add(p, CXX_UNNAMED, 0, 0, cxx_number_end(p) + 1, 0);
	return cxx_fail(p);
}

/* L: seen in this file only; gcc may number it. */
static uint32_t of_file(struct cxx *p, struct cxx_name *of)
{
	uint32_t v;

	p->p++;
	if (!cxx_is_digit(cxx_peek(p)))
		return cxx_unqualified(p, of, 0);
	v = cxx_source_name(p);
	if (cxx_peek(p) == '_' && cxx_is_digit(cxx_peek_at(p, 1)))
		p->p += 2;
	return v;
}

uint32_t cxx_unqualified(struct cxx *p, struct cxx_name *of, uint32_t module)
{
	bool is_friend;
	uint32_t v;
	char c;

	if (!cxx_enter(p))
		return 0;
	if (of)
		of->no_return = false;
	module = modules(p, module);
	is_friend = cxx_accept(p, 'F');
	c = cxx_peek(p);
	if (cxx_is_digit(c))
		v = cxx_source_name(p);
	else if (c >= 'a' && c <= 'z')
		v = operator_name(p, of);
	else if (c == 'D' && cxx_peek_at(p, 1) == 'C')
		v = binding(p);
	else if (c == 'C' || c == 'D')
		v = constructor(p, of);
	else if (c == 'U')
		v = without_name(p);
	else if (c == 'L')
		v = of_file(p, of);
	else
		v = cxx_fail(p);
	if (module)
		v = cxx_node(p, CXX_IN_MODULE, v, module);
	if (is_friend)
		v = cxx_node(p, CXX_FRIEND, v, 0);
	p->depth--;
	return cxx_tags(p, v);
}
