/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_FRAME_NAMES_H
#define TALLY_RECORD_COLLECT_FRAME_NAMES_H
/*
 * Frames that have a name instead of an address: methods of Java, lines of Python.
 * An interpreter's code address would be the same for every function that it runs.
 *
 * Such a frame gets an address that no process uses, in an image of its own.  The
 * addresses in that image are numbers of names, from 1 on.  The names are in the
 * image's file, in the format of the files that programs write themselves
 * (symbolize/perfmap.h).
 */
#include "record/collect/images.h"

enum { FRAME_NAMES_MAX = 1 << 27 };

struct frame_names {
	struct images *images;
	const char *path;	/* path of the image: PROF_IMAGE_*; borrowed */
	uint64_t base;		/* distinguishes it from other images of the path */
	uint32_t image;		/* UINT32_MAX: not created yet */
	uint32_t written;		/* number of names in its file */
};

/* Initialises `n`.  Nothing needs to be released: the image belongs to `im`. */
void frame_names_init(struct frame_names *n, struct images *im,
		      const char *path, uint64_t base);
/* Appends the next name: one line, without control characters except those that the
 * image's reader knows.  Returns false if there is no room for it or no file. */
bool frame_names_add(struct frame_names *n, const char *name);
/* Returns the address that represents an added name, or 0. */
uint64_t frame_names_address(const struct frame_names *n, uint32_t name);

/* Return whether an address represents a name; then its image, and its address
 * there. */
bool frame_is_name(const struct images *im, uint64_t addr);
uint32_t frame_name_image(uint64_t addr);
uint64_t frame_name_vaddr(uint64_t addr);

#endif
