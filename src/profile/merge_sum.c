// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums recordings of many machines: see merge.h. */
#include "profile/merge_sum.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum {
	EVENTS_MAX = 4096,	/* every pair is compared */
	SYMBOL_ROWS = 1 << 16,	/* duplicates are removed when as many rows were
				 * added, or as many as there were */
};

int merger_open(struct merger **out)
{
	struct merger *m = calloc(1, sizeof(*m));

	*out = m;
	if (!m)
		return -ERR_NOMEM;
	m->m.p = &m->p;
	m->strings.str = &m->p.str;
	if (profile_init(&m->p) == 0)
		return 0;
	merger_close(m);
	*out = NULL;
	return -ERR_NOMEM;
}

void merger_close(struct merger *m)
{
	if (!m)
		return;
	strpool_fini(&m->strings);
	profile_fini(&m->p);
	idtab_fini(&m->images);
	buf_fini(&m->sums);
	vec_fini(&m->runs);
	free(m);
}

struct strpool *merger_strings(struct merger *m)
{
	return &m->strings;
}

size_t merger_runs(const struct merger *m)
{
	return m->p.runs.n;
}

/* Appends how an event was sampled. */
static void put_rate(const struct prof_event *e, struct buf *out)
{
	if (e->freq)
		buf_printf(out, "%llu Hz", (unsigned long long)e->freq);
	else
		buf_printf(out, "a period of %llu",
			   (unsigned long long)e->period);
}

void merger_apart(const struct merger *m, struct buf *out)
{
	const struct profile *p = &m->p;
	size_t begun = out->n;

	for (size_t i = 0; i < p->events.n; i++) {
		const struct prof_event *e = &p->events.v[i];
		bool first = true;

		for (size_t k = 0; k < i && first; k++)
			first = !prof_same_event(p, e, p, &p->events.v[k]);
		for (size_t k = i + 1; first && k < p->events.n; k++) {
			const struct prof_event *f = &p->events.v[k];

			if (!prof_same_event(p, e, p, f) ||
			    (e->freq == f->freq && e->period == f->period))
				continue;
			buf_printf(out, "%s%s at ", out->n > begun ? "; " : "",
				   prof_event_actual(p, e));
			put_rate(e->freq <= f->freq ? e : f, out);
			buf_str(out, " and at ");
			put_rate(e->freq <= f->freq ? f : e, out);
			break;
		}
	}
}

static bool same_event(const struct prof_event *a, const struct prof_event *b)
{
	const struct table *t = format_table(SECTION_EVENTS);
	size_t i = 0;

	while (i < t->ncolumns &&
	       column_get(a, &t->columns[i]) == column_get(b, &t->columns[i]))
		i++;
	return i == t->ncolumns;
}

/* Maps equal events to each other, the first one of a recording to the first one
 * of the result and so on. */
static int take_events(struct merger *m, const char *name, struct error *err)
{
	const struct profile *f = m->m.from;
	uint32_t *map = m->m.maps->event;
	uint8_t *taken;

	if (f->events.n > EVENTS_MAX || m->p.events.n > EVENTS_MAX)
		return error_set(err, ERR_UNSUPPORTED, "%s: recordings with more "
				 "than %d events cannot be merged", name,
				 EVENTS_MAX);
	taken = calloc(m->p.events.n + f->events.n + 1, 1);
	if (!taken)
		return -ERR_NOMEM;
	for (size_t i = 0; i < f->events.n; i++) {
		struct prof_event e = f->events.v[i];
		uint32_t id = 0;

		merge_refs(&m->m, format_table(SECTION_EVENTS), &e);
		while (id < m->p.events.n &&
		       (taken[id] || !same_event(&m->p.events.v[id], &e)))
			id++;
		if (id == m->p.events.n && vec_push(&m->p.events, e) < 0) {
			free(taken);
			return -ERR_NOMEM;
		}
		taken[id] = 1;
		map[i] = id;
	}
	free(taken);
	return 0;
}

/* Returns the offset from the recording's clock to the calendar.  Both may wrap
 * in hostile files. */
static uint64_t to_calendar(const struct prof_run *r)
{
	return r->start_wall_ns - r->start_ns;
}

