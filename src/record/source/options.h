/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_OPTIONS_H
#define TALLY_RECORD_SOURCE_OPTIONS_H
/* The request to a source: which target to sample, which events, and how often. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/events.h"

/* The range of copy_bytes: the size of a perf sample has 16 bits. */
enum { SOURCE_COPY_MIN = 1024, SOURCE_COPY_MAX = 65528 };

struct source_target {
	const uint32_t *tids;	/* threads; NULL: everything that runs on the CPUs */
	size_t ntids;
	const uint32_t *cpus;
	size_t ncpus;
	int cgroup_fd;		/* control group, used with tids == NULL; or -1 */
	bool all_cpus;		/* `cpus` holds all CPUs that are online */
};

struct source_options {
	const struct event_list *events;
	bool default_event;	/* the user named no event */
	bool callchain, inherit;
	bool enable_on_exec;	/* start sampling when the thread calls exec */
	bool launched;		/* the target is a command that tally starts */
	const char *command;	/* that command */
	bool python;		/* the target runs Python; only timers and ptrace read
				 * its frames */
	const char *language;	/* name of another interpreted language; NULL: none */
	bool user_only, kernel_only;
	bool waits;		/* also record where and how long threads wait */
	bool each_wait;		/* with waits: sample all of them, at any cost */
	bool latency;		/* with waits: also record wall-clock time */
	uint64_t freq, period;	/* sampling rate in Hz; period, 0: use freq */
	bool default_rate;	/* the user named no rate */
	bool calm;		/* wake rarely: see record_options */
	/* With callchain: copy stacks for the unwinder.  copy_bytes is the size,
	 * or 0 to let tally choose.  Where copies are impossible, frame pointers
	 * are used. */
	bool copy;
	uint32_t copy_bytes;
	bool verify_stacks;	/* also copy the stacks that the kernel module
				 * unwinds */
};

#endif
