/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_H
#define TALLY_VIEWS_HTML_H
/*
 * A report, or a comparison of several, as one HTML file that needs nothing
 * else: no network, no other files.
 *
 * What the page shows is worked out here once and stored in it as a compressed
 * block (html_encode.c says how); the page's own code is in src/views/html and
 * never changes.  The block is bounded: where there are more stacks than a page
 * can hold, the smallest branches are summed, and the page says so.
 */
#include "views/annotate.h"
#include "views/flame.h"

enum html_side { HTML_NEW, HTML_BASE };

/* A recording that goes into the page. */
struct html_input {
	struct reader *r;
	/* Neither sample keys nor filters of functions; its keys are image and
	 * symbol. */
	const struct report *rep;
	/* By symbol, with code: what lines and instructions cost.  NULL: the
	 * page has none. */
	struct annotation *lines;
	enum html_side side;	/* HTML_NEW where nothing is compared */
	const char *label;	/* of a comparison: what it is called */
};

/* What is known of a function that was compared. */
struct html_verdict {
	const char *name;	/* as in the recording: linkage name */
	const char *image;	/* base name of its image */
	const char *words;	/* "regressed +11.1%, p 0.0001…" */
	bool bad;
};

struct html_compare {
	double scale;		/* baseline times this is comparable */
	const char *how;	/* "by total: …": how that was found */
	const char *headline;	/* the verdict; may be NULL */
	const char *const *notes;
	size_t nnotes;
	const struct html_verdict *verdicts;	/* what matters first */
	size_t nverdicts;
};

enum html_view { HTML_TABLE, HTML_FLAME, HTML_LINES };

struct html_style {
	enum html_view first;	/* what it opens with */
	bool inverted;		/* callers below each function */
	bool icicle;		/* the root on top */
	size_t missing;		/* images told that lack names or lines */
	/* Units that were asked for: the page opens at the first one, and holds
	 * the lines of all.  May be NULL. */
	const struct annotation *named;
	const struct html_compare *compare;	/* NULL: one recording */
};

/* One recording, or with style->compare several of both sides. */
int html_write(const struct html_input *in, size_t n,
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
