// SPDX-License-Identifier: GPL-2.0-or-later
/* Explains why a recording has no samples and how to get some. */
#include <inttypes.h>
#include <string.h>

#include "profile/model.h"

/* Returns the count of an event.  *inside is false if only rusage provided
 * it. */
static uint64_t counted(const struct profile *p, uint32_t event, bool *inside)
{
	uint64_t sum = 0, ran = 0;

	for (size_t i = 0; i < p->stats.n; i++)
		if (p->stats.v[i].event == event)
			sum += p->stats.v[i].value;
	*inside = sum != 0;
	/* A source that could not enter a program has no count for it. */
	for (size_t i = 0; i < p->runs.n; i++)
		ran += p->runs.v[i].user_ns + p->runs.v[i].sys_ns;
	return !sum && p->events.v[event].unit == PROF_UNIT_NS ? ran : sum;
}

/* Explains that nothing was counted. */
static void nothing_counted(const struct profile *p, struct buf *out)
{
	const struct prof_event *e = p->events.v;
	const char *target = profile_fact(p, "target");

	if (p->events.n > 1)
		buf_str(out, "none of the events occurred");
	else if (e->unit != PROF_UNIT_NS)
		buf_printf(out, "%s did not occur%s",
			   prof_event_actual(p, e), *profile_cstr(p, e->note)
			   ? ", or not as requested" : "");
	else if (!strncmp(target, "pid", 3) || !strncmp(target, "tid", 3))
		buf_str(out, "the recorded programs did not run: they slept or "
			"waited; record for longer, or record where they wait "
			"(--wait)");
	else
		buf_str(out, "the recorded programs did not run");
}

/* Explains that the only event occurred too rarely for a sample. */
static void too_little(const struct prof_event *e, uint64_t n, struct buf *out)
{
	uint64_t period = prof_event_period(e);

	if (e->unit == PROF_UNIT_NS)
		buf_printf(out, "the recorded programs ran for %.2f ms, and "
			   "a sample is taken every %.2f ms of a thread's time; ",
			   (double)n / 1e6, (double)period / 1e6);
	else
		buf_printf(out, "%" PRIu64 " were counted, and a sample is "
			   "taken every %" PRIu64 "; ", n, period);
	buf_printf(out, "sample more often (%s) or record for longer "
		   "(--repeat 100)",
		   e->freq ? "-F 20000" : "-c with a smaller period");
}

/* Explains that the programs that ran were not allowed to be recorded. */
static void not_recorded(const struct prof_event *e, uint64_t n,
			 const char *programs, struct buf *out)
{
	if (e->unit == PROF_UNIT_NS)
		buf_printf(out, "the programs that could be recorded ran for "
			   "%.2f ms; ", (double)n / 1e6);
	buf_printf(out, "not recorded: %s", programs);
}

void profile_why_unsampled(const struct profile *p, struct buf *out)
{
	const char *known = profile_env(p, PROF_NONE, "no_samples");
	const char *closed = profile_env(p, PROF_NONE, "not_recorded");
	const struct prof_event *e = p->events.v;
	uint64_t n, most = 0;
	bool inside = false, any = false;

	if (known) {
		buf_str(out, known);
		return;
	}
	if (!p->stats.n || !p->events.n)
		return;
	for (uint32_t i = 0; i < p->events.n; i++) {
		n = counted(p, i, &any);
		inside |= any;
		most = n > most ? n : most;
	}
	if (closed && (inside || !most))
		not_recorded(p->events.v, most, closed, out);
	else if (!most)
		nothing_counted(p, out);
	/* ptrace counts the time of samples only */
	else if (!inside && most > prof_event_period(e))
		buf_printf(out, "programs ran for %.2f ms, but the source of "
			   "samples did not work in them; try another --source "
			   "(tally doctor)", (double)most / 1e6);
	else if (p->events.n > 1)
		buf_str(out, "no event was counted often enough for a sample; "
			"sample more often (-F, -c) or record for longer");
	/* Each thread's first sample may take a whole period to occur. */
	else if (most <= prof_event_period(e) * (p->threads_gone + p->threads.n + 1))
		too_little(e, most, out);
	else if (e->exclude_kernel)
		buf_str(out, *profile_cstr(p, e->note)
			? "none was in user space, and kernel code was not sampled"
			: "none was in user space, and only user space was "
			  "sampled (--user)");
	else if (e->exclude_user)
		buf_str(out, "none was in the kernel, and only the kernel was "
			"sampled (--kernel)");
}
