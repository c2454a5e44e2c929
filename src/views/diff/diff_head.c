// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the lines before every view of a diff: what is compared, and how
 * reliable it is. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "views/diff/diff_internal.h"
#include "views/query/lines.h"

enum { COMMAND_WIDTH = 60 };

static void flush(struct buf *line, int columns, struct buf *out)
{
	line_comment(out, buf_cstr(line), columns);
	out->failed |= line->failed;
	buf_reset(line);
}

static void put_safe(struct buf *line, const char *s, size_t most)
{
	struct buf safe = { 0 };

	text_safe(&safe, s);
	text_cut(line, buf_cstr(&safe), most);
	buf_close(&safe, line);
}

/* Appends "old: a.tally: ./work 100 (10 runs), 3.04 s on vm, 2026-11-21 …:
 * 3,583 samples". */
static void side_line(const struct diff *d, int side, struct buf *line)
{
	const struct diff_side *s = &d->side[side];
	const struct profile *p = s->p;
	const struct quality *t = &s->rep->quality;

	buf_str(line, side == DIFF_OLD ? "old: " : "new: ");
	put_safe(line, s->path, COMMAND_WIDTH);
	buf_str(line, ": ");
	put_safe(line, p->runs.n ? quality_run_title(p, &p->runs.v[0])
				 : "no run", COMMAND_WIDTH);
	if (s->nruns != 1)
		buf_printf(line, " (%zu runs)", s->nruns);
	buf_str(line, ", ");
	line_duration(line, (uint64_t)(s->seconds * 1e9));
	if (*profile_fact(p, "hostname")) {
		buf_str(line, " on ");
		put_safe(line, profile_fact(p, "hostname"), COMMAND_WIDTH);
	}
	if (p->runs.n && p->runs.v[0].start_wall_ns) {
		buf_str(line, ", ");
		line_time(line, p->runs.v[0].start_wall_ns);
	}
	buf_str(line, "; ");
	text_count(line, t->shown);
	buf_str(line, " samples");
	if (t->shown != t->got)
		buf_str(line, " selected");
	if (t->lost) {
		buf_str(line, ", ");
		text_count(line, t->lost);
		buf_str(line, " lost");
	}
	if (t->unresolved && t->shown)
		buf_printf(line, ", %.1f%% unresolved",
			   line_share(t->unresolved, t->shown));
}

static void put_damage(const struct diff *d, int columns, struct buf *line,
		       struct buf *out)
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct reader_damage *x =
			reader_damage(d->side[s].reader);

		if (!*x->message)
			continue;
		put_safe(line, d->side[s].path, COMMAND_WIDTH);
		buf_str(line, ": ");
		put_safe(line, x->message, 200);
		flush(line, columns, out);
	}
}

/* Appends the meaning of a column's numbers. */
static void unit_words(const struct diff *d, size_t col, struct buf *line)
{
	const struct diff_column *c = &d->cols.v[col];

	if (d->norm == DIFF_NORM_TOTAL)
		buf_str(line, "% of all ");
	else if (*c->shown_unit)
		buf_printf(line, "%s of ", c->shown_unit);
	put_safe(line, diff_event_name(d, col), COMMAND_WIDTH);
	if (c->by_count)
		buf_str(line, " samples");
	if (d->norm == DIFF_NORM_RUN)
		buf_str(line, d->spec.median ? " in the median run"
					     : " per run");
	else if (d->norm == DIFF_NORM_TIME)
		buf_str(line, " per second of recording");
	if (d->spec.median && d->norm != DIFF_NORM_RUN)
		buf_str(line, ", of the median run");
}

static void norm_line(const struct diff *d, struct buf *line)
{
	buf_printf(line, "Normalised by %s (%s): ", diff_norm_name(d->norm),
		   d->why);
	for (size_t c = 0; c < d->cols.n; c++) {
		if (c)
			buf_str(line, "; ");
		unit_words(d, c, line);
	}
}

