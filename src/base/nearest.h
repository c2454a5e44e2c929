/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_NEAREST_H
#define TALLY_BASE_NEAREST_H
/*
 * "Did you mean …?": finds the candidate with the smallest edit distance to the
 * user's input.  Borrows its strings.
 */
#include <stddef.h>

struct nearest {
	const char *word;	/* the user's input */
	const char *best;
	size_t distance;
};

static inline struct nearest nearest_to(const char *word)
{
	return (struct nearest){ word, NULL, 0 };
}

/* Considers a candidate.  Among equally near candidates the first one wins. */
void nearest_try(struct nearest *n, const char *candidate);
/* Returns the nearest candidate, or NULL if none is near enough. */
const char *nearest_best(const struct nearest *n);

#endif
