// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes folded stacks, "comm;outermost;…;innermost count", the input of
 * flamegraph.pl.
 *
 * If several events were recorded, each has its own root frame because their
 * units differ.  Weights that are times are in nanoseconds.
 *
 * ';' separates frames and is written as ':' in names, as stackcollapse-perf.pl
 * does.  The count follows the last blank, so blanks need no escape.
 *
 * Stacks are merged by their names before any text is built.  A line is a thread's
 * name with a path.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "export/formats.h"
#include "export/paths.h"
#include "export/pieces.h"

/* Maximum number of paths held for summing; beyond it, equal lines may
 * repeat. */
enum { HELD = 1 << 22 };

struct line {
	uint32_t root, path;	/* `root`: index in `roots` */
	uint64_t weight;
};

struct folded {
	struct export *x;
	struct export_paths paths;
	VEC(struct line) lines;
	uint32_t *root_of;		/* by lane and column */
	struct strtab roots;
	struct pieces names;		/* by name: ";name" */
	VEC(uint32_t) way;
	uint32_t node, path;		/* node and path of the last cell */
};

static int by_root_and_path(const void *p, const void *q)
{
	const struct line *a = p, *b = q;

	return ascending(a->root, b->root) ?:
	       ascending(a->path, b->path);
}

static void put_name(struct buf *out, const char *s)
{
	size_t n = strlen(s);
	uint8_t *room = buf_room(out, n);

	for (size_t i = 0; room && i < n; i++)
		room[i] = s[i] == ';' ? ':' : (uint8_t)s[i];
	out->n += room ? n : 0;
}

static int put_line(struct folded *f, const struct line *l, struct error *err)
{
	struct export *x = f->x;

	buf_str(&x->out, strtab_get(&f->roots, l->root));
	f->way.n = 0;
	for (uint32_t k = l->path; k; k = f->paths.v.v[k].up)
		if (vec_push(&f->way, x->name_of[f->paths.v.v[k].what]) < 0)
			return error_nomem(err);
	for (size_t i = f->way.n; i--;) {
		uint32_t name = f->way.v[i];

		if (!pieces_has(&f->names, name)) {
			buf_u8(&f->names.text, ';');
			put_name(&f->names.text, strtab_get(&x->text, name));
			pieces_keep(&f->names, name);
		}
		pieces_put(&f->names, name, &x->out);
	}
	buf_u8(&x->out, ' ');
	buf_decimal(&x->out, l->weight);
	buf_u8(&x->out, '\n');
	return export_flush(x, false, err);
}

/* Writes the held lines and clears them. */
static int put_lines(struct folded *f, struct error *err)
{
	struct export *x = f->x;
	int rc = pieces_init(&f->names, x->text.str.n, err);

	vec_sort(&f->lines, by_root_and_path);
	for (size_t i = 0, k; !rc && i < f->lines.n; i = k) {
		struct line l = f->lines.v[i];

		for (k = i + 1; k < f->lines.n &&
				!by_root_and_path(&f->lines.v[k], &l); k++)
			l.weight += f->lines.v[k].weight;
		rc = put_line(f, &l, err);
	}
	pieces_fini(&f->names);
	f->lines.n = 0;
	f->node = PROF_NONE;
	export_paths_clear(&f->paths);
	return rc;
}

static int put_stack(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		     struct cell c, struct error *err)
{
	struct folded *f = ctx;
	struct line l = { .root = f->root_of[lane * f->x->a.ncols + col],
			  .weight = c.weight };

	if (node != f->node) {
		f->path = export_path(&f->paths, node);
		f->node = node;
	}
	l.path = f->path;
	if (l.path == PROF_NONE || vec_push(&f->lines, l) < 0)
		return error_nomem(err);
	return f->paths.v.n > HELD || f->lines.n > HELD ? put_lines(f, err) : 0;
}

/* Makes the root "event;comm" of each thread and event. */
static int make_roots(struct folded *f, struct error *err)
{
	struct export *x = f->x;
	struct buf line = { 0 };

	if (strtab_init(&f->roots) < 0)
		return error_nomem(err);
	for (size_t l = 0; l < x->a.lanes.n; l++)
		for (size_t c = 0; c < x->a.ncols; c++) {
			const char *comm = export_str(x, x->a.lanes.v[l].comm);
			uint32_t *id = &f->root_of[l * x->a.ncols + c];

			buf_again(&line);
			if (x->a.ncols > 1) {
				put_name(&line, export_event_name(x, c));
				buf_u8(&line, ';');
			}
			put_name(&line, *comm ? comm : "[unknown]");
			*id = strtab_add(&f->roots, buf_cstr(&line));
			line.failed |= *id == UINT32_MAX;
		}
	buf_close(&line, &x->out);
	return 0;
}

int export_folded(struct export *x, struct error *err)
{
	struct folded f = { .x = x, .node = PROF_NONE };
	int rc = export_paths_init(&f.paths, x, EXPORT_PATH_NAMES, err);

	f.root_of = calloc(x->a.lanes.n * x->a.ncols + 1, sizeof(*f.root_of));
	if (!rc && !f.root_of)
		rc = error_nomem(err);
	if (!rc)
		rc = make_roots(&f, err) ?:
		     export_cells(x, put_stack, &f, err) ?:
		     put_lines(&f, err);
	export_paths_fini(&f.paths);
	vec_fini(&f.lines);
	free(f.root_of);
	strtab_fini(&f.roots);
	vec_fini(&f.way);
	return rc;
}
