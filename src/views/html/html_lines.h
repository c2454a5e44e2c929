/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_HTML_LINES_H
#define TALLY_VIEWS_HTML_HTML_LINES_H
/* Inside of html_lines.c and its parts: what is chosen for a page. */
#include "views/html/html_data.h"

struct by_func {		/* of one recording: locations by function */
	size_t *first;		/* by function of the page, and the end */
	uint32_t *locs;
};

enum html_taken {
	HTML_LEFT,
	HTML_TAKEN,		/* but there was no room for its calls */
	HTML_TAKEN_CALLS,
};

struct html_chooser {
	struct html_data *d;
	struct by_func *by;	/* by source */
	uint8_t *taken;		/* by function: enum html_taken */
	uint64_t entries;	/* at most, of what was taken */
	uint64_t *call_weight;	/* by function: entries of its calls, at most */
	uint64_t call_entries;	/* at most, of the calls taken */
};

/* Takes a location, once.  -ERR_NOMEM. */
int html_take_location(struct html_chooser *k, uint32_t source, uint32_t loc);

/* html_calls.c: fills call_weight from a source; then makes the calls of the
 * functions taken.  -ERR_NOMEM. */
int html_weigh_calls(struct html_chooser *k, uint32_t source);
int html_take_calls(struct html_chooser *k, uint32_t source);

/* The file of the page that a source's path is, or PROF_NONE. */
uint32_t html_page_file(struct html_data *d, uint32_t source, uint32_t str,
			uint32_t image);

#endif
