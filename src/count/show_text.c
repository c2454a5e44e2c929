// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes counts as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "count/count.h"

enum { VALUE_WIDTH = 16, UNIT_WIDTH = 5, RANGE_WIDTH = 23, NAME_WIDTH = 24 };

void count_metric_name(const struct plan_metric *m, char *out, size_t size)
{
	snprintf(out, size, "%s%s", m->use.text, m->mode);
}

/* Describes the units whose counts were added. */
static void units_note(const struct plan_event *e, char *out, size_t size)
{
	size_t n = strlen(out);

	if (!e->units.n || e->missing)
		return;
	if (e->cores && e->units.n == 2)
		snprintf(out + n, size - n, "%s%s and %s", n ? "; " : "",
			 e->units.v[0].name, e->units.v[1].name);
	else
		snprintf(out + n, size - n, "%s%zu %s", n ? "; " : "",
			 e->units.n, e->cores ? "kinds of cores"
			 : e->units.n > 1 ? "units" : "unit");
}

void count_event_note(const struct plan_event *e, const struct count_value *v,
		      char *out, size_t size)
{
	if (e->missing)
		snprintf(out, size, "%s", e->hidden
			 ? "happens in the kernel, which is not visible"
			 : "no counter for it here");
	else if (isnan(count_whole(v)))
		snprintf(out, size, "never counted: other events use the "
			 "counters");
	else if (count_estimated(v))
		snprintf(out, size, "estimated, counted %.1f%% of the time",
			 100 * count_share(v));
	else
		snprintf(out, size, "%s", "");
	units_note(e, out, size);
}

const char *count_accuracy_note(enum count_accuracy d)
{
	return d == COUNT_SEPARATE ? "estimated, events counted at different times"
	       : d == COUNT_ESTIMATED ? "estimated" : "";
}

/* Appends a number with about four digits.  Integers get all digits, in groups. */
static void put_number(struct buf *out, double v)
{
	if (isnan(v))
		buf_str(out, "-");
	else if (v < 0 && v > -1e15) {
		buf_str(out, "-");
		put_number(out, -v);
	} else if (v >= 999.95 && v < 1e15)
		text_count(out, (uint64_t)llround(v));
	else
		buf_printf(out, v >= 1e15 ? "%.4g" : v >= 99.995 ? "%.1f"
			   : v >= 0.9995 || v == 0 ? "%.2f" : "%.4f", v);
}

/* The count of a single run is an integer. */
static void put_value(struct buf *out, double v, bool whole)
{
	if (whole && v >= 0 && v < 1e18)
		text_count(out, (uint64_t)llround(v));
	else
		put_number(out, v);
}

/* Scales a number of bytes and returns its unit. */
static const char *bytes_unit(double *v)
{
	static const char *const units[] = { "B/s", "KB/s", "MB/s", "GB/s",
					     "TB/s" };
	size_t i = 0;

	while (fabs(*v) >= 1000 && i < COUNT(units) - 1) {
		*v /= 1000;
		i++;
	}
	return units[i];
}

struct line {
	struct spread s;
	const char *unit, *name;
	const char *note;
	bool whole;
	bool seconds;		/* show microseconds */
};

static void pad(struct buf *out, struct buf *cell, size_t width)
{
	size_t n = text_columns(buf_cstr(cell));

	out->failed |= cell->failed;
	while (n++ < width)
		buf_u8(out, ' ');
}

static void put_right(struct buf *out, struct buf *cell, size_t width)
{
	buf_cstr(cell);
	pad(out, cell, width);
	buf_str(out, buf_cstr(cell));
	buf_reset(cell);
}

static void put_left(struct buf *out, struct buf *cell, size_t width)
{
	buf_str(out, buf_cstr(cell));
	pad(out, cell, width);
	buf_reset(cell);
}

static void put_end(struct buf *cell, const struct line *l, double v)
{
	if (l->seconds)
		buf_printf(cell, "%.4f", v);
	else
		put_value(cell, v, l->whole);
}

static void put_line(struct buf *out, const struct line *l, bool several)
{
	struct buf cell = { 0 };
	struct spread s = l->s;
	const char *unit = l->unit;
	double first = s.mean;

	if (!strcmp(unit, "B/s") && !isnan(first)) {
		double scale;

		unit = bytes_unit(&s.mean);
		scale = s.mean != 0 ? first / s.mean : 1;
		s.min /= scale;
		s.max /= scale;
	}
	if (l->seconds)
		buf_printf(&cell, "%.6f", s.mean);
	else
		put_value(&cell, s.mean, l->whole && !several);
	put_right(out, &cell, VALUE_WIDTH);
	buf_str(&cell, " ");
	text_safe(&cell, unit);
	put_left(out, &cell, UNIT_WIDTH);
	if (several) {
		if (s.n > 1 && s.mean != 0)
			buf_printf(&cell, "± %.1f%%",
				   100 * fabs(l->s.ci95 / first));
		put_right(out, &cell, 8);
		buf_str(&cell, "  ");
		put_end(&cell, l, s.min);
		buf_str(&cell, " .. ");
		put_end(&cell, l, s.max);
		put_left(out, &cell, RANGE_WIDTH);
	}
	buf_str(out, "  ");
	text_safe(&cell, l->name);
	put_left(out, &cell, *l->note ? NAME_WIDTH : 0);
	if (*l->note)
		buf_printf(out, "  %s", l->note);
	buf_u8(out, '\n');
	buf_fini(&cell);
}

