// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes data quality as text, at the head of every view. */
#include "views/quality/quality.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/framekey.h"
#include "views/query/lines.h"

enum {
	TYPE_SOFTWARE = 1,	/* perf_event.h: PERF_TYPE_SOFTWARE */
	TYPE_TRACEPOINT = 2,
	COMMAND_WIDTH = 60,	/* maximum width; `tally info` shows the full command */
	/* limits above which missed samples are shown as a share */
	SHORT_MIN = 10, SHORT_PERCENT = 5,
	IMAGES_LISTED = 3,	/* number of images named in the text */
};

static void flush_line(struct buf *line, int columns, struct buf *out)
{
	line_comment(out, buf_cstr(line), columns);
	out->failed |= line->failed;
	buf_reset(line);
}

const char *quality_run_title(const struct profile *p, const struct prof_run *r)
{
	const char *command = profile_cstr(p, r->command);
	const char *target = profile_fact(p, "target");
	const char *programs = profile_fact(p, "target_programs");

	if (*command)
		return command;
	if (*programs)
		return programs;
	return *target && strcmp(target, "system") ? target : "whole system";
}

static void what_line(const struct quality *t, int columns, struct buf *line,
		      struct buf *out)
{
	const struct profile *p = t->p;
	struct buf safe = { 0 };

	text_safe(&safe, p->runs.n ? quality_run_title(p, &p->runs.v[0])
				   : "no run");
	text_cut(line, buf_cstr(&safe), COMMAND_WIDTH);
	buf_close(&safe, out);
	if (p->runs.n > 1)
		buf_printf(line, " (%zu runs)", p->runs.n);
	buf_str(line, ", ");
	line_duration(line, t->duration_ns);
	if (*profile_fact(p, "hostname")) {
		buf_str(line, " on ");
		text_safe(line, profile_fact(p, "hostname"));
	}
	if (p->runs.n && p->runs.v[0].start_wall_ns) {
		buf_str(line, ", ");
		line_time(line, p->runs.v[0].start_wall_ns);
	}
	flush_line(line, columns, out);
}

static const char *precision(const struct prof_event *e)
{
	static const char *const text[] = {
		"may skid", "constant skid", "precise", "precise, no skid",
	};

	if (e->type == TYPE_SOFTWARE || e->type == TYPE_TRACEPOINT)
		return NULL;
	return text[e->precise & 3];
}

static void count(struct buf *line, uint64_t n, const char *what)
{
	text_count(line, n);
	buf_str(line, what);
}

static void event_name(const struct profile *p, const struct prof_event *e,
		       struct buf *line)
{
	const char *name = profile_cstr(p, e->name);
	const char *actual = profile_cstr(p, e->actual);
	const char *note = profile_cstr(p, e->note);

	text_safe(line, *actual ? actual : name);
	if (*actual && strcmp(name, actual) != 0) {
		buf_str(line, " (requested ");
		text_safe(line, name);
		if (*note) {
			buf_str(line, ": ");
			text_safe(line, note);
		}
		buf_u8(line, ')');
	} else if (*note) {
		buf_str(line, " (");
		text_safe(line, note);
		buf_u8(line, ')');
	}
}

/* Returns whether the samples have the weight of the missed ones, too: the kernel
 * module lengthens periods above its limit. */
static bool weigh_all(const struct quality_event *te)
{
	return te->value && te->weight >= te->value - te->value / 100;
}

/* Appends the number of missed samples.  These were never taken, because
 * threads ended before their next sample, the machine stood still, or the rate was
 * limited. */
static void missed(const struct quality_event *te, struct buf *line)
{
	if (!te->missed)
		return;
	buf_str(line, ", ");
	count(line, te->missed, " missed");
	if (te->missed >= SHORT_MIN && !weigh_all(te) &&
	    te->missed * 100 >= te->wanted * SHORT_PERCENT)
		buf_printf(line, " (%.1f%% of the time has no samples)",
			   line_share(te->missed, te->wanted));
}

static void put_seconds(struct buf *line, uint64_t ns)
{
	buf_printf(line, "%.*f s", ns < 10000000000u ? 3 : 1, (double)ns / 1e9);
}

static void event_line(const struct quality *t, size_t i, int columns,
		       struct buf *line, struct buf *out)
{
	const struct prof_event *e = &t->p->events.v[i];
	const struct quality_event *te = &t->events[i];

