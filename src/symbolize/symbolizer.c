// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converts addresses to frames (symbolize.h): looks them up in the image and its debug
 * information (lookup.h), or in the cache of earlier results (symbol_cache.h).
 *
 * The symbols of an image are added to the cache as a whole, because finding one means
 * reading them all.  If an image has very many, only the first ones and those that are
 * requested are added.  Frames are added by address.  When a second recording has other
 * addresses in the same function, the frames of the whole function are added; most
 * functions of short-lived programs are seen only once.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "symbolize/lookup.h"
#include "symbolize/symbol_cache.h"

enum {
	SYMBOLS_MAX = 1 << 16,		/* ranges of symbols added at once */
	WHOLE_FUNCTION = 16 << 10,	/* most bytes of a function added as a whole … */
	WHOLE_ALL = 64 << 10,		/* … and of all those for one call */
};

struct symbolizer {
	struct image *img;
	struct sym_options opts;
	char *debug_dirs;	/* NULL: use no other file */
	struct lookup *lookup;	/* NULL: not opened yet, the cache was enough */
	struct cached_image *known;	/* results from the cache, or NULL */
	VEC(struct sym_frame) known_frames;	/* of the last one */
	bool known_cfi;		/* call frame information gave one */
};

/* Opens the image's sources of names. */
static int open_lookup(struct symbolizer *s)
{
	struct debug_search where = { .binary = image_name(s->img),
				      .dirs = s->debug_dirs };

	if (!s->opts.no_debug_files) {
		where.open_file = s->opts.open_file;
		where.ctx = s->opts.ctx;
	}
	if (s->known) {
		where.looked = cached_add_input;
		where.looked_ctx = s->known;
	}
	return lookup_open(s->img, &where, s->opts.detail, &s->lookup);
}

/* Returns whether results have more frames than the symbol alone provides. */
static bool has_frames(const struct symbolizer *s)
{
	const struct cached_sources *k = cached_image_sources(s->known);

	if (!s->lookup)
		return k->dwarf && !(s->opts.detail == SYM_SYMBOLS && k->symtab);
	return lookup_has_frames(s->lookup);
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
	struct symtab_hit hit;
	int rc = lookup_symbol_range(s->lookup, addr, end, &hit, next);
	uint32_t id;

	if (rc < 0 || !hit.from)
		return rc;
	id = cached_store_symbol(s->known, &(struct cached_symbol){
		hit.name, hit.file, hit.start, hit.size, hit.from == SYMTAB_CFI });
	return id == CACHED_NONE
		       ? -ERR_NOMEM
		       : cached_place_symbol(s->known, addr, *next, id);
}

/* Adds all symbols, or the first ones that there is room for.  This reads much of the
 * file, so its pages are released now and then. */
static void add_symbols(struct symbolizer *s)
{
	enum { RELEASE_SYMBOLS = 1 << 12 };
	uint64_t at, end;
	int rc = 0, n = 0;

	if (!image_code_range(s->img, &at, &end) ||
	    !cached_image_takes(s->known, false, SIZE_MAX))
		return;
	for (; at < end && !rc && n < SYMBOLS_MAX; n++) {
		if (n % RELEASE_SYMBOLS == 0)
			image_release(s->img);
		rc = add_symbol(s, at, end, &at);
	}
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

/* Requests an unknown address, or its whole function if the cache already has frames of
 * it.  Sets *from to the end of what was requested. */
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

	if (unknown && !s->lookup)
		m.rc = open_lookup(s);
	m.with_frames = has_frames(s);
	m.adding = cached_image_takes(s->known, m.with_frames, unknown);
	if (!m.rc && unknown)
		m.rc = ask_all(&m);
	if (!m.rc && m.asked.n) {
		int rc = lookup_resolve(s->lookup, m.asked.v, m.asked.n,
					looked_up, &m);

		m.rc = m.rc ? m.rc : rc;
		end_frames(&m);
	}
	while (!m.rc && m.next < n)
		give_known(&m);
	if (s->lookup)
		cached_image_sort(s->known);
	vec_fini(&m.asked);
	return m.rc;
}

bool symbolizer_extent(struct symbolizer *s, uint64_t vaddr, const char **name,
		       uint64_t *start, uint64_t *size)
{
	uint32_t id = s->known ? cached_symbol_at(s->known, vaddr) : CACHED_NONE;
	struct symtab_hit from;

	if (id != CACHED_NONE) {
		struct cached_symbol hit = cached_symbol(s->known, id);

		s->known_cfi |= hit.cfi;
		*name = hit.name;
		*start = hit.start;
		*size = hit.size;
		return hit.size != 0;
	}
	if ((!s->lookup && open_lookup(s) < 0) ||
	    lookup_symbol(s->lookup, vaddr, &from) < 0 || !from.size)
		return false;
	s->known_cfi |= from.from == SYMTAB_CFI;
	*name = from.name;
	*start = from.start;
	*size = from.size;
	return true;
}

int symbolizer_resolve(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
		       sym_cb *cb, void *ctx, struct error *err)
{
	int rc = s->known ? resolve_mixed(s, vaddrs, n, cb, ctx)
			  : lookup_resolve(s->lookup, vaddrs, n, cb, ctx);

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
	struct sym_sources out;

	if (!s->lookup)
		return known_sources(s);
	out = lookup_sources(s->lookup);
	if (s->known)
		out.unwind = s->known_cfi;
	return out;
}

/* Opens the image's results in the cache. */
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
	rc = open_lookup(s);
	/* Go's table needs no cache: an address is found in it at once. */
	if (s->known && !rc && lookup_sources(s->lookup).go) {
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
		     !*now.unreadable &&
		     !(s->lookup && lookup_incomplete(s->lookup));

	cached_image_close(s->known, whole ? &keep : NULL);
	s->known = NULL;
}

void symbolizer_close(struct symbolizer *s)
{
	if (!s)
		return;
	if (s->known)
		close_known(s);
	lookup_close(s->lookup);
	vec_fini(&s->known_frames);
	free(s->debug_dirs);
	free(s);
}
