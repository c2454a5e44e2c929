// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes CSV (RFC 4180) for spreadsheets and data frames: one record per
 * thread, event and stack.  Frames of a stack are separated by " < ", innermost
 * first.
 */
#include <string.h>

#include "base/text.h"
#include "export/formats.h"
#include "export/pieces.h"

struct csv {
	struct export *x;
	struct pieces names;		/* by fk: name within a quoted cell */
	struct pieces events;		/* by column: "event,unit," */
	struct pieces threads;		/* by lane: "run,comm,pid,tid," */
	uint32_t node;			/* node whose text is in `stack` */
	struct buf stack;		/* from ",image" to the end of the line */
};

static void make_name(struct csv *w, uint32_t fk)
{
	const char *s = export_name(w->x, fk), *quote;

	for (; (quote = strchr(s, '"')); s = quote + 1) {
		buf_bytes(&w->names.text, s, (size_t)(quote - s));
		buf_str(&w->names.text, "\"\"");
	}
	buf_str(&w->names.text, s);
	pieces_keep(&w->names, fk);
}

static int make_stack(struct csv *w, uint32_t node, struct error *err)
{
	struct export *x = w->x;
	const struct export_frame *leaf;
	const struct prof_image *im;

	if (export_stack(x, node) < 0)
		return error_nomem(err);
	leaf = &x->frames.v[0];
	im = export_image(x, leaf);
	buf_again(&w->stack);
	buf_u8(&w->stack, ',');
	text_csv(&w->stack, im ? export_str(x, im->path) : "");
	buf_u8(&w->stack, ',');
	text_csv(&w->stack, export_name(x, leaf->fk));
	buf_u8(&w->stack, ',');
	text_csv(&w->stack, export_str(x, leaf->file));
	buf_u8(&w->stack, ',');
	buf_decimal(&w->stack, leaf->line);
	buf_str(&w->stack, ",\"");
	/* a spreadsheet would run it as a formula; quoted as by text_csv */
	if (strchr("=+-@", *export_name(x, leaf->fk)))
		buf_u8(&w->stack, '\'');
	for (size_t i = 0; i < x->frames.n; i++) {
		uint32_t fk = x->frames.v[i].fk;

		if (!pieces_has(&w->names, fk))
			make_name(w, fk);
		if (i)
			buf_bytes(&w->stack, " < ", 3);
		pieces_put(&w->names, fk, &w->stack);
	}
	buf_str(&w->stack, "\"\n");
	x->out.failed |= w->stack.failed;
	w->node = node;
	return 0;
}

static int put_record(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		      struct cell c, struct error *err)
{
	struct csv *w = ctx;
	struct export *x = w->x;
	int rc = node == w->node ? 0 : make_stack(w, node, err);

	if (rc)
		return rc;
	pieces_put(&w->events, col, &x->out);
	pieces_put(&w->threads, lane, &x->out);
	buf_decimal(&x->out, c.count);
	buf_u8(&x->out, ',');
	buf_decimal(&x->out, c.weight);
	buf_bytes(&x->out, w->stack.p, w->stack.n);
	return export_flush(x, false, err);
}

static int make_heads(struct csv *w, struct error *err)
{
	struct export *x = w->x;
	int rc = pieces_init(&w->names, export_nfuncs(x), err) ?:
		 pieces_init(&w->events, x->a.ncols, err) ?:
		 pieces_init(&w->threads, x->a.lanes.n, err);

	for (size_t i = 0; !rc && i < x->a.ncols; i++) {
		text_csv(&w->events.text, export_event_name(x, i));
		buf_str(&w->events.text,
			export_is_time(x, i) ? ",ns," : ",count,");
		pieces_keep(&w->events, i);
	}
	for (size_t i = 0; !rc && i < x->a.lanes.n; i++) {
		const struct lane *l = &x->a.lanes.v[i];

		buf_printf(&w->threads.text, "%u,", l->run + 1);
		text_csv(&w->threads.text, export_str(x, l->comm));
		buf_printf(&w->threads.text, ",%u,%u,", l->pid, l->tid);
		pieces_keep(&w->threads, i);
	}
	return rc;
}

int export_csv(struct export *x, struct error *err)
{
	struct csv w = { .x = x, .node = PROF_NONE };
	int rc = make_heads(&w, err);

	buf_str(&x->out, "event,unit,run,comm,pid,tid,samples,weight,image,"
			 "function,file,line,stack\n");
	if (!rc)
		rc = export_cells(x, put_record, &w, err);
	pieces_fini(&w.names);
	pieces_fini(&w.events);
	pieces_fini(&w.threads);
	buf_fini(&w.stack);
	return rc;
}