	event_name(t->p, e, line);
	buf_str(line, ": ");
	if (prof_is_wait(e)) {
		put_seconds(line, te->weight);
		buf_str(line, " in ");
		count(line, te->got, prof_is_sampled_wait(e)
		      ? te->got == 1 ? " poll" : " polls"
		      : te->got == 1 ? " wait" : " waits");
		flush_line(line, columns, out);
		return;
	}
	if (prof_is_waking(e)) {
		put_seconds(line, te->weight);
		buf_str(line, " of waits with a known end, in ");
		count(line, te->got, te->got == 1 ? " sample" : " samples");
		flush_line(line, columns, out);
		return;
	}
	if (prof_is_latency(e)) {
		buf_printf(line, "%.3f s of wall-clock time, divided among the "
			   "threads that ran", (double)te->weight / 1e9);
		flush_line(line, columns, out);
		return;
	}
	count(line, te->got, te->got == 1 ? " sample" : " samples");
	if (te->wanted) {
		buf_str(line, " of ");
		count(line, te->wanted, " expected");
	}
	if (e->freq)
		buf_printf(line, " at %llu Hz", (unsigned long long)e->freq);
	buf_str(line, ", ");
	count(line, te->lost, " lost");
	missed(te, line);
	if (te->throttled) {
		buf_str(line, ", throttled ");
		count(line, te->throttled, " times");
	}
	if (precision(e))
		buf_printf(line, ", %s", precision(e));
	if (te->running_ns < te->enabled_ns)
		buf_printf(line, ", counting %.1f%% of the time (multiplexed)",
			   line_share(te->running_ns, te->enabled_ns));
	flush_line(line, columns, out);
}

/* Writes losses that no event accounts for. */
static void loss_line(const struct quality *t, int columns, struct buf *line,
		      struct buf *out)
{
	uint64_t lost = t->lost, throttled = t->throttled;

	for (size_t i = 0; i < t->p->events.n; i++) {
		lost -= t->events[i].lost;
		throttled -= t->events[i].throttled;
	}
	if (!lost && !throttled)
		return;
	if (lost) {
		buf_str(line, "Lost: ");
		count(line, lost, " more samples of an unknown event");
	}
	if (throttled) {
		buf_str(line, lost ? "; throttled " : "Throttled ");
		count(line, throttled, " times");
	}
	flush_line(line, columns, out);
}

/* Writes the reduced rate; expected samples are relative to it. */
static void rate_line(const struct quality *t, int columns, struct buf *line,
		      struct buf *out)
{
	const char *thinned = profile_fact(t->p, PROF_ENV_THINNED);

	if (!*thinned)
		return;
	buf_str(line, "Rate lowered temporarily because the recorder could not "
		"keep up: ");
	count(line, strtoull(thinned, NULL, 10), " samples");
	buf_str(line, " omitted; the remaining samples have their weight");
	flush_line(line, columns, out);
}

static void stack_line(const struct quality *t, int columns, struct buf *line,
		       struct buf *out)
{
	quality_stacks(t, line);
	if (line->n)
		flush_line(line, columns, out);
}

/* Returns the image with the most unresolved samples after `last` (NULL: of
 * all).  Equal ones are ordered by their place in the table. */
static const struct quality_image *
next_unresolved(const struct quality *t, const struct quality_image *last)
{
	const struct quality_image *best = NULL;

	for (size_t i = 0; i < t->images.n; i++) {
		const struct quality_image *x = &t->images.v[i];

		if (last && (x->unresolved > last->unresolved ||
			     (x->unresolved == last->unresolved && x <= last)))
			continue;
		if (!best || x->unresolved > best->unresolved)
			best = x;
	}
	return best;
}

/* Writes the worst images.  Reasons and remedies are below the table and in
 * `tally info`. */
static void unresolved_line(const struct quality *t, int columns,
			    struct buf *line, struct buf *out)
{
	const struct quality_image *ti = NULL;

	if (!t->unresolved)
		return;
	buf_printf(line, "Unresolved: %.1f%% of samples",
		   line_share(t->unresolved, t->shown));
	for (int listed = 0; listed < IMAGES_LISTED; listed++) {
		const struct prof_image *im;
		double share;

		ti = next_unresolved(t, ti);
		share = ti ? line_share(ti->unresolved, t->shown) : 0;
		if (share < 0.05)
			break;
		im = &t->p->images.v[ti->image];
		buf_str(line, listed ? "; " : ": ");
		text_safe(line, path_base(profile_cstr(t->p, im->path)));
		buf_printf(line, " %.1f%%", share);
	}
	buf_str(line, "; see tally info");
	flush_line(line, columns, out);
}

static void shown_line(const struct quality *t, int columns, struct buf *line,
		       struct buf *out)
{
	if (t->shown == t->got)
		return;
	buf_str(line, "Selected: ");
	count(line, t->shown, " of ");
	count(line, t->got, " samples");
	buf_printf(line, " (%.1f%%); percentages are relative to these",
		   line_share(t->shown, t->got));
	flush_line(line, columns, out);
}

/* Writes the events.  If there are many tracepoints (sched:*), those without
 * samples share a line. */
