// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs the switch-outs and switch-ins of threads. */
#include "record/waits/waits.h"

#include <string.h>

void waits_fini(struct waits *w)
{
	vec_fini(&w->threads);
	vec_fini(&w->toggles);
	tid_rows_fini(&w->index);
}

void waits_clear(struct waits *w)
{
	w->threads.n = w->toggles.n = w->next_toggle = 0;
	tid_rows_clear(&w->index);
	w->on_ns = UINT64_MAX;
}

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for waits");
}

static struct waiter *find_row(struct waits *w, uint32_t tid)
{
	uint32_t i = tid_rows_get(&w->index, tid);

	/* A freed row that was reused has another tid. */
	return i < w->threads.n && w->threads.v[i].tid == tid
	       ? &w->threads.v[i] : NULL;
}

struct waiter *waits_find(struct waits *w, uint32_t tid)
{
	struct waiter *t = find_row(w, tid);

	return t && t->gone ? NULL : t;
}

/* Returns the thread's row, made if necessary. */
static struct waiter *waiter_get(struct waits *w, uint32_t pid, uint32_t tid)
{
	struct waiter *t = find_row(w, tid), row = { .pid = pid, .tid = tid };
	uint32_t i;

	if (t) {
		t->pid = pid;
		return t;
	}
	i = tid_rows_add(&w->index, tid, w->threads.n);
	if (i == U64MAP_NONE ||
	    (i == w->threads.n && vec_push(&w->threads, row) < 0))
		return NULL;
	w->threads.v[i] = row;
	return &w->threads.v[i];
}

/* Delivers the part of a thread's wait that counts. */
static int deliver(struct waits *w, const struct waiter *t, struct wait out,
		   struct error *err)
{
	out.pid = t->pid;
	out.tid = t->tid;
	if (out.start_ns < w->on_ns)
		out.start_ns = w->on_ns;
	if (t->hidden || out.start_ns >= out.end_ns)
		return 0;
	return w->cb(w->ctx, &out, err);
}

static bool is_within(const struct wait_stack *poll, uint64_t start_ns,
		      uint64_t end_ns)
{
	return poll->to_ns && poll->from_ns > start_ns && poll->to_ns < end_ns;
}

/* Returns a poll of the stack within a time range, or NULL. */
static const struct wait_stack *find_poll(const struct waiter *t,
					  uint64_t start_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < WAIT_POLLS; i++)
		if (!t->polls[i].no_stack &&
		    is_within(&t->polls[i], start_ns, end_ns))
			return &t->polls[i];
	return NULL;
}

/* Returns the kind of a wait.  A thread that is in no system call waits for a page,
 * or it is stopped.  Stops are long, and therefore polled. */
static wait_kind find_kind(const struct waiter *t, uint64_t start_ns,
			   uint64_t end_ns)
{
	enum { STOP_NS = 1000000 };

	for (size_t i = 0; i < WAIT_POLLS; i++)
		if (t->polls[i].kind &&
		    is_within(&t->polls[i], start_ns, end_ns))
			return t->polls[i].kind;
	if (t->kind)
		return t->kind;
	return t->sampled && end_ns - start_ns < STOP_NS ? t->left.kind : 0;
}

void waits_add_poll(struct waiter *t, const struct wait_stack *poll)
{
	t->polls[t->next_poll++ % WAIT_POLLS] = *poll;
}

bool waits_has_poll(const struct waiter *t)
{
	return find_poll(t, t->since_ns, UINT64_MAX);
}

bool waits_has_kind(const struct waiter *t)
{
	wait_kind k = find_kind(t, t->since_ns, UINT64_MAX);

	return k && !wait_kind_lacks_object(k);
}

void waits_queued(struct waiter *t, uint64_t total_ns, uint64_t time_ns)
{
	/* These waits do not explain what was before them. */
	if (!t->queue_read_ns && !t->born)
		t->explained_ns = total_ns;
	t->queued_ns = total_ns;
	t->queue_read_ns = time_ns;
}

/* Returns when a thread became runnable whose wait ends, or 0 for never.  Of waits
 * between two readings of its total, the first get the most. */
static uint64_t became_runnable(struct waiter *t, uint64_t end_ns)
{
	uint64_t length = end_ns - t->since_ns, rest = 0;

	if (!t->runnable && t->woken_ns) {
		if (t->woken_ns >= end_ns)
			return 0;
		/* The kernel's total begins some microseconds later. */
		if (t->queue_read_ns)
			t->explained_ns += end_ns - t->woken_ns;
		else
			t->born = false;
		return t->woken_ns;
	}
	if (t->queued_ns > t->explained_ns)
		rest = t->queued_ns - t->explained_ns;
	if (t->runnable || rest > length)
		rest = length;
	t->explained_ns += rest;
	return t->runnable || !rest ? 0 : end_ns - rest;
}

/* Ends the thread's open wait. */
static int end_wait(struct waits *w, struct waiter *t, uint64_t end_ns,
		    struct error *err)
{
	uint64_t woken_ns = became_runnable(t, end_ns);
	const struct wait_stack *poll = find_poll(t, t->since_ns, end_ns);
	struct wait out = { .start_ns = t->since_ns, .end_ns = end_ns,
			    .runnable = t->runnable, .found = WAIT_NO_STACK };
	int r;

