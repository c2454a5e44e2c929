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

#include "base/guess.h"
#include "base/hash.h"
#include "base/vec.h"

struct strtab {
	VEC(const char *) str;	/* by id */
	VEC(char *) blocks;	/* storage of the bytes, which never move */
	size_t block_left;
	char *block_p;
	struct idtab tab;
	struct strpool *pool;	/* NULL: the table owns its strings */
	VEC(uint32_t) pool_id;	/* by id: the string in the pool */
};

/*
 * The strings of a table, shared with tables that are filled one after another and
 * have many of them in the same order.  Such a table copies no strings and, mostly, hashes
 * none (base/guess.h).  What it does not find it adds to the pool, which must outlive it.
 * A pool serves one table at a time; others that are opened meanwhile own their strings.
 */
struct strpool {
	struct strtab *str;
	VEC(struct pool_string {
		uint32_t user;		/* id in the table that uses the pool, UINT32_MAX:
					 * none */
		uint32_t length;
	}) of;				/* by id of str; may be shorter */
	struct guess next;
	bool used;
};

/* Initializes the table.  Returns 0 or -ERR_NOMEM. */
int strtab_init(struct strtab *t);
/* The same for a table that uses a pool, if it is not NULL and not in use. */
int strtab_init_in(struct strtab *t, struct strpool *pool);
void strtab_fini(struct strtab *t);
void strpool_fini(struct strpool *s);
/* Makes room for n strings in total.  Returns 0 or -ERR_NOMEM. */
int strtab_reserve(struct strtab *t, size_t n);
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
