/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TRIAL_H
#define TALLY_RECORD_TRIAL_H
/* Sampling for a moment, to see whether it works; and children that try what
 * may end them. */
#include <linux/perf_event.h>
#include <sys/types.h>

#include "record/perf_open.h"

struct trial {
	int open_errno, map_errno;	/* 0: it worked */
	unsigned int user, kernel;	/* samples, by where they were taken */
};

/* The clock of the kernel, every millisecond. */
void trial_clock(struct perf_event_attr *a, bool with_kernel);
/* Opens the event, maps a small ring, and works (in the kernel, if asked) until
 * a sample came there or a tenth of a second is over. */
void trial_run(struct trial *t, struct perf_event_attr *a,
	       const struct perf_place *at, bool in_kernel);

/* What rights_reach says, found in a child: a filter may kill who calls.
 * Returns that number, or the negative signal that ended the child. */
int trial_reach(void);

/* Processes of other users: one that was started for that, if we may, else some
 * that run here.  End with trial_strangers_end. */
enum { STRANGERS_MAX = 16 };
struct strangers {
	pid_t pid[STRANGERS_MAX];
	int n;
	bool ours;	/* our child */
};
void trial_strangers(struct strangers *s);
void trial_strangers_end(struct strangers *s);

#endif
