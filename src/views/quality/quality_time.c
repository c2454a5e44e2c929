// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares CPU time as counted by the kernel with the time that samples
 * represent.
 *
 * If the source does not see the kernel, or cannot get into every program, this
 * shows how much of the total was sampled.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"
#include "views/quality/quality.h"

/* Minimum CPU time per thread, on average: five ticks on most kernels. */
#define SPLIT_NS 20000000u

static bool source_is_blind(const struct quality *t)
{
	const char *source = profile_fact(t->p, "source");

	return !strcmp(source, PROF_SOURCE_TIMER) ||
	       !strcmp(source, PROF_SOURCE_PTRACE);
}

/*
 * Returns the CPU time without samples, or 0 if it is within three standard
 * errors.  CPU time after a thread's last sample is unknown; on average it equals
 * the period charged for its first one.  2 % are allowed for program startup.
 */
static uint64_t missing(const struct quality *t, uint64_t counted,
			uint64_t sampled)
{
	double threads = (double)t->p->threads.n + 1;
	double chance = 3 * sqrt(threads) *
			(double)prof_event_period(&t->p->events.v[0]) +
			(double)counted / 50;

	return counted > sampled && (double)(counted - sampled) > chance
	       ? counted - sampled : 0;
}

/* Returns false if CPU time is unknown, or if no samples can be missed this
 * way. */
static bool quality_time(const struct quality *t, struct quality_time *out)
{
	const struct prof_event *e = t->p->events.v;
	uint64_t counted;

	*out = (struct quality_time){ 0 };
	for (size_t i = 0; i < t->p->runs.n; i++) {
		out->user_ns += t->p->runs.v[i].user_ns;
		out->sys_ns += t->p->runs.v[i].sys_ns;
	}
	if (!(out->user_ns | out->sys_ns) || t->p->events.n != 1 ||
	    e->unit != PROF_UNIT_NS || t->running || !source_is_blind(t))
		return false;
	out->sampled_ns = t->events[0].weight;
	out->too_short = (out->user_ns + out->sys_ns) / (t->p->threads.n + 1) <
			 SPLIT_NS;
	/* Only a full set of samples allows conclusions about the rest. */
	if (t->shown == t->got) {
		out->before_ns = t->before_first;
		out->unseen_ns = t->not_sampled;
		out->sampled_ns -= t->before_first + t->not_sampled;
	}
	counted = (e->exclude_user ? 0 : out->user_ns) +
		  (e->exclude_kernel ? 0 : out->sys_ns);
	/* The kernel's count covers the whole run, so it exceeds the samples if
	 * recording was delayed. */
	if (!*profile_fact(t->p, "delay"))
		out->missing_ns = missing(t, counted, out->sampled_ns +
						      out->before_ns);
	return true;
}

/* Appends the reason, if it is known.  Returns whether it names programs. */
static bool why(const struct quality *t, struct buf *out)
{
	const char *threads = profile_fact(t->p, "threads_without_timer");
	const char *programs = profile_fact(t->p, "not_recorded");

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
	return *programs;
}

bool quality_time_text(const struct quality *t, struct buf *out)
{
	struct quality_time c;
	uint64_t all;

	if (!quality_time(t, &c))
		return false;
	all = c.user_ns + c.sys_ns;
	buf_str(out, "CPU time according to the kernel: ");
	line_duration(out, all);
	/* The kernel splits time by the mode at each tick. */
	if (c.too_short)
		buf_str(out, " (programs too short to divide it into user and "
			"kernel)");
	else
		buf_printf(out, ", %.1f%% of it in the kernel",
			   line_share(c.sys_ns, all));
	buf_str(out, "; by samples: ");
	line_duration(out, c.sampled_ns);
	if (t->shown == t->got)
		buf_printf(out, ", %.1f%% [kernel]",
			   line_share(t->in_kernel, c.sampled_ns));
	if (c.before_ns)
		buf_printf(out, "; %.1f%% before the first samples of programs",
			   line_share(c.before_ns, all));
	if (!c.missing_ns && c.unseen_ns > all / 200)
		buf_printf(out, "; %.1f%% not sampled",
			   line_share(c.unseen_ns, all));
	if (!c.missing_ns)
		return false;
	buf_printf(out, "; %.1f%% has no samples",
		   line_share(c.missing_ns, all));
	return why(t, out);
}

void quality_time_json(const struct quality *t, struct json *j)
{
	struct quality_time c;

	if (!quality_time(t, &c))
		return;
	json_object(j, "processor_time");
	json_uints(j, { "user_ns", c.user_ns }, { "sys_ns", c.sys_ns },
		   { "sampled_ns", c.sampled_ns },
		   { "before_first_ns", c.before_ns },
		   { "missing_ns", c.missing_ns });
	json_end(j);
}
