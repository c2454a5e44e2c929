// SPDX-License-Identifier: GPL-2.0-or-later
/* From addresses to frames: joins DWARF and ELF symbols.  See symbolize.h. */
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/debug_file.h"
#include "symbolize/dwarf.h"
#include "symbolize/symtab.h"

/* Deeper chains are not code but damage. */
enum { MAX_FRAMES = 4096 };

struct symbolizer {
	struct image *img;
	struct image *debug;	/* separate debug file, or NULL */
	char *debug_path;	/* its name, or the one that is missing */
	char *debug_dirs;	/* NULL: look into no other file */
	struct symtab symtab;
	struct dwarf dwarf;
	bool has_dwarf;
	uint64_t shift;		/* image's addresses - those of the DWARF */
	VEC(struct sym_frame) frames;	/* of the current address */
};

static bool has_dwarf(struct image *img)
{
	return img && image_has_dwarf(img);
}

/* Where to look for more files; false when out of memory. */
static bool search_init(struct symbolizer *s, const struct sym_options *o,
			struct debug_search *out)
{
	*out = (struct debug_search){ .binary = image_name(s->img) };
	if (o && o->no_debug_files)
		return true;
	s->debug_dirs = strdup(o && o->debug_dirs ? o->debug_dirs
						  : "/usr/lib/debug");
	out->dirs = s->debug_dirs;
	if (o) {
		out->open_file = o->open_file;
		out->ctx = o->ctx;
	}
	return s->debug_dirs != NULL;
}

static int open_parts(struct symbolizer *s, const struct sym_options *o)
{
	struct debug_search search;
	int rc;

	if (!search_init(s, o, &search))
		return -ERR_NOMEM;
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
	if (!s->has_dwarf)
		return 0;
	rc = dwarf_open(&s->dwarf, s->debug ? s->debug : s->img, &search);
	if (!rc && !s->dwarf.main->info.n) {
		s->has_dwarf = false;
		dwarf_damage(&s->dwarf, ".debug_info: unreadable", 0);
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
		if (open_parts(s, opts) == 0) {
			*out = s;
			return 0;
		}
	}
	symbolizer_close(s);
	return error_set(err, ERR_NOMEM, "%s: out of memory reading symbols",
			 image_name(img));
}

void symbolizer_close(struct symbolizer *s)
{
	if (!s)
		return;
	dwarf_fini(&s->dwarf);
	symtab_fini(&s->symtab);
	vec_fini(&s->frames);
	image_close(s->debug);
	free(s->debug_path);
	free(s->debug_dirs);
	free(s);
}

static int add_frame(struct symbolizer *s, uint64_t die, const char *file,
		     uint32_t line, uint32_t column, bool inlined)
{
	const struct func_name *n = dwarf_name(&s->dwarf, die);
	struct sym_frame f;

	if (!n)
		return -ERR_NOMEM;
	f = (struct sym_frame){ n->name, file, line, column, n->file, n->line,
				inlined, n->lang };
	return vec_push(&s->frames, f) < 0 ? -ERR_NOMEM : 0;
}

/* Frames of one address by DWARF: innermost call first, its file and line from
 * the line table; for each next frame those of the call. */
