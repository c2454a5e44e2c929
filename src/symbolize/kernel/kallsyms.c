// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads /proc/kallsyms (proc(5)): lines of "address type name [module]".  The
 * text of symbols that are kept stays in memory, and names are terminated in place.
 *
 * The table has no sizes.  Symbols of any type end the previous one.  So an
 * address in data never gets a function's name, and code after a module is not
 * attributed to it.  Code that the kernel generated is also listed under module
 * names: "bpf", "__builtin__ftrace", "__builtin__kprobes" (kernel/kallsyms.c).
 */
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/search.h"
#include "base/text.h"
#include "base/vec.h"
#include "symbolize/dwarf/range_index.h"
#include "symbolize/kernel/kallsyms.h"

/* Returns the value of eight hexadecimal digits, without a loop: a table has
 * millions. */
static uint64_t eight_digits(const char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	v = be64toh(v);
	/* the low bits of a letter are its value less 9 */
	v = (v & 0x0f0f0f0f0f0f0f0full) + (v >> 6 & 0x0101010101010101ull) * 9;
	v = (v | v >> 4) & 0x00ff00ff00ff00ffull;
	v = (v | v >> 8) & 0x0000ffff0000ffffull;
	return (v | v >> 16) & 0xffffffffull;
}

/* Returns the value of the 16 hexadecimal digits at p.  With other characters, the value
 * is undefined. */
static uint64_t kallsyms_digits(const char *p)
{
	return eight_digits(p) << 32 | eight_digits(p + 8);
}

/* Returns the start of the line that ends before `at`, not before `least`. */
static size_t line_before(const char *text, size_t least, size_t at)
{
	const char *nl = at > least + 1
		? memrchr(text + least, '\n', at - 1 - least) : NULL;

	return nl ? (size_t)(nl + 1 - text) : least;
}

/* Reads the address of the line at `at`; false if it has none. */
static bool line_address(const char *text, size_t n, size_t at, uint64_t *out)
{
	if (at >= n || n - at < 20 || text[at + 16] != ' ')
		return false;
	*out = kallsyms_digits(text + at);
	return true;
}

/* Copies the lines of the symbol that covers an address, and the next line, from a
 * table sorted by address.  *done: end of the lines that were copied before, and
 * *end: the address of the last of them. */
static bool copy_lines(const char *text, size_t n, uint64_t addr, size_t *done,
		       uint64_t *end, struct buf *out)
{
	size_t lo = *done, hi = n, first, from;
	uint64_t at, group;
	const char *nl;

	if (addr < *end)
		return true;
	while (lo < hi) {
		size_t line = line_before(text, lo, lo + (hi - lo) / 2 + 1);

		if (!line_address(text, n, line, &at))
			return false;
		nl = memchr(text + line, '\n', n - line);
		if (at > addr)
			hi = line;
		else
			lo = nl ? (size_t)(nl + 1 - text) : n;
	}
	nl = lo < n ? memchr(text + lo, '\n', n - lo) : NULL;
	if (!lo || !nl || memchr(text + lo, '\t', (size_t)(nl - (text + lo))))
		return false;
	first = line_before(text, 0, lo);
	if (!line_address(text, n, first, &group) || group > addr ||
	    !line_address(text, n, lo, end) || *end <= addr)
		return false;
	for (from = first; from > *done; from = first) {
		first = line_before(text, 0, from);
		if (!line_address(text, n, first, &at) || at != group)
			break;
	}
	from = from > *done ? from : *done;
	*done = (size_t)(nl + 1 - text);
	buf_bytes(out, text + from, *done - from);
	return !out->failed;
}

/* Copies from a file the lines of the symbols at `text` and at the n addresses
 * text + offsets[i], in ascending order, each with the next line, whose address ends the
 * symbol.  Returns false if the file lacks any of them.  The file is assumed to be sorted
 * by address, as the kernel's own symbols are. */
static bool kallsyms_copy_lines(const char *path, uint64_t text,
				const uint64_t *offsets, size_t n,
				struct buf *out)
{
	struct io_map map = { 0 };
	struct error ignored;
	uint64_t end = 0;
	size_t done = 0;
	bool good = text && !io_map_file(path, &map, &ignored);

