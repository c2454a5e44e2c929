// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums samples by thread, time slice and node of the graph or location. */
#include <stdlib.h>
#include <string.h>

#include "views/html/html_data.h"

enum { CALLS_KEPT = 4 << 20 };	/* calls of all stacks; beyond, all are dropped */

struct summer {
	struct html_data *d;
	struct html_source *s;
	struct u64map nodes, locs, calls;	/* packed key to entry */
	struct html_call_walk walk;
	/*
	 * Calls of each stack walked so far, because many samples share few
	 * stacks. kept_at, by leaf (aggregate.h), is 0 or the index in `kept`
	 * of a stack's first call.  The element before it is the number of
	 * calls.
	 */
	size_t *kept_at;
	VEC(uint32_t) kept;
	uint32_t *keep;
	bool timed;		/* samples have times */
};

static int index_entries(struct u64map *map, const struct html_entries *e)
{
	u64map_clear(map);
	for (size_t i = 0; i < e->v.n; i++) {
		uint32_t *id = u64map_slot(map, html_entry_key(&e->v.v[i]));

		if (!id)
			return -ERR_NOMEM;
		*id = (uint32_t)i;
	}
	return 0;
}

/* Reduces the number of entries by doubling the width of time slices until a single
 * slice is left, and then by merging cohorts. */
static int coarsen(struct summer *s)
{
	struct html_data *d = s->d;

	if (d->buckets == 1 && d->labels.cohorts.n <= d->lanes.n)
		return 0;
	if ((d->buckets > 1 ? html_coarsen(d) : html_fewer_cohorts(d)) < 0 ||
	    index_entries(&s->nodes, &d->entries) < 0 ||
	    index_entries(&s->locs, &d->lines.entries) < 0)
		return -ERR_NOMEM;
	return index_entries(&s->calls, &d->lines.call_entries);
}

static int add_entry(struct u64map *map, struct html_entries *to,
		     struct html_entry e)
{
	uint32_t *id = u64map_slot(map, html_entry_key(&e));

	if (!id)
		return -ERR_NOMEM;
	if (*id != U64MAP_NONE) {
		cell_add(&to->v.v[*id].c, e.c);
		return 0;
	}
	*id = (uint32_t)to->v.n;
	return vec_push(&to->v, e);
}

static int keep_calls(struct summer *s, uint32_t stack, size_t *at)
{
	const struct html_source *src = s->s;
	const struct aggregate *agg = &src->in.rep->agg;
	size_t first;

	if (html_walk_calls(&s->walk, s->d, src, stack) < 0)
		return -ERR_NOMEM;
	if (s->kept.n > CALLS_KEPT) {
		s->kept.n = 0;
		memset(s->kept_at, 0,
		       (agg->leaves.n + 1) * sizeof(*s->kept_at));
	}
	first = s->kept.n;
	if (vec_reserve(&s->kept, first + 1 + s->walk.steps.n) < 0)
		return -ERR_NOMEM;
	s->kept.n++;
	for (size_t i = 0; i < s->walk.steps.n; i++) {
		uint32_t call = src->call_of[s->walk.steps.v[i]];

		if (call != PROF_NONE)
			s->kept.v[s->kept.n++] = call;
	}
	s->kept.v[first] = (uint32_t)(s->kept.n - first - 1);
	*at = first + 1;
	return 0;
}

/* Adds a sample to the calls in its stack. */
static int add_calls(struct summer *s, uint32_t stack, struct html_entry e)
{
	size_t leaf = s->s->in.rep->agg.leaf_of[stack];
	size_t *at = &s->kept_at[leaf], from, n;
	int rc = *at && leaf ? 0 : keep_calls(s, stack, at);

	if (rc)
		return rc;
	from = *at;
	n = s->kept.v[from - 1];
	for (size_t i = 0; !rc && i < n; i++) {
		e.node = s->kept.v[from + i];
		rc = add_entry(&s->calls, &s->d->lines.call_entries, e);
	}
	return rc;
}

static uint8_t bucket_of(const struct summer *s, uint64_t time_ns)
{
	uint64_t start = s->s->start_ns, at;

	at = time_ns > start ? (time_ns - start) / s->d->width_ns : 0;
	return (uint8_t)(at < s->d->buckets ? at : s->d->buckets - 1);
}

/* Adds the part of a sample in one time slice. */
static int add_part(struct summer *s, uint32_t stack, uint32_t leaf,
		    struct html_entry e)
{
	struct html_data *d = s->d;
	const struct html_source *src = s->s;

	if (add_entry(&s->nodes, &d->entries, e) < 0)
		return -ERR_NOMEM;
	e.node = src->loc_of && leaf < src->in.rep->p->locs.n
		 ? src->loc_of[leaf] : PROF_NONE;
	if (e.node != PROF_NONE &&
	    add_entry(&s->locs, &d->lines.entries, e) < 0)
		return -ERR_NOMEM;
	if (src->call_of && d->lines.calls.n && add_calls(s, stack, e) < 0)
		return -ERR_NOMEM;
	return 0;
}

