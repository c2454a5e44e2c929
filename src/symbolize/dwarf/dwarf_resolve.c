// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resolves a batch of ascending addresses: finds their units, reads the new
 * ones, then walks each function that was hit once.  Two threads share the work
 * if there is enough of it.  While reading, one takes line programs and the
 * other functions; later each handles half of the addresses.
 */
#include <dwarf.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

/*
 * Reading the units that a batch needs, and which of them are kept.  For many
 * addresses at once, units are read only for these: memory then depends on the
 * addresses, not on the units.  For a few at a time (a program that asks line
 * by line), whole units are kept, up to a limit.
 */

enum {
	/* Starting a thread costs about 50 us: the number of bytes read in that
	 * time. */
	THREAD_BYTES = 256 * 1024,
	/* Number of visits after which a unit is kept. */
	MANY_VISITS = 2,
	/* Units read at a time when all must be read (sweep). */
	SWEEP_UNITS = 64,
};
/* Maximum bytes of tables kept for later batches; the most recently used units
 * stay. */
#define TABLE_BYTES (32ull << 20)

/* Task 2*i reads the functions of unit v[i], 2*i+1 its lines. */
struct dwarf_loader {
	struct dwarf *d;
	const uint64_t *addrs;
	size_t naddrs;
	VEC(uint32_t) units;
	uint64_t bytes;		/* bytes of the units that will be kept */
	bool sweeping;
	atomic_size_t next;
	struct dwarf_batch *b;
};

struct load_arg {
	struct dwarf_loader *l;
	struct dwarf_work *w;
};

static void *load_run(void *arg)
{
	struct load_arg *a = arg;
	struct dwarf_loader *l = a->l;
	size_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < 2 * l->units.n) {
		struct dwarf_unit *u = &l->d->main->units.v[l->units.v[i / 2]];

		a->w->want = u->partial ? l->addrs : NULL;
		a->w->nwant = l->naddrs;
		if (i % 2)
			dwarf_read_lines(l->d, u, a->w);
		else
			dwarf_read_funcs(l->d, u, a->w);
	}
	return NULL;
}

/* Runs fn(one) and fn(two), in parallel if requested and possible. */
static void run_two(void *(*fn)(void *), void *one, void *two,
			  bool threads)
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

static uint64_t table_bytes(const struct dwarf_unit *u)
{
	const struct dwarf_lines *l = &u->lines;

	return (u->funcs.cap + l->index.cap + l->folded.cap) * sizeof(*u->funcs.v) +
	       l->rows.cap * sizeof(*l->rows.v) +
	       l->offsets.cap * sizeof(*l->offsets.v) +
	       l->seqs.cap * sizeof(*l->seqs.v) +
	       l->files.cap * sizeof(*l->files.v) +
	       l->dirs.cap * sizeof(*l->dirs.v);
}

/* Reads the requested units. */
static int load_units(struct dwarf_loader *l)
{
	struct load_arg one = { l, &l->b->work[0] }, two = { l, &l->b->work[1] };
	struct dwarf *d = l->d;
	uint64_t bytes = 0;
	size_t i;

	if (!l->units.n)
		return 0;
	for (i = 0; i < l->units.n; i++) {
		struct dwarf_unit *u = &d->main->units.v[l->units.v[i]];
		const struct dwarf_unit *body;

		dwarf_find_split(d, u, &l->b->work[0]);
		body = dwarf_body(u);
		bytes += body->end - body->off;
		/* Shared tables must not be parsed in threads. */
		if (body->abbrevs && body->abbrevs->users > 1)
			abbrev_finish(body->abbrevs);
	}
	dwarf_work_grant(d, one.w);
	dwarf_work_grant(d, two.w);
	atomic_store(&l->next, 0);
	run_two(load_run, &one, &two, bytes >= THREAD_BYTES);
	for (i = 0; i < l->units.n; i++) {
		struct dwarf_unit *u = &d->main->units.v[l->units.v[i]];

		u->table_bytes = table_bytes(u);
		d->table_bytes += u->table_bytes;
		if (vec_push(&d->loaded, l->units.v[i]) < 0)
			return -ERR_NOMEM;
	}
	l->units.n = 0;
	l->bytes = 0;
	return 0;
}

