// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/kallsyms (proc(5)): "address type name [module]" a line.  The text is kept
 * and names are cut out of it in place.  Symbols of any type end the one before
 * them, so that an address in data never gets a function's name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"
#include "symbolize/range_index.h"
#include "symbolize/symbolize.h"

enum { TEXT_LIMIT = 512 << 20, PAGE = 4096 };

struct ksym {
	uint32_t name, module;	/* offsets into the text; module 0: kernel */
};

struct kallsyms {
	struct buf text;
	VEC(struct ksym) syms;
	struct range_index text_ranges;	/* id: in syms */
	VEC(uint64_t) starts;		/* of symbols of any type */
	bool nomem;
};

static const uint8_t hex_value[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6,
	['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11,
	['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Parses [p, end), one line without its newline, and cuts it into strings. */
static void parse_line(struct kallsyms *k, char *p, char *end)
{
	char *base = (char *)k->text.p, *name, *module = NULL, type;
	struct ksym s = { 0, 0 };
	uint64_t addr = 0;
	int digits;

	for (digits = 0; digits < 16 && hex_value[(uint8_t)*p]; digits++)
		addr = addr << 4 | (uint64_t)(hex_value[(uint8_t)*p++] - 1);
	if (!digits || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return;
	type = p[1];
	name = p + 3;
	for (p = name; p < end && *p != '\t' && *p != ' '; p++)
		;
	if (p < end) {
		*p++ = '\0';
		while (p < end && (*p == '[' || *p == ' ' || *p == '\t'))
			p++;
		module = p;
		p = memchr(p, ']', (size_t)(end - p));
		*(p ? p : end) = '\0';
	}
	if (vec_push(&k->starts, addr) < 0)
		k->nomem = true;
	if (!is_text(type) || !*name)
		return;
	s.name = (uint32_t)(name - base);
	s.module = module ? (uint32_t)(module - base) : 0;
	if (vec_push(&k->syms, s) < 0 ||
	    range_index_add(&k->text_ranges, addr, addr, k->syms.n - 1) < 0)
		k->nomem = true;
}

static void parse_text(struct kallsyms *k)
{
	char *p = (char *)k->text.p, *end = p + k->text.n;

	/* buf_cstr has put a NUL at end: a line may always be terminated. */
	while (p < end && !k->nomem) {
		char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			nl = end;
		*nl = '\0';
		parse_line(k, p, nl);
		p = nl + 1;
	}
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Gives each text symbol its end: the next higher start of any symbol. */
static int set_ends(struct kallsyms *k)
{
	struct range_index *x = &k->text_ranges;
	uint64_t *starts = k->starts.v;
	size_t i, next = 0, n = k->starts.n;

	for (i = 1; i < n && starts[i - 1] <= starts[i]; i++)
		;
	if (i < n)
		qsort(starts, n, sizeof(*starts), by_address);
	if (range_index_sort(x) < 0)
		return -ERR_NOMEM;
	for (i = 0; i < x->n; i++) {
		while (next < n && starts[next] <= x->v[i].lo)
			next++;
		x->v[i].hi = next < n ? starts[next]
				      : (x->v[i].lo | (PAGE - 1)) + 1;
	}
	return range_index_sort(x);
}

static bool all_hidden(const struct kallsyms *k)
{
	size_t i;

	for (i = 0; i < k->starts.n; i++)
		if (k->starts.v[i])
			return false;
	return true;
}

/* Takes k->text, already read. */
static int finish(struct kallsyms *k, const char *name, struct kallsyms **out,
		  struct error *err)
{
	size_t lines = k->text.n / 40;
	int rc = 0;

	buf_cstr(&k->text);
	if (k->text.failed || vec_reserve(&k->starts, lines) < 0 ||
	    vec_reserve(&k->syms, lines) < 0)
		k->nomem = true;
	else
		parse_text(k);
	if (k->nomem)
		rc = error_set(err, ERR_NOMEM, "%s: out of memory", name);
	else if (!k->starts.n)
		rc = error_set(err, ERR_FORMAT, "%s: no kernel symbols in it",
			       name);
	else if (all_hidden(k))
		rc = error_set(err, ERR_PERM,
			"%s: kernel addresses are hidden (kernel.kptr_restrict)"
			"; to see them: sudo sysctl kernel.kptr_restrict=0 "
			"kernel.perf_event_paranoid=1, or run with sudo", name);
	else if (set_ends(k) < 0)
		rc = error_set(err, ERR_NOMEM, "%s: out of memory", name);
	if (rc < 0) {
		kallsyms_close(k);
		return rc;
	}
	vec_fini(&k->starts);
	*out = k;
	return 0;
}

int kallsyms_open(const char *path, struct kallsyms **out, struct error *err)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	int rc;

	*out = NULL;
	if (!k)
		return error_set(err, ERR_NOMEM, "%s: out of memory", path);
	rc = io_read_file(path, TEXT_LIMIT, &k->text, err);
	if (rc < 0) {
		kallsyms_close(k);
		return rc;
	}
	return finish(k, path, out, err);
}

int kallsyms_parse(const char *text, size_t n, struct kallsyms **out,
		   struct error *err)
{
	struct kallsyms *k = calloc(1, sizeof(*k));

	*out = NULL;
	if (!k || n > TEXT_LIMIT) {
		free(k);
		return error_set(err, ERR_NOMEM, "kallsyms: out of memory");
	}
	buf_bytes(&k->text, text, n);
	return finish(k, "kallsyms", out, err);
}

void kallsyms_close(struct kallsyms *k)
{
	if (!k)
		return;
	buf_fini(&k->text);
	vec_fini(&k->syms);
	vec_fini(&k->starts);
	range_index_fini(&k->text_ranges);
	free(k);
}

/* Of aliases at one address: few leading underscores, short, alphabetic, as for
 * ELF symbols. */
static bool better_name(const char *a, const char *b)
{
	size_t bars_a = strspn(a, "_"), bars_b = strspn(b, "_");
	size_t len_a = strlen(a), len_b = strlen(b);

	if (bars_a != bars_b)
		return bars_a < bars_b;
	if (len_a != len_b)
		return len_a < len_b;
	return strcmp(a, b) < 0;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **name,
		   const char **module, uint64_t *start, uint64_t *size)
{
	const struct range_index *x = &k->text_ranges;
	const char *text = (const char *)k->text.p;
	ptrdiff_t i = range_index_find(x, addr);
	const struct range *best;

	*name = *module = "";
	*start = *size = 0;
	if (i == RANGE_NONE)
		return false;
	for (best = &x->v[i]; i >= 0 && x->v[i].lo == best->lo; i--)
		if (better_name(text + k->syms.v[x->v[i].id].name,
				text + k->syms.v[best->id].name))
			best = &x->v[i];
	*name = text + k->syms.v[best->id].name;
	if (k->syms.v[best->id].module)
		*module = text + k->syms.v[best->id].module;
	*start = best->lo;
	*size = best->hi - best->lo;
	return true;
}

uint64_t kallsyms_address(const struct kallsyms *k, const char *name)
{
	const struct range_index *x = &k->text_ranges;
	const char *text = (const char *)k->text.p;
	size_t i;

	for (i = 0; i < x->n; i++) {
		const struct ksym *s = &k->syms.v[x->v[i].id];

		if (!s->module && !strcmp(text + s->name, name))
			return x->v[i].lo;
	}
	return 0;
}
