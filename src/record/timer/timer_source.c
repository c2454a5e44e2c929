// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements timers inside the program as a source of samples. */
#include "record/timer/timer_source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "launch/proc_read.h"
#include "record/source/clock_event.h"
#include "profile/model.h"
#include "record/timer/program_kind.h"
#include "record/timer/timer_library.h"
#include "record/timer/timer_sideband.h"

enum {
	RING_BYTES = 1 << 20,
	RINGS_MIN = 16,
	TICK_MIN_NS = 100000,
	ROUND_MIN_MS = 4, ROUND_MAX_MS = 64,
};
#define STUCK_NS 1000000000u	/* time after which a ring's lock counts as stuck */

struct held {
	uint64_t by, since_ns;
};

struct timer_source {
	struct source base;
	struct source_event seen[CLOCK_EVENTS];
	struct timer_header *header;
	size_t size;		/* size of the shared memory */
	int memory_fd, library_fd;
	uint32_t nrings;	/* private copy, because the header is untrusted */
	uint64_t tails[TIMER_RINGS_MAX];
	struct held held[TIMER_RINGS_MAX];
	struct order order;
	struct timer_sideband sideband;
	uint64_t round_ns;	/* clock at the start of the last round */
	uint32_t round_ms;
	uint64_t tick_ns;
	uint64_t lost, lost_sideband;	/* already reported */
	bool chains, delayed;
	char variable[64], preload[96];
	char outside[256];
	const char *env[3];
};

static struct timer_source *of(struct source *s)
{
	return (struct timer_source *)s;
}

static struct timer_ring *ring_of(struct timer_source *t, uint32_t i)
{
	return (struct timer_ring *)((uint8_t *)t->header + TIMER_PAGE) + i;
}

static const uint8_t *data_of(struct timer_source *t, uint32_t i)
{
	return (uint8_t *)t->header + 2 * TIMER_PAGE + (size_t)i * RING_BYTES;
}

static void set_state(struct timer_source *t, enum timer_state state)
{
	__atomic_store_n(&t->header->state, state, __ATOMIC_RELEASE);
}

static int timer_begin(struct source *s, struct error *err)
{
	struct timer_source *t = of(s);

	(void)err;
	if (t->sideband.counts_from == UINT64_MAX)
		t->sideband.counts_from = clock_now();
	set_state(t, TIMER_RUN);
	return 0;
}

static void timer_stop(struct source *s)
{
	set_state(of(s), TIMER_STOP);
}

static int timer_enable(struct source *s, uint32_t event, bool on,
			struct error *err)
{
	(void)event;
	if (on)
		return timer_begin(s, err);
	of(s)->sideband.counts_from = UINT64_MAX;
	set_state(of(s), TIMER_WAIT);
	return 0;
}

