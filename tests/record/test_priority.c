// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorder's threads before others for a short time: what sched(7) says of
 * policies, forks and nice values. */
#include "../checks.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/priority.h"

/* Whether the kernel allows us real-time priority at all. */
static bool is_allowed(void)
{
	struct sched_param rt = { .sched_priority = 1 }, no = { 0 };
	bool yes = !sched_setscheduler(0, SCHED_RR, &rt);

	sched_setscheduler(0, SCHED_OTHER, &no);
	return yes;
}

static int policy(pid_t tid)
{
	return sched_getscheduler(tid);
}

/* Within ten seconds: the machine may be busy. */
static bool becomes(pid_t tid, int wanted)
{
	struct timespec ms = { 0, 1000000 };

	for (int i = 0; i < 10000 && policy(tid) != wanted; i++)
		nanosleep(&ms, NULL);
	return policy(tid) == wanted;
}

struct other {
	pthread_t thread;
	sem_t ready, done;
	pid_t tid;
	int wanted, began;	/* policies */
};

static void *other_main(void *arg)
{
	struct sched_param p = { .sched_priority = 1 };
	struct other *o = arg;

	o->began = sched_getscheduler(0);
	if (o->wanted == SCHED_FIFO)
		sched_setscheduler(0, SCHED_FIFO, &p);
	o->tid = gettid();
	sem_post(&o->ready);
	sem_wait(&o->done);
	return NULL;
}

static void other_begin(struct other *o, int wanted)
{
	o->wanted = wanted;
	sem_init(&o->ready, 0, 0);
	sem_init(&o->done, 0, 0);
	assert_int_equal(pthread_create(&o->thread, NULL, other_main, o), 0);
	sem_wait(&o->ready);
}

static void other_end(struct other *o)
{
	sem_post(&o->done);
	pthread_join(o->thread, NULL);
}

static void all_threads_are_first_and_normal_again(void **state)
{
	struct other normal, fifo;
	struct priority_boost b;
	int nice_value;

	(void)state;
	if (!is_allowed())
		skip_test("no CAP_SYS_NICE here");
	nice_value = getpriority(PRIO_PROCESS, 0);
	other_begin(&normal, SCHED_OTHER);
	other_begin(&fifo, SCHED_FIFO);
	priority_boost_begin(&b, PRIORITY_FINISH);
	assert_true(b.running);
	assert_true(becomes(normal.tid, SCHED_RR));
	assert_int_equal(policy(fifo.tid), SCHED_FIFO);
	priority_boost_end(&b);
	assert_int_equal(policy(0), SCHED_OTHER);
	assert_int_equal(policy(normal.tid), SCHED_OTHER);
	assert_int_equal(policy(fifo.tid), SCHED_FIFO);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_value);
	other_end(&normal);
	other_end(&fifo);
}

/* The time others get, and the end: seen from a thread that is not switched. */
static void others_get_their_turns(void **state)
{
	struct sched_param fifo = { .sched_priority = 1 }, no = { 0 };
	struct timespec ms = { 0, 1000000 };
	struct priority_boost b;
	struct other o;
	int first = 0, turns = 0, last = SCHED_RR, calm = 0;

	(void)state;
	if (!is_allowed())
		skip_test("no CAP_SYS_NICE here");
	other_begin(&o, SCHED_OTHER);
	priority_boost_begin(&b, PRIORITY_FINISH);
	assert_int_equal(sched_setscheduler(0, SCHED_FIFO, &fifo), 0);
	/* It begins some time, and ends by itself: then it is normal for longer
	 * than for a turn. */
	for (int i = 0; i < 20000 && calm < 200; i++) {
		int now = policy(o.tid);

		first += now == SCHED_RR;
		turns += now != last;
		calm = first && now == SCHED_OTHER ? calm + 1 : 0;
		last = now;
		nanosleep(&ms, NULL);
	}
	assert_true(first > 0);
	assert_true(turns > 2);
	assert_int_equal(calm, 200);
	priority_boost_end(&b);
	sched_setscheduler(0, SCHED_OTHER, &no);
	other_end(&o);
}

