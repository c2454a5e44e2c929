/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_WAIT_IDLE_H
#define TALLY_VIEWS_WAIT_IDLE_H
/*
 * Idle threads: those that waited in one place nearly all the time, such as a pool's
 * workers without work or a server's timer thread.  Their waits are long but seldom
 * the reason why a program is slow, so tables put them last.  A thread that waits for
 * a lock is never idle.
 */
#include "views/report.h"

struct wait_life {
	uint64_t from_ns, to_ns;	/* first and last time seen */
	uint64_t ran;			/* samples that are not waits */
};

struct wait_lives {
	VEC(struct wait_life) threads;	/* by thread row */
	uint64_t from_ns, to_ns;	/* of all of them */
};

int wait_lives_init(struct wait_lives *l, const struct profile *p);
void wait_lives_fini(struct wait_lives *l);
/* Takes one sample. */
void wait_lives_add(struct wait_lives *l, const struct profile *p,
		    const struct sample_batch *b, size_t i);

/* Returns whether a thread is idle, whose waits in one place add up to a sum; call: the
 * library function that it waits in, or "". */
bool wait_is_idle(const struct wait_lives *l, uint32_t thread,
		  const struct prof_event *e, struct cell sum, const char *call);

#endif
