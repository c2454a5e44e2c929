/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_ARRAYS_H
#define TALLY_BASE_ARRAYS_H
/*
 * The arrays of one computation or result, which are released together:
 *
 *	struct arrays a = { 0 };
 *	double *x = arrays_new(&a, n, sizeof(*x)), *y = arrays_new(&a, n, sizeof(*y));
 *	int rc = a.failed ? -ERR_NOMEM : compute(x, y);
 *
 *	arrays_fini(&a);
 */
#include <stdbool.h>
#include <stddef.h>

struct arrays {
	struct arrays_block *last;
	bool failed;		/* some array could not be allocated */
};

/* Returns n elements (n may be 0), all zero; NULL, and sets a->failed, when out of
 * memory. */
void *arrays_new(struct arrays *a, size_t n, size_t size);
void arrays_fini(struct arrays *a);

#endif