/* Adds a wait.  Each time slice gets the time that the wait took of it, and the
 * last one counts it. */
static int add_wait(struct summer *s, const struct sample_batch *b, size_t i,
		    uint32_t leaf, struct html_entry e)
{
	uint64_t start = s->s->start_ns, width = s->d->width_ns;
	uint64_t end_ns = b->time_ns[i], left = b->weight[i];
	uint64_t begin_ns = end_ns > left ? end_ns - left : 0;
	uint8_t first = bucket_of(s, begin_ns);
	int rc = 0;

	for (uint8_t at = e.bucket; at > first && !rc; at--) {
		uint64_t from = start + at * width;

		/* the last slice includes everything after it */
		e.bucket = at;
		e.c.weight = end_ns > from ? end_ns - from : 0;
		if (e.c.weight > left)
			e.c.weight = left;
		left -= e.c.weight;
		end_ns = from;
		rc = add_part(s, b->stack[i], leaf, e);
		e.c.count = 0;
	}
	e.bucket = first;
	e.c.weight = left;
	return rc ? rc : add_part(s, b->stack[i], leaf, e);
}

/* Returns whether a sample has a time of its own.  All samples of a run that was
 * merged have its start, up to the unit of stored times. */
static bool has_time(const struct profile *p, uint32_t thread, uint64_t time_ns)
{
	uint32_t run = p->threads.v[thread].run;
	uint64_t start = run < p->runs.n ? p->runs.v[run].start_ns : 0;

	return time_ns > start ? time_ns - start >= 1000
			       : start - time_ns >= 1000;
}

static int add_sample(struct summer *s, const struct sample_batch *b, size_t i)
{
	struct html_data *d = s->d;
	const struct html_source *src = s->s;
	const struct report *rep = src->in.rep;
	uint32_t leaf = rep->p->nodes.v[b->stack[i]].loc;
	struct html_entry e = {
		.node = src->node_of[b->stack[i]],
		.event = src->col_of[rep->agg.col_of[b->event[i]]],
		.cohort = src->cohort_of[b->thread[i]],
		.kind = html_kind(src, &rep->p->events.v[b->event[i]],
				  b->stack[i]),
		.bucket = bucket_of(s, b->time_ns[i]),
		.c = batch_cell(b, i),
	};
	int rc;

	if (!s->timed)
		s->timed = has_time(rep->p, b->thread[i], b->time_ns[i]);
	if (e.node == PROF_NONE)
		return 0;
	rc = prof_is_wait(&rep->p->events.v[b->event[i]])
	     ? add_wait(s, b, i, leaf, e) : add_part(s, b->stack[i], leaf, e);
	if (rc < 0)
		return rc;
	return d->entries.v.n > HTML_ENTRIES_MAX ? coarsen(s) : 0;
}

static int sum_samples(struct summer *s)
{
	const struct selection *sel = &s->s->in.rep->sel;
	bool filters = selection_filters(sel);
	struct sample_batch b;
	int rc = 0;

	free(s->kept_at);
	s->kept_at = calloc(s->s->in.rep->agg.leaves.n + 1,
			    sizeof(*s->kept_at));
	s->kept.n = 0;
	if (!s->kept_at)
		return -ERR_NOMEM;
	reader_columns(s->s->in.r, COLUMN_ALL);
	reader_rewind(s->s->in.r);
	while (!rc && reader_next(s->s->in.r, &b)) {
		size_t n = filters ? selection_apply(sel, &b, s->keep) : b.n;

		for (size_t i = 0; !rc && i < n; i++)
			rc = add_sample(s, &b, filters ? s->keep[i] : i);
	}
	return rc;
}

/* Makes all of the time one slice, without merging equal entries. */
static void drop_times(struct html_data *d)
{
	struct html_entries *all[] = { &d->entries, &d->lines.entries,
				       &d->lines.call_entries };

	for (size_t i = 0; i < COUNT(all); i++)
		for (size_t k = 0; k < all[i]->v.n; k++)
			all[i]->v.v[k].bucket = 0;
	d->width_ns *= d->buckets;
	d->buckets = 1;
}

int html_samples(struct html_data *d, struct error *err)
{
	struct summer s = { .d = d };
	int rc;

	s.keep = malloc(SAMPLE_BATCH * sizeof(*s.keep));
	rc = s.keep ? html_call_walk_init(&s.walk, d) : -ERR_NOMEM;
	for (size_t i = 0; !rc && i < d->nsrc; i++) {
		s.s = &d->src[i];
		rc = sum_samples(&s);
	}
	if (!rc && !s.timed)
		drop_times(d);
	if (!rc)
		rc = html_entries_merge(&d->entries) ?:
		     html_entries_merge(&d->lines.entries) ?:
		     html_entries_merge(&d->lines.call_entries);
	html_call_walk_fini(&s.walk);
	u64map_fini(&s.nodes);
	u64map_fini(&s.locs);
	u64map_fini(&s.calls);
	free(s.keep);
	free(s.kept_at);
	vec_fini(&s.kept);
	return rc < 0 ? error_nomem(err) : 0;
}
