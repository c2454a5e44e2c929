// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocates arrays that are released together: see arrays.h. */
#include "base/arrays.h"

#include <stdlib.h>

struct arrays_block {
	struct arrays_block *before;
	max_align_t bytes[];
};

void *arrays_new(struct arrays *a, size_t n, size_t size)
{
	struct arrays_block *b = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes) &&
	    !__builtin_add_overflow(bytes, sizeof(*b), &bytes))
		b = calloc(1, bytes);
	if (!b) {
		a->failed = true;
		return NULL;
	}
	b->before = a->last;
	a->last = b;
	return b->bytes;
}

void arrays_fini(struct arrays *a)
{
	while (a->last) {
		struct arrays_block *b = a->last;

		a->last = b->before;
		free(b);
	}
}
