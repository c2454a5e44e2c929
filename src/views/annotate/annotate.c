// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds an annotation: its units, and their costs. */
#include "views/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "symbolize/demangle/demangle.h"
#include "views/query/interval.h"
#include "views/query/lines.h"
#include "views/report.h"

/*
 * --- which locations and frames belong to which unit, and which locations to which
 * symbol: computed once for all units, because there may be thousands of each
 */

/* Hits in the order found, and the unit or symbol of each. */
struct found {
	VEC(struct annot_hit) hits;
	VEC(uint32_t) owner;
};

static int add_hit(struct found *f, uint32_t owner, uint32_t loc,
		   uint32_t frame)
{
	if (vec_push(&f->hits, (struct annot_hit){ loc, frame }) < 0 ||
	    vec_push(&f->owner, owner) < 0)
		return -ERR_NOMEM;
	return 0;
}

/* Sorts hits by owner, keeping the order within each; frees `f`. */
static int make_index(struct annot_index *x, struct found *f, size_t owners)
{
	size_t *next = calloc(owners + 2, sizeof(*next));
	size_t n = f->owner.n;	/* if memory ran out, the last hit may have no owner */

	x->v = malloc((n + 1) * sizeof(*x->v));
	x->first = next;
	if (next && x->v) {
		/* next[i + 1] is where the next hit of i goes; at the end it is
		 * where those of i + 1 begin */
		for (size_t i = 0; i < n; i++)
			next[f->owner.v[i] + 2]++;
		for (size_t i = 2; i < owners + 2; i++)
			next[i] += next[i - 1];
		for (size_t i = 0; i < n; i++)
			x->v[next[f->owner.v[i] + 1]++] = f->hits.v[i];
	}
	vec_fini(&f->hits);
	vec_fini(&f->owner);
	return next && x->v ? 0 : -ERR_NOMEM;
}

static void index_fini(struct annot_index *x)
{
	free(x->first);
	free(x->v);
	*x = (struct annot_index){ NULL, NULL };
}

/* Fills in_symbol.  Returns 0 or -ERR_NOMEM. */
static int index_symbols(struct annotation *a)
{
	struct found f = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < a->locs.n; i++)
		if (a->locs.v[i].symbol != PROF_NONE)
			rc = add_hit(&f, a->locs.v[i].symbol, i, PROF_NONE);
	return make_index(&a->in_symbol, &f, a->p->symbols.n) ? -ERR_NOMEM : rc;
}

/* By function, file and symbol: 1 + its unit, or 0. */
struct owners {
	struct annotation *a;
	uint32_t *func, *file, *symbol;
	uint32_t *last;		/* by unit: 1 + the last location found in it */
	struct found in, of;
};

static int owners_init(struct owners *o)
{
	struct annotation *a = o->a;

	o->func = calloc(a->p->funcs.n + 1, sizeof(*o->func));
	o->file = calloc(a->p->str.str.n + 1, sizeof(*o->file));
	o->symbol = calloc(a->p->symbols.n + 1, sizeof(*o->symbol));
	o->last = calloc(a->units.n + 1, sizeof(*o->last));
	if (!o->func || !o->file || !o->symbol || !o->last)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < a->units.n; i++) {
		const struct annot_unit *u = &a->units.v[i];

		if (u->kind == UNIT_FUNCTION)
			o->func[u->func] = i + 1;
		else if (u->kind == UNIT_FILE)
			o->file[u->file] = i + 1;
		else
			o->symbol[u->symbol] = i + 1;
	}
	return 0;
}

static void owners_fini(struct owners *o)
{
	free(o->func);
	free(o->file);
	free(o->symbol);
	free(o->last);
}

/* Sets the units of a frame, each as 1 + unit or 0: first as a function, then
 * as a file. */
static void units_of(const struct owners *o, uint32_t frame, uint32_t unit[2])
{
	const struct prof_frame *f = &o->a->p->frames.v[frame];

	unit[0] = unit[1] = 0;
	if (f->func >= o->a->p->funcs.n)	/* damaged file */
		return;
	unit[0] = o->func[o->a->same_func[f->func]];
	unit[1] = o->file[f->file];
}

