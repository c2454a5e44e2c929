// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the registers, the call, the state and the times of a thread. */
#include "record/collect/sleeping.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/proc_read.h"

char sleeping_state(const char *proc, uint32_t pid, uint32_t tid, bool *kernel)
{
	enum { PF_KTHREAD = 0x00200000 };	/* linux/sched.h */
	char text[512], state = 0;
	const char *name;
	unsigned int flags = 0;

	proc_beginning(text, sizeof(text), "%s/%u/task/%u/stat", proc, pid, tid);
	/* The name may contain any characters. */
	name = strrchr(text, ')');
	if (!name || sscanf(name, ") %c %*d %*d %*d %*d %*d %u", &state,
			    &flags) != 2)
		return 0;
	*kernel = flags & PF_KTHREAD;
	return state;
}

bool sleeping_is_asleep(char state)
{
	return state == 'S' || state == 'D';
}

/* Parses "RAN QUEUED TURNS". */
bool sleeping_schedstat(const char *proc, uint32_t pid, uint32_t tid,
			struct wait_poll *out)
{
	unsigned long long v[3];
	char text[96];

	proc_beginning(text, sizeof(text), "%s/%u/task/%u/schedstat", proc, pid, tid);
	out->time_ns = clock_now();
	if (sscanf(text, "%llu %llu %llu", &v[0], &v[1], &v[2]) != 3)
		return false;
	out->ran_ns = v[0];
	out->queued_ns = v[1];
	out->turns = v[2];
	return true;
}

/* Returns the kind of a file that a thread has open. */
static enum wait_object object_of(const char *proc, uint32_t pid, uint32_t tid,
				  uint64_t number)
{
	enum wait_object on;
	char path[96], link[64];
	struct statx x;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%u/task/%u/fd/%u", proc, pid, tid,
		 (unsigned int)number);
	n = readlink(path, link, sizeof(link) - 1);
	link[n < 0 ? 0 : n] = 0;
	on = wait_object_of_link(link);
	if (on != WAIT_ON_PATH)
		return on;
	/* The type of a file does not change: no server is asked. */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		  STATX_TYPE, &x) < 0)
		return WAIT_ON_NOTHING;
	return wait_object_of_mode(x.stx_mode, x.stx_rdev_major);
}

static wait_kind kind_in_call(const char *proc, uint32_t pid, uint32_t tid,
			      int64_t number, uint64_t first)
{
	wait_kind k = wait_kind_of_call(number);

	if (!wait_kind_lacks_object(k))
		return k;
	return wait_kind_of(wait_kind_what(k),
			    object_of(proc, pid, tid, first));
}

/* A thread that is not stopped waits for its call, or outside of a call for the page
 * that it has touched. */
static wait_kind kind_of(const char *proc, uint32_t pid, uint32_t tid,
			 bool in_call, int64_t number, uint64_t first)
{
	bool kernel;
	char state = sleeping_state(proc, pid, tid, &kernel);

	if (state == 'T')
		return WAIT_FOR_CONTINUE;
	/* A tracer, which may be tally, has stopped it: 't'. */
	if (!sleeping_is_asleep(state))
		return 0;
	return in_call ? kind_in_call(proc, pid, tid, number, first)
		       : WAIT_FOR_PAGE;
}

/* Parses "NUMBER ARGUMENT*6 SP PC", or "-1 SP PC" outside a system call, or
 * "running". */
bool sleeping_read(const char *proc, uint32_t pid, uint32_t tid,
		   struct sleeping *out)
{
	static const uint8_t arguments[] = {
		UNWIND_RDI, UNWIND_RSI, UNWIND_RDX, UNWIND_R8 + 2, UNWIND_R8,
		UNWIND_R8 + 1,
	};
	enum { OUTSIDE = 2, IN_CALL = 8 };	/* number of words */
	unsigned long long v[9];
	char text[256], *p = text, *end;
	size_t words = 0;
	int64_t number;

	memset(out, 0, sizeof(*out));
	out->closed = proc_beginning(text, sizeof(text), "%s/%u/task/%u/syscall", proc,
				     pid, tid) < 0;
	if (!strncmp(text, "running", 7))
		return false;
	number = strtoll(p, &end, 10);
	while (end > p && words < 9) {
		p = end;
		v[words] = strtoull(p, &end, 0);
		words += end > p;
	}
	if (words != IN_CALL && (words != OUTSIDE || number != -1))
		return false;
	out->regs.r[UNWIND_RSP] = v[words - 2];
	out->regs.r[UNWIND_RIP] = v[words - 1];
	out->regs.known = 1u << UNWIND_RSP | 1u << UNWIND_RIP;
	for (size_t i = 0; words == IN_CALL && i < sizeof(arguments); i++) {
		out->regs.r[arguments[i]] = v[i];
		out->regs.known |= 1u << arguments[i];
	}
	if (!out->regs.r[UNWIND_RSP] || !out->regs.r[UNWIND_RIP])
		return false;
	/* 32-bit programs number their calls differently. */
	out->kind = v[words - 2] >> 32
		    ? kind_of(proc, pid, tid, words == IN_CALL, number, v[0])
		    : WAIT_FOR_OTHER;
	return true;
}
