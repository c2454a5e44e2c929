// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the functions that this library interposes: the first of that name in the
 * objects after it.  Also finds the interpreter of a language.  dlsym(3) would do the
 * same, but programs with older C libraries may lack it, and signal handlers must not
 * call it.  System V gABI, chapter 5; the GNU hash table is described in the documents
 * of the linker.
 */
#include <link.h>

#include "preload/preload.h"

extern struct r_debug _r_debug __attribute__((weak));

enum { READS_MAX = 1 << 14 };

/* How memory is read. */
struct reader {
	bool checked;	/* by system calls, because it may be unmapped at any moment */
	uint32_t left;	/* number of checked reads that are left */
};

struct object {
	struct reader *r;
	uint64_t base, symbols, names, gnu_hash, hash, versions;
	unsigned int type;	/* type of the symbols searched */
	ElfW(Sym) found;
};

static bool get(struct reader *r, uint64_t from, size_t n, void *to)
{
	uint64_t local[2] = { (uintptr_t)to, n }, remote[2] = { from, n };

	if (!r->checked) {
		bytes_copy(to, (const void *)(uintptr_t)from, n);
		return true;
	}
	return r->left && r->left-- &&
	       sys6(SYS_process_vm_readv, preload.pid, (long)local, 1,
		    (long)remote, 1, 0) == (long)n;
}

static bool text_is(struct reader *r, uint64_t at, const char *name)
{
	size_t n = text_size(name) + 1;
	char text[64];

	if (!r->checked)
		return text_equal((const char *)(uintptr_t)at, name);
	return n <= sizeof(text) && get(r, at, n, text) && !text[n - 1] &&
	       text_equal(text, name);
}

/* Returns whether the last component of a path contains `part`, whose first letter
 * occurs only once in it. */
static bool file_has(struct reader *r, uint64_t path, const char *part)
{
	size_t matched = 0, n;
	bool found = false;
	char c[64];

	for (;; path += n) {
		n = sizeof(c) - path % sizeof(c);	/* within one page */
		if (!get(r, path, n, c))
			return false;
		for (size_t i = 0; i < n; i++) {
			if (!c[i])
				return found;
			if (c[i] == '/')
				found = false;
			matched = c[i] == part[matched] ? matched + 1
							: c[i] == part[0];
			if (part[matched])
				continue;
			found = true;
			matched = 0;
		}
	}
}

static bool object_read(const struct link_map *m, struct object *o)
{
	ElfW(Dyn) d;

	for (uint64_t at = (uintptr_t)m->l_ld; at; at += sizeof(d)) {
		uint64_t p;

		if (!get(o->r, at, sizeof(d), &d))
			return false;
		if (d.d_tag == DT_NULL)
			break;
		/* Some loaders leave offsets in these members. */
		p = d.d_un.d_ptr < m->l_addr ? d.d_un.d_ptr + m->l_addr
					     : d.d_un.d_ptr;
		switch (d.d_tag) {
		case DT_SYMTAB: o->symbols = p; break;
		case DT_STRTAB: o->names = p; break;
		case DT_GNU_HASH: o->gnu_hash = p; break;
		case DT_HASH: o->hash = p; break;
		case DT_VERSYM: o->versions = p; break;
		}
	}
	return o->symbols && o->names && (o->gnu_hash || o->hash);
}

/* Reads a symbol.  Returns whether it is defined here, has the type, and is the
 * default version. */
static bool is_it(struct object *o, uint32_t i, const char *name)
{
	ElfW(Sym) *s = &o->found;
	uint16_t version = 0;

	return get(o->r, o->symbols + i * sizeof(*s), sizeof(*s), s) &&
	       s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == o->type &&
	       (!o->versions || get(o->r, o->versions + i * sizeof(version),
				    sizeof(version), &version)) &&
	       !(version & 0x8000) && text_is(o->r, o->names + s->st_name, name);
}

static bool by_gnu_hash(struct object *o, const char *name)
{
	uint32_t h[4], hash = 5381, i, link;
	uint64_t buckets, chains;

	for (const char *p = name; *p; p++)
		hash = hash * 33 + (uint8_t)*p;
	if (!get(o->r, o->gnu_hash, sizeof(h), h) || !h[0])
		return false;
	buckets = o->gnu_hash + sizeof(h) + h[2] * sizeof(uint64_t);
	chains = buckets + h[0] * sizeof(i);
	if (!get(o->r, buckets + hash % h[0] * sizeof(i), sizeof(i), &i))
		return false;
	for (; i >= h[1] && i; i++) {
		if (!get(o->r, chains + (i - h[1]) * sizeof(link), sizeof(link),
			 &link))
			return false;
		if ((link | 1) == (hash | 1) && is_it(o, i, name))
			return true;
		if (link & 1)
			break;
	}
	return false;
}

static bool by_hash(struct object *o, const char *name)
{
	uint32_t h[2];

	if (!get(o->r, o->hash, sizeof(h), h))
		return false;
	for (uint32_t i = 1; i < h[1] && (!o->r->checked || o->r->left); i++)
		if (is_it(o, i, name))
			return true;
	return false;
}

/* part: only in files whose name contains it; NULL: in all */
static void *find_from(struct reader *r, const struct link_map *from,
		       const char *part, const char *name, unsigned int type,
		       uint64_t *size)
{
	struct link_map m;

	for (; from && get(r, (uintptr_t)from, sizeof(m), &m); from = m.l_next) {
		struct object o = { .r = r, .base = m.l_addr, .type = type };

		if ((part && !file_has(r, (uintptr_t)m.l_name, part)) ||
		    !object_read(&m, &o) ||
		    !(o.gnu_hash ? by_gnu_hash(&o, name) : by_hash(&o, name)))
			continue;
		if (size)
			*size = o.found.st_size;
		return (void *)(uintptr_t)(o.base + o.found.st_value);
	}
	return NULL;
}

void *resolve(const char *name)
{
	const struct link_map *m = &_r_debug ? _r_debug.r_map : NULL;
	struct reader r = { .checked = false };

	while (m && m->l_ld != _DYNAMIC)
		m = m->l_next;
	return m ? find_from(&r, m->l_next, NULL, name, STT_FUNC, NULL) : NULL;
}

void *resolve_any(const char *name, bool function, uint64_t *size)
{
	struct reader r = { .checked = false };

	return find_from(&r, &_r_debug ? _r_debug.r_map : NULL, NULL, name,
			 function ? STT_FUNC : STT_OBJECT, size);
}

void *resolve_loaded(const char *part, const char *name, bool function,
		     uint64_t *size)
{
	struct reader r = { .checked = true, .left = READS_MAX };

	return find_from(&r, &_r_debug ? _r_debug.r_map : NULL, part, name,
			 function ? STT_FUNC : STT_OBJECT, size);
}
