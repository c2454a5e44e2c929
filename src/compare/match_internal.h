/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_MATCH_INTERNAL_H
#define TALLY_COMPARE_MATCH_INTERNAL_H
/* Functions shared by the source files that implement match.h. */
#include "compare/match.h"

/* match_images.c: fills image_of. */
int match_images(struct compare_match *m);
/* moved.c */
void compare_calls_free(struct compare_calls *c);

/* Returns a hash that is equal for images of one build; 0 without a build
 * ID. */
static inline uint64_t match_build(const struct prof_image *im)
{
	return !im->build_id.len ? 0
		: hash_bytes(im->build_id.bytes, im->build_id.len) | 1;
}

#endif