static int index_location(struct owners *o, uint32_t loc)
{
	const struct annotation *a = o->a;
	uint32_t f = profile_loc_frame(a->p, a->locs.v[loc].loc), unit[2];
	int rc = 0;

	for (; !rc && f != PROF_NONE; f = a->p->frames.v[f].outer) {
		units_of(o, f, unit);
		for (int k = 0; !rc && k < 2; k++) {
			if (!unit[k] || o->last[unit[k] - 1] == loc + 1)
				continue;
			o->last[unit[k] - 1] = loc + 1;
			rc = add_hit(&o->in, unit[k] - 1, loc, f);
		}
	}
	if (!rc && a->locs.v[loc].symbol != PROF_NONE &&
	    o->symbol[a->locs.v[loc].symbol])
		rc = add_hit(&o->in, o->symbol[a->locs.v[loc].symbol] - 1, loc,
			     PROF_NONE);
	return rc;
}

static int index_frame(struct owners *o, uint32_t frame)
{
	uint32_t unit[2];
	int rc = 0;

	units_of(o, frame, unit);
	for (int k = 0; !rc && k < 2; k++)
		if (unit[k])
			rc = add_hit(&o->of, unit[k] - 1, PROF_NONE, frame);
	return rc;
}

/* Fills in_unit and of_unit once the units are chosen.  Returns 0 or -ERR_NOMEM. */
static int index_units(struct annotation *a)
{
	struct owners o = { .a = a };
	int rc = owners_init(&o);

	for (uint32_t i = 0; !rc && i < a->locs.n; i++)
		rc = index_location(&o, i);
	for (uint32_t i = 0; !rc && i < a->p->frames.n; i++)
		rc = index_frame(&o, i);
	if (make_index(&a->in_unit, &o.in, a->units.n) < 0 ||
	    make_index(&a->of_unit, &o.of, a->units.n) < 0)
		rc = -ERR_NOMEM;
	owners_fini(&o);
	return rc;
}

bool annot_has_cost(const struct annotation *a, const struct annot_cost *cost)
{
	for (size_t c = 0; c < a->ncols; c++)
		if (annot_sum(&cost[c]).count || cost[c].called.count)
			return true;
	return false;
}

bool annot_is_noise(const struct annotation *a, const struct annot_cost *cost)
{
	for (size_t c = 0; c < a->ncols; c++) {
		struct cell sum = annot_sum(&cost[c]);

		cell_add(&sum, cost[c].called);
		if (!interval_hides(annot_event(a, c), sum, annot_all(a, c)))
			return false;
	}
	return true;
}

double annot_share(const struct annotation *a, size_t col, struct cell c)
{
	struct cell all = annot_all(a, col);

	return all.weight ? line_share(c.weight, all.weight)
			  : line_share(c.count, all.count);
}

/* Adds the self cost of a location. */
static void add_leaf(void *ctx, uint32_t node, const struct slot *slot,
		     struct cell c)
{
	struct annotation *a = ctx;
	uint32_t loc = a->p->nodes.v[node].loc, col = a->agg.col_of[slot->event];

	if (loc < a->p->locs.n && col != PROF_NONE)
		cell_add(&a->loc_cells[(size_t)loc * a->ncols + col], c);
}

static bool has_cost(const struct annotation *a, size_t loc)
{
	for (size_t c = 0; c < a->ncols; c++)
		if (a->loc_cells[loc * a->ncols + c].count)
			return true;
	return false;
}

static int symbol_compare(const void *x, const void *y, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct prof_symbol *a = &p->symbols.v[i], *b = &p->symbols.v[k];

	return place_compare(a->image, a->vaddr, b->image, b->vaddr) ?:
	       ascending(i, k);
}

