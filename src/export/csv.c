// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One record (RFC 4180) for each thread, event and stack, for spreadsheets and
 * data frames.  Frames of a stack are separated by " < ", innermost first.
 */
#include <inttypes.h>

#include "base/text.h"
#include "export/formats.h"

struct csv {
	struct export *x;
	struct buf stack;
};

static int put_record(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		      struct cell c, struct error *err)
{
	struct csv *w = ctx;
	struct export *x = w->x;
	const struct lane *l = &x->a.lanes.v[lane];
	const struct export_frame *leaf;
	const struct prof_image *im;

	if (export_stack(x, node) < 0)
		return export_nomem(err);
	leaf = &x->frames.v[0];
	im = export_image(x, leaf);
	text_csv(&x->out, export_event_name(x, col));
	buf_printf(&x->out, ",%s,%u,", export_is_time(x, col) ? "ns" : "count",
		   l->run + 1);
	text_csv(&x->out, export_str(x, l->comm));
	buf_printf(&x->out, ",%u,%u,%" PRIu64 ",%" PRIu64 ",", l->pid, l->tid,
		   c.count, c.weight);
	text_csv(&x->out, im ? export_str(x, im->path) : "");
	buf_u8(&x->out, ',');
	text_csv(&x->out, export_name(x, leaf->fk));
	buf_u8(&x->out, ',');
	text_csv(&x->out, export_str(x, leaf->file));
	buf_printf(&x->out, ",%u,", leaf->line);
	buf_again(&w->stack);
	for (size_t i = 0; i < x->frames.n; i++) {
		buf_str(&w->stack, i ? " < " : "");
		buf_str(&w->stack, export_name(x, x->frames.v[i].fk));
	}
	text_csv(&x->out, buf_cstr(&w->stack));
	buf_str(&x->out, "\n");
	x->out.failed |= w->stack.failed;
	return export_flush(x, false, err);
}

int export_csv(struct export *x, struct error *err)
{
	struct csv w = { .x = x };
	int rc;

	buf_str(&x->out, "event,unit,run,comm,pid,tid,samples,weight,image,"
			 "function,file,line,stack\n");
	rc = export_cells(x, put_record, &w, err);
	buf_fini(&w.stack);
	return rc;
}
