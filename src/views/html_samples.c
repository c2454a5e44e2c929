// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums samples by thread, time slice and node of the graph. */
#include <stdlib.h>
#include <string.h>

#include "views/html_data.h"

struct summer {
	struct html_data *d;
	struct u64map map;	/* packed key -> entry */
	uint32_t *keep;
};

static int nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for the page");
}

/* Rows of one thread (its name may change) lie together when sorted. */
static int by_thread(const void *x, const void *y, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t ia = *(const uint32_t *)x, ib = *(const uint32_t *)y;
	const struct prof_thread *a = &p->threads.v[ia], *b = &p->threads.v[ib];

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

static int group_threads(struct html_data *d, uint32_t *order,
			 const uint64_t *samples)
{
	const struct profile *p = d->rep->p;

	for (size_t i = 0; i < p->threads.n; i++)
		order[i] = (uint32_t)i;
	if (p->threads.n)
		qsort_r(order, p->threads.n, sizeof(*order), by_thread,
			(void *)p);
	for (size_t i = 0; i < p->threads.n; i++) {
		const struct prof_thread *t = &p->threads.v[order[i]];
		struct html_lane *l = d->lanes.n
					      ? &d->lanes.v[d->lanes.n - 1]
					      : NULL;

		if (!l || l->run != t->run || l->pid != t->pid ||
		    l->tid != t->tid) {
			struct html_lane new = { t->run, t->pid, t->tid,
						 t->comm, 0, 0 };

			if (vec_push(&d->lanes, new) < 0)
				return -ERR_NOMEM;
			l = &d->lanes.v[d->lanes.n - 1];
		}
		if (samples[order[i]])
			l->comm = t->comm;
		l->samples += samples[order[i]];
		d->lane_of[order[i]] = (uint32_t)d->lanes.n - 1;
	}
	return 0;
}

struct lane_order {
	uint64_t samples;
	uint32_t lane;
};

static int by_samples(const void *x, const void *y)
{
	const struct lane_order *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->lane < b->lane ? -1 : a->lane > b->lane;
}

/* Most samples first; threads without any go, what is beyond HTML_LANES becomes
 * one lane. */
static int order_lanes(struct html_data *d)
{
	size_t n = d->lanes.n, used = 0;
	struct lane_order *order = malloc((n + 1) * sizeof(*order));
	uint32_t *to = malloc((n + 1) * sizeof(*to));
	struct html_lane *lanes = calloc(HTML_LANES, sizeof(*lanes));

	if (!order || !to || !lanes) {
		free(order);
		free(to);
		free(lanes);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		order[i] = (struct lane_order){ d->lanes.v[i].samples,
						(uint32_t)i };
		used += d->lanes.v[i].samples > 0;
	}
	qsort(order, n, sizeof(*order), by_samples);
	for (size_t i = 0; i < n; i++) {
		size_t at = i < HTML_LANES ? i : HTML_LANES - 1;
		struct html_lane *l = &d->lanes.v[order[i].lane];

		to[order[i].lane] = (uint32_t)at;
		if (i < used && at == HTML_LANES - 1 && used > HTML_LANES) {
			lanes[at].samples += l->samples;
			lanes[at].others++;
		} else if (i < used) {
			lanes[at] = *l;
		}
	}
	for (size_t i = 0; i < d->rep->p->threads.n; i++)
		d->lane_of[i] = to[d->lane_of[i]];
	free(order);
	free(to);
	free(d->lanes.v);
	d->lanes.v = lanes;
	d->lanes.n = used < HTML_LANES ? used : HTML_LANES;
	d->lanes.cap = HTML_LANES;
	return 0;
}

/* How many of the samples selected each thread row has. */
static void count_threads(struct summer *s, struct reader *r, uint64_t *samples)
{
	const struct selection *sel = &s->d->rep->sel;
	bool filters = selection_filters(sel);
	struct sample_batch b;

	reader_columns(r, filters ? COLUMN_ALL : COLUMN_THREAD);
	reader_rewind(r);
	while (reader_next(r, &b)) {
		size_t n = filters ? selection_apply(sel, &b, s->keep) : b.n;

		for (size_t i = 0; i < n; i++)
			samples[b.thread[filters ? s->keep[i] : i]]++;
	}
}

static int find_lanes(struct summer *s, struct reader *r)
{
	size_t n = s->d->rep->p->threads.n;
	uint64_t *samples = calloc(n + 1, sizeof(*samples));
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	int rc = -ERR_NOMEM;

	s->d->lane_of = calloc(n + 1, sizeof(*s->d->lane_of));
	if (samples && order && s->d->lane_of) {
		count_threads(s, r, samples);
		rc = group_threads(s->d, order, samples);
	}
	if (!rc)
		rc = order_lanes(s->d);
	free(samples);
	free(order);
	return rc;
}

static void find_times(struct html_data *d)
{
	const struct report *rep = d->rep;
	uint64_t from = profile_start_ns(rep->p), to = profile_end_ns(rep->p);

	if (to <= from)
		to = rep->agg.last_ns + 1;
	if (rep->sel.timed) {
		from = rep->sel.from_ns > from ? rep->sel.from_ns : from;
		to = rep->sel.to_ns < to ? rep->sel.to_ns : to;
	}
	if (to <= from)
		to = from + 1;
	d->buckets = rep->truth.shown < 2048 ? HTML_BUCKETS / 4 : HTML_BUCKETS;
	d->start_ns = from;
	d->width_ns = (to - from - 1) / d->buckets + 1;
}

static int by_key(const void *x, const void *y)
{
	const struct html_entry *a = x, *b = y;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return (int)a->bucket - (int)b->bucket;
}

/* Sorts one node's entries and adds up equal ones; their number. */
static size_t merge_node(struct html_entry *v, size_t n)
{
	size_t k = 0;

	if (n > 1)
		qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0; i < n; i++) {
		if (k && by_key(&v[k - 1], &v[i]) == 0)
			cell_add(&v[k - 1].c, v[i].c);
		else
			v[k++] = v[i];
	}
	return k;
}

