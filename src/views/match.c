// SPDX-License-Identifier: GPL-2.0-or-later
/* Matching names: see match.h. */
#include "views/match.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbolize.h"

enum { WORDS_MAX = 64 };	/* bits of a mask */

bool match_word(const char *pattern, const char *text)
{
	return !strcmp(pattern, text) ||
	       (strpbrk(pattern, "*?") && !fnmatch(pattern, text, 0));
}

bool match_symbol_part(const struct name_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strstr(name, l->v[i]) || match_word(l->v[i], name))
			return true;
	return false;
}

/* The forms of one function's name. */
struct forms {
	const char *stored;
	struct buf full, shown, bare;
};

/* "ns::cls<…>::method(…) const" -> "method" */
static void make_bare(const char *shown, struct buf *out)
{
	const char *start = shown, *end, *s;
	int depth = 0;

	for (s = shown; *s; s++) {
		if (*s == '<')
			depth++;
		else if (*s == '>' && depth)
			depth--;
		else if (!depth && *s == '(' && s > start)
			break;
		else if (!depth && s[0] == ':' && s[1] == ':')
			start = s + 2;
	}
	end = s;
	for (s = start; s < end && *s != '<'; s++)
		;
	buf_bytes(out, start, (size_t)((s > start ? s : end) - start));
}

static void make_forms(struct forms *f, const char *stored)
{
	f->stored = stored;
	buf_reset(&f->full);
	buf_reset(&f->shown);
	buf_reset(&f->bare);
	demangle(stored, &f->full);
	demangle_short(buf_cstr(&f->full), &f->shown);
	make_bare(buf_cstr(&f->shown), &f->bare);
}

static void forms_fini(struct forms *f)
{
	buf_fini(&f->full);
	buf_fini(&f->shown);
	buf_fini(&f->bare);
}

static bool is_exact(struct forms *f, const char *word)
{
	return match_word(word, f->stored) ||
	       match_word(word, buf_cstr(&f->full)) ||
	       match_word(word, buf_cstr(&f->shown)) ||
	       match_word(word, buf_cstr(&f->bare));
}

static bool is_part(struct forms *f, const char *word)
{
	return strstr(f->stored, word) || strstr(buf_cstr(&f->full), word) ||
	       strstr(buf_cstr(&f->shown), word);
}

/* What words a function matches, as masks. */
struct matched {
	uint64_t exact, part;
};

static struct matched match_function(struct forms *f, const char *stored,
				     const struct name_list *l)
{
	struct matched m = { 0, 0 };

	make_forms(f, stored);
	for (size_t k = 0; k < l->n; k++) {
		if (is_exact(f, l->v[k]))
			m.exact |= 1ull << k;
		else if (is_part(f, l->v[k]))
			m.part |= 1ull << k;
	}
	return m;
}

int match_functions(const struct profile *p, const struct name_list *l,
		    uint8_t *ok, struct error *err)
{
	struct matched *m = calloc(p->funcs.n + 1, sizeof(*m));
	struct forms f = { .stored = NULL };
	uint64_t exact = 0;

	if (l->n > WORDS_MAX) {
		free(m);
		return error_set(err, ERR_USAGE, "--symbol: at most %d of them",
				 WORDS_MAX);
	}
	if (!m)
		return error_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < p->funcs.n; i++) {
		m[i] = match_function(&f, profile_cstr(p, p->funcs.v[i].name),
				      l);
		exact |= m[i].exact;
	}
	for (size_t i = 0; i < p->funcs.n; i++)
		ok[i] = m[i].exact || (m[i].part & ~exact);
	forms_fini(&f);
	free(m);
	return 0;
}
