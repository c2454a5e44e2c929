// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a batch from recordings: the cost of each function in each run. */
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/io.h"
#include "base/search.h"
#include "history/detail.h"

/* Minimum share of the program's samples of a function with details. */
#define DETAIL_SHARE 0.01

struct gathering {
	struct history *h;
	struct check_runs *runs;
	double per_sample;
	double *cost;		/* samples, [run * funcs + func] */
	double *one;		/* of one function, by run */
};

/* Appends settings such as "1999 Hz, user only".  Costs of an event with different
 * settings are not comparable. */
static void settings(const struct check_file *f, struct buf *out)
{
	const struct prof_event *e = &f->p->events.v[f->event];

	if (e->freq)
		buf_printf(out, "%llu Hz", (unsigned long long)e->freq);
	else
		buf_printf(out, "period %llu", (unsigned long long)e->period);
	if (e->exclude_kernel)
		buf_str(out, ", user only");
	if (e->exclude_user)
		buf_str(out, ", kernel only");
	if (!strcmp(profile_fact(f->p, "source"), PROF_SOURCE_TIMER))
		buf_str(out, ", timer");
	if (!strcmp(profile_fact(f->p, "source"), PROF_SOURCE_PTRACE))
		buf_str(out, ", ptrace");
}

/* Checks that `get` appends the same text for all files of a batch. */
static int same_in_all(const struct check_runs *r, const char *what,
		       void (*get)(const struct check_file *f, struct buf *out),
		       struct buf *out, struct error *err)
{
	struct buf one = { 0 };
	int rc = 0;

	get(&r->files.v[0], out);
	for (size_t i = 1; !rc && i < r->files.n; i++) {
		buf_reset(&one);
		get(&r->files.v[i], &one);
		if (strcmp(buf_cstr(out), buf_cstr(&one)))
			rc = error_set(err, ERR_USAGE, "%s and %s differ in %s "
				       "(%s, %s): they do not form a batch",
				       r->files.v[0].path, r->files.v[i].path,
				       what, buf_cstr(out), buf_cstr(&one));
	}
	if (!rc && (out->failed || one.failed))
		rc = error_nomem(err);
	buf_fini(&one);
	return rc;
}

static void get_revision(const struct check_file *f, struct buf *out)
{
	buf_str(out, profile_fact(f->p, "revision"));
}

static void get_cpu(const struct check_file *f, struct buf *out)
{
	buf_str(out, profile_fact(f->p, "cpu"));
}

static void get_kernel(const struct check_file *f, struct buf *out)
{
	buf_str(out, profile_fact(f->p, "kernel"));
}

static void get_event(const struct check_file *f, struct buf *out)
{
	buf_str(out, prof_event_actual(f->p, &f->p->events.v[f->event]));
}

static int intern(struct history *h, uint32_t *to, const char *s,
		  struct error *err)
{
	*to = strtab_add(&h->str, s);
	return *to == UINT32_MAX ? error_nomem(err) : 0;
}

static int describe(struct gathering *g, const struct batch_facts *facts,
		    struct batch *b, struct error *err)
{
	const struct check_runs *r = g->runs;
	const struct check_file *f = &r->files.v[0];
	const struct {
		const char *what, *given;
		void (*get)(const struct check_file *f, struct buf *out);
		uint32_t *to;
	} rows[] = {
		{ "their commit", facts->commit, get_revision, &b->commit },
		{ "the processor", NULL, get_cpu, &b->cpu },
		{ "the kernel", NULL, get_kernel, &b->kernel },
		{ "the event", NULL, get_event, &b->event },
		{ "rate or mode", NULL, settings, &b->settings },
	};
	int rc = intern(g->h, &b->benchmark, facts->benchmark
			? facts->benchmark : "default", err);

	for (size_t i = 0; !rc && i < COUNT(rows); i++) {
		struct buf text = { 0 };

		if (rows[i].given)
			buf_str(&text, rows[i].given);
		else
			rc = same_in_all(r, rows[i].what, rows[i].get, &text,
					 err);
		if (!rc)
			rc = intern(g->h, rows[i].to, buf_cstr(&text), err);
		buf_fini(&text);
	}
	if (rc)
		return rc;
	if (!b->commit)
		return error_set(err, ERR_USAGE, "%s: does not record a "
				 "commit: specify --commit", f->path);
	b->is_time = f->p->events.v[f->event].unit == PROF_UNIT_NS;
	b->recorded = (int64_t)(r->runs.v[0].start_ns / 1000000000u);
	b->time = facts->time ? facts->time : b->recorded;
	b->runs = (uint32_t)r->runs.n;
	return 0;
}

static int add_cost(struct gathering *g, const struct history_func *f,
		    const double *x, struct error *err)
{
	struct history *h = g->h;
	struct history_cost c = { history_func(h, f), (uint32_t)h->counts.n };

	if (c.func == UINT32_MAX || vec_push(&h->costs, c) < 0)
		return error_nomem(err);
	h->funcs.v[c.func].file = f->file;
	h->funcs.v[c.func].line = f->line;
	for (size_t r = 0; r < g->runs->runs.n; r++)
		if (vec_push(&h->counts, x[r]) < 0)
			return error_nomem(err);
	return 0;
}

