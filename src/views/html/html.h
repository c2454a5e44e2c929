/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_HTML_H
#define TALLY_VIEWS_HTML_HTML_H
/*
 * Writes a report, or a comparison of several, as one self-contained HTML file:
 * it needs no network and no other files.
 *
 * The data is computed once and stored in the page as a compressed block
 * (html_encode.c defines it).  The page's own code is in src/views/html and
 * never changes.  The size of the block is bounded.  If there are more stacks
 * than a page can hold, the smallest branches are summed, and the page says so.
 */
#include "views/annotate/annotate.h"
#include "views/diff/diff.h"
#include "views/tree/calltree.h"

enum html_side { HTML_NEW, HTML_BASE };

/* Scale that makes the costs of an event comparable with the other side. */
struct html_scale {
	double by;		/* factor from weight to the new side's weight */
	double tau;		/* relative standard deviation between runs */
};

/* A recording to include in the page. */
struct html_input {
	struct reader *r;
	/* Report with keys image and symbol, without sample keys or function
	 * filters. */
	const struct report *rep;
	/* Costs of lines and instructions, by symbol and with code.  NULL: the
	 * page has none. */
	struct annotation *lines;
	/* Used in a comparison. */
	enum html_side side;	/* otherwise HTML_NEW */
	const char *label;	/* displayed name */
	/* selected runs of the command; 0: all runs of the recording */
	size_t runs;
	/* By frame key: numbers that are equal for equal functions of all
	 * inputs.  NULL: the keys themselves. */
	const uint32_t *match;
	const struct html_scale *scale;	/* by column of rep; NULL: factor 1, tau 0 */
};

/* Result for a function that was compared. */
struct row_verdict {
	uint32_t match;		/* as in html_input */
	bool bad;
	char *text;		/* explanation: "regressed +11.1%, p 0.0001…" */
};

struct html_compare {
	const char *how;	/* normalisation as text: "by total: …" */
	const char *headline;	/* overall verdict; may be NULL */
	const char *const *notes;
	size_t nnotes;
	const struct row_verdict *verdicts;	/* most important first */
	size_t nverdicts;
};

enum html_view { HTML_TABLE, HTML_FLAME, HTML_LINES };

struct html_style {
	enum html_view first;	/* view shown first */
	bool inverted;		/* show callers below each function */
	bool icicle;		/* draw the root on top */
	size_t missing;		/* number of reported images without names or lines */
	/* Units named by the user.  The page opens at the first one and
	 * contains the lines of all.  May be NULL. */
	const struct annotation *named;
	const struct html_compare *compare;	/* NULL: a single recording */
	/* receives the summary of source files (sources_summary), or NULL */
	struct buf *source_notes;
};

/* Writes one recording or, with style->compare, several of both sides. */
int html_write(const struct html_input *in, size_t n,
	       const struct html_style *style, struct buf *out,
	       struct error *err);
/* Writes a diff: the functions with their changes, a differential flame graph, and
 * source and instructions of both sides.  The diff's keys must be image and symbol
 * only. */
int html_diff(struct diff *d, struct buf *source_notes, struct buf *out,
	      struct error *err);

#endif
