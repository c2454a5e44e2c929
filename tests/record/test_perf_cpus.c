// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs that seem to have been offline for a moment: their events still count. */
#include "../checks.h"
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/perf/perf_source_internal.h"

enum { MS = 1000000, CPUS = 64 };

struct recording {
	struct event_list events;
	struct source *source;
	pid_t pid;
	uint32_t cpus[CPUS];
	size_t ncpus;
};

static int ignore(void *ctx, const struct record *r, struct error *err)
{
	(void)ctx;
	(void)r;
	(void)err;
	return 0;
}

/* Starts a program that computes. */
static uint32_t start_program(struct recording *x)
{
	x->pid = fork();
	assert_true(x->pid >= 0);
	while (!x->pid)
		if (getppid() == 1)
			_exit(0);
	return (uint32_t)x->pid;
}

/* Starts a recording of the program, or of all CPUs.  Skips the test where that is
 * not allowed. */
static void begin(struct recording *x, bool all)
{
	struct source_target t = { .cpus = x->cpus, .cgroup_fd = -1,
				   .all_cpus = true };
	struct source_options o = { .events = &x->events, .inherit = true,
				    .freq = 1000 };
	struct error err;
	uint32_t tid = start_program(x);
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (uint32_t c = 0; c < CPUS; c++)
		if (CPU_ISSET(c, &set))
			x->cpus[x->ncpus++] = c;
	t.ncpus = x->ncpus;
	if (!all) {
		t.tids = &tid;
		t.ntids = 1;
	}
	assert_int_equal(events_parse("cpu-clock", "/sys", &x->events, &err), 0);
	if (perf_source_type.open(&t, &o, &x->source, &err) < 0) {
		kill(x->pid, SIGKILL);
		print_message("# %s\n", err.msg);
		skip_test("perf events cannot be used");
	}
	assert_int_equal(x->source->ops->start(x->source, &err), 0);
}

/* The source looks for CPUs: in the first round none is in the list. */
static void go_and_come(struct recording *x)
{
	struct perf_source *p = perf_of(x->source);
	struct error err;

	p->watch.text[0] = 0;
	perf_look_at_cpus(p);
	assert_true(x->source->ops->drain(x->source, false, ignore, NULL, &err) >= 0);
	assert_false(x->source->cpu_came);	/* no thread needs new events */
}

/* The list is as before. */
static void sleep_of_machine(struct recording *x)
{
	struct error err;

	perf_of(x->source)->watch.slept_ns -= 1000000000;
	assert_true(x->source->ops->drain(x->source, false, ignore, NULL, &err) >= 0);
	assert_false(x->source->cpu_came);
}

static uint64_t counted(struct recording *x)
{
	struct source_count c;
	struct error err;

	assert_int_equal(x->source->ops->count(x->source, 0, &c, ignore, NULL,
					       &err), 0);
	return c.running_ns;
}

/* Returns the CPU time of the program. */
static uint64_t used(const struct recording *x)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(x->pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void finish(struct recording *x)
{
	kill(x->pid, SIGKILL);
	waitpid(x->pid, NULL, 0);
	x->source->ops->close(x->source);
	event_list_fini(&x->events);
}

/* perf_event_exit_cpu (kernel/events/core.c) ends only events of CPUs.  Those of
 * threads count again when the CPU is back. */
static void a_thread_is_counted_once(void **state)
{
	struct recording x = { .pid = 0 };
	uint64_t end, counted_ns;

	(void)state;
	begin(&x, false);
	go_and_come(&x);
	sleep_of_machine(&x);
	for (end = used(&x) + 200 * MS; used(&x) < end;)
		usleep(10000);
	counted_ns = counted(&x);
	assert_true(counted_ns <= used(&x) / 4 * 5);
	assert_true(counted_ns >= 150 * MS);
	finish(&x);
}

static void a_cpu_is_counted_once(void **state)
{
	struct recording x = { .pid = 0 };
	uint64_t begun = clock_now(), counted_ns;

	(void)state;
	begin(&x, true);
	go_and_come(&x);
	sleep_of_machine(&x);
	usleep(200000);
	counted_ns = counted(&x);
	assert_true(counted_ns <= (clock_now() - begun) * x.ncpus);
	assert_true(counted_ns >= 200 * MS * x.ncpus / 2);
	finish(&x);
}

/* Control commands that switch all events on do so only for those that deliver. */
static void events_of_the_past_stay_off(void **state)
{
	struct recording x = { .pid = 0 };
	uint64_t begun = clock_now();
	struct error err;

	(void)state;
	begin(&x, true);
	go_and_come(&x);
	sleep_of_machine(&x);
	for (int on = 0; on < 2; on++)
		assert_int_equal(x.source->ops->enable(x.source, SOURCE_NONE, on,
						       &err), 0);
	usleep(200000);
	assert_true(counted(&x) <= (clock_now() - begun) * x.ncpus);
	finish(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_counted_once),
		cmocka_unit_test(a_cpu_is_counted_once),
		cmocka_unit_test(events_of_the_past_stay_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
