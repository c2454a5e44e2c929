// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A random walk over the states of two recordings, beside perf, a machine that sleeps
 * and a processor that goes and comes, on a real kernel.
 *
 * Each step draws an event of a table.  What the device answers must be what the model
 * here, which knows the states only, allows; and time is counted for a processor exactly
 * while the recording runs there.  A helper lets the machine sleep and processors go
 * while the walk goes on, so that calls meet both halfway.  tests/kmod/test_lives.c
 * visits all states of the same machine, but on no real kernel.
 *
 * In the end: how often each event was tried in each state, and what it cost.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kmod_torture.h"

static const char online[] = "/sys/devices/system/cpu/cpu1/online";

/* ---- states ---- */

enum lot_state { NONE, BARE, IDLE, STARTED, LOT_STATES };
static const char *const lot_names[] = { "none", "bare", "idle", "started" };

/* Processor 1 is on, off or just changing; the machine is awake or falls asleep
 * meanwhile.  The helper does one thing at a time. */
enum machine { ON, OFF, CHANGING, ON_SLEEPS, OFF_SLEEPS, MACHINES };
static const char *const machine_names[] = {
	"on", "off", "changing", "on, sleeps", "off, sleeps",
};

enum { STATES = LOT_STATES * LOT_STATES * 2 * MACHINES, EVENTS = 17 };

/* What may be recorded.  The first ones work everywhere. */
static const struct kind {
	const char *name;
	uint32_t source, type;
	uint64_t config;
	bool threads, unwind;
	bool counters;		/* only one user at a time has them */
	bool waits;
} kinds[] = {
	{ "timers", TALLY_TIMER, 0, 0, false, false, false, false },
	{ "timers, threads", TALLY_TIMER, 0, 0, true, false, false, false },
	{ "timers, waits", TALLY_TIMER, 0, 0, false, true, false, true },
	{ "timers, threads, waits", TALLY_TIMER, 0, 0, true, false, false, true },
	{ "clock, threads, waits", TALLY_PERF, PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CPU_CLOCK, true, true, false, true },
	{ "clock", TALLY_PERF, PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CPU_CLOCK, false, false, false, false },
	{ "clock, threads", TALLY_PERF, PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CPU_CLOCK, true, false, false, false },
	{ "clock, stacks", TALLY_PERF, PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CPU_CLOCK, false, true, false, false },
	{ "faults, threads", TALLY_PERF, PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_PAGE_FAULTS, true, true, false, false },
	{ "counters", TALLY_PMU_K8, 0, 0, false, false, true, false },
	{ "counters, threads", TALLY_PMU_K8, 0, 0, true, true, true, false },
	{ "counters, waits", TALLY_PMU_K8, 0, 0, false, true, true, true },
	{ "counters, threads, waits", TALLY_PMU_K8, 0, 0, true, true, true, true },
	/* The kernel's P6 driver loses track of NMIs when it samples. */
	{ "cycles", TALLY_PERF, PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CPU_CYCLES, false, false, true, false },
	{ "cycles, threads", TALLY_PERF, PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CPU_CYCLES, true, true, true, false },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), KINDS_NONE = 9, KINDS_P6 = 13 };

struct lot {
	int fd;
	enum lot_state state;
	unsigned int kind;
	bool ring1;		/* it must have a ring of processor 1 */
};

struct walk {
	uint64_t random;
	const char *pmu;
	struct lot lot[2];
	int perf;		/* a counter of perf's, or -1 */
	bool cpu1_off;
	struct {
		int to, from;
		char at;	/* what the helper is at, or 0 */
	} aside;
	unsigned long busy, slept, awake, switched, killed;
	unsigned long setups[KINDS], starts[KINDS];
	uint64_t samples[KINDS];
	uint32_t pairs[STATES][EVENTS];
	struct {
		unsigned long n;
		uint64_t ns;
	} cost[EVENTS];
	char why[160];
};

static enum machine machine_of(const struct walk *w)
{
	if (w->aside.at == 's')
		return w->cpu1_off ? OFF_SLEEPS : ON_SLEEPS;
	return w->aside.at ? CHANGING : w->cpu1_off ? OFF : ON;
}

