// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects the rows of the timeline, and finds where its time begins. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/html/html_data.h"

/* maximum recordings with a lane per thread; with more, each is one lane */
enum { SOURCES_BY_THREAD = 2 };

/* Sorts rows of one thread, whose name may change, next to each other. */
static int by_thread(const void *x, const void *y, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t ia = *(const uint32_t *)x, ib = *(const uint32_t *)y;
	const struct prof_thread *a = &p->threads.v[ia], *b = &p->threads.v[ib];

	return ascending(a->run, b->run) ?:
	       ascending(a->pid, b->pid) ?:
	       ascending(a->tid, b->tid) ?:
	       ascending(ia, ib);
}

static bool same_lane(const struct html_data *d, const struct page_thread *l,
		      uint32_t source, const struct prof_thread *t)
{
	if (d->nsrc > SOURCES_BY_THREAD)
		return l->source == source;
	return l->source == source && l->run == t->run && l->pid == t->pid &&
	       l->tid == t->tid;
}

static int group_threads(struct html_data *d, uint32_t source, uint32_t *order,
			 const uint64_t *samples)
{
	struct html_source *s = &d->src[source];
	const struct profile *p = s->in.rep->p;

	for (size_t i = 0; i < p->threads.n; i++)
		order[i] = (uint32_t)i;
	sort_rows_r(order, p->threads.n, by_thread, (void *)p);
	for (size_t i = 0; i < p->threads.n; i++) {
		const struct prof_thread *t = &p->threads.v[order[i]];
		struct page_thread *l = d->lanes.n
					      ? &d->lanes.v[d->lanes.n - 1]
					      : NULL;

		if (!l || !same_lane(d, l, source, t)) {
			struct page_thread new = { source, t->run, t->pid,
						 t->tid,
						 profile_cstr(p, t->comm),
						 0, 0 };

			if (vec_push(&d->lanes, new) < 0)
				return -ERR_NOMEM;
			l = &d->lanes.v[d->lanes.n - 1];
		}
		if (samples[order[i]])
			l->comm = profile_cstr(p, t->comm);
		l->samples += samples[order[i]];
		s->lane_of[order[i]] = (uint32_t)d->lanes.n - 1;
	}
	return 0;
}

struct lane_order {
	uint64_t samples;
	uint32_t lane, side;
	bool by_lane;		/* sort in the order of the recordings */
};

static int by_samples(const void *x, const void *y)
{
	const struct lane_order *a = x, *b = y;

	return descending(a->samples, b->samples) ?:
	       ascending(a->lane, b->lane);
}

/* Sorts the baseline's lanes first, and each side's most expensive first.
 * Lanes of many recordings keep their order. */
static int by_side(const void *x, const void *y)
{
	const struct lane_order *a = x, *b = y;

	if (a->side != b->side)
		return a->side > b->side ? -1 : 1;
	if (a->by_lane)
		return ascending(a->lane, b->lane);
	return by_samples(x, y);
}

/* Drops threads without samples.  Threads beyond HTML_LANES become one lane. */
static void place_lanes(struct html_data *d, struct lane_order *order,
			uint32_t *to, struct page_thread *lanes)
{
	size_t n = d->lanes.n, used = 0, kept;

	for (size_t i = 0; i < n; i++) {
		const struct page_thread *l = &d->lanes.v[i];

		order[i] = (struct lane_order){ l->samples, (uint32_t)i,
						d->src[l->source].in.side,
						d->nsrc > SOURCES_BY_THREAD };
		used += l->samples > 0;
	}
	sort_rows(order, n, by_samples);
	kept = used > HTML_LANES ? HTML_LANES - 1 : used;
	if (d->nsrc > 1)
		sort_rows(order, kept, by_side);
	for (size_t i = 0; i < n; i++) {
		size_t at = i < HTML_LANES ? i : HTML_LANES - 1;
		struct page_thread *l = &d->lanes.v[order[i].lane];

		to[order[i].lane] = (uint32_t)at;
		if (i < used && at == HTML_LANES - 1 && used > HTML_LANES) {
			lanes[at].samples += l->samples;
			lanes[at].others++;
		} else if (i < used) {
			lanes[at] = *l;
		}
	}
	free(d->lanes.v);
	d->lanes.v = lanes;
	d->lanes.n = used < HTML_LANES ? used : HTML_LANES;
	d->lanes.cap = HTML_LANES;
}

