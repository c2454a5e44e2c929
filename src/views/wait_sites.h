/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_WAIT_SITES_H
#define TALLY_VIEWS_WAIT_SITES_H
/*
 * Where threads wait: waits summed by the innermost function that is the program's
 * own, and by what it called in the C or C++ library to wait.  The innermost frame of
 * a wait says little: all locks wait in the same one.  The same for what ends waits.
 */
#include "views/report.h"

struct wait_site {
	uint32_t event;
	uint32_t func;		/* fk of report.keys: the program's function */
	uint32_t call;		/* … what it called; PROF_NONE: nothing */
	struct cell sum;
};

struct wait_sites {
	VEC(struct wait_site) rows;	/* longest first */
};

/* Of a report with the keys image and symbol; 0 or -ERR_NOMEM. */
int wait_sites_build(const struct report *rep, struct wait_sites *out);
void wait_sites_fini(struct wait_sites *s);
/* Appends a table of waits and one of what ended them, of at most `most` rows each;
 * nothing where there are none. */
void wait_sites_text(const struct report *rep, const struct wait_sites *s,
		     const struct text_style *style, size_t most,
		     struct buf *out);

#endif
