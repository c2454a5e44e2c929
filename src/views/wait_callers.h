/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_WAIT_CALLERS_H
#define TALLY_VIEWS_WAIT_CALLERS_H
/*
 * Distinguishes waits of one function by its callers.  A program often has one function
 * that waits for everything (epoll, poll), such as PostgreSQL's WaitEventSetWait: then
 * the caller says what for.
 */
#include "views/wait_place.h"

/* callers that are looked at, from the innermost */
enum { WAIT_CALLERS = 3 };

/* Returns whether waits of this kind are divided by callers, because one function may
 * wait for anything. */
bool wait_kind_is_any(const char *kind);
/* Waits with these callers. */
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
