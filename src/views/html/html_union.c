// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges columns, functions and call trees of all recordings of a page. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/html/html_data.h"

static const char *event_name(const struct report *rep, uint32_t event)
{
	return profile_cstr(rep->p, rep->p->events.v[event].actual);
}

static size_t find_col(const struct html_data *d, enum html_side side,
		       const char *name)
{
	for (size_t c = 0; d->style->compare && c < d->ncols; c++)
		if (d->cols[c].side == side &&
		    !strcmp(name, event_name(html_rep(d, d->cols[c].source),
					     d->cols[c].event)))
			return c;
	return d->ncols;
}

static int add_columns(struct html_data *d, uint32_t source, struct error *err)
{
	struct html_source *s = &d->src[source];
	const struct report *rep = s->in.rep;

	s->col_of = calloc(rep->agg.ncols + 1, sizeof(*s->col_of));
	if (!s->col_of)
		return error_nomem(err);
	for (size_t c = 0; c < rep->agg.ncols; c++) {
		uint32_t event = rep->agg.cols.v[c];
		size_t col = find_col(d, s->in.side, event_name(rep, event));

		if (col >= HTML_EVENTS)
			return error_set(err, ERR_USAGE, "%zu events do not "
					 "fit in a page: choose some with "
					 "--event", rep->agg.ncols);
		if (col == d->ncols)
			d->cols[d->ncols++] = (struct html_col){
				.source = source, .event = event,
				.side = s->in.side,
				.scale = s->in.scale ? s->in.scale[c]
					: (struct html_scale){ 1, 0 } };
		s->col_of[c] = (uint32_t)col;
		cell_add(&d->cols[col].all, rep->agg.shown[event]);
	}
	return 0;
}

/* Finds or adds the page's function for a key of one recording. */
static int find_function(struct html_data *d, struct u64map *known,
			 uint32_t source, uint32_t fk)
{
	struct html_func f = { source, fk };
	uint32_t func = u64map_row(known, &d->funcs,
				   html_match(&d->src[source].in, fk), &f);

	d->src[source].func_of[fk] = func;
	return func == U64MAP_NONE ? -ERR_NOMEM : 0;
}

static int find_functions(struct html_data *d, uint32_t source,
			  struct u64map *known)
{
	struct html_source *s = &d->src[source];
	const struct report *rep = s->in.rep;
	size_t n = rep->keys.keys.n;
	int rc = 0;

	s->func_of = malloc((n + 1) * sizeof(*s->func_of));
	if (!s->func_of)
		return -ERR_NOMEM;
	memset(s->func_of, 0xff, (n + 1) * sizeof(*s->func_of));
	for (size_t i = 0; !rc && i < rep->order.n; i++)
		rc = find_function(d, known, source,
				   rep->table.rows.v[rep->order.v[i]].fk);
	return rc;
}

static int sum_functions(struct html_data *d)
{
	d->sums = calloc(d->funcs.n * d->ncols + 1, sizeof(*d->sums));
	if (!d->sums)
		return -ERR_NOMEM;
	for (size_t s = 0; s < d->nsrc; s++) {
		const struct report *rep = d->src[s].in.rep;

		for (size_t i = 0; i < rep->order.n; i++) {
			uint32_t row = rep->order.v[i];
			const struct values *v = report_values(rep, row);
			size_t f = d->src[s].func_of[rep->table.rows.v[row].fk];

			for (size_t c = 0; c < rep->agg.ncols; c++) {
				struct values *to = &d->sums[f * d->ncols +
							d->src[s].col_of[c]];

				cell_add(&to->self, v[c].self);
				cell_add(&to->total, v[c].total);
			}
		}
	}
	return 0;
}

struct func_order {
	uint64_t self, total;
	uint32_t func;
};

static int by_cost(const void *x, const void *y)
{
	const struct func_order *a = x, *b = y;

	return descending(a->self, b->self) ?:
	       descending(a->total, b->total) ?:
	       ascending(a->func, b->func);
}

