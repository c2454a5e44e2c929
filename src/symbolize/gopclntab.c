// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads Go's table of functions and lines: see gopclntab.h.  The formats are
 * those of runtime/symtab.go and debug/gosym/pclntab.go. */
#include "symbolize/gopclntab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

enum {
	MAGIC_12 = (int)0xfffffffb, MAGIC_116 = (int)0xfffffffa,
	MAGIC_118 = (int)0xfffffff0, MAGIC_120 = (int)0xfffffff1,
	NAME_LIMIT = 64 << 10,
	INL_TREE = 3,		/* FUNCDATA_InlTree */
	INL_INDEX = 2,		/* PCDATA_InlTreeIndex */
	/* Maximum steps in line tables for all lookups together. */
	STEPS = 1 << 30,
};

enum go_version { GO_12, GO_116, GO_118, GO_120 };

/* A function's entry in the table. */
struct func {
	uint64_t entry, end;
	uint64_t at;		/* offset of its data in the table */
	uint32_t name, file_pcs, line_pcs, npcdata, unit;
	uint8_t nfuncdata;
	uint64_t pcdata;	/* position of its offsets of pcdata tables */
};

/* State of a walk through a table of (value, pc) steps, so that ascending
 * addresses do not restart it. */
struct walk {
	uint64_t at;		/* offset of its table; 0: none */
	uint64_t entry;
	uint64_t next;		/* position of the next step */
	uint64_t lo, hi;	/* range of addresses with `value` */
	int32_t value;
};

struct gopclntab {
	struct image *img;
	const uint8_t *p;
	size_t n;
	uint64_t vaddr;
	enum go_version version;
	uint8_t quantum;
	uint64_t nfunc;
	uint64_t text;		/* base address of function entries */
	uint64_t names, units, files, pcs, funcs;	/* offsets */
	uint64_t file_table;	/* GO_12 */
	uint64_t gofunc;	/* address of function data, 0: unknown */
	struct walk walks[3];	/* files, lines, inlined calls */
	uint64_t steps;
};

enum { WALK_FILE, WALK_LINE, WALK_INLINED };

/* Returns a value at an offset of the table; 0 outside of it. */
static uint64_t get(const struct gopclntab *t, uint64_t off, unsigned size)
{
	uint64_t v = 0;

	if (off > t->n || t->n - off < size)
		return 0;
	memcpy(&v, t->p + off, size);
	return v;
}

static uint32_t get4(const struct gopclntab *t, uint64_t off)
{
	return (uint32_t)get(t, off, 4);
}

/* Returns the string at an offset; "" if there is none. */
static const char *text_at(const struct gopclntab *t, uint64_t off)
{
	size_t left;

	if (off >= t->n)
		return "";
	left = t->n - off < NAME_LIMIT ? t->n - off : NAME_LIMIT;
	return memchr(t->p + off, 0, left) ? (const char *)t->p + off : "";
}

/* Returns the relocations that produce the addresses of a position-independent
 * program. */
static struct span relocations(struct image *img)
{
	uint64_t at = image_dynamic(img, DT_RELA);
	uint64_t n = image_dynamic(img, DT_RELASZ);

	return at && n ? image_bytes(img, at, n) : (struct span){ NULL, 0 };
}

/* Returns the address stored at `at` while the program runs. */
static uint64_t word_at(struct image *img, uint64_t at)
{
	struct span s = image_bytes(img, at, 8), r;
	uint64_t v = 0;
	size_t i;

	if (s.n < 8)
		return 0;
	memcpy(&v, s.p, 8);
	if (v)
		return v;
	r = relocations(img);
	for (i = 0; i + sizeof(Elf64_Rela) <= r.n; i += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;

		memcpy(&rela, r.p + i, sizeof(rela));
		if (rela.r_offset == at)
			return (uint64_t)rela.r_addend;
	}
	return 0;
}

static bool header_begins(const uint8_t *p)
{
	uint32_t magic;

	memcpy(&magic, p, 4);
	return (magic == (uint32_t)MAGIC_12 || magic == (uint32_t)MAGIC_116 ||
		magic == (uint32_t)MAGIC_118 || magic == (uint32_t)MAGIC_120) &&
	       !p[4] && !p[5] && (p[6] == 1 || p[6] == 2 || p[6] == 4) &&
	       p[7] == 8;
}

static void read_offsets(struct gopclntab *t)
{
	unsigned at = t->version >= GO_118 ? 32 : 24;

	t->nfunc = get(t, 8, 8);
	if (t->version == GO_12) {
		t->funcs = 16;
		return;
	}
	t->text = t->version >= GO_118 ? word_at(t->img, t->vaddr + 24) : 0;
	t->names = get(t, at, 8);
	t->units = get(t, at + 8, 8);
	t->files = get(t, at + 16, 8);
	t->pcs = get(t, at + 24, 8);
	t->funcs = get(t, at + 32, 8);
}

