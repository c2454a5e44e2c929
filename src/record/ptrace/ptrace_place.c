// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the tracer runs.
 *
 * A thread that is told to stop from another processor goes on until it hears of
 * it; a system call that begins meanwhile hears first, so too many samples lie
 * in calls.  Threads that are seen to make some are sampled from beside: the
 * tracer goes to their processor when the sample before is done, and its timer
 * breaks in where the thread happens to be.  That costs the thread half as much
 * again, so those that only compute are left to be told from afar.
 *
 * Being beside helps only where the tracer gets the processor at once.  Short
 * slices ask for that (sched(7); Linux 6.12); older kernels may let it wait for
 * a tick, or until the thread looks at the clock.  If so, it stays away.
 */
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/ptrace/ptrace_internal.h"

enum {
	SLICE_NS = 100000,	/* the shortest that the kernel gives */
	LATE_NS = 200000,	/* to get there; 15,000 to 35,000 are usual */
	LATE_MAX = 4,		/* more often late than in time by so much … */
	AWAY_TICKS = 1024,	/* … keeps us away */
	/* Of so many samples from afar … */
	FAR_SAMPLES = 64,
	/* … so many in system calls bring us … */
	FAR_CALLS = 2,
	/* … for so many samples beside the thread; each time for longer. */
	BESIDE_MIN = 128,
	BESIDE_MAX = 8192,
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

/* A wish, which older kernels ignore.  Batches (SCHED_BATCH) get a processor
 * late; all else stays as it is. */
static void want_short_slices(void)
{
	int policy = sched_getscheduler(0);
	struct attr attr = { .size = sizeof(attr), .policy = SCHED_OTHER,
			     .nice = getpriority(PRIO_PROCESS, 0),
			     .runtime_ns = SLICE_NS };

	if (policy == SCHED_OTHER || policy == SCHED_BATCH)
		syscall(SYS_sched_setattr, 0, &attr, 0);
}

void tracer_place_init(struct tracer *t)
{
	t->processors = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	t->processor = -1;
	if (sched_getaffinity(0, sizeof(t->anywhere), &t->anywhere) < 0)
		t->processors = 1;	/* more than the set can hold: stay */
	want_short_slices();
}

/* To any processor but that of the thread. */
static void go_away(struct tracer *t, const struct tracee *k, int cpu)
{
	cpu_set_t set = t->anywhere;

	if (cpu != sched_getcpu() && t->processor < 0) {
		t->apart = k->tid;
		return;
	}
	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_CLR((unsigned int)cpu, &set);
	t->processor = -1;
	if (!sched_setaffinity(0, sizeof(set), &set))
		t->apart = k->tid;
}

/* To this processor; false: not in time. */
static bool go(struct tracer *t, int cpu)
{
	uint64_t from = tracer_clock();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return false;
	t->processor = cpu;
	if (tracer_clock() - from < LATE_NS) {
		t->late -= t->late > 0;
		return true;
	}
	if (++t->late > LATE_MAX) {
		t->late = 0;
		t->away = AWAY_TICKS;
	}
	return false;
}

void tracer_place(struct tracer *t, const struct tracee *k)
{
	int cpu;

	t->beside = t->apart = 0;
	if (t->processors < 2) {
		t->beside = k->tid;
		return;
	}
	cpu = tracee_processor(k);
	t->away -= t->away > 0;
	if (!k->beside || t->away)
		go_away(t, k, cpu);
	else if (cpu >= 0 && cpu < CPU_SETSIZE &&
		 (cpu == t->processor || go(t, cpu)))
		t->beside = k->tid;
}

void tracer_place_next(struct tracee *k, bool in_kernel)
{
	if (k->beside) {
		k->beside--;
		return;
	}
	k->far++;
	k->far_calls += in_kernel;
	if (k->far_calls >= FAR_CALLS) {
		if (k->beside_last < BESIDE_MAX)
			k->beside_last = k->beside_last ? 2 * k->beside_last
							: BESIDE_MIN;
		k->beside = k->beside_last;
	} else if (k->far >= FAR_SAMPLES) {
		k->beside_last /= 2;
	} else {
		return;
	}
	k->far = k->far_calls = 0;
}
