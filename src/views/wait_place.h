/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_WAIT_PLACE_H
#define TALLY_VIEWS_WAIT_PLACE_H
/*
 * The place where a thread waits, or ends the wait of another one: the innermost
 * function of the program itself, and the C or C++ library function that it called.
 * The innermost frame of a wait is not useful, because all locks wait in the same one.
 */
#include "views/report.h"

struct wait_place {
	uint32_t func;		/* fk of report.keys: the program's function; if the
				 * whole stack belongs to the system, its innermost
				 * function; PROF_NONE: filtered out */
	uint32_t call;		/* fk of the library function; PROF_NONE: none */
};

struct wait_places {
	const struct report *rep;
	struct wait_place *known;	/* by stack; all bits set: not yet known */
	/* by fk: 1 if it belongs to the system, -1 if not, 0 if not yet known */
	int8_t *system;
	uint32_t *kinds;	/* by stack: what threads wait for there (wait_kinds.h) */
};

/* Returns whether a path is a library whose functions wait on behalf of their
 * callers. */
bool wait_place_is_library(const char *path);
/* Returns whether the function of a frame (frame_step of framekey.h) is one of a
 * system header, such as std::mutex::lock, that was compiled into the program, or one
 * of Python's own library.  Installed packages do not count. */
bool wait_place_is_header(const struct profile *p, uint32_t frame);

/* Returns whether the place stands for waits whose stack is unknown. */
bool wait_place_is_missing(const struct report *rep, struct wait_place at);

/* Prepares for a report with the keys image and symbol, which must outlive it.
 * Returns 0 or -ERR_NOMEM. */
int wait_places_init(struct wait_places *s, const struct report *rep);
void wait_places_fini(struct wait_places *s);
struct wait_place wait_place(struct wait_places *s, uint32_t stack);
/* Finds up to `n` functions that called the one that waits, from the innermost;
 * without recursion.  Returns their number. */
int wait_place_callers(struct wait_places *s, uint32_t stack, uint32_t *fks, int n);

static inline bool wait_place_equal(struct wait_place a, struct wait_place b)
{
	return a.func == b.func && a.call == b.call;
}

/* An order of places that depends on the file only. */
static inline bool wait_place_before(struct wait_place a, struct wait_place b)
{
	return a.func != b.func ? a.func < b.func : a.call < b.call;
}

/* Appends "FUNCTION in CALL". */
void wait_place_text(const struct report *rep, struct wait_place at, bool full,
		     struct buf *out);

#endif