	if (t->sampled && !(poll && poll->more)) {
		out.found = WAIT_EXACT;
		out.stack = t->left.stack;
		out.loc = t->left.loc;
		out.task = t->left.task;
	} else if (t->starting) {
		out.found = WAIT_STARTING;
	} else if (poll) {
		out.found = WAIT_POLLED;
		out.stack = poll->stack;
		out.loc = poll->loc;
		out.task = poll->task;
	}
	if (!t->runnable)
		out.kind = find_kind(t, t->since_ns, end_ns);
	if (!woken_ns)
		return deliver(w, t, out, err);
	out.end_ns = woken_ns;
	out.woken = woken_ns == t->woken_ns;
	out.waker = t->waker;
	r = deliver(w, t, out, err);
	out.start_ns = woken_ns;
	out.end_ns = end_ns;
	out.runnable = true;
	out.woken = false;
	out.kind = 0;
	return r < 0 ? r : deliver(w, t, out, err);
}

/* Handles a switch in or out after a loss.  A thread that ran before and is switched
 * out now may have run all the time. */
static int end_after_loss(struct waits *w, const struct waiter *t, uint64_t end_ns,
			  bool out, struct error *err)
{
	if (t->was_running && out)
		return 0;
	return deliver(w, t, (struct wait){ .start_ns = t->since_ns,
					 .end_ns = end_ns,
					 .found = WAIT_UNKNOWN }, err);
}

static void set_state(struct waiter *t, enum waiter_state state, uint64_t since)
{
	t->state = state;
	t->since_ns = since;
	t->woken_ns = t->coming_ns = 0;
	t->kind = 0;
	t->runnable = t->starting = t->sampled = t->was_running = false;
}

/* The next reading is the first of what is explained from here on. */
static void forget_queue(struct waiter *t)
{
	t->queued_ns = t->explained_ns = t->queue_read_ns = 0;
	t->born = false;
}

void waits_forget_queues(struct waits *w)
{
	for (size_t i = 0; i < w->threads.n; i++)
		forget_queue(&w->threads.v[i]);
}

/* Ends all open waits.  The state of all threads is unknown from here on. */
static int end_all(struct waits *w, uint64_t time_ns, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < w->threads.n && r >= 0; i++) {
		struct waiter *t = &w->threads.v[i];

		if (t->tid && t->state == WAITER_OUT && !t->gone)
			r = end_wait(w, t, time_ns, err);
		set_state(t, WAITER_UNKNOWN, 0);
		forget_queue(t);
	}
	return r;
}

int waits_toggle(struct waits *w, uint64_t time_ns, bool on, struct error *err)
{
	struct wait_toggle t = { time_ns, on };

	return vec_push(&w->toggles, t) < 0 ? no_memory(err) : 0;
}

static int apply_toggles(struct waits *w, uint64_t time_ns, struct error *err)
{
	int r = 0;

	while (r >= 0 && w->next_toggle < w->toggles.n &&
	       w->toggles.v[w->next_toggle].time_ns <= time_ns) {
		struct wait_toggle t = w->toggles.v[w->next_toggle++];

		if (t.on == (w->on_ns != UINT64_MAX))
			continue;
		if (!t.on)
			r = end_all(w, t.time_ns, err);
		w->on_ns = t.on ? t.time_ns : UINT64_MAX;
	}
	return r;
}

int waits_sample(struct waits *w, uint32_t pid, uint32_t tid,
		 const struct wait_stack *s, struct error *err)
{
	struct waiter *t = waiter_get(w, pid, tid);

	if (!t)
		return no_memory(err);
	/* The sample directly precedes the record of the switch. */
	t->sample = *s;
	t->sample.to_ns = !t->gone;
	return 0;
}

/* Handles a switch-out of a thread that was out already, without a loss in between: the
 * record of its switch-in is missing. */
static int end_unreported(struct waits *w, struct waiter *t, const struct wait_switch *s,
			  struct error *err)
{
	uint64_t ran = s->ran_ns - t->ran_ns;

	if (!s->ran_ns || s->ran_ns < t->ran_ns || (!t->ran_ns && !t->starting))
		return end_after_loss(w, t, s->time_ns, true, err);
	if (ran >= s->time_ns - t->since_ns)
		return 0;
	return end_wait(w, t, s->time_ns - ran, err);
}

static void switch_out(struct waiter *t, const struct wait_switch *s)
{
	set_state(t, WAITER_OUT, s->time_ns);
	t->ran_ns = s->ran_ns;
	t->kind = s->kind;
	t->runnable = s->preempted;
	t->sampled = t->sample.to_ns != 0;
	t->left = t->sample;
	t->sample.to_ns = 0;
}

