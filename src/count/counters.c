// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens, reads and closes the counters of a plan. */
#include "count/count.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "events/pmu.h"
#include "record/perf/perf_abi.h"

struct counter {
	int fd;
	uint32_t event;
	int reference;		/* counter that measures how long the thread was
				 * here, or -1 */
	bool leads;		/* started and stopped individually */
	bool again;		/* the thread's presence is measured by another
				 * counter */
};

struct counters {
	struct plan *plan;
	struct counters_options o;
	VEC(struct counter) v;
	VEC(int) references;
	int *leaders;		/* file + 1, by group and unit */
	size_t ngroups, nunits;
};

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for counters");
}

/* Opens the event in the group of `leader` (file + 1), or alone.  Returns the
 * result of perf_event_open(). */
static int open_in(struct counters *c, struct plan_event *e, int leader,
		   const struct perf_scope *at, struct error *err)
{
	e->ev.leader = leader;
	/* Members start with their leader. */
	e->ev.attr.disabled = !leader;
	e->ev.attr.enable_on_exec = !leader && c->o.enable_on_exec;
	return perf_event_open(&e->ev, at, err);
}

/*
 * Returns whether an event is invisible to a user who may only count in user space.
 * Context switches and migrations happen in the kernel; all would be missed, and a
 * count of 0 would be wrong.
 */
