// SPDX-License-Identifier: GPL-2.0-or-later
/* Function symbols of an ELF image: see image.h. */
#include <string.h>

#include "image/image_internal.h"

bool symbol_table_open(struct image *img, struct image_sect *s,
		       struct symbol_table *t)
{
	size_t i, number = (size_t)(s - img->sects.v);

	*t = (struct symbol_table){ .is64 = image_is_64(img) };
	if (s->link >= img->sects.n)
		return false;
	t->syms = image_sect_data(img, s);
	t->names = image_sect_data(img, &img->sects.v[s->link]);
	for (i = 0; i < img->sects.n; i++) {
		struct image_sect *x = &img->sects.v[i];

		if (x->link != number)
			continue;
		if (x->type == SHT_SYMTAB_SHNDX)
			t->shndx = image_sect_data(img, x);
		else if (x->type == SHT_GNU_versym)
			t->versions = image_sect_data(img, x);
	}
	/* With a NUL at the end every offset inside is a string. */
	while (t->names.n && t->names.p[t->names.n - 1])
		t->names.n--;
	t->n = t->syms.n / (t->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	return t->n && t->names.n;
}

void symbol_table_get(const struct symbol_table *t, size_t i, Elf64_Sym *out)
{
	Elf32_Sym s;

	if (t->is64) {
		memcpy(out, t->syms.p + i * sizeof(*out), sizeof(*out));
		return;
	}
	memcpy(&s, t->syms.p + i * sizeof(s), sizeof(s));
	*out = (Elf64_Sym){ s.st_name, s.st_info, s.st_other, s.st_shndx,
			    s.st_value, s.st_size };
}

const char *symbol_table_name(const struct symbol_table *t,
			      const Elf64_Sym *sym)
{
	return sym->st_name < t->names.n
		       ? (const char *)t->names.p + sym->st_name : "";
}

const struct image_sect *symbol_table_section(const struct image *img,
					      const struct symbol_table *t,
					      size_t i, uint32_t shndx)
{
	if (shndx == SHN_XINDEX && t->shndx.n / 4 > i)
		memcpy(&shndx, t->shndx.p + i * 4, 4);
	else if (shndx >= SHN_LORESERVE)
		return NULL;
	if (shndx == SHN_UNDEF || shndx >= img->sects.n)
		return NULL;
	return &img->sects.v[shndx];
}

static bool is_hidden(const struct symbol_table *t, size_t i)
{
	enum { VERSYM_HIDDEN = 0x8000 };

	return t->versions.n / 2 > i &&
	       (t->versions.p[2 * i + 1] & VERSYM_HIDDEN >> 8);
}

static bool in_code_segment(const struct image *img, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < img->segments.n; i++) {
		const struct image_segment *s = &img->segments.v[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return true;
	}
	return false;
}

/* ARM, AArch64 and RISC-V mark code and data inside functions with $a, $d, $x. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

/* Fills out with symbol i; false when it is not the name of code.  Local symbols
 * belong to the file whose STT_FILE comes before them: out->file. */
static bool code_symbol(const struct image *img, const struct symbol_table *t,
			size_t i, struct image_symbol *out)
{
	const struct image_sect *in;
	Elf64_Sym sym;
	uint8_t type;
	bool code;

	symbol_table_get(t, i, &sym);
	type = ELF64_ST_TYPE(sym.st_info);
	out->bind = ELF64_ST_BIND(sym.st_info);
	if (type == STT_FILE || out->bind != STB_LOCAL)
		out->file = type == STT_FILE ? symbol_table_name(t, &sym) : "";
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	in = symbol_table_section(img, t, i, sym.st_shndx);
	if (in)
		code = in->flags & SHF_EXECINSTR;
	else if (!img->sects.n && sym.st_shndx != SHN_UNDEF)
		code = in_code_segment(img, sym.st_value);
	else
		return false;
	if (type == STT_NOTYPE && !code)
		return false;
	out->name = symbol_table_name(t, &sym);
	if (!*out->name || is_mapping_symbol(out->name))
		return false;
	out->vaddr = sym.st_value;
	if (in && img->ehdr.e_type == ET_REL)
		out->vaddr += in->addr;
	out->size = sym.st_size;
	out->type = type;
	out->old_version = is_hidden(t, i);
	return true;
}

static bool open_table(struct image *img, enum image_symtab which,
		       struct symbol_table *t)
{
	struct image_sect *s = image_find_type(img, which == IMAGE_DYNSYM
						      ? SHT_DYNSYM
						      : SHT_SYMTAB);

	if (s)
		return symbol_table_open(img, s, t);
	return which == IMAGE_DYNSYM && dynamic_symbols(img, t);
}

void image_each_symbol(struct image *img, enum image_symtab which,
		       image_symbol_cb *cb, void *ctx)
{
	enum { RELEASE_SYMBOLS = 1 << 16 };	/* 1.5 MB, and their names */
	struct image_symbol out = { .file = "" };
	struct symbol_table t;
	size_t i;

	if (!open_table(img, which, &t))
		return;
	for (i = 1; i < t.n; i++) {
		if (i % RELEASE_SYMBOLS == 0)
			image_release(img);
		if (code_symbol(img, &t, i, &out) && !cb(ctx, &out))
			return;
	}
}

bool image_has_symtab(struct image *img, bool *dynsym)
{
	const struct image_sect *s = image_find_type(img, SHT_SYMTAB);
	struct symbol_table t;

	*dynsym = open_table(img, IMAGE_DYNSYM, &t);
	return s && s->size && s->type != SHT_NOBITS;
}

uint64_t image_exported(struct image *img, const char *name, uint64_t *size)
{
	struct span syms = image_section(img, ".dynsym");
	struct span text = image_section(img, ".dynstr");
	size_t len = strlen(name) + 1;
	Elf64_Sym s;

	for (size_t at = 0; syms.n - at >= sizeof(s); at += sizeof(s)) {
		memcpy(&s, syms.p + at, sizeof(s));
		if (s.st_shndx == SHN_UNDEF || s.st_name >= text.n ||
		    text.n - s.st_name < len ||
		    memcmp(text.p + s.st_name, name, len))
			continue;
		if (size)
			*size = s.st_size;
		return s.st_value;
	}
	return 0;
}
