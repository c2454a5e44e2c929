// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs the events of both sides and chooses the divisor of their costs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "views/diff/diff_internal.h"

static const struct prof_event *event_of(const struct diff *d, int side,
					 uint32_t event)
{
	return &d->side[side].p->events.v[event];
}

static const char *asked(const struct diff *d, int side, uint32_t event)
{
	return profile_cstr(d->side[side].p, event_of(d, side, event)->name);
}

static const char *actual(const struct diff *d, int side, uint32_t event)
{
	return prof_event_actual(d->side[side].p, event_of(d, side, event));
}

const char *diff_event_name(const struct diff *d, size_t col)
{
	return actual(d, DIFF_NEW, d->cols.v[col].event[DIFF_NEW]);
}

static bool same_event(const struct diff *d, uint32_t old, uint32_t now)
{
	return prof_same_event(d->side[DIFF_OLD].p, event_of(d, DIFF_OLD, old),
			       d->side[DIFF_NEW].p, event_of(d, DIFF_NEW, now));
}

/* Returns the new side's column for one of the old side's that is not paired
 * yet, or PROF_NONE. */
static uint32_t partner(const struct diff *d, uint32_t old, uint64_t taken,
			bool *other)
{
	const struct aggregate *a = &d->side[DIFF_OLD].rep->agg;
	const struct aggregate *b = &d->side[DIFF_NEW].rep->agg;

	*other = false;
	for (uint32_t c = 0; c < b->ncols; c++)
		if (!(taken >> c & 1) &&
		    same_event(d, a->cols.v[old], b->cols.v[c]))
			return c;
	*other = true;
	for (uint32_t c = 0; c < b->ncols; c++)
		if (!(taken >> c & 1) &&
		    !strcmp(asked(d, DIFF_OLD, a->cols.v[old]),
			    asked(d, DIFF_NEW, b->cols.v[c])))
			return c;
	return a->ncols == 1 && b->ncols == 1 ? 0 : PROF_NONE;
}

/* Returns the factor for lost samples, assuming they are distributed like the
 * recorded ones. */
static double lost_factor(const struct quality *t, uint32_t event)
{
	const struct quality_event *e = &t->events[event];

	return e->got && e->lost < UINT32_MAX
		       ? 1 + (double)e->lost / (double)e->got : 1;
}

static int add_column(struct diff *d, uint32_t old, uint32_t now, bool other)
{
	struct diff_column c = { .col = { old, now }, .other_event = other,
				 .uneven = 1, .even = 1 };

	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct report *rep = d->side[s].rep;

		c.event[s] = rep->agg.cols.v[c.col[s]];
		c.all[s] = rep->agg.shown[c.event[s]];
		c.lost[s] = lost_factor(&rep->quality, c.event[s]);
		c.by_count |= c.all[s].count && !c.all[s].weight;
	}
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct aggregate *a = &d->side[s].rep->agg;
		struct cell got = a->got[c.event[s]];
		double u = weight_spread((double)got.count, (double)got.weight,
					 a->squares[c.event[s]]);

		if (!c.by_count && u > c.uneven)
			c.uneven = u;
	}
	return vec_push(&d->cols, c);
}

int diff_columns(struct diff *d, struct error *err)
{
	const struct aggregate *a = &d->side[DIFF_OLD].rep->agg;
	const struct aggregate *b = &d->side[DIFF_NEW].rep->agg;
	uint64_t taken = 0;	/* REPORT_COLUMNS_MAX is 64 */

	for (uint32_t c = 0; c < a->ncols; c++) {
		bool other;
		uint32_t p = partner(d, c, taken, &other);

		if (p == PROF_NONE)
			continue;
		taken |= 1ull << p;
		if (add_column(d, c, p, other) < 0)
			return error_nomem(err);
	}
	if (d->cols.n)
		return 0;
	if (!a->ncols || !b->ncols)
		return error_set(err, ERR_NOTFOUND, "%s: records no event",
				 d->side[a->ncols ? DIFF_NEW : DIFF_OLD].path);
	return error_set(err, ERR_USAGE, "no event was recorded on both sides: "
			 "%s has %s, %s has %s", d->side[0].path,
			 actual(d, 0, a->cols.v[0]), d->side[1].path,
			 actual(d, 1, b->cols.v[0]));
}

