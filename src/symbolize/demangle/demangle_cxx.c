// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a whole C++ symbol: encodings and special names (Itanium C++ ABI
 * §5.1.2, §5.1.4), and the unqualified names in it.
 */
#include <stdlib.h>

#include "base/search.h"
#include "symbolize/demangle/demangle_cxx.h"
#include "symbolize/demangle/manglings.h"

/*
 * Unqualified names: operators, constructors, lambdas and unnamed types, tags
 * and modules (Itanium C++ ABI §5.1.3, §5.1.4.1, §5.1.7).
 */

/*
 * Operators sorted by code.  Shapes of their expressions:
 *	1 before its operand	2 between two	3 conditional	k ++ and --
 *	c call	i [index]	m member of	n new	a const_cast<type>(x)
 *	t before a type	v conversion	0 alone	f pack size	s its contents
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

enum { OPERATORS = COUNT(operators) };

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
	/* vendor operator: v, number of operands, name */
	if (cxx_peek(p) == 'v' && text_is_digit(cxx_peek_at(p, 1))) {
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
	if (inherited) {	/* base from which it is inherited */
		cxx_type(p);
		/* c++filt and gdb use the base's name */
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
		cxx_accept(p, 'L');	/* visible in this file only */
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

/* Reads a lambda, after Ul. */
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

/* Reads modules, given a module read before (0 if none).  Returns the innermost
 * one. */
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

/* Reads L, a name visible in this file only; gcc may number it. */
static uint32_t of_file(struct cxx *p, struct cxx_name *of)
{
	uint32_t v;

	p->p++;
	if (!text_is_digit(cxx_peek(p)))
		return cxx_unqualified(p, of, 0);
	v = cxx_source_name(p);
	if (cxx_peek(p) == '_' && text_is_digit(cxx_peek_at(p, 1)))
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
	if (text_is_digit(c))
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

enum {
	/* Size of names whose nodes and references are on the stack. */
	SMALL_IN = 512,
	NODES_EACH = 3,		/* nodes for each byte of the name */
	SOME_NODES = 32,
	READ_EACH = 32,		/* the same, including discarded nodes */
};

uint32_t cxx_add(struct cxx *p, enum cxx_kind kind, uint32_t a, uint32_t b,
		 uint32_t c, unsigned flags)
{
	struct cxx_node *v = &p->v[p->n];

	if (p->n == p->max || ++p->read > READ_EACH * p->max)
		return cxx_fail(p);
	*v = (struct cxx_node){ .kind = (uint8_t)kind, .flags = (uint8_t)flags,
				.c = c, .a = a, .b = b };
	return p->n++;
}

uint32_t cxx_node(struct cxx *p, enum cxx_kind kind, uint32_t a, uint32_t b)
{
	return cxx_add(p, kind, a, b, 0,
		       cxx_flags(p, a, b) & CXX_F_PARAM);
}

uint32_t cxx_word(struct cxx *p, enum cxx_kind kind, const char *s, uint32_t c)
{
	uint32_t i = cxx_add(p, kind, 0, 0, c, 0);

	if (i) {
		p->v[i].s = s;
		p->v[i].n = (uint16_t)strlen(s);
	}
	return i;
}

uint32_t cxx_special(struct cxx *p, const char *s, uint32_t of)
{
	uint32_t i = cxx_word(p, CXX_SPECIAL, s, of);

	p->v[i].flags = p->v[of].flags & CXX_F_PARAM;
	return i;
}

uint32_t cxx_text(struct cxx *p, const char *s, const char *end)
{
	return cxx_add(p, CXX_TEXT, (uint32_t)(s - p->s), (uint32_t)(end - s),
		       0, 0);
}

void cxx_sub_add(struct cxx *p, uint32_t node)
{
	if (p->nsubs == p->max || !node)
		p->bad = true;
	else
		p->subs[p->nsubs++] = node;
}

void cxx_list_add(struct cxx *p, struct cxx_list *l, uint32_t item)
{
	uint32_t i = cxx_node(p, CXX_LIST, item, 0);

	if (!l->first)
		l->first = i;
	else
		p->v[l->last].b = i;
	l->last = i;
	/* the head of a list holds the flags of its parts */
	p->v[l->first].flags |= p->v[i].flags;
}

uint32_t cxx_number(struct cxx *p)
{
	uint32_t v = 0;

	if (!text_is_digit(cxx_peek(p)))
		return cxx_fail(p);
	while (text_is_digit(cxx_peek(p))) {
		if (v > 100000000)
			return cxx_fail(p);
		v = v * 10 + (uint32_t)(*p->p++ - '0');
	}
	return v;
}

uint32_t cxx_number_end(struct cxx *p)
{
	uint32_t v = 0;

	if (cxx_peek(p) != '_')
		v = cxx_number(p) + 1;
	cxx_expect(p, '_');
	return v;
}

/* Skips: h nv-offset _ | v offset _ vcall-offset _. */
static void skip_call_offset(struct cxx *p)
{
	int n = cxx_accept(p, 'v') ? 2 : 1;

	if (n == 1)
		cxx_expect(p, 'h');
	for (; n && !p->bad; n--) {
		cxx_accept(p, 'n');
		cxx_number(p);
		cxx_expect(p, '_');
	}
}

static uint32_t covariant_thunk(struct cxx *p)
{
	skip_call_offset(p);
	skip_call_offset(p);
	return cxx_special(p, "covariant return thunk to ", cxx_encoding(p, true));
}

/* Reads TC: the vtable of a base while an object of a class is constructed. */
static uint32_t construction_vtable(struct cxx *p)
{
	uint32_t whole = cxx_type(p), base;

	cxx_number(p);
	cxx_expect(p, '_');
	base = cxx_type(p);
	return cxx_node(p, CXX_IN_BASE, base, whole);
}

static uint32_t t_special(struct cxx *p)
{
	switch (cxx_peek(p)) {
	case 'h':
		skip_call_offset(p);
		return cxx_special(p, "non-virtual thunk to ",
			       cxx_encoding(p, true));
	case 'v':
		skip_call_offset(p);
		return cxx_special(p, "virtual thunk to ", cxx_encoding(p, true));
	}
	switch (p->p < p->end ? *p->p++ : '\0') {
	case 'V': return cxx_special(p, "vtable for ", cxx_type(p));
	case 'T': return cxx_special(p, "VTT for ", cxx_type(p));
	case 'I': return cxx_special(p, "typeinfo for ", cxx_type(p));
	case 'S': return cxx_special(p, "typeinfo name for ", cxx_type(p));
	case 'F': return cxx_special(p, "typeinfo fn for ", cxx_type(p));
	case 'J': return cxx_special(p, "java Class for ", cxx_type(p));
	case 'c': return covariant_thunk(p);
	case 'C': return construction_vtable(p);
	case 'H': return cxx_special(p, "TLS init function for ",
				 cxx_name(p, NULL));
	case 'W': return cxx_special(p, "TLS wrapper function for ",
				 cxx_name(p, NULL));
	case 'A': return cxx_special(p, "template parameter object for ",
				 cxx_template_arg(p));
	}
	return cxx_fail(p);
}

uint32_t cxx_base36(struct cxx *p)
{
	uint32_t v = 0;

	do {
		char c = cxx_peek(p);

		if (v > 10000000 ||
		    !(text_is_digit(c) || (c >= 'A' && c <= 'Z')))
			return cxx_fail(p);
		v = v * 36 + (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
		p->p++;
	} while (cxx_peek(p) && cxx_peek(p) != '_');
	return v + 1;
}

static uint32_t reference_temporary(struct cxx *p)
{
	uint32_t of = cxx_name(p, NULL), n = 0;

	if (cxx_peek(p) && !cxx_accept(p, '_')) {
		n = cxx_base36(p);
		n -= !cxx_accept(p, '_');	/* gcc counts from 0 */
	}
	return cxx_add(p, CXX_REF_TEMPORARY, of, 0, n, 0);
}

/* Reads GI: the initializer of a C++20 module. */
static uint32_t module_start(struct cxx *p)
{
	uint32_t m = 0;

	while (cxx_peek(p) == 'W' && !p->bad) {
		bool part;

		p->p++;
		part = cxx_accept(p, 'P');
		m = cxx_add(p, CXX_MODULE, m, cxx_source_name(p), part, 0);
	}
	return m ? cxx_special(p, "initializer for module ", m) : cxx_fail(p);
}

static uint32_t g_special(struct cxx *p)
{
	switch (p->p < p->end ? *p->p++ : '\0') {
	case 'V': return cxx_special(p, "guard variable for ", cxx_name(p, NULL));
	case 'R': return reference_temporary(p);
	case 'A': return cxx_special(p, "hidden alias for ",
				 cxx_encoding(p, true));
	case 'I': return module_start(p);
	case 'T':
		if (cxx_accept(p, 'n'))
			return cxx_special(p, "non-transaction clone for ",
				       cxx_encoding(p, true));
		cxx_expect(p, 't');
		return cxx_special(p, "transaction clone for ",
			       cxx_encoding(p, true));
	}
	return cxx_fail(p);
}

static bool at_end(const struct cxx *p)
{
	return p->p == p->end || *p->p == 'E' || *p->p == '.';
}

/* Reads Ua9enable_ifI…E, written by clang. */
static uint32_t enable_if(struct cxx *p, uint32_t e)
{
	if (p->end - p->p > 12 && !memcmp(p->p, "Ua9enable_if", 12)) {
		p->p += 12;
		e = cxx_node(p, CXX_ENABLE_IF, e, cxx_template_args(p, NULL));
	}
	return e;
}

/*
 * Returns how many nested templates a name has arguments of.  Also returns 2 if
 * the name does not contain all of them: a friend has those of its class, too.
 */
static unsigned levels(const struct cxx *p, uint32_t id, unsigned *steps)
{
	unsigned n = 0;

	while (n < 2) {
		const struct cxx_node *v = &p->v[id];

		if (++*steps > CXX_DEPTH_MAX)
			return 2;
		switch (v->kind) {
		case CXX_TEMPLATE:
			n++;
			id = v->a;
			if (p->v[id].kind == CXX_WORD)	/* std::allocator */
				return n;
			break;
		case CXX_SCOPED:
			if (p->v[v->b].kind == CXX_FRIEND)
				return 2;
			id = v->a;
			break;
		case CXX_LOCAL:
			n += levels(p, v->b, steps);
			id = v->a;
			break;
		case CXX_FRIEND:
			return 2;
		case CXX_BOUND: case CXX_ENCODING: case CXX_ENABLE_IF:
		case CXX_TAGGED: case CXX_IN_MODULE: case CXX_DEFAULT_ARG:
			id = v->a;
			break;
		case CXX_WORD:	/* std::string and similar names */
			return n + (v->n > 5 && !memcmp(v->s, "std::", 5));
		default:
			return n;
		}
	}
	return n;
}

static uint32_t signature(struct cxx *p, uint32_t name,
			  const struct cxx_name *of, bool top)
{
	uint32_t ret = 0, fn, e, attr, requires = of->requires;
	unsigned steps = 0;

	attr = enable_if(p, 0);
	if (cxx_accept(p, 'J') || (of->is_template && !of->no_return)) {
		ret = cxx_type(p);
		if (!top)
			ret = 0;
	}
	fn = cxx_add(p, CXX_FUNCTION, ret, 0, 0, CXX_F_RIGHT);
	if (fn)
		p->v[fn].b = cxx_parameters(p);
	if (cxx_accept(p, 'Q'))
		requires = cxx_constraint(p);
	/*
	 * Here T_ is a parameter of the outermost template, TL0__ of the next
	 * one, and so on.  Explicit specializations (template<> class…) do not
	 * count, but a name does not show them.  No constraint is better than a
	 * wrong one.
	 */
	if (requires && levels(p, name, &steps) != 1)
		requires = 0;
	e = cxx_add(p, CXX_ENCODING, name, fn, requires, 0);
	p->v[e].n = of->quals;
	if (attr) {
		p->v[attr].a = e;
		e = attr;
	}
	return e;
}

static uint32_t encoding(struct cxx *p, bool top)
{
	struct cxx_name of = { 0 };
	uint32_t name, e;

	if (cxx_accept(p, 'T'))
		return t_special(p);
	if (cxx_peek(p) == 'G' && cxx_peek_at(p, 1) != 'L') {
		p->p++;
		return g_special(p);
	}
	name = cxx_name(p, &of);
	if (p->bad)
		return 0;
	if (at_end(p)) {
		e = name;
		if (of.quals) {
			e = cxx_add(p, CXX_ENCODING, name, 0, 0, 0);
			p->v[e].n = of.quals;
		}
	} else {
		e = signature(p, name, &of, top);
	}
	/* a template of the name's own arguments, f<T_>: T_ belongs to the
	 * enclosing scope */
	if (e == name && p->v[of.args].flags & CXX_F_PARAM)
		return e;
	return cxx_add(p, CXX_BOUND, e, of.args, 0, 0);
}

uint32_t cxx_encoding(struct cxx *p, bool top)
{
	unsigned lambda = p->lambda;
	uint32_t e;
	bool conversion = p->conversion;

	if (!cxx_enter(p))
		return 0;
	p->lambda = 0;
	p->conversion = false;
	e = encoding(p, top);
	p->lambda = lambda;
	p->conversion = conversion;
	p->depth--;
	return e;
}

/* Returns the node of a function's own name, without scopes and template
 * arguments.  Sets p->args to the arguments that T_ refers to in it. */
static uint32_t last_name(struct cxx *p, uint32_t e)
{
	for (;;) {
		const struct cxx_node *v = &p->v[e];

		switch (v->kind) {
		case CXX_BOUND:
			p->args = v->b;
			e = v->a;
			break;
		case CXX_ENCODING: case CXX_ENABLE_IF: case CXX_TEMPLATE:
		case CXX_TAGGED: case CXX_IN_MODULE: case CXX_FRIEND:
			e = v->a;
			break;
		case CXX_SCOPED: case CXX_LOCAL:
			e = v->b;
			break;
		default:
			return e;
		}
	}
}

/* Reads the whole name, then writes it.  The arrays of p must exist. */
static bool demangle_with(struct cxx *p, struct buf *out)
{
	size_t start = out->n;
	uint32_t e;

	p->n = 1;	/* 0 means none */
	p->v[0] = (struct cxx_node){ 0 };
	e = cxx_encoding(p, p->want != CXX_SCOPE);
	if (p->bad || !e || (p->p != p->end && *p->p != '.') ||
	    p->p + 1 == p->end)
		return false;
	if (p->want == CXX_LAST)
		e = last_name(p, e);
	p->out = out;
	if (!cxx_grow(p, (uint32_t)(p->end - p->s)))
		return false;
	cxx_print(p, e);
	if (p->bad || out->failed || !p->at)
		return false;
	out->n = start + p->at;
	if (p->want == CXX_ALL)
		demangle_clones(p->p, p->end, out);
	return true;
}

static bool demangle_small(struct cxx *p, struct buf *out)
{
	enum { MAX = NODES_EACH * SMALL_IN + SOME_NODES };
	struct cxx_node nodes[MAX];
	uint32_t refs[MAX];

	p->v = nodes;
	p->subs = refs;
	p->max = NODES_EACH * (uint32_t)(p->end - p->s) + SOME_NODES;
	return demangle_with(p, out);
}

static bool demangle_large(struct cxx *p, struct buf *out)
{
	uint32_t max = NODES_EACH * (uint32_t)(p->end - p->s) + SOME_NODES;
	char *room = malloc(max * (sizeof(*p->v) + sizeof(*p->subs)));
	bool ok;

	if (!room)
		return false;
	p->max = max;
	p->v = (void *)room;
	p->subs = (void *)(p->v + max);
	ok = demangle_with(p, out);
	free(room);
	return ok;
}

/* Demangles _GLOBAL__I_x and _GLOBAL__D_x of old compilers. */
static bool demangle_keyed(const char *s, size_t n, struct buf *out)
{
	if (n < 12 || memcmp(s, "_GLOBAL_", 8) || s[10] != '_' ||
	    !memchr("_.$", s[8], 3) || (s[9] != 'I' && s[9] != 'D'))
		return false;
	buf_str(out, s[9] == 'I' ? "global constructors keyed to "
				 : "global destructors keyed to ");
	if (!demangle_cxx(s + 11, n - 11, out))
		buf_bytes(out, s + 11, n - 11);
	return true;
}

static bool demangle_z(const char *s, size_t n, enum cxx_want want,
		       struct buf *out)
{
	struct cxx p = { .s = s, .p = s + 2, .end = s + n, .want = want };

	if (n < 3 || n > CXX_IN_MAX || s[0] != '_' || s[1] != 'Z')
		return false;
	return n <= SMALL_IN ? demangle_small(&p, out)
			     : demangle_large(&p, out);
}

bool demangle_cxx(const char *s, size_t n, struct buf *out)
{
	if (n > 2 && s[0] == '_' && s[1] == 'G')
		return n <= CXX_IN_MAX && demangle_keyed(s, n, out);
	return demangle_z(s, n, CXX_ALL, out);
}

bool demangle_cxx_last(const char *s, size_t n, struct buf *out)
{
	return demangle_z(s, n, CXX_LAST, out);
}

bool demangle_cxx_scope(const char *s, size_t n, struct buf *out)
{
	return demangle_z(s, n, CXX_SCOPE, out);
}
