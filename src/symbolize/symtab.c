// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up ELF function symbols by address: see symtab.h. */
#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "image/cfi.h"
#include "symbolize/symtab.h"

enum { ARENA_BLOCK = 64 * 1024 };

/* Returns n bytes, or NULL. */
static char *arena_alloc(struct arena *a, size_t n)
{
	char *p;

	if (n > a->left) {
		size_t size = n > ARENA_BLOCK ? n : ARENA_BLOCK;

		p = malloc(size);
		if (!p || vec_push(&a->blocks, p) < 0) {
			free(p);
			return NULL;
		}
		a->p = p;
		a->left = size;
	}
	p = a->p;
	a->p += n;
	a->left -= n;
	return p;
}

static void arena_fini(struct arena *a)
{
	size_t i;

	for (i = 0; i < a->blocks.n; i++)
		free(a->blocks.v[i]);
	vec_fini(&a->blocks);
	a->p = NULL;
	a->left = 0;
}

enum {
	/* Maximum length that the comparison of names distinguishes. */
	NAME_MAX_LEN = 4095,
	/* Longer names are ignored: hostile names may share bytes, but their
	 * copies do not. */
	NAME_LIMIT = 64 << 10,
	/* Maximum number of aliases with different lengths that are compared. */
	MAX_ALIASES = 32,
	/* Maximum bytes of created names; only hostile files exceed it. */
	MAX_MADE = 64 << 20,
	GLOBAL_BIT = 24, BARS_BIT = 32, NEW_BIT = 40, FUNC_BIT, VISIBLE_BIT,
	FILE_BIT,	/* upper bits: index in files, plus 1; 0: none */
	MAX_FILES = (1 << (64 - FILE_BIT)) - 1,
};

struct reading {
	struct symtab_table *t;
	struct image *code;	/* image whose sections end symbols */
	uint64_t code_lo, code_hi;
	uint64_t shift;		/* addresses of the image - addresses of `code` */
	bool nomem;
};

/* Returns whether a name starts with _Z, _R or _D; these underscores are not
 * part of a source name. */
static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' ||
				  (name[1] == 'D' && isdigit(name[2])));
}

static uint64_t symbol_bits(const struct image_symbol *s)
{
	return (uint64_t)(s->bind != STB_LOCAL) << VISIBLE_BIT |
	       (uint64_t)(s->type != STT_NOTYPE) << FUNC_BIT |
	       (uint64_t)!s->old_version << NEW_BIT |
	       (uint64_t)(s->bind != STB_WEAK) << GLOBAL_BIT;
}

/* Returns the length of a name that is compared, without its version. */
static size_t name_length(const struct symtab_entry *e, bool *old)
{
	size_t n = strnlen(e->name, NAME_MAX_LEN);
	const char *at = e->bits >> VISIBLE_BIT & 1 ? memchr(e->name, '@', n) : NULL;

	*old = at && at[1] != '@';
	return at ? (size_t)(at - e->name) : n;
}

/* Returns the rank of a symbol among its aliases.  Only this reads names, because few
 * symbols have aliases. */
static uint64_t alias_rank(const struct symtab_entry *e)
{
	uint64_t rank = e->bits & ((1ull << FILE_BIT) - 1);
	size_t len, bars = 0;
	bool old;

	if (!*e->name)
		return 0;
	len = name_length(e, &old);
	if (old)
		rank &= ~(1ull << NEW_BIT);
	if (!is_mangled(e->name))
		while (bars < 255 && e->name[bars] == '_')
			bars++;
	return rank | (uint64_t)(255 - bars) << BARS_BIT | (uint64_t)(NAME_MAX_LEN - len);
}

/* Returns the number of the symbol's source file in the upper bits, if it fits. */
static uint64_t file_bits(struct reading *r, const struct image_symbol *s)
{
	struct symtab_table *t = r->t;

	if (!*s->file)
		return 0;
	if (!t->files.n || t->files.v[t->files.n - 1] != s->file) {
		if (t->files.n >= MAX_FILES)
			return 0;
		if (vec_push(&t->files, s->file) < 0)
			r->nomem = true;
	}
	return (uint64_t)t->files.n << FILE_BIT;
}