/* Returns the duration of the selected part of a run, in seconds. */
static double run_seconds(const struct diff_side *s, size_t run)
{
	const struct prof_run *r = &s->p->runs.v[run];
	const struct selection *sel = &s->rep->sel;
	uint64_t from = r->start_ns, to = r->end_ns;

	if (!to)
		to = s->rep->agg.last_ns;
	if (sel->timed) {
		from = from > sel->from_ns ? from : sel->from_ns;
		to = to < sel->to_ns ? to : sel->to_ns;
	}
	return to > from ? (double)(to - from) / 1e9 : 0;
}

static int select_runs(struct diff *d, int side, struct error *err)
{
	struct diff_side *s = &d->side[side];
	size_t n = s->p->runs.n;
	struct range_list only = { 0 };
	int rc = 0;

	s->run_at = malloc((n + 1) * sizeof(*s->run_at));
	s->run_seconds = calloc(n + 1, sizeof(*s->run_seconds));
	if (!s->run_at || !s->run_seconds)
		return error_nomem(err);
	if (d->spec.select.runs)
		rc = range_list_parse(d->spec.select.runs, "--run", &only, err);
	for (size_t i = 0; !rc && i < n; i++) {
		double seconds = run_seconds(s, i);

		s->run_at[i] = PROF_NONE;
		if ((only.n && !range_list_has(&only, i + 1ull)) ||
		    (s->rep->sel.timed && seconds <= 0))
			continue;
		s->run_at[i] = (uint32_t)s->nruns;
		s->run_seconds[s->nruns++] = seconds;
		s->seconds += seconds;
	}
	vec_fini(&only);
	return rc;
}

/* Returns whether every run of the command was recorded from start to end. */
static bool has_whole_runs(const struct diff_side *s)
{
	const char *target = profile_fact(s->p, "target");

	if (*target && strcmp(target, "command") != 0)
		return false;
	if (s->rep->sel.timed || !s->nruns ||
	    reader_damage(s->reader)->incomplete)
		return false;
	for (size_t i = 0; i < s->p->runs.n; i++)
		if (!*profile_cstr(s->p, s->p->runs.v[i].command) ||
		    !s->p->runs.v[i].end_ns)
			return false;
	return true;
}

static bool same_cpu(const struct diff *d)
{
	const char *a = profile_env(d->side[0].p, PROF_NONE, "cpu");
	const char *b = profile_env(d->side[1].p, PROF_NONE, "cpu");

	return !a || !b || !strcmp(a, b);
}

static bool any_other_event(const struct diff *d)
{
	for (size_t c = 0; c < d->cols.n; c++)
		if (d->cols.v[c].other_event)
			return true;
	return false;
}

static void choose(struct diff *d)
{
	d->norm = DIFF_NORM_TOTAL;
	if (any_other_event(d)) {
		d->why = "the sides measured different events";
	} else if (!d->same_cpu) {
		d->why = "the processors differ";
	} else if (has_whole_runs(&d->side[0]) && has_whole_runs(&d->side[1])) {
		d->norm = DIFF_NORM_RUN;
		d->why = "both sides are whole runs of a command";
	} else if (d->side[0].seconds > 0 && d->side[1].seconds > 0) {
		d->norm = DIFF_NORM_TIME;
		d->why = "not both sides are whole runs of a command";
	} else {
		d->why = "it is not known how long was recorded";
	}
}

static void set_scale(struct diff *d, struct diff_column *c)
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct diff_side *side = &d->side[s];
		double all = (double)(c->by_count ? c->all[s].count
						  : c->all[s].weight);

		if (d->norm == DIFF_NORM_TOTAL)
			c->per[s] = all > 0 ? 100 / all : 0;
		else if (d->norm == DIFF_NORM_TIME)
			c->per[s] = side->seconds > 0
					    ? c->lost[s] / side->seconds : 0;
		else
			c->per[s] = side->nruns
				? c->lost[s] / (double)side->nruns : 0;
	}
}

