// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds names of addresses in an image and its debug information: see lookup.h. */
#include "symbolize/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbolize/demangle/clones.h"
#include "symbolize/demangle/manglings.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/gopclntab.h"
#include "symbolize/starts.h"

/*
 * Source of a function's name, given DWARF and the ELF symbol table.  The first
 * of these that applies:
 *
 *	1. the linkage name in DWARF (DW_AT_linkage_name);
 *	2. the mangled ELF symbol that covers the address, if it belongs to the
 *	   same function: its last component is the name in DWARF.  g++ writes no
 *	   linkage name for functions that are invisible to other files: lambdas,
 *	   static functions, members of local classes and anonymous namespaces;
 *	   gdc writes none for nested functions and copies;
 *	3. the name in DWARF: with its scopes and parameters for C++
 *	   (dwarf_spell.c), unchanged for all other languages;
 *	4. the ELF symbol.
 *
 * Suffixes of clones (.isra.0, .cold) are not part of the name, so that all
 * parts of a function have one name.  The parts of a coroutine (.actor,
 * .resume, .destroy, .cleanup) are functions of their own and keep theirs.
 * glibc's hidden aliases (__GI_…) are never used as names.
 *
 * Identical code folded by the linker has several symbols for one function in
 * DWARF.  A symbol with a different last component then belongs to another
 * function.
 */

