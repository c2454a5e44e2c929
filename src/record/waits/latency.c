// SPDX-License-Identifier: GPL-2.0-or-later
/* Divides wall-clock time among the running threads. */
#include "record/waits/latency.h"

#include <string.h>

#include "base/error.h"

void latency_fini(struct latency *l)
{
	vec_fini(&l->threads);
	tid_rows_fini(&l->index);
}

void latency_begin(struct latency *l, uint64_t time_ns)
{
	l->threads.n = 0;
	tid_rows_clear(&l->index);
	l->running = 0;
	l->shared = 0;
	l->lost = false;
	l->now_ns = time_ns;
}

static struct latency_thread *find(struct latency *l, uint32_t tid)
{
	uint32_t i = tid_rows_get(&l->index, tid);

	return i < l->threads.n && l->threads.v[i].tid == tid
	       ? &l->threads.v[i] : NULL;
}

static struct latency_thread *get(struct latency *l, uint32_t tid)
{
	struct latency_thread *t = find(l, tid), row = { .tid = tid };
	uint32_t i;

	if (t)
		return t;
	i = tid_rows_add(&l->index, tid, l->threads.n);
	if (i == U64MAP_NONE ||
	    (i == l->threads.n && vec_push(&l->threads, row) < 0))
		return NULL;
	l->threads.v[i] = row;
	return &l->threads.v[i];
}

/* Divides the time that has passed.  Without a running thread, the time is kept for
 * the next one. */
static void advance(struct latency *l, uint64_t time_ns)
{
	if (time_ns <= l->now_ns || !l->running)
		return;
	l->shared += (double)(time_ns - l->now_ns) / l->running;
	l->now_ns = time_ns;
}

int latency_in(struct latency *l, uint32_t tid, uint64_t time_ns, uint64_t *gap)
{
	struct latency_thread *t = get(l, tid);

	*gap = 0;
	if (!t)
		return -ERR_NOMEM;
	advance(l, time_ns);
	if (t->running)
		return 0;
	if (!l->running && time_ns > l->now_ns) {
		*gap = l->lost ? 0 : time_ns - l->now_ns;
		l->now_ns = time_ns;
	}
	l->lost = false;
	t->running = true;
	t->from = l->shared;
	l->running++;
	return 0;
}

void latency_out(struct latency *l, uint32_t tid, uint64_t time_ns)
{
	struct latency_thread *t = find(l, tid);

	if (!t || !t->running)
		return;
	advance(l, time_ns);
	t->due += l->shared - t->from;
	t->running = false;
	l->running--;
}

uint64_t latency_take(struct latency *l, uint32_t tid, uint64_t time_ns)
{
	struct latency_thread *t = find(l, tid);
	uint64_t whole;

	if (!t)
		return 0;
	advance(l, time_ns);
	if (t->running) {
		t->due += l->shared - t->from;
		t->from = l->shared;
	}
	whole = (uint64_t)t->due;
	t->due -= (double)whole;
	return whole;
}

void latency_exit(struct latency *l, uint32_t tid, uint64_t time_ns)
{
	struct latency_thread *t = find(l, tid);

	latency_out(l, tid, time_ns);
	if (t && tid_rows_free(&l->index, (size_t)(t - l->threads.v)))
		memset(t, 0, sizeof(*t));
}

void latency_lost(struct latency *l, uint64_t time_ns)
{
	advance(l, time_ns);
	for (size_t i = 0; i < l->threads.n; i++) {
		struct latency_thread *t = &l->threads.v[i];

		if (t->running)
			t->due += l->shared - t->from;
		t->running = false;
	}
	l->running = 0;
	l->now_ns = time_ns > l->now_ns ? time_ns : l->now_ns;
	l->lost = true;
}
