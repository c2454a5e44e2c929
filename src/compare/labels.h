/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_LABELS_H
#define TALLY_COMPARE_LABELS_H
/*
 * Labels that distinguish functions with the same name and images with the same
 * file name: "a.c", "x/util.c" and "y/util.c", "ops.cc:12", "b/libx.so",
 * "0x1180".  A function with a unique name has no label.
 *
 * The label is the source file if it distinguishes the function from others
 * with its name.  It is the image if each function is in a different image, and
 * the address if nothing else is known.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "compare/identity.h"

struct label_func {
	uint32_t id;		/* key of the label; not 0 */
	uint32_t name;		/* equal numbers mean equal text */
	uint32_t image;		/* PROF_NONE: in several images */
	uint32_t line;		/* 0: unknown */
	const char *file;	/* source file; "": unknown */
	uint64_t vaddr;
	bool kernel;		/* shown with the name */
};

struct label_image {
	uint32_t id;		/* key of the label; not 0 */
	const char *path;
	const uint8_t *build_id;	/* may be NULL */
	size_t build_id_len;
};

struct labels {
	struct buf text;	/* NUL-terminated labels; the first is "" */
	/* by function id: offset in `text` of the label within its image */
	uint32_t *within;
	/* by function id: offset of the label among all functions */
	uint32_t *among;
	uint32_t *image;	/* by image id: offset of the displayed path */
	/* by image id: offset of a suffix that distinguishes equal paths: "
	 * [3fa2b1c0]" */
	uint32_t *tag;
	struct arrays arrays;	/* these four */
	size_t nfuncs, nimages;	/* their sizes; ids beyond have the label "" */
};

/* Fill the labels of images and functions.  Add images first.  `nimages` and
 * `nfuncs` are above all ids; `bases` holds the last component of each image's
 * path, by id.  labels_funcs sorts v.  Return 0 or -ERR_NOMEM. */
int labels_images(struct labels *l, const struct label_image *v, size_t n,
		  size_t nimages);
int labels_funcs(struct labels *l, struct label_func *v, size_t n,
		 size_t nfuncs, const char *const *bases);
/* Computes labels for all functions and images in a profile's stacks,
 * regardless of the selection.  Ids are 1 + the rows that represent them. */
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
 * unique. */
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
