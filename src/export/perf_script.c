// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text of `perf script`: a head line for each sample, its frames innermost
 * first, an empty line.  Inlined functions have "(inlined)" in the place of the
 * image, as perf writes them.  Addresses are those of the ELF files.
 */
#include <inttypes.h>

#include "export/formats.h"

static int put_sample(void *ctx, const struct export_sample *s,
		      struct error *err)
{
	struct export *x = ctx;
	const struct lane *l = &x->a.lanes.v[s->lane];

	if (export_stack(x, s->stack) < 0)
		return export_nomem(err);
	buf_printf(&x->out, "%s %u/%u [%03u] %" PRIu64 ".%06u: %" PRIu64 " %s: \n",
		   export_str(x, l->comm), l->pid, l->tid, s->cpu,
		   s->time_ns / 1000000000,
		   (unsigned int)(s->time_ns % 1000000000 / 1000), s->weight,
		   export_event_name(x, s->col));
	for (size_t i = 0; i < x->frames.n; i++) {
		const struct export_frame *f = &x->frames.v[i];
		const struct prof_image *im = export_image(x, f);
		const char *image = im ? export_str(x, im->path) : "[unknown]";

		buf_printf(&x->out, "\t%16" PRIx64 " %s (%s)\n",
			   im ? x->p->locs.v[f->loc].vaddr : 0,
			   export_name(x, f->fk),
			   f->inlined ? "inlined" : image);
	}
	buf_u8(&x->out, '\n');
	return export_flush(x, false, err);
}

int export_perf_script(struct export *x, struct error *err)
{
	return export_samples(x, put_sample, x, err);
}
