/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_NEAREST_H
#define TALLY_BASE_NEAREST_H
/*
 * "Did you mean …?": of the candidates shown, the one with the fewest edits
 * from what the user wrote.  Borrows its strings.
 */
#include <stddef.h>

struct nearest {
	const char *word;	/* what the user wrote */
	const char *best;
	size_t distance;
};

static inline struct nearest nearest_to(const char *word)
{
	return (struct nearest){ word, NULL, 0 };
}

/* The first of equally near candidates stays. */
void nearest_try(struct nearest *n, const char *candidate);
/* The nearest candidate, or NULL when none is near enough to be meant. */
const char *nearest_best(const struct nearest *n);

#endif
