// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that one side alone knows, and whose code the other side has by another
 * name (views/renames.h), count as one, so that what was renamed and got slower is
 * tested like any other.
 */
#include <stdlib.h>
#include <string.h>

#include "check/codes.h"
#include "check/runs_internal.h"
#include "views/renames.h"

struct side_cost {
	bool known;		/* it is in some stack of the side */
	double cost, samples;
};

struct finder {
	struct check_runs *c;
	struct check_codes codes;
	struct side_cost *cost[2];	/* by side and function */
	double all[2];
	VEC(struct rename_item) items[2];
};

static void sum_file(struct finder *x, const struct check_file *f)
{
	struct side_cost *to = x->cost[f->side];

	for (uint32_t i = 0; i < f->keys.keys.n; i++)
		to[check_func_of(x->c, f, i)].known = true;
	for (size_t i = 0; i < f->cells.n; i++) {
		const struct check_cell *cell = &f->cells.v[i];
		uint32_t fk = check_leaf(f, cell->stack);

		x->all[f->side] += (double)cell->weight;
		if (fk == PROF_NONE)
			continue;
		to[check_func_of(x->c, f, fk)].cost += (double)cell->weight;
		to[check_func_of(x->c, f, fk)].samples += (double)cell->count;
	}
}

static int find_items(struct finder *x, enum check_side side)
{
	const struct check_runs *c = x->c;

	for (uint32_t i = 0; i < c->funcs.n; i++) {
		const struct check_func *f = &c->funcs.v[i];
		const struct side_cost *own = &x->cost[side][i];
		const struct code_runs *code;
		struct rename_item new = {
			.func = i, .share = own->cost / x->all[side],
			.image = check_str(c, f->image),
			.name = check_str(c, f->name),
			.file = path_base(check_str(c, f->file)),
		};

		if (!f->name || f->kernel || x->cost[!side][i].known ||
		    own->samples < RENAME_LEAST_SAMPLES ||
		    new.share < RENAME_LEAST_SHARE)
			continue;
		code = check_code_of(&x->codes, i, side);
		if (!code)
			continue;
		new.code = *code;
		if (vec_push(&x->items[side], new) < 0)
			return -ERR_NOMEM;
	}
	return x->codes.failed ? -ERR_NOMEM : 0;
}

/* All that counts for the old function counts for the new one. */
static void make_alias(struct check_runs *c, uint32_t old, uint32_t now)
{
	for (uint32_t i = 0; i < c->funcs.n; i++)
		if (c->alias[i] == old)
			c->alias[i] = now;
	c->before[now] = old;
}

static int pair(struct finder *x)
{
	size_t n = x->items[CHECK_BASE].n;
	size_t *now = malloc((n + 1) * sizeof(*now));
	int rc = -ERR_NOMEM;

	if (now)
		rc = renames_find(x->items[CHECK_BASE].v, n,
				  x->items[CHECK_NEW].v, x->items[CHECK_NEW].n,
				  now);
	for (size_t i = 0; !rc && i < n; i++)
		if (now[i] != RENAME_NONE)
			make_alias(x->c, x->items[CHECK_BASE].v[i].func,
				   x->items[CHECK_NEW].v[now[i]].func);
	free(now);
	return rc;
}

int runs_pair_functions(struct check_runs *c)
{
	size_t n = (c->funcs.n + 1) * sizeof(*c->before);
	struct finder x = { .c = c };
	int rc = check_codes_init(&x.codes, c);

	for (int s = 0; s < 2; s++)
		x.cost[s] = calloc(c->funcs.n + 1, sizeof(*x.cost[s]));
	c->before = malloc(n);
	if (!c->before || !x.cost[0] || !x.cost[1])
		rc = -ERR_NOMEM;
	if (!rc) {
		memset(c->before, 0xff, n);
		for (size_t i = 0; i < c->files.n; i++)
			sum_file(&x, &c->files.v[i]);
		rc = find_items(&x, CHECK_BASE);
	}
	if (!rc)
		rc = find_items(&x, CHECK_NEW);
	if (!rc)
		rc = pair(&x);
	for (int s = 0; s < 2; s++) {
		free(x.cost[s]);
		vec_fini(&x.items[s]);
	}
	check_codes_fini(&x.codes);
	return rc;
}
