// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The JSON of chrome://tracing, which Perfetto's page opens: for each thread a
 * timeline of begins and ends of functions, in microseconds.
 *
 * A sample stands for the time before it, as much as it weighs; where events do
 * not measure time, up to the last sample but at most 10 ms.  Samples of one stack
 * that touch are one block.  Only the first event.
 */
#include "base/json.h"
#include "export/formats.h"

enum { LONGEST_NS = 10000000 };

struct chrome {
	struct export *x;
	struct json j;
	uint32_t lane;
	uint64_t from_ns, end_ns;	/* up to where blocks are open */
	VEC(uint32_t) open;		/* fk, outermost first */
};

static void put_event(struct chrome *w, const char *phase, uint64_t at,
		      uint32_t fk)
{
	const struct lane *l = &w->x->a.lanes.v[w->lane];
	const struct prof_func *f = export_func(w->x, fk);

	json_object(&w->j, NULL);
	json_str(&w->j, "ph", phase);
	json_str(&w->j, "name", export_name(w->x, fk));
	json_uint(&w->j, "pid", l->pid);
	json_uint(&w->j, "tid", l->tid);
	json_fixed(&w->j, "ts", (double)at / 1e3, 3);
	if (*phase == 'B' && f && f->line) {
		json_object(&w->j, "args");
		json_str(&w->j, "file", export_str(w->x, f->file));
		json_uint(&w->j, "line", f->line);
		json_end(&w->j);
	}
	json_end(&w->j);
}

static void close_down_to(struct chrome *w, size_t depth, uint64_t at)
{
	while (w->open.n > depth)
		put_event(w, "E", at, w->open.v[--w->open.n]);
}

static int put_sample(void *ctx, const struct export_sample *s,
		      struct error *err)
{
	struct chrome *w = ctx;
	struct export *x = w->x;
	uint64_t end = s->time_ns > w->from_ns ? s->time_ns - w->from_ns : 0;
	uint64_t lasts = export_is_time(x, 0) ? s->weight : LONGEST_NS;
	uint64_t begin = end > lasts ? end - lasts : 0;
	size_t same = 0, n;

	if (s->col)
		return 0;
	if (export_stack(x, s->stack) < 0)
		return export_nomem(err);
	n = x->frames.n;
	/* what a timer is late by is no gap */
	if (begin <= w->end_ns + lasts / 2) {
		begin = w->end_ns;
		while (same < n && same < w->open.n &&
		       w->open.v[same] == x->frames.v[n - 1 - same].fk)
			same++;
	}
	close_down_to(w, same, w->end_ns);
	for (; same < n; same++) {
		uint32_t fk = x->frames.v[n - 1 - same].fk;

		if (vec_push(&w->open, fk) < 0)
			return export_nomem(err);
		put_event(w, "B", begin, fk);
	}
	w->end_ns = end > w->end_ns ? end : w->end_ns;
	return export_flush(x, false, err);
}

static void put_name(struct chrome *w)
{
	const struct lane *l = &w->x->a.lanes.v[w->lane];

	json_object(&w->j, NULL);
	json_str(&w->j, "ph", "M");
	json_str(&w->j, "name", "thread_name");
	json_uint(&w->j, "pid", l->pid);
	json_uint(&w->j, "tid", l->tid);
	json_object(&w->j, "args");
	json_str(&w->j, "name", export_str(w->x, l->comm));
	json_end(&w->j);
	json_end(&w->j);
}

int export_chrome(struct export *x, struct error *err)
{
	struct chrome w = { .x = x, .j = json_on(&x->out),
			    .from_ns = export_start_ns(x) };
	int rc = 0;

	json_object(&w.j, NULL);
	json_str(&w.j, "displayTimeUnit", "ms");
	json_array_lines(&w.j, "traceEvents");
	for (w.lane = 0; !rc && w.lane < x->a.lanes.n; w.lane++) {
		put_name(&w);
		w.end_ns = 0;
		rc = export_thread_samples(x, w.lane, put_sample, &w, err);
		close_down_to(&w, 0, w.end_ns);
	}
	json_end(&w.j);
	json_end(&w.j);
	buf_u8(&x->out, '\n');
	vec_fini(&w.open);
	return rc;
}
