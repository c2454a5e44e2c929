// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps a timer for each thread.  A thread's end cannot be observed: it may return,
 * be cancelled, or call pthread_exit or the bare system call.  Each new thread checks
 * whether some older ones have gone and frees their slots.
 */
#include <pthread.h>
#include <time.h>

#include "preload/preload.h"

enum { SLOTS_TRIED = 4 };	/* used slots tried before an unused one is taken */

/* struct sigevent in the kernel's layout. */
struct kernel_sigevent {
	void *value;
	int signo, notify;
	int tid;
	int pad[11];
};

enum { NOTIFY_THREAD = 4 };	/* SIGEV_THREAD_ID */

static bool slot_claim(struct slot *s)
{
	uint32_t is = SLOT_FREE;

	return !__atomic_load_n(&s->state, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(&s->state, &is, SLOT_BEGINS, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void slot_drop(struct slot *s)
{
	__atomic_store_n(&s->state, SLOT_FREE, __ATOMIC_RELEASE);
}

/* Returns whether the slot's thread is gone.  Its timer is then deleted, and the slot
 * belongs to the caller. */
static bool slot_retire(struct slot *s)
{
	uint32_t is = SLOT_LIVES;

	if (__atomic_load_n(&s->state, __ATOMIC_RELAXED) != SLOT_LIVES ||
	    sys3(SYS_tgkill, preload.pid, s->tid, 0) != -3 /* ESRCH */ ||
	    !__atomic_compare_exchange_n(&s->state, &is, SLOT_BEGINS, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	if (s->timer >= 0)
		sys1(SYS_timer_delete, s->timer);
	return true;
}

static void note_used(uint32_t n)
{
	uint32_t used = __atomic_load_n(&preload.used, __ATOMIC_RELAXED);

	while (used < n &&
	       !__atomic_compare_exchange_n(&preload.used, &used, n, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Returns a free slot among those used before, or else the next unused one. */
struct slot *slot_take(void)
{
	uint32_t used = __atomic_load_n(&preload.used, __ATOMIC_RELAXED);

	for (uint32_t i = 0; used && i < SLOTS_TRIED; i++) {
		uint32_t at = __atomic_fetch_add(&preload.hint, 1,
						 __ATOMIC_RELAXED) % used;
		struct slot *s = &preload.slots[at];

		if (slot_claim(s) || slot_retire(s))
			return s;
	}
	for (uint32_t i = used; i < THREADS_MAX; i++)
		if (slot_claim(&preload.slots[i])) {
			note_used(i + 1);
			return &preload.slots[i];
		}
	return NULL;
}

/* Forgets the parent's threads in the child of a fork, where their timers do not
 * exist. */
void slots_forget(void)
{
	bytes_zero(preload.slots, preload.used * sizeof(preload.slots[0]));
	preload.used = preload.hint = 0;
}

static uint32_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return (uint32_t)(x >> 32);
}

/* Sets the timer to expire after `first`, and then at each interval; 0: never. */
static void timer_set(const struct slot *s, uint64_t first, uint64_t interval)
{
	uint64_t spec[4] = {
		interval / 1000000000u, interval % 1000000000u,
		first / 1000000000u, first % 1000000000u,
	};

	if (s->timer >= 0)
		sys4(SYS_timer_settime, s->timer, 0, (long)spec, 0);
}

/* Starts the timer.  The first expiry is random within a period, so that threads that
 * begin together are not sampled together. */
void timer_start(const struct slot *s)
{
	uint64_t first = preload.interval_ns == preload.period_ns
			 ? mix(preload_now() ^ (uint64_t)s->tid << 32) %
			   preload.period_ns + 1 : 1;

	timer_set(s, first, preload.interval_ns);
}

void timer_stop(const struct slot *s)
{
	timer_set(s, 0, 0);
}

static bool slot_lives(const struct slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == SLOT_LIVES;
}

struct slot *slot_own(void)
{
	uint32_t used = __atomic_load_n(&preload.used, __ATOMIC_RELAXED);
	uint32_t tid = sys_tid();

	for (uint32_t i = 0; i < used; i++)
		if (slot_lives(&preload.slots[i]) && preload.slots[i].tid == tid)
			return &preload.slots[i];
	return NULL;
}

void timers_change(bool all, void (*change)(const struct slot *s))
{
	uint32_t used = __atomic_load_n(&preload.used, __ATOMIC_RELAXED);
	const struct slot *own = all ? NULL : slot_own();

	if (own)
		change(own);
	for (uint32_t i = 0; all && i < used; i++)
		if (slot_lives(&preload.slots[i]))
			change(&preload.slots[i]);
}

bool slot_has_room(struct slot *s)
{
	stack_t now;
	bool room;

	bytes_zero(&now, sizeof(now));
	sys3(SYS_sigaltstack, 0, (long)&now, 0);
	room = now.ss_flags & SS_DISABLE || now.ss_size >= preload.handler_stack;
	if (!room && !s->no_room)
		thread_unsampled();
	s->no_room = !room;
	return room;
}

void thread_unsampled(void)
{
	if (preload.active)
		__atomic_fetch_add(&preload.header->unsampled, 1,
				   __ATOMIC_RELAXED);
}

void slot_arm(struct slot *s)
{
	struct kernel_sigevent ev = { 0 };
	uint32_t pid;

	preload_numbers(&pid, &s->shown_tid);
	s->tid = sys_tid();
	s->timer = -1;
	s->fresh = 1;
	bytes_zero(&s->name, sizeof(s->name));
	ev.value = s;
	ev.signo = TIMER_SIGNAL;
	ev.notify = NOTIFY_THREAD;
	ev.tid = (int)s->tid;
	if (sys3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&ev,
		 (long)&s->timer) < 0) {
		s->timer = -1;
		thread_unsampled();
	}
	s->no_room = 0;
	__atomic_store_n(&s->state, SLOT_LIVES, __ATOMIC_RELEASE);
	if (s->timer >= 0 && slot_has_room(s))
		timer_start(s);
}

__attribute__((noinline)) void thread_arm(struct slot *s, uint64_t top)
{
	struct timer_fork f = { .r = { .kind = TIMER_THREAD } };

	s->top = top;
	f.ppid = f.ptid = preload.shown_pid;
	preload_record(&f.r, sizeof(f), NULL, 0);
	slot_arm(s);
}

/* Ends in a tail call, which is off the stack while the thread runs. */
static void *thread_begin(void *arg)
{
	struct slot *s = arg;
	void *(*fn)(void *) = s->fn;

	arg = s->arg;
	thread_arm(s, (uintptr_t)__builtin_frame_address(0));
	return fn(arg);
}

static uint64_t stack_size(const pthread_attr_t *attr)
{
	static void *kept;
	int (*get)(const pthread_attr_t *, size_t *) =
		next_function(&kept, "pthread_attr_getstacksize");
	size_t n = 0;

	if (!attr || !get || get(attr, &n))
		n = attr ? 0 : (size_t)preload.thread_stack;
	/* Parts of it hold the thread's own data and its guard. */
	return n > 8 * TIMER_PAGE ? n - 6 * TIMER_PAGE : 0;
}

static void *next_create;

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*fn)(void *), void *arg)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		    void *) = next_function(&next_create, "pthread_create");
	struct slot *s;
	int r;

	if (!preload.ready)
		preload_begin();
	if (!next)
		return 11;	/* EAGAIN */
	s = preload.active && !preload.careful ? slot_take() : NULL;
	if (!s) {
		thread_unsampled();
		return next(thread, attr, fn, arg);
	}
	s->fn = fn;
	s->arg = arg;
	s->size = stack_size(attr);
	r = next(thread, attr, thread_begin, s);
	if (r)
		slot_drop(s);
	/* When the first thread is created, the C library installs its own handler. */
	if (!preload.careful)
		sample_catch();
	return r;
}
