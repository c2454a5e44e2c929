/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_BUSY_H
#define TALLY_LAUNCH_BUSY_H
/*
 * Processes that keep the CPUs from halting.  A K8 processor that has halted stops the
 * clock of its counters, including those of its northbridge; AMD's remedy is a
 * background process of low priority (BKDG §10.1).
 */
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct busy {
	pid_t *pids;
	size_t n;
};

/* Starts a process named tally-busy on each CPU that the caller may use.  It runs only
 * while nothing else wants the CPU (SCHED_IDLE), and ends with the caller at the
 * latest.  Call it before threads are started.  On error, none is left. */
int busy_begin(struct busy *b, struct error *err);
/* Ends them.  A zeroed struct is fine. */
void busy_end(struct busy *b);

#endif