	if (good)
		good = copy_lines((const char *)map.p, map.n, text, &done, &end,
				  out);
	for (size_t i = 0; good && i < n; i++)
		good = offsets[i] <= UINT64_MAX - text &&
		       copy_lines((const char *)map.p, map.n,
				  text + offsets[i], &done, &end, out);
	io_unmap(&map);
	return good;
}

enum { TEXT_LIMIT = 512 << 20, PAGE = 4096, BPF_MAX = 64 << 10 };

struct ksym {
	uint32_t name, module;	/* offsets into the text; module 0: kernel */
	char type;		/* as in nm(1) */
};

struct kstart {
	uint64_t addr;
	uint32_t module;
};

struct kallsyms {
	struct buf text;
	VEC(struct ksym) syms;
	struct range_index text_ranges;	/* id: in syms */
	VEC(struct kstart) starts;	/* starts of symbols of any type */
	uint32_t module;		/* module of the previous line */
	size_t parsed;			/* bytes of `text` */
	size_t kept;			/* end of the last line that was parsed */
	uint64_t reach, first;		/* first: address of _text, once known */
	bool enough;			/* the rest is not needed */
	bool nomem;
	/* For kallsyms_open_some; NULL: all symbols are kept. */
	const uint64_t *offsets;
	size_t noffsets, offset;	/* `offset`: the next one */
	size_t group;			/* position of the first line with the same
					 * address as the previous line */
	uint64_t group_addr;
	bool unfit;		/* a line that addresses cannot identify */
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

/* Returns one offset for all symbols of a module, which are adjacent. */
static uint32_t module_of(struct kallsyms *k, const char *module)
{
	const char *base = (const char *)k->text.p;

	if (!module || !*module)
		return 0;
	if (!k->module || strcmp(base + k->module, module))
		k->module = (uint32_t)(module - base);
	return k->module;
}

/* Returns whether a line is the first one behind all addresses that are needed. */
static bool is_behind(struct kallsyms *k, const struct kstart *s, const char *name)
{
	if (s->module || k->reach == KALLSYMS_ALL)
		return false;
	if (!k->first && !strcmp(name, "_text"))
		k->first = s->addr;
	return k->first && s->addr > k->first &&
	       s->addr - k->first > k->reach;
}

/* Parses [p, end), one line without its newline, and cuts it into strings. */
static void parse_line(struct kallsyms *k, char *p, char *end)
{
	char *base = (char *)k->text.p, *name, *module = NULL, type;
	struct kstart start = { 0, 0 };
	struct ksym s;
	uint64_t addr = 0;
	int digits;

	k->kept = (size_t)(end + 1 - base);
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
	start.addr = addr;
	start.module = module_of(k, module);
	if (vec_push(&k->starts, start) < 0)
		k->nomem = true;
	k->enough = is_behind(k, &start, name);
	/* $x, $d: mark the kind of code that follows (ELF for the Arm
	 * architecture) */
	if (!is_text(type) || !*name || *name == '$')
		return;
	s.name = (uint32_t)(name - base);
	s.module = start.module;
	s.type = type;
	if (vec_push(&k->syms, s) < 0 ||
	    range_index_add(&k->text_ranges, addr, addr, k->syms.n - 1) < 0)
		k->nomem = true;
}

/* Returns whether any of the wanted addresses is at or behind the current group and
 * before `end`. */
static bool is_wanted(struct kallsyms *k, uint64_t end)
{
	uint64_t at = k->group_addr - k->first;

	if (!k->first || k->group_addr < k->first)
		return false;
	while (k->offset < k->noffsets && k->offsets[k->offset] < at)
		k->offset++;
	return k->group_addr == k->first ||
	       (k->offset < k->noffsets &&
		k->offsets[k->offset] < end - k->first);
}

/* Parses the lines of the current group, which end at `end`. */
static void parse_group(struct kallsyms *k, size_t end)
{
	for (size_t at = k->group; at < end;) {
		char *p = (char *)k->text.p + at;
		char *nl = memchr(p, '\n', end - at);

		if (!nl)
			break;
		*nl = '\0';
		at += (size_t)(nl + 1 - p);
		parse_line(k, p, nl);
	}
}

/* Looks at the address of a line, [p, nl).  A group of lines with one address is
 * parsed once the next address is known, together with the line that has it. */
static void skim_line(struct kallsyms *k, char *p, char *nl)
{
	static const char text[] = " T _text";
	enum { DIGITS = 16 };
	const char *base = (const char *)k->text.p;
	size_t at = (size_t)(p - base);
	uint64_t addr = 0;

	if (nl - p < DIGITS + 4)
		return;
	if (at && !memcmp(p, base + k->group, DIGITS)) {
		addr = k->group_addr;
	} else {
		addr = kallsyms_digits(p);
		k->unfit |= addr < k->group_addr;
		if (is_wanted(k, addr)) {
			/* parsing it twice would lose the module's name */
			k->unfit |= memchr(p, '\t', (size_t)(nl - p)) != NULL;
			parse_group(k, at);
			*nl = '\0';
			parse_line(k, p, nl);
			*nl = '\n';
		}
		k->group = at;
		k->group_addr = addr;
	}
	if (!k->first && nl - p == DIGITS + sizeof(text) - 1 &&
	    !memcmp(p + DIGITS, text, sizeof(text) - 1))
		k->first = addr;
}

/* Removes the text between the last line that was parsed and the current group: most of
 * several megabytes. */
static void drop_text(struct kallsyms *k)
{
	size_t n = k->group > k->kept ? k->group - k->kept : 0;

	if (!n)
		return;
	memmove(k->text.p + k->kept, k->text.p + k->group, k->text.n - k->group);
	k->text.n -= n;
	k->parsed -= n;
	k->group -= n;
}

/* Parses the whole lines that were read. */
static bool parse_more(void *ctx)
{
	struct kallsyms *k = ctx;

	while (k->offsets && k->parsed < k->text.n && !k->nomem && !k->enough &&
	       !k->unfit) {
		char *p = (char *)k->text.p + k->parsed;
		char *nl = memchr(p, '\n', k->text.n - k->parsed);

		if (!nl)
			break;
		k->parsed += (size_t)(nl + 1 - p);
		skim_line(k, p, nl);
	}
	while (!k->offsets && k->parsed < k->text.n && !k->nomem && !k->enough) {
		char *p = (char *)k->text.p + k->parsed;
		char *nl = memchr(p, '\n', k->text.n - k->parsed);

		if (!nl)
			break;
		*nl = '\0';
		k->parsed += (size_t)(nl + 1 - p);
		parse_line(k, p, nl);
	}
	if (k->offsets)
		drop_text(k);
	return k->nomem || k->enough;
}

static int by_address(const void *a, const void *b)
{
	const struct kstart *x = a, *y = b;

	return ascending(x->addr, y->addr) ?: ascending(x->module, y->module);
}

/* Returns the maximum end of a module's last symbol.  The table does not
 * contain it, and unrelated code may follow.  Only its own page and the next
 * one are included; pages for probes and trampolines are single; a BPF program
 * may be long. */
static uint64_t last_end(const struct kallsyms *k, const struct ksym *s,
			 uint64_t lo)
{
	const char *module = (const char *)k->text.p + s->module;
	uint64_t most = PAGE, end;

	if (s->module && !strncmp(module, "__builtin__", 11))
		most = 1;
	else if (s->module && !strcmp(module, "bpf"))
		most = BPF_MAX;
	end = ((lo + most - 1) | (PAGE - 1)) + 1;
	return end > lo ? end : UINT64_MAX;
}

/* Gives each text symbol its end: the next higher start of any symbol of the
 * same module. */
static int set_ends(struct kallsyms *k)
{
	struct range_index *x = &k->text_ranges;
	const struct kstart *starts = k->starts.v;
	size_t i, next = 0, n = k->starts.n;

	for (i = 1; i < n && starts[i - 1].addr <= starts[i].addr; i++)
		;
	if (i < n)
		qsort(k->starts.v, n, sizeof(*starts), by_address);
	if (range_index_sort(x) < 0)
		return -ERR_NOMEM;
	for (i = 0; i < x->n; i++) {
		const struct ksym *s = &k->syms.v[x->v[i].id];

		while (next < n && starts[next].addr <= x->v[i].lo)
			next++;
		x->v[i].hi = next < n ? starts[next].addr : UINT64_MAX;
		if (next == n || starts[next].module != s->module) {
			uint64_t end = last_end(k, s, x->v[i].lo);

			if (end < x->v[i].hi)
				x->v[i].hi = end;
		}
	}
	return range_index_sort(x);
}

static bool all_hidden(const struct kallsyms *k)
{
	size_t i;

	for (i = 0; i < k->starts.n; i++)
		if (k->starts.v[i].addr)
			return false;
	return true;
}

/* Parses the rest of k->text, which was already read. */
static int finish(struct kallsyms *k, const char *name, struct kallsyms **out,
		  struct error *err)
{
	int rc = 0;

