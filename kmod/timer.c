// SPDX-License-Identifier: GPL-2.0
/* A source of samples: a high resolution timer for each event and CPU. */
#include <linux/math64.h>
#include <asm/irq_regs.h>

#include "compat.h"
#include "tally.h"

#define PERIOD_MAX_NS	(3600ull * NSEC_PER_SEC)

static unsigned int timer_present(u32 which)
{
	return 1;
}

/* Refuses events that together exceed the rate limit. */
static int timer_check(const struct tally_setup *setup)
{
	unsigned int i;
	u64 rate = 0;

	for (i = 0; i < setup->nevents; i++) {
		const struct tally_event *e = &setup->events[i];

		if (!e->period || e->period > PERIOD_MAX_NS ||
		    e->freq || e->event || e->umask || e->cmask || e->allowed ||
		    e->flags & TALLY_EVENT_PMU_FLAGS)
			return -EINVAL;
		rate += div64_u64(NSEC_PER_SEC, e->period);
	}
	return rate > max_rate ? -EINVAL : 0;
}

static int timer_begin(struct session *s)
{
	return 0;
}

static void timer_end(struct session *s)
{
}

static enum hrtimer_restart timer_fired(struct hrtimer *t)
{
	struct cpu_event *e = container_of(t, struct cpu_event, timer);
	struct pt_regs *regs = get_irq_regs();
	struct cpu_state *c = e->owner;
	unsigned int i = e - c->ev, what = 0;
	u64 period = c->s->setup.events[i].period;
	ktime_t due = hrtimer_get_expires(t);
	s64 late_ns;

	if (!c->running || c->paused)
		return HRTIMER_NORESTART;
	if (regs)
		what = sample_take(c, i, regs, e->next_ns);
	if (what & SAMPLE_TOO_FAST)
		sample_slower(c, i, PERIOD_MAX_NS);
	e->next_ns = sample_jitter(c, e->mean);
	hrtimer_forward_now(t, ns_to_ktime(e->next_ns));
	/* By several periods, if this is late; by a tick at least, if timers are no finer. */
	late_ns = ktime_to_ns(ktime_sub(hrtimer_get_expires(t), due)) - (s64)e->next_ns;
	if (what & SAMPLE_WANTED && late_ns > 0) {
		e->stats.missed += e->mean > period
			? div64_u64(late_ns, period)
			: div64_u64(late_ns + e->next_ns / 2, e->next_ns);
		e->stats.weight += late_ns;
	}
	return HRTIMER_RESTART;
}

static void timers_start(struct cpu_state *c)
{
	unsigned int i;

	for (i = 0; i < c->s->setup.nevents; i++)
		hrtimer_start(&c->ev[i].timer, ns_to_ktime(c->ev[i].left_ns),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

static void timer_start_cpu(struct cpu_state *c)
{
	unsigned int i;

	for (i = 0; i < c->s->setup.nevents; i++) {
		struct cpu_event *e = &c->ev[i];

		tally_timer_setup(&e->timer, timer_fired);
		e->next_ns = sample_jitter(c, e->mean);
		/* CPUs start at random phases. */
		e->left_ns = 1 + mul_u64_u64_shr(sample_random(c), e->mean, 64);
	}
	timers_start(c);
}

/* The timers belong to this CPU, whose interrupts are off, so none is being
 * handled. */
static void timer_pause_cpu(struct cpu_state *c)
{
	unsigned int i;

	for (i = 0; i < c->s->setup.nevents; i++) {
		struct cpu_event *e = &c->ev[i];
		s64 left = ktime_to_ns(hrtimer_get_remaining(&e->timer));

		/* An expired timer fires again as soon as possible. */
		e->left_ns = max(left, (s64)1);
		hrtimer_cancel(&e->timer);
	}
}

static void timer_stop_cpu(struct cpu_state *c)
{
	if (!c->paused)
		timer_pause_cpu(c);
}

const struct source timer_source = {
	.present = timer_present,
	.check = timer_check,
	.begin = timer_begin,
	.end = timer_end,
	.start_cpu = timer_start_cpu,
	.stop_cpu = timer_stop_cpu,
	.pause_cpu = timer_pause_cpu,
	.resume_cpu = timers_start,
};
