// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of a perf ring, through decoder, ordering, waits and address spaces into a
 * profile.  The first byte says how; the rest goes in two rounds. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/collect/collect_waits.h"
#include "record/collect/collector.h"
#include "record/source/order.h"
#include "record/perf/perf_decode.h"
#include "record/perf/perf_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RING = 65536, IDS = 4, WAKING = 2, WAKES = 3 };

struct delivery {
	struct perf_decoder d;
	struct collector *c;
	uint64_t last;
};

static int deliver(void *ctx, uint64_t time, const uint8_t *p, size_t n)
{
	struct delivery *d = ctx;
	struct record r;

	if (!perf_decode(&d->d, p, n, &r))
		return 0;
	r.time_ns = time;
	return collector_record(d->c, &r, NULL);
}

/* Every row refers to rows that exist. */
static void check(const struct profile *p)
{
	for (size_t i = 1; i < p->nodes.n; i++)
		if (p->nodes.v[i].parent >= i ||
		    (p->nodes.v[i].loc >= p->locs.n &&
		     !prof_is_mark(p->nodes.v[i].loc)))
			abort();
	for (size_t i = 0; i < p->locs.n; i++)
		if (p->locs.v[i].image >= p->images.n)
			abort();
}

static void feed(struct delivery *d, const uint8_t *data, size_t size)
{
	uint8_t *ring = calloc(1, RING);
	uint64_t damaged = 0, tail = RING - 64, half = size / 2 & ~(size_t)7;
	struct perf_taken taken = { 0 };
	struct order o;
	struct perf_bytes bytes = { ring, RING };
	struct perf_intake one = { &o, 0, &d->d, &damaged, NULL, &taken };
	struct perf_intake two = { &o, 1, &d->d, &damaged, NULL, &taken };

	if (!ring || order_init(&o, 2) < 0) {
		free(ring);
		return;
	}
	for (size_t i = 0; i < size; i++)
		ring[(tail + i) & (RING - 1)] = data[i];
	perf_ring_take(&bytes, tail, tail + half, &one, 1u << 30);
	perf_ring_take(&bytes, tail + half, tail + size, &two, 1u << 30);
	order_flush(&o, 1u << 20, deliver, d);
	collector_idle(d->c, 1ull << 33, NULL);
	order_flush(&o, UINT64_MAX, deliver, d);
	order_fini(&o);
	free(ring);
}

/* The same bytes, read record by record. */
struct direct {
	struct perf_ring ring;
	const struct perf_decoder *d;
	uint64_t damaged, taken;
	uint64_t record[PERF_RING_RECORD_MAX / 8];
};

static bool peek(void *ctx, size_t stream, uint64_t upto, uint64_t *time)
{
	struct direct *x = ctx;

	(void)stream;
	return perf_ring_peek(&x->ring, 1u << 30, 1u << 20, upto, time,
			      &x->damaged);
}

static bool take(void *ctx, size_t stream, struct order_record *out)
{
	struct direct *x = ctx;

	(void)stream;
	if (x->taken++ % 2 && perf_ring_borrow(&x->ring, out)) {
		perf_ring_free(&x->ring, out);
		return true;
	}
	out->bytes = (const uint8_t *)x->record;
	out->size = perf_ring_fetch(&x->ring, x->d, x->record);
	return out->size;
}

static void feed_directly(struct delivery *d, const uint8_t *data, size_t size)
{
	size_t header = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page = calloc(1, header + RING);
	uint8_t *ring = (uint8_t *)page + header;
	struct direct x = { { .page = page, .size = RING }, &d->d, 0, 0, { 0 } };
	const struct order_feed feed = { peek, take, &x };
	struct order o;

	if (!page || order_init(&o, 1) < 0) {
		free(page);
		return;
	}
	o.feed = &feed;
	page->data_tail = RING - 64;
	page->data_head = page->data_tail + size;
	for (size_t i = 0; i < size; i++)
		ring[(page->data_tail + i) & (RING - 1)] = data[i];
	perf_ring_look(&x.ring);
	order_flush(&o, 1u << 19, deliver, d);
	perf_ring_look(&x.ring);
	order_flush(&o, UINT64_MAX, deliver, d);
	if (page->data_tail != page->data_head)
		abort();
	order_fini(&o);
	free(page);
}

static void begin_waits(struct collector *c)
{
	const struct source src = { .nevents = 3, .waits = true,
				    .wait_stacks = true, .runnable = 1,
				    .waking = WAKING,
				    .latency = SOURCE_NONE };

	collect_waits_begin(c, &src, false);
	if (waits_toggle(&c->waits, 0, true, NULL) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct u64map ids = { 0 };
	struct profile p;
	struct collector c;
	struct delivery d = { { .ids = &ids, .max_stack = 127 }, &c, 0 };

	if (size < 1 || size > RING || profile_init(&p) < 0)
		return 0;
	for (uint32_t i = 0; i < IDS; i++)
		*u64map_slot(&ids, i) = i;
	d.d.callchain = data[0] & 1;
	d.d.copy = data[0] & 2;
	d.d.wakes = data[0] & 4 ? WAKES : 0;
	d.d.waking = data[0] & 4 ? WAKING : 0;
	d.d.cgroup = data[0] & 8;
	d.d.woken_at = d.d.waking_at = 24;
	if (!collector_init(&c, &p, "/nonexistent", "/nonexistent", NULL)) {
		c.nevents = 3;
		if (d.d.wakes)
			begin_waits(&c);
		if (data[0] & 16)
			feed_directly(&d, data + 1, size - 1);
		else
			feed(&d, data + 1, size - 1);
		check(&p);
		collector_fini(&c);
	}
	profile_fini(&p);
	u64map_fini(&ids);
	return 0;
}
