/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_SVG_SVG_FRAME_H
#define TALLY_VIEWS_SVG_SVG_FRAME_H
/*
 * What flame graphs as SVG have in common: the picture's head, and frames.  All
 * lengths are pixels.  Names may come from hostile files: they end up as text.
 */
#include <stdbool.h>

#include "base/buf.h"

enum {
	SVG_ROW = 17,		/* height of a frame, with its gap */
	SVG_MARGIN = 10,
};
#define SVG_LEAST_WIDTH 0.6	/* narrower frames are not drawn */
/* Of a frame's text: a monospace character at 11 px, a little more than real. */
#define SVG_CHAR_WIDTH 6.7

/* A frame's name, good until the next one.  Begin with { 0 }. */
struct svg_names {
	struct buf name;	/* as it is; by the caller */
	struct buf full;	/* safe, cut at a length that serves a tooltip */
	struct buf brief;	/* safe, short */
	struct buf tmp;
};

/* Forgets the last name; then the caller appends to `name`… */
void svg_names_reset(struct svg_names *n);
/* … and this makes the others from it. */
void svg_names_make(struct svg_names *n);
/* Says in `out` when one of them failed. */
void svg_names_fini(struct svg_names *n, struct buf *out);

/* The document up to a white background; "</svg>\n" ends it. */
void svg_begin(struct buf *out, unsigned int width, unsigned int height);
/* A frame up to its colour, which the caller appends, … */
void svg_frame_begin(struct buf *out, double x, unsigned int y, double width);
/* … and after the colour and the title: its text, where that has room. */
void svg_frame_end(struct buf *out, struct svg_names *n, bool italic,
		   double x, unsigned int y, double width);

#endif
