// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes what the source of a run has: records and counts. */
#include "base/clock.h"
#include "record/collect/collect_waits.h"
#include "record/run.h"

/* Data is written at least once a second; records take two rounds to be in order.  With
 * `calm`, every five seconds: larger chunks take 14 % less space. */
#define FLUSH_NS 600000000u
#define FLUSH_CALM_NS 4500000000u

int run_failed(struct run *r, int rc, struct error *err)
{
	struct session *s = r->s;
	struct error ignored;

	if (rc >= 0 || s->failure.code)
		return rc < 0 ? 0 : rc;
	s->failure = *err;
	/* What arrived before another error than the writer's is kept. */
	if (s->writer && collector_release(&s->collector, &ignored) >= 0)
		session_flush(s, &ignored);
	s->collector.writer = NULL;
	session_notice(s, "%s; nothing more is recorded", err->msg);
	if (!r->launch.pid)
		r->done = true;
	return 0;
}

int run_counts(struct run *r, bool final, struct error *err)
{
	struct session *s = r->s;
	int rc = 0;

	for (size_t e = 0; e < r->source->nevents && !rc; e++) {
		struct source_count c;
		struct prof_stat row = { .run = r->number,
					 .event = (uint32_t)e };

		rc = r->source->ops->count(r->source, e, &c, collector_record,
					   &s->collector, err);
		row.value = c.value;
		row.enabled_ns = c.enabled_ns;
		row.running_ns = c.running_ns;
		row.wanted = c.wanted;
		if (r->source->waits && e >= r->source->blocked)
			row.value = collect_waits_ns(&s->collector, e);
		if (e < s->collector.left_out.n) {
			const struct left_out *o = &s->collector.left_out.v[e];

			row.value -= o->weight < row.value ? o->weight : row.value;
			row.wanted -= o->n < row.wanted ? o->n : row.wanted;
		}
		if (e < s->rotation.counted.n) {
			const struct prof_stat *reported = &s->rotation.counted.v[e];

			row.value -= reported->value;
			row.enabled_ns -= reported->enabled_ns;
			row.running_ns -= reported->running_ns;
			row.wanted = row.wanted > reported->wanted
				     ? row.wanted - reported->wanted : 0;
		}
		if (!rc && final && vec_push(&s->profile.stats, row) < 0)
			rc = error_nomem(err);
	}
	return rc;
}

/* Makes the source follow all threads onto a CPU that came online. */
static int follow(struct run *r, struct error *err)
{
	struct processes *p = &r->s->collector.processes;
	id_list tids = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->tasks.n && !rc; i++)
		if (p->tasks.v[i].tid)
			rc = vec_push(&tids, p->tasks.v[i].tid);
	for (size_t i = 0; i < r->threads.n && !rc; i++)
		if (!processes_find_task(p, r->threads.v[i]))
			rc = vec_push(&tids, r->threads.v[i]);
	rc = rc < 0 ? error_set(err, ERR_NOMEM, "out of memory for threads")
		    : r->source->ops->follow(r->source, tids.v, tids.n, err);
	vec_fini(&tids);
	return rc;
}

int run_note_load(struct run *r, struct error *err)
{
	const struct source *src = r->source;
	const struct rotation *before = &r->s->rotation;
	uint64_t shortened = r->s->shortened + src->shortened - before->shortened;
	uint64_t thinned = r->s->thinned + src->thinned - before->thinned;
	struct profile *p = &r->s->profile;
	int rc = !shortened ? 0
		 : profile_set_number(p, PROF_NONE, PROF_ENV_SHORTENED, shortened);

	if (rc >= 0 && thinned)
		rc = profile_set_number(p, PROF_NONE, PROF_ENV_THINNED, thinned);
	return rc < 0 ? error_nomem(err) : 0;
}

int run_drain(struct run *r, bool all, struct error *err)
{
	struct session *s = r->s;
	uint64_t now = clock_now();
	int rc = collector_round(&s->collector, err);

	if (rc >= 0)
		rc = r->source->ops->drain(r->source, all, collector_record,
					   &s->collector, err);

	if (rc >= 0 && s->collector.wait_samples.on)
		collect_waits_source(&s->collector, r->source);
	if (rc >= 0 && all && s->collector.wait_samples.on)
		rc = collect_waits_end(&s->collector, r->source->stopped_ns
				? r->source->stopped_ns
				: s->profile.runs.v[r->number].end_ns, err);
	rc = run_failed(r, rc, err);
	if (rc < 0)
		return rc;
	r->drained_ns = now;
	if (r->source->cpu_came && !all) {
		rc = follow(r, err);
		if (rc < 0)
			return rc;
	}
	rc = collector_idle(&s->collector, now, err);
	if (rc < 0)
		return rc;
	if (!all && now - r->flushed_ns <
		    (s->o->calm ? FLUSH_CALM_NS : FLUSH_NS))
		return 0;
	r->flushed_ns = now;
	rc = run_counts(r, all, err);
	if (rc >= 0 && s->writer && !s->failure.code)
		rc = run_failed(r, session_flush(s, err), err);
	return rc;
}
