// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lays out and relocates relocatable files (ET_REL: .o, .ko).  Their sections
 * have no addresses yet.  Loadable sections are laid out consecutively from 0:
 * code first, then code that runs only once (.init.text), then the rest, each
 * in file order and aligned.  That is how the kernel lays out a module's text,
 * and it leaves a .o's .text at 0, where nm and objdump show it.
 *
 * DWARF references to code or to other sections are empty until relocations are
 * applied.  Only the kinds that debug sections use are supported.
 */
#include <string.h>

#include "base/cursor.h"
#include "image/image_internal.h"

/* Larger alignments are ignored; sections end long before addresses wrap. */
enum { MAX_ALIGN = 2 << 20 };
#define LAYOUT_END (1ull << 46)

enum pass { PASS_CODE, PASS_INIT, PASS_DATA, PASSES };

static enum pass pass_of(const struct image_sect *s)
{
	if (!(s->flags & SHF_EXECINSTR))
		return PASS_DATA;
	return strncmp(s->name, ".init", 5) ? PASS_CODE : PASS_INIT;
}

static int place(struct image *img, struct image_sect *s, uint64_t *at)
{
	uint64_t align = s->align;
	struct image_segment seg;

	if (!align || align > MAX_ALIGN || (align & (align - 1)))
		align = 1;
	*at = (*at + align - 1) & ~(align - 1);
	if (s->size > LAYOUT_END - *at) {
		s->flags &= ~(uint64_t)SHF_ALLOC;
		return 0;
	}
	s->addr = *at;
	*at += s->size;
	seg = (struct image_segment){ .vaddr = s->addr, .memsz = s->size,
				      .exec = s->flags & SHF_EXECINSTR };
	if (s->type != SHT_NOBITS && s->offset < img->bytes.n) {
		seg.offset = s->offset;
		seg.filesz = img->bytes.n - s->offset;
		if (seg.filesz > s->size)
			seg.filesz = s->size;
	}
	return s->size ? vec_push(&img->segments, seg) : 0;
}

/* Finds the relocation table of each section; a normal file has at most one. */
static void index_relocs(struct image *img)
{
	size_t i;

	for (i = 1; i < img->sects.n && i <= UINT32_MAX; i++) {
		const struct image_sect *r = &img->sects.v[i];

		if ((r->type == SHT_RELA || r->type == SHT_REL) &&
		    r->info < img->sects.n && r->link < img->sects.n &&
		    img->sects.v[r->link].type == SHT_SYMTAB &&
		    !img->sects.v[r->info].relocs)
			img->sects.v[r->info].relocs = (uint32_t)i;
	}
}

int image_layout_sections(struct image *img)
{
	uint64_t at = 0;
	size_t i;

	index_relocs(img);
	img->segments.n = 0;	/* a relocatable file has none */
	for (i = 0; i < img->sects.n; i++)
		if (!(img->sects.v[i].flags & SHF_ALLOC))
			img->sects.v[i].addr = 0;
	for (int pass = 0; pass < PASSES; pass++)
		for (i = 0; i < img->sects.n; i++) {
			struct image_sect *s = &img->sects.v[i];

			if ((s->flags & SHF_ALLOC) && (int)pass_of(s) == pass &&
			    place(img, s, &at) < 0)
				return -1;
		}
	return 0;
}

enum op { OP_ABS, OP_REL, OP_ADD, OP_SUB };

/* Relocations used by debug sections and .eh_frame, from the psABI of each
 * machine. */
static const struct reloc_kind {
	uint16_t machine, type;
	uint8_t size, op;
} kinds[] = {
	{ EM_X86_64, R_X86_64_64, 8, OP_ABS },
	{ EM_X86_64, R_X86_64_32, 4, OP_ABS },
	{ EM_X86_64, R_X86_64_32S, 4, OP_ABS },
	{ EM_X86_64, R_X86_64_PC32, 4, OP_REL },
	{ EM_X86_64, R_X86_64_PLT32, 4, OP_REL },
	{ EM_X86_64, R_X86_64_PC64, 8, OP_REL },
	{ EM_386, R_386_32, 4, OP_ABS },
	{ EM_386, R_386_PC32, 4, OP_REL },
	{ EM_AARCH64, R_AARCH64_ABS64, 8, OP_ABS },
	{ EM_AARCH64, R_AARCH64_ABS32, 4, OP_ABS },
	{ EM_AARCH64, R_AARCH64_PREL64, 8, OP_REL },
	{ EM_AARCH64, R_AARCH64_PREL32, 4, OP_REL },
	{ EM_ARM, R_ARM_ABS32, 4, OP_ABS },
	{ EM_ARM, R_ARM_REL32, 4, OP_REL },
	{ EM_PPC64, R_PPC64_ADDR64, 8, OP_ABS },
	{ EM_PPC64, R_PPC64_ADDR32, 4, OP_ABS },
	{ EM_PPC64, R_PPC64_REL64, 8, OP_REL },
	{ EM_PPC64, R_PPC64_REL32, 4, OP_REL },
	/* the linker may shorten code, so differences remain relocations */
	{ EM_RISCV, R_RISCV_64, 8, OP_ABS },
	{ EM_RISCV, R_RISCV_32, 4, OP_ABS },
	{ EM_RISCV, R_RISCV_32_PCREL, 4, OP_REL },
	{ EM_RISCV, R_RISCV_SET8, 1, OP_ABS },
	{ EM_RISCV, R_RISCV_SET16, 2, OP_ABS },
	{ EM_RISCV, R_RISCV_SET32, 4, OP_ABS },
	{ EM_RISCV, R_RISCV_ADD8, 1, OP_ADD },
	{ EM_RISCV, R_RISCV_ADD16, 2, OP_ADD },
	{ EM_RISCV, R_RISCV_ADD32, 4, OP_ADD },
	{ EM_RISCV, R_RISCV_ADD64, 8, OP_ADD },
	{ EM_RISCV, R_RISCV_SUB8, 1, OP_SUB },
	{ EM_RISCV, R_RISCV_SUB16, 2, OP_SUB },
	{ EM_RISCV, R_RISCV_SUB32, 4, OP_SUB },
	{ EM_RISCV, R_RISCV_SUB64, 8, OP_SUB },
};