static int line_compare(const void *x, const void *y, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct prof_line *a = &p->lines.v[i], *b = &p->lines.v[k];

	return place_compare(a->image, a->vaddr, b->image, b->vaddr) ?:
	       ascending(i, k);
}

static int code_compare(const void *x, const void *y, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct prof_code *a = &p->codes.v[i], *b = &p->codes.v[k];

	return place_compare(a->image, a->vaddr, b->image, b->vaddr) ?:
	       ascending(i, k);
}

static int loc_compare(const void *x, const void *y)
{
	const struct annot_loc *a = x, *b = y;

	return place_compare(a->image, a->vaddr, b->image, b->vaddr);
}

static uint32_t *sorted(size_t n, struct profile *p,
			int (*compare)(const void *, const void *, void *))
{
	uint32_t *v = malloc((n + 1) * sizeof(*v));

	for (size_t i = 0; v && i < n; i++)
		v[i] = (uint32_t)i;
	if (v)
		sort_rows_r(v, n, compare, p);
	return v;
}

static uint32_t find_symbol(const struct annotation *a, uint32_t image,
			    uint64_t vaddr)
{
	const struct profile *p = a->p;
	const struct prof_symbol *s = p->symbols.v;
	const uint32_t *by = a->by_symbol;
	size_t end;		/* first symbol that begins after vaddr */

	lower_bound(end, 0, p->symbols.n,
		    place_compare(s[by[end]].image, s[by[end]].vaddr, image,
				  vaddr) <= 0);
	if (!end)
		return PROF_NONE;
	s = &p->symbols.v[by[end - 1]];
	return s->image == image && vaddr - s->vaddr < s->size ? by[end - 1]
							       : PROF_NONE;
}

bool annot_address_name(const struct annotation *a, uint32_t image,
			uint64_t vaddr, struct buf *out)
{
	uint32_t id = find_symbol(a, image, vaddr);
	const struct prof_symbol *s;

	if (id == PROF_NONE)
		return false;
	s = &a->p->symbols.v[id];
	if (!*profile_cstr(a->p, s->name))
		return false;
	demangle(profile_cstr(a->p, s->name), out);
	if (vaddr != s->vaddr)
		buf_printf(out, "+0x%llx",
			   (unsigned long long)(vaddr - s->vaddr));
	return true;
}

/* Merges functions declared at the same place.  An inlined function and one
 * with its own code may have separate rows, and a function of a header has rows
 * in several images. */
static int merge_functions(struct annotation *a)
{
	int rc = identity_init(&a->same, a->p, true);

	a->same_func = a->same.func;
	return rc ? rc : labels_of_profile(&a->labels, a->p, &a->same);
}

/* Builds indexes of the tables by place, and the list of locations with
 * cost. */
static int make_indexes(struct annotation *a)
{
	struct profile *p = a->p;

	a->by_symbol = sorted(p->symbols.n, p, symbol_compare);
	a->by_code = sorted(p->codes.n, p, code_compare);
	a->by_line = sorted(p->lines.n, p, line_compare);
	a->owners = calloc(ANNOT_OWNERS * p->frames.n + 1, sizeof(*a->owners));
	a->loc_cells = calloc((p->locs.n + 1) * (a->ncols + 1),
			      sizeof(*a->loc_cells));
	if (merge_functions(a) < 0 || !a->by_symbol || !a->by_code ||
	    !a->by_line || !a->owners || !a->loc_cells)
		return -ERR_NOMEM;
	aggregate_each(&a->agg, add_leaf, a);
	for (size_t i = 0; i < p->locs.n; i++) {
		struct annot_loc l = { p->locs.v[i].image, (uint32_t)i,
				       p->locs.v[i].vaddr, PROF_NONE };

		if (!has_cost(a, i))
			continue;
		l.symbol = find_symbol(a, l.image, l.vaddr);
		if (vec_push(&a->locs, l) < 0)
			return -ERR_NOMEM;
	}
	vec_sort(&a->locs, loc_compare);
	return index_symbols(a);
}