static int take_runs(struct merger *m)
{
	const struct profile *f = m->m.from;
	struct merge_maps *maps = m->m.maps;
	const struct table *runs = format_table(SECTION_RUNS);
	const struct table *threads = format_table(SECTION_THREADS);

	for (size_t i = 0; i < f->runs.n; i++) {
		struct prof_run *r = merge_add(&m->m, runs, &f->runs.v[i]);

		if (!r || vec_push(&m->runs, (struct merge_run){ 0, 0 }) < 0)
			return -ERR_NOMEM;
		r->end_ns += r->end_ns ? to_calendar(r) : 0;
		r->start_ns = r->start_wall_ns;
		maps->run[i] = (uint32_t)m->p.runs.n - 1;
	}
	for (size_t i = 0; i < f->threads.n; i++) {
		const struct prof_run *r = &f->runs.v[f->threads.v[i].run];
		struct prof_thread *t = merge_add(&m->m, threads,
						  &f->threads.v[i]);

		if (!t)
			return -ERR_NOMEM;
		t->start_ns += t->start_ns ? to_calendar(r) : 0;
		maps->thread[i] = (uint32_t)m->p.threads.n - 1;
	}
	return 0;
}

/* Adds the symbols, and removes duplicates now and then. */
static int take_symbols(struct merger *m)
{
	struct profile *p = &m->p;
	int rc = merge_symbols(&m->m);
	size_t rows = p->symbols.n + p->lines.n + p->codes.n + p->texts.n;

	p->symbolized |= m->m.from->symbolized;
	if (rc || rows < 2 * m->symbol_rows + SYMBOL_ROWS)
		return rc;
	rc = merge_finish_symbols(p);
	m->symbol_rows = p->symbols.n + p->lines.n + p->codes.n + p->texts.n;
	return rc;
}

static bool sum_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct merge_sum *a = &((const struct merge_sums *)ctx)->v.v[id];
	const struct merge_sum *b = key;

	return a->thread == b->thread && a->event == b->event &&
	       a->stack == b->stack;
}

int merge_sums_init(struct merge_sums *s, size_t stacks)
{
	*s = (struct merge_sums){ .last = merge_map(stacks) };
	return s->last ? 0 : -ERR_NOMEM;
}

void merge_sums_fini(struct merge_sums *s)
{
	vec_fini(&s->v);
	idtab_fini(&s->tab);
	free(s->last);
}

/* Looks up or adds a sum in the hash table. */
static struct merge_sum *find_sum(struct merge_sums *s, uint32_t thread,
				  uint32_t event, uint32_t stack)
{
	const struct merge_sum k = { thread, event, stack, 0, 0 };
	uint64_t h = hash_mix((uint64_t)thread << 32 | stack, event);
	uint32_t id = s->last[stack] == IDTAB_NONE
		      ? IDTAB_NONE : idtab_find(&s->tab, h, sum_eq, s, &k);

	if (id == IDTAB_NONE) {
		id = (uint32_t)s->v.n;
		if (id == IDTAB_NONE || vec_push(&s->v, k) < 0 ||
		    idtab_add(&s->tab, h, id) < 0)
			return NULL;
	}
	s->last[stack] = id;
	return &s->v.v[id];
}

struct merge_sum *merge_sums_find(struct merge_sums *s, uint32_t thread,
				  uint32_t event, uint32_t stack)
{
	uint32_t last = s->last[stack];
	struct merge_sum *sum = last == IDTAB_NONE ? NULL : &s->v.v[last];

	return sum && sum->thread == thread && sum->event == event
	       ? sum : find_sum(s, thread, event, stack);
}

static int sum_batch(struct merge_sums *s, const struct sample_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct merge_sum *sum = merge_sums_find(s, b->thread[i], b->event[i],
							b->stack[i]);

		if (!sum)
			return -ERR_NOMEM;
		sum->weight += b->weight[i];
		sum->count += b->more[i] + 1;
	}
	return 0;
}

static int sum_samples(struct reader *r, struct merge_sums *s)
{
	struct sample_batch b;
	int rc = 0;

	reader_columns(r, COLUMN_ALL & ~(COLUMN_TIME | COLUMN_CPU));
	reader_rewind(r);
	while (!rc && reader_next(r, &b))
		rc = sum_batch(s, &b);
	reader_columns(r, COLUMN_ALL);
	reader_rewind(r);
	return rc;
}