	/* The last line may have no newline. */
	if (!k->enough)
		buf_u8(&k->text, '\n');
	if (k->text.failed)
		k->nomem = true;
	parse_more(k);
	if (k->offsets && is_wanted(k, UINT64_MAX) && !k->enough)
		parse_group(k, k->text.n);
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

static struct kallsyms *begin(const struct kallsyms *want, const char *name,
			      struct error *err)
{
	struct kallsyms *k = malloc(sizeof(*k));

	if (k)
		*k = *want;
	else
		error_set(err, ERR_NOMEM, "%s: out of memory", name);
	return k;
}

/* Reads a table with the given members set. */
static int read_table(int fd, const char *name, const struct kallsyms *want,
		      struct kallsyms **out, struct error *err)
{
	struct kallsyms *k = begin(want, name, err);
	int rc;

	*out = NULL;
	if (!k)
		return -ERR_NOMEM;
	rc = io_read_until(fd, name, TEXT_LIMIT, parse_more, k, &k->text, err);
	if (rc < 0) {
		kallsyms_close(k);
		return rc;
	}
	return finish(k, name, out, err);
}

static int open_table(const char *path, const struct kallsyms *want,
		      struct kallsyms **out, struct error *err)
{
	int fd = io_open_file(path, err);
	int rc;