static const struct reloc_kind *find_kind(uint16_t machine, uint64_t type)
{
	size_t i;

	for (i = 0; i < COUNT(kinds); i++)
		if (kinds[i].machine == machine && kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

void reloc_table_init(struct reloc_table *t, struct span bytes, bool rela,
		      bool is64)
{
	t->bytes = bytes;
	t->rela = rela;
	t->is64 = is64;
	t->size = (rela ? 3 : 2) * (is64 ? 8 : 4);
	t->n = bytes.n / t->size;
}

void reloc_read(const struct reloc_table *t, size_t i, struct reloc *r)
{
	struct cursor c = cursor_of(t->bytes.p + i * t->size, t->size);
	uint64_t info;

	r->offset = t->is64 ? cursor_u64(&c) : cursor_u32(&c);
	info = t->is64 ? cursor_u64(&c) : cursor_u32(&c);
	r->sym = t->is64 ? info >> 32 : info >> 8;
	r->type = t->is64 ? info & 0xffffffff : info & 0xff;
	r->in_place = !t->rela;
	r->addend = 0;
	if (t->rela)
		r->addend = t->is64 ? (int64_t)cursor_u64(&c)
				    : (int32_t)cursor_u32(&c);
}

/* Returns S of the psABIs: the symbol's address in this layout; 0 for undefined
 * symbols. */
static uint64_t symbol_address(const struct image *img,
			       const struct symbol_table *t, uint64_t i)
{
	const struct image_sect *in;
	Elf64_Sym sym;

	if (!i || i >= t->n)
		return 0;
	symbol_table_get(t, (size_t)i, &sym);
	in = symbol_table_section(img, t, (size_t)i, sym.st_shndx);
	if (!in)
		return sym.st_shndx == SHN_ABS ? sym.st_value : 0;
	return sym.st_value + in->addr;
}

static void apply(const struct reloc *r, const struct reloc_kind *k,
		  uint64_t s, uint64_t place_at, uint8_t *bytes)
{
	uint64_t old = 0, v;
	unsigned i;

	for (i = k->size; i-- > 0;)
		old = old << 8 | bytes[i];
	v = s + (r->in_place ? old : (uint64_t)r->addend);
	if (k->op == OP_REL)
		v -= place_at;
	else if (k->op == OP_ADD)
		v += old;
	else if (k->op == OP_SUB)
		v = old - v;
	for (i = 0; i < k->size; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
}

/* Charges the work budget.  Thousands of hostile sections could share one table
 * of relocations and one of names, which are read each time.  For a real file
 * only some sections are requested. */
static bool spend(struct image *img, const struct image_sect *rs)
{
	const struct image_sect *syms = &img->sects.v[rs->link];
	uint64_t most = (1u << 20) + 32 * (uint64_t)img->bytes.n, cost;
	struct span names = { NULL, 0 };

	if (syms->link < img->sects.n)
		names = image_sect_load(img, &img->sects.v[syms->link]);
	cost = img->sects.n + names.n + rs->size;
	if (cost > most || img->relocated > most - cost)
		return false;
	img->relocated += cost;
	return true;
}

/* Copies the section's bytes so that they can be modified. */
static bool own_data(struct image *img, struct image_sect *s)
{
	if (s->owned)
		return true;
	if (s->data.n > image_inflate_room(img))
		return false;
	s->owned = malloc(s->data.n);
	if (!s->owned)
		return false;
	memcpy(s->owned, s->data.p, s->data.n);
	s->data.p = s->owned;
	img->inflated += s->data.n;
	return true;
}

void image_relocate(struct image *img, struct image_sect *s)
{
	struct image_sect *rs;
	struct reloc_table t;
	struct symbol_table syms;
	size_t i;

	if (img->ehdr.e_type != ET_REL || !s->data.n || s->relocated ||
	    s->type == SHT_REL || s->type == SHT_RELA)
		return;
	s->relocated = true;
	rs = s->relocs ? &img->sects.v[s->relocs] : NULL;
	if (!rs || !spend(img, rs) || !symbol_table_open(img, &img->sects.v[rs->link], &syms))
		return;
	reloc_table_init(&t, image_sect_load(img, rs), rs->type == SHT_RELA,
			 image_is_64(img));
	if (!t.n || !own_data(img, s))
		return;
	for (i = 0; i < t.n; i++) {
		const struct reloc_kind *k;
		struct reloc r;

		reloc_read(&t, i, &r);
		k = find_kind(img->ehdr.e_machine, r.type);
		if (!k || r.offset > s->data.n || k->size > s->data.n - r.offset)
			continue;
		apply(&r, k, symbol_address(img, &syms, r.sym),
		      s->addr + r.offset, s->owned + r.offset);
	}
}
