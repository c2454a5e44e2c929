// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a diff: see edits.h. */
#include "check/edits.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { NAME_MAX_SHOWN = 100 };

struct text {
	const char *p;
	size_t n;
};

static bool begins(struct text t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && !memcmp(t.p, with, n);
}

static struct text trimmed(struct text t)
{
	while (t.n && isspace((unsigned char)*t.p)) {
		t.p++;
		t.n--;
	}
	while (t.n && isspace((unsigned char)t.p[t.n - 1]))
		t.n--;
	return t;
}

static bool next_line(struct text *rest, struct text *line)
{
	const char *end;

	if (!rest->n)
		return false;
	end = memchr(rest->p, '\n', rest->n);
	line->p = rest->p;
	line->n = end ? (size_t)(end - rest->p) : rest->n;
	rest->p += line->n + !!end;
	rest->n -= line->n + !!end;
	return true;
}

/* Letters of names, including those of C++ scopes and destructors. */
static bool in_name(char c)
{
	return isalnum((unsigned char)c) || strchr("_$:~", c) ||
	       (unsigned char)c >= 0x80;
}

/* Returns the name that ends at `end`, after skipping template arguments. */
static struct text name_before(struct text t, size_t end)
{
	size_t first;
	int depth = 0;

	while (end && isspace((unsigned char)t.p[end - 1]))
		end--;
	if (end && t.p[end - 1] == '>') {
		do {
			end--;
			depth += t.p[end] == '>' ? 1 : t.p[end] == '<' ? -1 : 0;
		} while (end && depth);
	}
	for (first = end; first && t.p[first - 1] && in_name(t.p[first - 1]);)
		first--;
	while (first < end && (t.p[first] == ':'))
		first++;
	return (struct text){ t.p + first, end - first };
}

static bool is_word(struct text t, const char *word)
{
	return t.n == strlen(word) && !memcmp(t.p, word, t.n);
}

/* Returns the index after the parenthesis that closes the one at `at`. */
static size_t close_of(struct text t, size_t at)
{
	int depth = 0;

	for (; at < t.n; at++) {
		depth += t.p[at] == '(' ? 1 : t.p[at] == ')' ? -1 : 0;
		if (!depth)
			return at + 1;
	}
	return t.n;
}

/* Returns the name before the parameters: int f(int), func (t *T) f(int). */
static struct text called(struct text t)
{
	for (size_t i = 0; i < t.n;) {
		struct text name;

		if (t.p[i] != '(') {
			i++;
			continue;
		}
		name = name_before(t, i);
		if (name.n && !is_word(name, "__attribute__") &&
		    !is_word(name, "func"))
			return name;
		i = close_of(t, i);
	}
	return (struct text){ t.p, 0 };
}

/* Returns whether a line is this directive of the C preprocessor, with what follows
 * its name. */
static bool directive(struct text t, const char *name, struct text *rest)
{
	size_t n = strlen(name);

	if (!begins(t, "#"))
		return false;
	t = trimmed((struct text){ t.p + 1, t.n - 1 });
	if (!begins(t, name))
		return false;
	*rest = trimmed((struct text){ t.p + n, t.n - n });
	return true;
}

static struct text declared(struct text t)
{
	static const char ends[] = "[={;:";
	struct text name = { t.p, 0 };

	if (begins(t, "#")) {
		if (!directive(t, "define", &t))
			return name;
		while (name.p = t.p, name.n < t.n && in_name(t.p[name.n]))
			name.n++;
		return name;
	}
	name = called(t);
	for (size_t i = 0; !name.n && i < t.n; i++)
		if (strchr(ends, t.p[i]) && t.p[i])
			name = name_before(t, i);
	return name.n ? name : name_before(t, t.n);
}

char *edits_name(const char *line, size_t n)
{
	struct text name = declared(trimmed((struct text){ line, n }));

	if (name.n && isdigit((unsigned char)*name.p))
		name.n = 0;
	if (name.n > NAME_MAX_SHOWN)
		name.n = NAME_MAX_SHOWN;
	return strndup(name.p, name.n);
}

/* Returns whether a line begins a function or declaration: it starts in the first
 * column, as git's own rule has it, and is neither a label nor a directive. */
static bool is_declaration(struct text t)
{
	struct text s = trimmed(t), rest;

	if (!t.n || !(isalpha((unsigned char)*t.p) || *t.p == '_' || *t.p == '$'))
		return directive(t, "define", &rest);
	/* "out:" is a label, "class X:" is not */
	if (s.p[s.n - 1] == ':' && !memchr(s.p, ' ', s.n))
		return false;
	return memchr(s.p, '(', s.n) || memchr(s.p, '{', s.n) ||
	       memchr(s.p, '=', s.n) || s.p[s.n - 1] == ':' ||
	       begins(s, "struct ") || begins(s, "class ");
}

static bool ends_with(struct text t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && !memcmp(t.p + t.n - n, with, n);
}

/* Returns whether a line is a comment of a script and no directive of C. */
static bool is_hash_comment(struct text t)
{
	static const char *const words[] = { "define", "undef", "if", "else",
		"elif", "endif", "include", "pragma" };

	struct text rest;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (directive(t, words[i], &rest))
			return false;
	return begins(t, "#");
}