static void renumber(struct html_data *d, const struct func_order *order,
		     uint32_t *to, struct html_func *funcs,
		     struct values *sums)
{
	size_t n = d->funcs.n, nc = d->ncols;

	memcpy(funcs, d->funcs.v, n * sizeof(*funcs));
	memcpy(sums, d->sums, n * nc * sizeof(*sums));
	for (size_t i = 0; i < n; i++) {
		size_t was = order[i].func;

		to[was] = (uint32_t)i;
		d->funcs.v[i] = funcs[was];
		memcpy(&d->sums[i * nc], &sums[was * nc], nc * sizeof(*sums));
	}
	for (size_t s = 0; s < d->nsrc; s++)
		for (size_t k = 0; k < d->src[s].in.rep->keys.keys.n; k++)
			if (d->src[s].func_of[k] != PROF_NONE)
				d->src[s].func_of[k] =
					to[d->src[s].func_of[k]];
}

/* Sorts functions of several recordings; those of one are in the report's
 * order. */
static int sort_functions(struct html_data *d)
{
	size_t n = d->funcs.n, nc = d->ncols;
	struct func_order *order = calloc(n + 1, sizeof(*order));
	uint32_t *to = malloc((n + 1) * sizeof(*to));
	struct html_func *funcs = malloc((n + 1) * sizeof(*funcs));
	struct values *sums = malloc((n * nc + 1) * sizeof(*sums));
	int rc = order && to && funcs && sums ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < n; i++) {
		order[i].func = (uint32_t)i;
		for (size_t c = 0; c < nc; c++) {
			order[i].self += d->sums[i * nc + c].self.count;
			order[i].total += d->sums[i * nc + c].total.count;
		}
	}
	if (!rc && n) {
		sort_rows(order, n, by_cost);
		renumber(d, order, to, funcs, sums);
	}
	free(order);
	free(to);
	free(funcs);
	free(sums);
	return rc;
}

int html_functions(struct html_data *d, struct error *err)
{
	struct u64map known = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->nsrc; i++)
		rc = add_columns(d, i, err);
	/* renamed functions get their new name, so the new side comes first */
	for (int side = HTML_NEW; side <= HTML_BASE; side++)
		for (uint32_t i = 0; !rc && i < d->nsrc; i++)
			if (d->src[i].in.side == (enum html_side)side &&
			    find_functions(d, i, &known) < 0)
				rc = error_nomem(err);
	if (!rc && (sum_functions(d) < 0 ||
		    (d->nsrc > 1 && sort_functions(d) < 0)))
		rc = error_nomem(err);
	u64map_fini(&known);
	return rc;
}

const struct row_verdict *html_find_verdict(const struct html_data *d,
					    const struct html_func *f)
{
	const struct html_compare *c = d->style->compare;
	uint32_t match = html_match(&d->src[f->source].in, f->fk);

	for (size_t i = 0; c && i < c->nverdicts; i++)
		if (c->verdicts[i].match == match)
			return &c->verdicts[i];
	return NULL;
}

int html_tree(struct html_data *d, struct error *err)
{
	struct calltree_source *sources = calloc(d->nsrc, sizeof(*sources));
	struct calltree_spec spec = { .sources = sources, .nsources = d->nsrc,
				      .nsides = 1, .ncols = d->ncols };
	int rc;

	if (!sources)
		return error_nomem(err);
	for (size_t i = 0; i < d->nsrc; i++) {
		struct html_source *s = &d->src[i];

		sources[i] = (struct calltree_source){
			.rep = s->in.rep, .func_of = s->func_of,
			.col_of = s->col_of, .node_of = &s->node_of
		};
	}
	rc = calltree_build(&d->tree, &spec, err);
	free(sources);
	d->entries.nodes = d->tree.nodes.n;
	return rc;
}
