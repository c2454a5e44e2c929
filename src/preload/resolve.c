// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the functions that this library interposes: the first of that name in the
 * objects after it.  dlsym(3) would do the same, but programs with older C libraries
 * may lack it.  System V gABI, chapter 5; the GNU hash table is described in the
 * documents of the linker.
 */
#include <link.h>

#include "preload/preload.h"

extern struct r_debug _r_debug __attribute__((weak));

struct object {
	uint64_t base;
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *gnu_hash, *hash;
	const uint16_t *versions;
	unsigned int type;	/* type of the symbols searched */
};

/* Some loaders leave offsets in these members. */
static const void *address(const struct link_map *m, uint64_t p)
{
	return (const void *)(p < m->l_addr ? p + m->l_addr : p);
}

static bool object_read(const struct link_map *m, struct object *o)
{
	*o = (struct object){ .base = m->l_addr };
	for (const ElfW(Dyn) *d = m->l_ld; d && d->d_tag != DT_NULL; d++) {
		const void *p = address(m, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB: o->symbols = p; break;
		case DT_STRTAB: o->names = p; break;
		case DT_GNU_HASH: o->gnu_hash = p; break;
		case DT_HASH: o->hash = p; break;
		case DT_VERSYM: o->versions = p; break;
		}
	}
	return o->symbols && o->names && (o->gnu_hash || o->hash);
}

/* Returns whether the symbol is defined here, has the type, and is the default
 * version. */
static bool is_it(const struct object *o, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[i];

	return s->st_shndx != SHN_UNDEF &&
	       ELF64_ST_TYPE(s->st_info) == o->type && (!o->versions || !(o->versions[i] & 0x8000)) &&
	       text_equal(o->names + s->st_name, name);
}

static uint32_t by_gnu_hash(const struct object *o, const char *name)
{
	const uint32_t *h = o->gnu_hash, *buckets, *chains;
	uint32_t hash = 5381, i;

	for (const char *p = name; *p; p++)
		hash = hash * 33 + (uint8_t)*p;
	buckets = h + 4 + h[2] * 2;
	chains = buckets + h[0];
	i = h[0] ? buckets[hash % h[0]] : 0;
	for (; i >= h[1] && i; i++) {
		if ((chains[i - h[1]] | 1) == (hash | 1) && is_it(o, i, name))
			return i;
		if (chains[i - h[1]] & 1)
			break;
	}
	return 0;
}

static uint32_t by_hash(const struct object *o, const char *name)
{
	const uint32_t *h = o->hash;

	for (uint32_t i = 1; i < h[1]; i++)
		if (is_it(o, i, name))
			return i;
	return 0;
}

static void *find_from(const struct link_map *m, const char *name,
		       unsigned int type, uint64_t *size)
{
	for (; m; m = m->l_next) {
		struct object o;
		uint32_t i;

		if (!object_read(m, &o))
			continue;
		o.type = type;
		i = o.gnu_hash ? by_gnu_hash(&o, name) : by_hash(&o, name);
		if (i && size)
			*size = o.symbols[i].st_size;
		if (i)
			return (void *)(o.base + o.symbols[i].st_value);
	}
	return NULL;
}

void *resolve(const char *name)
{
	const struct link_map *m = &_r_debug ? _r_debug.r_map : NULL;

	while (m && m->l_ld != _DYNAMIC)
		m = m->l_next;
	return m ? find_from(m->l_next, name, STT_FUNC, NULL) : NULL;
}

void *resolve_any(const char *name, bool function, uint64_t *size)
{
	return find_from(&_r_debug ? _r_debug.r_map : NULL, name,
			 function ? STT_FUNC : STT_OBJECT, size);
}