static bool is_hidden(const struct counters *c, const struct plan_event *e)
{
	const struct event_spec *s = &e->ev.spec;
	const struct perf_event_attr *a = &e->ev.attr;

	return a->type == PERF_TYPE_SOFTWARE && a->exclude_kernel &&
	       !s->exclude_kernel && !c->o.user_only &&
	       (a->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		a->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static int hide(struct plan_event *e, int fd, struct error *err)
{
	close(fd);
	e->hidden = e->missing = true;
	if (e->optional)
		return 0;
	return error_set(err, ERR_PERM, "event %s happens in the kernel; %s; "
			 "\"tally doctor\" says what would allow it",
			 e->ev.spec.text, e->ev.seen.note);
}

/* Handles a unit that lacks what others of its kind have.  Returns 0, or an error
 * if all lack it. */
static int not_there(struct plan_event *e, size_t unit, struct error *err)
{
	char text[EVENT_UNIT_MAX + 32];

	if (e->units.n > 1 && e->ev.settled && err->code == ERR_UNSUPPORTED) {
		snprintf(text, sizeof(text), "not counted by %s",
			 e->units.v[unit].name);
		if (!strstr(e->ev.seen.note, text))
			source_event_note(&e->ev.seen, "%s", text);
		return 0;
	}
	if (!e->optional || err->code != ERR_UNSUPPORTED)
		return -err->code;
	e->missing |= !e->ev.settled;
	return 0;
}

/* Opens one event at one place, on one of its units.  Returns 1 if opened, 0 if
 * the thread has ended or the event does not exist. */
static int open_event(struct counters *c, uint32_t event, size_t unit,
		      const struct perf_scope *at, int reference,
		      struct error *err)
{
	struct plan_event *e = &c->plan->events.v[event];
	int *lead = e->group && !e->split
		    ? &c->leaders[e->group * c->nunits + unit] : NULL;
	struct perf_event before = e->ev;
	bool leads = !lead || !*lead;
	struct counter v = { -1, event, reference, leads,
			     e->cores && unit && at->cpu < 0 };
	int fd, r;

	fd = open_in(c, e, leads ? 0 : *lead, at, err);
	if (fd == INT_MIN && !leads) {
		/* The group exceeds the counters, or the event belongs to another
		 * unit. */
		e->ev = before;
		e->split = leads = v.leads = true;
		lead = NULL;
		fd = open_in(c, e, 0, at, err);
	}
	if (fd == INT_MIN)
		return not_there(e, unit, err);
	if (fd < 0)
		return 0;
	if (is_hidden(c, e))
		return hide(e, fd, err);
	v.fd = fd;
	if (vec_push(&c->v, v) < 0) {
		close(fd);
		return no_memory(err);
	}
	r = perf_event_filter(&e->ev, fd, err);
	if (r < 0)
		return r;
	if (lead && leads)
		*lead = fd + 1;
	return 1;
}

/*
 * A thread's event on one CPU counts as enabled even while the thread runs on
 * another.  A counter that counts nothing measures how long it was here.
 */
static int open_reference(struct counters *c, const struct perf_scope *at,
			  int *fd, struct error *err)
{
	struct perf_event_attr a = {
		.size = PERF_ATTR_SIZE_TALLY, .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY, .disabled = 1,
		.enable_on_exec = c->o.enable_on_exec,
		.inherit = c->o.inherit, .exclude_kernel = 1, .exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	*fd = perf_sys_open(&a, at);
	if (*fd == -ESRCH || *fd == -ENODEV)
		return 0;
	if (*fd < 0)
		return perf_refused(-*fd, "", at, err);
	if (vec_push(&c->references, *fd) < 0) {
		close(*fd);
		return no_memory(err);
	}
	return 1;
}

/* Returns whether an event counts on this processor.  It may count for several
 * processors, or only on one kind of cores. */
static bool counts_on(const struct counters *c, const struct plan_event *e,
		      const struct pmu_unit *unit, int cpu)
{
	if (e->cores)
		return cpu < 0 || pmu_kind_has(c->o.sysfs, unit, (uint32_t)cpu);
	if (c->o.tids)
		return true;
	return e->ev.spec.shared
	       ? cpu_first_of_package(c->o.sysfs, (uint32_t)cpu, c->o.cpus,
				      c->o.ncpus)
	       : pmu_counts_on(c->o.sysfs, unit ? unit->type
			       : e->ev.spec.type, (uint32_t)cpu, c->o.cpus,
			       c->o.ncpus);
}

/* Opens an event on all of its units. */
static int open_units(struct counters *c, uint32_t event,
		      const struct perf_scope *at, int reference,
		      struct error *err)
{
	struct plan_event *e = &c->plan->events.v[event];
	const struct pmu_unit *unit = e->cores && !e->units.n ? &e->kind : NULL;
	size_t n = e->units.n ? e->units.n : 1;
	int r = 0;

	for (size_t u = 0; u < n && r >= 0 && !e->missing; u++) {
		uint32_t type = e->ev.spec.type;
		uint64_t config = e->ev.spec.config;

		if (e->units.n) {
			unit = &e->units.v[u];
			event_on_unit(&e->ev.spec, unit, &type, &config);
			e->ev.attr.type = type;
			e->ev.attr.config = config;
		}
		if (counts_on(c, e, unit, at->cpu))
			r = open_event(c, event, u, at, reference, err);
	}
	return r;
}

static int open_place(struct counters *c, const struct perf_scope *at,
		      struct error *err)
{
	int reference = -1, r = 1;

	memset(c->leaders, 0, c->ngroups * c->nunits * sizeof(*c->leaders));
	if (c->o.tids && c->o.some_cpus)
		r = open_reference(c, at, &reference, err);
	if (r <= 0)
		return r;
	for (size_t i = 0; i < c->plan->events.n; i++) {
		r = open_units(c, (uint32_t)i, at, reference, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int open_places(struct counters *c, struct error *err)
{
	const struct counters_options *o = &c->o;
	size_t tasks = o->tids ? o->ntids : 1;
	size_t cpus = o->tids && !o->some_cpus ? 1 : o->ncpus;
	int r = 0;

	for (size_t t = 0; t < tasks; t++)
		for (size_t i = 0; i < cpus && !r; i++) {
			struct perf_scope at = { -1, -1, 0 };

			if (!o->tids || o->some_cpus)
				at.cpu = (int)o->cpus[i];
			if (o->tids) {
				at.pid = (int)o->tids[t];
			} else if (o->cgroup_fd >= 0) {
				at.pid = o->cgroup_fd;
				at.flags = PERF_FLAG_PID_CGROUP;
			}
			r = open_place(c, &at, err);
		}
	return r;
}

static bool all_missing(const struct plan *p)
{
	for (size_t i = 0; i < p->events.n; i++)
		if (!p->events.v[i].missing)
			return false;
	return true;
}

int counters_open(struct counters **out, struct plan *p,
		  const struct counters_options *o, struct error *err)
{
	const struct perf_sampling how = {
		.inherit = o->inherit, .enable_on_exec = o->enable_on_exec,
		.exclude_user = o->kernel_only, .exclude_kernel = o->user_only,
	};
	struct counters *c = calloc(1, sizeof(*c));
	int r;

	*out = c;
	if (!c)
		return no_memory(err);
	c->plan = p;
	c->o = *o;
	for (size_t i = 0; i < p->events.n; i++) {
		if (p->events.v[i].group >= c->ngroups)
			c->ngroups = p->events.v[i].group + 1;
		/* A second run uses what the first one found out. */
		if (!p->events.v[i].ev.settled)
			perf_counting_prepare(&p->events.v[i].ev, &how);
	}
	c->nunits = p->units_max ? p->units_max : 1;
	c->leaders = calloc((c->ngroups + 1) * c->nunits, sizeof(*c->leaders));
	if (!c->leaders)
		return no_memory(err);
	r = open_places(c, err);
	if (!r && !c->v.n)
		r = error_set(err, ERR_NOTFOUND, all_missing(p)
			      ? "none of these events exists on this machine"
			      : "the processes to count have ended");
	return r;
}

static int ioctl_all(struct counters *c, unsigned long request)
{
	int errnum = 0;

	for (size_t i = 0; i < c->references.n; i++)
		ioctl(c->references.v[i], request, 0);
	for (size_t i = 0; i < c->v.n; i++)
		if (c->v.v[i].leads && ioctl(c->v.v[i].fd, request, 0) < 0)
			errnum = errno;
	return errnum;
}

int counters_start(struct counters *c, struct error *err)
{
	int errnum = ioctl_all(c, PERF_EVENT_IOC_ENABLE);

	return errnum ? error_errno(err, errnum, "cannot start events") : 0;
}

void counters_stop(struct counters *c)
{
	ioctl_all(c, PERF_EVENT_IOC_DISABLE);
}

static int read_one(int fd, uint64_t v[3], struct error *err)
{
	ssize_t n;

	do
		n = read(fd, v, 3 * sizeof(*v));
	while (n < 0 && errno == EINTR);
	if (n == 3 * sizeof(*v))
		return 0;
	/* A pinned event (:D) that was removed from the counters returns nothing. */
	memset(v, 0, 3 * sizeof(*v));
	v[1] = !n;
	return n < 0 ? error_errno(err, errno, "cannot read a counter") : 0;
}

/* Nothing takes a counter from the kernel's software events.  Their enabled time
 * is longer only by the moment between two steps. */
static bool counts_always(const struct plan_event *e)
{
	const struct event_spec *s = &e->ev.spec;

	return (s->software || s->type == PERF_TYPE_TRACEPOINT) &&
	       (!e->group || e->split);
}

/*
 * An event of one kind of cores counts as enabled while its thread is on another
 * kind.  All kinds together show how much of the time none of them counted.  For one
 * kind alone (cpu_atom/…/) that is unknown.
 */
static void share_time(const struct plan *p, struct count_value *out)
{
	for (size_t i = 0, end; i < p->events.n; i = end) {
		uint32_t twins = p->events.v[i].twins;
		double running = 0, all;

		for (end = i; end < p->events.n &&
			      p->events.v[end].twins == twins; end++)
			running += (double)out[end].running_ns;
		for (size_t k = i; k < end && !twins; k++)
			if (p->events.v[k].cores && !p->events.v[k].units.n)
				out[k].enabled_ns = out[k].running_ns;
		if (!twins)
			continue;
		all = (double)out[i].enabled_ns;
		for (size_t k = i; k < end; k++)
			out[k].enabled_ns = running < all * 0.999
				? (uint64_t)((double)out[k].running_ns *
					     (all / running))
				: out[k].running_ns;
	}
}

int counters_read(struct counters *c, struct count_value *out,
		  struct error *err)
{
	uint64_t v[3], ref[3];

	memset(out, 0, c->plan->events.n * sizeof(*out));
	for (size_t i = 0; i < c->v.n; i++) {
		const struct counter *k = &c->v.v[i];
		struct count_value *o = &out[k->event];
		int r = read_one(k->fd, v, err);

		if (!r && k->reference >= 0) {
			r = read_one(k->reference, ref, err);
			v[1] = ref[2];
		}
		if (r < 0)
			return r;
		o->value += v[0];
		if (!k->again)
			o->enabled_ns += v[1];
		o->running_ns += v[2];
	}
	for (size_t i = 0; i < c->plan->events.n; i++)
		if (counts_always(&c->plan->events.v[i]))
			out[i].enabled_ns = out[i].running_ns;
	if (c->o.tids && !c->o.some_cpus)
		share_time(c->plan, out);
	return 0;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->v.n; i++)
		close(c->v.v[i].fd);
	for (size_t i = 0; i < c->references.n; i++)
		close(c->references.v[i]);
	vec_fini(&c->v);
	vec_fini(&c->references);
	free(c->leaders);
	free(c);
}
