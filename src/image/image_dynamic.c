// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The dynamic section as the loader finds it (gABI chapter 5, "Dynamic Linking"):
 * all that is left to go by in a file whose section headers were cut off (sstrip).
 */
#include <string.h>

#include "base/cursor.h"
#include "image/image_internal.h"

static void take_entry(struct dynamic *d, uint64_t tag, uint64_t v)
{
	switch (tag) {
	case DT_SYMTAB:	d->symtab = v; break;
	case DT_STRTAB:	d->strtab = v; break;
	case DT_STRSZ:	d->strsz = v; break;
	case DT_VERSYM:	d->versym = v; break;
	case DT_HASH:	d->hash = v; break;
	case DT_GNU_HASH: d->gnu_hash = v; break;
	case DT_PLTGOT:	d->pltgot = v; break;
	case DT_JMPREL:	d->jmprel = v; break;
	case DT_PLTRELSZ: d->pltrelsz = v; break;
	case DT_PLTREL:	d->pltrel = v; break;
	case DT_RELA:	d->rela = v; break;
	case DT_RELASZ:	d->relasz = v; break;
	case DT_REL:	d->rel = v; break;
	case DT_RELSZ:	d->relsz = v; break;
	default: break;
	}
}

bool image_dynamic(const struct image *img, struct dynamic *out)
{
	struct span s = image_bytes(img, img->dynamic.vaddr,
				    (size_t)img->dynamic.size);
	struct cursor c = cursor_of(s.p, s.n);
	bool is64 = image_is_64(img);

	*out = (struct dynamic){ 0 };
	while (cursor_left(&c)) {
		uint64_t tag = is64 ? cursor_u64(&c) : cursor_u32(&c);
		uint64_t v = is64 ? cursor_u64(&c) : cursor_u32(&c);

		if (c.bad || tag == DT_NULL)
			break;
		take_entry(out, tag, v);
	}
	return s.n != 0;
}

/* The number of symbols by DT_GNU_HASH: the end of the last bucket's chain. */
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

static uint64_t symbol_count(const struct image *img, const struct dynamic *d)
{
	struct span s = image_bytes(img, d->hash, 8);
	struct cursor c = cursor_of(s.p, s.n);

	if (d->hash && s.n == 8) {
		cursor_skip(&c, 4);
		return cursor_u32(&c);	/* nchain */
	}
	return d->gnu_hash ? gnu_hash_count(img, d->gnu_hash) : 0;
}

bool dynamic_symbols(const struct image *img, struct symbol_table *t)
{
	size_t size = image_is_64(img) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct dynamic d;
	uint64_t n;

	*t = (struct symbol_table){ .is64 = image_is_64(img) };
	/* A debug file has the headers of sections and segments but no bytes. */
	if (img->sects.n || !image_dynamic(img, &d) || !d.symtab || !d.strtab)
		return false;
	n = symbol_count(img, &d);
	if (n > img->bytes.n / size)
		n = img->bytes.n / size;
	t->syms = image_bytes(img, d.symtab, (size_t)n * size);
	t->names = image_bytes(img, d.strtab, d.strsz > SIZE_MAX
					? SIZE_MAX : (size_t)d.strsz);
	if (d.versym)
		t->versions = image_bytes(img, d.versym, (size_t)n * 2);
	while (t->names.n && t->names.p[t->names.n - 1])
		t->names.n--;
	t->n = t->syms.n / size;
	return t->n && t->names.n;
}
