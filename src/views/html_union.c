// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Columns and functions of all recordings of a page as one.
 *
 * A function of two recordings is one if the base name of its image and its
 * linkage name without what compilers append to clones are equal.
 */
#include <stdlib.h>
#include <string.h>

#include "views/html_data.h"
#include "views/names.h"

static int nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for the page");
}

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

	s->col_of = calloc(rep->agg.ncols + 1, 1);
	if (!s->col_of)
		return nomem(err);
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
				.side = s->in.side };
		s->col_of[c] = (uint8_t)col;
		cell_add(&d->cols[col].all, rep->agg.shown[event]);
	}
	return 0;
}

/* "f.isra.0", "f.constprop.1.cold" are f. */
static size_t plain_length(const char *name)
{
	static const char *const marks[] = { ".isra.", ".constprop.", ".part.",
					     ".cold", ".llvm.", ".lto_priv." };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *at = strstr(name, marks[i]);

		if (at && at != name && (size_t)(at - name) < n)
			n = (size_t)(at - name);
	}
	return n;
}

static void put_key(const struct report *rep, uint32_t fk, struct buf *out)
{
	const struct frame_key *k = &rep->keys.keys.v[fk];
	const char *name = profile_cstr(rep->p, k->name);

	buf_str(out, path_base(profile_cstr(rep->p, k->image)));
	buf_u8(out, '\n');
	if (k->sort == FRAME_FUNC)
		buf_bytes(out, name, plain_length(name));
	else
		name_symbol(rep->p, k, out);
}

struct union_names {
	struct strtab keys;
	struct u64map func;	/* by key */
	struct buf key;
};

/* The page's function for a key of one recording. */
static int find_function(struct html_data *d, struct union_names *u,
			 uint32_t source, uint32_t fk)
{
	struct html_func f = { source, fk };
	uint32_t id, *slot;

	if (d->nsrc > 1) {
		buf_reset(&u->key);
		put_key(html_rep(d, source), fk, &u->key);
		id = strtab_add(&u->keys, buf_cstr(&u->key));
		slot = id == UINT32_MAX ? NULL : u64map_slot(&u->func, id);
		if (!slot || u->key.failed)
			return -ERR_NOMEM;
		if (*slot == U64MAP_NONE)
			*slot = (uint32_t)d->funcs.n;
		d->src[source].func_of[fk] = *slot;
		if (*slot < d->funcs.n)
			return 0;
	} else {
		d->src[source].func_of[fk] = (uint32_t)d->funcs.n;
	}
	return vec_push(&d->funcs, f);
}

static int find_functions(struct html_data *d, uint32_t source,
			  struct union_names *u)
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
		rc = find_function(d, u, source,
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

static int dearer(const void *x, const void *y)
{
	const struct func_order *a = x, *b = y;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->func < b->func ? -1 : a->func > b->func;
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

/* Of several recordings; those of one are in the report's order. */
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
		qsort(order, n, sizeof(*order), dearer);
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
	struct union_names u = { .key = { 0 } };
	int rc = strtab_init(&u.keys) < 0 ? nomem(err) : 0;

	for (uint32_t i = 0; !rc && i < d->nsrc; i++)
		rc = add_columns(d, i, err);
	for (uint32_t i = 0; !rc && i < d->nsrc; i++)
		rc = find_functions(d, i, &u) < 0 ? nomem(err) : 0;
	if (!rc && (sum_functions(d) < 0 ||
		    (d->nsrc > 1 && sort_functions(d) < 0)))
		rc = nomem(err);
	strtab_fini(&u.keys);
	u64map_fini(&u.func);
	buf_fini(&u.key);
	return rc;
}

const struct html_verdict *html_find_verdict(const struct html_data *d,
					     const struct html_func *f)
{
	const struct html_compare *c = d->style->compare;
	const struct report *rep = html_rep(d, f->source);
	const struct frame_key *k = &rep->keys.keys.v[f->fk];
	const char *name = profile_cstr(rep->p, k->name);
	const char *image = path_base(profile_cstr(rep->p, k->image));
	size_t n = plain_length(name);

	for (size_t i = 0; c && k->sort == FRAME_FUNC && i < c->nverdicts; i++)
		if (!strncmp(c->verdicts[i].name, name, n) &&
		    !c->verdicts[i].name[n] &&
		    !strcmp(c->verdicts[i].image, image))
			return &c->verdicts[i];
	return NULL;
}