/* Returns the size of an entry of the function table. */
static unsigned entry_size(const struct gopclntab *t)
{
	return t->version >= GO_118 ? 8 : 16;
}

static uint64_t entry_pc(const struct gopclntab *t, uint64_t i)
{
	uint64_t at = t->funcs + i * entry_size(t);

	return t->version >= GO_118 ? t->text + get4(t, at) : get(t, at, 8);
}

static bool is_code(struct image *img, uint64_t addr)
{
	const struct image_segment *seg;
	size_t n = image_segments(img, &seg), i;

	for (i = 0; i < n; i++)
		if (seg[i].exec && addr - seg[i].vaddr < seg[i].filesz)
			return true;
	return false;
}

/* Returns whether the header is valid: the first function of the table is
 * code. */
static bool usable(struct gopclntab *t)
{
	uint64_t room;

	if (t->funcs >= t->n || t->names >= t->n || t->files >= t->n ||
	    t->units >= t->n || t->pcs >= t->n)
		return false;
	room = (t->n - t->funcs) / entry_size(t);
	if (!t->nfunc || t->nfunc >= room)
		return false;
	if (t->version == GO_12)
		t->file_table = get4(t, t->funcs + t->nfunc * 16 + 8);
	return is_code(t->img, entry_pc(t, 0));
}

/* Tries the bytes at vaddr as the table.  Returns false if they are not one. */
static bool try_table(struct gopclntab *t, uint64_t vaddr, struct span s)
{
	uint32_t magic;

	if (s.n < 72 || !header_begins(s.p))
		return false;
	memcpy(&magic, s.p, 4);
	t->version = magic == (uint32_t)MAGIC_12	? GO_12
		     : magic == (uint32_t)MAGIC_116	? GO_116
		     : magic == (uint32_t)MAGIC_118	? GO_118
							: GO_120;
	t->p = s.p;
	t->n = s.n;
	t->vaddr = vaddr;
	t->quantum = s.p[6];
	read_offsets(t);
	return usable(t);
}

static bool try_section(struct gopclntab *t, const char *name)
{
	uint64_t vaddr, size;

	return image_section_range(t->img, name, &vaddr, &size) &&
	       try_table(t, vaddr, image_bytes(t->img, vaddr, size));
}

/* Gives the bytes of the segments without code, one after the other, with their
 * addresses.  In all they are at most twice the file: segments of a hostile one
 * may overlap. */
struct data_search {
	struct image *img;
	size_t next, left;
};

static struct data_search search_data(struct image *img)
{
	return (struct data_search){ img, 0, 2 * image_file_bytes(img).n };
}

static bool next_data(struct data_search *d, uint64_t *vaddr, struct span *s)
{
	const struct image_segment *seg;
	size_t n = image_segments(d->img, &seg);

	while (d->next < n) {
		const struct image_segment *at = &seg[d->next++];

		if (at->exec)
			continue;
		*vaddr = at->vaddr;
		*s = image_bytes(d->img, at->vaddr, d->left);
		d->left -= s->n;
		return true;
	}
	return false;
}

/* Searches for the table's magic, if there are no section headers or the table has no
 * section of its own. */
static bool search_segments(struct gopclntab *t)
{
	struct data_search d = search_data(t->img);
	uint64_t vaddr;
	struct span s;

	while (next_data(&d, &vaddr, &s))
		for (size_t at = 0; at + 72 <= s.n; at += 8)
			if (s.p[at + 3] == 0xff && s.p[at + 2] == 0xff &&
			    try_table(t, vaddr + at,
				      (struct span){ s.p + at, s.n - at }))
				return true;
	return false;
}

/* Returns whether the image is a Go program: the linker puts a mark at the
 * beginning of its data (debug/buildinfo searches the same range). */
static bool is_go(struct image *img)
{
	enum { AS_FAR = 64 << 10 };
	static const char magic[] = "\xff Go buildinf:";
	struct data_search d = search_data(img);
	uint64_t vaddr;
	struct span s;

	while (next_data(&d, &vaddr, &s))
		if (s.n && memmem(s.p, s.n < AS_FAR ? s.n : AS_FAR, magic,
				  sizeof(magic) - 1))
			return true;
	return false;
}

/* Returns the address of the runtime's module data, which begins with the
 * address of the table; 0 if it is not found. */