/* Requests unit i of the main file. */
static int want_unit(struct dwarf_loader *l, uint32_t i)
{
	struct dwarf *d = l->d;
	struct dwarf_unit *u = &d->main->units.v[i];
	uint64_t size = u->end - u->off;

	u->used = d->clock;
	if (u->loaded)
		return 0;
	u->loaded = true;
	if (l->sweeping)
		u->partial = false;
	else if (l->naddrs >= DWARF_MANY && u->visits < MANY_VISITS)
		u->partial = true;
	else	/* units beyond the limit are not kept */
		u->partial = l->naddrs > 1 &&
			     d->table_bytes + l->bytes + size > TABLE_BYTES;
	u->visits += u->visits < UINT8_MAX;
	if (!u->partial)
		l->bytes += size;
	return vec_push(&l->units, i) < 0 ? -ERR_NOMEM : 0;
}

/* Unloads all loaded units if `all` is set, otherwise the partial ones. */
static void unload(struct dwarf *d, bool all)
{
	size_t i, n = 0;

	for (i = 0; i < d->loaded.n; i++) {
		struct dwarf_unit *u = &d->main->units.v[d->loaded.v[i]];

		if (all || u->partial) {
			d->table_bytes -= u->table_bytes;
			dwarf_unit_unload(u);
		} else {
			d->loaded.v[n++] = d->loaded.v[i];
		}
	}
	d->loaded.n = n;
}

/* Unloads the least recently used units, down to half of the limit. */
static void evict(struct dwarf *d)
{
	if (d->table_bytes <= TABLE_BYTES)
		return;
	while (d->table_bytes > TABLE_BYTES / 2 && d->loaded.n) {
		size_t i, old = 0;
		struct dwarf_unit *u;

		for (i = 1; i < d->loaded.n; i++)
			if (d->main->units.v[d->loaded.v[i]].used <
			    d->main->units.v[d->loaded.v[old]].used)
				old = i;
		u = &d->main->units.v[d->loaded.v[old]];
		d->table_bytes -= u->table_bytes;
		dwarf_unit_unload(u);
		d->loaded.v[old] = d->loaded.v[--d->loaded.n];
	}
}

