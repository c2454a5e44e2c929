/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_LABELS_H
#define TALLY_COMPARE_LABELS_H
/*
 * Labels that distinguish functions with the same name and images with the same
 * file name: "a.c", "x/util.c" and "y/util.c", "ops.cc:12", "b/libx.so",
 * "0x1180".  A function with a unique name has no label.
 *
 * A label is the source file if that distinguishes a function from others with
 * its name; the image if each is in a different one; and the address if nothing
 * else is known.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "compare/identity.h"

struct label_func {
	uint32_t id;		/* what labels are found by; not 0 */
	uint32_t name;		/* equal: the same text */
	uint32_t image;		/* PROF_NONE: it is in several */
	uint32_t line;		/* 0: not known */
	const char *file;	/* "": not known */
	uint64_t vaddr;
	bool kernel;		/* shown with the name */
};

struct label_image {
	uint32_t id;		/* not 0 */
	const char *path;
	const uint8_t *build_id;	/* may be NULL */
	size_t build_id_len;
};

struct labels {
	struct buf text;	/* NUL-terminated words; the first is "" */
	uint32_t *within;	/* by id of a function: among those of its
				 * image: offset in text */
	uint32_t *among;	/* … among all */
	uint32_t *image;	/* by id of an image: what is shown of it */
	uint32_t *tag;		/* … what its whole path lacks: " [3fa2b1c0]" */
	size_t nfuncs, nimages;	/* beyond: "" */
};

/* `nimages` and `nfuncs` are above all ids.  Add images first; `bases` are the
 * last components of their paths, by id.  labels_funcs sorts v.  Returns 0 or
 * -ERR_NOMEM. */
int labels_images(struct labels *l, const struct label_image *v, size_t n,
		  size_t nimages);
int labels_funcs(struct labels *l, struct label_func *v, size_t n,
		 size_t nfuncs, const char *const *bases);
/* Computes labels for the functions and images in a profile's stacks, whatever
 * is selected.  Ids are 1 + the rows that represent them. */
int labels_of_profile(struct labels *l, const struct profile *p,
		      const struct identity *same);
void labels_fini(struct labels *l);

static inline const char *label_at(const struct labels *l,
				   const uint32_t *offsets, size_t n,
				   uint32_t id)
{
	return id < n && offsets && offsets[id]
		       ? (const char *)l->text.p + offsets[id] : "";
}
/* Returns the displayed path of an image, or "" if its last component is
 * enough. */
static inline const char *label_image(const struct labels *l, uint32_t id)
{
	return label_at(l, l->image, l->nimages, id);
}
static inline const char *label_tag(const struct labels *l, uint32_t id)
{
	return label_at(l, l->tag, l->nimages, id);
}
static inline const char *label_within(const struct labels *l, uint32_t id)
{
	return label_at(l, l->within, l->nfuncs, id);
}
static inline const char *label_among(const struct labels *l, uint32_t id)
{
	return label_at(l, l->among, l->nfuncs, id);
}

#endif
