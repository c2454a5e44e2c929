/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_STATUS_H
#define TALLY_CONTINUOUS_STATUS_H
/* The state of a continuous recording: writes and reads status.json. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "push/push.h"

/* Report from the keeper to the supervisor, in one write to a pipe. */
struct keeper_report {
	uint64_t files, samples, lost, unreadable;	/* totals of finished files */
	uint64_t full;		/* files that ended because of their tables' memory */
	uint64_t pushed_files;
	struct push_counts push;
	uint64_t last_push_s;	/* seconds since 1970; 0: none yet */
};

struct continuous_status {
	char state[16];		/* starting, recording, paused, ended */
	char why[512];		/* reason for the state, or "" */
	uint64_t pid, recorder, keeper;	/* process IDs; 0: none */
	uint64_t started_s, written_s;	/* seconds since 1970 */
	uint64_t running_s;	/* time since the start that the machine was awake;
				 * the wall clock may have been set meanwhile */
	double cpu_seconds;	/* CPU time of all processes since started_s */
	uint64_t memory_bytes;	/* resident memory of all processes */
	uint64_t restarts;	/* number of recorders that died and were replaced */
	uint64_t files, bytes, removed, free_bytes;
	bool pushing;
	struct keeper_report keeper_says;
};

/* Adds the totals of keepers that have ended. */
void status_add(struct continuous_status *s, const struct keeper_report *earlier);
/* Appends the status as JSON. */
void status_json(const struct continuous_status *s, struct buf *out);
/* Parses a status.  Ignores unknown members.  Returns ERR_FORMAT if the text is no
 * status. */
int status_parse(const void *p, size_t n, struct continuous_status *out,
		 struct error *err);
/* Appends lines for a person.  `running`: the supervisor is running.  `now_s`:
 * seconds since 1970. */
void status_text(const struct continuous_status *s, bool running,
		 uint64_t now_s, struct buf *out);

#endif
