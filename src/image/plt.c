// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names procedure linkage stubs.  The file does not name them, but each one
 * jumps through a slot of the global offset table.  The relocation of that slot
 * names the function.  Stubs are found by that jump, regardless of the
 * surrounding instructions.  So the forms of bfd, gold, lld and mold (lazy or
 * not, with or without branch tracking) need no tables of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "image/image_internal.h"

struct stub {
	uint64_t start, end;
	uint64_t slot;		/* address of the slot with the function's address */
	const char *target;	/* NULL: the slot has no relocation */
	uint64_t resolver;	/* IRELATIVE: the addend, or its address */
	bool relative, in_place;
	uint32_t sect;
};

struct plt {
	VEC(uint32_t) sects;
	bool scanned;
	uint64_t budget;	/* remaining work; sections of hostile files may
				 * overlap */
	VEC(struct stub) stubs;	/* by start */
	uint32_t *by_slot;	/* indices of stubs, sorted by slot */
	uint64_t got;		/* value of %ebx in i386 stubs */
	bool nomem;
};

/* Maximum size of a stub. */
enum { MAX_STUB = 32 };

void plt_free(struct plt *p)
{
	if (!p)
		return;
	vec_fini(&p->sects);
	vec_fini(&p->stubs);
	free(p->by_slot);
	free(p);
}

static bool is_plt(const struct image_sect *s)
{
	return (s->flags & SHF_EXECINSTR) && s->type == SHT_PROGBITS &&
	       (!strcmp(s->name, ".plt") || !strcmp(s->name, ".iplt") ||
		!strncmp(s->name, ".plt.", 5));
}

static uint32_t get_u32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* Returns the length of an instruction that jumps through a slot, 0 for others:
 * jmp *slot(%rip), or mov slot(%rip),%r11 before a retpoline; i386: jmp *slot,
 * jmp *offset(%ebx). */
static size_t x86_jump(const struct image *img, const struct plt *plt,
		       const uint8_t *p, size_t left, uint64_t vaddr,
		       uint64_t *slot)
{
	bool is64 = img->ehdr.e_machine == EM_X86_64;
	uint32_t v;

	if (left < 6)
		return 0;
	if (is64 && left >= 7 && p[0] == 0x4c && p[1] == 0x8b && p[2] == 0x1d) {
		*slot = vaddr + 7 + (uint64_t)(int32_t)get_u32(p + 3);
		return 7;
	}
	if (p[0] != 0xff || (p[1] != 0x25 && (is64 || p[1] != 0xa3)))
		return 0;
	v = get_u32(p + 2);
	*slot = is64 ? vaddr + 6 + (uint64_t)(int32_t)v
		: p[1] == 0x25 ? v : (uint32_t)(plt->got + v);
	return 6;
}

static bool is_endbr(const uint8_t *p)
{
	return p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e &&
	       (p[3] & 0xfe) == 0xfa;
}

/* Returns the number of bytes of a stub before its jump: endbr; mov $n,%r11d
 * (%ecx); bnd. */
static size_t x86_prefix(const uint8_t *code, size_t at)
{
	size_t n = at;

	if (n >= 1 && code[n - 1] == 0xf2)
		n--;
	if (n >= 6 && code[n - 6] == 0x41 && code[n - 5] == 0xbb)
		n -= 6;
	else if (n >= 9 && code[n - 5] == 0xb9 && is_endbr(code + n - 9))
		n -= 5;
	if (n >= 4 && is_endbr(code + n - 4))
		n -= 4;
	return at - n;
}

static void add_stub(struct plt *plt, uint64_t start, uint64_t slot,
		     uint32_t sect)
{
	struct stub s = { .start = start, .slot = slot, .sect = sect };

	if (vec_push(&plt->stubs, s) < 0)
		plt->nomem = true;
}

static void scan_x86(const struct image *img, struct plt *plt,
		     const struct image_sect *s, struct span code, uint32_t n)
{
	size_t i = 0, len;

	while (i < code.n && !plt->nomem) {
		uint64_t slot;

		len = x86_jump(img, plt, code.p + i, code.n - i, s->addr + i,
			       &slot);
		if (len)
			add_stub(plt, s->addr + i - x86_prefix(code.p, i),
				 slot, n);
		i += len ? len : 1;
	}
}

