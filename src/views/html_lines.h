/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_LINES_H
#define TALLY_VIEWS_HTML_LINES_H
/* Inside of html_lines.c and its parts: what is chosen for a page. */
#include "views/html_data.h"

struct by_func {		/* of one recording: locations by function */
	size_t *first;		/* by function of the page, and the end */
	uint32_t *locs;
};

struct html_chooser {
	struct html_data *d;
	struct by_func *by;	/* by source */
	uint8_t *taken;		/* by function */
	uint64_t entries;	/* at most, of what was taken */
};

/* The function of the page that a step belongs to, or PROF_NONE. */
static inline uint32_t html_step_func(const struct html_source *s,
				      uint32_t step)
{
	uint32_t fk = s->in.rep->keys.steps[step].fk;

	return fk == PROF_NONE ? PROF_NONE : s->func_of[fk];
}

/* Takes a location, once.  -ERR_NOMEM. */
int html_take_location(struct html_chooser *k, uint32_t source, uint32_t loc);

/* html_line_codes.c: the code that the locations of a source are in, and all
 * locations in it; `insns` counts instructions over all sources.  Then, where
 * each location is in its code.  -ERR_NOMEM. */
int html_take_codes(struct html_chooser *k, uint32_t source, size_t *insns);
void html_place_locations(struct html_data *d);

/* html_line_frames.c: the frames of locations and instructions taken; then the
 * lines of a source whose text is wanted.  -ERR_NOMEM. */
int html_make_frames(struct html_data *d);
int html_want_lines(struct html_chooser *k, uint32_t source);

#endif