static uint64_t find_module(struct gopclntab *t)
{
	struct span r = relocations(t->img), s;
	struct data_search d = search_data(t->img);
	uint64_t names = t->vaddr + t->names, vaddr;
	size_t i, at;

	for (i = 0; i + sizeof(Elf64_Rela) <= r.n; i += sizeof(Elf64_Rela)) {
		Elf64_Rela a;

		memcpy(&a, r.p + i, sizeof(a));
		if ((uint64_t)a.r_addend == t->vaddr &&
		    word_at(t->img, a.r_offset + 8) == names)
			return a.r_offset;
	}
	while (next_data(&d, &vaddr, &s))
		for (at = 0; at + 16 <= s.n; at += 8)
			if (!memcmp(s.p + at, &t->vaddr, 8) &&
			    !memcmp(s.p + at + 8, &names, 8))
				return vaddr + at;
	return 0;
}

/* Finds the data of functions.  The module data's fields are the slices of the
 * table, findfunctab, then addresses. text is the fourth address and gofunc the
 * 20th; since Go 1.20, which added two fields, gofunc is the 22nd. */
static void find_function_data(struct gopclntab *t)
{
	enum { WORDS_BEFORE = 19 };
	uint64_t module = t->version >= GO_118 ? find_module(t) : 0;
	uint64_t etext, rodata, types;
	unsigned last = t->version == GO_118 ? 38 : 40;

	if (!module || word_at(t->img, module + 8 * (WORDS_BEFORE + 3)) !=
			       t->text)
		return;
	etext = word_at(t->img, module + 8 * (WORDS_BEFORE + 4));
	types = word_at(t->img, module + 8 * (last - 3));
	rodata = word_at(t->img, module + 8 * (last - 1));
	/* later versions may have moved the field */
	if (etext > t->text && types >= etext && rodata >= etext)
		t->gofunc = word_at(t->img, module + 8 * last);
}

int gopclntab_open(struct image *img, struct gopclntab **out)
{
	struct gopclntab *t;

	*out = NULL;
	if (!image_is_64(img))
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ERR_NOMEM;
	t->img = img;
	t->steps = STEPS;
	if (!try_section(t, ".gopclntab") &&
	    !try_section(t, ".data.rel.ro.gopclntab") &&
	    !(is_go(img) && search_segments(t))) {
		free(t);
		return 0;
	}
	find_function_data(t);
	*out = t;
	return 0;
}

void gopclntab_close(struct gopclntab *t)
{
	free(t);
}

/* Reads the function's data, to which its entry in the table points. */
static bool read_func(struct gopclntab *t, uint64_t i, struct func *f)
{
	uint64_t at = t->funcs + i * entry_size(t);
	unsigned head = t->version >= GO_118 ? 4 : 8;
	uint64_t base = t->version == GO_12 ? 0 : t->funcs, tail;

	f->entry = entry_pc(t, i);
	f->end = entry_pc(t, i + 1);
	f->at = base + (t->version >= GO_118 ? get4(t, at + 4)
					     : get(t, at + 8, 8));
	if (f->at >= t->n || t->n - f->at < 44 || f->end <= f->entry)
		return false;
	at = f->at + head;
	f->name = get4(t, at);
	f->file_pcs = get4(t, at + 16);
	f->line_pcs = get4(t, at + 20);
	f->npcdata = get4(t, at + 24);
	f->unit = t->version == GO_12 ? 0 : get4(t, at + 28);
	tail = at + (t->version == GO_12 ? 28 : t->version == GO_120 ? 36 : 32);
	f->nfuncdata = (uint8_t)get(t, tail + 3, 1);
	f->pcdata = tail + 4;
	return true;
}

/* Finds the function that covers addr. */
static bool find_func(struct gopclntab *t, uint64_t addr, struct func *f)
{
	uint64_t next;

	if (addr < entry_pc(t, 0) || addr >= entry_pc(t, t->nfunc))
		return false;
	lower_bound(next, 1, t->nfunc, entry_pc(t, next) <= addr);
	return read_func(t, next - 1, f) && addr >= f->entry && addr < f->end;
}

static const char *func_name(const struct gopclntab *t, uint32_t off)
{
	return text_at(t, t->names + off);
}

bool gopclntab_find(struct gopclntab *t, uint64_t addr, struct go_func *out)
{
	struct func f;

	if (!find_func(t, addr, &f))
		return false;
	*out = (struct go_func){ func_name(t, f.name), f.entry,
				 f.end - f.entry };
	return true;
}

static bool read_uleb(const struct gopclntab *t, uint64_t *at, uint32_t *out)
{
	unsigned shift;

	*out = 0;
	for (shift = 0; shift < 35; shift += 7) {
		uint8_t b;

		if (*at >= t->n)
			return false;
		b = t->p[(*at)++];
		*out |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return true;
	}
	return false;
}

