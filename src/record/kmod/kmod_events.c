// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps events to the kernel module's sources. */
#include "record/kmod/kmod_events.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "events/hw.h"
#include "record/kmod/kmod_kinds.h"
#include "tally/pmu.h"

#define NS 1000000000u

/* Initial period of counters when a rate was requested. */
#define FIRST_PERIOD 1000000u

static bool is_clock(const struct event_spec *s)
{
	return s->type == PERF_TYPE_SOFTWARE &&
	       (s->config == PERF_COUNT_SW_CPU_CLOCK ||
		s->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Returns the counters that the module supports here, or NULL. */
static const struct hw_pmu *pmu_here(const struct tally_info *info)
{
	const struct hw_pmu *pmu;
	size_t i = 0;

	while ((pmu = hw_pmu_at(i++)) && !(info->sources & 1u << pmu->abi_id))
		;
	return pmu;
}

static bool is_generic(const struct event_spec *s, const struct hw_pmu *pmu)
{
	return pmu && s->type == PERF_TYPE_HARDWARE && s->config < HW_GENERIC &&
	       pmu->generic[s->config];
}

static uint16_t event_code(const struct tally_event *e)
{
	return (uint16_t)(e->event | (e->flags & TALLY_EVENT_HIGH) >>
			  (TALLY_EVENT_HIGH_SHIFT - 8));
}

/* Fills the register fields, which are those of perf's raw events on these
 * processors. */
static void fill_counter(const struct event_spec *s, const struct hw_pmu *pmu,
			 struct tally_event *e)
{
	const struct hw_event *known;
	uint64_t c = s->config;

	if (s->type == PERF_TYPE_HARDWARE)
		c = pmu->generic[s->config];
	e->event = (uint8_t)c;
	e->umask = (uint8_t)(c >> PMU_SEL_UMASK_SHIFT);
	e->cmask = (uint8_t)(c >> PMU_SEL_CMASK_SHIFT);
	if (c & PMU_SEL_EDGE)
		e->flags |= TALLY_EVENT_EDGE;
	if (c & PMU_SEL_INV)
		e->flags |= TALLY_EVENT_INV;
	if (c & PMU_SEL_PC)
		e->flags |= TALLY_EVENT_PC;
	e->flags |= (uint32_t)(c >> PMU_SEL_EVENT_HIGH_SHIFT & 0xf) <<
		    TALLY_EVENT_HIGH_SHIFT;
	known = hw_event_code(pmu, event_code(e));
	if (known)
		e->allowed = hw_event_counters(pmu, known);
}

/* Limits the rate.  All events share the maximum. */
static uint64_t limit_rate(const struct tally_info *info, uint32_t nevents,
			   uint64_t freq, struct source_event *seen)
{
	uint64_t most = info->max_rate / nevents;

	if (freq <= most)
		return freq;
	source_event_note(seen, "rate lowered to %llu Hz (max_rate of the kernel "
			  "module)", (unsigned long long)most);
	return most;
}

static int fill_rate(const struct tally_info *info, uint32_t nevents, bool time,
		     uint64_t freq, uint64_t period, struct tally_event *e,
		     struct source_event *seen)
{
	if (period) {
		e->period = seen->period = period;
		return 0;
	}
	freq = limit_rate(info, nevents, freq, seen);
	if (!freq)
		return -1;
	seen->freq = freq;
	if (time) {
		seen->period = NS / freq;
		/* Rounding must not take a rate above the maximum. */
		e->period = (NS + freq - 1) / freq;
	} else {
		e->period = FIRST_PERIOD;
		e->freq = freq;
	}
	return 0;
}

static int refuse(const struct event_spec *s, bool mixed, struct error *err)
{
	if (mixed)
		return error_set(err, ERR_UNSUPPORTED, "event %s: the loaded "
				 "kernel module samples by its timers or by "
				 "counters, not by both at once", s->text);
	return error_set(err, ERR_UNSUPPORTED, "event %s: the kernel module "
			 "cannot sample it here; cpu-clock works everywhere, "
			 "and \"--source=perf\" has all of perf's events",
			 s->text);
}

/* The request, and the abilities of this machine. */
struct asked {
	const struct tally_info *info;
	const struct source_options *o;
	bool has_cycles;
	const struct pmu_units *kinds;		/* or NULL */
	bool has_perf;			/* the kernel's own events are available */
	const struct hw_pmu *pmu;	/* the module's own counters, or NULL */
};

/* Returns whether the event becomes time, because cycles cannot be counted. */
static bool becomes_clock(const struct asked *k, const struct event_spec *s)
{
	return (k->o->default_event || event_is_cycles(s)) && !k->pmu &&
	       !(k->has_perf && k->has_cycles);
}

/* Returns the source that this event would use by itself; 0: none. */
static uint32_t source_of(const struct asked *k, const struct event_spec *s)
{
	if (is_clock(s) || becomes_clock(k, s))
		return TALLY_TIMER;
	if (is_generic(s, k->pmu) || (k->pmu && s->type == PERF_TYPE_RAW))
		return k->pmu->abi_id;
	return k->has_perf && s->type != PERF_TYPE_TRACEPOINT &&
	       s->type != PERF_TYPE_BREAKPOINT ? TALLY_PERF : 0;
}

/* Chooses the single source of all events.  The kernel's own events include clocks
 * and counters. */
static int choose_source(const struct asked *k, uint32_t *source,
			 struct error *err)
{
	const struct event_list *l = k->o->events;

	*source = 0;
	for (size_t i = 0; i < l->n; i++) {
		uint32_t one = source_of(k, &l->v[i]);

		if (!one)
			return refuse(&l->v[i], false, err);
		if (*source && one != *source && !k->has_perf)
			return refuse(&l->v[i], true, err);
		*source = *source && one != *source ? TALLY_PERF : one;
	}
	return 0;
}

/* Checks register fields that the module would reject with a bare EINVAL, and the
 * kernel's driver would drop. */
static int check_fields(const struct hw_pmu *pmu, const struct tally_event *e,
			const char *text, struct error *err)
{
	const struct pmu_event sel = {
		.event = event_code(e), .umask = e->umask, .cmask = e->cmask,
		.usr = true, .inv = e->flags & TALLY_EVENT_INV,
	};

	switch (pmu_event_check(pmu->model, &sel)) {
	case PMU_CODE_RESERVED:
		return error_set(err, ERR_USAGE, "event %s: codes of %s have %u "
				 "bits, so not %#x", text, pmu->name,
				 pmu->model->event_bits, sel.event);
	case PMU_CMASK_RESERVED:
		return error_set(err, ERR_USAGE, "event %s: a counter mask is at "
				 "most %d on %s", text, pmu->model->cmask_max,
				 pmu->name);
	case PMU_INV_ALONE:
		return error_set(err, ERR_USAGE, "event %s: \"inv\" turns the "
				 "comparison with a counter mask: give cmask=N, "
				 "too", text);
	default:
		return 0;
	}
}

/* Refuses modifiers that no source of the module has. */
static int check_modifiers(const struct event_spec *s, bool time,
			   struct source_event *seen, struct error *err)
{
	if (!s->exclude_guest)
		return error_set(err, ERR_UNSUPPORTED, "event %s: the kernel "
				 "module does not sample guests of virtual "
				 "machines (:G); \"--source=perf\" does",
				 s->text);
	if (!s->precise)
		return 0;
	if (!time && s->type != PERF_TYPE_SOFTWARE)
		return error_set(err, ERR_UNSUPPORTED, "event %s: the kernel "
				 "module has no precision (:p); try it without, "
				 "or with \"--source=perf\"", s->text);
	source_event_note(seen, "%s have no precision (:p)",
			  time ? "clocks" : "events of the kernel");
	return 0;
}

/* Refuses what the kernel would drop without an error. */
static int check_perf(const struct asked *k, const struct event_spec *s,
		      struct source_event *seen, struct error *err)
{
	struct tally_event e = { 0 };

	if (s->type == PERF_TYPE_SOFTWARE)
		return 0;
	if (event_pin_control(s))
		return error_set(err, ERR_UNSUPPORTED, "event %s: the pin "
				 "control (pc) is set only for counters of the "
				 "kernel module (AMD K8, Intel P6), without "
				 "clocks and other events of the kernel beside "
				 "them", s->text);
	if (s->pinned)
		return error_set(err, ERR_UNSUPPORTED, "event %s: the kernel "
				 "module does not pin the kernel's own events to "
				 "counters (:D); \"--source=perf\" does",
				 s->text);
	if (s->group)
		source_event_note(seen, "not always counted at the same time as "
				  "its group: the kernel module has no groups");
	if (!k->pmu || s->type != PERF_TYPE_RAW)
		return 0;
	fill_counter(s, k->pmu, &e);
	return check_fields(k->pmu, &e, s->text, err);
}

static int fill_perf(const struct asked *k, size_t i, struct source_event *seen,
		     struct tally_setup *setup, struct error *err)
{
	const struct event_spec *s = &k->o->events->v[i];
	int r;

	setup->perf[i] = (struct tally_perf_event){
		.type = seen->type, .config = seen->config,
		.config1 = s->config1, .config2 = s->config2,
	};
	if (seen->is_time)
		return 0;
	r = check_perf(k, s, seen, err);
	return r < 0 || !k->kinds ? r : kmod_kinds_fill(k->info, k->kinds, s, i,
							setup, err);
}

static void name_event(const struct event_spec *s, bool lost, uint64_t period,
		       struct source_event *seen)
{
	snprintf(seen->name, sizeof(seen->name), "%s", s->text);
	snprintf(seen->actual, sizeof(seen->actual), "%s%s",
		 lost ? "cpu-clock" : s->text, lost ? event_mode(s) : "");
	seen->type = s->type;
	seen->config = s->config;
	seen->config1 = s->config1;
	seen->config2 = s->config2;
	if (!lost)
		return;
	seen->type = PERF_TYPE_SOFTWARE;
	seen->config = PERF_COUNT_SW_CPU_CLOCK;
	snprintf(seen->why, sizeof(seen->why), "no hardware counter for cycles "
		 "on this machine");
	if (period)
		source_event_note(seen, "999 Hz instead of a period in cycles");
}

static int fill_event(const struct asked *k, size_t i,
		      struct tally_setup *setup, struct source_event *seen,
		      struct error *err)
{
	const struct source_options *o = k->o;
	const struct event_spec *s = &o->events->v[i];
	struct tally_event *e = &setup->events[i];
	uint64_t period = s->period ? s->period : s->freq ? 0 : o->period;
	bool lost = becomes_clock(k, s), time = is_clock(s) || lost;
	int r;

	name_event(s, lost, period, seen);
	seen->is_time = time;
	seen->exclude_user = s->exclude_user || o->kernel_only;
	seen->exclude_kernel = s->exclude_kernel || o->user_only;
	e->flags = (seen->exclude_user ? 0 : TALLY_EVENT_USER) |
		   (seen->exclude_kernel ? 0 : TALLY_EVENT_KERNEL);
	if (!e->flags)
		return error_set(err, ERR_USAGE, "event %s: excludes both user "
				 "and kernel", s->text);
	r = check_modifiers(s, time, seen, err);
	if (r < 0)
		return r;
	if (setup->source == TALLY_PERF)
		r = fill_perf(k, i, seen, setup, err);
	else if (!time)
		fill_counter(s, k->pmu, e);
	if (r < 0)
		return r;
	if (fill_rate(k->info, setup->nevents, time, lost && period ? 999 : s->freq
		      ? s->freq : o->freq, lost ? 0 : period, e, seen))
		return error_set(err, ERR_USAGE, "event %s: no rate and no "
				 "period", s->text);
	return 0;
}

static int check_event(const struct hw_pmu *pmu, const struct tally_event *e,
		       const char *text, struct error *err)
{
	int r = check_fields(pmu, e, text, err);

	if (r < 0)
		return r;
	if (e->period < TALLY_PERIOD_MIN)
		return error_set(err, ERR_USAGE, "event %s: a period of %llu is "
				 "below %u, the minimum of the kernel module",
				 text, (unsigned long long)e->period,
				 TALLY_PERIOD_MIN);
	return hw_period_check(pmu, e->period, err);
}

/* Earlier modules know neither pin control nor codes of more than 8 bits. */
static int check_module(const struct tally_info *info,
			const struct tally_event *e, const char *text,
			struct error *err)
{
	if (!(e->flags & (TALLY_EVENT_PC | TALLY_EVENT_HIGH)) ||
	    info->abi_minor >= 4)
		return 0;
	return error_set(err, ERR_UNSUPPORTED, "event %s: the loaded kernel "
			 "module is too old for pin control and for codes above "
			 "0xff: load the one that belongs to this tally", text);
}

static int check_counters(const struct tally_info *info,
			  const struct tally_setup *setup,
			  const struct event_spec *specs, struct error *err)
{
	const struct hw_pmu *pmu = hw_pmu_of_abi(setup->source);
	uint8_t allowed[TALLY_EVENTS_MAX], counter[TALLY_EVENTS_MAX];
	const char *text[TALLY_EVENTS_MAX];
	int r = 0;

	for (size_t i = 0; i < setup->nevents && !r; i++) {
		const struct tally_event *e = &setup->events[i];

		text[i] = specs[i].text;
		allowed[i] = e->allowed ? e->allowed
			     : (uint8_t)((1u << pmu->model->counters) - 1);
		r = check_event(pmu, e, text[i], err) ?:
		    check_module(info, e, text[i], err);
	}
	return r ? r : hw_assign(pmu, text, allowed, setup->nevents, counter,
				 err);
}

/* Checks the periods of clocks: in total at most max_rate samples per second, and no
 * period longer than an hour. */
static int check_clocks(const struct tally_info *info,
			const struct tally_setup *setup,
			const struct source_event *seen, struct error *err)
{
	enum { HOUR = 3600 };
	uint64_t rate = 0;

	for (size_t i = 0; i < setup->nevents; i++) {
		uint64_t period = setup->events[i].period;

		if (!seen[i].is_time)
			continue;
		rate += NS / period;
		if (period > (uint64_t)HOUR * NS)
			return error_set(err, ERR_USAGE, "event %s: a period of "
					 "%llu ns is more than an hour, the "
					 "maximum of the kernel module",
					 seen[i].name,
					 (unsigned long long)period);
		if (rate > info->max_rate)
			return error_set(err, ERR_USAGE, "event %s: a period of "
					 "%llu ns exceeds the kernel module's "
					 "sampling rate (max_rate, %u for all "
					 "events): the minimum is %llu",
					 seen[i].name,
					 (unsigned long long)period,
					 info->max_rate, (unsigned long long)
					 setup->nevents * NS / info->max_rate);
	}
	return 0;
}

int kmod_events(const struct tally_info *info,
		const struct kmod_machine *machine,
		const struct source_options *o, struct tally_setup *setup,
		struct source_event *seen, struct error *err)
{
	const struct asked k = {
		.info = info, .o = o, .has_cycles = machine->has_cycles,
		.kinds = machine->kinds,
		.has_perf = info->sources & 1u << TALLY_PERF,
		.pmu = pmu_here(info),
	};
	size_t n = o->events->n;
	int r;

	if (n > TALLY_EVENTS_MAX)
		return error_set(err, ERR_UNSUPPORTED, "the kernel module "
				 "samples at most %d events at once",
				 TALLY_EVENTS_MAX);
	setup->nevents = (uint32_t)n;
	r = choose_source(&k, &setup->source, err);
	for (size_t i = 0; i < n && !r; i++)
		r = fill_event(&k, i, setup, &seen[i], err);
	if (!r && (k.pmu && setup->source == k.pmu->abi_id))
		r = check_counters(info, setup, o->events->v, err);
	return r ? r : check_clocks(info, setup, seen, err);
}
