// SPDX-License-Identifier: GPL-2.0
/* A high resolution timer for each event and CPU. */
#include <linux/math64.h>
#include <asm/irq_regs.h>

#include "compat.h"
#include "tally.h"

#define PERIOD_MAX_NS	(3600ull * NSEC_PER_SEC)

static unsigned int timer_present(void)
{
	return 1;
}

/* All events together stay below the ceiling. */
static int timer_check(const struct tally_setup *setup)
{
	unsigned int i;
	u64 rate = 0;

	for (i = 0; i < setup->nevents; i++) {
		const struct tally_event *e = &setup->events[i];

		if (!e->period || e->period > PERIOD_MAX_NS ||
		    e->freq || e->event || e->umask || e->cmask || e->allowed ||
		    e->flags & (TALLY_EVENT_EDGE | TALLY_EVENT_INV))
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
	unsigned int i = e - c->ev;
	u64 period = c->s->setup.events[i].period, passed, ahead;
	enum taken taken = NOT_OURS;

	if (!READ_ONCE(c->running))
		return HRTIMER_NORESTART;
	if (regs)
		taken = sample_take(c, i, regs, e->next_ns);
	e->next_ns = ahead = sample_jitter(c, period);
	/* Not again in this window. */
	if (taken == THROTTLED)
		ahead += WINDOW_NS;
	passed = hrtimer_forward_now(t, ns_to_ktime(ahead));
	if (taken == TAKEN && passed > 1) {
		e->stats.missed += passed - 1;
		e->stats.weight += (passed - 1) * e->next_ns;
	} else if (taken == THROTTLED) {
		e->stats.throttled += div64_u64(WINDOW_NS, period);
		e->stats.weight += WINDOW_NS;
	}
	return HRTIMER_RESTART;
}

static void timer_start_cpu(struct cpu_state *c)
{
	unsigned int i;

	c->running = true;
	for (i = 0; i < c->s->setup.nevents; i++) {
		struct cpu_event *e = &c->ev[i];
		u64 period = c->s->setup.events[i].period;

		tally_timer_setup(&e->timer, timer_fired);
		e->next_ns = sample_jitter(c, period);
		/* CPUs start out of step. */
		hrtimer_start(&e->timer, ns_to_ktime(1 + mul_u64_u64_shr(
			      sample_random(c), period, 64)),
			      HRTIMER_MODE_REL_PINNED_HARD);
	}
}

static void timer_stop_cpu(struct cpu_state *c)
{
	WRITE_ONCE(c->running, false);
}

static void timer_cancel_cpu(struct cpu_state *c)
{
	unsigned int i;

	for (i = 0; i < c->s->setup.nevents; i++)
		hrtimer_cancel(&c->ev[i].timer);
}

const struct source timer_source = {
	.present = timer_present,
	.check = timer_check,
	.begin = timer_begin,
	.end = timer_end,
	.start_cpu = timer_start_cpu,
	.stop_cpu = timer_stop_cpu,
	.cancel_cpu = timer_cancel_cpu,
};
