// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts counts to values for display: see count.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "count/count.h"

struct spread spread_of(const double *v, size_t n)
{
	struct spread s = { .mean = NAN, .min = NAN, .max = NAN };
	double squares = 0;

	/* Welford's method avoids differences of large sums. */
	for (size_t i = 0; i < n; i++) {
		double d;

		if (isnan(v[i]))
			continue;
		if (!s.n++) {
			s.mean = s.min = s.max = v[i];
			continue;
		}
		d = v[i] - s.mean;
		s.mean += d / (double)s.n;
		squares += d * (v[i] - s.mean);
		s.min = fmin(s.min, v[i]);
		s.max = fmax(s.max, v[i]);
	}
	if (s.n > 1) {
		s.stddev = sqrt(squares / (double)(s.n - 1));
		s.ci95 = stats_t_quantile(0.975, (double)(s.n - 1)) * s.stddev /
			 sqrt((double)s.n);
	}
	return s;
}

bool count_estimated(const struct count_value *v)
{
	/* The two times are read at slightly different moments, so a thousandth is
	 * no multiplexing. */
	return v->enabled_ns > v->running_ns + v->running_ns / 1000;
}

double count_share(const struct count_value *v)
{
	if (!count_estimated(v))
		return 1;
	return (double)v->running_ns / (double)v->enabled_ns;
}

double count_whole(const struct count_value *v)
{
	if (!count_estimated(v))
		return (double)v->value;
	if (!v->running_ns)
		return NAN;
	return (double)v->value * ((double)v->enabled_ns /
				   (double)v->running_ns);
}

double count_event_value(const struct plan_event *e,
			 const struct count_value *v)
{
	return count_whole(v) * (e->ev.spec.scale > 0 ? e->ev.spec.scale : 1);
}

double count_metric(const struct plan_metric *m, const struct count_value *v,
		    double seconds)
{
	double counts[METRIC_EVENTS_MAX];
	double value;

	for (size_t i = 0; i < metric_events(m->use.m); i++) {
		counts[i] = count_whole(&v[m->event[i]]);
		if (isnan(counts[i]))
			return NAN;
	}
	value = metric_value(&m->use, counts, seconds);
	return isfinite(value) ? value : NAN;
}

enum count_accuracy count_metric_accuracy(const struct plan *p,
					  const struct plan_metric *m,
					  const struct count_value *v)
{
	const struct plan_event *first = NULL;
	bool estimated = false, apart = false;

	for (size_t i = 0; i < metric_events(m->use.m); i++) {
		const struct plan_event *e = &p->events.v[m->event[i]];

		estimated |= count_estimated(&v[m->event[i]]);
		/* Software events of the kernel are always counted. */
		if (e->ev.spec.software)
			continue;
		if (first && (!e->group || e->group != first->group ||
			      e->split || first->split))
			apart = true;
		first = e;
	}
	return !estimated ? COUNT_EXACT : apart ? COUNT_SEPARATE : COUNT_ESTIMATED;
}

enum count_accuracy count_metric_accuracy_all(const struct count_result *r,
					      const struct plan_metric *m)
{
	enum count_accuracy worst = COUNT_EXACT;

	for (size_t i = 0; i < r->runs.n; i++) {
		enum count_accuracy d = count_metric_accuracy(&r->plan, m,
			r->values.v + i * r->plan.events.n);

		if (d > worst)
			worst = d;
	}
	return worst;
}

static const struct count_value *values_of(const struct count_result *r,
					   size_t run)
{
	return r->values.v + run * r->plan.events.n;
}

const char *const count_time_names[3] = { "elapsed", "user", "system" };

enum of_what { OF_EVENT, OF_METRIC, OF_TIME };

static double figure(const struct count_result *r, size_t run,
		     enum of_what what, size_t which)
{
	const struct count_run *t = &r->runs.v[run];
	const uint64_t times[] = { t->elapsed_ns, t->user_ns, t->sys_ns };

	switch (what) {
	case OF_EVENT:
		return count_event_value(&r->plan.events.v[which],
					 &values_of(r, run)[which]);
	case OF_METRIC:
		return count_metric(&r->plan.metrics.v[which],
				    values_of(r, run),
				    (double)t->elapsed_ns / 1e9);
	case OF_TIME:
		break;
	}
	return (double)times[which] / 1e9;
}

static struct spread spread_all(const struct count_result *r,
				enum of_what what, size_t which)
{
	double one = NAN, *v = &one;
	struct spread s;

	if (r->runs.n > 1)
		v = calloc(r->runs.n, sizeof(*v));
	if (!v)
		return spread_of(&one, 1);	/* out of memory: the spread is
						 * unknown */
	for (size_t i = 0; i < r->runs.n; i++)
		v[i] = figure(r, i, what, which);
	s = spread_of(v, r->runs.n);
	if (v != &one)
		free(v);
	return s;
}

struct spread count_event_spread(const struct count_result *r, size_t event)
{
	return spread_all(r, OF_EVENT, event);
}

struct spread count_metric_spread(const struct count_result *r, size_t metric)
{
	return spread_all(r, OF_METRIC, metric);
}

struct spread count_time_spread(const struct count_result *r,
				enum count_time which)
{
	return spread_all(r, OF_TIME, which);
}

struct count_value count_total(const struct count_result *r, size_t event)
{
	struct count_value sum = { 0, 0, 0 };

	for (size_t i = 0; i < r->runs.n; i++) {
		const struct count_value *v = &values_of(r, i)[event];

		sum.value += v->value;
		sum.enabled_ns += v->enabled_ns;
		sum.running_ns += v->running_ns;
	}
	return sum;
}

void count_result_fini(struct count_result *r)
{
	plan_fini(&r->plan);
	vec_fini(&r->runs);
	vec_fini(&r->values);
	buf_fini(&r->notes);
}
