// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A batch of ascending addresses: find their units, load those that are new,
 * then walk each function that was hit once.  Loading and walking are shared
 * between two threads when there is enough of it: one thread takes line
 * programs, the other functions; later each takes half of the addresses.
 */
#include <dwarf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "symbolize/dwarf.h"

/* Starting a thread costs some 50 us: the bytes that are read in that time. */
enum { THREAD_BYTES = 256 * 1024, THREAD_ADDRS = 512 };

#define NO_UNIT UINT32_MAX

/* What to load: task 2*i is the functions of unit v[i], 2*i+1 its lines. */
struct loader {
	struct dwarf *d;
	VEC(uint32_t) units;
	atomic_size_t next;
	struct dwarf_batch *b;
};

struct load_arg {
	struct loader *l;
	struct dwarf_work *w;
};

static void *load_run(void *arg)
{
	struct load_arg *a = arg;
	struct loader *l = a->l;
	size_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < 2 * l->units.n) {
		struct dwarf_unit *u = &l->d->main->units.v[l->units.v[i / 2]];

		if (i % 2)
			dwarf_read_lines(l->d, u, a->w);
		else
			dwarf_read_funcs(l->d, u, a->w);
	}
	return NULL;
}

/* Runs fn(one) and fn(two), side by side if asked for and possible. */
static void run_two(void *(*fn)(void *), void *one, void *two, bool threads)
{
	pthread_t t;

	if (threads && !pthread_create(&t, NULL, fn, two)) {
		fn(one);
		pthread_join(t, NULL);
		return;
	}
	fn(one);
	fn(two);
}

static void load_units(struct loader *l)
{
	struct load_arg one = { l, &l->b->work[0] }, two = { l, &l->b->work[1] };
	const struct dwarf_unit *body;
	uint64_t bytes = 0;
	size_t i;

	if (!l->units.n)
		return;
	for (i = 0; i < l->units.n; i++) {
		struct dwarf_unit *u = &l->d->main->units.v[l->units.v[i]];

		dwarf_find_split(l->d, u, &l->b->work[0]);
		body = dwarf_body(u);
		bytes += body->end - body->off;
		u->loaded = true;
		if (body->abbrevs)	/* tables are shared: not in threads */
			abbrev_finish(body->abbrevs);
	}
	dwarf_work_grant(l->d, one.w);
	dwarf_work_grant(l->d, two.w);
	atomic_store(&l->next, 0);
	run_two(load_run, &one, &two, bytes >= THREAD_BYTES);
	l->units.n = 0;
}

static int want_unit(struct loader *l, uint32_t i)
{
	struct dwarf_unit *u = &l->d->main->units.v[i];
	size_t k;

	if (u->loaded)
		return 0;
	for (k = l->units.n; k-- > 0;)
		if (l->units.v[k] == i)
			return 0;
	return vec_push(&l->units, i) < 0 ? -ERR_NOMEM : 0;
}

/* Whether a loaded unit knows the address; *func is its function or NO_DIE. */
static bool ask_unit(const struct dwarf_unit *u, uint64_t addr, uint64_t *func)
{
	ptrdiff_t i = range_index_find(&u->funcs, addr);

	*func = i == RANGE_NONE ? NO_DIE : u->funcs.v[i].id;
	return i != RANGE_NONE;
}

/* The unit whose function covers the address, else one that has a line. */
static int find_func(struct loader *l, uint64_t addr, struct dwarf_hit *h)
{
	struct range_index *x = &l->d->cover;
	ptrdiff_t i = range_index_find(x, addr);
	uint32_t lines = NO_UNIT;

	for (; i != RANGE_NONE; i = range_index_down(x, i - 1, addr)) {
		uint32_t id = COVER_UNIT(x->v[i].id);

		if (want_unit(l, id) < 0)
			return -ERR_NOMEM;
		load_units(l);
		h->unit = id;
		if (ask_unit(&l->d->main->units.v[id], addr, &h->func))
			return 0;
		if (lines == NO_UNIT &&
		    dwarf_find_row(&l->d->main->units.v[id], addr))
			lines = id;
	}
	h->unit = lines;
	return 0;
}

