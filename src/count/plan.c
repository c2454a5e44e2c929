// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans which events are counted together, and which metrics follow from them. */
#include "count/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally/pmu.h"

/* Expands events that several units count, or that each kind of cores counts
 * separately.  They become one event of the plan or one for each unit. */

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for events");
}

/* Lists the units of an event; none if it has only one. */
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

/* Renames "cycles:u" or "uncore_cbox/clockticks/u" for one unit: UNIT/cycles/u,
 * UNIT/clockticks/u. */
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

/* Makes an event of each unit of an event, or finds the units of one that stays
 * merged. */
static int split_units(struct plan *p, const char *sysfs,
		       struct error *err)
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

static int find_units(struct plan *p, const char *sysfs, struct error *err)
{
	struct pmu_units cores = { 0 };
	int r = pmu_core_kinds(sysfs, &cores) < 0 ? no_memory(err) : 0;

	for (size_t i = 0; i < p->events.n && !r; i++) {
		struct plan_event *e = &p->events.v[i];
		const struct pmu_unit *kind = event_own_kind(&e->ev.spec, &cores);

		if (e->cores)
			continue;
		if (kind) {
			e->cores = true;
			e->kind = *kind;
			continue;
		}
		r = units_of(&e->ev.spec, &cores, sysfs, &e->units, err);
		e->cores = e->units.n && !*e->ev.spec.family;
		if (e->units.n > p->units_max)
			p->units_max = e->units.n;
	}
	pmu_units_fini(&cores);
	return r;
}

/* Groups larger than the number of counters of today's smallest PMU would often
 * not fit.  P6 has fewer. */
enum { GROUP_MAX = 4 };

static int add_event(struct plan *p, const struct event_spec *s, bool optional,
		     struct error *err)
{
	struct plan_event e = { .ev.spec = *s, .optional = optional };

	return vec_push(&p->events, e) < 0 ? no_memory(err) : 0;
}

/* Returns whether two events are equal apart from their modes. */
static bool same_event(const struct event_spec *a, const struct event_spec *b)
{
	return a->type == b->type && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2 &&
	       a->exclude_host == b->exclude_host;
}

static bool same_mode(const struct event_spec *a, const struct event_spec *b)
{
	return a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv;
}

/* Parses the specifiers in a metric's table for this machine. */
static int metric_specs(const struct metric *m, const char *sysfs,
			struct event_list *out, struct error *err)
{
	int r = 0;

	out->n = 0;
	for (size_t i = 0; i < metric_events(m) && !r; i++) {
		r = events_parse(m->events[i], sysfs, out, err);
		if (r < 0)
			error_prefix(err, "metric %s", m->name);
	}
	return r;
}

/* Returns whether an event may be in a group. */
static bool grouped(const struct event_spec *s)
{
	return !s->software;
}

/* Puts the events of a metric into one group: a new one, or an existing one of
 * some of them, unless it becomes too large. */
static void group_metric(struct plan *p, const struct plan_metric *m)
{
	size_t n = metric_events(m->use.m), hw = 0, join = 0, size = 0;
	uint32_t group = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		const struct plan_event *e = &p->events.v[m->event[i]];

		if (!grouped(&e->ev.spec))
			continue;
		hw++;
		if (e->group && group && e->group != group)
			return;
		if (e->group)
			group = e->group;
		else
			join++;
	}
	for (size_t i = 0; i < p->events.n; i++) {
		size += group && p->events.v[i].group == group;
		last = p->events.v[i].group > last ? p->events.v[i].group : last;
	}
	if (hw < 2 || !join || (group && size + join > p->group_max))
		return;
	if (!group)
		group = last + 1;
	for (size_t i = 0; i < n; i++) {
		struct plan_event *e = &p->events.v[m->event[i]];

		if (grouped(&e->ev.spec))
			e->group = group;
	}
}

static int add_metric(struct plan *p, struct plan_metric *m, bool group,
		      struct error *err)
{
	const struct event_spec *s = &p->events.v[m->event[0]].ev.spec;

	/* K8 and P6 events express modes in their own syntax. */
	snprintf(m->mode, sizeof(m->mode), "%s", m->use.m->pmu ? "" : event_mode(s));
	if (group)
		group_metric(p, m);
	return vec_push(&p->metrics, *m) < 0 ? no_memory(err) : 0;
}

static size_t find_event(const struct plan *p, const struct event_spec *s)
{
	size_t i = 0;

	while (i < p->events.n &&
	       !(same_event(&p->events.v[i].ev.spec, s) &&
		 same_mode(&p->events.v[i].ev.spec, s)))
		i++;
	return i;
}

/* Adds a requested metric with its events. */
static int want_metric(struct plan *p, const struct metric_use *use,
		       const struct plan_options *o, struct error *err)
{
	struct plan_metric m = { .use = *use };
	struct event_list l = { 0 };
	int r = metric_specs(use->m, o->sysfs, &l, err);

	for (size_t i = 0; i < l.n && !r; i++) {
		size_t at = find_event(p, &l.v[i]);

		if (at == p->events.n)
			r = add_event(p, &l.v[i], false, err);
		m.event[i] = (uint32_t)at;
	}
	if (!r)
		r = add_metric(p, &m, !o->no_group, err);
	event_list_fini(&l);
	return r;
}

