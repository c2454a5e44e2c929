/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_GOPCLNTAB_H
#define TALLY_SYMBOLIZE_GOPCLNTAB_H
/*
 * Functions, files, lines and inlined calls of Go programs from the table that the
 * Go runtime itself reads (.gopclntab), which stays when a program is linked with
 * -s -w or stripped.  Formats of Go 1.2, 1.16, 1.18 and 1.20 (and later ones that
 * say they are one of these); x86-64 and other little-endian machines of 64 bits.
 *
 * Inlined calls are read from the function's data (FUNCDATA_InlTree), for Go 1.18
 * and later, where the runtime's module data can be found; else code that was
 * inlined counts for the function that it was inlined into, at its own line.
 *
 * The table may be hostile: everything is checked when it is used, and steps are
 * bounded.
 */
#include "image/image.h"

struct gopclntab;

/* One function at an address; strings are borrowed from the image. */
struct go_frame {
	const char *name, *file;	/* "" where unknown */
	uint32_t line;
};

struct go_func {
	const char *name;
	uint64_t start, size;
};

enum { GO_MAX_FRAMES = 64 };

/* *out is NULL where the image has no such table.  0 or -ERR_NOMEM. */
int gopclntab_open(struct image *img, struct gopclntab **out);
void gopclntab_close(struct gopclntab *t);

/* The function that covers addr; false when none does. */
bool gopclntab_find(struct gopclntab *t, uint64_t addr, struct go_func *out);
/* Its frames, innermost first, GO_MAX_FRAMES at most; 0 when none covers addr. */
size_t gopclntab_frames(struct gopclntab *t, uint64_t addr,
			struct go_frame *out);

#endif
