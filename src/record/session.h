/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SESSION_H
#define TALLY_RECORD_SESSION_H
/* What the parts of the recorder share: session.c (the whole), run.c (one run),
 * environment.c. */
#include "base/outfile.h"
#include "record/collect/collector.h"
#include "launch/control.h"
#include "launch/launch.h"
#include "record/perf/perf_source.h"
#include "launch/priority.h"
#include "record/record.h"
#include "launch/target.h"

enum { ROTATE_HELPERS = 4 };	/* children that look names up at once */

/* See rotate.h. */
struct rotation {
	int signal_fd;		/* SIGUSR2, or -1 */
	bool asked;		/* by control */
	uint64_t begun_ns;	/* the file that is written */
	VEC(char *) names;	/* of finished files, oldest first */
	pid_t helpers[ROTATE_HELPERS];
	uint64_t samples, lost, throttled;	/* in files before */
	VEC(struct prof_stat) counted;	/* by event: in files before */
};

struct session {
	const struct record_options *o;
	struct record_result *result;
	struct profile profile;
	struct collector collector;
	struct writer *writer;
	struct writer *prepared;	/* … of a file that can be taken back */
	struct outfile out;	/* what the writer writes to */
	struct target target;
	struct event_list events;
	int signal_fd;
	struct launch_state before;
	struct priority_boost boost;	/* at the start and at the end */
	uint64_t shortened;	/* copies of stacks, for too much waited */
	/* As of struct source. */
	uint64_t unwound, not_unwound, verified, differing;
	uint64_t record_bytes, handler_cycles;
	uint64_t thinned;	/* samples, by a lower rate */
	bool stop;		/* asked to end by a signal */
	bool enabled;		/* --control: sampling was switched on once */
	struct control control;
	struct rotation rotation;
	struct error write_error;	/* disk full: no more is written */
};

/* environment.c */
int environment_fill(struct session *s, const struct source *src,
		     struct error *err);
/* Some programs' mappings could not be read. */
int environment_closed(struct session *s, struct error *err);
/* Records of mappings were lost. */
int environment_gaps(struct session *s, struct error *err);

/* run.c: one run of the command, or one recording of what runs already. */
int run_record(struct session *s, uint32_t number, struct error *err);

/* session.c.  Writes what is known and puts the file in its place, so that there is
 * one that opens from the command's start on; then makes that final. */
int session_prepare_file(struct session *s, struct error *err);
int session_begin_file(struct session *s, struct error *err);
/* Names, and the end of the file. */
int session_finish_file(struct session *s, struct error *err);
/* Writes what is new, and forgets what the file has of stacks. */
int session_flush(struct session *s, struct error *err);
void session_notice(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
uint64_t session_clock(int id);

#endif
