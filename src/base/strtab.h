/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_STRTAB_H
#define TALLY_BASE_STRTAB_H
/*
 * Interned strings: equal bytes have equal ids, so strings are compared by id.
 * Id 0 is always "".  Strings contain no NUL (they end at the first one).  Owns
 * its bytes; a returned pointer is valid as long as the table.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct strtab {
	VEC(const char *) str;	/* by id */
	VEC(char *) blocks;	/* storage of the bytes, which never move */
	size_t block_left;
	char *block_p;
	struct idtab tab;
};

/* Initializes the table.  Returns 0 or -ERR_NOMEM. */
int strtab_init(struct strtab *t);
void strtab_fini(struct strtab *t);
/* Returns the id, or UINT32_MAX if out of memory. */
uint32_t strtab_add(struct strtab *t, const char *s);
uint32_t strtab_add_n(struct strtab *t, const char *s, size_t n);
/* Returns the id of an existing string, or UINT32_MAX. */
uint32_t strtab_find(const struct strtab *t, const char *s);
/* Removes all strings from id n on (n >= 1).  Their bytes are kept until
 * strtab_fini. Returns 0 or -ERR_NOMEM. */
int strtab_truncate(struct strtab *t, size_t n);
/* Returns "" for an unknown id. */
const char *strtab_get(const struct strtab *t, uint32_t id);

#endif
