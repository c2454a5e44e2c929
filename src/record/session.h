/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SESSION_H
#define TALLY_RECORD_SESSION_H
/* The state of a recording, which record.c makes of runs (run.h), and its file. */
#include "base/outfile.h"
#include "record/collect/collector.h"
#include "launch/control.h"
#include "launch/launch.h"
#include "record/perf/perf_source.h"
#include "launch/priority.h"
#include "record/record.h"
#include "launch/target.h"

enum { ROTATE_HELPERS = 4 };	/* maximum number of children that look up names at a
				 * time */

/* A child that ends a file, or {}. */
struct rotate_helper {
	pid_t pid;
	char *name;		/* of the file */
};

/* State of rotate.h. */
struct rotation {
	bool asked;		/* requested by SIGUSR2 */
	uint64_t full_bytes;	/* memory of the tables, if the next switch is due only to
				 * that; otherwise 0 */
	uint64_t begun_ns;	/* start of the current file */
	int kallsyms;		/* symbols of the kernel for the helpers: see
				 * kallsyms_keep; 0: none */
	VEC(char *) names;	/* names of finished files, oldest first */
	struct rotate_helper helpers[ROTATE_HELPERS];
	struct error unfinished;	/* a helper failed */
	/* Totals of earlier files; the last two as in struct source. */
	uint64_t samples, lost, throttled, shortened, thinned;
	VEC(struct prof_stat) counted;	/* by event: totals of earlier files */
};

struct session {
	const struct record_options *o;
	struct record_result *result;
	struct profile profile;
	struct collector collector;
	struct writer *writer;
	struct writer *prepared;	/* writer of a file that can still be
					 * withdrawn */
	struct outfile out;	/* output of the writer */
	struct target target;
	struct event_list events;
	int signal_fd;
	struct launch_state before;
	struct priority_boost boost;	/* active at the start and at the end */
	/* As in struct source, of earlier runs. */
	uint64_t shortened, thinned;
	/* As in struct source. */
	uint64_t unwound, not_unwound, verified, differing;
	uint64_t record_bytes, handler_cycles, taken, added_up;
	bool stop;		/* a signal asked it to end */
	bool enabled;		/* with --control: sampling was switched on once */
	struct control control;
	struct rotation rotation;
	struct error failure;	/* disk full, or a source that died: nothing more is
				 * written */
};

/* environment.c */
int environment_fill(struct session *s, const struct source *src,
		     struct error *err);
/* Notes that some programs' mappings could not be read. */
int environment_closed(struct session *s, struct error *err);

/* session.c.  The first writes what is known and puts the file in its place, so a
 * valid file exists from the command's start on.  The second makes that final. */
int session_prepare_file(struct session *s, struct error *err);
int session_begin_file(struct session *s, struct error *err);
/* Adds the names and ends the file. */
int session_finish_file(struct session *s, struct error *err);
/* Writes new data and drops stacks that are in the file. */
int session_flush(struct session *s, struct error *err);
void session_notice(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
