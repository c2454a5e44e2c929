// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processor time as the kernel counted it, beside what samples stand for: where
 * the source does not see the kernel, and cannot get into every program, this
 * tells how much of the whole is there.  See truth.h.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "views/lines.h"
#include "views/truth.h"

static const char *env(const struct truth *t, const char *key)
{
	const char *v = profile_env(t->p, PROF_NONE, key);

	return v ? v : "";
}

static bool source_is_blind(const struct truth *t)
{
	const char *source = env(t, "source");

	return !strcmp(source, "timers in the program") ||
	       !strcmp(source, "ptrace");
}

/*
 * What a thread ran since its last sample is nobody's: as likely more as less
 * than a period beside what its first one stood for.  Three such errors of all
 * threads, and what starting programs takes before anyone can look.
 */
static uint64_t missing(const struct truth *t, uint64_t counted,
			uint64_t sampled)
{
	double threads = (double)t->p->threads.n + 1;
	double chance = 3 * sqrt(threads) *
			(double)prof_event_period(&t->p->events.v[0]) +
			(double)counted / 50;

	return counted > sampled && (double)(counted - sampled) > chance
	       ? counted - sampled : 0;
}

bool truth_time(const struct truth *t, struct truth_time *out)
{
	const struct prof_event *e = t->p->events.v;
	uint64_t counted;

	*out = (struct truth_time){ 0 };
	for (size_t i = 0; i < t->p->runs.n; i++) {
		out->user_ns += t->p->runs.v[i].user_ns;
		out->sys_ns += t->p->runs.v[i].sys_ns;
	}
	if (!(out->user_ns | out->sys_ns) || t->p->events.n != 1 ||
	    e->unit != PROF_UNIT_NS || t->running || !source_is_blind(t))
		return false;
	out->sampled_ns = t->events[0].weight;
	counted = (e->exclude_user ? 0 : out->user_ns) +
		  (e->exclude_kernel ? 0 : out->sys_ns);
	/* Samples were lost, or came later: the count is of the whole. */
	if (!*env(t, "delay"))
		out->missing_ns = missing(t, counted, out->sampled_ns);
	return true;
}

/* Why, as far as it is known. */
static void why(const struct truth *t, struct buf *out)
{
	const char *threads = env(t, "threads_without_timer");
	const char *programs = env(t, "not_recorded");

	if (*threads) {
		buf_str(out, ": ");
		text_safe(out, threads);
		buf_str(out, strcmp(threads, "1") ? " threads" : " thread");
		buf_str(out, " without a timer");
	}
	if (*programs) {
		buf_str(out, *threads ? "; not recorded " : ": not recorded ");
		text_safe(out, programs);
	}
}

void truth_time_text(const struct truth *t, struct buf *out)
{
	struct truth_time c;
	uint64_t all;

	if (!truth_time(t, &c))
		return;
	all = c.user_ns + c.sys_ns;
	buf_str(out, "Processor time by the kernel's count: ");
	line_duration(out, all);
	buf_printf(out, ", %.1f%% of it in the kernel", line_share(c.sys_ns, all));
	buf_str(out, "; by samples: ");
	line_duration(out, c.sampled_ns);
	if (t->shown == t->got)
		buf_printf(out, ", %.1f%% [kernel]",
			   line_share(t->in_kernel, t->weight));
	if (!c.missing_ns)
		return;
	buf_printf(out, "; %.1f%% has no samples",
		   line_share(c.missing_ns, all));
	why(t, out);
}

void truth_time_json(const struct truth *t, struct json *j)
{
	struct truth_time c;

	if (!truth_time(t, &c))
		return;
	json_object(j, "processor_time");
	json_uint(j, "user_ns", c.user_ns);
	json_uint(j, "sys_ns", c.sys_ns);
	json_uint(j, "sampled_ns", c.sampled_ns);
	json_uint(j, "missing_ns", c.missing_ns);
	json_end(j);
}
