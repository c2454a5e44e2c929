// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches names given by the user with names of a profile. */
#include "views/query/match.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle/demangle.h"
#include "compare/identity.h"

enum { WORDS_MAX = 64 };	/* number of bits of a mask */

/* Matches one character (? any, \ quotes the next one) and passes both.  A character
 * of UTF-8 ends before the next byte that is not 10xxxxxx. */
static bool match_char(const char **pattern, const char **text)
{
	const char *p = *pattern, *t = *text;

	if (!*t)
		return false;
	if (*p == '?') {
		for (t++; ((uint8_t)*t & 0xc0) == 0x80; t++)
			;
	} else {
		p += *p == '\\' && p[1];
		if (*p != *t++)
			return false;
	}
	*pattern = p + 1;
	*text = t;
	return true;
}

/* Only the last * has to be tried at other places: if what follows an earlier one
 * matches somewhere, its first match leaves the most text to the rest.  fnmatch tries
 * all places of all of them. */
static bool match_pattern(const char *pattern, const char *text)
{
	const char *after = NULL, *from = text;

	while (*text || *pattern) {
		if (*pattern == '*') {
			after = ++pattern;
			from = text;
		} else if (!*pattern || !match_char(&pattern, &text)) {
			if (!after || !*from)
				return false;
			pattern = after;
			text = ++from;
		}
	}
	return true;
}

bool match_word(const char *pattern, const char *text)
{
	return !strcmp(pattern, text) ||
	       (strpbrk(pattern, "*?") && match_pattern(pattern, text));
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

/* Appends the bare name: "ns::cls<…>::method(…) const" -> "method". */
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

/* Returns whether `word` is the end of a path, in whole components. */
static bool is_path(const char *path, const char *word, size_t n)
{
	struct buf normal = { 0 }, end = { 0 };
	bool is;

	path_normal(path, &normal);
	buf_bytes(&end, word, n);
	is = path_ends_with(buf_cstr(&normal), buf_cstr(&end));
	buf_fini(&normal);
	buf_fini(&end);
	return is;
}

static bool is_image(const struct prof_image *im, const char *path,
		     const char *word, size_t n)
{
	const char *tag = memmem(word, n, " [", 2);
	struct buf id = { 0 };
	bool is;

	if (!tag || word[n - 1] != ']')
		return is_path(path, word, n);
	buf_hex(&id, im->build_id.bytes, im->build_id.len);
	is = is_path(path, word, (size_t)(tag - word)) &&
	     !strncmp(buf_cstr(&id), tag + 2,
		      n - 3 - (size_t)(tag - word));
	buf_fini(&id);
	return is;
}

/* Returns whether `word` is one part of a label that distinguishes functions: a
 * file, file:line, image, 0x1180, image+0x1180 or file+0x1180. */
static bool is_place(const struct profile *p, const struct prof_func *f,
		     const char *word, size_t n)
{
	const struct prof_image *im = &p->images.v[f->image];
	const char *image = profile_cstr(p, im->path);
	const char *file = profile_cstr(p, f->file), *s;
	char *end;

	for (s = word + n; s > word && s[-1] != ':' && s[-1] != '+'; s--)
		;
	if (s > word && s[-1] == ':' && strtoul(s, &end, 10) == f->line &&
	    f->line && end == word + n)
		return is_path(file, word, (size_t)(s - 1 - word));
	if (n - (size_t)(s - word) > 2 && !strncmp(s, "0x", 2) && f->vaddr &&
	    strtoull(s, &end, 16) == f->vaddr && end == word + n)
		return s == word ||
		       is_path(file, word, (size_t)(s - 1 - word)) ||
		       is_image(im, image, word, (size_t)(s - 1 - word));
	return is_path(file, word, n) || is_image(im, image, word, n);
}

/* Returns whether all parts, separated by ", ", apply to the function. */
static bool is_placed(const struct profile *p, const struct prof_func *f,
		      const char *place, size_t n)
{
	const char *end = place + n, *next;

	for (; place < end; place = next ? next + 2 : end) {
		next = memmem(place, (size_t)(end - place), ", ", 2);
		if (!is_place(p, f, place,
			      (size_t)((next ? next : end) - place)))
			return false;
	}
	return n > 0;
}

/* Splits "process (a.c)" or "a.c:process" into name and place.  Returns false
 * if it is a name only. */
static bool split_word(const char *word, struct buf *name, const char **place,
		       size_t *n)
{
	const char *end = word + strlen(word), *s = strstr(word, " (");

	for (; s && strstr(s + 1, " ("); s = strstr(s + 1, " ("))
		;
	if (s && s > word && end[-1] == ')' && end - s > 3) {
		buf_bytes(name, word, (size_t)(s - word));
		*place = s + 2;
		*n = (size_t)(end - 1 - *place);
		return true;
	}
	for (s = strchr(word, ':'); s && s[1] == ':'; s = strchr(s + 2, ':'))
		;
	if (!s || s == word || !s[1])
		return false;
	buf_str(name, s + 1);
	*place = word;
	*n = (size_t)(s - word);
	return true;
}

static bool names_placed(const struct profile *p, uint32_t func,
			 struct forms *f, const char *word)
{
	struct buf name = { 0 };
	const char *place;
	size_t n;
	bool is = split_word(word, &name, &place, &n) &&
		  is_exact(f, buf_cstr(&name)) &&
		  is_placed(p, &p->funcs.v[func], place, n);

	buf_fini(&name);
	return is;
}

bool match_placed(const struct profile *p, uint32_t func, const char *word)
{
	struct forms f = { .stored = NULL };
	bool is;

	make_forms(&f, profile_cstr(p, p->funcs.v[func].name));
	is = names_placed(p, func, &f, word);
	forms_fini(&f);
	return is;
}

/* Words that each function matches, as masks. */
struct matched {
	uint64_t exact, part;
};

static struct matched match_function(const struct profile *p, uint32_t func,
				     struct forms *f, const struct name_list *l)
{
	struct matched m = { 0, 0 };

	make_forms(f, profile_cstr(p, p->funcs.v[func].name));
	for (size_t k = 0; k < l->n; k++) {
		if (is_exact(f, l->v[k]) || names_placed(p, func, f, l->v[k]))
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
		return error_nomem(err);
	for (uint32_t i = 0; i < p->funcs.n; i++) {
		m[i] = match_function(p, i, &f, l);
		exact |= m[i].exact;
	}
	for (size_t i = 0; i < p->funcs.n; i++)
		ok[i] = m[i].exact || (m[i].part & ~exact);
	forms_fini(&f);
	free(m);
	return 0;
}
