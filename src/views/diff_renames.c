// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions whose name is on one side only, and whose code is on both: they have
 * another name now (renames.h).
 */
#include <stdlib.h>

#include "profile/symbol_order.h"
#include "symbolize/clones.h"
#include "views/diff_internal.h"
#include "views/renames.h"

struct finder {
	struct diff *d;
	const struct func_cost *v;
	size_t n;
	uint8_t *sides;		/* by str of names: bits of sides that have it */
	VEC(struct rename_item) items[DIFF_SIDES];
	struct prof_symbol *symbols;	/* of the side at hand, by address */
};

/* Any function that a side knows: what only calls others, too. */
static int find_names(struct finder *x)
{
	struct diff *d = x->d;
	size_t most = d->names.str.str.n;

	for (int s = 0; s < DIFF_SIDES; s++)
		most += d->side[s].p->funcs.n;
	x->sides = calloc(most + 1, sizeof(*x->sides));
	if (!x->sides)
		return -ERR_NOMEM;
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct profile *p = d->side[s].p;

		for (size_t i = 0; i < p->funcs.n; i++) {
			const char *name = profile_cstr(p, p->funcs.v[i].name);
			uint32_t id = strtab_add_n(&d->names.str, name,
						   clone_base(name));

			if (id == UINT32_MAX)
				return -ERR_NOMEM;
			x->sides[id] |= 1u << s;
		}
	}
	return 0;
}

static int add_item(struct finder *x, int side, uint32_t func, double all)
{
	const struct func_cost *f = &x->v[func];
	struct diff *d = x->d;
	struct rename_item new = {
		.func = func, .share = f->cost[side] / all,
		.image = profile_cstr(&d->names, f->image),
		.name = profile_cstr(&d->names, f->name),
		.file = f->file,
	};
	int rc;

	if (f->name == PROF_STR_EMPTY || x->sides[f->name] != 1u << side ||
	    f->cost[side] < RENAME_LEAST_SAMPLES ||
	    new.share < RENAME_LEAST_SHARE)
		return 0;
	rc = code_runs_of(d->side[side].p, new.name, x->symbols, &new.code);
	if (!rc && vec_push(&x->items[side], new) < 0) {
		code_runs_fini(&new.code);
		rc = -ERR_NOMEM;
	}
	return rc < 0 ? rc : 0;
}

static int find_items(struct finder *x, int side)
{
	double all = 0;
	int rc;

	for (size_t i = 0; i < x->n; i++)
		all += x->v[i].cost[side];
	rc = symbols_copy(x->d->side[side].p, &x->symbols);
	for (uint32_t i = 0; !rc && i < x->n; i++)
		rc = add_item(x, side, i, all);
	free(x->symbols);
	return rc;
}

static int add_rename(struct diff *d, const struct func_cost *old,
		      const struct func_cost *now)
{
	struct diff_rename r = { old->name, now->name, old->image, now->image };
	uint32_t *by_old = u64map_slot(&d->rename_of, old->name), *by_new;

	if (!by_old)
		return -ERR_NOMEM;
	*by_old = (uint32_t)d->renames.n;
	by_new = u64map_slot(&d->renamed, now->name);
	if (!by_new)
		return -ERR_NOMEM;
	*by_new = (uint32_t)d->renames.n;
	return vec_push(&d->renames, r) < 0 ? -ERR_NOMEM : 0;
}

int diff_renames(struct diff *d, const struct func_cost *v, size_t n)
{
	struct finder x = { .d = d, .v = v, .n = n };
	int rc = find_names(&x);
	size_t *now = NULL;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = find_items(&x, s);
	if (!rc) {
		now = malloc((x.items[DIFF_OLD].n + 1) * sizeof(*now));
		rc = now ? renames_find(x.items[DIFF_OLD].v,
					x.items[DIFF_OLD].n,
					x.items[DIFF_NEW].v,
					x.items[DIFF_NEW].n, now)
			 : -ERR_NOMEM;
	}
	for (size_t i = 0; !rc && i < x.items[DIFF_OLD].n; i++)
		if (now[i] != RENAME_NONE)
			rc = add_rename(d, &v[x.items[DIFF_OLD].v[i].func],
					&v[x.items[DIFF_NEW].v[now[i]].func]);
	for (int s = 0; s < DIFF_SIDES; s++) {
		for (size_t i = 0; i < x.items[s].n; i++)
			code_runs_fini(&x.items[s].v[i].code);
		vec_fini(&x.items[s]);
	}
	free(now);
	free(x.sides);
	return rc;
}

static const struct diff_rename *rename_at(const struct diff *d,
					   const struct u64map *tab,
					   uint32_t name)
{
	uint32_t i = u64map_get(tab, name);

	return i < d->renames.n ? &d->renames.v[i] : NULL;
}

const struct diff_rename *diff_rename_of(const struct diff *d, uint32_t old)
{
	return rename_at(d, &d->rename_of, old);
}

const struct diff_rename *diff_renamed(const struct diff *d, uint32_t now)
{
	return rename_at(d, &d->renamed, now);
}
