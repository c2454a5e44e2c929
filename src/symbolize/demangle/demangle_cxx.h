/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_CXX_H
#define TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_CXX_H
/*
 * C++ names (Itanium C++ ABI §5.1): a name is read once into small nodes, which
 * are then written out.  The output is that of c++filt from binutils.
 *
 *	demangle_cxx.c		the whole name: reads it, then writes it
 *	demangle_cxx_encoding.c	reads encodings, special names; unqualified names:
 *				operators, lambdas, tags
 *	demangle_cxx_type.c	… types; scoped names, templates' arguments,
 *				substitutions
 *	demangle_cxx_expr.c	… expressions
 *	demangle_cxx_print.c	writes nodes as text
 *	demangle_cxx_node.c	nodes, operators, numbers; template parameters
 *
 * The three that read call each other as the grammar does: names contain types, types
 * contain expressions, and these contain names.
 *
 * Names are hostile.  The number of nodes is a few for each byte read,
 * including nodes that were discarded again.  A node that is written a second
 * time is copied from its earlier text, so that time is proportional to the
 * text.  Text, steps and depth have limits; a name that exceeds one is left
 * mangled.
 */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

enum {
	CXX_IN_MAX = 32 * 1024,
	CXX_OUT_MAX = 64 * 1024,
	CXX_STEPS_MAX = 1 << 18,
	CXX_DEPTH_MAX = 1024,
	CXX_READ_EACH = 32,	/* nodes made for each that there is room for, as some
				 * are discarded */
};

enum cxx_kind {
	CXX_NONE,
	/* pieces of text: s and n; or a and b (position and length in the
	 * name) */
	CXX_WORD, CXX_TEXT, CXX_BUILTIN,
	/* names */
	CXX_SCOPED, CXX_LOCAL, CXX_TEMPLATE, CXX_TAGGED, CXX_CTOR, CXX_DTOR, CXX_OPERATOR,
	CXX_CONVERSION, CXX_LITERAL_OPERATOR, CXX_LAMBDA, CXX_UNNAMED,
	CXX_BINDING, CXX_MODULE, CXX_IN_MODULE, CXX_FRIEND, CXX_DEFAULT_ARG,
	/* kinds of symbols */
	CXX_ENCODING, CXX_BOUND, CXX_SPECIAL, CXX_IN_BASE, CXX_ENABLE_IF,
	CXX_REF_TEMPORARY,
	/* types */
	CXX_QUALIFIED, CXX_VENDOR, CXX_POINTER, CXX_REFERENCE, CXX_RVALUE,
	CXX_COMPLEX, CXX_IMAGINARY, CXX_MEMBER_POINTER, CXX_FUNCTION,
	CXX_ARRAY, CXX_VECTOR, CXX_DECLTYPE, CXX_BITINT, CXX_NOEXCEPT,
	CXX_THROW,
	/* template parameters and arguments */
	CXX_LIST, CXX_PACK, CXX_PARAM, CXX_EXPANSION,
	CXX_HEAD_PARAM, CXX_HEAD_TYPE, CXX_HEAD_VALUE,
	CXX_HEAD_TEMPLATE, CXX_HEAD_PACK, CXX_CONSTRAINED,
	/* expressions */
	CXX_UNARY, CXX_POSTFIX, CXX_BINARY, CXX_TERNARY, CXX_FOLD, CXX_CALL,
	CXX_CAST, CXX_NEW, CXX_LITERAL, CXX_PARM, CXX_THIS, CXX_INIT_LIST,
	CXX_SUBOBJECT, CXX_DESIGNATED, CXX_SIZEOF_PACK, CXX_VENDOR_CALL, CXX_REQUIRES,
	CXX_REQUIRE_EXPR, CXX_REQUIRE_TYPE, CXX_REQUIRE_NESTED,
};

enum cxx_flag {
	CXX_F_RIGHT = 1,	/* a type that may continue after the name */
	CXX_F_PARAM = 2,	/* contains a template parameter */
};

enum cxx_qual {
	CXX_Q_CONST = 1, CXX_Q_VOLATILE = 2, CXX_Q_RESTRICT = 4,
	CXX_Q_LVALUE = 8, CXX_Q_RVALUE = 16, CXX_Q_TRANSACTION = 32,
	CXX_Q_THIS = 64,	/* explicit object parameter */
};

