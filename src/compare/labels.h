/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_LABELS_H
#define TALLY_COMPARE_LABELS_H
/*
 * What tells functions of one name apart, and images of one file name: "a.c",
 * "x/util.c" beside "y/util.c", "ops.cc:12", "b/libx.so", "0x1180".  A function
 * whose name is its alone has no label.
 *
 * A label is made of the source file where that tells a function from the others
 * of its name; of the image where each is in another one; of the address where
 * nothing else is known.
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

/* `nimages` and `nfuncs` are above all ids.  Images come first; `bases` are the
 * last parts of their paths, by id.  labels_funcs sorts v.  0 or -ERR_NOMEM. */
int labels_images(struct labels *l, const struct label_image *v, size_t n,
		  size_t nimages);
int labels_funcs(struct labels *l, struct label_func *v, size_t n,
		 size_t nfuncs, const char *const *bases);
/* Of the functions and images that occur in a profile's stacks: whatever is
 * selected, their names are the same.  Ids are 1 + the rows that stand for them. */
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
/* What is shown of an image, or "" where the last part of its path is enough. */
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
