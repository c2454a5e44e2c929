// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads function symbols of an ELF image: see image.h. */
#include <string.h>

#include "base/cursor.h"
#include "image/image_internal.h"

uint64_t image_dynamic(const struct image *img, uint64_t tag)
{
	struct span s = image_bytes(img, img->dynamic.vaddr,
				    (size_t)img->dynamic.size);
	struct cursor c = cursor_of(s.p, s.n);
	unsigned size = image_is_64(img) ? 8 : 4;

	while (cursor_left(&c)) {
		uint64_t found = cursor_sized(&c, size), v = cursor_sized(&c, size);

		if (c.bad || found == DT_NULL)
			break;
		if (found == tag)
			return v;
	}
	return 0;
}

/*
 * The dynamic section as the loader finds it (gABI chapter 5, "Dynamic Linking")
 * is the only symbol information in a file whose section headers were removed
 * (sstrip).
 */

/* Returns the number of symbols from DT_GNU_HASH: the end of the last bucket's
 * chain. */
static uint64_t gnu_hash_count(const struct image *img, uint64_t at)
{
	struct span s = image_bytes(img, at, SIZE_MAX);
	struct cursor c = cursor_of(s.p, s.n);
	uint32_t buckets = cursor_u32(&c), first = cursor_u32(&c), last = 0, i;
	uint64_t words = cursor_u32(&c);

	cursor_skip(&c, 4 + words * (image_is_64(img) ? 8 : 4));
	for (i = 0; i < buckets && !c.bad; i++) {
		uint32_t b = cursor_u32(&c);

		last = b > last ? b : last;
	}
	if (c.bad || last < first)
		return first;
	cursor_skip(&c, 4 * (uint64_t)(last - first));
	while (!c.bad && !(cursor_u32(&c) & 1))
		last++;
	return (uint64_t)last + 1;
}

static uint64_t symbol_count(const struct image *img)
{
	uint64_t hash = image_dynamic(img, DT_HASH);
	uint64_t gnu_hash = image_dynamic(img, DT_GNU_HASH);
	struct span s = image_bytes(img, hash, 8);
	struct cursor c = cursor_of(s.p, s.n);

	if (hash && s.n == 8) {
		cursor_skip(&c, 4);
		return cursor_u32(&c);	/* nchain */
	}
	return gnu_hash ? gnu_hash_count(img, gnu_hash) : 0;
}

static bool dynamic_symbols(const struct image *img, struct symbol_table *t)
{
	size_t size = image_is_64(img) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t symtab = image_dynamic(img, DT_SYMTAB), n;
	uint64_t strtab = image_dynamic(img, DT_STRTAB);
	uint64_t strsz = image_dynamic(img, DT_STRSZ);
	uint64_t versym = image_dynamic(img, DT_VERSYM);

	*t = (struct symbol_table){ .is64 = image_is_64(img) };
	/* A debug file has section and segment headers but no contents. */
	if (img->sects.n || !symtab || !strtab)
		return false;
	n = symbol_count(img);
	if (n > img->bytes.n / size)
		n = img->bytes.n / size;
	t->syms = image_bytes(img, symtab, (size_t)n * size);
	t->names = image_bytes(img, strtab, (size_t)strsz);
	if (versym)
		t->versions = image_bytes(img, versym, (size_t)n * 2);
	while (t->names.n && t->names.p[t->names.n - 1])
		t->names.n--;
	t->n = t->syms.n / size;
	return t->n && t->names.n;
}

bool symbol_table_open(struct image *img, struct image_sect *s,
		       struct symbol_table *t)
{
	size_t i, number = (size_t)(s - img->sects.v);

	*t = (struct symbol_table){ .is64 = image_is_64(img) };
	if (s->link >= img->sects.n)
		return false;
	t->syms = image_sect_load(img, s);
	t->names = image_sect_load(img, &img->sects.v[s->link]);
	for (i = 0; i < img->sects.n; i++) {
		struct image_sect *x = &img->sects.v[i];

		if (x->link != number)
			continue;
		if (x->type == SHT_SYMTAB_SHNDX)
			t->shndx = image_sect_load(img, x);
		else if (x->type == SHT_GNU_versym)
			t->versions = image_sect_load(img, x);
	}
	/* With a NUL at the end, every offset inside is a valid string. */
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

/* Returns whether a symbol is one of $a, $d, $x, which mark code and data
 * inside functions on ARM, AArch64 and RISC-V. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

/* Sets *out to symbol i.  Returns false if it does not name code.  Local
 * symbols belong to the file of the preceding STT_FILE: out->file. */
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
	/* Names are in another order than symbols.  Those of functions are not read here:
	 * few are needed, and the others would come from the disk, too. */
	if (!sym.st_name || sym.st_name >= t->names.n ||
	    (type == STT_NOTYPE && (!*out->name || is_mapping_symbol(out->name))))
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

static struct span contents(struct image *img, const char *name)
{
	struct image_sect *s = image_find_sect(img, name);

	return s ? image_sect_load(img, s) : (struct span){ NULL, 0 };
}

uint64_t image_exported(struct image *img, const char *name, uint64_t *size)
{
	struct span syms = contents(img, ".dynsym");
	struct span text = contents(img, ".dynstr");
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
