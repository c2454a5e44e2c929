// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The thread that empties the rings.  It does nothing else, and before all
 * others where that is allowed: what it moves to `order` waits there until the
 * recorder has time.  It also ends sampling on time.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "record/perf/perf_source_internal.h"
#include "launch/priority.h"

enum {
	PACE_MS = 5,		/* until the recorder says otherwise */
	/* Who starts programs all the time does not wake us for each. */
	GAP_MS = 4,
	FDS = 2 + PERF_END_FDS,
};

static bool is_stopped(const struct perf_drainer *d)
{
	return __atomic_load_n(&d->stopped_ns, __ATOMIC_RELAXED);
}

static int timeout_ms(const struct perf_drainer *d, uint64_t now)
{
	uint64_t wait = __atomic_load_n(&d->pace_ms, __ATOMIC_RELAXED) *
			1000000ull;
	uint64_t end = __atomic_load_n(&d->end_ns, __ATOMIC_ACQUIRE);

	if (end && !is_stopped(d) && end < now + wait)
		wait = end > now ? end - now : 0;
	return (int)((wait + 999999) / 1000000);
}

/* Rings do not count: `fds` without the first. */
static bool was_called(const struct pollfd *fds, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (fds[i].revents)
			return true;
	return false;
}

static size_t fill_fds(const struct perf_source *p, struct pollfd *fds)
{
	const struct perf_drainer *d = &p->drainer;
	size_t n = 2;

	fds[0] = (struct pollfd){ p->rings_fd, POLLIN, 0 };
	fds[1] = (struct pollfd){ d->kick_fd, POLLIN, 0 };
	if (!__atomic_load_n(&d->end_ns, __ATOMIC_ACQUIRE) || is_stopped(d))
		return n;
	for (size_t i = 0; i < d->nend; i++)
		fds[n++] = (struct pollfd){ d->end_fds[i], POLLIN, 0 };
	return n;
}

/* Until there is something to do.  True when sampling is to end. */
static bool wait_turn(struct perf_source *p, uint64_t drained_ns)
{
	struct perf_drainer *d = &p->drainer;
	struct pollfd fds[FDS];
	size_t n = fill_fds(p, fds);
	uint64_t now, end, kicks;
	int left;

	poll(fds, n, timeout_ms(d, clock_now()));
	now = clock_now();
	left = (int)(GAP_MS - (int64_t)(now - drained_ns) / 1000000);
	if (fds[0].revents && !was_called(fds, n) && left > 0 &&
	    __atomic_load_n(&d->pace_ms, __ATOMIC_RELAXED) >= GAP_MS) {
		int most = timeout_ms(d, now);

		poll(fds + 1, n - 1, left < most ? left : most);
	}
	if (fds[1].revents && read(d->kick_fd, &kicks, sizeof(kicks)) < 0)
		kicks = 0;
	end = __atomic_load_n(&d->end_ns, __ATOMIC_ACQUIRE);
	return end && !is_stopped(d) &&
	       (clock_now() >= end || (n > 2 && was_called(fds + 1, n - 1)));
}

static void stop_sampling(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;

	pthread_mutex_lock(&d->lock);
	perf_disable(p);
	pthread_mutex_unlock(&d->lock);
	__atomic_store_n(&d->stopped_ns, clock_now(), __ATOMIC_RELEASE);
}

static void wake(int fd)
{
	static const uint64_t one = 1;

	/* It can only be full: then nobody sleeps. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

static void *drain_main(void *arg)
{
	struct perf_source *p = arg;
	struct perf_drainer *d = &p->drainer;
	uint64_t drained_ns = 0;
	int r = 0;

	priority_first(d->priority);
	while (r >= 0 && !__atomic_load_n(&d->quit, __ATOMIC_ACQUIRE)) {
		if (wait_turn(p, drained_ns))
			stop_sampling(p);
		drained_ns = clock_now();
		r = perf_round(p);
		if (r < 0)
			__atomic_store_n(&d->result, r, __ATOMIC_RELEASE);
		if (r < 0 || order_waiting(&p->order))
			wake(p->base.wake_fd);
	}
	return NULL;
}

static int start_thread(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;
	pthread_mutexattr_t attr;
	int e;

	/* Who holds it is not kept from the processor by busy programs while a
	 * real-time thread waits. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	e = pthread_mutex_init(&d->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	if (e)
		return e;
	e = priority_create(&d->thread, drain_main, p);
	if (e)
		pthread_mutex_destroy(&d->lock);
	return e;
}

void perf_drainer_start(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;
	int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	d->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->pace_ms = PACE_MS;
	p->base.wake_fd = wake_fd;
	d->running = wake_fd >= 0 && d->kick_fd >= 0;
	if (d->running && !start_thread(p))
		return;
	/* Then who asks for records empties the rings himself. */
	if (wake_fd >= 0)
		close(wake_fd);
	if (d->kick_fd >= 0)
		close(d->kick_fd);
	d->kick_fd = -1;
	d->running = false;
	p->base.wake_fd = p->rings_fd;
}

void perf_drainer_end(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;

	if (!d->running)
		return;
	__atomic_store_n(&d->quit, true, __ATOMIC_RELEASE);
	wake(d->kick_fd);
	pthread_join(d->thread, NULL);
	pthread_mutex_destroy(&d->lock);
	d->running = false;
	close(d->kick_fd);
	for (size_t i = 0; i < d->nend; i++)
		close(d->end_fds[i]);
	d->nend = 0;
	p->base.stopped_ns = d->stopped_ns;
	p->base.priority = d->priority;
}

void perf_lock(struct perf_source *p)
{
	if (p->drainer.running)
		pthread_mutex_lock(&p->drainer.lock);
}

void perf_unlock(struct perf_source *p)
{
	if (p->drainer.running)
		pthread_mutex_unlock(&p->drainer.lock);
}

void perf_pace(struct source *s, unsigned int ms)
{
	struct perf_drainer *d = &perf_of(s)->drainer;
	uint32_t before;

	if (!d->running)
		return;
	before = __atomic_exchange_n(&d->pace_ms, ms, __ATOMIC_RELAXED);
	if (ms < before)
		wake(d->kick_fd);
}

void perf_end_at(struct source *s, uint64_t end_ns, const int *fds, size_t n)
{
	struct perf_drainer *d = &perf_of(s)->drainer;

	if (!d->running || d->end_ns)
		return;
	for (size_t i = 0; i < n && d->nend < PERF_END_FDS; i++) {
		int fd = dup(fds[i]);

		if (fd >= 0)
			d->end_fds[d->nend++] = fd;
	}
	__atomic_store_n(&d->end_ns, end_ns, __ATOMIC_RELEASE);
	wake(d->kick_fd);
}