static int order_lanes(struct html_data *d)
{
	size_t n = d->lanes.n;
	struct lane_order *order = malloc((n + 1) * sizeof(*order));
	uint32_t *to = malloc((n + 1) * sizeof(*to));
	struct page_thread *lanes = calloc(HTML_LANES, sizeof(*lanes));
	int rc = order && to && lanes ? 0 : -ERR_NOMEM;

	if (!rc)
		place_lanes(d, order, to, lanes);
	else
		free(lanes);
	for (size_t s = 0; !rc && s < d->nsrc; s++)
		for (size_t i = 0; i < d->src[s].in.rep->p->threads.n; i++)
			d->src[s].lane_of[i] = to[d->src[s].lane_of[i]];
	free(order);
	free(to);
	return rc;
}

/* Counts the selected samples of each thread row. */
static void count_threads(const struct html_source *s, uint32_t *keep,
			  uint64_t *samples)
{
	const struct selection *sel = &s->in.rep->sel;
	bool filters = selection_filters(sel);
	struct sample_batch b;

	reader_columns(s->in.r, filters ? COLUMN_ALL
					 : COLUMN_THREAD | COLUMN_MORE);
	reader_rewind(s->in.r);
	while (reader_next(s->in.r, &b)) {
		size_t n = filters ? selection_apply(sel, &b, keep) : b.n;

		for (size_t i = 0; i < n; i++) {
			size_t row = filters ? keep[i] : i;

			samples[b.thread[row]] += b.more[row] + 1;
		}
	}
}

static int find_lanes(struct html_data *d, uint32_t source)
{
	struct html_source *s = &d->src[source];
	size_t n = s->in.rep->p->threads.n;
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	uint32_t *keep = malloc(SAMPLE_BATCH * sizeof(*keep));
	int rc = -ERR_NOMEM;

	s->lane_of = calloc(n + 1, sizeof(*s->lane_of));
	s->thread_samples = calloc(n + 1, sizeof(*s->thread_samples));
	if (order && keep && s->lane_of && s->thread_samples) {
		count_threads(s, keep, s->thread_samples);
		rc = group_threads(d, source, order, s->thread_samples);
	}
	free(order);
	free(keep);
	return rc;
}

/* Finds the start of the recorded time, and its length. */
static uint64_t find_time(struct html_source *s)
{
	const struct report *rep = s->in.rep;
	uint64_t from = profile_start_ns(rep->p), to = profile_end_ns(rep->p);

	if (to <= from)
		to = rep->agg.last_ns + 1;
	if (rep->sel.timed) {
		from = rep->sel.from_ns > from ? rep->sel.from_ns : from;
		to = rep->sel.to_ns < to ? rep->sel.to_ns : to;
	}
	if (to <= from)
		to = from + 1;
	s->start_ns = from;
	return to - from;
}

int page_threads(struct html_data *d, struct error *err)
{
	uint64_t longest = 1, shown = 0, ns;

	for (uint32_t i = 0; i < d->nsrc; i++) {
		if (find_lanes(d, i) < 0)
			return error_nomem(err);
		ns = find_time(&d->src[i]);
		longest = ns > longest ? ns : longest;
		shown += d->src[i].in.rep->quality.shown;
	}
	d->buckets = shown < 2048 ? HTML_BUCKETS / 4 : HTML_BUCKETS;
	d->width_ns = (longest - 1) / d->buckets + 1;
	return order_lanes(d) < 0 ? error_nomem(err) : 0;
}
