// SPDX-License-Identifier: GPL-2.0-or-later
/* Types (Itanium C++ ABI §5.1.5). */
#include "symbolize/demangle/demangle_cxx.h"

/* By letter; NULL: none. */
static const char *const builtins['z' - 'a' + 1] = {
	['a' - 'a'] = "signed char", ['b' - 'a'] = "bool",
	['c' - 'a'] = "char", ['d' - 'a'] = "double",
	['e' - 'a'] = "long double", ['f' - 'a'] = "float",
	['g' - 'a'] = "__float128", ['h' - 'a'] = "unsigned char",
	['i' - 'a'] = "int", ['j' - 'a'] = "unsigned int",
	['l' - 'a'] = "long", ['m' - 'a'] = "unsigned long",
	['n' - 'a'] = "__int128", ['o' - 'a'] = "unsigned __int128",
	['s' - 'a'] = "short", ['t' - 'a'] = "unsigned short",
	['v' - 'a'] = "void", ['w' - 'a'] = "wchar_t",
	['x' - 'a'] = "long long", ['y' - 'a'] = "unsigned long long",
	['z' - 'a'] = "...",
};

/* A type made of one other: its right side is that one's. */
static uint32_t wrap(struct cxx *p, enum cxx_kind kind, uint32_t type,
		     uint32_t more)
{
	return cxx_add(p, kind, type, more, 0,
		       p->v[type].flags |
		       (p->v[more].flags & CXX_F_PARAM));
}

static bool ends_parameters(const struct cxx *p)
{
	char c = cxx_peek(p), d = cxx_peek_at(p, 1);

	return !c || c == 'E' || c == '.' || c == 'Q' ||
	       ((c == 'R' || c == 'O') && d == 'E');
}

/* Behind a parameter, by clang: its object's size is passed, too; not shown. */
static void skip_object_size(struct cxx *p)
{
	static const char *const attrs[] = {
		"U17pass_object_size", "U25pass_dynamic_object_size",
	};
	size_t i, n;

	for (i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		n = strlen(attrs[i]);
		if ((size_t)(p->end - p->p) > n &&
		    !memcmp(p->p, attrs[i], n) && cxx_is_digit(p->p[n]))
			p->p += n + 1;
	}
}

uint32_t cxx_parameters(struct cxx *p)
{
	struct cxx_list l = { 0 };

	if (ends_parameters(p))
		return cxx_fail(p);
	if (cxx_peek(p) == 'v') {
		p->p++;
		if (ends_parameters(p))
			return 0;
		p->p--;
	}
	while (!p->bad && !ends_parameters(p)) {
		cxx_list_add(p, &l, cxx_type(p));
		skip_object_size(p);
	}
	return l.first;
}

static uint32_t exceptions(struct cxx *p)
{
	struct cxx_list l = { 0 };
	uint32_t v;

	if (cxx_accept2(p, 'D', 'o'))
		return cxx_node(p, CXX_NOEXCEPT, 0, 0);
	if (cxx_accept2(p, 'D', 'O')) {
		v = cxx_expression(p);
		cxx_expect(p, 'E');
		return cxx_node(p, CXX_NOEXCEPT, v, 0);
	}
	if (!cxx_accept2(p, 'D', 'w'))
		return 0;
	while (!p->bad && !cxx_accept(p, 'E'))
		cxx_list_add(p, &l, cxx_type(p));
	return cxx_node(p, CXX_THROW, l.first, 0);
}

static uint32_t function(struct cxx *p, unsigned quals)
{
	uint32_t thrown = exceptions(p), ret, args, v;

	if (cxx_accept2(p, 'D', 'x'))
		quals |= CXX_Q_TRANSACTION;
	cxx_expect(p, 'F');
	cxx_accept(p, 'Y');	/* extern "C" */
	ret = cxx_type(p);
	args = cxx_parameters(p);
	if (cxx_accept(p, 'R'))
		quals |= CXX_Q_LVALUE;
	else if (cxx_accept(p, 'O'))
		quals |= CXX_Q_RVALUE;
	cxx_expect(p, 'E');
	v = cxx_add(p, CXX_FUNCTION, ret, args, thrown, CXX_F_RIGHT |
		    cxx_flags(p, ret, args) | p->v[thrown].flags);
	p->v[v].n = (uint16_t)quals;
	return v;
}

static bool at_function(const struct cxx *p)
{
	char d = cxx_peek_at(p, 1);

	return cxx_peek(p) == 'F' ||
	       (cxx_peek(p) == 'D' && d && memchr("oOwx", d, 4));
}