static void scale(struct spread *s, double factor)
{
	s->mean *= factor;
	s->min *= factor;
	s->max *= factor;
	s->ci95 *= factor;
	s->stddev *= factor;
}

static void put_event(struct buf *out, const struct plan_event *e,
		      struct spread s, const struct count_value *total,
		      bool several)
{
	char note[128];
	bool ns = e->ev.spec.unit == EVENT_UNIT_NS;
	struct line l = { .s = s, .unit = ns ? "ms" : e->ev.spec.scaled,
			  .note = note, .name = e->ev.spec.text,
			  .whole = !ns && !(e->ev.spec.scale > 0) };

	count_event_note(e, total, note, sizeof(note));
	if (e->missing)
		l.s = spread_of(NULL, 0);
	if (ns)
		scale(&l.s, 1e-6);
	put_line(out, &l, several);
}

static void put_metric(struct buf *out, const struct plan_metric *m,
		       struct spread s, enum count_accuracy accuracy, bool several)
{
	char name[METRIC_NAME_MAX + 4];
	struct buf note = { 0 };
	struct line l = { .s = s, .unit = m->use.m->unit, .name = name };

	if (isnan(s.mean))
		return;		/* the events' notes give the reason */
	count_metric_name(m, name, sizeof(name));
	buf_str(&note, m->use.m->summary);
	if (accuracy != COUNT_EXACT)
		buf_printf(&note, " (%s)", count_accuracy_note(accuracy));
	l.note = buf_cstr(&note);
	put_line(out, &l, several);
	buf_fini(&note);
}

static void put_head(struct buf *out, const struct count_result *r,
		     const struct count_show *show)
{
	struct buf command = { 0 };

	if (show->command)
		shell_quote(&command, show->command);
	buf_str(out, r->of_command ? "# " : show->command ? "# while this ran: "
		     : "# counted");
	text_safe(out, buf_cstr(&command));
	if (r->runs.n > 1)
		buf_printf(out, ": %zu runs; mean, ± 95%% interval of the mean, "
			   "minimum .. maximum", r->runs.n);
	buf_str(out, "\n#\n");
	buf_fini(&command);
}

static void put_times(struct buf *out, const struct count_result *r)
{
	int n = r->of_command ? 3 : 1;

	buf_str(out, "#\n");
	for (int i = 0; i < n; i++) {
		struct line l = {
			.s = count_time_spread(r, (enum count_time)i),
			.unit = "s", .name = count_time_names[i], .note = "",
			.seconds = true,
		};

		put_line(out, &l, r->runs.n > 1);
	}
}

void count_text(struct buf *out, const struct count_result *r,
		const struct count_show *show)
{
	const struct plan *p = &r->plan;
	struct buf metrics = { 0 };

	put_head(out, r, show);
	for (size_t i = 0; i < p->events.n; i++) {
		struct count_value total = count_total(r, i);

		if (!p->events.v[i].missing)
			put_event(out, &p->events.v[i],
				  count_event_spread(r, i), &total,
				  r->runs.n > 1);
	}
	for (size_t i = 0; i < p->metrics.n; i++)
		put_metric(&metrics, &p->metrics.v[i],
			   count_metric_spread(r, i),
			   count_metric_accuracy_all(r, &p->metrics.v[i]),
			   r->runs.n > 1);
	if (metrics.n)
		buf_printf(out, "#\n%s", buf_cstr(&metrics));
	put_times(out, r);
	buf_fini(&metrics);
}

void count_text_interval(struct buf *out, const struct count_result *r,
			 const struct count_value *v, uint64_t elapsed_ns,
			 uint64_t since_ns)
{
	const struct plan *p = &r->plan;
	double seconds = (double)elapsed_ns / 1e9;

	for (size_t i = 0; i < p->events.n; i++) {
		double value = count_event_value(&p->events.v[i], &v[i]);

		if (p->events.v[i].missing)
			continue;
		buf_printf(out, "%12.6f", (double)since_ns / 1e9);
		put_event(out, &p->events.v[i], spread_of(&value, 1), &v[i],
			  false);
	}
	for (size_t i = 0; i < p->metrics.n; i++) {
		const struct plan_metric *m = &p->metrics.v[i];
		double value = count_metric(m, v, seconds);

		if (isnan(value))
			continue;
		buf_printf(out, "%12.6f", (double)since_ns / 1e9);
		put_metric(out, m, spread_of(&value, 1),
			   count_metric_accuracy(p, m, v), false);
	}
}
