/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SESSION_H
#define TALLY_RECORD_SESSION_H
/* What the parts of the recorder share: session.c (the whole), run.c (one run),
 * environment.c. */
#include "record/collector.h"
#include "record/launch.h"
#include "record/perf_source.h"
#include "record/record.h"
#include "record/target.h"

struct session {
	const struct record_options *o;
	struct record_result *result;
	struct profile profile;
	struct collector collector;
	struct writer *writer;
	int out_fd;		/* the output file before the writer has it */
	bool out_new;		/* it did not exist */
	struct target target;
	struct event_list events;
	int signal_fd;
	struct launch_state before;
	bool stop;		/* asked to end by a signal */
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

/* session.c */
int session_begin_file(struct session *s, struct error *err);
void session_notice(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
uint64_t session_clock(int id);

#endif