static bool has_metric(const struct plan *p, const struct plan_metric *m)
{
	for (size_t i = 0; i < p->metrics.n; i++)
		if (p->metrics.v[i].use.m == m->use.m &&
		    p->metrics.v[i].event[0] == m->event[0])
			return true;
	return false;
}

/* Adds a metric if all its events are counted anyway, in the modes of the event
 * `first`. */
static int offer_metric(struct plan *p, const struct metric *m,
			const struct event_list *l, size_t first,
			const struct plan_options *o, struct error *err)
{
	struct plan_metric pm = { .use = metric_plain(m) };

	pm.event[0] = (uint32_t)first;
	for (size_t i = 1; i < l->n; i++) {
		struct event_spec s = l->v[i];
		const struct event_spec *a = &p->events.v[first].ev.spec;

		/* The others' modes differ from the table as the first one's do. */
		if (!m->pmu || !same_mode(a, &l->v[0])) {
			s.exclude_user = a->exclude_user;
			s.exclude_kernel = a->exclude_kernel;
			s.exclude_hv = a->exclude_hv;
		}
		pm.event[i] = (uint32_t)find_event(p, &s);
		if (pm.event[i] == p->events.n)
			return 0;
	}
	return has_metric(p, &pm) ? 0 : add_metric(p, &pm, !o->no_group, err);
}

static int offer_metrics(struct plan *p, const struct plan_options *o,
			 struct error *err)
{
	const struct hw_pmu *here = hw_pmu_here(o->sysfs);
	struct event_list l = { 0 };
	int r = 0;

	for (const struct metric *m = metric_table; m->name && !r; m++) {
		if (m->pmu && m->pmu != here)
			continue;
		if (m->on_request)
			continue;
		r = metric_specs(m, o->sysfs, &l, err);
		for (size_t e = 0; e < p->events.n && !r; e++)
			if (same_event(&p->events.v[e].ev.spec, &l.v[0]))
				r = offer_metric(p, m, &l, e, o, err);
	}
	event_list_fini(&l);
	return r;
}

/* Adds the default events; those of the processor if it has them. */
static int usual_events(struct plan *p, const struct plan_options *o,
			struct error *err)
{
	static const char usual[] = "task-clock,context-switches,"
		"cpu-migrations,page-faults,cycles,instructions,branches,"
		"branch-misses";
	struct event_list l = { 0 };
	int r = events_parse(usual, o->sysfs, &l, err);

	for (size_t i = 0; i < l.n && !r; i++)
		r = add_event(p, &l.v[i], true, err);
	event_list_fini(&l);
	return r;
}

static int wanted_events(struct plan *p, const struct plan_options *o,
			 struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < o->events->n && !r; i++) {
		r = add_event(p, &o->events->v[i], false, err);
		if (!r && !o->no_group)
			p->events.v[i].group = o->events->v[i].group;
	}
	return r;
}

/* Splits each event into one for user space and one for the kernel.  Clocks, and
 * events that occur in only one of them, stay as they are. */
static int split_modes(struct plan *p, struct error *err)
{
	struct plan_events both = { 0 };

	for (size_t i = 0; i < p->events.n; i++) {
		struct plan_event e = p->events.v[i];
		struct event_spec *s = &e.ev.spec;
		char text[EVENT_NAME_MAX];
		bool whole = s->exclude_user || s->exclude_kernel ||
			     (s->software &&
			      s->config != PERF_COUNT_SW_PAGE_FAULTS);

		for (int k = 0; k < 2 - whole; k++) {
			memcpy(text, p->events.v[i].ev.spec.text, sizeof(text));
			if (!whole)
				snprintf(s->text, sizeof(s->text), "%.253s%s",
					 text, k ? ":k" : ":u");
			s->exclude_kernel |= !whole && !k;
			s->exclude_hv |= !whole && !k;
			s->exclude_user = whole ? s->exclude_user : k;
			if (k) {
				s->exclude_kernel = false;
				e.group = 0;
			}
			if (vec_push(&both, e) < 0) {
				vec_fini(&both);
				return no_memory(err);
			}
		}
	}
	vec_fini(&p->events);
	p->events = both;
	return 0;
}

int plan_make(struct plan *p, const struct plan_options *o, struct error *err)
{
	const struct hw_pmu *here = hw_pmu_here(o->sysfs);
	int r = 0;

	p->group_max = here ? here->model->counters : GROUP_MAX;
	if (o->events->n)
		r = wanted_events(p, o, err);
	else if (!o->nmetrics)
		r = usual_events(p, o, err);
	if (!r && o->by_mode)
		r = split_modes(p, err);
	if (!r && o->no_merge)
		r = split_units(p, o->sysfs, err);
	for (size_t i = 0; i < o->nmetrics && !r; i++)
		r = want_metric(p, &o->metrics[i], o, err);
	if (!r && !o->nmetrics && !o->no_metrics)
		r = offer_metrics(p, o, err);
	return r ? r : find_units(p, o->sysfs, err);
}

void plan_forget(struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->metrics.n; i++) {
		const struct plan_metric *m = &p->metrics.v[i];
		bool missing = false;

		for (size_t k = 0; k < metric_events(m->use.m); k++)
			missing |= p->events.v[m->event[k]].missing;
		if (!missing)
			p->metrics.v[n++] = *m;
	}
	p->metrics.n = n;
}

void plan_fini(struct plan *p)
{
	for (size_t i = 0; i < p->events.n; i++)
		pmu_units_fini(&p->events.v[i].units);
	vec_fini(&p->events);
	vec_fini(&p->metrics);
}