static unsigned int state_of(const struct walk *w)
{
	unsigned int n = w->lot[0].state * LOT_STATES + w->lot[1].state;

	return (n * 2 + (w->perf >= 0)) * MACHINES + machine_of(w);
}

static void state_name(char *to, size_t size, unsigned int n)
{
	unsigned int lots = n / MACHINES / 2;

	snprintf(to, size, "%s, %s, %s, %s", lot_names[lots / LOT_STATES],
		 lot_names[lots % LOT_STATES],
		 n / MACHINES % 2 ? "perf" : "no perf",
		 machine_names[n % MACHINES]);
}

/* ---- the helper ---- */

static bool fall_asleep(void)
{
	return put("/sys/power/pm_test", "freezer") &&
	       put("/sys/power/state", "freeze");
}

static void help(int in, int out)
{
	char what, done;

	while (read(in, &what, 1) == 1) {
		done = what == 's' ? fall_asleep()
				   : put(online, what == '1' ? "1" : "0");
		if (write(out, &done, 1) != 1)
			break;
	}
	_exit(0);
}

static bool helper_start(struct walk *w)
{
	int to[2], from[2];
	pid_t pid;

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (!pid) {
		close(to[1]);
		close(from[0]);
		help(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	w->aside.to = to[1];
	w->aside.from = from[0];
	return pid > 0;
}

static bool ask(struct walk *w, char what)
{
	w->aside.at = what;
	return write(w->aside.to, &what, 1) == 1;
}

static void note_sleep(struct walk *w, bool done)
{
	if (done)
		w->slept++;
	else
		w->awake++;
}

static void note_cpu(struct walk *w, bool done)
{
	if (!done)
		return;
	w->switched++;
	w->cpu1_off = !w->cpu1_off;
	for (unsigned int i = 0; i < 2; i++)
		w->lot[i].ring1 |= !w->cpu1_off;
}

/* Takes the helper's answer if there is one; may wait for it. */
static void settle(struct walk *w, bool wait)
{
	struct pollfd p = { w->aside.from, POLLIN, 0 };
	char done = 0;

	if (!w->aside.at || poll(&p, 1, wait ? -1 : 0) != 1 ||
	    read(w->aside.from, &done, 1) != 1)
		return;
	if (w->aside.at == 's')
		note_sleep(w, done);
	else
		note_cpu(w, done);
	w->aside.at = 0;
}

/* ---- events; each returns what is wrong, or NULL ---- */

static const char *wrong(struct walk *w, const char *what, int r)
{
	snprintf(w->why, sizeof(w->why), "%s: %d, %s", what, r,
		 r < 0 ? strerror(errno) : "no error");
	return w->why;
}

/* A call that must end so: 0, or -1 with this error. */
static const char *expect(struct walk *w, const char *what, int r, int error)
{
	if (error ? r < 0 && errno == error : r >= 0)
		return NULL;
	return wrong(w, what, r);
}

static const char *lot_open(struct walk *w, struct lot *l)
{
	*l = (struct lot){ .fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC) };
	l->state = BARE;
	return l->fd < 0 ? wrong(w, "open", l->fd) : NULL;
}

static int setup_as(struct walk *w, int fd, const struct kind *k)
{
	struct tally_setup s = plain_setup();

	if (k->source == TALLY_PMU_K8)
		by_counters(&s, strcmp(w->pmu, "p6") ? TALLY_PMU_K8
						     : TALLY_PMU_P6);
	else if (k->source == TALLY_PERF)
		by_kernel(&s, k->type, k->config);
	if (k->config == PERF_COUNT_SW_PAGE_FAULTS &&
	    k->type == PERF_TYPE_SOFTWARE)
		s.events[0].period = 1;
	if (k->unwind) {
		s.copy_bytes = 1024;
		s.flags |= TALLY_SETUP_UNWIND | TALLY_SETUP_STACKS;
	}
	if (k->threads)
		s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT;
	if (k->waits) {
		s.flags |= TALLY_SETUP_WAITS | TALLY_SETUP_WAKES;
		s.wait_bytes = RING;
		s.wait_copy_bytes = s.copy_bytes;
	}
	return ioctl(fd, TALLY_IOC_SETUP, &s);
}

static int name_self(int fd)
{
	uint32_t self = (uint32_t)getpid();
	struct tally_tasks tasks = {
		.size = sizeof(tasks), .n = 1, .tids = (uintptr_t)&self,
	};

	return ioctl(fd, TALLY_IOC_TASKS, &tasks);
}

static unsigned int some_kind(struct walk *w)
{
	unsigned int n = !*w->pmu ? KINDS_NONE
		       : strcmp(w->pmu, "p6") ? KINDS : KINDS_P6;

	return (unsigned int)(roll(&w->random) % n);
}

static const char *lot_setup(struct walk *w, struct lot *l)
{
	unsigned int kind = some_kind(w);
	bool first = l->state == BARE;
	const char *bad;

	bad = expect(w, "SETUP", setup_as(w, l->fd, &kinds[kind]),
		     first ? 0 : EBADFD);
	if (bad || !first)
		return bad;
	l->kind = kind;
	l->state = IDLE;
	l->ring1 = machine_of(w) == ON || machine_of(w) == ON_SLEEPS;
	w->setups[kind]++;
	if (!kinds[kind].threads)
		return NULL;
	return expect(w, "TASKS", name_self(l->fd), 0);
}

/* May others have the counters? */
static bool taken(const struct walk *w, const struct lot *l)
{
	const struct lot *other = &w->lot[l == w->lot];

	return w->perf >= 0 ||
	       (other->state == STARTED && kinds[other->kind].counters);
}

static const char *lot_start(struct walk *w, struct lot *l)
{
	int r = ioctl(l->fd, TALLY_IOC_START, 0);

	if (l->state != IDLE)
		return expect(w, "START", r, EBADFD);
	if (r >= 0) {
		l->state = STARTED;
		w->starts[l->kind]++;
		return NULL;
	}
	w->busy++;
	return kinds[l->kind].counters && taken(w, l)
		? expect(w, "START", r, EBUSY) : wrong(w, "START", r);
}

static uint64_t seen(const struct tally_stats *s)
{
	const struct tally_event_stats *e = &s->events[0];

	return e->samples + e->lost + e->throttled + e->missed +
	       s->switches + s->switches_lost + s->wakes + s->wakes_lost;
}

static const char *lot_stop(struct walk *w, struct lot *l)
{
	bool was = l->state == STARTED;

	if (was)
		l->state = IDLE;
	return expect(w, "STOP", ioctl(l->fd, TALLY_IOC_STOP, 0),
		      was ? 0 : EBADFD);
}

static const char *lot_close(struct walk *w, struct lot *l)
{
	struct tally_stats s = { .size = sizeof(s), .cpu = TALLY_ALL_CPUS };

	if (l->state > BARE && ioctl(l->fd, TALLY_IOC_STATS, &s) == 0)
		w->samples[l->kind] += seen(&s);
	l->state = NONE;
	return expect(w, "close", close(l->fd), 0);
}

static const char *lot_tasks(struct walk *w, struct lot *l)
{
	const struct kind *k = &kinds[l->kind];
	bool may = l->state > BARE && k->threads;

	/* The kernel's own events are attached at START. */
	if (l->state == STARTED && k->source == TALLY_PERF)
		may = false;
	return expect(w, "TASKS", name_self(l->fd), may ? 0 : EBADFD);
}

static uint64_t switches_of(int fd)
{
	struct tally_stats s = { .size = sizeof(s), .cpu = TALLY_ALL_CPUS };

	return ioctl(fd, TALLY_IOC_STATS, &s) < 0 ? 0
	       : s.switches + s.switches_lost;
}

/* How often the kernel has switched this thread out. */
static uint64_t switched_out(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
}

/* Who is switched out is switched in again.  A thread that sleeps is not always switched
 * out: on a slow machine its time may be over before that. */
static const char *look_at_waits(struct walk *w, const struct lot *l)
{
	uint64_t before = switches_of(l->fd), out = switched_out();

	nap(1000000);
	out = switched_out() - out;
	return switches_of(l->fd) >= before + 2 * out ? NULL
	       : wrong(w, "switches are missing", (int)out);
}

static int stats_twice(int fd, uint32_t cpu, struct tally_stats s[2])
{
	for (int i = 0; i < 2; i++) {
		s[i] = (struct tally_stats){ .size = sizeof(s[i]), .cpu = cpu };
		if (ioctl(fd, TALLY_IOC_STATS, &s[i]) < 0)
			return -1;
		if (!i)
			nap(1000000);
	}
	return 0;
}

/* Does time pass for the recording on a processor, as it should? */
static const char *lot_look(struct walk *w, struct lot *l)
{
	uint32_t cpu = (uint32_t)(roll(&w->random) % 2);
	const struct kind *k = &kinds[l->kind];
	struct tally_stats s[2];
	bool runs = l->state == STARTED && !(cpu && w->cpu1_off);
	uint64_t ns, n;

	if (k->waits && l->state == STARTED && !w->aside.at &&
	    look_at_waits(w, l))
		return w->why;
	if (stats_twice(l->fd, cpu, s) < 0)
		return expect(w, "STATS", -1, l->state == BARE ||
			      (cpu && !l->ring1) ? ENXIO : 0);
	ns = s[1].enabled_ns - s[0].enabled_ns;
	n = seen(&s[1]) - seen(&s[0]);
	if (l->state == STARTED) {
		/* With threads of timers, while these run; and the helper may
		 * be at it. */
		if (w->aside.at || (k->threads && k->source != TALLY_PERF))
			return NULL;
		if (runs ? ns >= 500000 && ns < 1ull << 40 : !ns)
			return NULL;
	} else if (!ns && !n) {
		return NULL;
	}
	snprintf(w->why, sizeof(w->why), "of processor %u: %" PRIu64
		 " ns and %" PRIu64 " samples in 1 ms", cpu, ns, n);
	return w->why;
}

/* Maps a ring, and has read it. */
static const char *lot_map(struct walk *w, struct lot *l)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int cpu = (unsigned int)(roll(&w->random) % 2);
	bool waits = l->state > BARE && kinds[l->kind].waits &&
		     roll(&w->random) % 2;
	struct tally_info info = { .size = sizeof(info) };
	struct tally_ring *r;

	if (ioctl(l->fd, TALLY_IOC_INFO, &info) < 0)
		return wrong(w, "INFO", -1);
	r = mmap(NULL, page + RING, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd,
		 (off_t)(waits ? TALLY_WAIT_OFFSET(cpu, info.cpus, page, RING, RING)
			       : TALLY_RING_OFFSET(cpu, page, RING)));
	if (r == MAP_FAILED) {
		if (cpu && l->state > BARE && !l->ring1)
			return expect(w, "mmap", -1, ENXIO);
		return expect(w, "mmap", -1, l->state > BARE ? 0 : EBADFD);
	}
	__atomic_store_n(&r->tail, __atomic_load_n(&r->head, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	munmap(r, page + RING);
	return l->state > BARE ? NULL : wrong(w, "mmap", 0);
}

static const char *lot_poll(struct walk *w, struct lot *l)
{
	struct pollfd p = { l->fd, POLLIN, 0 };

	return expect(w, "poll", poll(&p, 1, 0), 0);
}

/* perf only counts, because the kernel's drivers lose track of NMIs. */
static const char *perf(struct walk *w, struct lot *l)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};

	(void)l;
	if (!*w->pmu) {
		a.type = PERF_TYPE_SOFTWARE;
		a.config = PERF_COUNT_SW_CPU_CLOCK;
	}
	if (w->perf >= 0) {
		close(w->perf);
		w->perf = -1;
	} else {
		w->perf = (int)syscall(SYS_perf_event_open, &a, -1, 0, -1,
				       PERF_FLAG_FD_CLOEXEC);
	}
	return NULL;
}