/* Returns whether a change of the line cannot change what a program does. */
static bool is_comment(struct text t)
{
	bool word = false;

	t = trimmed(t);
	if (begins(t, "//") || begins(t, "* ") || begins(t, "*/") ||
	    is_word(t, "*") || is_hash_comment(t))
		return true;
	// "/* 6 */ { 8, 16 }," has code behind the comment
	if (begins(t, "/*") &&
	    (ends_with(t, "*/") || !memmem(t.p, t.n, "*/", 2)))
		return true;
	for (size_t i = 0; i < t.n; i++)
		word |= isalnum((unsigned char)t.p[i]) != 0;
	return !word;
}

/* Returns whether the file that is being read has an edit of this name. */
static bool is_known(const struct edits *e, const struct edit *d)
{
	for (size_t i = e->v.n; i-- && !strcmp(e->v.v[i].path, d->path);)
		if (!strcmp(e->v.v[i].name, d->name))
			return true;
	return false;
}

static int add(struct edits *e, struct text path, uint32_t line, struct text at)
{
	struct edit d = { .line = line ? line : 1 };
	bool known = false;

	if (e->v.n == EDITS_MAX)
		return 0;
	d.path = strndup(path.p, path.n);
	d.name = edits_name(at.p, at.n);
	if (d.path && d.name) {
		known = is_known(e, &d);
		if (!known && vec_push(&e->v, d) == 0)
			return 0;
	}
	free(d.path);
	free(d.name);
	return known ? 0 : -ERR_NOMEM;
}

/* Reads "N" or "N,M" and moves behind it. */
static bool range(struct text *t, uint32_t *first, uint32_t *count)
{
	uint64_t v[2] = { 0, 1 };

	for (int i = 0; i < 2; i++) {
		size_t digits = 0;

		v[i] = 0;
		for (; t->n && isdigit((unsigned char)*t->p); t->p++, t->n--) {
			v[i] = v[i] * 10 + (uint64_t)(*t->p - '0');
			if (v[i] > INT32_MAX)
				return false;
			digits++;
		}
		if (!digits)
			return false;
		if (i || !t->n || *t->p != ',') {
			v[1] = i ? v[1] : 1;
			break;
		}
		t->p++;
		t->n--;
	}
	*first = (uint32_t)v[0];
	*count = (uint32_t)v[1];
	return true;
}

struct hunk {
	uint32_t removed, first, added;
	struct text around;	/* the declaration before it, "" if there is none */
};

static bool read_head(struct text t, struct hunk *h)
{
	uint32_t ignored;

	if (!begins(t, "@@ -"))
		return false;
	t.p += 4;
	t.n -= 4;
	if (!range(&t, &ignored, &h->removed) || !begins(t, " +"))
		return false;
	t.p += 2;
	t.n -= 2;
	if (!range(&t, &h->first, &h->added) || !begins(t, " @@"))
		return false;
	h->around = trimmed((struct text){ t.p + 3, t.n - 3 });
	if (h->around.n && h->around.p[h->around.n - 1] == ':' &&
	    !memchr(h->around.p, ' ', h->around.n))
		h->around.n = 0;
	return true;
}

/* Reads the lines of a hunk.  What changed before its first declaration belongs to
 * the one around it. */
static int read_hunk(struct edits *e, struct text path, const struct hunk *h,
		     struct text *rest)
{
	uint32_t removed = h->removed, added = h->added, line = h->first;
	bool declared_old = false, declared_new = false, around = false;
	struct text t;
	int rc = 0;

	while (!rc && (removed || added) && next_line(rest, &t)) {
		bool old = begins(t, "-");
		struct text body = { t.p + 1, t.n ? t.n - 1 : 0 };

		if (begins(t, "\\"))
			continue;
		if (old ? !removed : !begins(t, "+") || !added)
			break;
		*(old ? &removed : &added) -= 1;
		if (old) {
			declared_old |= is_declaration(body);
			around |= !declared_old && !is_comment(body);
			continue;
		}
		if (is_declaration(body)) {
			declared_new = true;
			rc = add(e, path, line, body);
		} else if (!declared_new) {
			around |= !is_comment(body);
		}
		line++;
	}
	return !rc && around ? add(e, path, h->first, h->around) : rc;
}

int edits_parse(struct edits *e, const char *diff, size_t n)
{
	struct text rest = { diff, n }, t, path = { "", 0 };
	struct hunk h;
	int rc = 0;

	while (!rc && next_line(&rest, &t)) {
		if (begins(t, "+++ ")) {
			/* a path with spaces ends with a tab */
			path = trimmed((struct text){ t.p + 4, t.n - 4 });
			if (!begins(path, "b/") || memchr(path.p, '\0', path.n))
				path.n = 0;
			else
				path = (struct text){ path.p + 2, path.n - 2 };
		} else if (path.n && read_head(t, &h)) {
			rc = read_hunk(e, path, &h, &rest);
		}
	}
	return rc;
}

void edits_fini(struct edits *e)
{
	for (size_t i = 0; i < e->v.n; i++) {
		free(e->v.v[i].path);
		free(e->v.v[i].name);
	}
	vec_fini(&e->v);
}
