// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds names of addresses in an image and its debug information: see lookup.h. */
#include "symbolize/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/dwarf/dwarf.h"
#include "symbolize/func_name.h"
#include "symbolize/gopclntab.h"
#include "symbolize/starts.h"

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
	if (inlined)
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
