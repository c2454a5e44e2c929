// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks how much can be recorded: memory, files, rates, depth. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/collect/images.h"
#include "record/doctor/doctor.h"
#include "record/perf/perf_plan.h"
#include "record/perf/perf_ring.h"
#include "record/perf/perf_source.h"
#include "launch/priority.h"
#include "record/perf/perf_try.h"
#include "record/source/rights.h"

enum {
	USUAL_RATE = 999,	/* record's default */
	USUAL_DEPTH = 127,
	FEW_FILES = 256,
	/* Files of the smallest recording, without events: vdso, output, signals, two pipes
	 * to the command, processors that come online and their list, rings, two wakeups and
	 * timer. */
	OWN_FILES = 11 + IMAGES_FREE_FDS,
	CPUS_MAX = 4096,
	FEW_CPUS = 8,
	USUAL_RING = 256 << 10,
};

/* Rings as record opens them: one per CPU, all at the same time. */
struct rings {
	struct perf_ring *ring;
	int *fd;
	long n;
	size_t smallest, sideband;
	int errnum;		/* reason for a refusal */
	bool refused;
};

/* Opens the second ring of a CPU, no larger than the previous one. record omits it
 * where no more memory may be locked. */
static void open_sideband(struct rings *r, long cpu, struct perf_event_attr *a,
			  const struct perf_scope *at)
{
	struct perf_ring *ring = &r->ring[r->n + cpu];
	int fd = perf_sys_open(a, at);

	if (fd < 0)
		return;
	if (!perf_ring_open(ring, fd, r->sideband, NULL))
		r->sideband = ring->size;
	close(fd);	/* the mapping keeps the event */
}

static void open_rings(struct rings *r, struct error *err)
{
	struct perf_event_attr a;
	struct perf_rings plan = perf_rings_plan(perf_ring_size(), (size_t)
			sysconf(_SC_NPROCESSORS_ONLN), false, false);

	r->sideband = plan.sideband;
	perf_try_clock(&a, false);
	a.config = PERF_COUNT_SW_DUMMY;
	a.disabled = 1;
	for (long cpu = 0; cpu < r->n; cpu++) {
		struct perf_scope at = { 0, (int)cpu, 0 };
		size_t want = r->smallest < SIZE_MAX ? r->smallest
						     : plan.samples;

		r->fd[cpu] = perf_sys_open(&a, &at);
		if (r->fd[cpu] == -EMFILE)
			r->errnum = EMFILE;
		if (r->fd[cpu] < 0)
			continue;	/* offline, or a gap in the numbers */
		if (perf_ring_open(&r->ring[cpu], r->fd[cpu], want, err) < 0) {
			r->refused = true;
			return;
		}
		if (r->ring[cpu].size < r->smallest)
			r->smallest = r->ring[cpu].size;
		open_sideband(r, cpu, &a, &at);
	}
}

static void close_rings(struct rings *r)
{
	for (long cpu = 0; cpu < r->n; cpu++) {
		perf_ring_close(&r->ring[cpu]);
		perf_ring_close(&r->ring[r->n + cpu]);
		if (r->fd[cpu] >= 0)
			close(r->fd[cpu]);
	}
	free(r->ring);
	free(r->fd);
}

static void limit_text(char *out, size_t size)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_MEMLOCK, &l) < 0 || l.rlim_cur == RLIM_INFINITY)
		snprintf(out, size, "unlimited");
	else
		snprintf(out, size, "%llu KB",
			 (unsigned long long)l.rlim_cur / 1024);
}

static void rings_found(struct doctor *d, struct doctor_check *c,
			const struct rings *r, const struct error *err)
{
	size_t want = perf_ring_size();
	char limit[32], what[64];

	if (!r->refused && r->smallest >= want) {
		doctor_state(c, DOCTOR_OK, "%zu KB per processor", want / 1024);
		return;
	}
	limit_text(limit, sizeof(limit));
	if (r->refused)
		doctor_found(c, "%s", err->msg);
	else
		doctor_found(c, "%zu KB per processor instead of %zu KB: "
			     "bursts of samples may be lost",
			     r->smallest / 1024,
			     want / 1024);
	doctor_found(c, " (kernel.perf_event_mlock_kb is %ld, \"ulimit -l\" "
		     "%s)", perf_sysctl("perf_event_mlock_kb", 516), limit);
	c->state = r->refused ? DOCTOR_NO : DOCTOR_LIMITED;
	d->own_user = !r->refused;
	snprintf(what, sizeof(what), "kernel.perf_event_mlock_kb=%zu",
		 want / 1024 + 260);
	doctor_fix_sysctl(d, c, what);
	if (perf_sysctl("perf_event_mlock_kb", 516) >= (long)(want / 1024 + 260))
		doctor_fix(c, ", after ending your other recordings");
}

static void try_rings(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "memory for samples", DOCTOR_NO);
	struct rings r = { .n = sysconf(_SC_NPROCESSORS_CONF),
			   .smallest = SIZE_MAX };
	struct error err = { 0 };

	if (r.n < 1 || r.n > CPUS_MAX)
		r.n = 1;
	/* Without a limit, a few rings are as informative as all, and cheaper. */
	if (perf_ring_size() > USUAL_RING && r.n > FEW_CPUS)
		r.n = FEW_CPUS;
	r.ring = calloc(2 * (size_t)r.n, sizeof(*r.ring));
	r.fd = malloc((size_t)r.n * sizeof(*r.fd));
	if (!r.ring || !r.fd) {
		free(r.ring);
		free(r.fd);
		d->failed = true;
		return;
	}
	memset(r.fd, -1, (size_t)r.n * sizeof(*r.fd));
	open_rings(&r, &err);
	close_rings(&r);
	if (r.smallest == SIZE_MAX && !r.refused)
		doctor_found(c, "not tested: no event could be opened (%s)",
			     r.errnum ? strerror(r.errnum) : "no processor");
	else
		rings_found(d, c, &r, &err);
}

