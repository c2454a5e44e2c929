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

/* A process of another user, that waits: started if we may, else found.  0 when
 * there is none.  End it with trial_stranger_end. */
struct stranger {
	pid_t pid;
	bool ours;	/* our child */
};
struct stranger trial_stranger(void);
void trial_stranger_end(struct stranger *s);

#endif