static void events_text(const struct quality *t, int columns, struct buf *line,
			struct buf *out)
{
	enum { SHOWN = 8 };
	size_t n = t->p->events.n, silent = 0;

	for (size_t i = 0; i < n; i++) {
		const struct quality_event *te = &t->events[i];

		if (n > SHOWN && !te->got && !te->lost && !te->wanted)
			silent++;
		else
			event_line(t, i, columns, line, out);
	}
	if (!silent)
		return;
	count(line, silent, " more events without samples: tally info");
	flush_line(line, columns, out);
}

static double number_fact(const struct profile *p, const char *key)
{
	return strtod(profile_fact(p, key), NULL);
}

/* Writes that there were too many waits to sample all. */
static void waits_paused(const struct profile *p, struct buf *line)
{
	if (!profile_env(p, PROF_NONE, "wait_pauses_from_ns"))
		return;
	buf_printf(line, "From %.1f s on, there were too many waits to sample each "
		   "(up to ", number_fact(p, "wait_pauses_from_ns") / 1e9);
	count(line, (uint64_t)number_fact(p, "wait_rate"), " a second): ");
	count(line, (uint64_t)number_fact(p, "wait_count_exact"), " of ");
	count(line, (uint64_t)number_fact(p, "wait_count"),
	      " waits have their stack from the switch; record --wait=all samples each");
}

/* Writes how the stacks of waits were found, by time. */
static void wait_line(const struct quality *t, int columns, struct buf *line,
		      struct buf *out)
{
	static const struct {
		const char *key, *text;
	} kinds[] = {
		{ "wait_ns_exact", " have their stack from the switch" },
		{ "wait_ns_looked", " from a poll of the sleeping thread" },
		{ "wait_ns_no_stack", " have no stack (too short to be polled, "
				      "or not readable)" },
		{ "wait_ns_unknown", " are unknown because switch records were "
				     "lost" },
	};
	enum { N = COUNT(kinds) };
	uint64_t ns[N], sum = 0;
	const char *thinned;
	bool first = true;

	for (size_t i = 0; i < N; i++) {
		ns[i] = strtoull(profile_fact(t->p, kinds[i].key), NULL, 10);
		sum += ns[i];
	}
	for (size_t i = 0; i < N && sum; i++) {
		double share = line_share(ns[i], sum);

		if (share < 0.05)
			continue;
		buf_printf(line, "%s%.1f%%%s", first ? "Of the time blocked " : ", ",
			   share, kinds[i].text);
		first = false;
	}
	thinned = profile_env(t->p, PROF_NONE, "wait_thinning_ns");
	if (thinned && sum)
		buf_printf(line, "%s waits below %.0f us are thinned",
			   first ? "Of those" : "; of those",
			   (double)strtoull(thinned, NULL, 10) / 1e3);
	if (line->n)
		flush_line(line, columns, out);
	if (sum)
		waits_paused(t->p, line);
	if (line->n)
		flush_line(line, columns, out);
}

/* Writes why there is nothing to show, and what would help.  The samples of a damaged
 * file may be in what is missing. */
static void why_line(const struct quality *t, int columns, struct buf *line,
		     struct buf *out)
{
	struct buf why = { 0 };

	if (!t->got && !t->lost && !t->damage->message[0])
		profile_why_unsampled(t->p, &why);
	if (why.n) {
		buf_str(line, "No samples: ");
		text_safe(line, buf_cstr(&why));
		flush_line(line, columns, out);
	}
	buf_close(&why, out);
}

/* Writes which programs the source could not record. */
static void not_recorded_line(const struct quality *t, int columns,
			      struct buf *line, struct buf *out)
{
	const char *programs = profile_fact(t->p, "not_recorded");

	if (!*programs || (!t->got && !t->lost))
		return;		/* said by why_line */
	buf_str(line, "Not recorded: ");
	text_safe(line, programs);
	flush_line(line, columns, out);
}

void quality_text(const struct quality *t, int columns, struct buf *out)
{
	struct buf line = { 0 };
	bool named;

	what_line(t, columns, &line, out);
	events_text(t, columns, &line, out);
	wait_line(t, columns, &line, out);
	why_line(t, columns, &line, out);
	loss_line(t, columns, &line, out);
	named = quality_time_text(t, &line);
	if (line.n)
		flush_line(&line, columns, out);
	if (!named)
		not_recorded_line(t, columns, &line, out);
	rate_line(t, columns, &line, out);
	stack_line(t, columns, &line, out);
	unresolved_line(t, columns, &line, out);
	if (t->damage->message[0]) {
		buf_str(&line, "Damaged: ");
		text_safe(&line, t->damage->message);
		flush_line(&line, columns, out);
	}
	shown_line(t, columns, &line, out);
	buf_fini(&line);
}
