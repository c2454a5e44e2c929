// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope's own format (file-format-spec of version 1.25): an evented profile
 * for each thread and event.
 *
 * The axis is what samples stand for, added up: a stack that several samples
 * have one after another is one block, and totals are those of the recording.
 */
#include "base/json.h"
#include "export/formats.h"

struct scope {
	struct export *x;
	struct json j;
	uint32_t col;
	uint64_t at;
	uint32_t stack;			/* the open one, PROF_NONE */
	VEC(uint32_t) open;		/* fk, outermost first */
};

static void put_frames(struct scope *s)
{
	struct export *x = s->x;

	json_object(&s->j, "shared");
	json_array_lines(&s->j, "frames");
	for (uint32_t fk = 0; fk < export_nfuncs(x); fk++) {
		const struct prof_func *f = export_func(x, fk);

		json_object(&s->j, NULL);
		json_str(&s->j, "name", export_name(x, fk));
		if (f && f->file != PROF_STR_EMPTY)
			json_str(&s->j, "file", export_str(x, f->file));
		if (f && f->line)
			json_uint(&s->j, "line", f->line);
		json_end(&s->j);
	}
	json_end(&s->j);
	json_end(&s->j);
}

static void put_event(struct scope *s, const char *type, uint32_t fk)
{
	json_object(&s->j, NULL);
	json_str(&s->j, "type", type);
	json_uint(&s->j, "frame", fk);
	json_uint(&s->j, "at", s->at);
	json_end(&s->j);
}

static void close_down_to(struct scope *s, size_t depth)
{
	while (s->open.n > depth)
		put_event(s, "C", s->open.v[--s->open.n]);
}

static int change_stack(struct scope *s, uint32_t stack, struct error *err)
{
	struct export *x = s->x;
	size_t same = 0, n;

	if (export_stack(x, stack) < 0)
		return export_nomem(err);
	n = x->frames.n;
	while (same < n && same < s->open.n &&
	       s->open.v[same] == x->frames.v[n - 1 - same].fk)
		same++;
	close_down_to(s, same);
	for (; same < n; same++) {
		uint32_t fk = x->frames.v[n - 1 - same].fk;

		if (vec_push(&s->open, fk) < 0)
			return export_nomem(err);
		put_event(s, "O", fk);
	}
	s->stack = stack;
	return 0;
}

static int put_sample(void *ctx, const struct export_sample *sample,
		      struct error *err)
{
	struct scope *s = ctx;
	int rc = 0;

	if (sample->col != s->col)
		return 0;
	if (sample->stack != s->stack)
		rc = change_stack(s, sample->stack, err);
	s->at += sample->weight;
	return rc ? rc : export_flush(s->x, false, err);
}

static int put_profile(struct scope *s, uint32_t lane, struct error *err)
{
	struct export *x = s->x;
	struct cell all = x->totals[lane * x->a.ncols + s->col];
	struct buf name = { 0 };
	int rc;

	if (!all.count)
		return 0;
	export_thread_name(x, lane, &name);
	if (x->a.ncols > 1)
		buf_printf(&name, ", %s", export_event_name(x, s->col));
	json_object(&s->j, NULL);
	json_str(&s->j, "type", "evented");
	json_str(&s->j, "name", buf_cstr(&name));
	json_str(&s->j, "unit", export_is_time(x, s->col) ? "nanoseconds"
							  : "none");
	json_uint(&s->j, "startValue", 0);
	json_uint(&s->j, "endValue", all.weight);
	json_array_lines(&s->j, "events");
	x->out.failed |= name.failed;
	buf_fini(&name);
	s->at = 0;
	s->stack = PROF_NONE;
	rc = export_thread_samples(x, lane, put_sample, s, err);
	close_down_to(s, 0);
	json_end(&s->j);
	json_end(&s->j);
	return rc;
}

int export_speedscope(struct export *x, struct error *err)
{
	struct scope s = { .x = x, .j = json_on(&x->out) };
	const char *command = x->p->runs.n ? export_str(x, x->p->runs.v[0].command)
					   : "";
	int rc = 0;

	json_object(&s.j, NULL);
	json_str(&s.j, "$schema",
		 "https://www.speedscope.app/file-format-schema.json");
	json_str(&s.j, "name", *command ? command : "tally");
	json_str(&s.j, "exporter", "tally");
	put_frames(&s);
	json_array_lines(&s.j, "profiles");
	for (uint32_t l = 0; !rc && l < x->a.lanes.n; l++)
		for (s.col = 0; !rc && s.col < x->a.ncols; s.col++)
			rc = put_profile(&s, l, err);
	json_end(&s.j);
	json_end(&s.j);
	buf_u8(&x->out, '\n');
	vec_fini(&s.open);
	return rc;
}
