// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs in an order that does not depend on the order of the files. */
#include <stdlib.h>
#include <string.h>

#include "check/runs_internal.h"

static int by_file(const void *a, const void *b)
{
	const struct check_file *x = a, *y = b;

	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int by_time(const void *a, const void *b)
{
	const struct check_run *x = a, *y = b;

	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->run < y->run ? -1 : x->run > y->run;
}

static int add_runs(struct check_runs *c, uint32_t file)
{
	const struct check_file *f = &c->files.v[file];
	size_t first = c->runs.n;

	for (uint32_t r = 0; r < f->p->runs.n; r++) {
		struct check_run run = {
			.file = file, .run = r, .side = f->side,
			.start_ns = f->p->runs.v[r].start_wall_ns,
		};

		if (vec_push(&c->runs, run) < 0)
			return -ERR_NOMEM;
		*(f->side == CHECK_BASE ? &c->nbase : &c->nnew) += 1;
	}
	for (size_t i = 0; i < f->cells.n; i++) {
		struct check_run *run =
			&c->runs.v[first + f->cells.v[i].run];

		run->samples += f->cells.v[i].count;
		run->cost += (double)f->cells.v[i].weight;
	}
	return 0;
}

int check_runs_finish(struct check_runs *c, const struct check_runs_options *o,
		      struct error *err)
{
	int rc = 0;

	if (c->files.n)
		qsort(c->files.v, c->files.n, sizeof(*c->files.v), by_file);
	if (o->by_line)
		rc = runs_match_lines(c, &o->where, NULL, 0);
	for (size_t i = 0; !rc && i < c->files.n; i++) {
		rc = runs_read_file(&c->files.v[i], o, err);
		if (rc < 0)
			return rc;
	}
	if (!rc)
		rc = runs_match_funcs(c);
	for (size_t i = 0; !rc && i < c->files.n; i++)
		rc = runs_map_keys(c, &c->files.v[i], o->by_line);
	for (uint32_t i = 0; !rc && i < c->files.n; i++)
		rc = add_runs(c, i);
	if (!rc && c->runs.n)
		qsort(c->runs.v, c->runs.n, sizeof(*c->runs.v), by_time);
	if (!rc)
		rc = runs_pair_images(c);
	if (!rc)
		rc = runs_pair_functions(c);
	if (rc < 0)
		return error_set(err, ERR_NOMEM,
				 "out of memory while reading the recordings");
	return 0;
}
