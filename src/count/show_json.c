// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes counts for programs: as JSON and as CSV. */
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "count/count.h"

void count_json_begin(struct json *j, const struct count_show *show)
{
	json_object(j, NULL);
	json_uint(j, "schema", 1);
	if (show->command) {
		json_array(j, "command");
		for (size_t i = 0; show->command[i]; i++)
			json_str(j, NULL, show->command[i]);
		json_end(j);
	}
	if (show->intervals)
		json_array_lines(j, "intervals");
}

/* Writes an exact count as an integer, and an estimate with a fraction. */
static void value_json(struct json *j, const char *key,
		       const struct plan_event *e, const struct count_value *v)
{
	if (e->ev.spec.scale > 0)
		json_fixed(j, key, count_event_value(e, v), 9);
	else if (count_estimated(v))
		json_fixed(j, key, count_whole(v), 1);
	else
		json_uint(j, key, v->value);
}

static void shares_json(struct json *j, const struct count_value *v)
{
	json_uints(j, { "counted", v->value }, { "enabled_ns", v->enabled_ns },
		   { "running_ns", v->running_ns });
	json_fixed(j, "share", count_share(v), 4);
	json_bool(j, "estimated", count_estimated(v));
}

void count_json_interval(struct json *j, const struct count_result *r,
			 const struct count_value *v, uint64_t elapsed_ns,
			 uint64_t since_ns)
{
	const struct plan *p = &r->plan;
	char name[METRIC_NAME_MAX + 4];

	json_object(j, NULL);
	json_fixed(j, "time", (double)since_ns / 1e9, 6);
	json_fixed(j, "elapsed", (double)elapsed_ns / 1e9, 6);
	json_array(j, "events");
	for (size_t i = 0; i < p->events.n; i++) {
		if (p->events.v[i].missing)
			continue;
		json_object(j, NULL);
		json_str(j, "event", p->events.v[i].ev.spec.text);
		value_json(j, "value", &p->events.v[i], &v[i]);
		shares_json(j, &v[i]);
		json_end(j);
	}
	json_end(j);
	json_array(j, "metrics");
	for (size_t i = 0; i < p->metrics.n; i++) {
		const struct plan_metric *m = &p->metrics.v[i];

		json_object(j, NULL);
		count_metric_name(m, name, sizeof(name));
		json_str(j, "metric", name);
		json_fixed(j, "value",
			   count_metric(m, v, (double)elapsed_ns / 1e9), 6);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void spread_json(struct json *j, struct spread s, int digits)
{
	json_fixed(j, "value", s.mean, digits);
	if (s.n < 2)
		return;
	json_fixed(j, "stddev", s.stddev, digits);
	json_fixed(j, "ci95", s.ci95, digits);
	json_fixed(j, "min", s.min, digits);
	json_fixed(j, "max", s.max, digits);
}

static void event_json(struct json *j, const struct count_result *r, size_t i)
{
	const struct plan_event *e = &r->plan.events.v[i];
	struct count_value total = count_total(r, i);

	json_object(j, NULL);
	json_str(j, "event", e->ev.spec.text);
	json_str(j, "unit", e->ev.spec.unit == EVENT_UNIT_NS ? "ns"
		 : *e->ev.spec.scaled ? e->ev.spec.scaled : "count");
	json_bool(j, "missing", e->missing);
	if (e->missing) {
		json_end(j);
		return;
	}
	if (r->runs.n == 1)
		value_json(j, "value", e, &total);
	else
		spread_json(j, count_event_spread(r, i), 3);
	if (r->runs.n > 1) {
		json_array(j, "values");
		for (size_t k = 0; k < r->runs.n; k++)
			value_json(j, NULL, e,
				   &r->values.v[k * r->plan.events.n + i]);
		json_end(j);
	}
	shares_json(j, &total);
	json_bool(j, "user", !e->ev.attr.exclude_user);
	json_bool(j, "kernel", !e->ev.attr.exclude_kernel);
	if (e->units.n) {
		json_array(j, "units");
		for (size_t k = 0; k < e->units.n; k++)
			json_str(j, NULL, e->units.v[k].name);
		json_end(j);
	}
	if (e->group && !e->split)
		json_uint(j, "group", e->group);
	if (*e->ev.seen.note)
		json_str(j, "note", e->ev.seen.note);
	json_end(j);
}

static void metric_json(struct json *j, const struct count_result *r, size_t i)
{
	const struct plan_metric *m = &r->plan.metrics.v[i];
	enum count_accuracy accuracy = count_metric_accuracy_all(r, m);
	char name[METRIC_NAME_MAX + 4];

	json_object(j, NULL);
	count_metric_name(m, name, sizeof(name));
	json_str(j, "metric", name);
	json_str(j, "unit", m->use.m->unit);
	spread_json(j, count_metric_spread(r, i), 6);
	json_bool(j, "estimated", accuracy != COUNT_EXACT);
	json_bool(j, "same_time", accuracy != COUNT_SEPARATE);
	json_str(j, "formula", m->use.m->formula);
	json_array(j, "events");
	for (size_t k = 0; k < metric_events(m->use.m); k++)
		json_str(j, NULL,
			 r->plan.events.v[m->event[k]].ev.spec.text);
	json_end(j);
	json_end(j);
}

static void times_json(struct json *j, const struct count_result *r)
{
	json_object(j, "time");
	for (int i = 0; i < (r->of_command ? 3 : 1); i++) {
		json_object(j, count_time_names[i]);
		json_str(j, "unit", "s");
		spread_json(j, count_time_spread(r, (enum count_time)i), 9);
		json_end(j);
	}
	json_end(j);
}

static void ends_json(struct json *j, const struct count_result *r)
{
	json_array(j, "exits");
	for (size_t i = 0; i < r->runs.n; i++) {
		int status = r->runs.v[i].wait_status;

		json_object(j, NULL);
		if (WIFSIGNALED(status))
			json_int(j, "signal", WTERMSIG(status));
		else
			json_int(j, "status", WEXITSTATUS(status));
		json_end(j);
	}
	json_end(j);
}

static void notes_json(struct json *j, const struct buf *notes)
{
	char line[1300];
	size_t at = 0;

	json_array(j, "notes");
	while (at < notes->n) {
		size_t n = 0;

		while (at + n < notes->n && notes->p[at + n] != '\n')
			n++;
		if (n < sizeof(line)) {
			memcpy(line, notes->p + at, n);
			line[n] = 0;
			json_str(j, NULL, line);
		}
		at += n + 1;
	}
	json_end(j);
}

void count_json_end(struct json *j, const struct count_result *r,
		    const struct count_show *show)
{
	if (show->intervals)
		json_end(j);
	json_uint(j, "runs", r->runs.n);
	json_array_lines(j, "events");
	for (size_t i = 0; i < r->plan.events.n; i++)
		event_json(j, r, i);
	json_end(j);
	json_array_lines(j, "metrics");
	for (size_t i = 0; i < r->plan.metrics.n; i++)
		metric_json(j, r, i);
	json_end(j);
	times_json(j, r);
	if (show->command)
		ends_json(j, r);
	notes_json(j, &r->notes);
	json_end(j);
}

/* --- CSV, one line for each event and metric */

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
