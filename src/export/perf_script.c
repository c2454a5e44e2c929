// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the text of `perf script`: a head line per sample, its frames
 * innermost first, an empty line.  Inlined functions have "(inlined)" instead
 * of the image, as in perf.  Addresses are those of the ELF files.
 */
#include <inttypes.h>

#include "export/formats.h"
#include "export/pieces.h"

struct perf_script {
	struct export *x;
	struct pieces lines;		/* by place */
	struct pieces threads;		/* by lane: "comm pid/tid [" */
	struct pieces events;		/* by column: " name: \n" */
};

static void make_lines(struct perf_script *w, uint32_t place)
{
	struct export *x = w->x;

	x->out.failed |= export_place(x, place) < 0;
	for (size_t i = 0; i < x->frames.n; i++) {
		const struct export_frame *f = &x->frames.v[i];
		const struct prof_image *im = export_image(x, f);
		const char *image = im ? export_str(x, im->path) : "[unknown]";

		buf_printf(&w->lines.text, "\t%16" PRIx64 " %s (%s)\n",
			   im ? x->p->locs.v[f->loc].vaddr : 0,
			   export_name(x, f->fk),
			   f->inlined ? "inlined" : image);
	}
	pieces_keep(&w->lines, place);
}

static int make_heads(struct perf_script *w, struct error *err)
{
	struct export *x = w->x;
	int rc = pieces_init(&w->threads, x->a.lanes.n, err) ?:
		 pieces_init(&w->events, x->a.ncols, err);

	for (size_t i = 0; !rc && i < x->a.lanes.n; i++) {
		const struct lane *l = &x->a.lanes.v[i];

		buf_printf(&w->threads.text, "%s %u/%u [",
			   export_str(x, l->comm), l->pid, l->tid);
		pieces_keep(&w->threads, i);
	}
	for (size_t i = 0; !rc && i < x->a.ncols; i++) {
		buf_printf(&w->events.text, " %s: \n", export_event_name(x, i));
		pieces_keep(&w->events, i);
	}
	return rc;
}

static int put_sample(void *ctx, const struct export_sample *s,
		      struct error *err)
{
	struct perf_script *w = ctx;
	struct export *x = w->x;

	if (export_places(x, s->stack) < 0)
		return error_nomem(err);
	pieces_put(&w->threads, s->lane, &x->out);
	if (s->cpu < 100)
		buf_bytes(&x->out, "00", s->cpu < 10 ? 2 : 1);
	buf_decimal(&x->out, s->cpu);
	buf_bytes(&x->out, "] ", 2);
	buf_scaled(&x->out, s->time_ns / 1000, 6);
	buf_bytes(&x->out, ": ", 2);
	buf_decimal(&x->out, s->weight);
	pieces_put(&w->events, s->col, &x->out);
	for (size_t i = 0; i < x->places.n; i++) {
		uint32_t place = x->places.v[i];

		if (!pieces_has(&w->lines, place))
			make_lines(w, place);
		pieces_put(&w->lines, place, &x->out);
	}
	buf_u8(&x->out, '\n');
	return export_flush(x, false, err);
}

int export_perf_script(struct export *x, struct error *err)
{
	struct perf_script w = { .x = x };
	int rc = pieces_init(&w.lines, export_nplaces(x), err) ?:
		 make_heads(&w, err) ?:
		 export_samples(x, put_sample, &w, err);

	pieces_fini(&w.lines);
	pieces_fini(&w.threads);
	pieces_fini(&w.events);
	return rc;
}
