// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions by name: see symbol_names.h. */
#include "cmd/symbol_names.h"

#include <string.h>

void symbol_names_init(struct symbol_names *s, struct image *img)
{
	*s = (struct symbol_names){ .img = img };
}

void symbol_names_fini(struct symbol_names *s)
{
	vec_fini(&s->syms);
	idtab_fini(&s->tab);
}

static bool same_name(const void *ctx, uint32_t id, const void *key)
{
	const struct symbol_names *s = ctx;

	return !strcmp(s->syms.v[id].name, key);
}

static uint64_t hash_name(const char *name)
{
	return hash_bytes(name, strlen(name));
}

static bool add_symbol(void *ctx, const struct image_symbol *sym)
{
	struct symbol_names *s = ctx;
	uint64_t hash = hash_name(sym->name);

	if (idtab_find(&s->tab, hash, same_name, s, sym->name) != IDTAB_NONE)
		return true;
	s->failed = s->syms.n >= IDTAB_NONE ||
		    vec_push(&s->syms, (struct symbol_name){
				sym->name, sym->vaddr }) < 0 ||
		    idtab_add(&s->tab, hash, (uint32_t)s->syms.n - 1) < 0;
	return !s->failed;
}

bool symbol_names_find(struct symbol_names *s, const char *name,
		       uint64_t *vaddr)
{
	uint32_t id;

	if (!s->read) {
		s->read = true;
		image_each_symbol(s->img, IMAGE_SYMTAB, add_symbol, s);
		image_each_symbol(s->img, IMAGE_DYNSYM, add_symbol, s);
	}
	id = idtab_find(&s->tab, hash_name(name), same_name, s, name);
	if (id == IDTAB_NONE)
		return false;
	*vaddr = s->syms.v[id].vaddr;
	return true;
}