static int dwarf_frames(struct symbolizer *s, const struct dwarf_batch *b,
			const struct dwarf_hit *h, uint64_t addr)
{
	struct dwarf *d = &s->dwarf;
	struct dwarf_unit *u = &d->main->units.v[h->unit];
	const struct line_row *row = dwarf_find_row(u, addr);
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

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Whether a mangled name has the plain one in it: of a template's name what is
 * before its arguments, of a destructor's what is behind '~'. */
static bool has_plain(const char *mangled, const char *plain)
{
	size_t n;

	plain += *plain == '~';
	n = strcspn(plain, "<");
	return n && memmem(mangled, strlen(mangled), plain, n);
}

/*
 * True when the ELF symbol is the better name of a function that really exists.
 * glibc's DWARF calls malloc by its hidden alias __GI___libc_malloc, which is
 * nobody's word for it.  g++ gives functions of anonymous namespaces and local
 * classes no linkage name, only "run", and clang with -gline-tables-only gives
 * none to any; their symbol says whose run it is.
 */
static bool says_more(const char *symbol, const char *name)
{
	if (!*symbol)
		return false;
	return !strncmp(name, "__GI_", 5) ||
	       (is_mangled(symbol) && !is_mangled(name) &&
		has_plain(symbol, name));
}

/* What an address' result follows from. */
struct source {
	struct dwarf_hit dwarf;
	const struct line_row *row;
	struct symtab_hit symbol;
};

static bool same_source(const struct source *a, const struct source *b)
{
	return a->dwarf.func == b->dwarf.func && a->dwarf.unit == b->dwarf.unit &&
	       a->dwarf.call == b->dwarf.call &&
	       a->dwarf.worker == b->dwarf.worker && a->row == b->row &&
	       a->symbol.name == b->symbol.name &&
	       a->symbol.start == b->symbol.start &&
	       a->symbol.size == b->symbol.size;
}

/* Makes the result of one address; h is NULL without DWARF. */
static int make_result(struct symbolizer *s, const struct dwarf_batch *b,
		       const struct dwarf_hit *h, uint64_t addr,
		       const struct symtab_hit *hit, struct sym_result *r)
{
	struct sym_frame only = { "", "", 0, 0, "", 0, false, 0 };
	struct sym_frame *last;

	s->frames.n = 0;
	*r = (struct sym_result){ .vaddr = addr, .symbol = hit->name,
				  .sym_start = hit->start,
				  .sym_size = hit->size,
				  .sym_file = hit->file };
	if (h && h->unit != UINT32_MAX &&
	    dwarf_frames(s, b, h, addr - s->shift) < 0)
		return -ERR_NOMEM;
	if (!s->frames.n && *r->symbol && vec_push(&s->frames, only) < 0)
		return -ERR_NOMEM;
	if (s->frames.n) {
		last = &s->frames.v[s->frames.n - 1];
		if (!*last->name || says_more(r->symbol, last->name))
			last->name = r->symbol;
	}
	r->frames = s->frames.v;
	r->nframes = s->frames.n;
	return 0;
}

/* Answers by DWARF, whose addresses may be others. */
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

static int find_source(struct symbolizer *s, const struct dwarf_hit *h,
		       uint64_t addr, struct source *out)
{
	*out = (struct source){ .dwarf = { NO_DIE, UINT32_MAX, NO_CALL, 0 } };
	if (h) {
		out->dwarf = *h;
		if (h->unit != UINT32_MAX)
			out->row = dwarf_find_row(
				&s->dwarf.main->units.v[h->unit],
				addr - s->shift);
	}
	return symtab_find(&s->symtab, addr, &out->symbol);
}

bool symbolizer_extent(struct symbolizer *s, uint64_t vaddr, const char **name,
		       uint64_t *start, uint64_t *size)
{
	struct symtab_hit hit;

	if (symtab_find(&s->symtab, vaddr, &hit) < 0 || !hit.size)
		return false;
	*name = hit.name;
	*start = hit.start;
	*size = hit.size;
	return true;
}

int symbolizer_resolve(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
		       sym_cb *cb, void *ctx, struct error *err)
{
	struct dwarf_batch b = { 0 };
	struct sym_result r = { .nframes = 0 };
	struct source from[2];	/* of this address and the one before */
	int rc = 0;
	size_t i;

	if (s->has_dwarf)
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
	if (rc == -ERR_NOMEM)
		return error_set(err, ERR_NOMEM,
				 "%s: out of memory reading symbols",
				 image_name(s->img));
	if (rc)
		return error_set(err, ERR_STOPPED, "stopped");
	return 0;
}

struct sym_sources symbolizer_sources(const struct symbolizer *s)
{
	const char *path = s->debug_path ? s->debug_path : "";
	const char *problem = image_problem(s->img);
	const struct dwarf *d = &s->dwarf;

	if (!*problem && s->debug)
		problem = image_problem(s->debug);
	return (struct sym_sources){
		.symtab = s->symtab.has_symtab,
		.dynsym = s->symtab.has_dynsym,
		.debugdata = s->symtab.mini != NULL,
		.unwind = s->symtab.used_cfi,
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
