// SPDX-License-Identifier: GPL-2.0-or-later
/* Bump allocation: see arena.h. */
#include "symbolize/dwarf/arena.h"

enum { BLOCK = 64 * 1024 };

char *arena_alloc(struct arena *a, size_t n)
{
	char *p;

	if (n > a->left) {
		size_t size = n > BLOCK ? n : BLOCK;

		p = malloc(size);
		if (!p || vec_push(&a->blocks, p) < 0) {
			free(p);
			return NULL;
		}
		a->p = p;
		a->left = size;
	}
	p = a->p;
	a->p += n;
	a->left -= n;
	return p;
}

void arena_fini(struct arena *a)
{
	size_t i;

	for (i = 0; i < a->blocks.n; i++)
		free(a->blocks.v[i]);
	vec_fini(&a->blocks);
	a->p = NULL;
	a->left = 0;
}
