// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the CPU on which the tracer runs.
 *
 * A thread that is stopped from another CPU keeps running until the interrupt reaches
 * it.  A system call that begins in between notices the request first, so too many
 * samples lie in system calls.  Threads seen in system calls are therefore sampled
 * from their own CPU: the tracer moves there after the previous sample, and its timer
 * interrupts the thread wherever it is.  That increases the cost to the thread by
 * half, so threads that only compute are still sampled from another CPU.
 *
 * Sharing the CPU helps only if the tracer gets it at once.  Short slices request
 * that (sched(7); Linux 6.12).  Older kernels may delay the tracer for a tick, or
 * until the thread makes a clock call.  In that case it stays on another CPU.
 */
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/ptrace/ptrace_internal.h"

enum {
	SLICE_NS = 100000,	/* shortest slice that the kernel gives */
	LATE_NS = 200000,	/* limit for a move; 15,000 to 35,000 are usual */
	LATE_MAX = 4,		/* surplus of late moves over timely ones */
	AWAY_TICKS = 1024,	/* ticks to stay on other CPUs after that surplus */
	/* Number of samples from another CPU in which calls are counted. */
	FAR_SAMPLES = 64,
	/* Number of those in system calls that triggers a move to the thread's CPU. */
	FAR_CALLS = 2,
	/* Number of samples taken there; it doubles each time. */
	SAME_CPU_MIN = 128,
	SAME_CPU_MAX = 8192,
};

/* struct sched_attr of sched_setattr(2); some C libraries have it, and then
 * collide with <linux/sched/types.h>. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Requests short slices.  Older kernels ignore the request.  Batch threads
 * (SCHED_BATCH) get a CPU late, so they change to SCHED_OTHER; other policies stay. */
static void want_short_slices(void)
{
	int policy = sched_getscheduler(0);
	struct attr attr = { .size = sizeof(attr), .policy = SCHED_OTHER,
			     .nice = getpriority(PRIO_PROCESS, 0),
			     .runtime_ns = SLICE_NS };

	if (policy == SCHED_OTHER || policy == SCHED_BATCH)
		syscall(SYS_sched_setattr, 0, &attr, 0);
}

void tracer_move_init(struct tracer *t)
{
	t->processors = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	t->processor = -1;
	if (sched_getaffinity(0, sizeof(t->anywhere), &t->anywhere) < 0)
		t->processors = 1;	/* more CPUs than the set can hold: do not
					 * move */
	want_short_slices();
}

/* Moves to any CPU other than the thread's. */
static void go_away(struct tracer *t, const struct tracee *k, int cpu)
{
	cpu_set_t set = t->anywhere;

	if (cpu != sched_getcpu() && t->processor < 0) {
		t->other_cpu = k->tid;
		return;
	}
	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_CLR((unsigned int)cpu, &set);
	t->processor = -1;
	if (!sched_setaffinity(0, sizeof(set), &set))
		t->other_cpu = k->tid;
}

/* Moves to this CPU.  Returns false if it failed or took too long. */
static bool go(struct tracer *t, int cpu)
{
	uint64_t from = clock_now();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return false;
	t->processor = cpu;
	if (clock_now() - from < LATE_NS) {
		t->late -= t->late > 0;
		return true;
	}
	if (++t->late > LATE_MAX) {
		t->late = 0;
		t->away = AWAY_TICKS;
	}
	return false;
}

void tracer_move(struct tracer *t, const struct tracee *k)
{
	int cpu;

	t->same_cpu = t->other_cpu = 0;
	if (t->processors < 2) {
		t->same_cpu = k->tid;
		return;
	}
	cpu = tracee_processor(k);
	t->away -= t->away > 0;
	if (!k->same_cpu || t->away)
		go_away(t, k, cpu);
	else if (cpu >= 0 && cpu < CPU_SETSIZE &&
		 (cpu == t->processor || go(t, cpu)))
		t->same_cpu = k->tid;
}

void tracer_move_next(struct tracee *k, bool in_kernel)
{
	if (k->same_cpu) {
		k->same_cpu--;
		return;
	}
	k->remote++;
	k->remote_calls += in_kernel;
	if (k->remote_calls >= FAR_CALLS) {
		if (k->same_cpu_last < SAME_CPU_MAX)
			k->same_cpu_last = k->same_cpu_last ? 2 * k->same_cpu_last
							: SAME_CPU_MIN;
		k->same_cpu = k->same_cpu_last;
	} else if (k->remote >= FAR_SAMPLES) {
		k->same_cpu_last /= 2;
	} else {
		return;
	}
	k->remote = k->remote_calls = 0;
}
