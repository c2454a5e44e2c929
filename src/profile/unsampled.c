// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "profile/model.h"

static uint64_t counted(const struct profile *p, uint32_t event)
{
	uint64_t sum = 0, ran = 0;

	for (size_t i = 0; i < p->stats.n; i++)
		if (p->stats.v[i].event == event)
			sum += p->stats.v[i].value;
	/* A source that did not get into a program counts nothing of it. */
	for (size_t i = 0; i < p->runs.n; i++)
		ran += p->runs.v[i].user_ns + p->runs.v[i].sys_ns;
	return p->events.v[event].unit == PROF_UNIT_NS && ran > sum ? ran : sum;
}

void profile_why_unsampled(const struct profile *p, struct buf *out)
{
	const struct prof_event *e = p->events.v;
	uint64_t n, most = 0;

	if (!p->stats.n)
		return;
	for (uint32_t i = 0; i < p->events.n; i++) {
		n = counted(p, i);
		most = n > most ? n : most;
	}
	if (!most)
		buf_str(out, "nothing that was to be recorded ran");
	/* Each thread's first sample may take a whole period to come. */
	else if (p->events.n > 1 || most > prof_event_period(e) * (p->threads.n + 1))
		return;
	else if (e->unit == PROF_UNIT_NS)
		buf_printf(out, "what was to be recorded ran for %.2f ms, and "
			   "a sample is taken every %.2f ms",
			   (double)most / 1e6, (double)prof_event_period(e) / 1e6);
	else
		buf_printf(out, "%" PRIu64 " were counted, and a sample is "
			   "taken every %" PRIu64, most, prof_event_period(e));
}
