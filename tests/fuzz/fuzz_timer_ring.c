// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of a ring that programs write to, through ordering, decoder and
 * processes into a profile.  The first byte says whether stacks were copied. */
#include <stdlib.h>
#include <string.h>

#include "record/collect/collector.h"
#include "record/timer/timer_sideband.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RING = 65536 };

struct delivery {
	struct timer_sideband sideband;
	bool chains;
};

static int deliver(void *ctx, uint64_t time, const uint8_t *p, size_t n)
{
	struct delivery *d = ctx;
	struct timer_message m;

	if (!timer_decode(p, n, d->chains, &m))
		return 0;
	/* All that it tells of must be there. */
	if ((m.text && m.kind != TIMER_START &&
	     (const uint8_t *)m.text + m.n > p + n) ||
	    (m.sample.frames &&
	     m.sample.frames + m.sample.frame_bytes > p + n) ||
	    (m.sample.copied && m.sample.copy.bytes + m.sample.copy.size >
	     p + n))
		abort();
	return timer_sideband_message(&d->sideband, &m, time);
}

static void feed(struct collector *c, bool chains, const uint8_t *data,
		 size_t size)
{
	struct delivery d = { .chains = chains };
	uint64_t damaged = 0, tail = RING - 64;
	uint8_t *ring = calloc(1, RING);
	struct order o;

	if (!ring || order_init(&o, 1) < 0) {
		free(ring);
		return;
	}
	timer_sideband_init(&d.sideband, "/nonexistent");
	d.sideband.cb = collector_record;
	d.sideband.ctx = c;
	for (size_t i = 0; i < size; i++)
		ring[(tail + i) & (RING - 1)] = data[i];
	timer_ring_take(ring, RING, tail, tail + size, &o, 0, 1u << 30,
			&damaged);
	order_flush(&o, UINT64_MAX - 1, deliver, &d);
	timer_sideband_loads(&d.sideband, 1u << 30);
	timer_sideband_end(&d.sideband, UINT64_MAX);
	timer_sideband_fini(&d.sideband);
	order_fini(&o);
	free(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct collector c;
	struct profile p;

	if (size < 1 || size > RING || profile_init(&p) < 0)
		return 0;
	if (!collector_init(&c, &p, "/nonexistent", "/nonexistent", NULL)) {
		c.nevents = 1;
		feed(&c, data[0] & 1, data + 1, size - 1);
		collector_fini(&c);
	}
	profile_fini(&p);
	return 0;
}