/* [bti c]; adrp x16, page; ldr x17, [x16, #offset]; add x16, …; br x17 */
static void scan_aarch64(struct plt *plt, const struct image_sect *s,
			 struct span code, uint32_t n)
{
	enum { BTI_C = 0xd503245fu };
	size_t i;

	for (i = 0; i + 8 <= code.n && !plt->nomem; i += 4) {
		uint32_t adrp = get_u32(code.p + i);
		uint32_t ldr = get_u32(code.p + i + 4);
		bool bti = i >= 4 && get_u32(code.p + i - 4) == BTI_C;
		uint64_t at = s->addr + i, page;

		if ((adrp & 0x9f00001f) != 0x90000010 ||
		    (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		page = (uint64_t)(adrp >> 29 & 3) | (adrp >> 5 & 0x7ffff) << 2;
		if (page & 1 << 20)
			page |= ~0ull << 21;
		add_stub(plt, at - (bti ? 4 : 0),
			 (at & ~0xfffull) + (page << 12) +
				 (ldr >> 10 & 0xfff) * 8, n);
	}
}

static bool spend(struct plt *plt, uint64_t n)
{
	if (n > plt->budget)
		return false;
	plt->budget -= n;
	return true;
}

static void scan_sections(struct image *img, struct plt *plt)
{
	size_t i;

	for (i = 0; i < plt->sects.n; i++) {
		uint32_t n = plt->sects.v[i];
		struct image_sect *s = &img->sects.v[n];
		struct span code = image_sect_data(img, s);

		if (!spend(plt, code.n))
			continue;
		if (img->ehdr.e_machine == EM_AARCH64)
			scan_aarch64(plt, s, code, n);
		else if (img->ehdr.e_machine == EM_X86_64 ||
			 img->ehdr.e_machine == EM_386)
			scan_x86(img, plt, s, code, n);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return ascending(x->start, y->start);
}

static int by_slot(const void *a, const void *b, void *ctx)
{
	const struct stub *v = ctx;
	const struct stub *x = &v[*(const uint32_t *)a];
	const struct stub *y = &v[*(const uint32_t *)b];

	return ascending(x->slot, y->slot);
}

/* Sorts by start; each stub ends where the next begins, or with its section. */
static bool sort_stubs(const struct image *img, struct plt *plt)
{
	size_t i, n = plt->stubs.n;

	plt->by_slot = malloc((n + 1) * sizeof(*plt->by_slot));
	if (!plt->by_slot)
		return false;
	sort_rows(plt->stubs.v, n, by_start);
	for (i = 0; i < n; i++) {
		struct stub *s = &plt->stubs.v[i];
		const struct image_sect *sect = &img->sects.v[s->sect];

		s->end = sect->addr + sect->size;
		if (i + 1 < n && s[1].start < s->end)
			s->end = s[1].start;
		if (s->end - s->start > MAX_STUB)
			s->end = s->start + MAX_STUB;
		plt->by_slot[i] = (uint32_t)i;
	}
	sort_rows_r(plt->by_slot, n, by_slot, plt->stubs.v);
	return true;
}

enum slot_kind { SLOT_OTHER, SLOT_SYMBOL, SLOT_RELATIVE };

static enum slot_kind slot_kind(uint16_t machine, uint64_t type)
{
	static const struct { uint16_t machine, type; uint8_t kind; } kinds[] = {
		{ EM_X86_64, R_X86_64_JUMP_SLOT, SLOT_SYMBOL },
		{ EM_X86_64, R_X86_64_GLOB_DAT, SLOT_SYMBOL },
		{ EM_X86_64, R_X86_64_64, SLOT_SYMBOL },
		{ EM_X86_64, R_X86_64_IRELATIVE, SLOT_RELATIVE },
		{ EM_386, R_386_JMP_SLOT, SLOT_SYMBOL },
		{ EM_386, R_386_GLOB_DAT, SLOT_SYMBOL },
		{ EM_386, R_386_32, SLOT_SYMBOL },
		{ EM_386, R_386_IRELATIVE, SLOT_RELATIVE },
		{ EM_AARCH64, R_AARCH64_JUMP_SLOT, SLOT_SYMBOL },
		{ EM_AARCH64, R_AARCH64_GLOB_DAT, SLOT_SYMBOL },
		{ EM_AARCH64, R_AARCH64_ABS64, SLOT_SYMBOL },
		{ EM_AARCH64, R_AARCH64_IRELATIVE, SLOT_RELATIVE },
	};
	size_t i;

	for (i = 0; i < COUNT(kinds); i++)
		if (kinds[i].machine == machine && kinds[i].type == type)
			return (enum slot_kind)kinds[i].kind;
	return SLOT_OTHER;
}

/* Returns the first stub (in by_slot) that jumps through the slot; n if there
 * is none. */
static size_t find_slot(const struct plt *plt, uint64_t slot)
{
	size_t at;

	lower_bound(at, 0, plt->stubs.n,
		    plt->stubs.v[plt->by_slot[at]].slot < slot);
	return at;
}

static void name_stubs(struct image *img, struct plt *plt,
		       const struct reloc_table *t,
		       const struct symbol_table *syms)
{
	enum { RELEASE_RELOCS = 1 << 16 };	/* 1.5 MB */
	uint16_t machine = img->ehdr.e_machine;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		enum slot_kind kind;
		struct reloc r;
		Elf64_Sym sym;

		if (i % RELEASE_RELOCS == RELEASE_RELOCS - 1)
			image_release_span(img, t->bytes.p, t->bytes.n);
		reloc_read(t, i, &r);
		kind = slot_kind(machine, r.type);
		if (kind == SLOT_OTHER || (kind == SLOT_SYMBOL &&
					   (!r.sym || r.sym >= syms->n)))
			continue;
		for (k = find_slot(plt, r.offset); k < plt->stubs.n; k++) {
			struct stub *s = &plt->stubs.v[plt->by_slot[k]];

			if (s->slot != r.offset || s->target)
				break;
			s->target = "";
			if (kind == SLOT_RELATIVE) {
				s->relative = true;
				s->in_place = r.in_place;
				s->resolver = r.in_place ? r.offset
							 : (uint64_t)r.addend;
				continue;
			}
			symbol_table_get(syms, (size_t)r.sym, &sym);
			s->target = symbol_table_name(syms, &sym);
		}
	}
}

/* Reads relocations that the loader applies.  The small tables of stubs come
 * first; the large table for data is only read while stubs lack names. */
static void read_relocs(struct image *img, struct plt *plt)
{
	struct symbol_table syms = { 0 };
	struct image_sect *dyn = image_find_type(img, SHT_DYNSYM);
	size_t i, k;

	if (dyn && !symbol_table_open(img, dyn, &syms))
		syms.n = 0;
	for (i = 0; i < 2 * img->sects.n; i++) {
		struct image_sect *s = &img->sects.v[i % img->sects.n];
		bool data = !strcmp(s->name, ".rela.dyn") ||
			    !strcmp(s->name, ".rel.dyn");
		struct reloc_table t;

		if ((s->type != SHT_RELA && s->type != SHT_REL) ||
		    !(s->flags & SHF_ALLOC) || data != (i >= img->sects.n))
			continue;
		for (k = 0; data && k < plt->stubs.n; k++)
			if (!plt->stubs.v[k].target)
				break;
		if (data && k == plt->stubs.n)
			return;
		reloc_table_init(&t, image_sect_data(img, s),
				 s->type == SHT_RELA, image_is_64(img));
		if (!spend(plt, t.bytes.n))
			continue;
		name_stubs(img, plt, &t, &syms);
	}
}

/* Removes jumps through other slots, which belong to the common part. */
static void drop_unnamed(struct plt *plt)
{
	size_t i, n = 0;

	for (i = 0; i < plt->stubs.n; i++)
		if (plt->stubs.v[i].target)
			plt->stubs.v[n++] = plt->stubs.v[i];
	plt->stubs.n = n;
}

static struct plt *get_plt(struct image *img)
{
	struct plt *plt = img->plt;
	size_t i;

	if (plt)
		return plt;
	plt = calloc(1, sizeof(*plt));
	img->plt = plt;
	for (i = 0; plt && i < img->sects.n && i < UINT32_MAX; i++)
		if (is_plt(&img->sects.v[i]) &&
		    vec_push(&plt->sects, (uint32_t)i) < 0)
			break;
	return plt;
}

static void find_with_got(struct image *img, struct plt *plt, uint64_t got)
{
	free(plt->by_slot);
	plt->by_slot = NULL;
	plt->stubs.n = 0;
	plt->got = got;
	plt->budget = img->bytes.n;
	scan_sections(img, plt);
	if (plt->nomem || !plt->stubs.n || !sort_stubs(img, plt)) {
		plt->stubs.n = 0;
		return;
	}
	read_relocs(img, plt);
	drop_unnamed(plt);
}

/* Finds the stubs.  Those of i386 are relative to %ebx, which holds the start
 * of .got.plt or, with mold, of .got.  The base that gives the most slots a
 * name is used. */
static void find_stubs(struct image *img, struct plt *plt)
{
	static const char *const tables[] = { ".got.plt", ".got" };
	uint64_t best = 0;
	size_t i, most;

	plt->scanned = true;
	find_with_got(img, plt, 0);
	if (img->ehdr.e_machine != EM_386)
		return;
	most = plt->stubs.n;
	for (i = 0; i < 2; i++) {
		struct image_sect *got = image_find_sect(img, tables[i]);

		if (!got)
			continue;
		find_with_got(img, plt, got->addr);
		if (plt->stubs.n > most) {
			most = plt->stubs.n;
			best = got->addr;
		}
	}
	if (plt->got != best)
		find_with_got(img, plt, best);
}

static const struct image_sect *section_at(const struct image *img,
					   const struct plt *plt,
					   uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < plt->sects.n; i++) {
		const struct image_sect *s = &img->sects.v[plt->sects.v[i]];

		if (vaddr >= s->addr && vaddr - s->addr < s->size)
			return s;
	}
	return NULL;
}

/* Returns the last stub that starts at or before vaddr; NULL if there is
 * none. */
static const struct stub *stub_before(const struct plt *plt, uint64_t vaddr)
{
	size_t at;

	if (!plt->stubs.n || plt->stubs.v[0].start > vaddr)
		return NULL;
	last_where(at, plt->stubs.n, plt->stubs.v[at].start <= vaddr);
	return &plt->stubs.v[at];
}

/* Returns the address of an IFUNC's resolver: the addend, or the contents of
 * the slot. */
static uint64_t resolver_of(const struct image *img, const struct stub *s)
{
	struct span at;

	if (!s->relative || !s->in_place)
		return s->relative ? s->resolver : 0;
	at = image_bytes(img, s->resolver, 4);
	return at.n == 4 ? get_u32(at.p) : 0;
}

/* Describes code around the stubs: the common part, and stubs without a
 * recognized jump.  `before` is the stub that ends before vaddr, or NULL. */
static void common_part(const struct plt *plt, const struct image_sect *sect,
			const struct stub *before, struct image_stub *out)
{
	const struct stub *next = before ? before + 1 : plt->stubs.v;
	uint64_t lo = sect->addr, hi = sect->addr + sect->size;

	if (before && before->end > lo)
		lo = before->end;
	if (next && next < plt->stubs.v + plt->stubs.n && next->start < hi)
		hi = next->start;
	out->start = lo;
	out->size = hi - lo;
}

bool image_find_stub(struct image *img, uint64_t vaddr, struct image_stub *out)
{
	const struct image_sect *sect;
	const struct stub *s;
	struct plt *plt;

	if (img->ehdr.e_type == ET_REL)
		return false;
	plt = get_plt(img);
	sect = plt ? section_at(img, plt, vaddr) : NULL;
	if (!sect)
		return false;
	if (!plt->scanned)
		find_stubs(img, plt);
	*out = (struct image_stub){ .section = sect->name, .target = "" };
	s = stub_before(plt, vaddr);
	if (!s || vaddr >= s->end) {
		common_part(plt, sect, s, out);
		return true;
	}
	out->start = s->start;
	out->size = s->end - s->start;
	out->target = s->target;
	out->resolver = resolver_of(img, s);
	return true;
}
