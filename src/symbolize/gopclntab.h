/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_GOPCLNTAB_H
#define TALLY_SYMBOLIZE_GOPCLNTAB_H
/*
 * Reads functions, files, lines and inlined calls of Go programs from
 * .gopclntab, the table that the Go runtime itself uses.  The table remains
 * when a program is linked with -s -w or stripped.  Supports the formats of Go
 * 1.2, 1.16, 1.18 and 1.20 (and later versions that declare one of these), for
 * x86-64 and other 64-bit little-endian machines.
 *
 * Inlined calls are read from the function's data (FUNCDATA_InlTree), for Go
 * 1.18 and later, if the runtime's module data can be found.  Otherwise inlined
 * code is attributed to the function that contains it, at its own line.
 *
 * The table may be hostile: everything is checked when it is used, and steps
 * are bounded.
 */
#include "image/image.h"

struct gopclntab;

/* One function at an address; strings are borrowed from the image. */
struct go_frame {
	const char *name, *file;	/* "" if unknown */
	uint32_t line;
};

struct go_func {
	const char *name;
	uint64_t start, size;
};

enum { GO_MAX_FRAMES = 64 };

/* Opens the table; the caller closes it.  *out is NULL if the image has none.
 * Returns 0 or -ERR_NOMEM. */
int gopclntab_open(struct image *img, struct gopclntab **out);
void gopclntab_close(struct gopclntab *t);

/* Finds the function that covers addr.  Returns false if there is none. */
bool gopclntab_find(struct gopclntab *t, uint64_t addr, struct go_func *out);
/* Stores the frames at addr, innermost first, at most GO_MAX_FRAMES.  Returns
 * their number; 0 if no function covers addr. */
size_t gopclntab_frames(struct gopclntab *t, uint64_t addr,
			struct go_frame *out);

#endif