struct cxx_node {
	uint8_t kind, flags;
	uint16_t n;
	uint32_t c;
	union {
		struct {
			uint32_t a, b;
		};
		const char *s;
	};
	uint32_t text, len;	/* position in the output; len 0: not written */
};

struct cxx_operator {
	char code[3];
	char shape;		/* see demangle_cxx_node.c */
	char text[18];
};

/* Which part of a name to write. */
enum cxx_want {
	CXX_ALL,
	CXX_LAST,		/* only the function's own name */
	CXX_SCOPE,		/* as a scope of other names: no return type */
};

struct cxx {
	const char *s, *p, *end;
	struct cxx_node *v;
	uint32_t *subs;
	uint32_t n, max, nsubs;
	uint32_t read;		/* nodes read, including discarded ones */
	uint32_t last;		/* name that a constructor or destructor repeats */
	unsigned depth;
	unsigned lambda;	/* depth in lambda signatures */
	unsigned nheads;	/* template parameters of a lambda, <typename T, int
				 * N …> */
	char heads[32];
	bool conversion;	/* T_ I… may be arguments of a conversion operator */
	bool levels;		/* TL… was read */
	bool bad;
	enum cxx_want want;

	/* used while writing */
	struct buf *out;
	uint8_t *text;
	uint32_t at, room;
	uint32_t cut;		/* position at which the comma of an empty pack was
				 * removed */
	uint32_t steps;
	int index;		/* index in the pack that is being expanded */
	unsigned in_lambda;
	uint32_t lambda_heads;	/* list of template parameters of the lambda that is
				 * being written */
	uint32_t args;		/* list of the values of T_, T0_ … */
};

/* Properties of a name, set by reading it. */
struct cxx_name {
	uint16_t quals;		/* qualifiers of the member function */
	bool is_template;	/* ends in template arguments */
	bool no_return;		/* constructors, destructors, conversions */
	uint32_t args;		/* values of T_, T0_ … in the symbol */
	uint32_t requires;	/* constraint of the template parameters */
};

static inline char cxx_peek(const struct cxx *p)
{
	return p->p < p->end ? *p->p : '\0';
}

static inline char cxx_peek_at(const struct cxx *p, size_t i)
{
	return i < (size_t)(p->end - p->p) ? p->p[i] : '\0';
}

static inline bool cxx_accept(struct cxx *p, char c)
{
	if (p->p == p->end || *p->p != c)
		return false;
	p->p++;
	return true;
}

static inline bool cxx_accept2(struct cxx *p, char c, char d)
{
	if (p->end - p->p < 2 || p->p[0] != c || p->p[1] != d)
		return false;
	p->p += 2;
	return true;
}

static inline uint32_t cxx_fail(struct cxx *p)
{
	p->bad = true;
	return 0;
}

static inline void cxx_expect(struct cxx *p, char c)
{
	if (!cxx_accept(p, c))
		p->bad = true;
}

static inline bool cxx_enter(struct cxx *p)
{
	if (p->bad || p->depth >= CXX_DEPTH_MAX)
		return !cxx_fail(p) && false;
	p->depth++;
	return true;
}

/* Restores the state before a failed attempt. */
static inline void cxx_back(struct cxx *p, const struct cxx *was)
{
	uint32_t read = p->read;

	*p = *was;
	p->read = read;
	p->v[0] = (struct cxx_node){ 0 };
}

/* Returns the combined flags of a node's parts. */
static inline uint8_t cxx_flags(const struct cxx *p, uint32_t a, uint32_t b)
{
	return p->v[a].flags | p->v[b].flags;
}

static inline uint32_t cxx_add(struct cxx *p, enum cxx_kind kind, uint32_t a, uint32_t b,
			       uint32_t c, unsigned flags)
{
	struct cxx_node *v = &p->v[p->n];

	if (p->n == p->max || ++p->read > CXX_READ_EACH * p->max)
		return cxx_fail(p);
	*v = (struct cxx_node){ .kind = (uint8_t)kind, .flags = (uint8_t)flags,
				.c = c, .a = a, .b = b };
	return p->n++;
}

