// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Indexes which locations and frames belong to which unit, and which locations
 * to which symbol.  This is computed once for all units, because there may be
 * thousands of each.
 */
#include <stdlib.h>

#include "views/annotate/annotate.h"

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

void annotate_index_fini(struct annot_index *x)
{
	free(x->first);
	free(x->v);
	*x = (struct annot_index){ NULL, NULL };
}

int annotate_index_symbols(struct annotation *a)
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

static int add_location(struct owners *o, uint32_t loc)
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

static int add_frame(struct owners *o, uint32_t frame)
{
	uint32_t unit[2];
	int rc = 0;

	units_of(o, frame, unit);
	for (int k = 0; !rc && k < 2; k++)
		if (unit[k])
			rc = add_hit(&o->of, unit[k] - 1, PROF_NONE, frame);
	return rc;
}

int annotate_index_units(struct annotation *a)
{
	struct owners o = { .a = a };
	int rc = owners_init(&o);

	for (uint32_t i = 0; !rc && i < a->locs.n; i++)
		rc = add_location(&o, i);
	for (uint32_t i = 0; !rc && i < a->p->frames.n; i++)
		rc = add_frame(&o, i);
	if (make_index(&a->in_unit, &o.in, a->units.n) < 0 ||
	    make_index(&a->of_unit, &o.of, a->units.n) < 0)
		rc = -ERR_NOMEM;
	owners_fini(&o);
	return rc;
}
