// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A batch of ascending addresses: find their units, read those that are new,
 * then walk each function that was hit once.  Reading and walking are shared
 * between two threads when there is enough of it: one thread takes line
 * programs, the other functions; later each takes half of the addresses.
 */
#include <stdlib.h>

#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

enum {
	THREAD_ADDRS = 512,	/* worth a thread */
	/* Inline functions may be in so many units that cover them; asking
	 * each further one costs as much as reading so many bytes. */
	MANY_UNITS = 64, STEP_COST = 16,
	/* .dwo files that stay open between batches. */
	KEEP_SETS = 128,
	/* What may be walked to spell names: a hostile file cannot make each of
	 * them cost a walk over all of it. */
	SPELL_FREE = 16 << 20, SPELL_TIMES = 2,
};
#define NO_UNIT UINT32_MAX

/* Whether a loaded unit knows the address; *func is its function or NO_DIE. */
static bool ask_unit(const struct dwarf_unit *u, uint64_t addr, uint64_t *func)
{
	ptrdiff_t i = range_index_find(&u->funcs, addr);

	*func = i == RANGE_NONE ? NO_DIE : u->funcs.v[i].id;
	return i != RANGE_NONE;
}

/* The unit whose function covers the address, else one that has a line. */
static int find_func(struct dwarf_loader *l, uint64_t addr, struct dwarf_hit *h)
{
	struct range_index *x = &l->d->cover;
	ptrdiff_t i = range_index_find(x, addr);
	uint32_t lines = NO_UNIT, tried = 0;

	for (; i != RANGE_NONE; i = range_index_down(x, i - 1, addr)) {
		uint32_t id = COVER_UNIT(x->v[i].id);

		if (dwarf_want_unit(l, id) < 0 || dwarf_load_units(l) < 0)
			return -ERR_NOMEM;
		h->unit = id;
		if (ask_unit(&l->d->main->units.v[id], addr, &h->func))
			return 0;
		if (lines == NO_UNIT &&
		    dwarf_find_row(&l->d->main->units.v[id], addr))
			lines = id;
		if (++tried > MANY_UNITS &&
		    !dwarf_spend(&l->b->work[0], STEP_COST)) {
			dwarf_work_damage(&l->b->work[0],
					  "units overlap too much", 0);
			break;
		}
	}
	h->unit = lines;
	return 0;
}

/* Reads the first choice of units for all addresses, in one go. */
static int find_units(struct dwarf_loader *l)
{
	const struct range_index *x = &l->d->cover;
	uint64_t last = UINT64_MAX;
	bool lost = false;
	ptrdiff_t r;
	size_t i;

	for (i = 0; i < l->naddrs && !lost; i++)
		lost = range_index_find(x, l->addrs[i]) == RANGE_NONE;
	if (lost && dwarf_sweep(l) < 0)
		return -ERR_NOMEM;
	for (i = 0; i < l->naddrs; i++) {
		r = range_index_find(x, l->addrs[i]);
		if (r == RANGE_NONE || x->v[r].id == last)
			continue;
		last = x->v[r].id;
		if (dwarf_want_unit(l, COVER_UNIT(last)) < 0)
			return -ERR_NOMEM;
	}
	return dwarf_load_units(l);
}

struct walk_arg {
	const struct dwarf *d;
	const uint64_t *addrs;
	struct dwarf_hit *hits;
	uint32_t *calls;
	size_t n;
	struct dwarf_work *w;
	uint8_t worker;
};

/* Walks each run of addresses in one function. */
static void *walk_run(void *arg)
{
	struct walk_arg *a = arg;
	uint64_t budget;
	size_t i, j, k;

	for (i = 0; i < a->n; i = j) {
		struct dwarf_hit *h = &a->hits[i];
		const struct dwarf_unit *u;

		for (j = i + 1; j < a->n && a->hits[j].func == h->func &&
				a->hits[j].unit == h->unit; j++)
			;
		if (h->func == NO_DIE)
			continue;
		u = dwarf_body(&a->d->main->units.v[h->unit]);
		budget = a->w->budget;
		dwarf_read_inlines(a->d, u, h->func, a->addrs + i, j - i,
				   a->calls + i, a->w);
		dwarf_touched(u->set, budget - a->w->budget, a->w);
		for (k = i; k < j; k++) {
			a->hits[k].call = a->calls[k];
			a->hits[k].worker = a->worker;
		}
	}
	return NULL;
}

