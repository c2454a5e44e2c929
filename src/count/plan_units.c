// SPDX-License-Identifier: GPL-2.0-or-later
/* Events that several units count, or that each kind of cores counts by itself:
 * as one event of the plan, or each as its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count/plan.h"

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for events");
}

/* The units of an event; none where it is but one. */
static int units_of(const struct event_spec *s, const struct pmu_units *cores,
		    const char *sysfs, struct pmu_units *out, struct error *err)
{
	out->n = 0;
	if (*s->family && pmu_units_of(sysfs, s->family, out) < 0)
		return no_memory(err);
	for (size_t i = 0; i < cores->n && !*s->family && event_is_of_cores(s);
	     i++)
		if (vec_push(out, cores->v[i]) < 0)
			return no_memory(err);
	return 0;
}

/* "cycles:u" or "uncore_cbox/clockticks/u" of one unit: UNIT/clockticks/u. */
static void unit_text(struct event_spec *s, const char *unit)
{
	char text[EVENT_NAME_MAX];
	const char *slash, *colon;

	memcpy(text, s->text, sizeof(text));
	slash = strchr(text, '/');
	colon = strchr(text, ':');
	if (slash)
		snprintf(s->text, sizeof(s->text), "%.63s%.190s", unit, slash);
	else
		snprintf(s->text, sizeof(s->text), "%.63s/%.*s/%s", unit,
			 colon ? (int)(colon - text) : 180, text,
			 colon ? colon + 1 : "");
}

static int add_split(struct plan_events *out, const struct plan_event *e,
		     const struct pmu_units *units, uint32_t number,
		     struct error *err)
{
	struct plan_event one = *e;

	if (!units->n && vec_push(out, one) < 0)
		return no_memory(err);
	for (size_t i = 0; i < units->n; i++) {
		one = *e;
		one.ev.spec.family[0] = 0;
		one.cores = !*e->ev.spec.family;
		if (one.cores) {
			one.kind = units->v[i];
			one.twins = number;
		}
		event_on_unit(&e->ev.spec, &units->v[i], &one.ev.spec.type,
			      &one.ev.spec.config);
		unit_text(&one.ev.spec, units->v[i].name);
		if (vec_push(out, one) < 0)
			return no_memory(err);
	}
	return 0;
}

int plan_split_units(struct plan *p, const char *sysfs, struct error *err)
{
	struct pmu_units cores = { 0 }, units = { 0 };
	struct plan_events all = { 0 };
	int r = pmu_core_kinds(sysfs, &cores) < 0 ? no_memory(err) : 0;

	for (size_t i = 0; i < p->events.n && !r; i++) {
		const struct plan_event *e = &p->events.v[i];

		r = units_of(&e->ev.spec, &cores, sysfs, &units, err);
		if (!r)
			r = add_split(&all, e, &units, (uint32_t)i + 1, err);
	}
	pmu_units_fini(&cores);
	pmu_units_fini(&units);
	if (r) {
		vec_fini(&all);
		return r;
	}
	vec_fini(&p->events);
	p->events = all;
	return 0;
}

int plan_find_units(struct plan *p, const char *sysfs, struct error *err)
{
	struct pmu_units cores = { 0 };
	int r = pmu_core_kinds(sysfs, &cores) < 0 ? no_memory(err) : 0;

	for (size_t i = 0; i < p->events.n && !r; i++) {
		struct plan_event *e = &p->events.v[i];

		if (e->cores)
			continue;
		r = units_of(&e->ev.spec, &cores, sysfs, &e->units, err);
		e->cores = e->units.n && !*e->ev.spec.family;
		if (e->units.n > p->units_max)
			p->units_max = e->units.n;
	}
	pmu_units_fini(&cores);
	return r;
}
