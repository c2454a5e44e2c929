/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_ARENA_H
#define TALLY_SYMBOLIZE_DWARF_ARENA_H
/* Strings that live until the arena goes; they never move. */
#include <stddef.h>

#include "base/vec.h"

struct arena {
	VEC(char *) blocks;
	char *p;
	size_t left;
};

/* n bytes, or NULL. */
char *arena_alloc(struct arena *a, size_t n);
void arena_fini(struct arena *a);

#endif
