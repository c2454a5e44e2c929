/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_STATUS_H
#define TALLY_CONTINUOUS_STATUS_H
/* How a continuous recording does: status.json, written and read. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* What the keeper tells the supervisor, in one write to a pipe. */
struct keeper_report {
	uint64_t files, samples, lost, unreadable;	/* of finished files */
	uint64_t pushed_files;
	uint64_t sent, sent_bytes, sent_samples, tries, refused, rejected,
		 dropped, waiting, waiting_bytes;
	uint64_t last_push_s;	/* since 1970; 0: none yet */
	char problem[512];	/* "": the last push came through */
};

struct continuous_status {
	char state[16];		/* starting, recording, paused, ended */
	char why[512];		/* … or "" */
	uint64_t pid, recorder, keeper;	/* processes; 0: none */
	uint64_t started_s, written_s;	/* since 1970 */
	double cpu_seconds;	/* of all processes since started_s */
	uint64_t memory_bytes;	/* of all processes, resident */
	uint64_t restarts;	/* of recorders that died */
	uint64_t files, bytes, removed, free_bytes;
	bool pushing;
	struct keeper_report keeper_says;
};

void status_json(const struct continuous_status *s, struct buf *out);
/* ERR_FORMAT where it is no status; unknown members are passed over. */
int status_parse(const void *p, size_t n, struct continuous_status *out,
		 struct error *err);
/* Lines for a person; `running`: its supervisor runs.  `now_s`: since 1970. */
void status_text(const struct continuous_status *s, bool running,
		 uint64_t now_s, struct buf *out);

#endif