	*out = NULL;
	if (fd < 0)
		return fd;
	rc = read_table(fd, path, want, out, err);
	close(fd);
	return rc;
}

int kallsyms_open(const char *path, uint64_t reach, struct kallsyms **out,
		  struct error *err)
{
	struct kallsyms want = { .reach = reach };

	return open_table(path, &want, out, err);
}

/* Reads the wanted symbols in a copy, if it has all and places the kernel where the
 * kernel's own table does. */
static int read_copy(const char *copy, const char *path,
		     const struct kallsyms *want, struct kallsyms **out)
{
	struct kallsyms *first = NULL;
	struct buf lines = { 0 };
	struct error ignored;
	bool good = !kallsyms_open(path, 0, &first, &ignored) &&
		    kallsyms_copy_lines(copy, first->first, want->offsets,
					want->noffsets, &lines) &&
		    !kallsyms_parse((const char *)lines.p, lines.n, out, &ignored);

	if (good && kallsyms_address(*out, "_text") != first->first) {
		kallsyms_close(*out);
		*out = NULL;
		good = false;
	}
	kallsyms_close(first);
	buf_fini(&lines);
	return good ? 0 : -ERR_NOTFOUND;
}

static struct kallsyms want_some(const uint64_t *offsets, size_t n)
{
	return (struct kallsyms){ .reach = n ? offsets[n - 1] : 0,
				  .offsets = offsets, .noffsets = n };
}

int kallsyms_open_some(const char *path, const char *copy,
		       const uint64_t *offsets, size_t n, struct kallsyms **out,
		       struct error *err)
{
	struct kallsyms want = want_some(offsets, n);
	struct error ignored;

	*out = NULL;
	if (copy && !read_copy(copy, path, &want, out))
		return 0;
	if (!open_table(path, &want, out, &ignored) && !(*out)->unfit)
		return 0;
	kallsyms_close(*out);
	return kallsyms_open(path, KALLSYMS_ALL, out, err);
}

int kallsyms_read(int fd, const char *name, const uint64_t *offsets, size_t n,
		  struct kallsyms **out, struct error *err)
{
	struct kallsyms want = offsets ? want_some(offsets, n)
				       : (struct kallsyms){ .reach = KALLSYMS_ALL };
	int rc = read_table(fd, name, &want, out, err);

