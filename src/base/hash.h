/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_HASH_H
#define TALLY_BASE_HASH_H
/*
 * Hash functions and two open-addressing tables.  They do not resist
 * adversarial keys: inputs are files of one user, and the size of the input
 * bounds every table.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x;
}

/* Mixes two numbers into one, which may serve as a key.  The product spreads h over all
 * bits; otherwise a small difference of h could cancel one of x. */
static inline uint64_t hash_mix(uint64_t h, uint64_t x)
{
	return hash_u64((h + 1) * 0x9e3779b97f4a7c15ull ^ x);
}

uint64_t hash_bytes(const void *p, size_t n);

/*
 * u64map: u64 key -> u32 value.  The value UINT32_MAX is reserved for "absent";
 * every key is allowed.
 */
struct u64map {
	struct u64map_entry {
		uint32_t low, high;	/* the key: 12 bytes without padding, so that
					 * a search of a large map rarely reads a
					 * second line of memory */
		uint32_t val;		/* U64MAP_NONE: no entry */
	} *entries;
	size_t n, cap;		/* cap is 0 or a power of two */
};
#define U64MAP_NONE UINT32_MAX

void u64map_fini(struct u64map *m);
void u64map_clear(struct u64map *m);
uint32_t u64map_get(const struct u64map *m, uint64_t key);
/* Returns the slot's value, created as U64MAP_NONE for a new key (the caller
 * must then store a value), or NULL if out of memory.  Valid until the next
 * call. */
uint32_t *u64map_slot(struct u64map *m, uint64_t key);
/*
 * Returns the value of a key, the index of a row of a vector; for a new key, appends *row.
 * Returns U64MAP_NONE if memory ran out, and adds nothing then.
 */
#define u64map_row(m, vec, key, row)					\
	u64map_row_raw((m), &(vec)->v, &(vec)->n, &(vec)->cap,		\
		       sizeof(*(vec)->v), (key), 1 ? (row) : (vec)->v)
uint32_t u64map_row_raw(struct u64map *m, void *vec_ptr, size_t *n, size_t *cap,
			size_t size, uint64_t key, const void *row);
/* Makes room for n keys in total.  Returns 0 or -ERR_NOMEM. */
int u64map_reserve(struct u64map *m, size_t n);
/* Sets the value of a key.  Returns 0 or -ERR_NOMEM. */
int u64map_put(struct u64map *m, uint64_t key, uint32_t val);

/*
 * idtab: a set of u32 ids whose keys live in the caller's own array.
 * idtab_find returns the id for which eq(ctx, id, key) holds, or IDTAB_NONE.
 */
struct idtab {
	struct idtab_slot {	/* together, so that a search of a large set rarely
				 * reads a second line of memory */
		uint32_t id;	/* IDTAB_NONE: empty */
		uint32_t tag;	/* high hash bits; they avoid most eq calls */
	} *slots;
	size_t n, cap;		/* cap is 0 or a power of two */
};
#define IDTAB_NONE UINT32_MAX
typedef bool idtab_eq(const void *ctx, uint32_t id, const void *key);

void idtab_fini(struct idtab *t);
uint32_t idtab_find(const struct idtab *t, uint64_t hash, idtab_eq *eq,
		    const void *ctx, const void *key);
/* Adds an id that is not in the set; returns 0 or -ERR_NOMEM. */
int idtab_add(struct idtab *t, uint64_t hash, uint32_t id);
/*
 * Returns the index of the row of a vector that equals *key, a row; appends it if there is
 * none.  The ids of the set are the indices of the vector.  Returns IDTAB_NONE if memory
 * ran out, and changes nothing then.
 */
#define idtab_row(t, vec, hash, eq, ctx, key)				\
	idtab_row_raw((t), &(vec)->v, &(vec)->n, &(vec)->cap,		\
		      sizeof(*(vec)->v), (hash), (eq), (ctx),		\
		      1 ? (key) : (vec)->v)
uint32_t idtab_row_raw(struct idtab *t, void *vec_ptr, size_t *n, size_t *cap,
		       size_t size, uint64_t hash, idtab_eq *eq, const void *ctx,
		       const void *key);
/* Makes room for n ids in total.  Returns 0 or -ERR_NOMEM. */
int idtab_reserve(struct idtab *t, size_t n);

#endif
