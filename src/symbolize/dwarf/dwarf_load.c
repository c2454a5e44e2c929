// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the units that a batch asks for, and what of them stays for the next
 * one.  Many addresses at once are worth reading units for these alone: memory
 * then follows the addresses, not the units.  A few at a time (a program that
 * asks line by line) find units kept, up to a limit.
 */
#include <dwarf.h>
#include <pthread.h>

#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

enum {
	/* Starting a thread costs some 50 us: what is read in that time. */
	THREAD_BYTES = 256 * 1024,
	/* Units that are read again and again are worth keeping. */
	MANY_VISITS = 2,
	/* Units that are read at a time when all have to be (sweep). */
	SWEEP_UNITS = 64,
};
/* Tables of units that stay for the next batch: those used last. */
#define TABLE_BYTES (32ull << 20)

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

/* Runs fn(one) and fn(two), side by side if asked for and possible. */
void dwarf_run_two(void *(*fn)(void *), void *one, void *two, bool threads)
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

	return (u->funcs.cap + l->index.cap) * sizeof(*u->funcs.v) +
	       l->rows.cap * sizeof(*l->rows.v) +
	       l->offsets.cap * sizeof(*l->offsets.v) +
	       l->seqs.cap * sizeof(*l->seqs.v) +
	       l->files.cap * sizeof(*l->files.v) +
	       l->dirs.cap * sizeof(*l->dirs.v);
}

/* Reads the units that were asked for. */
int dwarf_load_units(struct dwarf_loader *l)
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
		/* Tables that are shared: not in threads. */
		if (body->abbrevs && body->abbrevs->users > 1)
			abbrev_finish(body->abbrevs);
	}
	dwarf_work_grant(d, one.w);
	dwarf_work_grant(d, two.w);
	atomic_store(&l->next, 0);
	dwarf_run_two(load_run, &one, &two, bytes >= THREAD_BYTES);
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

int dwarf_want_unit(struct dwarf_loader *l, uint32_t i)
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
	else	/* what does not fit the limit is not kept */
		u->partial = l->naddrs > 1 &&
			     d->table_bytes + l->bytes + size > TABLE_BYTES;
	u->visits += u->visits < UINT8_MAX;
	if (!u->partial)
		l->bytes += size;
	return vec_push(&l->units, i) < 0 ? -ERR_NOMEM : 0;
}

/* Unloads the loaded units for which `all` is set or that are partial. */
void dwarf_unload(struct dwarf *d, bool all)
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

/* Keeps the newest half of what may be kept. */
void dwarf_evict(struct dwarf *d)
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

/* Adds what a unit turns out to cover. */
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
	int rc = dwarf_load_units(l);

	for (i = first; i < d->loaded.n && !rc; i++) {
		rc = cover_unit(d, d->loaded.v[i]);
		d->main->units.v[d->loaded.v[i]].partial = true;
	}
	dwarf_unload(d, false);
	return rc;
}

/* Reads all units that do not say where their code is, once; those with code for
 * this batch are read again. */
int dwarf_sweep(struct dwarf_loader *l)
{
	struct dwarf *d = l->d;
	size_t i;
	int rc = 0;

	if (d->swept)
		return 0;
	d->swept = true;
	dwarf_unload(d, true);
	l->sweeping = true;
	for (i = 0; i < d->main->ninfo && !rc; i++) {
		const struct dwarf_unit *u = &d->main->units.v[i];

		if (u->ranged || !u->abbrevs || u->tag == DW_TAG_partial_unit)
			continue;
		rc = dwarf_want_unit(l, (uint32_t)i);
		if (!rc && l->units.n >= SWEEP_UNITS)
			rc = sweep_some(l);
	}
	if (!rc)
		rc = sweep_some(l);
	l->sweeping = false;
	return rc ? rc : range_index_sort(&d->cover);
}