int diff_normalise(struct diff *d, struct error *err)
{
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = select_runs(d, s, err);
	if (rc < 0)
		return rc;
	d->same_cpu = same_cpu(d);
	d->norm = d->spec.norm;
	d->why = "as requested";
	if (d->norm == DIFF_NORM_AUTO)
		choose(d);
	else if (d->norm != DIFF_NORM_TOTAL && any_other_event(d))
		return error_set(err, ERR_USAGE, "the sides measured different "
				 "events (%s, %s), which have only shares in "
				 "common: --normalise=total",
				 actual(d, 0, d->cols.v[0].event[0]),
				 actual(d, 1, d->cols.v[0].event[1]));
	else if (d->norm == DIFF_NORM_TIME && !(d->side[0].seconds > 0 &&
						d->side[1].seconds > 0))
		return error_set(err, ERR_USAGE, "it is not known how long was "
				 "recorded: --normalise=total");
	for (size_t c = 0; c < d->cols.n; c++)
		set_scale(d, &d->cols.v[c]);
	return 0;
}

double diff_cost(const struct diff *d, int side, size_t col, struct cell c)
{
	const struct diff_column *k = &d->cols.v[col];

	return (double)(k->by_count ? c.count : c.weight) * k->per[side];
}

static bool is_time(const struct diff *d, size_t col)
{
	const struct diff_column *c = &d->cols.v[col];

	return !c->by_count &&
	       event_of(d, DIFF_NEW, c->event[DIFF_NEW])->unit == PROF_UNIT_NS;
}

const char *diff_norm_name(enum diff_norm n)
{
	static const char *const names[] = { "auto", "run", "time", "total" };

	return names[n];
}

const char *diff_unit(const struct diff *d, size_t col)
{
	if (d->norm == DIFF_NORM_TOTAL)
		return "%";
	if (d->norm == DIFF_NORM_TIME)
		return is_time(d, col) ? "ns/s" : "/s";
	return is_time(d, col) ? "ns a run" : "a run";
}

static const struct {
	double by;
	const char *time, *count;
} units[] = {
	{ 1e9, "s", "G" }, { 1e6, "ms", "M" }, { 1e3, "us", "k" },
	{ 1, "ns", "" },
};

/* Returns the largest unit in which a cost is at least `least`. */
static size_t unit_for(double cost, double least)
{
	size_t i = 0;

	while (i < 3 && !(fabs(cost) >= least * units[i].by))
		i++;
	return i;
}

void diff_choose_unit(struct diff *d, size_t col, double most)
{
	struct diff_column *c = &d->cols.v[col];
	size_t i = unit_for(most, 5);

	c->shown_by = d->norm == DIFF_NORM_TOTAL ? 1 : units[i].by;
	c->shown_unit = d->norm == DIFF_NORM_TOTAL ? "%"
		: is_time(d, col) ? units[i].time : units[i].count;
}

static void put_number(double x, bool sign, struct buf *out)
{
	if (!isfinite(x))
		buf_u8(out, '?');
	else if (fabs(x) > 1e12)	/* possible only in hostile files */
		buf_printf(out, sign ? "%+.2e" : "%.2e", x);
	else
		buf_printf(out, sign ? "%+.*f" : "%.*f",
			   fabs(x) < 1000 ? 2 : 1, x);
}

void diff_put_cost(const struct diff *d, size_t col, double cost, bool sign,
		   struct buf *out)
{
	put_number(cost / d->cols.v[col].shown_by, sign, out);
	if (d->norm == DIFF_NORM_TOTAL)
		buf_u8(out, '%');
}

void put_cost_scaled(const struct diff *d, size_t col, double cost, bool sign,
		     struct buf *out)
{
	size_t i = unit_for(cost, 1);

	if (d->norm == DIFF_NORM_TOTAL) {
		diff_put_cost(d, col, cost, sign, out);
		return;
	}
	if (cost == 0) {
		buf_u8(out, '0');
		return;
	}
	put_number(cost / units[i].by, sign, out);
	if (is_time(d, col))
		buf_printf(out, " %s", units[i].time);
	else
		buf_str(out, units[i].count);
}