/* Returns whether the smallest recording can open all its files. */
static bool files_suffice(long cpus)
{
	int fd[OWN_FILES + 2 * CPUS_MAX];
	long n = 0, want = OWN_FILES + 2 * cpus;

	while (n < want) {
		fd[n] = open("/", O_PATH | O_CLOEXEC);
		if (fd[n] < 0)
			break;
		n++;
	}
	for (long i = 0; i < n; i++)
		close(fd[i]);
	return n == want;
}

static void try_files(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "open files", DOCTOR_OK);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit l, old;
	unsigned long long threads;
	bool enough;

	if (cpus < 1 || cpus > CPUS_MAX)
		cpus = 1;
	if (getrlimit(RLIMIT_NOFILE, &old) < 0)
		return;
	/* record raises the soft limit to the hard one. */
	l = old;
	l.rlim_cur = l.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &l) < 0)
		l = old;
	enough = files_suffice(cpus);
	setrlimit(RLIMIT_NOFILE, &old);
	/* Each thread takes an event and its sideband event on each CPU.  A quarter
	 * of the files is reserved for images. */
	threads = l.rlim_cur / 4 * 3 / (2 * (unsigned long)cpus);
	doctor_found(c, "%llu: ", (unsigned long long)l.rlim_cur);
	if (!enough)
		doctor_found(c, "too few to record anything");
	else
		doctor_found(c, "enough to attach to %llu threads at once, with "
			     "one event on %ld processors", threads ? threads
			     : 1, cpus);
	if (enough && l.rlim_cur >= FEW_FILES && threads >= 64)
		return;
	c->state = enough ? DOCTOR_LIMITED : DOCTOR_NO;
	d->own_user = d->own_user && enough;
	doctor_fix(c, "raise the hard limit: \"ulimit -Hn 65536\" as root, "
		   "or nofile in /etc/security/limits.conf");
}

static void try_rate(struct doctor *d)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct doctor_check *c = doctor_add(d, "sampling rate", DOCTOR_OK);
	long most = perf_sysctl("perf_event_max_sample_rate", -1);
	long share = perf_sysctl("perf_cpu_time_max_percent", -1);
	struct perf_event_attr a;
	bool allowed;

	perf_try_clock(&a, false);
	a.freq = 1;
	a.sample_freq = USUAL_RATE;
	allowed = !perf_try_open(&a, &self);
	if (most >= 0)
		doctor_found(c, "up to %ld Hz", most);
	if (share >= 0)
		doctor_found(c, "%sthe kernel lowers it if sampling takes more "
			     "than %ld%% of the time",
			     most >= 0 ? "; " : "", share);
	if (!*c->found)
		doctor_found(c, "%d Hz, the default of record, is %s",
					USUAL_RATE,
			     allowed ? "allowed" : "too much");
	if (allowed)
		return;
	doctor_state(c, DOCTOR_LIMITED, "; the default of record, %d Hz, is lowered",
		     USUAL_RATE);
	doctor_fix_sysctl(d, c, "kernel.perf_event_max_sample_rate=100000");
}

static void try_depth(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "call stacks", DOCTOR_OK);
	const struct perf_scope self = { 0, -1, 0 };
	long depth = perf_sysctl("perf_event_max_stack", USUAL_DEPTH);
	struct perf_event_attr a;
	int e;

	perf_try_clock(&a, false);
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	e = perf_try_open(&a, &self);
	if (e) {
		doctor_state(c, DOCTOR_NO, "-g cannot be used: %s", strerror(e));
		return;
	}
	doctor_found(c, "up to %ld frames by frame pointers (-g)", depth);
	if (depth >= USUAL_DEPTH)
		return;
	c->state = DOCTOR_LIMITED;
	doctor_fix_sysctl(d, c, "kernel.perf_event_max_stack=127");
}

static void *try_first(void *how)
{
	priority_first(how);
	return NULL;
}

/* Finds the priority of the recorder's threads by requesting it for a moment. */
static void try_priority(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "priority", DOCTOR_OK);
	char how[PRIORITY_TEXT] = "normal";
	struct priority_boost boost;
	pthread_t thread;

	priority_boost_begin(&boost, PRIORITY_WORK);
	if (!pthread_create(&thread, NULL, try_first, how))
		pthread_join(thread, NULL);
	if (!strcmp(how, "real-time") && boost.running) {
		doctor_found(c, "real-time: samples are read, and recordings "
			     "end on time, however busy the machine is");
	} else {
		doctor_state(c, DOCTOR_LIMITED, "%s: on a busy machine recordings take "
			     "longer to end and samples may be lost", how);
		doctor_fix(c, "sudo prlimit --pid $$ --rtprio=2 (for this "
			   "shell and the programs it starts)");
	}
	priority_boost_end(&boost);
}

void doctor_limits(struct doctor *d)
{
	if (d->own_user) {
		try_priority(d);
		try_rate(d);
		try_depth(d);
		try_rings(d);
	}
	try_files(d);
}