/* Frees a ring whose holder has died and will never release it. */
static void ring_free(struct timer_source *t, uint32_t i, uint64_t now)
{
	struct timer_ring *r = ring_of(t, i);
	uint64_t by = __atomic_load_n(&r->lock, __ATOMIC_RELAXED);
	struct held *h = &t->held[i];

	if (by != h->by) {
		*h = (struct held){ by, now };
		return;
	}
	if (!by || now < h->since_ns + STUCK_NS ||
	    !syscall(SYS_tgkill, (int)(by >> 32), (int)by, 0) ||
	    errno != ESRCH)
		return;
	__atomic_compare_exchange_n(&r->lock, &by, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
}

/* Sets *fill to the used share of the fullest ring, in 1/256. */
static int drain_rings(struct timer_source *t, uint64_t now, uint32_t *fill)
{
	*fill = 0;
	for (uint32_t i = 0; i < t->nrings; i++) {
		struct timer_ring *r = ring_of(t, i);
		uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
		uint64_t end, used = head - t->tails[i];

		ring_free(t, i, now);
		if (!used)
			continue;
		if (used / (RING_BYTES / 256) > *fill)
			*fill = (uint32_t)(used / (RING_BYTES / 256));
		end = timer_ring_take(data_of(t, i), RING_BYTES, t->tails[i],
				      head, &t->order, i, clock_now(),
				      &t->base.damaged);
		t->tails[i] = end;
		__atomic_store_n(&r->tail, end, __ATOMIC_RELEASE);
		if (end != head)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Makes rounds as long as possible: one eighth of a ring per round. */
static void plan_round(struct timer_source *t, uint32_t fill)
{
	struct itimerspec when = { { 0, 0 }, { 0, 0 } };
	uint32_t ms = t->round_ms;
	uint64_t expired;

	if (fill > 32)
		ms /= 2;
	else if (fill < 12)
		ms += ms / 4 + 1;
	t->round_ms = ms < ROUND_MIN_MS ? ROUND_MIN_MS
		      : ms > ROUND_MAX_MS ? ROUND_MAX_MS : ms;
	when.it_value.tv_nsec = (long)t->round_ms * 1000000;
	while (read(t->base.wake_fd, &expired, sizeof(expired)) > 0)
		;
	timerfd_settime(t->base.wake_fd, 0, &when, NULL);
}

static int deliver(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct timer_source *t = ctx;
	struct timer_message m;

	if (!timer_decode(bytes, size, t->chains, &m)) {
		t->base.damaged += size;
		return 0;
	}
	t->base.sideband_pending |= m.kind != TIMER_SAMPLE;
	return timer_sideband_message(&t->sideband, &m, time);
}

/* Reports lost records of mappings and processes. */
static int report_gap(struct timer_source *t, uint64_t now)
{
	uint64_t lost = __atomic_load_n(&t->header->lost_sideband,
					__ATOMIC_RELAXED);
	struct record r = { .kind = RECORD_GAP, .event = SOURCE_NONE,
			    .time_ns = now };

	if (lost <= t->lost_sideband)
		return 0;
	r.lost = lost - t->lost_sideband;
	t->lost_sideband = lost;
	return t->sideband.cb(t->sideband.ctx, &r, t->sideband.err);
}

/* Returns the reason for n programs, of which another recorder or tracer has `others`. */
static const char *why_outside(size_t others, size_t n)
{
	if (!others)
		return "static, or for another architecture, root or user: the timer "
		       "library cannot be loaded; try --source=ptrace";
	if (others < n)
		return "static, for another architecture, root or user, or in the hands of "
		       "another recorder or tracer: the timer library cannot be loaded";
	return "another recorder samples it by timers, or a program traces it, which "
	       "excludes timers; try --source=perf for one of the two";
}

/* Lists programs that could not be recorded: source.outside. */
static int end_sideband(struct timer_source *t, uint64_t now)
{
	int r = timer_sideband_end(&t->sideband, now);
	size_t at = 0, others = 0;

	for (size_t i = 0; i < t->sideband.outside.n; i++) {
		const char *name = t->sideband.outside.v[i].name;

		others += t->sideband.outside.v[i].other;

		if (at < sizeof(t->outside))
			at += (size_t)snprintf(t->outside + at,
					       sizeof(t->outside) - at, "%s%s",
					       at ? ", " : "", name);
	}
	t->base.outside = at ? t->outside : NULL;
	t->base.outside_why = why_outside(others, t->sideband.outside.n);
	t->base.unsampled = __atomic_load_n(&t->header->unsampled,
					    __ATOMIC_RELAXED);
	return r;
}

static int timer_drain(struct source *s, bool all, record_cb *cb, void *ctx,
		       struct error *err)
{
	struct timer_source *t = of(s);
	uint64_t start = clock_now(), upto = UINT64_MAX - 1;
	uint32_t fill;
	int r;

	t->sideband.cb = cb;
	t->sideband.ctx = ctx;
	t->sideband.err = err;
	s->sideband_pending = false;
	/* Samples have the time of the last tick or of the one before. */
	if (!all)
		upto = t->round_ns - 2 * t->tick_ns;
	__atomic_store_n(&t->header->alive_ns, start, __ATOMIC_RELAXED);
	r = drain_rings(t, start, &fill);
	if (r < 0)
		return error_set(err, ERR_NOMEM, "out of memory for samples "
				 "that wait to be ordered");
	plan_round(t, fill);
	t->round_ns = start;
	r = order_flush(&t->order, upto, deliver, t);
	if (all)
		t->order.flushed = start;
	if (r >= 0)
		r = timer_sideband_loads(&t->sideband, start);
	if (r >= 0)
		r = report_gap(t, start);
	if (r >= 0 && all)
		r = end_sideband(t, start);
	if (r >= 0 && all && !t->delayed)
		r = timer_sideband_remainder(&t->sideband, s->counted_ns,
					     t->seen[0].period, start);
	s->late = t->order.late;
	return r;
}

/* Returns how many samples the CPU time makes at the rate.  The remainder holds the
 * time of lost samples. */
static uint64_t wanted_samples(const struct timer_source *t, uint64_t lost)
{
	const struct source_event *e = &t->seen[0];
	uint64_t lost_ns = lost * e->period, rest = t->sideband.remainder;
	double ns = (double)(t->sideband.weight - rest) +
		    (double)(lost_ns > rest ? lost_ns : rest);

	/* The weight is that of user and kernel code. */
	if (e->exclude_user || e->exclude_kernel)
		return 0;
	return clock_event_samples(e, ns);
}

static int timer_count(struct source *s, size_t event,
		       struct source_count *out, record_cb *cb, void *ctx,
		       struct error *err)
{
	struct timer_source *t = of(s);
	uint64_t lost = __atomic_load_n(&t->header->lost, __ATOMIC_RELAXED);
	struct record r = { .kind = RECORD_LOST, .event = (uint32_t)event,
			    .time_ns = clock_now() };

	memset(out, 0, sizeof(*out));
	if (event)
		return 0;
	out->value = out->enabled_ns = out->running_ns = t->sideband.weight;
	out->wanted = wanted_samples(t, lost);
	if (lost <= t->lost)
		return 0;
	r.lost = lost - t->lost;
	t->lost = lost;
	return cb(ctx, &r, err);
}

static void timer_close(struct source *s)
{
	struct timer_source *t = of(s);

	if (t->header) {
		set_state(t, TIMER_STOP);
		munmap(t->header, t->size);
	}
	if (t->memory_fd >= 0)
		close(t->memory_fd);
	if (t->library_fd >= 0)
		close(t->library_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	order_fini(&t->order);
	timer_sideband_fini(&t->sideband);
	free(t);
}

static const struct source_ops timer_ops = {
	.name = PROF_SOURCE_TIMER,
	.start = timer_begin,
	.stop = timer_stop,
	.enable = timer_enable,
	.drain = timer_drain,
	.count = timer_count,
	.close = timer_close,
};

static uint32_t ring_count(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t n = RINGS_MIN;

	while (n < TIMER_RINGS_MAX && n < cpus * 2)
		n *= 2;
	return n;
}

/* Makes the shared memory.  Its size is sealed, so that no program can shrink it. */
static int make_memory(struct timer_source *t, struct error *err)
{
	t->nrings = ring_count();
	t->size = 2 * TIMER_PAGE + (size_t)t->nrings * RING_BYTES;
	t->memory_fd = memfd_create("tally-samples",
				    MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (t->memory_fd < 0 || ftruncate(t->memory_fd, (off_t)t->size) < 0 ||
	    fcntl(t->memory_fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return error_errno(err, errno, "cannot make memory for "
				   "samples");
	t->header = mmap(NULL, t->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 t->memory_fd, 0);
	if (t->header == MAP_FAILED) {
		t->header = NULL;
		return error_errno(err, errno, "cannot map memory for samples");
	}
	return 0;
}

static int make_library(struct timer_source *t, struct error *err)
{
	struct timer_library l = timer_library();

	if (!l.size)
		return error_set(err, ERR_UNSUPPORTED, "this tally was built "
				 "without the library for timers in the "
				 "program (x86-64 only)");
	t->library_fd = memfd_create("tally-timer", MFD_CLOEXEC);
	if (t->library_fd < 0)
		return error_errno(err, errno, "cannot make a file for the "
				   "library");
	return io_write_all(t->library_fd, "the library", l.bytes, l.size, err);
}

/* Returns the tick length.  A CPU-time timer expires at the first tick after its
 * time. */
static uint64_t tick_ns(void)
{
	struct timespec tick = { 0, 0 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tick.tv_sec || tick.tv_nsec < TICK_MIN_NS ? TICK_MIN_NS
							 : (uint64_t)tick.tv_nsec;
}

static void fill_header(struct timer_source *t,
			const struct source_options *o)
{
	struct timer_header *h = t->header;
	size_t n = strlen(t->seen[0].note);

	h->nrings = t->nrings;
	h->ring_bytes = RING_BYTES;
	h->period_ns = t->seen[0].period;
	h->tick_ns = t->tick_ns = tick_ns();
	h->checked_filters = prctl(PR_GET_SECCOMP) > 0;
	h->alive_ns = clock_now();
	t->chains = o->callchain;
	if (o->callchain)
		h->copy_bytes = o->copy_bytes ? o->copy_bytes : TIMER_COPY_MAX;
	t->base.copy_bytes = h->copy_bytes;
	/* the time of the last tick, or of the one before */
	t->base.early_ns = 2 * t->tick_ns;
	h->state = o->enable_on_exec ? TIMER_RUN : TIMER_WAIT;
	t->delayed = !o->enable_on_exec;
	if (t->delayed)
		t->sideband.counts_from = UINT64_MAX;
	h->magic = TIMER_MAGIC;
	/* clock_event_fill has added the note. */
	if (n)
		snprintf(t->seen[0].note + n, sizeof(t->seen[0].note) - n, ": this "
			 "kernel checks thread timers only at its tick");
}

static void fill_env(struct timer_source *t)
{
	int pid = getpid();

	snprintf(t->variable, sizeof(t->variable), TIMER_VARIABLE "=%d:%d:%d",
		 pid, t->memory_fd, t->library_fd);
	snprintf(t->preload, sizeof(t->preload), "LD_PRELOAD=/proc/%d/fd/%d",
		 pid, t->library_fd);
	/* In the order that environment_take() (preload/environment.c) expects. */
	t->env[0] = t->preload;
	t->env[1] = t->variable;
	t->base.env = t->env;
}

static int open_all(struct timer_source *t,
		    const struct source_options *o, struct error *err)
{
	uint64_t tick = tick_ns();
	int r = clock_event_fill(o, "the timer source", 1000000000u / tick,
				 t->seen, err);

	if (!r)
		r = make_memory(t, err);
	if (!r)
		r = make_library(t, err);
	if (r < 0)
		return r;
	if (order_init(&t->order, t->nrings) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for samples");
	fill_header(t, o);
	t->sideband.no_user = t->seen[0].exclude_user;
	t->sideband.no_kernel = t->seen[0].exclude_kernel;
	fill_env(t);
	t->round_ms = ROUND_MIN_MS;
	t->base.wake_fd = timerfd_create(CLOCK_MONOTONIC,
					 TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->base.wake_fd < 0)
		return error_errno(err, errno, "timerfd");
	plan_round(t, 0);
	t->round_ns = clock_now();
	return 0;
}

static int timer_source_open(const struct source_target *target,
			     const struct source_options *o, struct source **out,
			     struct error *err)
{
	struct error why = { 0 };
	struct timer_source *t;
	int r;

	(void)target;
	*out = NULL;
	if (!o->launched)
		return error_set(err, ERR_UNSUPPORTED, "the timer source "
				 "records commands that tally starts only "
				 "(--source=ptrace attaches)");
	/* Programs load the library by tally's number there. */
	if (!proc_is_own())
		return error_set(err, ERR_UNSUPPORTED, "the timer source needs "
				 "/proc, of its own process namespace: "
				 "\"mount -t proc proc /proc\"");
	r = o->command ? program_is_dynamic(o->command, &why) : 0;
	/* A missing command is reported when it is run. */
	if (r < 0 && r != -ERR_NOTFOUND)
		return error_set(err, why.code, "%s: the timer library cannot "
				 "be loaded (try --source=ptrace)", why.msg);
	t = calloc(1, sizeof(*t));
	if (!t)
		return error_set(err, ERR_NOMEM, "out of memory for samples");
	t->base.ops = &timer_ops;
	t->base.wake_fd = t->memory_fd = t->library_fd = -1;
	timer_sideband_init(&t->sideband, "/proc");
	r = open_all(t, o, err);
	if (r < 0) {
		timer_close(&t->base);
		return r;
	}
	clock_events_set(o, t->seen, &t->base);
	t->base.no_kernel = true;
	*out = &t->base;
	return 0;
}

static int fits(const struct source_options *o, struct error *err)
{
	if (!o->launched)
		return error_set(err, ERR_UNSUPPORTED, "timers are for commands "
				 "that tally starts");
	return program_is_dynamic(o->command, err);
}

/* Tries a file in memory that may be executed, by the path that programs use. */
static const char *memory_refused(int *errnum)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("tally-doctor", MFD_CLOEXEC);
	const char *what = NULL;
	char path[64];
	void *p;

	*errnum = errno;
	if (fd < 0)
		return "memory for samples";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, (off_t)page) < 0 || access(path, R_OK) < 0)
		what = "/proc";
	p = what ? NULL : mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       fd, 0);
	if (p == MAP_FAILED)
		what = "code in memory";
	*errnum = errno;
	if (p && p != MAP_FAILED)
		munmap(p, page);
	close(fd);
	return what;
}

static const char *refused(int *errnum)
{
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	timer_t t;

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &none, &t) < 0) {
		*errnum = errno;
		return "timers of CPU time";
	}
	timer_delete(t);
	return memory_refused(errnum);
}

static void diagnose(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "source timer", DOCTOR_OK);
	struct timespec tick = { 0, 4000000 };
	const char *what;
	int errnum;

	if (!timer_library().size) {
		c->state = DOCTOR_NO;
		doctor_found(c, "not available on this architecture");
		return;
	}
	what = refused(&errnum);
	if (what) {
		c->state = DOCTOR_NO;
		doctor_found(c, "%s: %s", what, strerror(errnum));
		return;
	}
	d->own_timer = true;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	doctor_found(c, "dynamically linked programs started by tally can be "
		     "sampled by timers inside them, at up to %ld Hz",
		     tick.tv_nsec > 0 ? 1000000000l / tick.tv_nsec : 1l);
}

const struct source_type timer_source_type = {
	.name = "timer",
	.frames_of_launched = true,
	.fits = fits,
	.open = timer_source_open,
	.diagnose = diagnose,
};