int waits_switch(struct waits *w, const struct wait_switch *s, struct error *err)
{
	int r = apply_toggles(w, s->time_ns, err);
	struct waiter *t = r < 0 ? NULL : waiter_get(w, s->pid, s->tid);

	if (r < 0)
		return r;
	if (!t)
		return no_memory(err);
	if (t->gone) {
		r = s->out && t->state == WAITER_OUT ? end_unreported(w, t, s, err) : 0;
		set_state(t, WAITER_UNKNOWN, 0);
		return r;
	}
	if (s->out) {
		if (t->state == WAITER_AFTER_LOSS)
			r = end_after_loss(w, t, s->time_ns, true, err);
		else if (t->state == WAITER_OUT)
			r = end_unreported(w, t, s, err);
		switch_out(t, s);
		return r;
	}
	switch (t->state) {
	case WAITER_UNKNOWN:
		/* It waited since before the recording. */
		set_state(t, WAITER_OUT, 0);
		/* fall through */
	case WAITER_OUT:
		r = end_wait(w, t, s->time_ns, err);
		break;
	case WAITER_AFTER_LOSS:
	case WAITER_RUNNING:
		if (t->state == WAITER_AFTER_LOSS)
			r = end_after_loss(w, t, s->time_ns, false, err);
		break;
	}
	set_state(t, WAITER_RUNNING, s->time_ns);
	t->sample.to_ns = 0;
	return r;
}

int waits_fork(struct waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
	       struct error *err)
{
	struct waiter *t = waiter_get(w, pid, tid);

	if (!t)
		return no_memory(err);
	/* With one clock for all CPUs, its first record cannot be older. */
	*t = (struct waiter){ .pid = pid, .tid = tid, .born = true };
	set_state(t, WAITER_OUT, time_ns);
	t->runnable = t->starting = true;
	return 0;
}

/* Returns whether the two belong to the same wakeup. */
static bool same_wake(const struct waker *a, uint64_t a_ns,
		      const struct waker *b, uint64_t b_ns)
{
	enum { OTHER_CPU_NS = 100000 };	/* an interrupt may occur in between */

	return a->tid == b->tid && !a->interrupt && !b->interrupt &&
	       (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) < OTHER_CPU_NS;
}

void waits_wake(struct waits *w, uint32_t tid, uint64_t time_ns,
		const struct waker *waker)
{
	struct waiter *t = waits_find(w, tid);

	/* A thread still on its CPU will not be switched out blocked. */
	if (!t || !waits_is_blocked(t) || time_ns <= t->since_ns)
		return;
	if (t->woken_ns) {
		if (waker->sampled && !t->waker.sampled &&
		    same_wake(waker, time_ns, &t->waker, t->woken_ns))
			t->waker = *waker;
	} else if (waker->sampled) {
		t->coming = *waker;
		t->coming_ns = time_ns;
	} else {
		t->woken_ns = time_ns;
		t->waker = *waker;
		if (t->coming_ns &&
		    same_wake(&t->coming, t->coming_ns, waker, time_ns))
			t->waker = t->coming;
	}
}

void waits_exit(struct waits *w, uint32_t tid, bool ends)
{
	struct waiter *t = find_row(w, tid);

	if (!t || !ends) {
		waits_remove(w, tid);
		return;
	}
	t->gone = true;
	t->sample.to_ns = 0;
	if (t->state != WAITER_OUT)
		set_state(t, WAITER_UNKNOWN, 0);
}

void waits_remove(struct waits *w, uint32_t tid)
{
	struct waiter *t = find_row(w, tid);

	if (!t || !tid_rows_free(&w->index, (size_t)(t - w->threads.v)))
		return;
	memset(t, 0, sizeof(*t));
}

/* A thread's time is unknown until its next record: from its switch-out if it is
 * waiting, otherwise from here. */
int waits_lost(struct waits *w, uint64_t time_ns, struct error *err)
{
	int r = apply_toggles(w, time_ns, err);

	w->gaps++;
	for (size_t i = 0; i < w->threads.n; i++) {
		struct waiter *t = &w->threads.v[i];

		forget_queue(t);
		if (t->state == WAITER_OUT) {
			set_state(t, WAITER_AFTER_LOSS, t->since_ns);
		} else if (t->state == WAITER_RUNNING) {
			set_state(t, WAITER_AFTER_LOSS, time_ns);
			t->was_running = true;
		}
	}
	return r;
}

int waits_end(struct waits *w, uint64_t time_ns, struct error *err)
{
	int r = apply_toggles(w, time_ns, err);

	return r < 0 ? r : end_all(w, time_ns, err);
}

int waits_asleep(struct waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
		 uint64_t ran_ns, struct error *err)
{
	struct waiter *t = waiter_get(w, pid, tid);

	if (!t)
		return no_memory(err);
	if (t->state == WAITER_UNKNOWN) {
		set_state(t, WAITER_OUT, time_ns);
		t->ran_ns = ran_ns;
	}
	return 0;
}

int waits_hide(struct waits *w, uint32_t pid, uint32_t tid, struct error *err)
{
	struct waiter *t = waiter_get(w, pid, tid);

	if (!t)
		return no_memory(err);
	t->hidden = true;
	return 0;
}
