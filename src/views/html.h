/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_H
#define TALLY_VIEWS_HTML_H
/*
 * A report as one HTML file that needs nothing else: no network, no other files.
 *
 * What the page shows is worked out here once and stored in it as a compressed
 * block (html_encode.c says how); the page's own code is in src/views/html and
 * never changes.  The block is bounded: where there are more stacks than a page
 * can hold, the smallest branches are summed, and the page says so.
 */
#include "views/flame.h"

struct html_style {
	bool flame_only;	/* `tally flamegraph`: begin with the graph */
	bool inverted;		/* callers below each function */
	bool icicle;		/* the root on top */
	size_t missing;		/* images told that lack names or lines */
	/* The dearest functions as annotate_json writes them, or NULL. */
	const struct buf *annotation;
};

/* The report has neither sample keys nor filters of functions, and its keys are
 * image and symbol. */
int html_write(struct reader *r, const struct report *rep,
	       const struct html_style *style, struct buf *out,
	       struct error *err);

struct svg_style {
	bool inverted, icicle;
	unsigned int width;	/* pixels */
};

/* A flame graph as one SVG file without scripts. */
int svg_write(const struct report *rep, const struct svg_style *style,
	      struct buf *out, struct error *err);

/* Appends text as XML: control characters and marks made visible as by
 * text_safe, markup escaped. */
void xml_text(struct buf *out, const char *s);

#endif
