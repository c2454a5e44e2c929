// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names: nested, local and of namespaces, templates' parameters and arguments,
 * substitutions (Itanium C++ ABI §5.1.3, §5.1.5.8, §5.1.10).
 */
#include "symbolize/demangle/demangle_cxx.h"

uint32_t cxx_source_name(struct cxx *p)
{
	uint32_t n = cxx_number(p);
	const char *s = p->p;

	if (p->bad || !n || n > (size_t)(p->end - s))
		return cxx_fail(p);
	p->p += n;
	/* what gcc and clang call the namespace without a name */
	if (n >= 10 && !memcmp(s, "_GLOBAL_", 8) &&
	    (s[8] == '.' || s[8] == '_' || s[8] == '$') && s[9] == 'N')
		return p->last = cxx_word(p, CXX_WORD, "(anonymous namespace)",
					  0);
	return p->last = cxx_text(p, s, p->p);
}

unsigned cxx_cv_quals(struct cxx *p)
{
	unsigned q = 0;

	if (cxx_accept(p, 'r'))
		q |= CXX_Q_RESTRICT;
	if (cxx_accept(p, 'V'))
		q |= CXX_Q_VOLATILE;
	if (cxx_accept(p, 'K'))
		q |= CXX_Q_CONST;
	return q;
}

struct std_name {
	char code;
	const char *brief, *full, *last;
};

/* Where a constructor or destructor follows, the name in full is shown. */
static const struct std_name std_names[] = {
	{ 'a', "std::allocator", "std::allocator", "allocator" },
	{ 'b', "std::basic_string", "std::basic_string", "basic_string" },
	{ 's', "std::string", "std::basic_string<char, "
	  "std::char_traits<char>, std::allocator<char> >", "basic_string" },
	{ 'i', "std::istream", "std::basic_istream<char, "
	  "std::char_traits<char> >", "basic_istream" },
	{ 'o', "std::ostream", "std::basic_ostream<char, "
	  "std::char_traits<char> >", "basic_ostream" },
	{ 'd', "std::iostream", "std::basic_iostream<char, "
	  "std::char_traits<char> >", "basic_iostream" },
};

static uint32_t std_substitution(struct cxx *p)
{
	char c = cxx_peek(p);
	const struct std_name *n = NULL;
	uint32_t v, tagged;
	bool full;
	size_t i;

	for (i = 0; i < sizeof(std_names) / sizeof(*std_names); i++)
		if (std_names[i].code == c)
			n = &std_names[i];
	if (!n)
		return cxx_fail(p);
	p->p++;
	c = cxx_peek(p);
	full = c == 'C' || c == 'D';
	v = cxx_word(p, CXX_WORD, full ? n->full : n->brief, 0);
	p->last = cxx_word(p, CXX_WORD, n->last, 0);
	tagged = cxx_tags(p, v);
	if (tagged != v)
		cxx_sub_add(p, tagged);
	return tagged;
}

/* Behind the S. */
uint32_t cxx_substitution(struct cxx *p)
{
	uint32_t i = 0;
	char c = cxx_peek(p);

	if (c >= 'a')
		return std_substitution(p);
	if (!cxx_accept(p, '_')) {
		i = cxx_base36(p);
		cxx_expect(p, '_');
	}
	if (p->bad || i >= p->nsubs)
		return cxx_fail(p);
	return p->subs[i];
}

/* What it stands for is known when the symbol that it is part of is written:
 * a substitution may bring it into another symbol. */
static uint32_t param_node(struct cxx *p, uint32_t i)
{
	uint32_t v = cxx_add(p, CXX_PARAM, 0, 0, i, CXX_F_PARAM | CXX_F_RIGHT);

	if (p->lambda && i < p->nheads)
		p->v[v].n = (uint8_t)p->heads[i];
	return v;
}

/* T_ | T number _ | TL level __ | TL level _ number _ */
uint32_t cxx_template_param(struct cxx *p)
{
	uint32_t i;

	if (cxx_accept(p, 'L')) {
		cxx_number(p);
		cxx_expect(p, '_');
		p->levels = true;
	}
	i = cxx_number_end(p);
	return p->bad ? 0 : param_node(p, i);
}

/* What compilers say of a parameter beside its argument's value, where the parameter's
 * kind is part of what tells templates apart (GCC 14, Clang 18). */
static uint32_t declared_arg(struct cxx *p)
{
	char letter;

	if (!cxx_at_head(p))
		return cxx_type(p);
	if (!cxx_enter(p))
		return 0;
	p->p++;
	cxx_head(p, &letter);
	p->depth--;
	return p->bad ? 0 : cxx_template_arg(p);
}

static uint32_t pack_arg(struct cxx *p)
{
	struct cxx_list l = { 0 };
	uint32_t v;

	while (!p->bad && !cxx_accept(p, 'E'))
		cxx_list_add(p, &l, cxx_template_arg(p));
	v = cxx_node(p, CXX_PACK, l.first, 0);
	return v;
}

uint32_t cxx_template_arg(struct cxx *p)
{
	uint32_t v;

	switch (cxx_peek(p)) {
	case 'X':
		p->p++;
		v = cxx_expression(p);
		cxx_expect(p, 'E');
		return v;
	case 'L':
		return cxx_literal(p);
	case 'I':	/* of old compilers */
	case 'J':
		if (!cxx_enter(p))
			return 0;
		p->p++;
		v = pack_arg(p);
		p->depth--;
		return v;
	case 'T':
		return declared_arg(p);
	}
	return cxx_type(p);
}

