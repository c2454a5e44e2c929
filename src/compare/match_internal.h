/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_MATCH_INTERNAL_H
#define TALLY_COMPARE_MATCH_INTERNAL_H
/* Functions shared by the source files that implement match.h. */
#include "compare/match.h"

/* Self cost of a function. */
struct function_cost {
	double cost, samples;
};

/* match_images.c: fills image_of.  cost[recording][function]: of the profiles. */
int match_images(struct compare_match *m, struct function_cost *const *cost);

/* moved.c */
void compare_calls_free(struct compare_calls *c);

#endif
