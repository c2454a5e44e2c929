/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_WAIT_SITES_H
#define TALLY_VIEWS_WAIT_SITES_H
/* Sums waits, and the wakeups that ended them, by place (wait_place.h).  Waits without a
 * stack, and those of idle threads, have rows of their own. */
#include "views/wait_place.h"

/* callers that are looked at, from the innermost */
enum { WAIT_CALLERS = 3 };

/* Rows of a table, in this order. */
enum wait_group { WAITS_BUSY, WAITS_NO_STACK, WAITS_IDLE, WAITS_GROUPS };

struct wait_site {
	uint32_t event;
	struct wait_place at;
	struct wait_place by;	/* of pairs: what ended it */
	uint32_t kind;		/* str: what it waits for; 0: unknown */
	uint32_t thread;	/* while waits are summed; then 0 */
	/* Innermost callers while waits are summed; PROF_NONE: the stack ends, or
	 * callers do not matter. */
	uint32_t callers[WAIT_CALLERS];
	uint8_t group;		/* enum wait_group; of pairs: 0 */
	uint32_t from;		/* fk: the caller that distinguishes the wait from others
				 * in the same place (wait_callers_find); PROF_NONE: none */
	struct cell sum;
};

struct wait_sites {
	VEC(struct wait_site) rows;	/* by group, longest first */
};

/* Sums the waits of a report with the keys image and symbol; streams the samples of its
 * reader.  Returns 0 or -ERR_NOMEM. */
int wait_sites_build(const struct report *rep, struct reader *r,
		     struct wait_sites *out);
/* Sums the blocked waits with a known end by pairs of the places where a thread waited
 * and where its wait was ended; streams the samples of the report's reader.  A merged
 * recording has lost them.  *blocked receives the sum of all blocked waits. */
int wait_pairs_build(const struct report *rep, struct reader *r,
		     struct wait_sites *out, uint64_t *blocked);
void wait_sites_fini(struct wait_sites *s);
/* Returns the heading of a group, or NULL. */
const char *wait_group_heading(enum wait_group g);
/* Appends a table of waits and one of what ended them, with at most `most` rows
 * each, and half as many of each other group; nothing if there are none. */
void wait_sites_text(const struct report *rep, const struct wait_sites *s,
		     const struct text_style *style, size_t most,
		     struct buf *out);
/* Appends the table of pairs: at most `most` rows. */
void wait_pairs_text(const struct report *rep, const struct wait_sites *s,
		     uint64_t blocked, const struct text_style *style,
		     size_t most, struct buf *out);
/* The same as an object in JSON, with all rows. */
void wait_pairs_json(const struct report *rep, const struct wait_sites *s,
		     uint64_t blocked, struct buf *out);

/*
 * Waits of one function, by its callers.  A program often has one function that waits
 * for everything (epoll, poll), such as PostgreSQL's WaitEventSetWait: then the caller
 * says what for.
 */
struct wait_called {
	uint32_t callers[WAIT_CALLERS];
	uint64_t weight;
	size_t row;		/* of the caller's table */
	uint32_t from;		/* result: fk, or PROF_NONE if no caller does */
};
/* Finds, for each of the waits of one function, the outermost caller that distinguishes
 * it from others; reorders them. */
void wait_callers_find(struct wait_called *v, size_t n);

#endif