static int walk_all(struct dwarf *d, const uint64_t *addrs, size_t n,
		    struct dwarf_batch *b)
{
	uint32_t *calls = malloc(n * sizeof(*calls));
	size_t half = n / 2;
	struct walk_arg one = { d, addrs, b->hits, calls, half, &b->work[0],
				0 };
	struct walk_arg two = { d, addrs + half, b->hits + half, calls, n - half,
				&b->work[1], 1 };

	if (!calls)
		return -ERR_NOMEM;
	two.calls += half;
	dwarf_run_two(walk_run, &one, &two, n >= THREAD_ADDRS);
	free(calls);
	return 0;
}

/* Asks for all names at once. */
static int name_all(struct dwarf *d, size_t n, const struct dwarf_batch *b)
{
	const struct dwarf_work *w = b->work;
	size_t most = n + w[0].calls.n + w[1].calls.n, i, k, at = 0;
	uint64_t *dies = malloc(most * sizeof(*dies));
	int rc;

	if (!dies)
		return -ERR_NOMEM;
	for (i = 0; i < n; i++)
		if (!i || b->hits[i].func != b->hits[i - 1].func)
			dies[at++] = b->hits[i].func;
	for (k = 0; k < 2; k++)
		for (i = 0; i < w[k].calls.n; i++)
			dies[at++] = w[k].calls.v[i].origin;
	rc = dwarf_name_many(d, dies, at);
	/* Only inlined functions have no symbol that may name them better. */
	for (k = at = 0; k < 2; k++)
		for (i = 0; i < w[k].calls.n; i++)
			dies[at++] = w[k].calls.v[i].origin;
	if (!rc)
		rc = dwarf_full_name_many(d, dies, at);
	free(dies);
	return rc;
}

static void collect_damage(struct dwarf *d, const struct dwarf_batch *b)
{
	int i;

	for (i = 0; i < 2; i++)
		if (b->work[i].damage)
			dwarf_damage(d, b->work[i].damage,
				     b->work[i].damage_at);
}

int dwarf_resolve(struct dwarf *d, const uint64_t *addrs, size_t n,
		  struct dwarf_batch *b)
{
	struct dwarf_loader l = { .d = d, .addrs = addrs, .naddrs = n, .b = b };
	size_t i;
	int rc = 0;

	dwarf_work_init(d, &b->work[0]);
	dwarf_work_init(d, &b->work[1]);
	b->hits = malloc((n ? n : 1) * sizeof(*b->hits));
	if (!b->hits)
		return -ERR_NOMEM;
	for (i = 0; i < n; i++)
		b->hits[i] = (struct dwarf_hit){ NO_DIE, NO_UNIT, NO_CALL, 0 };
	d->clock++;
	d->spell_left = SPELL_FREE + SPELL_TIMES * d->bytes;
	dwarf_evict(d);
	rc = find_units(&l);
	for (i = 0; i < n && !rc; i++)
		rc = find_func(&l, addrs[i], &b->hits[i]);
	vec_fini(&l.units);
	if (!rc && n)
		rc = walk_all(d, addrs, n, b);
	if (!rc && n >= DWARF_MANY)
		rc = name_all(d, n, b);
	if (b->work[0].nomem || b->work[1].nomem)
		rc = -ERR_NOMEM;
	collect_damage(d, b);
	return rc;
}

void dwarf_batch_fini(struct dwarf *d, struct dwarf_batch *b)
{
	free(b->hits);
	b->hits = NULL;
	dwarf_work_fini(&b->work[0]);
	dwarf_work_fini(&b->work[1]);
	dwarf_unload(d, false);
	if (d->sets.n > KEEP_SETS) {
		dwarf_unload(d, true);
		dwarf_close_splits(d);
	}
}