/* I … E; those of the symbol itself are what T_ stands for. */
uint32_t cxx_template_args(struct cxx *p, struct cxx_name *of)
{
	struct cxx_list l = { 0 };
	uint32_t last = p->last, v;
	bool conversion = p->conversion;

	cxx_expect(p, 'I');
	if (!cxx_enter(p))
		return 0;
	p->conversion = false;
	while (!p->bad && !cxx_accept(p, 'E')) {
		if (cxx_accept(p, 'Q')) {
			v = cxx_constraint(p);
			if (of)
				of->requires = v;
			continue;
		}
		v = cxx_template_arg(p);
		cxx_list_add(p, &l, v);
	}
	p->last = last;
	p->conversion = conversion;
	p->depth--;
	if (!l.first)	/* f<>: there are arguments, none of them shown */
		cxx_list_add(p, &l, 0);
	if (of)
		of->args = l.first;
	return l.first;
}

static uint32_t with_args(struct cxx *p, uint32_t name, struct cxx_name *of)
{
	uint32_t args = cxx_template_args(p, of);

	if (of)
		of->is_template = true;
	return cxx_node(p, CXX_TEMPLATE, name, args);
}

static void no_args(struct cxx_name *of)
{
	if (of)
		of->is_template = false;
}

/* One step of a prefix; what it says is to become a substitution. */
static uint32_t step(struct cxx *p, uint32_t cur, struct cxx_name *of,
		     bool *known)
{
	uint32_t v;

	*known = false;
	switch (cxx_peek(p)) {
	case 'I':
		if (!cur)
			return cxx_fail(p);
		return with_args(p, cur, of);
	case 'T':
		if (cur)
			return cxx_fail(p);
		p->p++;
		return cxx_template_param(p);
	case 'D':
		if (cxx_peek_at(p, 1) != 't' && cxx_peek_at(p, 1) != 'T')
			break;
		if (cur)
			return cxx_fail(p);
		return cxx_decltype(p);
	case 'S':
		if (cxx_peek_at(p, 1) == 't') {
			if (cur)
				return cxx_fail(p);
			p->p += 2;
			*known = true;
			return cxx_word(p, CXX_WORD, "std", 0);
		}
		p->p++;
		v = cxx_substitution(p);
		if (p->v[v].kind == CXX_MODULE) {
			no_args(of);
			v = cxx_unqualified(p, of, v);
			return cur ? cxx_node(p, CXX_SCOPED, cur, v) : v;
		}
		*known = true;
		return cur ? cxx_fail(p) : v;
	}
	no_args(of);
	v = cxx_unqualified(p, of, 0);
	return cur ? cxx_node(p, CXX_SCOPED, cur, v) : v;
}

/* Behind the N. */
static uint32_t nested(struct cxx *p, struct cxx_name *of)
{
	uint32_t cur = 0;
	bool is_this = cxx_accept(p, 'H'), known;
	unsigned quals = cxx_cv_quals(p) | (is_this ? CXX_Q_THIS : 0);

	if (cxx_accept(p, 'R'))
		quals |= CXX_Q_LVALUE;
	else if (cxx_accept(p, 'O'))
		quals |= CXX_Q_RVALUE;
	while (!p->bad) {
		cur = step(p, cur, of, &known);
		/* the initializer of a member: a lambda is in there */
		cxx_accept(p, 'M');
		if (cxx_accept(p, 'E'))
			break;
		if (!known)
			cxx_sub_add(p, cur);
	}
	if (of)
		of->quals = (uint16_t)quals;
	return cur;
}

/* _ digit | __ number _; not shown */
static void skip_discriminator(struct cxx *p)
{
	if (cxx_peek(p) != '_')
		return;
	if (cxx_peek_at(p, 1) == '_') {
		p->p += 2;
		cxx_number(p);
		cxx_expect(p, '_');
	} else if (cxx_is_digit(cxx_peek_at(p, 1))) {
		p->p++;
		cxx_number(p);
	}
}

/* Behind the Z. */
static uint32_t local(struct cxx *p, struct cxx_name *of)
{
	uint32_t in = cxx_encoding(p, false), name, arg;

	cxx_expect(p, 'E');
	if (cxx_accept(p, 's')) {
		skip_discriminator(p);
		no_args(of);
		name = cxx_word(p, CXX_WORD, "string literal", 0);
	} else if (cxx_accept(p, 'd')) {
		arg = cxx_number_end(p) + 1;
		name = cxx_name(p, of);
		name = cxx_add(p, CXX_DEFAULT_ARG, name, 0, arg, 0);
	} else {
		name = cxx_name(p, of);
		skip_discriminator(p);
	}
	return cxx_node(p, CXX_LOCAL, in, name);
}

static uint32_t of_namespace(struct cxx *p, struct cxx_name *of)
{
	uint32_t v, sub = 0;

	if (cxx_accept2(p, 'S', 't')) {
		v = cxx_word(p, CXX_WORD, "std", 0);
		v = cxx_node(p, CXX_SCOPED, v, cxx_unqualified(p, of, 0));
	} else if (cxx_accept(p, 'S')) {
		v = cxx_substitution(p);
		sub = p->v[v].kind != CXX_MODULE;
		if (!sub)
			v = cxx_unqualified(p, of, v);
	} else {
		v = cxx_unqualified(p, of, 0);
	}
	if (p->bad || cxx_peek(p) != 'I')
		return v;
	if (!sub)
		cxx_sub_add(p, v);
	return with_args(p, v, of);
}

uint32_t cxx_name(struct cxx *p, struct cxx_name *of)
{
	uint32_t v;

	if (!cxx_enter(p))
		return 0;
	if (cxx_accept(p, 'N'))
		v = nested(p, of);
	else if (cxx_accept(p, 'Z'))
		v = local(p, of);
	else
		v = of_namespace(p, of);
	p->depth--;
	return v;
}