static bool add_symbol(void *ctx, const struct image_symbol *s)
{
	struct reading *r = ctx;
	struct symtab_table *t = r->t;
	struct symtab_entry e = { s->name, symbol_bits(s) | file_bits(r, s) };
	uint64_t end = s->vaddr + s->size;

	/* The code after _init is the PLT, not _init. */
	if (!s->size && !image_code_end(r->code, s->vaddr, &end))
		end = r->code_hi;
	if (s->vaddr < r->code_lo || s->vaddr >= r->code_hi || end < s->vaddr)
		return true;
	if (vec_push(&t->entries, e) < 0 ||
	    range_index_add(s->size ? &t->sized : &t->unsized,
			    s->vaddr + r->shift, end + r->shift,
			    t->entries.n - 1) < 0)
		r->nomem = true;
	return !r->nomem;
}

/* Ends each unsized symbol at the start of the next one. */
static void bound_unsized(struct symtab_table *t)
{
	size_t i, k = 0, next = 0;

	for (i = 0; i < t->unsized.n; i++) {
		struct range *r = &t->unsized.v[i];

		while (k < t->sized.n && t->sized.v[k].lo <= r->lo)
			k++;
		while (next < t->unsized.n && t->unsized.v[next].lo <= r->lo)
			next++;
		if (k < t->sized.n && t->sized.v[k].lo < r->hi)
			r->hi = t->sized.v[k].lo;
		if (next < t->unsized.n && t->unsized.v[next].lo < r->hi)
			r->hi = t->unsized.v[next].lo;
	}
}

/* Reads the symbols of `from`, which is img or another file with its
 * symbols. */
static int read_symbols(struct symtab_table *t, struct image *img,
			struct image *from, enum image_symtab which)
{
	struct reading r = { .t = t, .code = from,
			     .shift = image_shift(img, from) };

	if (!image_code_range(from, &r.code_lo, &r.code_hi))
		r.code_hi = UINT64_MAX;
	image_each_symbol(from, which, add_symbol, &r);
	return r.nomem ? -ERR_NOMEM : 0;
}

static bool better(const struct symtab_entry *a, const struct symtab_entry *b)
{
	uint64_t rank = alias_rank(a), other = alias_rank(b);
	int c;

	if (rank != other)
		return rank > other;
	c = strncmp(a->name, b->name, NAME_MAX_LEN);
	return c ? c < 0 : a < b;	/* both are in one table */
}

/* Keeps only the best name of each range; x is sorted. */
static void drop_aliases(const struct symtab_table *t, struct range_index *x)
{
	size_t i, n = 0;

	for (i = 0; i < x->n; i++) {
		struct range *last = n ? &x->v[n - 1] : NULL;
		const struct range *r = &x->v[i];

		if (!last || last->lo != r->lo || last->hi != r->hi)
			x->v[n++] = *r;
		else if (better(&t->entries.v[r->id], &t->entries.v[last->id]))
			last->id = r->id;
	}
	x->n = n;
}

static int finish_table(struct symtab_table *t)
{
	if (range_index_sort(&t->sized) < 0 ||
	    range_index_sort(&t->unsized) < 0)
		return -ERR_NOMEM;
	drop_aliases(t, &t->sized);
	drop_aliases(t, &t->unsized);
	bound_unsized(t);
	return range_index_sort(&t->sized) < 0 ? -ERR_NOMEM
					       : range_index_sort(&t->unsized);
}

static void fini_table(struct symtab_table *t)
{
	vec_fini(&t->entries);
	vec_fini(&t->files);
	range_index_fini(&t->sized);
	range_index_fini(&t->unsized);
}

int symtab_open(struct symtab *t, struct image *img, struct image *debug)
{
	struct image *names = NULL;
	bool dynsym;
	int rc = 0;

	*t = (struct symtab){ .img = img };
	if (debug && image_has_symtab(debug, &dynsym))
		names = debug;
	if (image_has_symtab(img, &t->has_dynsym))
		names = img;
	if (!names) {
		rc = image_open_debugdata(img, &t->mini);
		if (t->mini && image_has_symtab(t->mini, &dynsym))
			names = t->mini;
	}
	t->has_symtab = names != NULL;
	/* .gnu_debugdata omits the symbols of .dynsym; .symtab has all of them
	 * unless it was stripped manually. */
	t->ask_dynsym = names && names != t->mini;
	if (!rc && names)
		rc = read_symbols(&t->main, img, names, IMAGE_SYMTAB);
	if (!rc && !t->ask_dynsym)
		rc = read_symbols(&t->main, img, img, IMAGE_DYNSYM);
	return rc < 0 ? rc : finish_table(&t->main);
}

