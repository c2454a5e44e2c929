// SPDX-License-Identifier: GPL-2.0-or-later
/* Function symbols and .gnu_debuglink of an ELF image: see image.h. */
#include <elfutils/libdwelf.h>
#include <string.h>

#include "image/image_internal.h"

struct symbol_table {
	struct span syms, names;
	struct span shndx;	/* SHT_SYMTAB_SHNDX: section numbers >= 0xff00 */
	bool is64;
};

static struct image_sect *find_type(const struct image *img, uint32_t type)
{
	size_t i;

	for (i = 0; i < img->sects.n; i++)
		if (img->sects.v[i].type == type)
			return &img->sects.v[i];
	return NULL;
}

static bool symbol_table_open(struct image *img, struct image_sect *s,
			      struct symbol_table *t)
{
	struct image_sect *x = find_type(img, SHT_SYMTAB_SHNDX);
	GElf_Shdr sh;

	if (!gelf_getshdr(s->scn, &sh) || sh.sh_link >= img->sects.n)
		return false;
	t->is64 = image_is_64(img);
	t->syms = image_sect_data(img, s);
	t->names = image_sect_data(img, &img->sects.v[sh.sh_link]);
	t->shndx = (struct span){ NULL, 0 };
	if (x && s->type == SHT_SYMTAB)
		t->shndx = image_sect_data(img, x);
	/* With a NUL at the end every offset inside is a string. */
	while (t->names.n && t->names.p[t->names.n - 1])
		t->names.n--;
	return t->syms.n && t->names.n;
}

static void symbol_read(const struct symbol_table *t, size_t i, Elf64_Sym *out)
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

/* The section that defines symbol i, or NULL (undefined, absolute). */
static const struct image_sect *symbol_section(const struct image *img,
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

/* ARM, AArch64 and RISC-V mark code and data inside functions with $a, $d, $x. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

void image_each_symbol(struct image *img, image_symbol_cb *cb, void *ctx)
{
	struct image_sect *s = find_type(img, SHT_SYMTAB);
	struct symbol_table t;
	size_t i, n;

	if (!s || !s->size || s->type == SHT_NOBITS)
		s = find_type(img, SHT_DYNSYM);
	if (!s || !symbol_table_open(img, s, &t))
		return;
	n = t.syms.n / (t.is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	for (i = 1; i < n; i++) {
		const struct image_sect *in;
		struct image_symbol out;
		Elf64_Sym sym;
		uint8_t type;

		symbol_read(&t, i, &sym);
		type = ELF64_ST_TYPE(sym.st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC &&
		    type != STT_NOTYPE)
			continue;
		in = symbol_section(img, &t, i, sym.st_shndx);
		if (!in || sym.st_name >= t.names.n)
			continue;
		if (type == STT_NOTYPE && !(in->flags & SHF_EXECINSTR))
			continue;
		out = (struct image_symbol){
			sym.st_value, sym.st_size,
			(const char *)t.names.p + sym.st_name,
			ELF64_ST_BIND(sym.st_info), type
		};
		if (!*out.name || is_mapping_symbol(out.name))
			continue;
		if (!cb(ctx, &out))
			return;
	}
}

bool image_has_symtab(const struct image *img, bool *dynsym)
{
	const struct image_sect *s = find_type(img, SHT_SYMTAB);

	*dynsym = find_type(img, SHT_DYNSYM) != NULL;
	return s && s->size;
}

const char *image_debuglink(struct image *img, uint32_t *crc)
{
	GElf_Word c = 0;
	const char *name = dwelf_elf_gnu_debuglink(img->elf, &c);

	*crc = c;
	return name && *name && !strchr(name, '/') ? name : NULL;
}
