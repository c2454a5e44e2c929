/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_SVG_SVG_DRAW_H
#define TALLY_VIEWS_SVG_SVG_DRAW_H
/*
 * The one writer of flame graphs as SVG: a call tree as frames, each as wide as its
 * node's cost in the first column.  What frames are called and how they are coloured
 * the caller says.  All lengths are pixels.  Names may come from hostile files: they
 * end up as text.
 */
#include "views/tree/calltree.h"

enum {
	SVG_ROW = 17,		/* height of a frame, with its gap */
	SVG_MARGIN = 10,
	SVG_TEXT = 11,		/* height of a frame's text */
	SVG_TITLE = 15,
};
#define SVG_LEAST_WIDTH 0.6	/* narrower frames are not drawn */
/* Width of a monospace character at SVG_TEXT, a little more than real. */
#define SVG_CHAR_WIDTH 6.7

struct svg_frame {
	struct buf name;	/* readable, unsafe */
	struct buf color;	/* as CSS has it */
	struct buf detail;	/* behind the name in the tooltip: XML */
};

struct svg_picture {
	const struct calltree *t;
	unsigned int width;
	unsigned int head;	/* height of what put_head writes */
	bool icicle;		/* the root is on top */
	void *ctx;		/* what both functions are given */
	void (*put_head)(void *ctx, struct buf *out);
	/* Fills an empty frame for a node. */
	void (*describe)(void *ctx, size_t node, struct svg_frame *frame);
};

/* The whole document.  -ERR_NOMEM, or out->failed. */
int svg_draw(const struct svg_picture *pic, struct buf *out, struct error *err);

/* For put_head: a line of text at a height, cut at the picture's width.  `fill` is a
 * colour, NULL: black; `text` is safe for terminals. */
void svg_line(struct buf *out, unsigned int width, unsigned int y, int size,
	      const char *fill, const char *text);

#endif
