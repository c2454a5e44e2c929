// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts addresses to frames by combining DWARF and ELF symbols: see
 * symbolize.h. */
#include "config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle/clones.h"
#include "symbolize/demangle/manglings.h"
#include "symbolize/dwarf/debug_file.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/gopclntab.h"
#include "symbolize/starts.h"
#include "symbolize/symbol_cache.h"
#include "symbolize/symbolize.h"
#include "symbolize/symtab.h"

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
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
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

/* Chooses the name of a physical function; symbol: "" if none covers the
 * address. */
static enum func_name_from choose_name(const struct func_name *dwarf,
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

struct symbolizer {
	struct image *img;
	struct image *debug;	/* separate debug file, or NULL */
	char *debug_path;	/* its name, or the name of the missing file */
	char *debug_dirs;	/* NULL: use no other file */
	struct symtab symtab;
	struct dwarf dwarf;
	struct gopclntab *go;	/* used if there is no DWARF, or NULL */
	struct starts starts;
	bool has_dwarf;
	bool symbols_only;	/* the DWARF is not read */
	uint64_t shift;		/* image addresses - addresses in the DWARF */
	VEC(struct sym_frame) frames;	/* frames of the current address */
	struct sym_options opts;
	bool opened;		/* all above are read */
	struct cached_image *known;	/* results from the cache, or NULL */
	VEC(struct sym_frame) known_frames;	/* of the last one */
	bool known_cfi;		/* call frame information gave one */
};

static bool has_dwarf(struct image *img)
{
	return img && image_has_dwarf(img);
}

/* Returns where to search for more files. */
static struct debug_search search_of(struct symbolizer *s)
{
	struct debug_search out = { .binary = image_name(s->img),
				    .dirs = s->debug_dirs };

	if (!s->opts.no_debug_files) {
		out.open_file = s->opts.open_file;
		out.ctx = s->opts.ctx;
	}
	if (s->known) {
		out.looked = cached_add_input;
		out.looked_ctx = s->known;
	}
	return out;
}

static int open_parts(struct symbolizer *s)
{
	struct debug_search search = search_of(s);
	int rc;

	s->opened = true;
	if (!has_dwarf(s->img) && search.dirs) {
		rc = debug_file_open(s->img, &search, &s->debug,
				     &s->debug_path);
		if (rc < 0)
			return rc;
		search.debug = s->debug_path;
	}
	s->shift = s->debug ? image_shift(s->img, s->debug) : 0;
	rc = symtab_open(&s->symtab, s->img, s->debug);
	if (rc < 0)
		return rc;
	s->has_dwarf = has_dwarf(s->debug ? s->debug : s->img);
	s->symbols_only = s->opts.detail == SYM_SYMBOLS && s->symtab.has_symtab;
	if (!s->has_dwarf)
		return gopclntab_open(s->img, &s->go);
	if (s->symbols_only)
		return 0;
	rc = dwarf_open(&s->dwarf, s->debug ? s->debug : s->img, &search);
	s->dwarf.no_lines = s->opts.detail != SYM_LINES;
	if (!rc && !s->dwarf.main->info.n) {
		s->has_dwarf = false;
		dwarf_damage(&s->dwarf, ".debug_info: unreadable", 0);
	}
	return rc;
}

static int add_frame(struct symbolizer *s, uint64_t die, const char *file,
		     uint32_t line, uint32_t column, bool inlined)
{
	const struct func_name *n = dwarf_name(&s->dwarf, die);
	struct sym_frame f;

	if (!n)
		return -ERR_NOMEM;
	f = (struct sym_frame){ n->name, file, line, column, n->file, n->line,
				inlined, n->lang, n->name };
	/* the symbol may have a better name for the outermost frame:
	 * name_outermost */
	if (inlined)
		f.name = dwarf_full_name(&s->dwarf, die);
	return vec_push(&s->frames, f) < 0 ? -ERR_NOMEM : 0;
}

/* Stores the frames of one address from DWARF.  The innermost frame has file
 * and line of the line table, each outer frame those of the call. */
static int dwarf_frames(struct symbolizer *s, const struct dwarf_batch *b,
			const struct dwarf_hit *h, uint64_t addr)
{
	struct dwarf *d = &s->dwarf;
	struct dwarf_unit *u = &d->main->units.v[h->unit];
	const struct line_row *row = dwarf_find_row_of(d, u, h->func, addr);
	const struct inline_call *calls = b->work[h->worker].calls.v;
	uint32_t line = row ? row->line : 0, column = row ? row->column : 0;
	const char *file = row ? dwarf_file_path(d, u, row->file) : "";
	uint32_t i = h->call;

	for (; i != NO_CALL && s->frames.n < MAX_FRAMES; i = calls[i].outer) {
		if (add_frame(s, calls[i].origin, file, line, column, true) < 0)
			return -ERR_NOMEM;
		file = dwarf_file_path(d, u, calls[i].file);
		line = calls[i].line;
		column = calls[i].column;
	}
	return add_frame(s, h->func, file, line, column, false);
}

/* Names the physical function from DWARF or its symbol. */
static void name_outermost(struct symbolizer *s, const char *symbol,
			   uint64_t die, struct sym_frame *f)
{
	const struct func_name *dwarf = dwarf_name(&s->dwarf, die);
	size_t len;

	if (!dwarf)
		return;
	switch (choose_name(dwarf, symbol, &len)) {
	case NAME_OF_DWARF:
		f->name = dwarf_full_name(&s->dwarf, die);
		break;
	case NAME_IN_DWARF:
		break;
	case NAME_OF_SYMBOL:
		f->name = symbol[len] ? dwarf_keep_n(&s->dwarf, symbol, len)
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
static int go_frames(struct symbolizer *s, uint64_t addr)
{
	struct go_frame frames[GO_MAX_FRAMES];
	size_t n = s->go ? gopclntab_frames(s->go, addr, frames) : 0, i;

	for (i = 0; i < n; i++) {
		struct sym_frame f = { frames[i].name, frames[i].file,
				       frames[i].line, 0, "", 0, i + 1 < n, 0,
				       "" };

		if (vec_push(&s->frames, f) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Makes the result of one address; h is NULL without DWARF. */
static int make_result(struct symbolizer *s, const struct dwarf_batch *b,
		       const struct dwarf_hit *h, uint64_t addr,
		       const struct symtab_hit *hit, struct sym_result *r)
{
	struct sym_frame only = { "", "", 0, 0, "", 0, false, 0, "" };
	struct sym_frame *last;

	s->frames.n = 0;
	*r = (struct sym_result){ .vaddr = addr, .symbol = hit->name,
				  .sym_start = hit->start,
				  .sym_size = hit->size,
				  .sym_file = hit->file };
	if (h && h->unit != UINT32_MAX &&
	    dwarf_frames(s, b, h, addr - s->shift) < 0)
		return -ERR_NOMEM;
	if (!s->frames.n && go_frames(s, addr) < 0)
		return -ERR_NOMEM;
	if (!s->frames.n && *r->symbol) {
		only.name = r->symbol;
		if (vec_push(&s->frames, only) < 0)
			return -ERR_NOMEM;
		h = NULL;
	}
	if (h && s->frames.n) {
		last = &s->frames.v[s->frames.n - 1];
		name_outermost(s, r->symbol, h->func, last);
	}
	r->frames = s->frames.v;
	r->nframes = s->frames.n;
	return 0;
}

/* Resolves addresses with DWARF, whose addresses may differ from the
 * image's. */
static int resolve_dwarf(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
			 struct dwarf_batch *b)
{
	uint64_t *moved;
	int rc;

	if (!s->shift || !n)
		return dwarf_resolve(&s->dwarf, vaddrs, n, b);
	moved = malloc(n * sizeof(*moved));
	if (!moved)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		moved[i] = vaddrs[i] - s->shift;
	rc = dwarf_resolve(&s->dwarf, moved, n, b);
	free(moved);
	return rc;
}

/* Functions without an ELF symbol, which was looked up, may be in Go's table or be
 * identified by their code. */
static void name_symbol(struct symbolizer *s, uint64_t addr, struct source *out)
{
	struct symtab_hit *hit = &out->symbol;
	const struct start_function *start;
	struct go_func f;

	if (s->go && gopclntab_find(s->go, addr, &f)) {
		out->go = addr;
		if (!*hit->name)
			*hit = (struct symtab_hit){ f.name, "", f.start,
						    f.size, hit->from };
	}
	if (*hit->name)
		return;
	start = starts_find(&s->starts, s->img, addr);
	if (start)
		*hit = (struct symtab_hit){ start->name, "", start->start,
					    start->size, hit->from };
}

static int find_symbol(struct symbolizer *s, uint64_t addr, struct source *out)
{
	int rc = symtab_find(&s->symtab, addr, &out->symbol);

	if (!rc)
		name_symbol(s, addr, out);
	return rc;
}

static int find_source(struct symbolizer *s, const struct dwarf_hit *h,
		       uint64_t addr, struct source *out)
{
	*out = (struct source){ .dwarf = { NO_DIE, UINT32_MAX, NO_CALL, 0 } };
	if (h) {
		out->dwarf = *h;
		if (h->unit != UINT32_MAX)
			out->row = dwarf_find_row_of(
				&s->dwarf, &s->dwarf.main->units.v[h->unit],
				h->func, addr - s->shift);
	}
	return find_symbol(s, addr, out);
}

/* Looks all addresses up in the image and its debug information. */
static int resolve_now(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
		       sym_cb *cb, void *ctx)
{
	struct dwarf_batch b = { 0 };
	struct sym_result r = { .nframes = 0 };
	struct source from[2];	/* of this address and the previous one */
	int rc = 0;
	size_t i;

	if (s->has_dwarf && !s->symbols_only)
		rc = resolve_dwarf(s, vaddrs, n, &b);
	for (i = 0; i < n && !rc; i++) {
		const struct dwarf_hit *h = b.hits ? &b.hits[i] : NULL;

		rc = find_source(s, h, vaddrs[i], &from[i & 1]);
		if (!rc && i && same_source(&from[0], &from[1])) {
			r.vaddr = vaddrs[i];
			r.same = true;
		} else if (!rc) {
			rc = make_result(s, &b, h, vaddrs[i],
					 &from[i & 1].symbol, &r);
		}
		if (!rc && !cb(ctx, i, &r))
			rc = -ERR_STOPPED;
	}
	dwarf_batch_fini(&s->dwarf, &b);
	return rc;
}

/*
 * With a cache.  The symbols of an image are added as a whole, because finding one means
 * reading them all; of an image with very many, only the first ones and those that are
 * asked for.  Frames are added by address, and by function once a second recording has
 * other addresses in it: most functions of short-lived programs are seen once.
 */

enum {
	SYMBOLS_MAX = 1 << 16,		/* ranges of symbols added at once */
	WHOLE_FUNCTION = 16 << 10,	/* most bytes of a function added as a whole … */
	WHOLE_ALL = 64 << 10,		/* … and of all those for one call */
};

/* Returns whether results have frames that the symbol does not tell. */
static bool has_frames(const struct symbolizer *s)
{
	const struct cached_sources *k = cached_image_sources(s->known);

	if (!s->opened)
		return k->dwarf && !(s->opts.detail == SYM_SYMBOLS && k->symtab);
	return s->has_dwarf && !s->symbols_only;
}

static bool is_known(const struct symbolizer *s, uint64_t vaddr, bool frames)
{
	return cached_symbol_at(s->known, vaddr) != CACHED_NONE &&
	       (!frames || cached_frames_at(s->known, vaddr) != CACHED_NONE);
}

/* Adds the symbol at addr, and where else it applies up to `end`.  Sets *next to the first
 * address after it. */
static int add_symbol(struct symbolizer *s, uint64_t addr, uint64_t end, uint64_t *next)
{
	struct source from = { .go = 0 };
	int rc = symtab_find(&s->symtab, addr, &from.symbol);
	bool named = !rc && *from.symbol.name;
	uint32_t id;

	*next = end;
	if (rc < 0)
		return rc;
	*next = symtab_same_until(&s->symtab, addr, &from.symbol, end);
	name_symbol(s, addr, &from);
	if (!named)		/* it may be a function that starts programs */
		*next = starts_same_until(&s->starts, addr, *next);
	if (!from.symbol.from)
		return 0;
	id = cached_store_symbol(s->known, &(struct cached_symbol){
		from.symbol.name, from.symbol.file, from.symbol.start,
		from.symbol.size, from.symbol.from == SYMTAB_CFI });
	return id == CACHED_NONE
		       ? -ERR_NOMEM
		       : cached_place_symbol(s->known, addr, *next, id);
}

/* Adds all symbols, or the first ones that there is room for. */
static void add_symbols(struct symbolizer *s)
{
	uint64_t at, end;
	int rc = 0, n = 0;

	if (!image_code_range(s->img, &at, &end) ||
	    !cached_image_takes(s->known, false, SIZE_MAX))
		return;
	for (; at < end && !rc && n < SYMBOLS_MAX; n++)
		rc = add_symbol(s, at, end, &at);
	cached_image_sort(s->known);
}

/* Makes a result from what is known. */
static int known_result(struct symbolizer *s, uint32_t symbol, uint32_t frames,
			struct sym_result *r)
{
	struct cached_symbol hit = cached_symbol(s->known, symbol);
	size_t n = frames == CACHED_NONE ? 0
					 : cached_frames(s->known, frames, NULL, 0);

	if (vec_reserve(&s->known_frames, n + 1) < 0)
		return -ERR_NOMEM;
	if (frames == CACHED_NONE && *hit.name)
		s->known_frames.v[n++] = (struct sym_frame){
			hit.name, "", 0, 0, "", 0, false, 0, "",
		};
	else if (n)
		cached_frames(s->known, frames, s->known_frames.v, n);
	s->known_cfi |= hit.cfi;
	*r = (struct sym_result){ .vaddr = r->vaddr,
				  .frames = s->known_frames.v,
				  .nframes = n, .symbol = hit.name,
				  .sym_start = hit.start, .sym_size = hit.size,
				  .sym_file = hit.file };
	return 0;
}

/* A call of symbolizer_resolve: results from the cache and from the image in the order
 * of their addresses. */
struct mixed {
	struct symbolizer *s;
	const uint64_t *vaddrs;
	size_t n, next;		/* the next of vaddrs to give */
	sym_cb *cb;
	void *ctx;
	bool with_frames;
	struct sym_result known;	/* the last result from the cache */
	uint32_t symbol, frames;	/* its numbers; CACHED_NONE: another came since */
	VEC(uint64_t) asked;	/* addresses to look up in the image */
	uint64_t symbols_to;	/* end of the last symbol that was added */
	bool same;		/* all results since the last one given were equal */
	bool adding;		/* what is looked up is added to the cache */
	uint32_t added;		/* frames added last … */
	uint64_t lo, hi;	/* … and where they apply, not placed yet */
	int rc;
};

static bool give(struct mixed *m, const struct sym_result *r)
{
	if (!m->cb(m->ctx, m->next++, r))
		m->rc = -ERR_STOPPED;
	return m->rc == 0;
}

static bool give_known(struct mixed *m)
{
	uint64_t vaddr = m->vaddrs[m->next];
	uint32_t symbol = cached_symbol_at(m->s->known, vaddr);
	uint32_t frames = m->with_frames ? cached_frames_at(m->s->known, vaddr)
					 : CACHED_NONE;

	m->known.vaddr = vaddr;
	m->known.same = symbol == m->symbol && frames == m->frames;
	if (!m->known.same)
		m->rc = known_result(m->s, symbol, frames, &m->known);
	m->symbol = symbol;
	m->frames = frames;
	m->same = false;
	return !m->rc && give(m, &m->known);
}

static void end_frames(struct mixed *m)
{
	if (m->hi > m->lo && m->adding &&
	    cached_place_frames(m->s->known, m->lo, m->hi, m->added) < 0)
		m->adding = false;
	m->lo = m->hi = 0;
}

/* Adds the frames of one address. */
static void add_frames(struct mixed *m, const struct sym_result *r)
{
	bool has = cached_frames_at(m->s->known, r->vaddr) != CACHED_NONE;

	if (r->same && r->vaddr == m->hi && !has) {
		m->hi++;
		return;
	}
	end_frames(m);
	if (has || !r->same)
		m->added = CACHED_NONE;
	if (has)
		return;
	if (m->added == CACHED_NONE)
		m->added = cached_store_frames(m->s->known, r->frames,
					       r->nframes);
	m->adding = m->added != CACHED_NONE;
	m->lo = r->vaddr;
	m->hi = r->vaddr + 1;
}

/* Notes whether the symbol of a result was known from call frame information. */
static void note_cfi(struct symbolizer *s, const struct sym_result *r)
{
	uint32_t id = cached_symbol_at(s->known, r->vaddr);

	if (id != CACHED_NONE)
		s->known_cfi |= cached_symbol(s->known, id).cfi;
	else
		s->known_cfi |= !*r->symbol && r->sym_size;
}

static bool looked_up(void *ctx, size_t i, const struct sym_result *r)
{
	struct mixed *m = ctx;
	struct sym_result given = *r;

	(void)i;
	if (m->with_frames && m->adding)
		add_frames(m, r);
	m->same &= r->same;
	while (m->next < m->n && m->vaddrs[m->next] < r->vaddr)
		if (!give_known(m))
			return false;
	while (m->next < m->n && m->vaddrs[m->next] == r->vaddr) {
		given.same = m->same;
		m->same = true;
		m->symbol = CACHED_NONE;
		note_cfi(m->s, r);
		if (!give(m, &given))
			return false;
	}
	return true;
}

/* Asks for an address that is not known, and for all of its function if the cache has
 * frames of it already.  Moves *from, below which all is asked for, after that. */
static int ask(struct mixed *m, uint64_t vaddr, size_t *whole, uint64_t *from)
{
	struct symbolizer *s = m->s;
	uint32_t id = cached_symbol_at(s->known, vaddr);
	uint64_t at = vaddr, end = vaddr + 1;
	int rc = 0;

	/* The result is given even if there is no room for it. */
	if (m->adding && id == CACHED_NONE && vaddr >= m->symbols_to)
		m->adding = add_symbol(s, vaddr, cached_symbol_after(s->known, vaddr),
				       &m->symbols_to) == 0;
	if (m->adding && id != CACHED_NONE && m->with_frames) {
		struct cached_symbol f = cached_symbol(s->known, id);

		if (vaddr - f.start < f.size && f.size <= WHOLE_FUNCTION &&
		    f.start + f.size > f.start &&
		    *whole + f.size <= WHOLE_ALL &&
		    cached_frames_between(s->known, f.start, f.start + f.size)) {
			at = f.start < *from ? *from : f.start;
			end = f.start + f.size;
			*whole += f.size;
		}
	}
	*from = end;
	do
		if (at == vaddr || !is_known(s, at, true))
			rc = vec_push(&m->asked, at);
	while (++at < end && !rc);
	return rc < 0 ? -ERR_NOMEM : 0;
}

static int ask_all(struct mixed *m)
{
	uint64_t from = 0;
	size_t whole = 0;
	int rc = 0;

	for (size_t i = 0; i < m->n && !rc; i++)
		if ((!i || m->vaddrs[i] >= from) &&
		    !is_known(m->s, m->vaddrs[i], m->with_frames))
			rc = ask(m, m->vaddrs[i], &whole, &from);
	return rc;
}

static size_t count_unknown(const struct symbolizer *s, const uint64_t *vaddrs, size_t n)
{
	bool frames = has_frames(s);
	size_t unknown = 0;

	for (size_t i = 0; i < n; i++)
		unknown += !is_known(s, vaddrs[i], frames);
	return unknown;
}

static int resolve_mixed(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
			 sym_cb *cb, void *ctx)
{
	struct mixed m = { .s = s, .vaddrs = vaddrs, .n = n, .cb = cb, .ctx = ctx,
			   .symbol = CACHED_NONE, .added = CACHED_NONE };
	size_t unknown = count_unknown(s, vaddrs, n);

	if (unknown && !s->opened)
		m.rc = open_parts(s);
	m.with_frames = has_frames(s);
	m.adding = cached_image_takes(s->known, m.with_frames, unknown);
	if (!m.rc && unknown)
		m.rc = ask_all(&m);
	if (!m.rc && m.asked.n) {
		int rc = resolve_now(s, m.asked.v, m.asked.n, looked_up, &m);

		m.rc = m.rc ? m.rc : rc;
		end_frames(&m);
	}
	while (!m.rc && m.next < n)
		give_known(&m);
	if (s->opened)
		cached_image_sort(s->known);
	vec_fini(&m.asked);
	return m.rc;
}

bool symbolizer_extent(struct symbolizer *s, uint64_t vaddr, const char **name,
		       uint64_t *start, uint64_t *size)
{
	uint32_t id = s->known ? cached_symbol_at(s->known, vaddr) : CACHED_NONE;
	struct source from = { .go = 0 };

	if (id != CACHED_NONE) {
		struct cached_symbol hit = cached_symbol(s->known, id);

		s->known_cfi |= hit.cfi;
		*name = hit.name;
		*start = hit.start;
		*size = hit.size;
		return hit.size != 0;
	}
	if ((!s->opened && open_parts(s) < 0) ||
	    find_symbol(s, vaddr, &from) < 0 || !from.symbol.size)
		return false;
	s->known_cfi |= from.symbol.from == SYMTAB_CFI;
	*name = from.symbol.name;
	*start = from.symbol.start;
	*size = from.symbol.size;
	return true;
}

int symbolizer_resolve(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
		       sym_cb *cb, void *ctx, struct error *err)
{
	int rc = s->known ? resolve_mixed(s, vaddrs, n, cb, ctx)
			  : resolve_now(s, vaddrs, n, cb, ctx);

	if (rc == -ERR_NOMEM)
		return error_set(err, ERR_NOMEM,
				 "%s: out of memory reading symbols",
				 image_name(s->img));
	if (rc)
		return error_set(err, ERR_STOPPED, "stopped");
	return 0;
}

static struct sym_sources known_sources(const struct symbolizer *s)
{
	const struct cached_sources *k = cached_image_sources(s->known);

	return (struct sym_sources){
		.symtab = k->symtab, .dynsym = k->dynsym, .dwarf = k->dwarf,
		.debugdata = k->debugdata, .unwind = s->known_cfi,
		.debug_file = k->debug_file, .missing = k->missing,
		.missing_alt = "", .missing_dwo = "", .damage = "",
		.unreadable = "",
	};
}

struct sym_sources symbolizer_sources(const struct symbolizer *s)
{
	const char *path = s->debug_path ? s->debug_path : "";
	const char *problem = image_problem(s->img);
	const struct dwarf *d = &s->dwarf;

	if (!s->opened)
		return known_sources(s);
	if (!*problem && s->debug)
		problem = image_problem(s->debug);
	return (struct sym_sources){
		.symtab = s->symtab.has_symtab,
		.dynsym = s->symtab.has_dynsym,
		.debugdata = s->symtab.mini != NULL,
		.unwind = s->known ? s->known_cfi : s->symtab.used_cfi,
		.go = s->go != NULL,
		.dwarf = s->has_dwarf,
		.debug_file = s->debug ? path : "",
		.missing = s->has_dwarf || s->debug ? "" : path,
		.missing_alt = d->missing_alt ? d->missing_alt : "",
		.missing_dwo = d->missing_dwo ? d->missing_dwo : "",
		.missing_dwo_units = d->missing_dwo_units,
		.damage = d->damage,
		.unreadable = problem,
	};
}

/* Opens what the cache knows of the image. */
static void open_known(struct symbolizer *s)
{
	struct buf kind = { 0 };

	/* Another version may give other results. */
	buf_printf(&kind, PACKAGE_VERSION " %d %s%s", (int)s->opts.detail,
		   s->debug_dirs ? "dirs " : "", s->debug_dirs ? s->debug_dirs : "");
	if (!kind.failed)
		s->known = cached_image_open(s->opts.cache, s->img,
					     buf_cstr(&kind));
	buf_fini(&kind);
}

static int open_all(struct symbolizer *s, const struct sym_options *opts)
{
	const char *dirs = "/usr/lib/debug";
	int rc;

	if (opts)
		s->opts = *opts;
	if (s->opts.debug_dirs)
		dirs = s->opts.debug_dirs;
	if (!s->opts.no_debug_files) {
		s->debug_dirs = strdup(dirs);
		if (!s->debug_dirs)
			return -ERR_NOMEM;
	}
	if (s->opts.cache && !s->opts.open_file)
		open_known(s);
	if (s->known && cached_image_sources(s->known))
		return 0;
	rc = open_parts(s);
	/* Go's table needs no cache: an address is found in it at once. */
	if (s->known && s->go) {
		cached_image_close(s->known, NULL);
		s->known = NULL;
	} else if (s->known && !rc) {
		add_symbols(s);
	}
	return rc;
}

int symbolizer_open(struct image *img, const struct sym_options *opts,
		    struct symbolizer **out, struct error *err)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s) {
		s->img = img;
		if (open_all(s, opts) == 0) {
			*out = s;
			return 0;
		}
	}
	symbolizer_close(s);
	return error_set(err, ERR_NOMEM, "%s: out of memory reading symbols",
			 image_name(img));
}

/* Stores new results.  Those of damaged or incomplete debug information are found anew
 * each time, because only then is it known what is missing. */
static void close_known(struct symbolizer *s)
{
	struct sym_sources now = symbolizer_sources(s);
	struct cached_sources keep = { now.symtab, now.dynsym, now.dwarf,
				       now.debugdata, now.debug_file,
				       now.missing };
	bool whole = !*now.missing_alt && !*now.missing_dwo && !*now.damage &&
		     !*now.unreadable && !s->symtab.nomem;

	cached_image_close(s->known, whole ? &keep : NULL);
	s->known = NULL;
}

void symbolizer_close(struct symbolizer *s)
{
	if (!s)
		return;
	if (s->known)
		close_known(s);
	dwarf_fini(&s->dwarf);
	symtab_fini(&s->symtab);
	gopclntab_close(s->go);
	starts_fini(&s->starts);
	vec_fini(&s->frames);
	vec_fini(&s->known_frames);
	image_close(s->debug);
	free(s->debug_path);
	free(s->debug_dirs);
	free(s);
}
