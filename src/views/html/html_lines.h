/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_HTML_LINES_H
#define TALLY_VIEWS_HTML_HTML_LINES_H
/* Internals of html_lines.c and its parts: the selection for a page. */
#include "views/html/html_data.h"

struct by_func {		/* locations of one recording by function */
	size_t *first;		/* by function of the page, plus the end */
	uint32_t *locs;
};

enum html_chosen {
	HTML_LEFT,
	/* selected without its calls, which exceeded the limit */
	HTML_TAKEN,
	HTML_TAKEN_CALLS,
};

struct html_chooser {
	struct html_data *d;
	struct by_func *by;	/* by source */
	uint8_t *taken;		/* by function: enum html_chosen */
	uint64_t entries;	/* upper bound of the entries selected */
	/* by function: upper bound of the entries of its calls */
	uint64_t *call_weight;
	uint64_t call_entries;	/* upper bound of the entries of the selected calls */
};

/* html_calls.c.  html_weigh_calls fills call_weight from a source.
 * html_take_calls then adds the calls of the selected functions.  Return 0 or
 * -ERR_NOMEM. */
int html_weigh_calls(struct html_chooser *k, uint32_t source);
int html_take_calls(struct html_chooser *k, uint32_t source);

/* Returns the file of the page for a source's path, or PROF_NONE. */
uint32_t html_page_file(struct html_data *d, uint32_t source, uint32_t str,
			uint32_t image);

#endif