/* Compares functions with qsort_r(3). */
static int by_name(const void *a, const void *b, void *runs)
{
	return check_compare_funcs(runs, *(const uint32_t *)a,
				   *(const uint32_t *)b);
}

struct detail_funcs {
	VEC(struct detail_func) v;
};

static double sum_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

static int add_costs(struct gathering *g, uint32_t *order, double *small,
		     struct detail_funcs *details, struct error *err)
{
	struct check_runs *r = g->runs;
	size_t n = r->runs.n;
	const struct history_func others = { .kernel = false };
	double all = sum_of(g->cost, r->match.funcs.n * n), *x = g->one;
	int rc = 0;

	for (uint32_t i = 0; i < r->match.funcs.n; i++)
		order[i] = i;
	sort_rows_r(order, r->match.funcs.n, by_name, r);
	for (size_t i = 0; !rc && i < r->match.funcs.n; i++) {
		const struct compare_func *f = &r->match.funcs.v[order[i]];
		struct history_func to = { .kernel = f->kernel,
					   .line = f->line };
		double sum;

		for (size_t k = 0; k < n; k++)
			x[k] = g->cost[k * r->match.funcs.n + order[i]];
		sum = sum_of(x, n);
		for (size_t k = 0; sum < HISTORY_MIN && k < n; k++)
			small[k] += x[k];
		if (sum < HISTORY_MIN)
			continue;
		to.image = strtab_add(&g->h->str, check_str(r, f->image));
		to.name = strtab_add(&g->h->str, check_str(r, f->name));
		to.which = strtab_add(&g->h->str,
				      check_func_which(r, order[i]));
		to.file = strtab_add(&g->h->str, check_str(r, f->file));
		rc = to.image == UINT32_MAX || to.name == UINT32_MAX ||
		     to.which == UINT32_MAX || to.file == UINT32_MAX
			     ? error_nomem(err) : add_cost(g, &to, x, err);
		if (!rc && f->name && !f->kernel && sum >= DETAIL_SHARE * all &&
		    vec_push(&details->v, ((struct detail_func){
				order[i], (uint32_t)g->h->costs.n - 1 })) < 0)
			rc = error_nomem(err);
	}
	return rc ? rc : add_cost(g, &others, small, err);
}

static int add_statuses(struct gathering *g, struct batch *b, struct error *err)
{
	b->first_ended = (uint32_t)g->h->ended.n;
	for (size_t i = 0; i < g->runs->runs.n; i++) {
		const struct check_run *r = &g->runs->runs.v[i];
		const struct profile *p = g->runs->files.v[r->file].p;

		if (vec_push(&g->h->ended, p->runs.v[r->run].exit_status) < 0)
			return error_nomem(err);
	}
	return 0;
}

static int add_recordings(struct gathering *g, struct error *err)
{
	for (size_t i = 0; i < g->runs->files.n; i++) {
		const char *path = g->runs->files.v[i].path;
		struct history_recording r = {
			.path = strtab_add(&g->h->str, path) };
		struct io_map bytes;
		int rc = io_map_file(path, &bytes, err);

		if (rc < 0)
			return rc;
		sha256(bytes.p, bytes.n, r.hash);
		io_unmap(&bytes);
		if (r.path == UINT32_MAX ||
		    vec_push(&g->h->recordings, r) < 0)
			return error_nomem(err);
	}
	return 0;
}

int history_gather(struct history *h, struct check_runs *runs,
		   const struct batch_facts *facts, struct error *err)
{
	struct gathering g = { .h = h, .runs = runs };
	struct arrays a = { 0 };
	uint32_t *order = arrays_new(&a, runs->match.funcs.n, sizeof(*order));
	double *small = arrays_new(&a, runs->runs.n, sizeof(*small));
	struct batch b = { .first = (uint32_t)h->costs.n,
			   .first_detail = (uint32_t)h->details.n,
			   .first_recording = (uint32_t)h->recordings.n };
	struct detail_funcs details = { .v = { 0 } };
	int rc;

	g.per_sample = check_per_sample(runs);
	g.cost = check_self_costs(runs, false, runs->match.funcs.n, g.per_sample);
	g.one = arrays_new(&a, runs->runs.n, sizeof(*g.one));
	if (!runs->runs.n || runs->runs.n > HISTORY_RUNS_MAX)
		rc = error_set(err, ERR_USAGE, "a batch has 1 to %d runs",
			       HISTORY_RUNS_MAX);
	else
		rc = g.cost && !a.failed ? describe(&g, facts, &b, err)
					 : error_nomem(err);
	if (!rc) {
		b.per_sample = g.per_sample;
		rc = add_costs(&g, order, small, &details, err);
	}
	b.n = (uint32_t)h->costs.n - b.first;
	if (!rc && details_gather(h, runs, details.v.v, details.v.n,
				  g.per_sample) < 0)
		rc = error_nomem(err);
	rc = rc ?: add_statuses(&g, &b, err) ?: add_recordings(&g, err);
	b.ndetails = (uint32_t)h->details.n - b.first_detail;
	b.nrecordings = (uint32_t)h->recordings.n - b.first_recording;
	if (!rc && vec_push(&h->batches, b) < 0)
		rc = error_nomem(err);
	vec_fini(&details.v);
	arrays_fini(&a);
	free(g.cost);
	return rc;
}