static const char *run(struct walk *w, struct lot *l)
{
	(void)l;
	nap((long)(roll(&w->random) % 2000000));
	return NULL;
}

/* A recorder that dies at any moment; or just a process that recordings follow. */
static const char *mortal(struct walk *w, bool records)
{
	unsigned int kind = some_kind(w);
	long ns = (long)(roll(&w->random) % 5000000);
	pid_t pid = fork();

	if (!pid) {
		int fd = records ? open(TALLY_DEVICE, O_RDWR | O_CLOEXEC) : -1;

		if (records && (fd < 0 || setup_as(w, fd, &kinds[kind]) < 0 ||
				(kinds[kind].threads && name_self(fd) < 0) ||
				ioctl(fd, TALLY_IOC_START, 0) < 0))
			_exit(1);
		while (records)
			getppid();
		_exit(0);
	}
	if (pid < 0)
		return wrong(w, "fork", -1);
	if (records) {
		nap(ns);
		kill(pid, SIGKILL);
		w->killed++;
	}
	return waitpid(pid, NULL, 0) == pid ? NULL : wrong(w, "wait", -1);
}

static const char *killed(struct walk *w, struct lot *l)
{
	(void)l;
	return mortal(w, true);
}

static const char *child(struct walk *w, struct lot *l)
{
	(void)l;
	return mortal(w, false);
}

