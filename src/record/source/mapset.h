/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_MAPSET_H
#define TALLY_RECORD_SOURCE_MAPSET_H
/*
 * The executable mappings of one address space, sorted and without overlaps.  A
 * process and its forks share one set by reference until one of them changes its own
 * (copy on write).
 *
 * `generation` identifies the contents: equal numbers mean equal sets, so it can be
 * part of a cache key.  It starts at 1.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct map {
	uint64_t start, end;
	uint64_t delta;		/* address + delta = vaddr in the image */
	uint32_t image;		/* index into images.h */
};

struct mapset {
	uint32_t refs;
	uint32_t generation;
	size_t last;		/* position of the last search's result */
	VEC(struct map) maps;
};

/* Maximum number of mappings in a set; further ones are ignored.  It is more than
 * vm.max_map_count allows by default. */
enum { MAPSET_MAX = 1 << 18 };

/* Returns an empty set, or NULL when out of memory.  *generation is the counter
 * shared by all sets. */
struct mapset *mapset_new(uint32_t *generation);
struct mapset *mapset_get(struct mapset *s);
void mapset_put(struct mapset *s);

/* Inserts a mapping and replaces whatever it overlaps.  A shared *s is replaced by a
 * copy.  Returns 0 or -ERR_NOMEM. */
int mapset_insert(struct mapset **s, const struct map *m,
		  uint32_t *generation);
/* Returns the index of the first mapping that ends after addr. */
size_t mapset_lower(const struct mapset *s, uint64_t addr);
/* Returns the mapping that holds addr, or NULL.  The result is valid until the next
 * insert. */
const struct map *mapset_find(struct mapset *s, uint64_t addr);

#endif
