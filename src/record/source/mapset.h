/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_MAPSET_H
#define TALLY_RECORD_SOURCE_MAPSET_H
/*
 * The executable mappings of one address space: sorted, never overlapping.
 * Shared by reference between a process and its forks until one of them changes
 * its own (copy on write).
 *
 * `generation` names the contents: equal numbers mean equal sets, so that it
 * can be part of a cache's key.  It starts at 1.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct map {
	uint64_t start, end;
	uint64_t delta;		/* address + delta = vaddr in the image */
	uint32_t image;		/* of images.h */
};

struct mapset {
	uint32_t refs;
	uint32_t generation;
	size_t last;		/* where the last search ended */
	VEC(struct map) maps;
};

/* More than vm.max_map_count allows by default; further ones are ignored. */
enum { MAPSET_MAX = 1 << 18 };

/* *generation is the counter shared by all sets.  NULL when out of memory. */
struct mapset *mapset_new(uint32_t *generation);
struct mapset *mapset_get(struct mapset *s);
void mapset_put(struct mapset *s);

/* Puts a mapping in, over whatever was there.  *s is replaced by a copy when it
 * is shared.  0 or -ERR_NOMEM. */
int mapset_insert(struct mapset **s, const struct map *m,
		  uint32_t *generation);
/* Index of the first mapping that ends after addr. */
size_t mapset_lower(const struct mapset *s, uint64_t addr);
/* The mapping that holds addr, or NULL; valid until the next insert. */
const struct map *mapset_find(struct mapset *s, uint64_t addr);

#endif
