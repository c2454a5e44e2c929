// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the JSON of chrome://tracing, which Perfetto's page opens.  Each
 * thread has a timeline of begins and ends of functions, in microseconds.
 *
 * A sample represents the time before it, as long as its weight.  For events
 * that do not measure time, it extends back to the last sample, but at most 10
 * ms.  Adjacent samples of one stack form one block.  Only the first event is
 * written.
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "export/formats.h"
#include "export/paths.h"
#include "export/pieces.h"

enum { LONGEST_NS = 10000000 };

#define FIRST ",\n{\"ph\":\""	/* of each event; the letter of its kind follows */

struct chrome {
	struct export *x;
	struct json j;
	/* by fk: an end event without thread and time, which is also the first part
	 * of a begin event */
	struct pieces ends;
	struct pieces places;		/* by fk: file and line */
	struct export_paths paths;
	struct buf ids;			/* "pid":…,"tid":…,"ts": */
	/* the same with the time, up to the end of the event */
	struct buf when;
	uint32_t lane, stack;		/* `stack`: node whose functions are open */
	uint64_t from_ns, end_ns;	/* range of time of the open blocks */
	uint32_t open;			/* path of the open functions */
	VEC(uint32_t) way;
};

/* The piece is empty if the line is unknown. */
static void make_place(struct chrome *w, uint32_t fk)
{
	const struct prof_func *f = export_func(w->x, fk);
	struct buf *out = &w->places.text;

	if (f && f->line) {
		buf_str(out, "\"args\":{\"file\":");
		text_json_of_file(out, export_str(w->x, f->file));
		buf_printf(out, ",\"line\":%" PRIu32 "},", f->line);
	}
	pieces_keep(&w->places, fk);
}

static void make_end(struct chrome *w, uint32_t fk)
{
	struct buf *out = &w->ends.text;

	buf_str(out, FIRST "E\",\"name\":");
	text_json_of_file(out, export_name(w->x, fk));
	buf_u8(out, ',');
	pieces_keep(&w->ends, fk);
}

static void put_begin(struct chrome *w, uint32_t fk)
{
	struct buf *out = &w->x->out;
	size_t at = out->n + strlen(FIRST);

	if (!pieces_has(&w->ends, fk))
		make_end(w, fk);
	if (!pieces_has(&w->places, fk))
		make_place(w, fk);
	pieces_put(&w->ends, fk, out);
	if (!out->failed)
		out->p[at] = 'B';
	pieces_put(&w->places, fk, out);
	buf_bytes(out, w->when.p, w->when.n);
}

/* Makes the common end of all events of one moment. */
static void make_when(struct chrome *w, uint64_t at)
{
	buf_again(&w->when);
	buf_bytes(&w->when, w->ids.p, w->ids.n);
	buf_scaled(&w->when, at, 3);
	buf_u8(&w->when, '}');
	w->x->out.failed |= w->when.failed;
}

static void put_end(struct chrome *w, uint32_t fk)
{
	if (!pieces_has(&w->ends, fk))
		make_end(w, fk);
	pieces_put(&w->ends, fk, &w->x->out);
	buf_bytes(&w->x->out, w->when.p, w->when.n);
}

/* Closes open functions.  An end event closes the latest begin, but speedscope passes over
 * it unless it has the same name. */
static void close_down_to(struct chrome *w, uint32_t path, uint64_t at)
{
	if (w->open != path)
		make_when(w, at);
	for (; w->open != path; w->open = w->paths.v.v[w->open].up)
		put_end(w, w->paths.v.v[w->open].what);
}

/* Returns the innermost path that is around both. */
static uint32_t common(const struct export_paths *p, uint32_t a, uint32_t b)
{
	while (a != b)
		if (p->v.v[a].depth >= p->v.v[b].depth)
			a = p->v.v[a].up;
		else
			b = p->v.v[b].up;
	return a;
}

/* Opens the functions of a path that are not open yet. */
static int open_up_to(struct chrome *w, uint32_t path, uint64_t at)
{
	const struct export_path *v = w->paths.v.v;

	w->way.n = 0;
	for (; path != w->open; path = v[path].up)
		if (vec_push(&w->way, path) < 0)
			return -ERR_NOMEM;
	if (w->way.n)
		make_when(w, at);
	for (size_t i = w->way.n; i--;) {
		w->open = w->way.v[i];
		put_begin(w, v[w->open].what);
	}
	return 0;
}

static int put_sample(void *ctx, const struct export_sample *s,
		      struct error *err)
{
	struct chrome *w = ctx;
	struct export *x = w->x;
	uint64_t end = s->time_ns > w->from_ns ? s->time_ns - w->from_ns : 0;
	uint64_t lasts = export_is_time(x, 0) ? s->weight : LONGEST_NS;
	uint64_t begin = end > lasts ? end - lasts : 0;
	bool gap = begin > w->end_ns + lasts / 2;	/* more than a late timer */
	uint32_t path = w->open;

	if (s->col)
		return 0;
	if (gap || s->stack != w->stack)
		path = export_path(&w->paths, s->stack);
	if (path == PROF_NONE)
		return error_nomem(err);
	w->stack = s->stack;
	close_down_to(w, gap ? 0 : common(&w->paths, w->open, path), w->end_ns);
	if (open_up_to(w, path, gap ? begin : w->end_ns) < 0)
		return error_nomem(err);
	w->end_ns = end > w->end_ns ? end : w->end_ns;
	return export_flush(x, false, err);
}

static void put_name(struct chrome *w)
{
	const struct lane *l = &w->x->a.lanes.v[w->lane];

	buf_again(&w->ids);
	buf_printf(&w->ids, "\"pid\":%u,\"tid\":%u,\"ts\":", l->pid, l->tid);
	w->x->out.failed |= w->ids.failed;
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
	int rc = pieces_init(&w.ends, export_nfuncs(x), err) ?:
		 pieces_init(&w.places, export_nfuncs(x), err) ?:
		 export_paths_init(&w.paths, x, EXPORT_PATH_FUNCTIONS, err);

	json_object(&w.j, NULL);
	json_str(&w.j, "displayTimeUnit", "ms");
	json_array_lines(&w.j, "traceEvents");
	for (w.lane = 0; !rc && w.lane < x->a.lanes.n; w.lane++) {
		put_name(&w);
		w.end_ns = 0;
		w.stack = PROF_NONE;
		rc = export_thread_samples(x, w.lane, put_sample, &w, err);
		close_down_to(&w, 0, w.end_ns);
	}
	json_end(&w.j);
	json_end(&w.j);
	buf_u8(&x->out, '\n');
	vec_fini(&w.way);
	pieces_fini(&w.places);
	pieces_fini(&w.ends);
	export_paths_fini(&w.paths);
	buf_fini(&w.ids);
	buf_fini(&w.when);
	return rc;
}