/* Processors cannot change while the machine falls asleep. */
static const char *cpu1(struct walk *w, struct lot *l)
{
	bool done, asleep;

	(void)l;
	if (w->aside.at != 's')
		settle(w, true);
	asleep = w->aside.at;
	done = put(online, w->cpu1_off ? "1" : "0");
	note_cpu(w, done);
	return done || (asleep && errno == EBUSY) ? NULL
		: wrong(w, "processor 1", -1);
}

static const char *cpu1_aside(struct walk *w, struct lot *l)
{
	(void)l;
	settle(w, true);
	return ask(w, w->cpu1_off ? '1' : '0') ? NULL : wrong(w, "helper", -1);
}

static const char *nod(struct walk *w, struct lot *l)
{
	(void)l;
	if (w->aside.at == 's')
		settle(w, true);
	note_sleep(w, fall_asleep());
	return NULL;
}

static const char *nod_aside(struct walk *w, struct lot *l)
{
	(void)l;
	settle(w, true);
	return ask(w, 's') ? NULL : wrong(w, "helper", -1);
}

static const struct event {
	const char *name;
	unsigned int weight;	/* of 100 */
	bool on_file;		/* opens it where there is none */
	const char *(*act)(struct walk *w, struct lot *l);
} events[EVENTS] = {
	{ "open", 0, false, lot_open },
	{ "setup", 13, true, lot_setup },
	{ "start", 20, true, lot_start },
	{ "stop", 15, true, lot_stop },
	{ "close", 8, true, lot_close },
	{ "tasks", 4, true, lot_tasks },
	{ "look", 4, true, lot_look },
	{ "map", 4, true, lot_map },
	{ "poll", 2, true, lot_poll },
	{ "perf", 7, false, perf },
	{ "run", 6, false, run },
	{ "child", 4, false, child },
	{ "killed", 5, false, killed },
	{ "cpu1", 2, false, cpu1 },
	{ "cpu1-aside", 2, false, cpu1_aside },
	{ "sleep", 2, false, nod },
	{ "sleep-aside", 2, false, nod_aside },
};