static void children_do_not_inherit_it(void **state)
{
	struct priority_boost b;
	int status = 0;
	pid_t pid;

	(void)state;
	if (!is_allowed())
		skip_test("no CAP_SYS_NICE here");
	priority_boost_begin(&b, PRIORITY_BEGIN);
	assert_true(b.running);
	pid = fork();
	if (!pid)
		_exit(policy(0) == SCHED_OTHER ? 42 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	priority_boost_end(&b);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	/* Nor do those that come later. */
	pid = fork();
	if (!pid)
		_exit(policy(0) == SCHED_OTHER ? 42 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 42);
}

static void one_thread_works_first(void **state)
{
	struct timespec ms = { 0, 1000000 };
	struct priority_boost b;
	struct other o;
	int status = 0;
	pid_t pid;

	(void)state;
	if (!is_allowed())
		skip_test("no CAP_SYS_NICE here");
	other_begin(&o, SCHED_OTHER);
	priority_boost_begin(&b, PRIORITY_WORK);
	assert_true(priority_boost_on(&b));
	assert_true(becomes(getpid(), SCHED_RR | SCHED_RESET_ON_FORK));
	assert_int_equal(policy(o.tid), SCHED_OTHER);
	pid = fork();
	if (!pid)
		_exit(policy(0) == SCHED_OTHER ? 42 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	for (int i = 0; i < 20000 && priority_boost_on(&b); i++)
		nanosleep(&ms, NULL);
	assert_false(priority_boost_on(&b));
	assert_int_equal(policy(0), SCHED_OTHER);
	priority_boost_end(&b);
	other_end(&o);
}


static void a_thread_is_first_from_its_start(void **state)
{
	struct priority_boost b;
	struct other o = { .wanted = SCHED_OTHER };

	(void)state;
	sem_init(&o.ready, 0, 0);
	sem_init(&o.done, 0, 0);
	/* Also of a thread whose children do not inherit its priority. */
	priority_boost_begin(&b, PRIORITY_BEGIN);
	assert_int_equal(priority_create(&o.thread, other_main, &o), 0);
	sem_wait(&o.ready);
	priority_boost_end(&b);
	assert_int_equal(o.began, is_allowed() ? SCHED_FIFO : SCHED_OTHER);
	other_end(&o);
}

static void waiting_is_counted(void **state)
{
	volatile uint64_t n = 0;
	uint64_t before = priority_waited();
	pid_t pid;
	cpu_set_t all, one;

	(void)state;
	if (!before && access("/proc/self/schedstat", R_OK))
		skip_test("a kernel without CONFIG_SCHED_INFO");
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pid = fork();
	while (!pid)
		n++;
	for (int i = 0; i < 20000 && priority_waited() < before + 1000000; i++)
		n += 1000;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sched_setaffinity(0, sizeof(all), &all);
	assert_true(priority_waited() >= before + 1000000);
}

static void the_users_choice_stays(void **state)
{
	struct sched_param no = { 0 };
	struct priority_boost b;

	(void)state;
	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &no), 0);
	priority_boost_begin(&b, PRIORITY_FINISH);
	assert_false(b.running);
	assert_int_equal(policy(0), SCHED_BATCH);
	priority_boost_end(&b);
	assert_int_equal(policy(0), SCHED_BATCH);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &no), 0);
}

/* Writes a file in a folder, and makes the folders of its name.  NULL: no text, no file. */
static void put(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	if (!text) {
		unlink(path);
		return;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* sched(7), "The autogroup feature"; cgroups(7), "/proc/pid/cgroup"; cgroup-v2.rst,
 * "cpu.weight". */
static void groups_with_a_share_are_known(void **state)
{
	static const char autogroup[] = "sys/kernel/sched_autogroup_enabled";
	char t[] = "/tmp/tally-priority-XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(t));
	assert_false(priority_is_grouped(t, t));
	put(t, autogroup, "1\n");
	assert_true(priority_is_grouped(t, t));
	put(t, autogroup, "0\n");
	put(t, "self/cgroup", "3:cpuset,cpuacct:/a\n2:cpu:/\n0::/\n");
	assert_false(priority_is_grouped(t, t));
	put(t, "self/cgroup", "2:cpuacct,cpu:/a\n");
	assert_true(priority_is_grouped(t, t));
	/* Version 2: the controller may end at a group around it. */
	put(t, "self/cgroup", "0::/user.slice/run.scope\n");
	put(t, "user.slice/run.scope/cpu.stat", "");
	assert_false(priority_is_grouped(t, t));
	put(t, "user.slice/cpu.weight", "100\n");
	assert_true(priority_is_grouped(t, t));
	put(t, "user.slice/cpu.weight", NULL);
	/* A container's root has the files of its group. */
	put(t, "cpu.weight", "100\n");
	put(t, "self/cgroup", "0::/\n");
	assert_true(priority_is_grouped(t, t));
	snprintf(command, sizeof(command), "rm -r %s", t);
	assert_int_equal(system(command), 0);
}

/* The recorder's nice value is not lowered in a group, and goes back to what it was. */
static void nice_values_are_lowered_outside_of_groups(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0), raised;
	bool may = !setpriority(PRIO_PROCESS, 0, -20);

	(void)state;
	setpriority(PRIO_PROCESS, 0, before);
	may = may && before > -15 &&
	      !priority_is_grouped("/proc", "/sys/fs/cgroup");
	assert_int_equal(priority_raise(), before);
	raised = getpriority(PRIO_PROCESS, 0);
	priority_set(before);
	assert_true(may ? raised < before : raised == before);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_with_a_share_are_known),
		cmocka_unit_test(nice_values_are_lowered_outside_of_groups),
		cmocka_unit_test(all_threads_are_first_and_normal_again),
		cmocka_unit_test(others_get_their_turns),
		cmocka_unit_test(children_do_not_inherit_it),
		cmocka_unit_test(one_thread_works_first),
		cmocka_unit_test(a_thread_is_first_from_its_start),
		cmocka_unit_test(waiting_is_counted),
		cmocka_unit_test(the_users_choice_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
