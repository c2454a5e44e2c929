// SPDX-License-Identifier: GPL-2.0-or-later
/* Switches the samples of waits off and on. */
#include "record/perf/perf_pace.h"

#include "base/hash.h"
#include "base/random.h"
#include "record/perf/perf_source_internal.h"

/* A cost of 1 ns permits the next one this many ns later. */
enum { APART = 100 / PERF_PACE_PERCENT };
/* Unused time that may be made up for. */
#define SAVED_NS 100000000u

/* Debt at which a window ends: that of some hundred waits. */
#define DEBT_NS 50000000u

/* Adds to the time that is paid for.  Returns how far that is in the future, or 0. */
static uint64_t pay(uint64_t *paid_ns, uint64_t ns, uint64_t saved_ns, uint64_t now)
{
	uint64_t least = now > saved_ns ? now - saved_ns : 0;

	if (*paid_ns < least)
		*paid_ns = least;
	*paid_ns += ns;
	return *paid_ns > now ? *paid_ns - now : 0;
}

bool perf_pace_cpu(struct perf_pace *w, uint64_t now)
{
	const struct perf_taken n = w->taken;
	uint64_t cost = n.switches * PERF_SWITCH_NS + n.reported * PERF_REPORTED_NS +
			n.blocked * PERF_BLOCKED_NS + n.waking * PERF_WAKING_NS;
	uint64_t debt = pay(&w->paid_ns, cost * APART, SAVED_NS, now);
	uint64_t random = hash_mix(now, w->paid_ns);

	w->taken = (struct perf_taken){ 0 };
	if (!debt) {
		w->latest_ns = 0;
	} else if (!w->latest_ns && debt > DEBT_NS) {
		debt += (uint64_t)PERF_WINDOW_NS * APART;
		w->paid_ns = now + random_about(debt, random);
		w->latest_ns = now + random_about(PERF_PAUSE_MAX_NS / 5 * 4, random);
	} else if (w->latest_ns && now >= w->latest_ns) {
		/* Switches alone take more than is permitted. */
		w->paid_ns = now;
		w->latest_ns = 0;
	}
	return w->latest_ns;
}

bool perf_pace_all(struct perf_pace *w, uint64_t now)
{
	enum { EACH_NS = 200000, AT_ONCE = 500 };
	uint64_t n = w->taken.waking;

	w->taken.waking = 0;
	return pay(&w->paid_ns, n * EACH_NS, AT_ONCE * EACH_NS, now);
}

/* Switches the paced events of a CPU. */
static void switch_paced(struct perf_source *p, size_t cpu, bool waking, bool on)
{
	if (perf_bpf_is_open(&p->bpf))
		perf_bpf_sample(&p->bpf, waking ? PERF_BPF_WAKING : PERF_BPF_BLOCKED,
				p->cpus[cpu], on);
	for (size_t i = 0; i < p->counters.n; i++) {
		const struct counter *c = &p->counters.v[i];

		if (c->cpu == p->cpus[cpu] && !perf_is_reported(p, c->event) &&
		    (waking ? perf_has_wakes(p) && c->event == p->base.waking
			    : perf_is_paced(p, c->event)))
			perf_switch(c, on);
	}
}

void perf_pace_waits(struct perf_source *p)
{
	struct perf_pace *all = &p->paced[p->ncpus].pace;
	uint64_t begin = clock_now();
	bool many, some = false;

	if (!p->started)
		return;
	for (size_t i = 0; i < p->ncpus; i++)
		all->taken.waking += p->paced[i].pace.taken.waking;
	many = perf_pace_all(all, begin);
	for (size_t i = 0; i < p->ncpus; i++) {
		struct perf_paced_cpu *c = &p->paced[i];
		bool off = perf_pace_cpu(&c->pace, begin) && !p->each_wait;
		enum perf_paused blocked = off ? PERF_PAUSED : PERF_ON;
		enum perf_paused waking = off || many ? PERF_PAUSED : PERF_ON;

		some |= off || perf_permit_samples(p, i);
		if (blocked != c->blocked)
			switch_paced(p, i, false, blocked == PERF_ON);
		if (waking != c->waking)
			switch_paced(p, i, true, waking == PERF_ON);
		c->blocked = blocked;
		c->waking = waking;
	}
	if (!some)
		return;
	if (!p->paused_ns)
		__atomic_store_n(&p->paused_ns, begin, __ATOMIC_RELAXED);
	__atomic_store_n(&p->paused_last_ns, begin, __ATOMIC_RELEASE);
}