/* By node first, by counting: there are as many nodes as entries. */
int html_entries_merge(struct html_data *d)
{
	size_t n = d->entries.n, nodes = d->flame.nodes.n, k = 0;
	struct html_entry *to = malloc((n + 1) * sizeof(*to));
	size_t *end = calloc(nodes + 1, sizeof(*end));

	if (!to || !end) {
		free(to);
		free(end);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < n; i++)
		end[d->entries.v[i].node + 1]++;
	for (size_t i = 0; i < nodes; i++)
		end[i + 1] += end[i];
	for (size_t i = 0; i < n; i++)
		to[end[d->entries.v[i].node]++] = d->entries.v[i];
	for (size_t i = 0; i < nodes; i++) {
		size_t from = i ? end[i - 1] : 0;
		size_t left = merge_node(&to[from], end[i] - from);

		memmove(&to[k], &to[from], left * sizeof(*to));
		k += left;
	}
	free(end);
	free(d->entries.v);
	d->entries.v = to;
	d->entries.cap = n + 1;
	d->entries.n = k;
	return 0;
}

static uint64_t pack(const struct html_entry *e)
{
	return (uint64_t)e->node << 32 | (uint64_t)e->event << 24 |
	       (uint64_t)e->lane << 16 | e->bucket;
}

/* Too many entries: time slices of double width, or one for all time. */
static int coarsen(struct summer *s)
{
	struct html_data *d = s->d;

	if (d->buckets == 1)
		return 0;
	d->buckets /= 2;
	d->width_ns *= 2;
	for (size_t i = 0; i < d->entries.n; i++)
		d->entries.v[i].bucket /= 2;
	if (html_entries_merge(d) < 0)
		return -ERR_NOMEM;
	u64map_clear(&s->map);
	for (size_t i = 0; i < d->entries.n; i++) {
		uint32_t *id = u64map_slot(&s->map, pack(&d->entries.v[i]));

		if (!id)
			return -ERR_NOMEM;
		*id = (uint32_t)i;
	}
	return 0;
}

static int add_sample(struct summer *s, const struct sample_batch *b, size_t i)
{
	struct html_data *d = s->d;
	uint64_t at = b->time_ns[i] > d->start_ns
			      ? (b->time_ns[i] - d->start_ns) / d->width_ns : 0;
	struct html_entry e = {
		.node = d->flame.node_of[b->stack[i]],
		.event = (uint8_t)d->rep->agg.col_of[b->event[i]],
		.lane = (uint8_t)d->lane_of[b->thread[i]],
		.bucket = (uint16_t)(at < d->buckets ? at : d->buckets - 1),
		.c = { b->weight[i], 1 },
	};
	uint32_t *id;

	if (e.node == PROF_NONE)
		return 0;
	id = u64map_slot(&s->map, pack(&e));
	if (!id)
		return -ERR_NOMEM;
	if (*id != U64MAP_NONE) {
		cell_add(&d->entries.v[*id].c, e.c);
		return 0;
	}
	*id = (uint32_t)d->entries.n;
	if (vec_push(&d->entries, e) < 0)
		return -ERR_NOMEM;
	return d->entries.n > HTML_ENTRIES_MAX ? coarsen(s) : 0;
}

static int sum_samples(struct summer *s, struct reader *r)
{
	const struct selection *sel = &s->d->rep->sel;
	bool filters = selection_filters(sel);
	struct sample_batch b;
	int rc = 0;

	reader_columns(r, COLUMN_ALL);
	reader_rewind(r);
	while (!rc && reader_next(r, &b)) {
		size_t n = filters ? selection_apply(sel, &b, s->keep) : b.n;

		for (size_t i = 0; !rc && i < n; i++)
			rc = add_sample(s, &b, filters ? s->keep[i] : i);
	}
	return rc;
}

int html_samples(struct html_data *d, struct reader *r, struct error *err)
{
	struct summer s = { .d = d };
	int rc = -ERR_NOMEM;

	s.keep = malloc(SAMPLE_BATCH * sizeof(*s.keep));
	find_times(d);
	if (s.keep)
		rc = find_lanes(&s, r);
	if (!rc)
		rc = sum_samples(&s, r);
	if (!rc)
		rc = html_entries_merge(d);
	u64map_fini(&s.map);
	free(s.keep);
	return rc < 0 ? nomem(err) : 0;
}
