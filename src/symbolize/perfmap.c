// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses perf maps and looks addresses up in them. */
#include "symbolize/perfmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"

/* One line, without its newline. */
struct line {
	char *p, *end;
};

/* Reads a hexadecimal number, with or without 0x, and the blanks after it. */
static bool take_hex(struct line *l, uint64_t *out)
{
	char *start;
	uint64_t v = 0;

	if (l->end - l->p > 2 && l->p[0] == '0' && (l->p[1] | 32) == 'x')
		l->p += 2;
	for (start = l->p; l->p < l->end; l->p++) {
		int c = *l->p | 32;
		int d = *l->p >= '0' && *l->p <= '9' ? *l->p - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (d < 0)
			break;
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*out = v;
	if (l->p == start || l->p == l->end || (*l->p != ' ' && *l->p != '\t'))
		return false;
	while (l->p < l->end && (*l->p == ' ' || *l->p == '\t'))
		l->p++;
	return l->p < l->end;
}

/* Reads the line from "…:LINE:COLUMN".  Returns the position of its colon, or
 * NULL if there is none. */
static char *line_of(char *text, uint32_t *line)
{
	char *at[2] = { NULL, NULL }, *p = text + strlen(text);
	unsigned long v;

	for (int i = 0; i < 2; i++) {
		char *end = p;

		while (p > text && p[-1] >= '0' && p[-1] <= '9')
			p--;
		if (p == end || p == text || *--p != ':')
			return NULL;
		at[i] = p;
	}
	v = strtoul(at[1] + 1, NULL, 10);
	*line = v < UINT32_MAX ? (uint32_t)v : 0;
	return at[1];
}

/* Returns the start of the file name after a function name; both may contain
 * blanks. */
static char *file_in(char *text)
{
	static const char *const starts[] = { " /", " file:///", " node:" };
	char *best = NULL;

	for (size_t i = 0; i < COUNT(starts); i++) {
		char *p = strstr(text, starts[i]);

		if (p && (!best || p < best))
			best = p;
	}
	return best ? best : strrchr(text, ' ');
}

static bool split_v8(struct perfmap_name *out, char *name)
{
	static const char *const kinds[] = { "JS:", "LazyCompile:", "Function:",
					     "Script:", "Eval:" };
	char *end, *file;
	size_t n = 0;

	for (size_t i = 0; !n && i < COUNT(kinds); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			n = strlen(kinds[i]);
	if (!n)
		return false;
	out->runtime = PERFMAP_V8;
	end = line_of(name + n, &out->line);
	file = end ? file_in(name + n) : NULL;
	if (!file || file >= end) {
		out->line = 0;
		return true;
	}
	name += n;
	while (name < file && strchr("*~^+", *name))
		name++;
	*end = *file++ = 0;
	out->name = *name ? name : "<anonymous>";
	out->file = strncmp(file, "file://", 7) ? file : file + 7;
	return true;
}

static bool split_dotnet(struct perfmap_name *out, char *name)
{
	char *assembly = strchr(name, '['), *class, *tier;
	size_t n;

	class = assembly ? strstr(assembly, "] ") : NULL;
	tier = class && strstr(class, "::") ? strrchr(class, ')') : NULL;
	if (!tier)
		return false;
	n = strlen(++tier);
	if (n && (*tier != '[' || strchr(tier, ']') != tier + n - 1))
		return false;
	*tier = 0;
	out->runtime = PERFMAP_DOTNET;
	return true;
}

void perfmap_split(struct perfmap_name *out, char *name)
{
	char *file;

	out->name = name;
	out->file = "";
	out->line = 0;
	out->runtime = PERFMAP_OTHER;
	if (split_v8(out, name) || split_dotnet(out, name) ||
	    strncmp(name, "py::", 4))
		return;
	file = strchr(name + 4, ':');
	if (!file || file == name + 4 || !file[1])
		return;
	*file = 0;
	out->name = name + 4;
	out->file = file + 1;
}

bool perfmap_parse(char *start, char *end, struct perfmap_name *out)
{
	struct line l = { start, end };

	if (!take_hex(&l, &out->start) || !take_hex(&l, &out->size) ||
	    !out->size || out->start + out->size < out->start)
		return false;
	while (l.end > l.p && (unsigned char)l.end[-1] <= ' ')
		l.end--;
	if (l.end - l.p > PERFMAP_NAME_MAX)
		l.end = l.p + PERFMAP_NAME_MAX;
	*l.end = 0;
	if (!*l.p)
		return false;
	perfmap_split(out, l.p);
	return true;
}

/* Returns the first address from i on without a name; shortens the path to it
 * for later calls. */
static size_t next_free(size_t *next, size_t i)
{
	size_t end = i;

	while (next[end] != end)
		end = next[end];
	while (next[i] != end) {
		size_t k = next[i];

		next[i] = end;
		i = k;
	}
	return end;
}

/* Addresses to name. */
struct addresses {
	const uint64_t *v;
	size_t n;
	size_t *next;		/* see next_free */
	struct perfmap_name *names;
};

/* Names the addresses that have no name yet. */
static void apply(const struct perfmap_name *line, struct addresses *a)
{
	size_t i;

	lower_bound(i, 0, a->n, a->v[i] < line->start);
	i = next_free(a->next, i);
	while (i < a->n && a->v[i] - line->start < line->size) {
		a->names[i] = *line;
		a->next[i] = i + 1;
		i = next_free(a->next, i + 1);
	}
}

/* Processes the lines of a part from last to first, so that the last line for an address
 * wins. */
static void resolve_part(char *text, size_t size, struct addresses *a)
{
	/* Text after the last newline may be incomplete. */
	char *end = size ? memrchr(text, '\n', size) : NULL;

	while (end) {
		char *before = memrchr(text, '\n', (size_t)(end - text));
		struct perfmap_name name;

		if (perfmap_parse(before ? before + 1 : text, end, &name))
			apply(&name, a);
		end = before;
	}
}

int perfmap_resolve(char *text, size_t size, const struct perfmap_parts *parts,
		    const uint64_t *addrs, size_t n, struct perfmap_name *out)
{
	struct addresses a = { addrs, n, malloc((n + 1) * sizeof(*a.next)), out };
	size_t at = 0;

	if (!a.next)
		return -ERR_NOMEM;
	for (size_t i = 0; i <= n; i++)
		a.next[i] = i;
	memset(out, 0, n * sizeof(*out));
	for (size_t i = 0; parts && i < parts->n; i++) {
		uint64_t end = parts->ends[i];

		if (end <= parts->from || end - parts->from > size ||
		    end - parts->from < at)
			continue;
		resolve_part(text + at, (size_t)(end - parts->from) - at, &a);
		at = (size_t)(end - parts->from);
	}
	resolve_part(text + at, size - at, &a);
	free(a.next);
	return 0;
}
