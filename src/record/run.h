/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_RUN_H
#define TALLY_RECORD_RUN_H
/* A run: its beginning (run_begin.c), the records of its source (run_drain.c), its rounds
 * and its end (run.c). */
#include <time.h>

#include "launch/launch.h"
#include "record/session.h"
#include "launch/target.h"

struct run {
	struct session *s;
	uint32_t number;	/* prof_run */
	struct launch launch;
	struct source *source;
	id_list threads;	/* threads of -t and -p to wait for */
	struct target_ends ends;
	uint64_t end_ns;	/* end of --duration, or UINT64_MAX */
	uint64_t start_ns;	/* end of --delay; 0 once sampling has started */
	uint64_t flushed_ns, drained_ns;
	unsigned int round_ms;
	size_t images;		/* number seen up to the last round */
	uint64_t execs, deep;
	uint64_t waited_ns;	/* priority_waited so far */
	bool done;
	bool why_reported;	/* the reason why the source is not the best one was
				 * shown */
};

/* run_begin.c: chooses a source for the target and adds the rows of the run. */
int run_prepare(struct run *r, struct error *err);
/* Passes rc on.  If there were too few open files, the message names a limit that is
 * enough for this number of threads (0: unknown). */
int run_name_files(const struct session *s, size_t threads, int rc,
		   struct error *err);
/* Starts the prepared run. */
int run_go(struct run *r, struct error *err);
/* Starts or stops counting waits, if they are recorded. */
int run_waits(struct run *r, bool on, struct error *err);

/* run_drain.c: takes the records that the source has by now, with `all` all of them. */
int run_drain(struct run *r, bool all, struct error *err);
/* Reads the counters.  Adds losses since the last call and, with `final`, rows of
 * their totals, less those in earlier files. */
int run_counts(struct run *r, bool final, struct error *err);
/* Notes for this file how much less was taken under load. */
int run_note_load(struct run *r, struct error *err);
/* Handles an error after which nothing more can be recorded, such as a full disk.  It
 * ends the recording, which stays without an end mark, but not the command. */
int run_failed(struct run *r, int rc, struct error *err);

/* run.c: makes one run of the command, or one recording of existing processes. */
int run_record(struct session *s, uint32_t number, struct error *err);

#endif
