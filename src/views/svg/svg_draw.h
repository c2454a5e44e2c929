/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_SVG_SVG_DRAW_H
#define TALLY_VIEWS_SVG_SVG_DRAW_H
/*
 * Draws a call tree as an SVG flame graph.  The width of a frame is its node's
 * cost in the first column.  The caller supplies names and colours.  All
 * lengths are in pixels.  Names may come from hostile files; they are escaped
 * as text.
 */
#include "views/tree/calltree.h"

enum {
	SVG_ROW = 17,		/* height of a frame, including its gap */
	SVG_MARGIN = 10,
	SVG_TEXT = 11,		/* height of a frame's text */
	SVG_TITLE = 15,
};
#define SVG_MIN_WIDTH 0.6	/* narrower frames are not drawn */
/* Width of a monospace character at SVG_TEXT, slightly overestimated. */
#define SVG_CHAR_WIDTH 6.7

struct svg_frame {
	struct buf name;	/* readable, unsafe */
	struct buf color;	/* CSS colour */
	struct buf detail;	/* XML after the name in the tooltip */
};

struct svg_picture {
	const struct calltree *t;
	unsigned int width;
	unsigned int head;	/* height of what put_head writes */
	bool icicle;		/* the root is on top */
	void *ctx;		/* argument of both functions */
	void (*put_head)(void *ctx, struct buf *out);
	/* Fills an empty frame for a node. */
	void (*describe)(void *ctx, size_t node, struct svg_frame *frame);
};

/* Writes the whole document.  Returns 0 or -ERR_NOMEM; out->failed: out of
 * memory. */
int svg_draw(const struct svg_picture *pic, struct buf *out, struct error *err);

/* For put_head: writes a line of text at a height, cut at the picture's width.
 * `fill` is a colour, or NULL for black; `text` is safe for terminals. */
void svg_line(struct buf *out, unsigned int width, unsigned int y, int size,
	      const char *fill, const char *text);

#endif
