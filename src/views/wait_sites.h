/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_WAIT_SITES_H
#define TALLY_VIEWS_WAIT_SITES_H
/*
 * Places where threads wait.  Waits are summed by the innermost function of the
 * program itself, and by the C or C++ library function that it called to wait.
 * The innermost frame of a wait is not useful, because all locks wait in the
 * same one.  Wakeups, which end waits, are summed the same way.
 */
#include "views/report.h"

struct wait_site {
	uint32_t event;
	uint32_t func;		/* fk of report.keys: the program's function */
	uint32_t call;		/* fk of the library function; PROF_NONE: none */
	struct cell sum;
};

struct wait_sites {
	VEC(struct wait_site) rows;	/* longest first */
};

/* Sums the waits of a report with the keys image and symbol.  Returns 0 or
 * -ERR_NOMEM. */
int wait_sites_build(const struct report *rep, struct wait_sites *out);
void wait_sites_fini(struct wait_sites *s);
/* Appends a table of waits and one of what ended them, with at most `most` rows
 * each; nothing if there are none. */
void wait_sites_text(const struct report *rep, const struct wait_sites *s,
		     const struct text_style *style, size_t most,
		     struct buf *out);

#endif
