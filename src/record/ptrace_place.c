// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the tracer runs: on the processor of the thread that it will stop next,
 * before it does.  Its timer then breaks into that thread where it happens to
 * be.  A thread that is told from another processor goes on until it hears of
 * it, and a system call that begins meanwhile hears first: too many samples
 * would lie there.
 *
 * Being there helps only where we get the processor at once.  Short slices ask
 * for that (sched(7); Linux 6.12, "sched/eevdf: Propagate min_slice"); older
 * kernels may leave us waiting for a tick, or until the thread makes a system
 * call that looks at the clock.  Who waits so long stays away.
 */
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/ptrace_tracer.h"

enum {
	SLICE_NS = 100000,	/* the shortest that the kernel gives */
	LATE_NS = 200000,	/* to get there; 15,000 to 35,000 are usual */
	LATE_MAX = 4,		/* more often late than in time by so much … */
	AWAY_TICKS = 1024,	/* … keeps us away */
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
	want_short_slices();
}

static void go_anywhere(struct tracer *t)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set);
	t->processor = -1;
	t->away = AWAY_TICKS;
	t->late = 0;
}

void tracer_place(struct tracer *t, const struct tracee *k)
{
	int cpu = -1;
	cpu_set_t set;
	uint64_t from;

	if (t->away)
		t->away--;
	else if (t->processors > 1)
		cpu = tracee_processor(k);
	if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == t->processor)
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	from = tracer_clock();
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return;
	t->processor = cpu;
	if (tracer_clock() - from >= LATE_NS)
		t->late++;
	else if (t->late)
		t->late--;
	if (t->late > LATE_MAX)
		go_anywhere(t);
}

bool tracer_is_beside(const struct tracer *t, const struct tracee *k)
{
	return t->processors < 2 ||
	       (t->processor >= 0 && tracee_processor(k) == t->processor);
}