void symtab_fini(struct symtab *t)
{
	fini_table(&t->main);
	fini_table(&t->dynsym);
	u64map_fini(&t->stub_names);
	vec_fini(&t->made);
	arena_fini(&t->strings);
	image_close(t->mini);
}

/* Returns a new string in the arena; NULL if there is no room. */
static const char *make_name(struct symtab *t, const char *name, size_t n,
			     const char *suffix)
{
	size_t tail = strlen(suffix);
	char *p;

	if (n > MAX_MADE - t->made_bytes)
		return NULL;
	p = arena_alloc(&t->strings, n + tail + 1);
	if (!p)
		return NULL;
	memcpy(p, name, n);
	memcpy(p + n, suffix, tail + 1);
	t->made_bytes += n;
	return p;
}

/* Returns the name without its version, which is removed at the first hit. */
static const char *entry_name(struct symtab *t, struct symtab_entry *e)
{
	size_t n = strnlen(e->name, NAME_LIMIT);
	const char *at, *cut;

	if (n == NAME_LIMIT)
		return "";
	at = e->bits >> VISIBLE_BIT & 1 ? memchr(e->name, '@', n) : NULL;
	cut = at && at > e->name ? make_name(t, e->name, (size_t)(at - e->name), "")
				 : NULL;
	if (cut) {
		if (at[1] != '@')
			e->bits &= ~(1ull << NEW_BIT);
		e->name = cut;
	}
	return e->name;
}

/* Finds the best of the covering symbols with the innermost start. */
static bool find_in(struct symtab *t, struct symtab_table *table,
		    const struct range_index *x, uint64_t addr,
		    struct symtab_hit *hit)
{
	ptrdiff_t i = range_index_find(x, addr);
	const struct range *best = NULL;
	uint64_t lo, file;
	int left = MAX_ALIASES;

	if (i == RANGE_NONE)
		return false;
	lo = x->v[i].lo;
	for (; i >= 0 && x->v[i].lo == lo && left--; i--) {
		const struct range *r = &x->v[i];

		if (r->hi > addr &&
		    (!best || better(&table->entries.v[r->id],
				     &table->entries.v[best->id])))
			best = r;
	}
	file = table->entries.v[best->id].bits >> FILE_BIT;
	hit->name = entry_name(t, &table->entries.v[best->id]);
	hit->file = file ? table->files.v[file - 1] : "";
	hit->start = best->lo;
	hit->size = best->hi - best->lo;
	hit->from = x == &table->sized ? SYMTAB_SIZED : SYMTAB_UNSIZED;
	return true;
}

static bool find_sized(struct symtab *t, uint64_t addr, struct symtab_hit *hit)
{
	if (find_in(t, &t->main, &t->main.sized, addr, hit))
		return true;
	if (t->ask_dynsym) {
		t->ask_dynsym = false;
		if (read_symbols(&t->dynsym, t->img, t->img,
				 IMAGE_DYNSYM) < 0 ||
		    finish_table(&t->dynsym) < 0)
			t->nomem = true;
	}
	return !t->nomem && find_in(t, &t->dynsym, &t->dynsym.sized, addr, hit);
}

static bool find_unsized(struct symtab *t, uint64_t addr,
			 struct symtab_hit *hit)
{
	return find_in(t, &t->main, &t->main.unsized, addr, hit) ||
	       find_in(t, &t->dynsym, &t->dynsym.unsized, addr, hit);
}

/* Returns objdump's name for a stub whose function the loader chooses. */
static const char *resolver_name(struct symtab *t, uint64_t resolver)
{
	struct symtab_hit hit;
	char text[40];

	if (find_sized(t, resolver, &hit) && hit.start == resolver)
		return make_name(t, hit.name, strlen(hit.name), "@plt");
	snprintf(text, sizeof(text), "*ABS*+0x%" PRIx64, resolver);
	return make_name(t, text, strlen(text), "@plt");
}

/* Finds an unsized function symbol that starts at addr.  In a static program it
 * names the function that the loader will choose. */
