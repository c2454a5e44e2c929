/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_TRY_H
#define TALLY_RECORD_PERF_PERF_TRY_H
/* Sampling for a moment to see whether it works, and child processes for attempts
 * that may kill the caller. */
#include <linux/perf_event.h>
#include <sys/types.h>

#include "record/perf/perf_open.h"

struct perf_try {
	int open_errno, map_errno;	/* 0: it worked */
	unsigned int user, kernel;	/* number of samples taken in user and in
					 * kernel code */
};

/* Sets the event to the kernel's clock, with a sample every millisecond. */
void perf_try_clock(struct perf_event_attr *a, bool with_kernel);
/* Opens the event and closes it.  Returns 0 or an error number. */
int perf_try_open(struct perf_event_attr *a, const struct perf_scope *at);
/* Opens the event, maps a small ring, and works until a sample arrives or a tenth of
 * a second has passed.  in_kernel: the work is done in the kernel. */
void perf_try_run(struct perf_try *t, struct perf_event_attr *a,
		  const struct perf_scope *at, bool in_kernel);

/* Finds processes of other users: one started for this purpose if permitted, or else
 * some that run here.  End with try_other_users_end. */
enum { OTHER_USERS_MAX = 16 };
struct other_users {
	pid_t pid[OTHER_USERS_MAX];
	int n;
	bool ours;	/* it is tally's child */
};
void try_other_users(struct other_users *s);
void try_other_users_end(struct other_users *s);

#endif
