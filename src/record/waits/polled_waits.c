// SPDX-License-Identifier: GPL-2.0-or-later
/* Derives waits from the states of threads at intervals. */
#include "record/waits/polled_waits.h"

#include <string.h>

void polled_waits_fini(struct polled_waits *w)
{
	vec_fini(&w->threads);
	tid_rows_fini(&w->index);
}

void polled_waits_clear(struct polled_waits *w)
{
	w->threads.n = 0;
	tid_rows_clear(&w->index);
}

struct polled_thread *polled_waits_find(const struct polled_waits *w, uint32_t tid)
{
	uint32_t i = tid_rows_get(&w->index, tid);

	return i < w->threads.n && w->threads.v[i].tid == tid
	       ? &w->threads.v[i] : NULL;
}

/* Delivers a wait that ended at end_ns, with the stack of `at` or none. */
static int deliver(struct polled_waits *w, const struct polled_thread *t,
		   const struct wait_poll *at, uint64_t end_ns, uint64_t length,
		   bool runnable, struct error *err)
{
	struct wait out = {
		.pid = t->pid, .tid = t->tid, .end_ns = end_ns,
		.start_ns = length < end_ns ? end_ns - length : 0,
		.runnable = runnable, .found = WAIT_NO_STACK,
	};

	if (!length)
		return 0;
	if (at && at->looked) {
		out.found = WAIT_POLLED;
		out.stack = at->stack;
		out.loc = at->loc;
		out.task = at->task;
		out.kind = runnable ? 0 : at->kind;
	}
	return w->cb(w->ctx, &out, err);
}

static int64_t at_least(int64_t v, int64_t least)
{
	return v > least ? v : least;
}

/* Returns the blocked time not yet assigned to waits.  It is negative if too much was
 * assigned: the kernel counts queued time only when it ends, and stops by tally may
 * be reported later, too. */
static int64_t blocked_more(const struct polled_waits *w,
			    const struct polled_thread *t,
			    const struct wait_poll *p)
{
	const struct wait_poll *o = &t->first;
	int64_t idle = (int64_t)(p->time_ns - o->time_ns) -
		       (int64_t)(p->ran_ns - o->ran_ns) -
		       (int64_t)(p->queued_ns - o->queued_ns);
	int64_t kept = at_least(idle - (int64_t)t->slept_ns,
				(int64_t)t->halted_ns);
	int64_t most = (int64_t)(t->halted_ns + w->stolen_ns - t->stolen_ns);

	return idle - (kept < most ? kept : most) - (int64_t)t->blocked_ns;
}

void polled_waits_halted(struct polled_thread *t, uint64_t ns)
{
	t->halted_ns += ns;
}

void polled_waits_stolen(struct polled_waits *w, uint64_t ns)
{
	if (ns > w->stolen_ns)
		w->stolen_ns = ns;
}

/* Starts the totals from this poll. */
static void count_from(const struct polled_waits *w, struct polled_thread *t,
		       const struct wait_poll *p)
{
	t->first = t->asleep = *p;
	t->stolen_ns = w->stolen_ns;
	t->slept_ns = t->blocked_ns = t->halted_ns = 0;
	t->open_ns = t->pending_ns = 0;
}

/* Returns whether the counters continue.  Counters that decrease belong to another
 * thread with the same number. */
static bool is_continued(const struct wait_poll *before, const struct wait_poll *p)
{
	return before->time_ns && p->time_ns > before->time_ns &&
	       p->turns >= before->turns && p->ran_ns >= before->ran_ns &&
	       p->queued_ns >= before->queued_ns;
}

static int poll_asleep(struct polled_waits *w, struct polled_thread *t,
		       const struct wait_poll *p, uint64_t since_ns,
		       struct error *err)
{
	const struct wait_poll before = t->asleep;
	uint64_t blocked, part;
	int r;

	t->slept_ns += p->time_ns - since_ns;
	blocked = (uint64_t)at_least(blocked_more(w, t, p), 0);
	t->blocked_ns += blocked;

	t->asleep = *p;
	if (p->turns == before.turns) {
		t->open_ns += blocked;
		if (before.looked) {
			t->asleep.looked = true;
			t->asleep.stack = before.stack;
			t->asleep.loc = before.loc;
			t->asleep.task = before.task;
			t->asleep.kind = before.kind;
		}
		return 0;
	}
	r = deliver(w, t, &before, before.time_ns, t->open_ns, false, err);
	if (r >= 0)
		r = deliver(w, t, p->turns == before.turns + 1 ? &before : NULL,
			    p->time_ns, p->queued_ns - before.queued_ns, true, err);
	t->pending_ns += blocked;
	part = p->time_ns - since_ns;
	t->open_ns = t->pending_ns < part ? t->pending_ns : part;
	t->pending_ns -= t->open_ns;
	return r;
}

/* Delivers the thread's time that is known but not yet delivered. */
static int deliver_pending(struct polled_waits *w, struct polled_thread *t,
			   struct error *err)
{
	uint64_t over = (uint64_t)at_least(-blocked_more(w, t, &t->asleep), 0);
	uint64_t end_ns = t->asleep.time_ns;
	uint64_t left = t->open_ns + t->pending_ns;
	int r;

	left -= left < over ? left : over;
	t->open_ns = t->open_ns < left ? t->open_ns : left;
	t->pending_ns = left - t->open_ns;
	r = deliver(w, t, &t->asleep, end_ns, t->open_ns, false, err);

	return r < 0 ? r : deliver(w, t, NULL, end_ns, t->pending_ns, false, err);
}

void polled_waits_begin(struct polled_waits *w, struct polled_thread *t,
			uint64_t time_ns)
{
	t->asked_ns = time_ns;
	count_from(w, t, &(struct wait_poll){ .time_ns = time_ns });
}

int polled_waits_poll(struct polled_waits *w, struct polled_thread *t,
		      const struct wait_poll *p, struct error *err)
{
	uint64_t since_ns = t->asked_ns;
	int r;

	t->asked_ns = p->time_ns;
	if (!p->asleep)
		return 0;
	if (is_continued(&t->asleep, p))
		return poll_asleep(w, t, p, since_ns, err);
	r = deliver_pending(w, t, err);
	count_from(w, t, p);
	return r;
}

int polled_waits_end(struct polled_waits *w, struct polled_thread *t,
		     struct error *err)
{
	int r = deliver_pending(w, t, err);

	if (tid_rows_free(&w->index, (size_t)(t - w->threads.v)))
		memset(t, 0, sizeof(*t));
	return r;
}

struct polled_thread *polled_waits_thread(struct polled_waits *w, uint32_t pid,
					  uint32_t tid, struct error *err)
{
	struct polled_thread row = { .pid = pid, .tid = tid };
	struct polled_thread *t = polled_waits_find(w, tid);
	uint32_t i;

	if (t && t->pid == pid)
		return t;
	if (t && polled_waits_end(w, t, err) < 0)
		return NULL;
	i = tid_rows_add(&w->index, tid, w->threads.n);
	if (i == U64MAP_NONE ||
	    (i == w->threads.n && vec_push(&w->threads, row) < 0)) {
		error_set(err, ERR_NOMEM, "out of memory for waits");
		return NULL;
	}
	w->threads.v[i] = row;
	return &w->threads.v[i];
}
