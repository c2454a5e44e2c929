// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses perf maps and looks addresses up in them. */
#include "symbolize/perfmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
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
	out->javascript = true;
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

void perfmap_split(struct perfmap_name *out, char *name)
{
	char *file;

	out->name = name;
	out->file = "";
	out->line = 0;
	out->javascript = false;
	if (split_v8(out, name) || strncmp(name, "py::", 4))
		return;
	file = strchr(name + 4, ':');
	if (!file || file == name + 4 || !file[1])
		return;
	*file = 0;
	out->name = name + 4;
	out->file = file + 1;
}

/* Parses START SIZE NAME and terminates the name with NUL. */
static bool line_parse(struct line *l, struct perfmap_name *out)
{
	if (!take_hex(l, &out->start) || !take_hex(l, &out->size) ||
	    !out->size || out->start + out->size < out->start)
		return false;
	while (l->end > l->p && (unsigned char)l->end[-1] <= ' ')
		l->end--;
	if (l->end - l->p > PERFMAP_NAME_MAX)
		l->end = l->p + PERFMAP_NAME_MAX;
	*l->end = 0;
	if (!*l->p)
		return false;
	perfmap_split(out, l->p);
	return true;
}

static size_t first_from(const uint64_t *addrs, size_t n, uint64_t addr)
{
	size_t lo = 0;

	while (n) {
		if (addrs[lo + n / 2] < addr) {
			lo += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return lo;
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

/* Names the addresses that no later line has named. */
static void apply(const struct perfmap_name *line, const uint64_t *addrs,
		  size_t n, size_t *next, struct perfmap_name *out)
{
	size_t i = next_free(next, first_from(addrs, n, line->start));

	while (i < n && addrs[i] - line->start < line->size) {
		out[i] = *line;
		next[i] = i + 1;
		i = next_free(next, i + 1);
	}
}

/* Processes lines from last to first, so that the last line for an address
 * wins. */
int perfmap_resolve(char *text, size_t size, const uint64_t *addrs, size_t n,
		    struct perfmap_name *out)
{
	size_t *next = malloc((n + 1) * sizeof(*next));
	char *end = text + size;

	if (!next)
		return -ERR_NOMEM;
	for (size_t i = 0; i <= n; i++)
		next[i] = i;
	memset(out, 0, n * sizeof(*out));
	/* Text after the last newline may be incomplete. */
	end = size ? memrchr(text, '\n', size) : NULL;
	while (end) {
		char *before = memrchr(text, '\n', (size_t)(end - text));
		struct line l = { before ? before + 1 : text, end };
		struct perfmap_name name;

		if (line_parse(&l, &name))
			apply(&name, addrs, n, next, out);
		end = before;
	}
	free(next);
	return 0;
}
