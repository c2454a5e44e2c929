// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines the CPU-time event of sources without counters. */
#include "record/source/clock_event.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define NS 1000000000u

#define PERIOD_MAX (1000000ull * NS)	/* so that a few of them are no overflow */

enum { DEFAULT_RATE = 999 };

static bool is_clock(const struct event_spec *s)
{
	return s->type == PERF_TYPE_SOFTWARE &&
	       (s->config == PERF_COUNT_SW_CPU_CLOCK ||
		s->config == PERF_COUNT_SW_TASK_CLOCK);
}

static void fill_rate(const struct source_options *o,
		      const struct event_spec *s, bool clock, uint64_t max,
		      struct source_event *seen)
{
	uint64_t period = s->period ? s->period : s->freq ? 0 : o->period;
	uint64_t least = (NS + max - 1) / max;

	if (clock && period) {
		seen->period = period < PERIOD_MAX ? period : PERIOD_MAX;
		if (period > PERIOD_MAX)
			snprintf(seen->note, sizeof(seen->note),
				 "period lowered to %llu s",
				 (unsigned long long)(PERIOD_MAX / NS));
	} else {
		/* A period in cycles does not determine a time. */
		seen->freq = period ? DEFAULT_RATE : s->freq ? s->freq : o->freq;
		if (!seen->freq)
			seen->freq = DEFAULT_RATE;
		seen->period = NS / seen->freq;
	}
	if (seen->freq ? seen->freq <= max : seen->period >= least)
		return;
	seen->freq = max;
	seen->period = NS / max;
	snprintf(seen->note, sizeof(seen->note), "rate lowered to %llu Hz",
		 (unsigned long long)max);
}

uint64_t clock_event_samples(const struct source_event *e, double ns)
{
	return (uint64_t)(e->freq ? ns / NS * (double)e->freq
				  : ns / (double)e->period);
}

int clock_event_fill(const struct source_options *o, const char *source,
		     uint64_t max_rate, struct source_event *seen,
		     struct error *err)
{
	const struct event_spec *s = o->events->v;
	bool clock;

	memset(seen, 0, sizeof(*seen));
	if (o->events->n != 1)
		return error_set(err, ERR_UNSUPPORTED, "%s samples only one "
				 "event, CPU time (cpu-clock): choose one",
				 source);
	clock = is_clock(s);
	if (!clock && !o->default_event && !event_is_cycles(s))
		return error_set(err, ERR_UNSUPPORTED, "event %s: %s samples "
				 "CPU time only (cpu-clock)", s->text, source);
	snprintf(seen->name, sizeof(seen->name), "%s", s->text);
	snprintf(seen->actual, sizeof(seen->actual), "%s%s",
		 clock ? s->text : "cpu-clock", clock ? "" : event_mode(s));
	if (!clock)
		snprintf(seen->why, sizeof(seen->why), "%s samples CPU time",
			 source);
	seen->type = PERF_TYPE_SOFTWARE;
	seen->config = clock ? s->config : PERF_COUNT_SW_CPU_CLOCK;
	seen->is_time = true;
	seen->exclude_user = s->exclude_user || o->kernel_only;
	seen->exclude_kernel = s->exclude_kernel || o->user_only;
	if (seen->exclude_user && seen->exclude_kernel)
		return error_set(err, ERR_USAGE, "event %s: excludes both user "
				 "and kernel", s->text);
	fill_rate(o, s, clock, max_rate, seen);
	return 0;
}

static void wait_event(struct source_event *e, const char *name)
{
	*e = (struct source_event){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES, .is_time = true,
		.freq = CLOCK_LOOKS,
	};
	snprintf(e->name, sizeof(e->name), "%s", name);
	snprintf(e->actual, sizeof(e->actual), "%s", name);
}

void clock_events_set(const struct source_options *o,
		      struct source_event seen[CLOCK_EVENTS],
		      struct source *s)
{
	s->events = seen;
	s->nevents = 1;
	s->waking = s->latency = SOURCE_NONE;
	if (!o->waits)
		return;
	s->waits = s->wait_polls = true;
	s->blocked = 1;
	s->runnable = 2;
	s->nevents = CLOCK_EVENTS;
	wait_event(&seen[1], "blocked");
	snprintf(seen[1].note, sizeof(seen[1].note), "by polling /proc: "
		 "without perf events there are no switch records");
	wait_event(&seen[2], "runnable");
}
