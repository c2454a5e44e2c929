// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks: "comm;outermost;…;innermost count", the input of flamegraph.pl.
 * Where several events were recorded, each has its own root frame, as their
 * units differ.  Weights that are times are in nanoseconds.
 *
 * ';' separates frames and is written as ':' in names, as stackcollapse-perf.pl
 * does; the count stands behind the last blank, so blanks need no escape.
 */
#include <inttypes.h>

#include "export/formats.h"

/* Lines that are held to be added up: beyond, equal ones may occur twice. */
enum { HELD = 64 << 20 };

struct folded {
	struct export *x;
	struct strtab lines;
	VEC(uint64_t) weight;		/* by line - 1 */
	struct buf line;
	size_t held;
};

static void put_name(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_u8(out, *s == ';' ? ':' : (uint8_t)*s);
}

static int put_lines(struct folded *f, struct error *err)
{
	struct export *x = f->x;
	int rc = 0;

	for (size_t i = 0; !rc && i < f->weight.n; i++) {
		buf_printf(&x->out, "%s %" PRIu64 "\n",
			   strtab_get(&f->lines, (uint32_t)i + 1),
			   f->weight.v[i]);
		rc = export_flush(x, false, err);
	}
	strtab_fini(&f->lines);
	f->weight.n = f->held = 0;
	return rc || strtab_init(&f->lines) == 0 ? rc : export_nomem(err);
}

static int put_stack(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		     struct cell c, struct error *err)
{
	struct folded *f = ctx;
	struct export *x = f->x;
	const char *comm = export_str(x, x->a.lanes.v[lane].comm);
	uint32_t id;

	if (export_stack(x, node) < 0)
		return export_nomem(err);
	buf_again(&f->line);
	if (x->a.ncols > 1) {
		put_name(&f->line, export_event_name(x, col));
		buf_u8(&f->line, ';');
	}
	put_name(&f->line, *comm ? comm : "[unknown]");
	for (size_t i = x->frames.n; i--;) {
		buf_u8(&f->line, ';');
		put_name(&f->line, export_name(x, x->frames.v[i].fk));
	}
	id = strtab_add(&f->lines, buf_cstr(&f->line));
	if (f->line.failed || id == UINT32_MAX)
		return export_nomem(err);
	if (id > f->weight.n) {
		if (vec_push(&f->weight, 0) < 0)
			return export_nomem(err);
		f->held += f->line.n;
	}
	f->weight.v[id - 1] += c.weight;
	return f->held > HELD ? put_lines(f, err) : 0;
}

int export_folded(struct export *x, struct error *err)
{
	struct folded f = { .x = x };
	int rc = strtab_init(&f.lines) < 0 ? export_nomem(err) : 0;

	if (!rc)
		rc = export_cells(x, put_stack, &f, err);
	if (!rc)
		rc = put_lines(&f, err);
	strtab_fini(&f.lines);
	vec_fini(&f.weight);
	buf_fini(&f.line);
	return rc;
}
