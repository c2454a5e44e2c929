/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_VEC_H
#define TALLY_BASE_VEC_H
/*
 * Arrays: the number of elements of a fixed one, and growable ones of any type.
 *
 *	VEC(struct row) rows = { 0 };	// all-zero is the empty vector
 *	if (vec_push(&rows, r) < 0) return error_set(err, ERR_NOMEM, ...);
 *	rows.v[i], rows.n
 *	vec_fini(&rows);
 *
 * Elements move when the vector grows: keep indices, not pointers.
 */
#include <stddef.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define VEC(T) struct { T *v; size_t n, cap; }

/* Returns the new capacity of a vector with capacity `cap` that needs `want`.
 */
static inline size_t vec_capacity(size_t cap, size_t want)
{
	size_t c = cap ? cap + cap / 2 : 8;

	return want <= cap ? cap : c < want ? want : c;
}

/* Reserves room for `want` elements of `size` bytes.  Returns 0 or -ERR_NOMEM;
 * on failure nothing changes. */
int vec_reserve_raw(void *vec_ptr, size_t *cap, size_t want, size_t size);

#define vec_reserve(vec, want) \
	((want) <= (vec)->cap ? 0 : \
	 vec_reserve_raw(&(vec)->v, &(vec)->cap, (want), sizeof(*(vec)->v)))

/* Appends a copy of `x`; returns 0 or -ERR_NOMEM. */
#define vec_push(vec, ...) \
	(vec_reserve((vec), (vec)->n + 1) < 0 ? -1 : \
	 ((vec)->v[(vec)->n++] = (__VA_ARGS__), 0))

#define vec_fini(vec) \
	do { free((vec)->v); (vec)->v = NULL; (vec)->n = (vec)->cap = 0; } while (0)

#endif