/* demangle_cxx_node.c */
/* Adds a node with two parts, a and b. */
uint32_t cxx_node(struct cxx *p, enum cxx_kind kind, uint32_t a, uint32_t b);
uint32_t cxx_word(struct cxx *p, enum cxx_kind kind, const char *s, uint32_t c);
/* Adds a text followed by a node. */
uint32_t cxx_special(struct cxx *p, const char *s, uint32_t of);
uint32_t cxx_text(struct cxx *p, const char *s, const char *end);
void cxx_sub_add(struct cxx *p, uint32_t node);

/* A list to which items are appended. */
struct cxx_list {
	uint32_t first, last;
};
void cxx_list_add(struct cxx *p, struct cxx_list *l, uint32_t item);

/* Reads decimal digits, at least one. */
uint32_t cxx_number(struct cxx *p);
/* Reads [number] _: 0 for _, 1 for 0_. */
uint32_t cxx_number_end(struct cxx *p);
/* Reads [digits and capitals] before _, in base 36: 1 for 0. */
uint32_t cxx_base36(struct cxx *p);
const struct cxx_operator *cxx_operator_find(char c, char d);
const struct cxx_operator *cxx_operator_at(uint32_t i);
uint32_t cxx_operator_index(const struct cxx_operator *op);

/* Makes room for n more bytes of text.  Returns false if there is none. */
bool cxx_grow(struct cxx *p, uint32_t n);
void cxx_put_number(struct cxx *p, uint32_t v);
/* Returns the value of a parameter in this context; returns 0 and sets bad if
 * it has none. */
uint32_t cxx_resolve(struct cxx *p, uint32_t id);
/* Returns the first pack in a node that needs expansion; 0 if there is none. */
uint32_t cxx_pack_of(struct cxx *p, uint32_t node);
uint32_t cxx_pack_length(const struct cxx *p, uint32_t pack);

/* demangle_cxx_type.c; `of` is NULL for names that are types. */
uint32_t cxx_name(struct cxx *p, struct cxx_name *of);
uint32_t cxx_source_name(struct cxx *p);
uint32_t cxx_template_args(struct cxx *p, struct cxx_name *of);
uint32_t cxx_template_param(struct cxx *p);
uint32_t cxx_template_arg(struct cxx *p);
/* Template parameter declarations (Ty, Tn type, Tk concept, Tp, Tt … E).  The
 * first function returns whether the input is at the T of one.  The second
 * reads one after the T and sets *letter to the letter that names its
 * parameter. */
bool cxx_at_head(const struct cxx *p);
uint32_t cxx_head(struct cxx *p, char *letter);
unsigned cxx_cv_quals(struct cxx *p);

/* demangle_cxx_encoding.c */
/* Reads an encoding: of a nested symbol, or of the whole symbol (top). */
uint32_t cxx_encoding(struct cxx *p, bool top);
uint32_t cxx_unqualified(struct cxx *p, struct cxx_name *of, uint32_t module);
uint32_t cxx_tags(struct cxx *p, uint32_t name);

/* demangle_cxx_type.c */
uint32_t cxx_type(struct cxx *p);
/* Reads parameter types up to their end; a single v is an empty list. */
uint32_t cxx_parameters(struct cxx *p);

/* demangle_cxx_expr.c */
uint32_t cxx_expression(struct cxx *p);
uint32_t cxx_literal(struct cxx *p);
/* Reads a constraint.  Also returns 0 for one that uses parameters of several
 * nested templates. */
uint32_t cxx_constraint(struct cxx *p);

/* demangle_cxx_print.c */
void cxx_print(struct cxx *p, uint32_t node);

/* Must precede output that may be unbounded.  Returns false if a limit is
 * reached. */
static inline bool cxx_begin(struct cxx *p)
{
	if (p->bad || p->depth >= CXX_DEPTH_MAX ||
	    ++p->steps > CXX_STEPS_MAX) {
		p->bad = true;
		return false;
	}
	p->depth++;
	return true;
}

static inline void cxx_put(struct cxx *p, const char *s, uint32_t n)
{
	if (n > p->room - p->at && !cxx_grow(p, n))
		return;
	memcpy(p->text + p->at, s, n);
	p->at += n;
}

static inline void cxx_put_char(struct cxx *p, char c)
{
	cxx_put(p, &c, 1);
}

#define CXX_PUTS(p, s) cxx_put(p, s, sizeof(s) - 1)

static inline char cxx_last_char(const struct cxx *p)
{
	if (p->at == p->cut)	/* like c++filt, which writes no space before > here */
		return ' ';
	return (char)p->text[p->at - 1];
}

#endif
