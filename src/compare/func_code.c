// SPDX-License-Identifier: GPL-2.0-or-later
/* The instructions of functions, read on demand. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "compare/match.h"
#include "profile/symbol_order.h"
#include "symbolize/demangle/clones.h"

struct func_code {
	struct code_ngrams runs;
	bool asked, known;
};

/* Symbols of one recording. */
struct symbols {
	struct prof_symbol *v;	/* by address; NULL: not yet read */
	uint32_t *of;		/* by function (funcs): index in v, or COMPARE_NONE */
	/* By name without compiler suffixes (str): index in v of the largest symbol
	 * whose code the recording has. */
	struct u64map named;
};

struct compare_code {
	struct func_code *func[COMPARE_SIDES];	/* by function */
	struct symbols *symbols;		/* by recording */
};

int compare_code_init(struct compare_match *m)
{
	struct compare_code *c = arrays_new(&m->arrays, 1, sizeof(*c));

	m->code = c;
	if (!c)
		return -ERR_NOMEM;
	c->symbols = arrays_new(&m->arrays, m->n, sizeof(*c->symbols));
	for (int s = 0; s < COMPARE_SIDES; s++)
		c->func[s] = arrays_new(&m->arrays, m->funcs.n, sizeof(*c->func[s]));
	return m->arrays.failed ? -ERR_NOMEM : 0;
}

void compare_code_free(struct compare_match *m)
{
	struct compare_code *c = m->code;

	if (!c)
		return;
	for (int s = 0; s < COMPARE_SIDES; s++)
		for (size_t i = 0; c->func[s] && i < m->nnamed; i++)
			code_ngrams_fini(&c->func[s][i].runs);
	for (size_t r = 0; c->symbols && r < m->n; r++) {
		free(c->symbols[r].v);
		free(c->symbols[r].of);
		u64map_fini(&c->symbols[r].named);
	}
}

static bool same_base(const char *a, const char *b)
{
	size_t n = clone_base(a);

	return n == clone_base(b) && !strncmp(a, b, n);
}

/* Finds the symbol with the code of each function that has samples in its own
 * code.  The name alone could belong to several functions. */
static void find_symbols(const struct compare_match *m, size_t recording,
			 struct symbols *x)
{
	const struct profile *p = m->in[recording].p;

	for (uint32_t i = 0; i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];
		uint32_t f = profile_loc_frame(p, i), func;
		const struct prof_symbol *s;

		while (f != PROF_NONE && p->frames.v[f].outer != PROF_NONE)
			f = p->frames.v[f].outer;
		if (f == PROF_NONE || p->frames.v[f].func >= p->funcs.n)
			continue;
		func = p->frames.v[f].func;
		s = symbols_find(x->v, p->symbols.n, l->image, l->vaddr);
		if (s && same_base(profile_cstr(p, s->name),
				   profile_cstr(p, p->funcs.v[func].name))) {
			uint32_t *to = &x->of[m->func_of[recording][func]];

			if (*to == COMPARE_NONE || x->v[*to].size < s->size)
				*to = (uint32_t)(s - x->v);
		}
	}
}

/* Returns the string of a name without compiler suffixes: 0 if no function has it,
 * UINT32_MAX if out of memory. */
static uint32_t base_name(const struct compare_match *m, const char *name)
{
	size_t n = clone_base(name);
	char *base = strndup(name, n);
	uint32_t id = base ? strtab_find(m->str, base) : UINT32_MAX;

	if (base && id == UINT32_MAX)
		id = 0;
	free(base);
	return id;
}

/* Finds the symbols with code by their names. */
static int name_symbols(const struct compare_match *m, const struct profile *p,
			struct symbols *x)
{
	for (size_t i = 0; i < p->codes.n; i++) {
		const struct prof_code *c = &p->codes.v[i];
		const struct prof_symbol *s =
			symbols_find(x->v, p->symbols.n, c->image, c->vaddr);
		size_t at = s ? (size_t)(s - x->v) + 1 : 0;

		while (at-- && x->v[at].image == c->image && x->v[at].vaddr == c->vaddr) {
			uint32_t name = base_name(m, profile_cstr(p, x->v[at].name));
			uint32_t *to = name ? u64map_slot(&x->named, name) : NULL;

			if (name && (name == UINT32_MAX || !to))
				return -ERR_NOMEM;
			if (to && (*to == U64MAP_NONE || x->v[*to].size < x->v[at].size))
				*to = (uint32_t)at;
		}
	}
	return 0;
}

static int read_symbols(const struct compare_match *m, size_t recording,
			struct symbols *x)
{
	size_t bytes = (m->funcs.n + 1) * sizeof(*x->of);

	if (!x->of)
		x->of = malloc(bytes);
	if (!x->of || symbols_copy(m->in[recording].p, &x->v) < 0)
		return -ERR_NOMEM;
	memset(x->of, 0xff, bytes);
	find_symbols(m, recording, x);
	return name_symbols(m, m->in[recording].p, x);
}

const struct code_ngrams *compare_code_of(struct compare_match *m, uint32_t func,
					  int side)
{
	struct func_code *code = &m->code->func[side][func];

	for (size_t r = 0; !code->asked && r < m->n; r++) {
		struct symbols *x = &m->code->symbols[r];
		const struct profile *p = m->in[r].p;
		uint32_t at = COMPARE_NONE;
		int rc = 1;

		if (m->in[r].side != side)
			continue;
		if (!x->v && read_symbols(m, r, x) < 0) {
			m->failed = true;
			return NULL;
		}
		if (x->of[func] != COMPARE_NONE)
			rc = code_ngrams_of(p, &x->v[x->of[func]], x->v,
					    &code->runs);
		if (rc > 0 && !code->runs.whole)
			at = u64map_get(&x->named, m->funcs.v[func].name);
		if (at != COMPARE_NONE)
			rc = code_ngrams_of(p, &x->v[at], x->v, &code->runs);
		m->failed |= rc < 0;
		code->known = !rc;
		if (rc <= 0 || code->runs.whole)
			break;
	}
	code->asked = true;
	return code->known ? &code->runs : NULL;
}

uint64_t compare_code_hash(struct compare_match *m, uint32_t func, int side)
{
	compare_code_of(m, func, side);
	return m->code->func[side][func].runs.whole;
}

void compare_code_rename(struct compare_match *m, uint32_t old, uint32_t now)
{
	struct func_code *code = m->code->func[COMPARE_OLD];
	struct func_code none = code[now];

	code[now] = code[old];
	code[old] = none;
}