enum func_name_from {
	NAME_OF_DWARF,		/* with scopes and parameters */
	NAME_IN_DWARF,		/* unchanged */
	NAME_OF_SYMBOL,		/* its first *len bytes */
};

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static bool is_mangled_d(const char *name)
{
	return name[0] == '_' && name[1] == 'D' && name[2] >= '1' &&
	       name[2] <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the length of a name without template arguments and ABI tags. */
static size_t stem(const char *name)
{
	return strcspn(name, "<[");
}

/* Returns whether a name is a conversion function; DWARF spells its type
 * differently. */
static bool is_conversion(const char *name)
{
	return !strncmp(name, "operator ", 9) && is_letter(name[9]) &&
	       strncmp(name + 9, "new", 3) && strncmp(name + 9, "delete", 6) &&
	       strncmp(name + 9, "co_await", 8);
}

static bool same_operator(const char *last, const char *plain)
{
	size_t n = strlen(last), all = strlen(plain);

	if (is_conversion(last))
		return !strncmp(plain, "operator ", 9);
	if (strncmp(last, plain, n))
		return false;
	plain += n;
	/* operator()<int>, but not operator<< for operator< */
	return !*plain ||
	       ((*plain == '<' || *plain == ' ' || *plain == '[') &&
		n + 2 < all && strchr(">]", plain[all - n - 1]));
}

/* Compares `last`, the last component of a mangled name, with a plain name. */
static bool same_last(const char *last, const char *plain)
{
	size_t n;

	if (!strncmp(last, "operator", 8) && !is_letter(last[8]) &&
	    !(last[8] >= '0' && last[8] <= '9'))
		return same_operator(last, plain);
	if (*last == '~' || *plain == '~') {
		if (*last++ != *plain++)
			return false;
	}
	/* constructors of a closure */
	if (!strncmp(plain, "<lambda", 7))
		return !strncmp(last, "{lambda", 7);
	n = stem(last);
	return n && n == stem(plain) && !memcmp(last, plain, n);
}

static bool contains(const char *mangled, size_t len, const char *plain)
{
	size_t n = stem(plain);

	return n && memmem(mangled, len, plain, n);
}

/* Returns whether a mangled name is an inherited constructor (CI1, CI2).  It
 * ends in the base's name in one source and in the class's name in the
 * other. */
static bool is_inherited(const char *mangled, size_t len)
{
	return memmem(mangled, len, "CI1", 3) || memmem(mangled, len, "CI2", 3);
}

/* Returns whether the mangled name belongs to a function called `plain` in
 * DWARF (DW_AT_name): `operator()` of _ZZ4mainENKUliE_clEi, `f<int>` of
 * _Z1fIiEvT_. */
static bool name_matches(const char *mangled, size_t len,
			 const char *plain)
{
	struct buf last = { 0 };
	bool same;

	if (!demangle_cxx_last(mangled, len, &last)) {
		/* Rust, and names that only their own compiler can read */
		buf_fini(&last);
		return contains(mangled, len, plain);
	}
	same = !last.failed &&
	       (same_last(buf_cstr(&last), plain) ||
		(is_inherited(mangled, len) && contains(mangled, len, plain)));
	buf_fini(&last);
	return same;
}

/* Returns whether a symbol names a part of a coroutine; its first `at` bytes
 * are the coroutine's name. */
static bool is_coroutine_part(const char *symbol, size_t at, size_t end)
{
	static const char *const parts[] = { "actor", "resume", "destroy",
					     "cleanup" };
	size_t i, n;

	if (symbol[at] != '.')
		return false;
	for (i = 0; i < COUNT(parts); i++) {
		n = strlen(parts[i]);
		if (end - at == n + 1 && !memcmp(symbol + at + 1, parts[i], n))
			return true;
	}
	return false;
}

/* Returns whether a mangled D name contains `plain` as an identifier: its
 * length, then the text. gdc writes no linkage name for nested functions and
 * copies. */
static bool d_has(const char *mangled, size_t len, const char *plain)
{
	char word[256];
	int n = snprintf(word, sizeof(word), "%zu%s", strlen(plain), plain);

	return *plain && n > 0 && (size_t)n < sizeof(word) &&
	       memmem(mangled, len, word, (size_t)n);
}

/* Chooses the name of a physical function.  symbol: "" if none covers the address. */
static enum func_name_from choose_func_name(const struct func_name *dwarf,
					    const char *symbol, size_t *len)
{
	size_t n = strlen(dwarf->name);

	*len = clone_base(symbol);
	if (!*symbol)
		return NAME_OF_DWARF;
	if (!n || !strncmp(dwarf->name, "__GI_", 5)) {
		*len = strlen(symbol);
		return NAME_OF_SYMBOL;
	}
	if (*len > n && !memcmp(symbol, dwarf->name, n) &&
	    is_coroutine_part(symbol, n, *len))
		return NAME_OF_SYMBOL;
	/* no mangling: main, extern "C" */
	if (*len == n && !memcmp(symbol, dwarf->name, n))
		return NAME_IN_DWARF;
	if (is_mangled(symbol) && !is_mangled(dwarf->name) &&
	    name_matches(symbol, *len, dwarf->plain))
		return NAME_OF_SYMBOL;
	if (is_mangled_d(symbol) && !is_mangled_d(dwarf->name) &&
	    d_has(symbol, *len, dwarf->plain))
		return NAME_OF_SYMBOL;
	return NAME_OF_DWARF;
}

/* Deeper chains are treated as damage. */
enum { MAX_FRAMES = 4096 };

struct lookup {
	struct image *img;
	struct image *debug;	/* separate debug file, or NULL */
	char *debug_path;	/* its name, or the name of the missing file */
	struct symtab symtab;
	struct dwarf dwarf;
	struct gopclntab *go;	/* used if there is no DWARF, or NULL */
	struct starts starts;
	bool has_dwarf;
	bool symbols_only;	/* the DWARF is not read */
	uint64_t shift;		/* image addresses - addresses in the DWARF */
	VEC(struct sym_frame) frames;	/* frames of the current address */
};

static bool has_dwarf(struct image *img)
{
	return img && image_has_dwarf(img);
}

static int open_parts(struct lookup *l, const struct debug_search *where,
		      enum sym_detail detail)
{
	struct debug_search search = *where;
	int rc;

	if (!has_dwarf(l->img) && search.dirs) {
		rc = debug_file_open(l->img, &search, &l->debug,
				     &l->debug_path);
		if (rc < 0)
			return rc;
		search.debug = l->debug_path;
	}
	l->shift = l->debug ? image_shift(l->img, l->debug) : 0;
	rc = symtab_open(&l->symtab, l->img, l->debug);
	if (rc < 0)
		return rc;
	l->has_dwarf = has_dwarf(l->debug ? l->debug : l->img);
	l->symbols_only = detail == SYM_SYMBOLS && l->symtab.has_symtab;
	if (!l->has_dwarf)
		return gopclntab_open(l->img, &l->go);
	if (l->symbols_only)
		return 0;
	rc = dwarf_open(&l->dwarf, l->debug ? l->debug : l->img, &search);
	l->dwarf.no_lines = detail != SYM_LINES;
	if (!rc && !l->dwarf.main->info.n) {
		l->has_dwarf = false;
		dwarf_damage(&l->dwarf, ".debug_info: unreadable", 0);
	}
	return rc;
}

int lookup_open(struct image *img, const struct debug_search *where,
		enum sym_detail detail, struct lookup **out)
{
	struct lookup *l = calloc(1, sizeof(*l));
	int rc = -ERR_NOMEM;

	*out = NULL;
	if (!l)
		return rc;
	l->img = img;
	rc = open_parts(l, where, detail);
	if (rc < 0)
		lookup_close(l);
	else
		*out = l;
	return rc;
}

void lookup_close(struct lookup *l)
{
	if (!l)
		return;
	dwarf_fini(&l->dwarf);
	symtab_fini(&l->symtab);
	gopclntab_close(l->go);
	starts_fini(&l->starts);
	vec_fini(&l->frames);
	image_close(l->debug);
	free(l->debug_path);
	free(l);
}

bool lookup_has_frames(const struct lookup *l)
{
	return l->has_dwarf && !l->symbols_only;
}

static int add_frame(struct lookup *l, uint64_t die, const char *file,
		     uint32_t line, uint32_t column, bool inlined)
{
	const struct func_name *n = dwarf_name(&l->dwarf, die);
	struct sym_frame f;

	if (!n)
		return -ERR_NOMEM;
	f = (struct sym_frame){ n->name, file, line, column, n->file, n->line,
				inlined, n->lang, n->name };
	/* the symbol may have a better name for the outermost frame:
	 * name_outermost */
	if (inlined && *n->plain)
		f.name = dwarf_full_name(&l->dwarf, die);
	return vec_push(&l->frames, f) < 0 ? -ERR_NOMEM : 0;
}

/* Stores the frames of one address from DWARF.  The innermost frame has file
 * and line of the line table, each outer frame those of the call. */
static int dwarf_frames(struct lookup *l, const struct dwarf_batch *b,
			const struct dwarf_hit *h, uint64_t addr)
{
	struct dwarf *d = &l->dwarf;
	struct dwarf_unit *u = &d->main->units.v[h->unit];
	const struct line_row *row = dwarf_find_row_of(d, u, h->func, addr);
	const struct inline_call *calls = b->work[h->worker].calls.v;
	uint32_t line = row ? row->line : 0, column = row ? row->column : 0;
	const char *file = row ? dwarf_file_path(d, u, row->file) : "";
	uint32_t i = h->call;

	for (; i != NO_CALL && l->frames.n < MAX_FRAMES; i = calls[i].outer) {
		if (add_frame(l, calls[i].origin, file, line, column, true) < 0)
			return -ERR_NOMEM;
		file = dwarf_file_path(d, u, calls[i].file);
		line = calls[i].line;
		column = calls[i].column;
	}
	return add_frame(l, h->func, file, line, column, false);
}

/* Names the physical function from DWARF or its symbol. */
static void name_outermost(struct lookup *l, const char *symbol,
			   uint64_t die, struct sym_frame *f)
{
	const struct func_name *dwarf = dwarf_name(&l->dwarf, die);
	size_t len;

	if (!dwarf)
		return;
	switch (choose_func_name(dwarf, symbol, &len)) {
	case NAME_OF_DWARF:
		f->name = dwarf_full_name(&l->dwarf, die);
		break;
	case NAME_IN_DWARF:
		break;
	case NAME_OF_SYMBOL:
		f->name = symbol[len] ? dwarf_keep_n(&l->dwarf, symbol, len)
				      : symbol;
		break;
	}
}

/* Everything that determines the result of an address. */
struct source {
	struct dwarf_hit dwarf;
	const struct line_row *row;
	struct symtab_hit symbol;
	uint64_t go;		/* the address if Go's table covers it */
};

static bool same_source(const struct source *a, const struct source *b)
{
	return a->dwarf.func == b->dwarf.func && a->dwarf.unit == b->dwarf.unit &&
	       a->dwarf.call == b->dwarf.call &&
	       a->dwarf.worker == b->dwarf.worker && a->row == b->row &&
	       a->go == b->go && a->symbol.name == b->symbol.name &&
	       a->symbol.start == b->symbol.start &&
	       a->symbol.size == b->symbol.size;
}

/* Stores the frames of one address from Go's table. */
static int go_frames(struct lookup *l, uint64_t addr)
{
	struct go_frame frames[GO_MAX_FRAMES];
	size_t n = l->go ? gopclntab_frames(l->go, addr, frames) : 0, i;

	for (i = 0; i < n; i++) {
		struct sym_frame f = { frames[i].name, frames[i].file,
				       frames[i].line, 0, "", 0, i + 1 < n, 0,
				       "" };

		if (vec_push(&l->frames, f) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Makes the result of one address; h is NULL without DWARF. */
static int make_result(struct lookup *l, const struct dwarf_batch *b,
		       const struct dwarf_hit *h, uint64_t addr,
		       const struct symtab_hit *hit, struct sym_result *r)
{
	struct sym_frame only = { "", "", 0, 0, "", 0, false, 0, "" };
	struct sym_frame *last;

	l->frames.n = 0;
	*r = (struct sym_result){ .vaddr = addr, .symbol = hit->name,
				  .sym_start = hit->start,
				  .sym_size = hit->size,
				  .sym_file = hit->file };
	if (h && h->unit != UINT32_MAX &&
	    dwarf_frames(l, b, h, addr - l->shift) < 0)
		return -ERR_NOMEM;
	if (!l->frames.n && go_frames(l, addr) < 0)
		return -ERR_NOMEM;
	if (!l->frames.n && *r->symbol) {
		only.name = r->symbol;
		if (vec_push(&l->frames, only) < 0)
			return -ERR_NOMEM;
		h = NULL;
	}
	if (h && l->frames.n) {
		last = &l->frames.v[l->frames.n - 1];
		name_outermost(l, r->symbol, h->func, last);
	}
	r->frames = l->frames.v;
	r->nframes = l->frames.n;
	return 0;
}

/* Resolves addresses with DWARF, whose addresses may differ from the
 * image's. */
static int resolve_dwarf(struct lookup *l, const uint64_t *vaddrs, size_t n,
			 struct dwarf_batch *b)
{
	uint64_t *moved;
	int rc;

	if (!l->shift || !n)
		return dwarf_resolve(&l->dwarf, vaddrs, n, b);
	moved = malloc(n * sizeof(*moved));
	if (!moved)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		moved[i] = vaddrs[i] - l->shift;
	rc = dwarf_resolve(&l->dwarf, moved, n, b);
	free(moved);
	return rc;
}

/* Functions without an ELF symbol, which was looked up, may be in Go's table or be
 * identified by their code. */
static void name_symbol(struct lookup *l, uint64_t addr, struct source *out)
{
	struct symtab_hit *hit = &out->symbol;
	const struct start_function *start;
	struct go_func f;

	if (l->go && gopclntab_find(l->go, addr, &f)) {
		out->go = addr;
		if (!*hit->name)
			*hit = (struct symtab_hit){ f.name, "", f.start,
						    f.size, hit->from };
	}
	if (*hit->name)
		return;
	start = starts_find(&l->starts, l->img, addr);
	if (start)
		*hit = (struct symtab_hit){ start->name, "", start->start,
					    start->size, hit->from };
}

static int find_symbol(struct lookup *l, uint64_t addr, struct source *out)
{
	int rc = symtab_find(&l->symtab, addr, &out->symbol);

	if (!rc)
		name_symbol(l, addr, out);
	return rc;
}

int lookup_symbol(struct lookup *l, uint64_t addr, struct symtab_hit *hit)
{
	struct source from = { .go = 0 };
	int rc = find_symbol(l, addr, &from);

	*hit = from.symbol;
	return rc;
}

int lookup_symbol_range(struct lookup *l, uint64_t addr, uint64_t end,
			struct symtab_hit *hit, uint64_t *next)
{
	struct source from = { .go = 0 };
	int rc = symtab_find(&l->symtab, addr, &from.symbol);
	bool named = !rc && *from.symbol.name;

	*next = end;
	if (rc < 0)
		return rc;
	*next = symtab_same_until(&l->symtab, addr, &from.symbol, end);
	name_symbol(l, addr, &from);
	if (!named)		/* it may be a function that starts programs */
		*next = starts_same_until(&l->starts, addr, *next);
	*hit = from.symbol;
	return 0;
}

static int find_source(struct lookup *l, const struct dwarf_hit *h,
		       uint64_t addr, struct source *out)
{
	*out = (struct source){ .dwarf = { NO_DIE, UINT32_MAX, NO_CALL, 0 } };
	if (h) {
		out->dwarf = *h;
		if (h->unit != UINT32_MAX)
			out->row = dwarf_find_row_of(
				&l->dwarf, &l->dwarf.main->units.v[h->unit],
				h->func, addr - l->shift);
	}
	return find_symbol(l, addr, out);
}

int lookup_resolve(struct lookup *l, const uint64_t *vaddrs, size_t n,
		       sym_cb *cb, void *ctx)
{
	struct dwarf_batch b = { 0 };
	struct sym_result r = { .nframes = 0 };
	struct source from[2];	/* of this address and the previous one */
	int rc = 0;
	size_t i;

	if (lookup_has_frames(l))
		rc = resolve_dwarf(l, vaddrs, n, &b);
	for (i = 0; i < n && !rc; i++) {
		const struct dwarf_hit *h = b.hits ? &b.hits[i] : NULL;

		rc = find_source(l, h, vaddrs[i], &from[i & 1]);
		if (!rc && i && same_source(&from[0], &from[1])) {
			r.vaddr = vaddrs[i];
			r.same = true;
		} else if (!rc) {
			rc = make_result(l, &b, h, vaddrs[i],
					 &from[i & 1].symbol, &r);
		}
		if (!rc && !cb(ctx, i, &r))
			rc = -ERR_STOPPED;
	}
	dwarf_batch_fini(&l->dwarf, &b);
	if (n >= DWARF_MANY)	/* the caller may need memory for the results */
		dwarf_release_names(&l->dwarf);
	return rc;
}

struct sym_sources lookup_sources(const struct lookup *l)
{
	const char *path = l->debug_path ? l->debug_path : "";
	const char *problem = image_problem(l->img);
	const struct dwarf *d = &l->dwarf;

	if (!*problem && l->debug)
		problem = image_problem(l->debug);
	return (struct sym_sources){
		.symtab = l->symtab.has_symtab,
		.dynsym = l->symtab.has_dynsym,
		.debugdata = l->symtab.mini != NULL,
		.unwind = l->symtab.used_cfi,
		.go = l->go != NULL,
		.dwarf = l->has_dwarf,
		.debug_file = l->debug ? path : "",
		.missing = l->has_dwarf || l->debug ? "" : path,
		.missing_alt = d->missing_alt ? d->missing_alt : "",
		.missing_dwo = d->missing_dwo ? d->missing_dwo : "",
		.missing_dwo_units = d->missing_dwo_units,
		.damage = d->damage,
		.unreadable = problem,
	};
}

bool lookup_incomplete(const struct lookup *l)
{
	return l->symtab.nomem;
}
