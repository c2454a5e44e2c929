// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes counts as CSV, one line for each event and metric. */
#include <math.h>

#include "base/text.h"
#include "count/count.h"

void count_csv_begin(struct buf *out)
{
	buf_str(out, "time,kind,name,value,unit,stddev,ci95,min,max,share,"
		     "note\n");
}

static void number(struct buf *out, double v, bool shown)
{
	buf_u8(out, ',');
	if (shown && !isnan(v))
		buf_printf(out, "%.17g", v);
}

struct csv_row {
	const char *time, *kind, *name, *unit, *note;
	struct spread s;
	double share;		/* NaN: none */
};

static void record_csv(struct buf *out, const struct csv_row *r)
{
	bool several = r->s.n > 1;

	buf_printf(out, "%s,%s,", r->time, r->kind);
	text_csv(out, r->name);
	number(out, r->s.mean, true);
	buf_u8(out, ',');
	text_csv(out, r->unit);
	number(out, r->s.stddev, several);
	number(out, r->s.ci95, several);
	number(out, r->s.min, several);
	number(out, r->s.max, several);
	number(out, r->share, true);
	buf_u8(out, ',');
	text_csv(out, r->note);
	buf_u8(out, '\n');
}

static void event_csv(struct buf *out, const char *time,
		      const struct plan_event *e, struct spread s,
		      const struct count_value *v)
{
	char note[128];
	struct csv_row r = {
		time, "event", e->ev.spec.text,
		e->ev.spec.unit == EVENT_UNIT_NS ? "ns" : e->ev.spec.scaled,
		note, s,
		e->missing ? NAN : count_share(v),
	};

	count_event_note(e, v, note, sizeof(note));
	if (e->missing)
		r.s = spread_of(NULL, 0);
	record_csv(out, &r);
}

static void metric_csv(struct buf *out, const char *time,
		       const struct plan_metric *m, struct spread s,
		       enum count_accuracy accuracy)
{
	char name[METRIC_NAME_MAX + 4];
	struct csv_row r = {
		time, "metric", name, m->use.m->unit,
		count_accuracy_note(accuracy),
		s, NAN,
	};

	count_metric_name(m, name, sizeof(name));
	record_csv(out, &r);
}

void count_csv_interval(struct buf *out, const struct count_result *r,
			const struct count_value *v, uint64_t elapsed_ns,
			uint64_t since_ns)
{
	struct buf time = { 0 };

	buf_printf(&time, "%.6f", (double)since_ns / 1e9);
	for (size_t i = 0; i < r->plan.events.n; i++) {
		double value = count_event_value(&r->plan.events.v[i], &v[i]);

		event_csv(out, buf_cstr(&time), &r->plan.events.v[i],
			  spread_of(&value, 1), &v[i]);
	}
	for (size_t i = 0; i < r->plan.metrics.n; i++) {
		const struct plan_metric *m = &r->plan.metrics.v[i];
		double value = count_metric(m, v, (double)elapsed_ns / 1e9);

		metric_csv(out, buf_cstr(&time), m, spread_of(&value, 1),
			   count_metric_accuracy(&r->plan, m, v));
	}
	buf_fini(&time);
}

void count_csv_end(struct buf *out, const struct count_result *r)
{
	for (size_t i = 0; i < r->plan.events.n; i++) {
		struct count_value total = count_total(r, i);

		event_csv(out, "", &r->plan.events.v[i],
			  count_event_spread(r, i), &total);
	}
	for (size_t i = 0; i < r->plan.metrics.n; i++) {
		const struct plan_metric *m = &r->plan.metrics.v[i];

		metric_csv(out, "", m, count_metric_spread(r, i),
			   count_metric_accuracy_all(r, m));
	}
	for (int i = 0; i < (r->of_command ? 3 : 1); i++) {
		struct csv_row row = {
			"", "time", count_time_names[i], "s", "",
			count_time_spread(r, (enum count_time)i), NAN,
		};

		record_csv(out, &row);
	}
}