/* Vendors' qualifiers, then cv: all of them are one type. */
static uint32_t qualified(struct cxx *p)
{
	uint32_t v, name, args = 0;
	unsigned q;

	if (cxx_accept(p, 'U')) {
		name = cxx_source_name(p);
		if (cxx_peek(p) == 'I')
			args = cxx_template_args(p, NULL);
		if (!cxx_enter(p))
			return 0;
		v = cxx_peek(p) && memchr("UrVK", cxx_peek(p), 4) ?
			qualified(p) : cxx_type(p);
		p->depth--;
		if (args)
			name = cxx_node(p, CXX_TEMPLATE, name, args);
		return wrap(p, CXX_VENDOR, v, name);
	}
	q = cxx_cv_quals(p);
	if (!q)
		return cxx_fail(p);
	if (at_function(p))
		return function(p, q);
	v = cxx_type(p);
	return cxx_add(p, CXX_QUALIFIED, v, 0, q, p->v[v].flags);
}

static uint32_t array(struct cxx *p)
{
	const char *s = p->p;
	uint32_t size = 0, v;

	if (cxx_is_digit(cxx_peek(p))) {
		cxx_number(p);
		size = cxx_text(p, s, p->p);
	} else if (cxx_peek(p) != '_') {
		size = cxx_expression(p);
	}
	cxx_expect(p, '_');
	v = wrap(p, CXX_ARRAY, cxx_type(p), size);
	p->v[v].flags |= CXX_F_RIGHT;
	return v;
}

static uint32_t member_pointer(struct cxx *p)
{
	uint32_t of = cxx_type(p), type = cxx_type(p);

	return wrap(p, CXX_MEMBER_POINTER, type, of);
}

/* Dv number _ type | Dv expression _ type */
static uint32_t vector(struct cxx *p)
{
	const char *s = p->p;
	uint32_t n;

	if (cxx_is_digit(cxx_peek(p))) {
		cxx_number(p);
		n = cxx_text(p, s, p->p);
	} else {
		cxx_accept(p, '_');
		n = cxx_expression(p);
	}
	cxx_expect(p, '_');
	return wrap(p, CXX_VECTOR, cxx_type(p), n);
}

static uint32_t bit_int(struct cxx *p, bool is_unsigned)
{
	const char *s = p->p;
	uint32_t n;

	if (cxx_is_digit(cxx_peek(p))) {
		cxx_number(p);
		n = cxx_text(p, s, p->p);
	} else {
		n = cxx_expression(p);
	}
	cxx_expect(p, '_');
	return cxx_add(p, CXX_BITINT, n, 0, is_unsigned,
		       p->v[n].flags & CXX_F_PARAM);
}

/* DF16_, DF32x, DF16b */
static uint32_t float_type(struct cxx *p)
{
	const char *s = p->p;
	uint32_t bits = cxx_number(p), v;

	if (bits == 16 && cxx_accept(p, 'b'))
		return cxx_word(p, CXX_BUILTIN, "std::bfloat16_t", 'D');
	if (cxx_accept(p, 'x')) {
		v = cxx_text(p, s, p->p);
	} else {
		v = cxx_text(p, s, p->p);
		cxx_expect(p, '_');
	}
	return cxx_special(p, "_Float", v);
}

uint32_t cxx_decltype(struct cxx *p)
{
	uint32_t v;

	p->p += 2;
	v = cxx_node(p, CXX_DECLTYPE, cxx_expression(p), 0);
	cxx_expect(p, 'E');
	return v;
}

static const char *d_builtin(char c)
{
	switch (c) {
	case 'a': return "auto";
	case 'c': return "decltype(auto)";
	case 'd': return "decimal64";
	case 'e': return "decimal128";
	case 'f': return "decimal32";
	case 'h': return "half";
	case 'i': return "char32_t";
	case 'n': return "decltype(nullptr)";
	case 's': return "char16_t";
	case 'u': return "char8_t";
	}
	return NULL;
}

static uint32_t d_type(struct cxx *p, bool *known)
{
	char c = cxx_peek_at(p, 1);
	const char *text = d_builtin(c);
	uint32_t v;

	if (at_function(p))
		return function(p, 0);
	if (c == 't' || c == 'T')
		return cxx_decltype(p);
	if (p->end - p->p < 2)
		return cxx_fail(p);
	p->p += 2;
	*known = c != 'p' && c != 'v';
	switch (c) {
	case 'p':
		v = cxx_type(p);
		return cxx_add(p, CXX_EXPANSION, v, 0, 0,
			       p->v[v].flags & CXX_F_PARAM);
	case 'v': return vector(p);
	case 'B': return bit_int(p, false);
	case 'U': return bit_int(p, true);
	case 'F': return float_type(p);
	case 'k':	/* C auto */
	case 'K':
		return cxx_add(p, CXX_CONSTRAINED, cxx_name(p, NULL), 0,
			       c == 'K' ? 2 : 1, 0);
	}
	return text ? cxx_word(p, CXX_BUILTIN, text, c == 'n' ? 'N' : 'D')
		    : cxx_fail(p);
}

