// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and searches lists of allowed changes: see allow.h. */
#include "check/allow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "views/query/match.h"
#include "views/query/names.h"

enum { ALLOW_BYTES_MAX = 1 << 20, ALLOW_MAX = 10000 };

static int bad(struct error *err, const char *name, unsigned int line,
	       const char *what)
{
	return error_set(err, ERR_USAGE, "%s:%u: %s (a line is: FUNCTION "
			 "[+PERCENT%%] -- REASON)", name, line, what);
}

static char *trimmed(const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == '\t')) {
		s++;
		n--;
	}
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
		n--;
	return strndup(s, n);
}

/* Parses and removes " +12%" at the end of a pattern. */
static bool take_limit(char *pattern, double *limit)
{
	size_t n = strlen(pattern);
	char *plus, *end;

	*limit = -1;
	if (!n || pattern[n - 1] != '%')
		return true;
	plus = strrchr(pattern, ' ');
	if (!plus || plus[1] != '+')
		return true;
	*limit = strtod(plus + 2, &end) / 100;
	if (end != pattern + n - 1 || end == plus + 2 || !(*limit >= 0) ||
	    !isfinite(*limit))
		return false;
	while (plus > pattern && plus[-1] == ' ')
		plus--;
	*plus = '\0';
	return true;
}

static int parse_line(const char *s, size_t n, const char *name,
		      unsigned int line, struct allow_list *out,
		      struct error *err)
{
	const char *dash = memmem(s, n, " -- ", 4);
	struct allowed a = { .line = line };
	int rc = 0;

	if (!dash)
		return bad(err, name, line, "has no reason");
	a.pattern = trimmed(s, (size_t)(dash - s));
	a.reason = trimmed(dash + 4, n - (size_t)(dash - s) - 4);
	if (!a.pattern || !a.reason)
		rc = error_nomem(err);
	else if (!take_limit(a.pattern, &a.limit))
		rc = bad(err, name, line, "the percentage is not a number");
	else if (!*a.pattern)
		rc = bad(err, name, line, "has no function name");
	else if (!*a.reason)
		rc = bad(err, name, line, "has no reason");
	else if (out->v.n >= ALLOW_MAX)
		rc = bad(err, name, line, "too many lines");
	else if (vec_push(&out->v, a) < 0)
		rc = error_nomem(err);
	if (!rc)
		return 0;
	free(a.pattern);
	free(a.reason);
	return rc;
}

int allow_parse(const char *text, size_t n, const char *name,
		struct allow_list *out, struct error *err)
{
	unsigned int line = 0;
	int rc = 0;

	*out = (struct allow_list){ { 0 } };
	if (memchr(text, 0, n))
		rc = error_set(err, ERR_USAGE, "%s: is not a text file", name);
	while (!rc && n) {
		const char *nl = memchr(text, '\n', n);
		size_t len = nl ? (size_t)(nl - text) : n, skip = 0;

		line++;
		while (skip < len && strchr(" \t\r", text[skip]))
			skip++;
		if (skip < len && text[skip] != '#')
			rc = parse_line(text + skip, len - skip, name, line,
					out, err);
		text += len + (nl != NULL);
		n -= len + (nl != NULL);
	}
	if (rc < 0)
		allow_fini(out);
	return rc;
}

int allow_read(const char *path, struct allow_list *out, struct error *err)
{
	struct buf b = { 0 };
	int rc = io_read_file(path, ALLOW_BYTES_MAX, &b, err);

	*out = (struct allow_list){ { 0 } };
	if (!rc)
		rc = allow_parse(buf_cstr(&b), b.n, path, out, err);
	buf_fini(&b);
	return rc;
}

void allow_fini(struct allow_list *l)
{
	for (size_t i = 0; i < l->v.n; i++) {
		free(l->v.v[i].pattern);
		free(l->v.v[i].reason);
	}
	vec_fini(&l->v);
}

const struct allowed *allow_find(const struct allow_list *l, const char *name,
				 const char *linkage, double ratio)
{
	const struct allowed *found = NULL;
	struct buf shorter = { 0 };
	const char *names[] = { name, linkage, "" };

	if (!l)
		return NULL;
	name_shorten(name, &shorter);
	names[2] = buf_cstr(&shorter);
	for (size_t i = 0; !found && i < l->v.n; i++) {
		const struct allowed *a = &l->v.v[i];

		if (a->limit >= 0 && !(ratio <= 1 + a->limit))
			continue;
		for (size_t k = 0; !found && k < 3; k++)
			if (!strcmp(a->pattern, names[k]) ||
			    match_word(a->pattern, names[k]))
				found = a;
	}
	buf_fini(&shorter);
	return found;
}