static unsigned int some_event(struct walk *w, const struct lot *l)
{
	unsigned int i, sum = 0;
	uint64_t left;

	for (i = 0; i < EVENTS; i++)
		sum += events[i].weight;
	left = roll(&w->random) % sum;
	for (i = 0; left >= events[i].weight; i++)
		left -= events[i].weight;
	return events[i].on_file && l->state == NONE ? 0 : i;
}

static bool step(struct walk *w, unsigned long n)
{
	struct lot *l = &w->lot[roll(&w->random) % 2];
	unsigned int e = some_event(w, l), from;
	struct timespec a, b;
	const char *bad;
	char name[80];

	settle(w, false);
	from = state_of(w);
	w->pairs[from][e]++;
	clock_gettime(CLOCK_MONOTONIC, &a);
	bad = events[e].act(w, l);
	clock_gettime(CLOCK_MONOTONIC, &b);
	w->cost[e].n++;
	w->cost[e].ns += (uint64_t)(b.tv_sec - a.tv_sec) * 1000000000u +
			 (uint64_t)b.tv_nsec - (uint64_t)a.tv_nsec;
	if (!bad)
		return true;
	state_name(name, sizeof(name), from);
	printf("step %lu: %s of recording %d (%s), at %s: %s\n", n,
	       events[e].name, (int)(l - w->lot), kinds[l->kind].name, name,
	       bad);
	return false;
}

