/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_SVG_SVG_H
#define TALLY_VIEWS_SVG_SVG_H
/* Flame graphs as SVG files. */
#include "views/diff/diff.h"
#include "views/report.h"

struct svg_style {
	bool inverted, icicle;
	unsigned int width;	/* pixels */
};

/* Writes a flame graph as one SVG file without scripts. */
int svg_write(const struct report *rep, const struct svg_style *style,
	      struct buf *out, struct error *err);

struct diff_svg_style {
	unsigned int width;	/* pixels */
	bool icicle;
};
/* Writes a differential flame graph as one SVG file without scripts.  Red
 * frames grew and blue frames shrank. */
int diff_svg(const struct diff *d, const struct diff_svg_style *style,
	     struct buf *out, struct error *err);

#endif
