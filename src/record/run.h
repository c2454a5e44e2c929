/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_RUN_H
#define TALLY_RECORD_RUN_H
/* What the parts of a run share: its beginning, its rounds and its end. */
#include <time.h>

#include "launch/launch.h"
#include "record/session.h"
#include "launch/target.h"

struct run {
	struct session *s;
	uint32_t number;	/* prof_run */
	struct launch launch;
	struct source *source;
	id_list threads;	/* -t and -p: threads to wait for */
	struct target_ends ends;
	uint64_t end_ns;	/* of --duration, or UINT64_MAX */
	uint64_t start_ns;	/* of --delay, 0 once started */
	uint64_t flushed_ns, drained_ns;
	unsigned int round_ms;
	size_t images;		/* seen up to the last round */
	uint64_t execs, deep;
	uint64_t waited_ns;	/* priority_waited, so far */
	bool done;
	bool told;		/* why the source is not the best one */
};

static inline uint64_t now_ns(void)
{
	return session_clock(CLOCK_MONOTONIC);
}

/* run_begin.c: a source for the target, and the rows of the run; */
int run_prepare(struct run *r, struct error *err);
/* then everything is ready: go. */
int run_go(struct run *r, struct error *err);
/* run.c: waiting counts from now on, or no more, where it is recorded. */
int run_waits(struct run *r, bool on, struct error *err);
/* What is in the source by now, or with `all` everything. */
int run_drain(struct run *r, bool all, struct error *err);
/* Reads the counters: losses since the last time, and with `final` rows of their
 * totals, less what files before have told. */
int run_counts(struct run *r, bool final, struct error *err);
/* run_end.c */
int run_finish(struct run *r, struct error *err);

#endif