/* Advances by one step.  Returns false at the end. */
static bool walk_step(struct gopclntab *t, struct walk *w, bool first)
{
	uint32_t delta, pcs;

	if (!t->steps || !read_uleb(t, &w->next, &delta) ||
	    (!delta && !first) || !read_uleb(t, &w->next, &pcs))
		return false;
	t->steps--;
	w->value = (int32_t)((uint32_t)w->value +
			     ((delta >> 1) ^ (0 - (delta & 1))));
	w->lo = w->hi;
	w->hi += (uint64_t)pcs * t->quantum;
	return true;
}

/* Returns a table's value for an address; -1 if it has none. */
static int32_t value_at(struct gopclntab *t, struct walk *w, uint32_t table,
			uint64_t entry, uint64_t addr)
{
	uint64_t at = t->pcs + table;

	if (!table)
		return -1;
	if (w->at != at || w->entry != entry || addr < w->lo) {
		*w = (struct walk){ at, entry, at, entry, entry, -1 };
		if (!walk_step(t, w, true)) {
			w->at = 0;
			return -1;
		}
	}
	while (addr >= w->hi)
		if (!walk_step(t, w, false)) {
			w->at = 0;
			return -1;
		}
	return w->value;
}

static const char *file_name(const struct gopclntab *t, const struct func *f,
			     int32_t file)
{
	uint64_t off;

	if (file < 0)
		return "";
	if (t->version == GO_12) {
		off = t->file_table;
		if ((uint32_t)file >= get4(t, off))
			return "";
		return text_at(t, get4(t, off + 4 * (uint64_t)file));
	}
	off = get4(t, t->units + 4 * ((uint64_t)f->unit + (uint64_t)file));
	return off == UINT32_MAX ? "" : text_at(t, t->files + off);
}

/* Sets file and line for an address of the function. */
static void put_place(struct gopclntab *t, const struct func *f, uint64_t addr,
		      struct walk *walks, struct go_frame *out)
{
	int32_t line = value_at(t, &walks[WALK_LINE], f->line_pcs, f->entry,
				addr);

	out->file = file_name(t, f, value_at(t, &walks[WALK_FILE], f->file_pcs,
					     f->entry, addr));
	out->line = line > 0 ? (uint32_t)line : 0;
}

/* Returns the image address of the function's tree of inlined calls; 0 if it
 * has none. */
static uint64_t inline_tree(const struct gopclntab *t, const struct func *f)
{
	uint64_t at = f->pcdata + 4 * ((uint64_t)f->npcdata + INL_TREE);
	uint32_t off;

	if (!t->gofunc || f->npcdata <= INL_INDEX || f->nfuncdata <= INL_TREE ||
	    f->npcdata > 64 || at + 4 > t->n)
		return 0;
	off = get4(t, at);
	return off == UINT32_MAX ? 0 : t->gofunc + off;
}

/* Reads call number i of a tree: the name of the inlined function, and an
 * address whose position is that of the call. */
static bool read_call(const struct gopclntab *t, uint64_t tree, int32_t i,
		      uint32_t *name, uint32_t *parent_pc)
{
	unsigned size = t->version >= GO_120 ? 16 : 20;
	unsigned at = t->version >= GO_120 ? 4 : 12;
	struct span s;

	if (i < 0 || i > 1 << 20)
		return false;
	s = image_bytes(t->img, tree + (uint64_t)i * size, size);
	if (s.n < size)
		return false;
	memcpy(name, s.p + at, 4);
	memcpy(parent_pc, s.p + at + 4, 4);
	return true;
}

size_t gopclntab_frames(struct gopclntab *t, uint64_t addr,
			struct go_frame *out)
{
	struct walk *walks = t->walks, outer[3] = { 0 };
	struct func f;
	uint64_t tree;
	size_t n = 0;

	if (!find_func(t, addr, &f))
		return 0;
	put_place(t, &f, addr, walks, &out[n]);
	tree = inline_tree(t, &f);
	while (tree && n + 1 < GO_MAX_FRAMES) {
		uint32_t table = get4(t, f.pcdata + 4 * INL_INDEX);
		uint32_t name, parent_pc;

		if (!read_call(t, tree, value_at(t, &walks[WALK_INLINED], table,
						 f.entry, addr),
			       &name, &parent_pc) ||
		    parent_pc >= f.end - f.entry)
			break;
		out[n++].name = func_name(t, name);
		addr = f.entry + parent_pc;
		walks = outer;
		put_place(t, &f, addr, walks, &out[n]);
	}
	out[n++].name = func_name(t, f.name);
	return n;
}
