/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_TRY_H
#define TALLY_RECORD_PERF_PERF_TRY_H
/* Sampling for a moment, to see whether it works; and children that try what
 * may end them. */
#include <linux/perf_event.h>
#include <sys/types.h>

#include "record/perf/perf_open.h"

struct perf_try {
	int open_errno, map_errno;	/* 0: it worked */
	unsigned int user, kernel;	/* samples, by where they were taken */
};

/* The clock of the kernel, every millisecond. */
void perf_try_clock(struct perf_event_attr *a, bool with_kernel);
/* Opens the event, maps a small ring, and works (in the kernel, if asked) until
 * a sample came there or a tenth of a second is over. */
void perf_try_run(struct perf_try *t, struct perf_event_attr *a,
		  const struct perf_scope *at, bool in_kernel);

/* Processes of other users: one that was started for that, if we may, else some
 * that run here.  End with try_other_users_end. */
enum { OTHER_USERS_MAX = 16 };
struct other_users {
	pid_t pid[OTHER_USERS_MAX];
	int n;
	bool ours;	/* our child */
};
void try_other_users(struct other_users *s);
void try_other_users_end(struct other_users *s);

#endif