int merge_sum_compare(const void *x, const void *y)
{
	const struct merge_sum *a = x, *b = y;

	return ascending(a->thread, b->thread) ?:
	       ascending(a->event, b->event) ?:
	       ascending(a->stack, b->stack);
}

/* Compares by run, too: threads of a file are in any order. */
static int by_run(const void *x, const void *y, void *ctx)
{
	const struct merge_sum *a = x, *b = y;
	const struct profile *p = ctx;
	uint32_t r = p->threads.v[a->thread].run, s = p->threads.v[b->thread].run;

	return ascending(r, s) ?: merge_sum_compare(x, y);
}

void merge_sum_next(struct cursor *c, struct merge_sum *last)
{
	last->thread += (uint32_t)cursor_sleb(c);
	last->event = (uint32_t)cursor_uleb(c);
	last->stack += (uint32_t)cursor_sleb(c);
	last->weight = cursor_uleb(c);
	last->count = cursor_uleb(c);
}

/* Stores the sums, which take 30 to 40 bytes each, in about 10.  From here on they have
 * the rows of the result. */
static int store_sums(struct merger *m, struct merge_sums *s)
{
	struct merge_sum last = { .thread = 0 };
	const struct merge_maps *maps = m->m.maps;
	uint32_t run = PROF_NONE;

	for (size_t i = 0; i < s->v.n; i++) {
		struct merge_sum *k = &s->v.v[i];

		k->thread = maps->thread[k->thread];
		k->event = maps->event[k->event];
		k->stack = maps->node[k->stack];
	}
	/* merger_write sorts the sums of a run */
	if (m->m.from->runs.n > 1)
		vec_sort_r(&s->v, by_run, &m->p);
	for (size_t i = 0; i < s->v.n; i++) {
		const struct merge_sum *k = &s->v.v[i];
		uint32_t of = m->p.threads.v[k->thread].run;

		if (of != run) {
			run = of;
			m->runs.v[run].at = m->sums.n;
			last = (struct merge_sum){ .thread = 0 };
		}
		m->runs.v[run].n++;
		buf_sleb(&m->sums, (int64_t)k->thread - last.thread);
		buf_uleb(&m->sums, k->event);
		buf_sleb(&m->sums, (int64_t)k->stack - last.stack);
		buf_uleb(&m->sums, k->weight);
		buf_uleb(&m->sums, k->count);
		last = *k;
	}
	return m->sums.failed ? -ERR_NOMEM : 0;
}

static int take_samples(struct merger *m, struct reader *r)
{
	struct merge_sums s;
	int rc = merge_sums_init(&s, m->m.from->nodes.n) ?:
		 sum_samples(r, &s) ?:
		 store_sums(m, &s);

	merge_sums_fini(&s);
	return rc;
}

/* Takes the numbers of strings that the recording shares with the result. */
static void map_shared(struct merger *m)
{
	const struct strtab *from = &m->m.from->str;

	if (from->pool == &m->strings)
		memcpy(m->m.maps->str, from->pool_id.v,
		       from->str.n * sizeof(*from->pool_id.v));
}

int merger_add(struct merger *m, struct reader *r, const char *name,
	       struct error *err)
{
	struct merge_maps maps;
	int rc;

	m->m = (struct merge){ .p = &m->p, .from = reader_profile(r),
			       .maps = &maps };
	rc = merge_maps_init(&maps, m->m.from);
	if (!rc)
		map_shared(m);
	if (!rc)
		rc = take_events(m, name, err) ?:
		     take_runs(m) ?:
		     merge_facts(&m->m) ?:
		     merge_images(&m->m, &m->images) ?:
		     merge_stacks(&m->m) ?:
		     merge_totals(&m->m, 0) ?:
		     take_samples(m, r) ?:
		     take_symbols(m);
	merge_maps_fini(&maps);
	if (!rc && m->m.failed)
		rc = -ERR_NOMEM;
	return rc != -ERR_NOMEM ? rc
	       : error_set(err, ERR_NOMEM, "%s: out of memory while merging",
			   name);
}