/* ---- what it did ---- */

static void print_steps(const struct walk *w, unsigned long steps)
{
	unsigned long started = 0;

	for (unsigned int i = 0; i < KINDS; i++)
		started += w->starts[i];
	printf("%lu steps: %lu started, %lu busy, %lu slept, %lu stayed awake, "
	       "%lu switched, %lu killed\n", steps, started, w->busy, w->slept,
	       w->awake, w->switched, w->killed);
	fflush(stdout);
}

/* Both recordings have to be without a file for "open", or one with it for others. */
static bool possible(unsigned int state, unsigned int e)
{
	unsigned int lots = state / MACHINES / 2;
	unsigned int a = lots / LOT_STATES, b = lots % LOT_STATES;

	return e ? !events[e].on_file || a != NONE || b != NONE
		 : a == NONE || b == NONE;
}

static void print_costs(const struct walk *w)
{
	for (unsigned int e = 0; e < EVENTS; e++)
		printf("event %s: %lu times, %" PRIu64 " us each\n",
		       events[e].name, w->cost[e].n, w->cost[e].n
		       ? w->cost[e].ns / 1000 / w->cost[e].n : 0);
	for (unsigned int i = 0; i < KINDS; i++)
		if (w->setups[i])
			printf("kind %s: %lu set up, %lu started, %" PRIu64
			       " samples\n", kinds[i].name, w->setups[i],
			       w->starts[i], w->samples[i]);
}

static void print_pairs(const struct walk *w)
{
	unsigned int all = 0, met = 0, states = 0;
	char name[80];

	for (unsigned int s = 0; s < STATES; s++) {
		bool here = false;

		for (unsigned int e = 0; e < EVENTS; e++) {
			all += possible(s, e);
			met += w->pairs[s][e] != 0;
			here |= w->pairs[s][e] != 0;
		}
		if (!here)
			continue;
		states++;
		state_name(name, sizeof(name), s);
		printf("at %s:", name);
		for (unsigned int e = 0; e < EVENTS; e++)
			if (w->pairs[s][e])
				printf(" %s %" PRIu32, events[e].name,
				       w->pairs[s][e]);
		puts("");
	}
	printf("covered: %u of %u states, %u of %u pairs of state and event\n",
	       states, STATES, met, all);
}

static void settings(bool begin)
{
	/* No waits of seconds, no writing of files to the host. */
	put("/sys/module/suspend/parameters/pm_test_delay", begin ? "0" : "5");
	put("/sys/power/sync_on_suspend", begin ? "0" : "1");
	if (!begin)
		put("/sys/kernel/rcu_expedited", "0");
}

int walk(unsigned long steps, uint64_t seed, const char *pmu)
{
	struct walk *w = calloc(1, sizeof(*w));
	unsigned long i;

	if (!w)
		return 1;
	w->random = seeded(seed, 0);
	w->pmu = pmu;
	w->perf = -1;
	printf("seed %" PRIu64 "\n", seed);
	fflush(stdout);
	settings(true);
	if (!put(online, "1") || !helper_start(w))
		return 1;
	for (i = 0; i < steps; i++) {
		/* Most of the time would be spent in waits for grace periods. */
		if (i % 1000 == 0)
			put("/sys/kernel/rcu_expedited", i % 16000 ? "1" : "0");
		if (i && i % 5000 == 0)
			print_steps(w, i);
		if (!step(w, i))
			break;
	}
	settle(w, true);
	for (unsigned int k = 0; k < 2; k++)
		if (w->lot[k].state != NONE)
			lot_close(w, &w->lot[k]);
	put(online, "1");
	settings(false);
	print_pairs(w);
	print_costs(w);
	print_steps(w, i);
	free(w);
	return i != steps;
}
