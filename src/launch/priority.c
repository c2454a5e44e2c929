// SPDX-License-Identifier: GPL-2.0-or-later
/* Raises the priority of the recorder's threads where permitted. */
#include "launch/priority.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launch/proc_read.h"

enum {
	NICE_FIRST = -20,
	NICE_RAISED = -15,
	BOOST_CYCLE_MS = 20,	/* cycle of real-time and normal priority */
	BOOST_CYCLES = 50,
};

/* On Linux nice values belong to threads. */
static int nice_now(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

static bool is_on(const char *proc, const char *sysctl)
{
	char text[2];

	proc_beginning(text, sizeof(text), "%s/sys/kernel/%s", proc, sysctl);
	return *text == '1';
}

/* Returns whether this group of cgroups(7), version 2, or one around it has a weight,
 * which the root does not have.  Cuts the path. */
static bool has_weight(const char *cgroups, char *group)
{
	char file[PATH_MAX];

	for (;;) {
		char *end = strrchr(group, '/');

		snprintf(file, sizeof(file), "%s%s/cpu.weight", cgroups, group);
		if (!access(file, F_OK))
			return true;
		if (!end)
			return false;
		*end = 0;
	}
}

/* Takes a line of /proc/PID/cgroup: "ID:CONTROLLERS:GROUP". */
static bool line_groups(char *line, const char *cgroups)
{
	char *controllers = strchr(line, ':'), *rest;
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return false;
	*group++ = 0;
	group[strcspn(group, "\n")] = 0;
	if (!*++controllers)
		return has_weight(cgroups, group);
	for (char *c = strtok_r(controllers, ",", &rest); c;
	     c = strtok_r(NULL, ",", &rest))
		if (!strcmp(c, "cpu"))
			return strcmp(group, "/") != 0;
	return false;
}

bool priority_is_grouped(const char *proc, const char *cgroups)
{
	bool found = is_on(proc, "sched_autogroup_enabled");
	char path[128], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/cgroup", proc);
	f = fopen(path, "re");
	while (f && !found && getline(&line, &size, f) > 0)
		found = line_groups(line, cgroups);
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Lowers the nice value to `wanted` or as far as permitted, if that is good for the
 * recorded program, too.  Returns the result. */
static int nice_lower(int wanted)
{
	int now = nice_now(), least;
	struct rlimit l;

	if (now <= wanted || priority_is_grouped("/proc", "/sys/fs/cgroup"))
		return now;
	if (!setpriority(PRIO_PROCESS, 0, wanted))
		return wanted;
	/* getrlimit(2): the ceiling is 20 - RLIMIT_NICE. */
	if (getrlimit(RLIMIT_NICE, &l) < 0 || l.rlim_cur > 40)
		return now;
	least = 20 - (int)l.rlim_cur;
	if (least < wanted)
		least = wanted;
	if (least < now && !setpriority(PRIO_PROCESS, 0, least))
		return least;
	return now;
}

void priority_first(char how[PRIORITY_TEXT])
{
	struct sched_param p = { .sched_priority =
				 sched_get_priority_min(SCHED_FIFO) };
	int n;

	if (!pthread_setschedparam(pthread_self(), SCHED_FIFO, &p)) {
		snprintf(how, PRIORITY_TEXT, "real-time");
		return;
	}
	n = nice_lower(NICE_FIRST);
	if (n)
		snprintf(how, PRIORITY_TEXT, "nice %d", n);
	else
		snprintf(how, PRIORITY_TEXT, "normal");
}

/* Returns 0 or an error number. */
static int create(pthread_t *out, int priority, void *(*run)(void *), void *arg)
{
	struct sched_param p = { .sched_priority = priority };
	sigset_t all, before;
	pthread_attr_t attr;
	int e = pthread_attr_init(&attr);

	if (e)
		return e;
	if (priority) {
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
		pthread_attr_setschedparam(&attr, &p);
	}
	/* Signals are for the recorder's thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(out, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return e;
}

int priority_create(pthread_t *out, void *(*run)(void *), void *arg)
{
	int e = create(out, sched_get_priority_min(SCHED_FIFO), run, arg);

	return e == EPERM ? create(out, 0, run, arg) : e;
}

int priority_raise(void)
{
	int before = nice_now();

	nice_lower(NICE_RAISED);
	return before;
}

void priority_set(int nice_value)
{
	if (nice_now() != nice_value)
		setpriority(PRIO_PROCESS, 0, nice_value);
}

/* Data of the switching thread, which owns it. */
struct boost {
	int quit_fd;
	pid_t only;		/* this thread; 0: all */
	int policy;		/* SCHED_RR, with flags */
	int on_ms;		/* ms of each cycle */
};

static void schedule(pid_t tid, int policy)
{
	struct sched_param p = {
		.sched_priority = policy == SCHED_OTHER
				  ? 0 : sched_get_priority_min(SCHED_RR),
	};

	/* Only root may clear the flag. */
	if (sched_setscheduler(tid, policy, &p) < 0 && policy == SCHED_OTHER)
		sched_setscheduler(tid, policy | SCHED_RESET_ON_FORK, &p);
}

/* Schedules all threads except those of SCHED_FIFO. */
static void schedule_all(int policy)
{
	DIR *tasks = opendir("/proc/self/task");
	pid_t tid;

	while ((tid = (pid_t)proc_next(tasks))) {
		int now = sched_getscheduler(tid);

		if (now >= 0 && (now & ~SCHED_RESET_ON_FORK) != SCHED_FIFO &&
		    now != policy)
			schedule(tid, policy);
	}
	if (tasks)
		closedir(tasks);
}

static void boost_switch(const struct boost *b, int policy)
{
	if (b->only)
		schedule(b->only, policy);
	else
		schedule_all(policy);
}

static bool boost_wait(const struct boost *b, int ms)
{
	struct pollfd fd = { b->quit_fd, POLLIN, 0 };

	return poll(&fd, 1, ms) > 0;
}

static void *boost_main(void *arg)
{
	struct boost *b = arg;
	bool quit = false;

	for (int i = 0; i < BOOST_CYCLES && !quit; i++) {
		boost_switch(b, b->policy);
		quit = boost_wait(b, b->on_ms);
		boost_switch(b, SCHED_OTHER);
		quit = quit || boost_wait(b, BOOST_CYCLE_MS - b->on_ms);
	}
	/* A real-time thread may have started others during the loop. */
	boost_switch(b, SCHED_OTHER);
	close(b->quit_fd);
	free(b);
	return NULL;
}

static struct boost *boost_new(enum priority_plan plan)
{
	struct boost *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->policy = SCHED_RR;
	if (plan != PRIORITY_FINISH)
		b->policy |= SCHED_RESET_ON_FORK;
	b->only = plan == PRIORITY_WORK ? gettid() : 0;
	b->on_ms = plan == PRIORITY_WORK ? 5 : 16;
	b->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return b;
}

void priority_boost_begin(struct priority_boost *b, enum priority_plan plan)
{
	struct boost *how;

	b->running = false;
	/* If the user started tally as SCHED_BATCH or real-time, keep that choice. */
	if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_OTHER)
		return;
	how = boost_new(plan);
	b->quit_fd = how && how->quit_fd >= 0
		     ? fcntl(how->quit_fd, F_DUPFD_CLOEXEC, 0) : -1;
	/* It precedes the threads that it switches, and is not one of them. */
	b->running = b->quit_fd >= 0 &&
		     !create(&b->thread,
			     sched_get_priority_min(SCHED_FIFO) + 1,
			     boost_main, how);
	if (b->running)
		return;
	if (b->quit_fd >= 0)
		close(b->quit_fd);
	if (how && how->quit_fd >= 0)
		close(how->quit_fd);
	free(how);
}

void priority_boost_end(struct priority_boost *b)
{
	static const uint64_t one = 1;

	if (!b->running)
		return;
	b->running = false;
	/* Cannot fail: nothing else was written to it. */
	if (write(b->quit_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(b->thread, NULL);
	close(b->quit_fd);
}

bool priority_boost_on(struct priority_boost *b)
{
	if (b->running && !pthread_tryjoin_np(b->thread, NULL)) {
		b->running = false;
		close(b->quit_fd);
	}
	return b->running;
}

void priority_boost_leave(struct priority_boost *b)
{
	if (!b->running)
		return;
	b->running = false;
	pthread_detach(b->thread);
	close(b->quit_fd);
}

uint64_t priority_waited(void)
{
	char text[64], *at = text;

	proc_beginning(text, sizeof(text), "/proc/thread-self/schedstat");
	strtoull(at, &at, 10);	/* the time on a processor */
	return strtoull(at, NULL, 10);
}
