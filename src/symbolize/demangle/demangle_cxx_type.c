// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads types (Itanium C++ ABI §5.1.5), scoped names and template arguments. */
#include "base/vec.h"
#include "symbolize/demangle/demangle_cxx.h"

/*
 * Names: nested, local and in namespaces; template parameters and arguments;
 * substitutions (Itanium C++ ABI §5.1.3, §5.1.5.8, §5.1.10).
 */

static uint32_t cxx_decltype(struct cxx *p);

uint32_t cxx_source_name(struct cxx *p)
{
	uint32_t n = cxx_number(p);
	const char *s = p->p;

	if (p->bad || !n || n > (size_t)(p->end - s))
		return cxx_fail(p);
	p->p += n;
	/* the name that gcc and clang give to the unnamed namespace */
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

/* Before a constructor or destructor, the full name is shown. */
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

	for (i = 0; i < COUNT(std_names); i++)
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

/* Reads a substitution, after S. */
static uint32_t cxx_substitution(struct cxx *p)
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

/* Returns a parameter node.  Its value is determined only when its symbol is
 * written, because a substitution may put it into another symbol. */
static uint32_t param_node(struct cxx *p, uint32_t i)
{
	uint32_t v = cxx_add(p, CXX_PARAM, 0, 0, i, CXX_F_PARAM | CXX_F_RIGHT);

	if (p->lambda && i < p->nheads)
		p->v[v].n = (uint8_t)p->heads[i];
	return v;
}

/* Reads: T_ | T number _ | TL level __ | TL level _ number _. */
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

/* Reads a parameter's declaration, which compilers add to an argument if the
 * parameter's kind distinguishes templates (GCC 14, Clang 18). */
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
	case 'I':	/* from old compilers */
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

/* Reads template arguments, I … E.  T_ refers to those of the symbol itself. */
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
	if (!l.first)	/* f<>: there are arguments, but none is shown */
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

/* Reads one step of a prefix, which is to become a substitution. */
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

/* Reads a nested name, after N. */
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
		/* the initializer of a member, which contains a lambda */
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

/* Skips: _ digit | __ number _. */
static void skip_discriminator(struct cxx *p)
{
	if (cxx_peek(p) != '_')
		return;
	if (cxx_peek_at(p, 1) == '_') {
		p->p += 2;
		cxx_number(p);
		cxx_expect(p, '_');
	} else if (text_is_digit(cxx_peek_at(p, 1))) {
		p->p++;
		cxx_number(p);
	}
}

/* Reads a local name, after Z. */
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

/* Built-in types by letter; NULL: none. */
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

/* Returns a type built from another one, which determines its right side. */
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

/* Skips clang's mark after a parameter that the size of its object is passed,
 * too. */
static void skip_object_size(struct cxx *p)
{
	static const char *const attrs[] = {
		"U17pass_object_size", "U25pass_dynamic_object_size",
	};
	size_t i, n;

	for (i = 0; i < COUNT(attrs); i++) {
		n = strlen(attrs[i]);
		if ((size_t)(p->end - p->p) > n &&
		    !memcmp(p->p, attrs[i], n) && text_is_digit(p->p[n]))
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

/* Reads vendor qualifiers, then cv qualifiers; all of them form one type. */
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

	if (text_is_digit(cxx_peek(p))) {
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

/* Reads: number | expression. */
static uint32_t length(struct cxx *p)
{
	const char *s = p->p;

	if (!text_is_digit(cxx_peek(p)))
		return cxx_expression(p);
	cxx_number(p);
	return cxx_text(p, s, p->p);
}

/* Reads: Dv number _ type | Dv _ expression _ type. */
static uint32_t vector(struct cxx *p)
{
	uint32_t n;

	cxx_accept(p, '_');
	n = length(p);
	cxx_expect(p, '_');
	return wrap(p, CXX_VECTOR, cxx_type(p), n);
}

static uint32_t bit_int(struct cxx *p, bool is_unsigned)
{
	uint32_t n = length(p);

	cxx_expect(p, '_');
	return cxx_add(p, CXX_BITINT, n, 0, is_unsigned,
		       p->v[n].flags & CXX_F_PARAM);
}

/* Reads: DF16_, DF32x, DF16b. */
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

static uint32_t cxx_decltype(struct cxx *p)
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

/* Reads Ts, Tu, Te: struct, union, enum before a name. */
static uint32_t elaborated(struct cxx *p)
{
	char c = p->p[1];

	p->p += 2;
	return cxx_special(p, c == 's' ? "struct " : c == 'u' ?
			"union " : "enum ", cxx_name(p, NULL));
}

/*
 * Reads T_ I … E: a template template parameter with arguments.  In the type of
 * a conversion operator, the arguments belong to the operator unless more
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

/* Reads S and a reference.  With arguments, or in a module, the result is a new
 * substitution. */
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

/* Reads a vendor type: u name [type…]. */
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
	if (text_is_digit(c))
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