	if (rc < 0 || !(*out)->unfit)
		return rc;
	kallsyms_close(*out);
	*out = NULL;
	return 1;
}

int kallsyms_parse(const char *text, size_t n, struct kallsyms **out,
		   struct error *err)
{
	static const struct kallsyms all = { .reach = KALLSYMS_ALL };
	struct kallsyms *k = begin(&all, "kallsyms", err);

	*out = NULL;
	if (!k)
		return -ERR_NOMEM;
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

/* Returns whether a symbol only marks where a part of the code starts or ends
 * (include/asm-generic/sections.h).  Such symbols only end the preceding
 * function. */
static bool is_boundary(const char *name)
{
	static const char *const exact[] = {
		"_text", "_stext", "_etext", "_sinittext", "_einittext",
		"__pi__text", "__pi__stext", "__pi__etext",
	};

	for (size_t i = 0; i < COUNT(exact); i++)
		if (!strcmp(name, exact[i]))
			return true;
	return !strncmp(name, "__", 2) &&
	       (text_ends_with(name, "_text_start") ||
		text_ends_with(name, "_text_end") ||
		!strncmp(name, "__start_", 8) || !strncmp(name, "__stop_", 7));
}

/* Ranks aliases of one address.  The padding before a function and its
 * early-boot twin come last; global before weak before local, few leading
 * underscores, short: as for ELF symbols (symtab.c). */
static uint64_t name_rank(const struct ksym *s, const char *name)
{
	bool other = !strncmp(name, "__pfx_", 6) ||
		     !strncmp(name, "__cfi_", 6) || !strncmp(name, "__pi_", 5);
	uint64_t bind = s->type == 'T' ? 2 : s->type == 'W' || s->type == 'w';
	size_t bars = strspn(name, "_"), len = strnlen(name, 65535);

	return (uint64_t)!other << 56 | bind << 48 |
	       (uint64_t)(255 - (bars > 255 ? 255 : bars)) << 32 |
	       (uint64_t)(65535 - len);
}

/* Returns the best name among the symbols that start where x->v[i] does, or
 * NULL. */
static const struct ksym *best_name(const struct kallsyms *k, size_t i)
{
	const struct range_index *x = &k->text_ranges;
	const char *text = (const char *)k->text.p, *name, *best_name = NULL;
	const struct ksym *best = NULL;
	uint64_t lo = x->v[i].lo, rank, best_rank = 0;

	for (; x->v[i].lo == lo; i--) {
		const struct ksym *s = &k->syms.v[x->v[i].id];

		name = text + s->name;
		rank = name_rank(s, name);
		if (!is_boundary(name) &&
		    (!best || rank > best_rank ||
		     (rank == best_rank && strcmp(name, best_name) < 0))) {
			best = s;
			best_rank = rank;
			best_name = name;
		}
		if (!i)
			break;
	}
	return best;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **name,
		   const char **module, uint64_t *start, uint64_t *size)
{
	const struct range_index *x = &k->text_ranges;
	const char *text = (const char *)k->text.p;
	ptrdiff_t i = range_index_find(x, addr);
	const struct ksym *best;

	*name = *module = "";
	*start = *size = 0;
	best = i == RANGE_NONE ? NULL : best_name(k, (size_t)i);
	if (!best)
		return false;
	*name = text + best->name;
	if (best->module)
		*module = text + best->module;
	*start = x->v[i].lo;
	*size = x->v[i].hi - x->v[i].lo;
	return true;
}

bool kallsyms_each(const struct kallsyms *k, const char *module,
		   kallsyms_cb *cb, void *ctx)
{
	const struct range_index *x = &k->text_ranges;
	const char *text = (const char *)k->text.p;
	size_t i;

	for (i = 0; i < x->n; i++) {
		const struct ksym *s = &k->syms.v[x->v[i].id];

		if (!strcmp(s->module ? text + s->module : "", module) &&
		    !cb(ctx, text + s->name, x->v[i].lo))
			return false;
	}
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