static bool find_alias(struct symtab *t, uint64_t addr, struct symtab_hit *hit)
{
	struct symtab_table *m = &t->main;
	ptrdiff_t i = range_index_find(&m->unsized, addr);

	return i != RANGE_NONE && m->unsized.v[i].lo == addr &&
	       (m->entries.v[m->unsized.v[i].id].bits >> FUNC_BIT & 1) &&
	       find_in(t, m, &m->unsized, addr, hit);
}

/* Returns the length of a name without mold's suffixes of stubs: memcmp$plt and
 * memcmp$pltgot. */
static size_t stem_length(const char *name)
{
	const char *tail = strstr(name, "$plt");

	return tail ? (size_t)(tail - name) : strlen(name);
}

static const char *stub_name(struct symtab *t, const struct image_stub *s)
{
	uint32_t *slot = u64map_slot(&t->stub_names, s->start);
	struct symtab_hit hit;
	const char *name;

	if (slot && *slot != U64MAP_NONE)
		return t->made.v[*slot];
	if (s->resolver && find_alias(t, s->start, &hit))
		name = make_name(t, hit.name, stem_length(hit.name), "@plt");
	else if (s->resolver)
		name = resolver_name(t, s->resolver);
	else if (*s->target)
		name = make_name(t, s->target, strnlen(s->target, NAME_LIMIT),
				 "@plt");
	else
		name = make_name(t, s->section, strlen(s->section), "");
	if (!slot || !name || vec_push(&t->made, name) < 0) {
		u64map_clear(&t->stub_names);
		return s->section;
	}
	*slot = (uint32_t)t->made.n - 1;
	return name;
}

static bool find_stub(struct symtab *t, uint64_t addr, struct symtab_hit *hit)
{
	struct image_stub s;

	if (!image_find_stub(t->img, addr, &s))
		return false;
	hit->name = stub_name(t, &s);
	hit->file = "";
	hit->start = s.start;
	hit->size = s.size;
	hit->from = SYMTAB_STUB;
	return true;
}

int symtab_find(struct symtab *t, uint64_t addr, struct symtab_hit *hit)
{
	struct cfi_section s;
	struct cfi_cie cie;
	struct cfi_fde fde;

	*hit = (struct symtab_hit){ .name = "", .file = "" };
	if (find_sized(t, addr, hit) || t->nomem || find_stub(t, addr, hit))
		return t->nomem ? -ERR_NOMEM : 0;
	find_unsized(t, addr, hit);
	if (image_find_fde(t->img, addr, &s, &cie, &fde) &&
	    (!hit->size || fde.start > hit->start)) {
		*hit = (struct symtab_hit){ "", "", fde.start, fde.size,
					    SYMTAB_CFI };
		t->used_cfi = true;
	}
	return 0;
}

static uint64_t next_start(const struct range_index *x, uint64_t addr)
{
	size_t i = (size_t)(range_index_last(x, addr) + 1);

	return i < x->n ? x->v[i].lo : UINT64_MAX;
}

struct next_fde {
	uint64_t after, start;
	int left;
};

static bool note_fde(void *ctx, const struct cfi_section *s,
		     const struct cfi_cie *cie, const struct cfi_fde *fde)
{
	struct next_fde *n = ctx;

	(void)s;
	(void)cie;
	if (fde->start > n->after && fde->start < n->start)
		n->start = fde->start;
	return fde->start <= n->after && n->left--;
}

uint64_t symtab_same_until(struct symtab *t, uint64_t addr,
			   const struct symtab_hit *hit, uint64_t end)
{
	const struct range_index *x[] = { &t->main.sized, &t->dynsym.sized,
					  &t->main.unsized, &t->dynsym.unsized };
	struct next_fde next = { .after = addr, .start = end };
	uint64_t before;

	if (hit->from && hit->start + hit->size < next.start)
		next.start = hit->start + hit->size;
	for (size_t i = 0; i < COUNT(x); i++) {
		uint64_t lo = next_start(x[i], addr);

		if (lo < next.start)
			next.start = lo;
	}
	/* Stubs have no symbol, so that they too may begin here.  Each of two sections
	 * of call frame information is in order, but they stop at the first one found:
	 * the other section may have an earlier one. */
	do {
		before = next.start;
		next.left = MAX_ALIASES;
		if (!hit->from || hit->from == SYMTAB_UNSIZED)
			image_fdes_in(t->img, addr + 1, before, note_fde, &next);
	} while (next.start < before);
	return next.start > addr ? next.start : addr + 1;
}
