// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of a ring of the kernel module, through ordering and decoder into a
 * profile. */
#include <stdlib.h>
#include <string.h>

#include "record/collect/collect_waits.h"
#include "record/kmod/kmod_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two events that are sampled, and four of waits. */
enum { RING = 65536, EVENTS = 6 };
static const struct kmod_numbers numbers = { 2, 2, 3 };

struct delivery {
	struct collector *c;
	struct kmod_stacks stacks;
	uint64_t sum;
};

static int deliver(void *ctx, uint64_t time, const uint8_t *p, size_t n)
{
	struct delivery *d = ctx;
	struct record r;

	if (!kmod_decode(p, n, &numbers, &d->stacks, &r))
		return 0;
	r.time_ns = time;
	/* Every address that it tells of must be there: in the record, or in a stack
	 * that was kept, where a sanitizer looks. */
	if (r.kind == RECORD_SAMPLE &&
	    ((const uint8_t *)r.sample.kernel < p ||
	     (const uint8_t *)r.sample.kernel > p + n)) {
		for (uint32_t i = 0; i < r.sample.nkernel + r.sample.nuser; i++)
			d->sum += r.sample.kernel[i];
	} else if (r.kind == RECORD_SAMPLE &&
	    ((const uint8_t *)(r.sample.kernel + r.sample.nkernel) > p + n ||
	     (const uint8_t *)(r.sample.user + r.sample.nuser) > p + n))
		abort();
	if (r.sample.copied && r.sample.copy.bytes + r.sample.copy.size > p + n)
		abort();
	return collector_record(d->c, &r, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *ring;
	uint64_t damaged = 0, tail = RING - 64;
	struct delivery d;
	struct collector c;
	struct profile p;
	struct order o;

	if (size > RING || profile_init(&p) < 0)
		return 0;
	ring = calloc(1, RING);
	if (!ring || order_init(&o, 1) < 0)
		goto out;
	if (!collector_init(&c, &p, "/nonexistent", "/nonexistent", NULL)) {
		c.nevents = EVENTS;
		collect_waits_begin(&c, &(struct source){
			.waits = true, .wait_stacks = true, .blocked = 2,
			.waking = 3, .runnable = 4, .latency = 5,
		}, false);
		waits_toggle(&c.waits, 1, true, NULL);
		d.c = &c;
		d.sum = 0;
		if (kmod_stacks_init(&d.stacks, 4) < 0)
			abort();
		for (size_t i = 0; i < size; i++)
			ring[(tail + i) & (RING - 1)] = data[i];
		kmod_ring_take(ring, RING, tail, tail + size, &o, 0, 1u << 30,
			       &damaged);
		order_flush(&o, UINT64_MAX - 1, deliver, &d);
		kmod_stacks_fini(&d.stacks);
		collector_fini(&c);
	}
	order_fini(&o);
out:
	free(ring);
	profile_fini(&p);
	return 0;
}
