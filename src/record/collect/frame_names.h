/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_FRAME_NAMES_H
#define TALLY_RECORD_COLLECT_FRAME_NAMES_H
/*
 * Frames that have a name instead of an address, as code of an interpreter belongs
 * to all that it runs: methods of Java, lines of Python.
 *
 * Such a frame has an address that no process has, of an image of its own whose
 * addresses are the numbers of names, from 1 on.  The names are in the image's file,
 * laid out as those that programs write themselves (symbolize/perfmap.h).
 */
#include "record/collect/images.h"

enum { FRAME_NAMES_MAX = 1 << 27 };

struct frame_names {
	struct images *images;
	const char *path;	/* of the image: PROF_IMAGE_*; borrowed */
	uint64_t base;		/* that tells it from others of the path */
	uint32_t image;		/* UINT32_MAX: not there yet */
	uint32_t told;		/* names that are in its file */
};

/* Nothing is to be released: the image belongs to `im`. */
void frame_names_init(struct frame_names *n, struct images *im,
		      const char *path, uint64_t base);
/* The next name: one line, without control characters but those that the image's
 * reader knows.  False: there is no room for it, or no file. */
bool frame_names_add(struct frame_names *n, const char *name);
/* The address that stands for a name that was told; else 0. */
uint64_t frame_names_address(const struct frame_names *n, uint32_t name);

/* Whether an address stands for a name; then of which image, and where there. */
bool frame_is_name(const struct images *im, uint64_t addr);
uint32_t frame_name_image(uint64_t addr);
uint64_t frame_name_vaddr(uint64_t addr);

#endif
