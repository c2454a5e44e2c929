// SPDX-License-Identifier: GPL-2.0-or-later
/* Demangles whole C++ symbols: reads one, then writes it. */
#include <stdlib.h>

#include "symbolize/demangle/demangle_cxx.h"
#include "symbolize/demangle/manglings.h"

enum {
	/* Size of names whose nodes and references are on the stack. */
	SMALL_IN = 512,
	NODES_EACH = 3,		/* nodes for each byte of the name */
	SOME_NODES = 32,
};

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
