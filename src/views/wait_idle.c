// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds threads that wait in one place nearly all the time. */
#include "views/wait_idle.h"

#include <string.h>

/* A client that waits for a busy lock may do so for nearly all its time, too, but
 * often and not for long. */
#define LONG_WAIT_NS 500000000ull
enum {
	FEW_WAITS = 2,
	/* Polled waits are not counted.  A thread that had work was seen running. */
	POLLS_LEAST = 50,
	POLLS_PER_RUN = 500,
};

int wait_lives_init(struct wait_lives *l, const struct profile *p)
{
	*l = (struct wait_lives){ .from_ns = UINT64_MAX };
	if (vec_reserve(&l->threads, p->threads.n + 1) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->threads.n; i++)
		l->threads.v[l->threads.n++] =
			(struct wait_life){ .from_ns = UINT64_MAX };
	return 0;
}

void wait_lives_fini(struct wait_lives *l)
{
	vec_fini(&l->threads);
}

void wait_lives_add(struct wait_lives *l, const struct profile *p,
		    const struct sample_batch *b, size_t i)
{
	const struct prof_event *e = &p->events.v[b->event[i]];
	struct wait_life *t = &l->threads.v[b->thread[i]];
	uint64_t to = b->time_ns[i], from = to;

	if (prof_is_waking(e) || prof_is_latency(e))
		return;
	if (prof_is_wait(e))
		from = to > b->weight[i] ? to - b->weight[i] : 0;
	else
		t->ran++;
	t->from_ns = from < t->from_ns ? from : t->from_ns;
	t->to_ns = to > t->to_ns ? to : t->to_ns;
	l->from_ns = from < l->from_ns ? from : l->from_ns;
	l->to_ns = to > l->to_ns ? to : l->to_ns;
}

/* Returns whether a function takes a lock, by its name: mutex_lock, rdlock, flock, but
 * not unlock or clock_nanosleep. */
static bool takes_lock(const char *name)
{
	for (const char *at = name; (at = strstr(at, "lock")); at += 4)
		if (at == name || (at[-1] != 'c' && at[-1] != 'b' &&
				   (at - name < 2 || strncmp(at - 2, "un", 2) != 0)))
			return true;
	return false;
}

bool wait_is_idle(const struct wait_lives *l, uint32_t thread,
		  const struct prof_event *e, struct cell sum, const char *call)
{
	const struct wait_life *t = &l->threads.v[thread];
	uint64_t span = t->to_ns > t->from_ns ? t->to_ns - t->from_ns : 0;

	if (!prof_is_wait(e) || !sum.count || takes_lock(call) ||
	    span < (l->to_ns - l->from_ns) / 2 || sum.weight < span / 20 * 19)
		return false;
	if (prof_is_sampled_wait(e))
		return sum.count >= POLLS_LEAST &&
		       t->ran <= sum.count / POLLS_PER_RUN;
	return sum.count <= FEW_WAITS || sum.weight / sum.count >= LONG_WAIT_NS;
}
