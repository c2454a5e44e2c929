// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads encodings and special names (Itanium C++ ABI §5.1.2, §5.1.4), and unqualified
 * names.
 */
#include "symbolize/demangle/demangle_cxx.h"

/*
 * Unqualified names: operators, constructors, lambdas and unnamed types, tags
 * and modules (Itanium C++ ABI §5.1.3, §5.1.4.1, §5.1.7).
 */

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