/* Loads all units that do not say where their code is, once, and adds what they
 * turn out to cover. */
static int sweep(struct loader *l)
{
	struct dwarf *d = l->d;
	size_t i, k, n = 0;

	if (d->swept)
		return 0;
	d->swept = true;
	for (i = 0; i < d->main->ninfo; i++)
		if (!d->main->units.v[i].ranged && d->main->units.v[i].abbrevs &&
		    d->main->units.v[i].tag != DW_TAG_partial_unit &&
		    want_unit(l, (uint32_t)i) < 0)
			return -ERR_NOMEM;
	n = l->units.n;
	load_units(l);
	for (i = 0; n && i < d->main->ninfo; i++) {
		const struct dwarf_unit *u = &d->main->units.v[i];
		const struct range_index *x[2] = { &u->funcs, &u->lines.index };

		if (u->ranged || !u->abbrevs)
			continue;
		for (k = 0; k < x[0]->n + x[1]->n; k++) {
			const struct range *r = k < x[0]->n
					? &x[0]->v[k] : &x[1]->v[k - x[0]->n];

			if (range_index_add(&d->cover, r->lo, r->hi,
					    COVER_ID(i)) < 0)
				return -ERR_NOMEM;
		}
	}
	return n ? range_index_sort(&d->cover) : 0;
}

static int find_units(struct loader *l, const uint64_t *addrs, size_t n)
{
	const struct range_index *x = &l->d->cover;
	bool lost = false;
	uint64_t last = UINT64_MAX;
	ptrdiff_t r;
	size_t i;

	for (i = 0; i < n; i++) {
		r = range_index_find(x, addrs[i]);
		if (r == RANGE_NONE) {
			lost = true;
			continue;
		}
		if (x->v[r].id == last)
			continue;
		last = x->v[r].id;
		if (want_unit(l, COVER_UNIT(last)) < 0)
			return -ERR_NOMEM;
	}
	load_units(l);
	return lost ? sweep(l) : 0;
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
	size_t i, j, k;

	for (i = 0; i < a->n; i = j) {
		struct dwarf_hit *h = &a->hits[i];

		for (j = i + 1; j < a->n && a->hits[j].func == h->func &&
				a->hits[j].unit == h->unit; j++)
			;
		if (h->func == NO_DIE)
			continue;
		dwarf_read_inlines(a->d, &a->d->main->units.v[h->unit], h->func,
				   a->addrs + i, j - i, a->calls + i, a->w);
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
	run_two(walk_run, &one, &two, n >= THREAD_ADDRS);
	free(calls);
	return 0;
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
	struct loader l = { .d = d, .b = b };
	size_t i;
	int rc = 0;

	dwarf_work_init(d, &b->work[0]);
	dwarf_work_init(d, &b->work[1]);
	b->hits = malloc((n ? n : 1) * sizeof(*b->hits));
	if (!b->hits)
		return -ERR_NOMEM;
	for (i = 0; i < n; i++)
		b->hits[i] = (struct dwarf_hit){ NO_DIE, NO_UNIT, NO_CALL, 0 };
	rc = find_units(&l, addrs, n);
	for (i = 0; i < n && !rc; i++)
		rc = find_func(&l, addrs[i], &b->hits[i]);
	vec_fini(&l.units);
	if (!rc && n)
		rc = walk_all(d, addrs, n, b);
	if (b->work[0].nomem || b->work[1].nomem)
		rc = -ERR_NOMEM;
	collect_damage(d, b);
	return rc;
}

void dwarf_batch_fini(struct dwarf_batch *b)
{
	free(b->hits);
	b->hits = NULL;
	dwarf_work_fini(&b->work[0]);
	dwarf_work_fini(&b->work[1]);
}
