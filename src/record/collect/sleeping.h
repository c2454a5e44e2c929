/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_SLEEPING_H
#define TALLY_RECORD_COLLECT_SLEEPING_H
/*
 * What /proc tells about a thread that does not run (proc(5)).  Nothing here stops a
 * thread or interrupts a call.  The caller checks that the thread did not run in
 * between: its times of running tell.
 */
#include <stdbool.h>
#include <stdint.h>

#include "record/waits/polled_waits.h"
#include "record/waits/wait_kind.h"
#include "unwind/unwind.h"

struct sleeping {
	/* The stack pointer and the instruction pointer; in a system call also the
	 * registers that hold its arguments. */
	struct unwind_regs regs;
	wait_kind kind;		/* what it waits for; 0: unknown */
	bool closed;		/* reading was refused */
};

/* Reads a thread.  Returns false if it runs or cannot be read. */
bool sleeping_read(const char *proc, uint32_t pid, uint32_t tid,
		   struct sleeping *out);
/* Returns the state 'S', 'D', 'R' and so on of a thread, and sets whether it is a
 * kernel thread.  Returns 0 if unknown. */
char sleeping_state(const char *proc, uint32_t pid, uint32_t tid, bool *kernel);
/* Returns whether a state is that of a thread that sleeps. */
bool sleeping_is_asleep(char state);
/* Reads how long a thread ran and waited for a CPU, how often it began to run, and the
 * time of this reading (Documentation/scheduler/sched-stats.rst).  Returns false if
 * unknown. */
bool sleeping_schedstat(const char *proc, uint32_t pid, uint32_t tid,
			struct wait_poll *out);

#endif