/* Adds the ranges that a unit's functions cover. */
static int cover_unit(struct dwarf *d, uint32_t id)
{
	const struct dwarf_unit *u = &d->main->units.v[id];
	const struct range_index *x[2] = { &u->funcs, &u->lines.index };
	size_t k;

	for (k = 0; k < x[0]->n + x[1]->n; k++) {
		const struct range *r = k < x[0]->n ? &x[0]->v[k]
						    : &x[1]->v[k - x[0]->n];

		if (range_index_add(&d->cover, r->lo, r->hi, COVER_ID(id)) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int sweep_some(struct dwarf_loader *l)
{
	struct dwarf *d = l->d;
	size_t i, first = d->loaded.n;
	int rc = load_units(l);

	for (i = first; i < d->loaded.n && !rc; i++) {
		rc = cover_unit(d, d->loaded.v[i]);
		d->main->units.v[d->loaded.v[i]].partial = true;
	}
	unload(d, false);
	return rc;
}

/* Reads all units without address ranges, once; those with code for this batch
 * are read again. */
static int sweep(struct dwarf_loader *l)
{
	struct dwarf *d = l->d;
	size_t i;
	int rc = 0;

	if (d->swept)
		return 0;
	d->swept = true;
	unload(d, true);
	l->sweeping = true;
	for (i = 0; i < d->main->ninfo && !rc; i++) {
		const struct dwarf_unit *u = &d->main->units.v[i];

		if (u->ranged || !u->abbrevs || u->tag == DW_TAG_partial_unit)
			continue;
		rc = want_unit(l, (uint32_t)i);
		if (!rc && l->units.n >= SWEEP_UNITS)
			rc = sweep_some(l);
	}
	if (!rc)
		rc = sweep_some(l);
	l->sweeping = false;
	return rc ? rc : range_index_sort(&d->cover);
}

enum {
	THREAD_ADDRS = 512,	/* minimum addresses for a second thread */
	/* Copies of inline functions may make many units cover an address.
	 * From this number on, asking each further unit counts as much as
	 * reading this many bytes. */
	MANY_UNITS = 64, STEP_COST = 16,
	/* Maximum .dwo files that stay open between batches. */
	KEEP_SETS = 128,
	/* Limits of the bytes read to build names: in a hostile file, each name
	 * could cost a walk over the whole file. */
	SPELL_FREE = 16 << 20, SPELL_TIMES = 2,
};
#define NO_UNIT UINT32_MAX

/* Returns whether a loaded unit covers the address; *func is its function or
 * NO_DIE. */
static bool ask_unit(const struct dwarf_unit *u, uint64_t addr, uint64_t *func)
{
	ptrdiff_t i = range_index_find(&u->funcs, addr);

	*func = i == RANGE_NONE ? NO_DIE : u->funcs.v[i].id;
	return i != RANGE_NONE;
}

/* Finds the unit whose function covers the address, otherwise one that has a
 * line. */
static int find_func(struct dwarf_loader *l, uint64_t addr, struct dwarf_hit *h)
{
	struct range_index *x = &l->d->cover;
	ptrdiff_t i = range_index_find(x, addr);
	uint32_t lines = NO_UNIT, tried = 0;

	for (; i != RANGE_NONE; i = range_index_down(x, i - 1, addr)) {
		uint32_t id = COVER_UNIT(x->v[i].id);

		if (want_unit(l, id) < 0 || load_units(l) < 0)
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

/* Reads the first candidate unit of each address in one pass. */
static int find_units(struct dwarf_loader *l)
{
	const struct range_index *x = &l->d->cover;
	uint64_t last = UINT64_MAX;
	bool lost = false;
	ptrdiff_t r;
	size_t i;

	for (i = 0; i < l->naddrs && !lost; i++)
		lost = range_index_find(x, l->addrs[i]) == RANGE_NONE;
	if (lost && sweep(l) < 0)
		return -ERR_NOMEM;
	for (i = 0; i < l->naddrs; i++) {
		r = range_index_find(x, l->addrs[i]);
		if (r == RANGE_NONE || x->v[r].id == last)
			continue;
		last = x->v[r].id;
		if (want_unit(l, COVER_UNIT(last)) < 0)
			return -ERR_NOMEM;
	}
	return load_units(l);
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

/* Walks each function once for its run of addresses. */
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
	run_two(walk_run, &one, &two, n >= THREAD_ADDRS);
	free(calls);
	return 0;
}

/* Reads all names at once. */
static int name_all(struct dwarf *d, size_t n, const struct dwarf_batch *b)
{
	const struct dwarf_work *w = b->work;
	size_t most = n + w[0].calls.n + w[1].calls.n, i, k, at = 0;
	uint64_t *dies = malloc(most * sizeof(*dies));
	int rc;

	if (!dies)
		return -ERR_NOMEM;
	for (i = 0; i < n; i++)
		if (b->hits[i].func != NO_DIE &&
		    (!i || b->hits[i].func != b->hits[i - 1].func))
			dies[at++] = b->hits[i].func;
	for (k = 0; k < 2; k++)
		for (i = 0; i < w[k].calls.n; i++)
			dies[at++] = w[k].calls.v[i].origin;
	rc = dwarf_name_many(d, dies, at);
	/* Only inlined functions need full names: for others, a symbol may have
	 * a better name. */
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
	evict(d);
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
	unload(d, false);
	if (d->sets.n > KEEP_SETS) {
		unload(d, true);
		dwarf_close_splits(d);
	}
}