/* Ts, Tu, Te: struct, union, enum before a name. */
static uint32_t elaborated(struct cxx *p)
{
	char c = p->p[1];

	p->p += 2;
	return cxx_special(p, c == 's' ? "struct " : c == 'u' ?
			"union " : "enum ", cxx_name(p, NULL));
}

/*
 * T_ I … E: a template's parameter that is a template, with arguments; in a
 * conversion's type they may be the operator's own, which is so unless more
 * arguments follow.
 */
static uint32_t param_args(struct cxx *p, uint32_t v)
{
	struct cxx was = *p;
	uint32_t args;

	cxx_sub_add(p, v);
	args = cxx_template_args(p, NULL);
	if (was.conversion && (p->bad || cxx_peek(p) != 'I')) {
		cxx_back(p, &was);
		return v;
	}
	return cxx_node(p, CXX_TEMPLATE, v, args);
}

static uint32_t param_type(struct cxx *p)
{
	char c = cxx_peek_at(p, 1);
	uint32_t v;

	if (c == 's' || c == 'u' || c == 'e')
		return elaborated(p);
	p->p++;
	v = cxx_template_param(p);
	return cxx_peek(p) == 'I' && !p->bad ? param_args(p, v) : v;
}

/* S and a reference; with arguments or in a module it is something new. */
static uint32_t known_type(struct cxx *p, bool *known)
{
	uint32_t v;

	p->p++;
	v = cxx_substitution(p);
	*known = true;
	if (!p->bad && p->v[v].kind == CXX_MODULE) {
		v = cxx_unqualified(p, NULL, v);
		*known = false;
		if (cxx_peek(p) == 'I')
			cxx_sub_add(p, v);
	}
	if (cxx_peek(p) == 'I') {
		v = cxx_node(p, CXX_TEMPLATE, v, cxx_template_args(p, NULL));
		*known = false;
	}
	return v;
}

/* u name [type…]: what a compiler has of its own. */
static uint32_t vendor_type(struct cxx *p)
{
	uint32_t v = cxx_source_name(p);

	if (cxx_peek(p) == 'I')
		v = cxx_add(p, CXX_VENDOR_CALL, v, cxx_template_args(p, NULL),
			    0, 0);
	return v;
}

static uint32_t compound(struct cxx *p, char c)
{
	p->p++;
	switch (c) {
	case 'P': return wrap(p, CXX_POINTER, cxx_type(p), 0);
	case 'R': return wrap(p, CXX_REFERENCE, cxx_type(p), 0);
	case 'O': return wrap(p, CXX_RVALUE, cxx_type(p), 0);
	case 'C': return wrap(p, CXX_COMPLEX, cxx_type(p), 0);
	case 'G': return wrap(p, CXX_IMAGINARY, cxx_type(p), 0);
	case 'M': return member_pointer(p);
	case 'A': return array(p);
	case 'u': return vendor_type(p);
	}
	return cxx_fail(p);
}

static uint32_t type(struct cxx *p, bool *known)
{
	char c = cxx_peek(p), d;

	switch (c) {
	case 'P': case 'R': case 'O': case 'C': case 'G': case 'M': case 'A':
	case 'u':
		return compound(p, c);
	case 'r': case 'V': case 'K':
		return qualified(p);
	case 'U':
		d = cxx_peek_at(p, 1);
		return d == 'l' || d == 't' ? cxx_name(p, NULL) : qualified(p);
	case 'F':
		return function(p, 0);
	case 'D':
		return d_type(p, known);
	case 'T':
		return param_type(p);
	case 'S':
		return cxx_peek_at(p, 1) == 't' ? cxx_name(p, NULL)
						: known_type(p, known);
	case 'N': case 'Z': case 'L': case 'W':
		return cxx_name(p, NULL);
	}
	if (cxx_is_digit(c))
		return cxx_name(p, NULL);
	if (c >= 'a' && c <= 'z' && builtins[c - 'a']) {
		*known = true;
		p->p++;
		return cxx_word(p, CXX_BUILTIN, builtins[c - 'a'],
				(uint8_t)c);
	}
	return cxx_fail(p);
}

uint32_t cxx_type(struct cxx *p)
{
	bool known = false;
	uint32_t v;

	if (!cxx_enter(p))
		return 0;
	v = type(p, &known);
	p->depth--;
	if (!known && !p->bad)
		cxx_sub_add(p, v);
	return v;
}