bool annot_unit_has(const struct annotation *a, const struct annot_unit *u,
		    uint32_t frame)
{
	const struct prof_frame *f = &a->p->frames.v[frame];

	if (f->func >= a->p->funcs.n)	/* damaged file: no function */
		return false;
	switch (u->kind) {
	case UNIT_FUNCTION:
		return a->same_func[f->func] == u->func;
	case UNIT_FILE:
		return f->file == u->file;
	default:
		return f->outer == PROF_NONE;
	}
}

uint32_t annot_unit_frame(const struct annotation *a,
			  const struct annot_unit *u, uint32_t frame)
{
	while (frame != PROF_NONE && !annot_unit_has(a, u, frame))
		frame = a->p->frames.v[frame].outer;
	return frame;
}

static int build_units(struct annotation *a, struct error *err)
{
	int rc = annotate_choose(a, err);

	if (!rc && index_units(a) < 0)
		rc = error_nomem(err);
	for (size_t i = 0; !rc && i < a->units.n; i++) {
		struct annot_unit *u = &a->units.v[i];

		rc = annotate_lines(a, u) ?: annotate_codes(a, u);
		if (rc)
			error_nomem(err);
	}
	if (!rc && annotate_calls(a) < 0)
		rc = error_nomem(err);
	return rc;
}

/* Computes everything that follows from the summed samples. */
static int build_shown(struct annotation *a, struct error *err)
{
	if (make_indexes(a) < 0)
		return error_nomem(err);
	return build_units(a, err);
}

static int build(struct annotation *a, struct reader *r, struct error *err)
{
	int rc = selection_init(&a->sel, a->p, &a->spec.select, err) ?:
		 aggregate_run(r, &a->sel, 0, false, &a->agg, err) ?:
		 quality_build(&a->quality, r, &a->agg, err);

	if (rc)
		return rc;
	a->ncols = a->agg.ncols;
	/* each location has a cell for each event */
	if (a->ncols > REPORT_COLUMNS_MAX)
		return error_set(err, ERR_USAGE, "%zu events do not fit side "
				 "by side: choose some with --event",
				 a->ncols);
	return build_shown(a, err);
}

int annotate_build(struct reader *r, const struct annotate_spec *spec,
		   struct annotation **out, struct error *err)
{
	struct annotation *a = calloc(1, sizeof(*a));
	int rc;

	*out = NULL;
	if (!a)
		return error_nomem(err);
	a->p = reader_profile(r);
	a->max_insns = annotate_max_insns(reader_max_memory(r));
	a->spec = *spec;
	sources_init(&a->sources, a->p, &spec->where);
	rc = build(a, r, err);
	if (rc < 0) {
		annotate_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

/* Frees what build_shown made. */
static void free_shown(struct annotation *a)
{
	vec_fini(&a->units);
	vec_fini(&a->lines);
	vec_fini(&a->copies);
	vec_fini(&a->codes);
	vec_fini(&a->insns);
	vec_fini(&a->jumps);
	vec_fini(&a->costs);
	vec_fini(&a->locs);
	buf_fini(&a->text);
	free(a->loc_cells);
	free(a->by_symbol);
	free(a->by_code);
	free(a->by_line);
	free(a->owners);
	index_fini(&a->in_unit);
	index_fini(&a->of_unit);
	index_fini(&a->in_symbol);
	identity_fini(&a->same);
	labels_fini(&a->labels);
}

int annotate_again(struct annotation *a, struct error *err)
{
	free_shown(a);
	a->loc_cells = NULL;
	a->by_symbol = a->by_code = a->by_line = NULL;
	a->owners = NULL;
	a->hidden = 0;
	a->has_calls = false;
	return build_shown(a, err);
}

void annotate_free(struct annotation *a)
{
	if (!a)
		return;
	free_shown(a);
	selection_fini(&a->sel);
	aggregate_fini(&a->agg);
	quality_fini(&a->quality);
	sources_fini(&a->sources);
	free(a);
}