static void total_line(const struct diff *d, size_t col, struct buf *line)
{
	const struct cost_change *t = &d->cols.v[col].total;

	buf_str(line, "All of ");
	put_safe(line, diff_event_name(d, col), COMMAND_WIDTH);
	buf_str(line, ": ");
	put_cost_scaled(d, col, t->cost[DIFF_OLD], false, line);
	buf_str(line, " -> ");
	put_cost_scaled(d, col, t->cost[DIFF_NEW], false, line);
	buf_str(line, ", ");
	put_cost_scaled(d, col, t->change, true, line);
	if (t->cost[DIFF_OLD] > 0)
		buf_printf(line, " (%+.1f%%)",
			   100 * t->change / t->cost[DIFF_OLD]);
	if (!t->tested) {
		buf_str(line, "; with one run on each side, it is not known how "
			      "much of that is noise");
		return;
	}
	buf_str(line, ", 95%: ");
	put_cost_scaled(d, col, t->low, true, line);
	buf_str(line, " to ");
	put_cost_scaled(d, col, t->high, true, line);
	if (!t->real)
		buf_str(line, ": not significant");
}

static void noise_line(const struct diff *d, struct buf *line)
{
	const struct diff_column *c = &d->cols.v[0];

	if (d->tau_assumed)
		buf_printf(line, "One run on each side: a variation of %.0f%% "
			   "between runs is assumed, not measured (record "
			   "--repeat 5)",
			   100 * c->tau);
	else
		buf_printf(line, "Functions vary by %.1f%% between runs, in "
			   "addition to sampling", 100 * c->tau);
	buf_printf(line, "; significant: %zu of %zu rows with enough samples; "
		   "~ marks the others", d->real, d->tested);
}

static void event_words(const struct diff *d, int side, size_t col,
			struct buf *line)
{
	const struct profile *p = d->side[side].p;
	const struct prof_event *e = &p->events.v[d->cols.v[col].event[side]];

	put_safe(line, profile_cstr(p, e->actual), COMMAND_WIDTH);
	if (e->exclude_kernel)
		buf_str(line, " (user only)");
	else if (e->exclude_user)
		buf_str(line, " (kernel only)");
}

static bool has_stacks(const struct diff *d, int side)
{
	const char *how = profile_fact(d->side[side].p, "callgraph");

	return *how && strcmp(how, "none") != 0;
}

static void put_warnings(const struct diff *d, int columns, struct buf *line,
			 struct buf *out)
{
	for (size_t c = 0; c < d->cols.n; c++) {
		if (!d->cols.v[c].other_event)
			continue;
		buf_str(line, "Different events: ");
		event_words(d, DIFF_OLD, c, line);
		buf_str(line, " and ");
		event_words(d, DIFF_NEW, c, line);
		buf_str(line, ": costs of different events are not comparable");
		flush(line, columns, out);
	}
	if (!d->same_cpu) {
		buf_str(line, "Different processors: ");
		put_safe(line, profile_fact(d->side[0].p, "cpu"), COMMAND_WIDTH);
		buf_str(line, " and ");
		put_safe(line, profile_fact(d->side[1].p, "cpu"), COMMAND_WIDTH);
		flush(line, columns, out);
	}
	if (d->lines.by_number) {
		text_count(line, d->lines.by_number);
		buf_str(line, " source files were not found: their lines are "
			      "matched by number (--repo DIR, --source-map "
			      "FROM=TO, or record with --embed-source)");
		flush(line, columns, out);
	}
	if (has_stacks(d, DIFF_OLD) != has_stacks(d, DIFF_NEW)) {
		buf_printf(line, "Only the %s side was recorded with call stacks "
			   "(-g): totals of callers cannot be compared",
			   has_stacks(d, DIFF_OLD) ? "old" : "new");
		flush(line, columns, out);
	}
}

void diff_head(const struct diff *d, int columns, struct buf *out)
{
	struct buf line = { 0 };

	for (int s = 0; s < DIFF_SIDES; s++) {
		side_line(d, s, &line);
		flush(&line, columns, out);
	}
	put_damage(d, columns, &line, out);
	put_warnings(d, columns, &line, out);
	norm_line(d, &line);
	flush(&line, columns, out);
	for (size_t c = 0; c < d->cols.n && d->norm != DIFF_NORM_TOTAL; c++) {
		total_line(d, c, &line);
		flush(&line, columns, out);
	}
	noise_line(d, &line);
	flush(&line, columns, out);
	buf_fini(&line);
}
