/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_OPTIONS_H
#define TALLY_RECORD_SOURCE_OPTIONS_H
/* What every source is asked for: whose samples, of which events, how often. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/events.h"

struct source_target {
	const uint32_t *tids;	/* threads; NULL: everything on the CPUs */
	size_t ntids;
	const uint32_t *cpus;
	size_t ncpus;
	int cgroup_fd;		/* or -1; with tids == NULL */
	bool all_cpus;		/* those are all that are online */
};

struct source_options {
	const struct event_list *events;
	bool default_event;	/* the user named none */
	bool callchain, inherit;
	bool enable_on_exec;	/* start by itself when the thread calls exec */
	bool launched;		/* the target is a command that we start … */
	const char *command;	/* … this one */
	bool python;		/* the target runs Python: its frames are known to
				 * timers and ptrace only */
	const char *language;	/* … or another language, by its name; NULL: none */
	bool user_only, kernel_only;
	bool waits;		/* where and how long threads wait, too */
	bool latency;		/* with waits: wall-clock time, too */
	uint64_t freq, period;	/* period 0: freq */
	bool default_rate;	/* the user named none */
	/* With callchain: copies of stacks for the unwinder, as large as given
	 * or as we think fit (0); by frame pointers where that cannot be. */
	bool copy;
	uint32_t copy_bytes;
	bool verify_stacks;	/* those that the kernel module unwinds, too */
};

#endif
