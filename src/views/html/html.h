/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_HTML_H
#define TALLY_VIEWS_HTML_HTML_H
/*
 * A report, or a comparison of several, as one HTML file that needs nothing
 * else: no network, no other files.
 *
 * What the page shows is worked out here once and stored in it as a compressed
 * block (html_encode.c says how); the page's own code is in src/views/html and
 * never changes.  The block is bounded: where there are more stacks than a page
 * can hold, the smallest branches are summed, and the page says so.
 */
#include "views/annotate/annotate.h"
#include "views/tree/calltree.h"

enum html_side { HTML_NEW, HTML_BASE };

/* How costs of an event compare with those of the other side. */
struct html_scale {
	double by;		/* weight times this is comparable with the new
				 * side's weight */
	double tau;		/* standard deviation between runs, relative */
};

/* A recording that goes into the page. */
struct html_input {
	struct reader *r;
	/* Neither sample keys nor filters of functions; its keys are image and
	 * symbol. */
	const struct report *rep;
	/* By symbol, with code: what lines and instructions cost.  NULL: the
	 * page has none. */
	struct annotation *lines;
	/* Of a comparison: */
	enum html_side side;	/* else HTML_NEW */
	const char *label;	/* what it is called */
	size_t runs;		/* of a command, that are selected; 0: all that
				 * the recording has */
	/* By frame key: numbers that are equal for equal functions of all
	 * inputs.  NULL: the keys themselves. */
	const uint32_t *match;
	const struct html_scale *scale;	/* by column of rep; NULL: 1, 0 */
};

/* What is known of a function that was compared. */
struct row_verdict {
	uint32_t match;		/* as in html_input */
	bool bad;
	char *words;		/* "regressed +11.1%, p 0.0001…" */
};

struct html_compare {
	const char *how;	/* "by total: …": how costs were made
				 * comparable */
	const char *headline;	/* the verdict; may be NULL */
	const char *const *notes;
	size_t nnotes;
	const struct row_verdict *verdicts;	/* what matters first */
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
	struct buf *told;	/* gets what source files were read
				 * (sources_summary), or NULL */
};

/* One recording, or with style->compare several of both sides. */
int html_write(const struct html_input *in, size_t n,
	       const struct html_style *style, struct buf *out,
	       struct error *err);

#endif
