/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_STRTAB_H
#define TALLY_BASE_STRTAB_H
/*
 * Interned strings: equal bytes get equal ids, so strings compare by id.
 * Id 0 is always "".  Strings hold no NUL (cut at the first one).  Owns its
 * bytes; a returned pointer lives as long as the table.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct strtab {
	VEC(const char *) str;	/* by id */
	VEC(char *) blocks;	/* where the bytes live; they never move */
	size_t block_left;
	char *block_p;
	struct idtab tab;
};

/* 0 or -ERR_NOMEM. */
int strtab_init(struct strtab *t);
void strtab_fini(struct strtab *t);
/* The id, or UINT32_MAX when out of memory. */
uint32_t strtab_add(struct strtab *t, const char *s);
uint32_t strtab_add_n(struct strtab *t, const char *s, size_t n);
/* The id of a string that is there, or UINT32_MAX. */
uint32_t strtab_find(const struct strtab *t, const char *s);
/* Forgets all strings from id n on (n >= 1); 0 or -ERR_NOMEM.  Their bytes are
 * kept until strtab_fini. */
int strtab_truncate(struct strtab *t, size_t n);
/* "" for an id that does not exist. */
const char *strtab_get(const struct strtab *t, uint32_t id);

#endif
