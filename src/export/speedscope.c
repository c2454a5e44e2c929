// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes speedscope's own format (file-format-spec of version 1.25): a sampled
 * profile per thread and event.
 *
 * The axis is the sum of what samples represent, so totals equal those of the
 * recording.  Consecutive samples of one stack are merged.
 */
#include "base/json.h"
#include "export/formats.h"
#include "export/pieces.h"

struct scope {
	struct export *x;
	struct json j;
	struct pieces stacks;		/* by leaf: [outermost,…] */
	uint32_t col;
	/* Merged samples of one stack that are not yet written. */
	uint32_t stack;			/* PROF_NONE: none */
	uint64_t weight;
	bool weights;			/* write weights instead of stacks */
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

static void make_stack(struct scope *s, uint32_t node, size_t leaf)
{
	struct export *x = s->x;
	struct buf *out = &s->stacks.text;

	x->out.failed |= export_stack(x, node) < 0;
	for (size_t i = x->frames.n; i--;) {
		buf_u8(out, i + 1 == x->frames.n ? '[' : ',');
		buf_decimal(out, x->frames.v[i].fk);
	}
	buf_u8(out, ']');
	pieces_keep(&s->stacks, leaf);
}

static void put_held(struct scope *s)
{
	size_t leaf;

	if (s->stack == PROF_NONE)
		return;
	leaf = s->x->a.leaf_of[s->stack] - 1;
	if (s->weights) {
		json_uint(&s->j, NULL, s->weight);
	} else {
		if (!pieces_has(&s->stacks, leaf))
			make_stack(s, s->stack, leaf);
		if (pieces_has(&s->stacks, leaf))
			json_raw(&s->j, NULL, piece_text(&s->stacks, leaf),
				 s->stacks.len[leaf]);
	}
	s->stack = PROF_NONE;
	s->weight = 0;
}

static int put_sample(void *ctx, const struct export_sample *sample,
		      struct error *err)
{
	struct scope *s = ctx;

	if (sample->col != s->col)
		return 0;
	if (sample->stack != s->stack)
		put_held(s);
	s->stack = sample->stack;
	s->weight += sample->weight;
	return export_flush(s->x, false, err);
}

static int put_column(struct scope *s, const char *name, uint32_t lane,
		      struct error *err)
{
	int rc;

	json_array(&s->j, name);
	s->stack = PROF_NONE;
	s->weight = 0;
	rc = export_thread_samples(s->x, lane, put_sample, s, err);
	put_held(s);
	json_end(&s->j);
	return rc;
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
	json_str(&s->j, "type", "sampled");
	json_str(&s->j, "name", buf_cstr(&name));
	json_str(&s->j, "unit", export_is_time(x, s->col) ? "nanoseconds"
							  : "none");
	json_uint(&s->j, "startValue", 0);
	json_uint(&s->j, "endValue", all.weight);
	buf_close(&name, &x->out);
	s->weights = false;
	rc = put_column(s, "samples", lane, err);
	s->weights = true;
	if (!rc)
		rc = put_column(s, "weights", lane, err);
	json_end(&s->j);
	return rc;
}

int export_speedscope(struct export *x, struct error *err)
{
	struct scope s = { .x = x, .j = json_on(&x->out) };
	const char *command = x->p->runs.n ? export_str(x, x->p->runs.v[0].command)
					   : "";
	int rc = pieces_init(&s.stacks, x->a.leaves.n, err);

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
	x->out.failed |= s.stacks.text.failed;
	pieces_fini(&s.stacks);
	return rc;
}
