// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes records into the shared rings: see shared.h. */
#include "preload/preload.h"

static bool ring_hold(struct timer_ring *r, uint64_t who)
{
	uint64_t nobody = 0;

	return !__atomic_load_n(&r->lock, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(&r->lock, &nobody, who, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void ring_release(struct timer_ring *r)
{
	__atomic_store_n(&r->lock, 0, __ATOMIC_RELEASE);
}

/*
 * The recorder's side is drain_rings(), record/timer/timer_source.c:
 *
 *	LOAD tail	(acquire)	LOAD head	(acquire)
 *	STORE record			LOAD record
 *	STORE head	(release)	STORE tail	(release)
 */
bool ring_begin(struct ring_place *p, uint32_t tid, size_t most)
{
	uint32_t n = preload.nrings;
	uint64_t who = (uint64_t)preload.pid << 32 | tid;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (tid + i) % n;
		struct timer_ring *r = &preload.rings[k];
		uint64_t used;

		if (!ring_hold(r, who))
			continue;
		used = r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
		if (used <= preload.ring_bytes &&
		    preload.ring_bytes - used >= most) {
			p->ring = r;
			p->data = preload.data + k * preload.ring_bytes;
			p->pos = r->head;
			return true;
		}
		ring_release(r);
	}
	return false;
}

void ring_put(const struct ring_place *p, size_t at, const void *from, size_t n)
{
	uint64_t size = preload.ring_bytes, pos = (p->pos + at) & (size - 1);
	size_t first = n < size - pos ? n : (size_t)(size - pos);

	bytes_copy(p->data + pos, from, first);
	bytes_copy(p->data, (const uint8_t *)from + first, n - first);
}

void ring_end(const struct ring_place *p, size_t size)
{
	__atomic_store_n(&p->ring->head, p->pos + size, __ATOMIC_RELEASE);
	ring_release(p->ring);
}

uint64_t ring_time(void)
{
	uint64_t now = preload_now();

	__atomic_store_n(&preload.told_ns, now, __ATOMIC_RELAXED);
	return now;
}

void ring_tell(struct timer_record *r, size_t size, const char *text, size_t n)
{
	static const uint64_t zero;
	struct ring_place p;
	size_t all = (size + n + 7) & ~(size_t)7;

	if (!preload.header || preload.careful)
		return;
	preload_numbers(&r->pid, &r->tid);
	if (!ring_begin(&p, r->tid, all)) {
		__atomic_fetch_add(&preload.header->lost_news, 1,
				   __ATOMIC_RELAXED);
		return;
	}
	r->size = (uint32_t)all;
	r->time = ring_time();
	ring_put(&p, 0, r, size);
	ring_put(&p, size, text, n);
	ring_put(&p, size + n, &zero, all - size - n);
	ring_end(&p, all);
}

void ring_tell_kind(enum timer_kind kind)
{
	struct timer_record r = { .kind = (uint16_t)kind };

	ring_tell(&r, sizeof(r), NULL, 0);
}

void ring_tell_text(enum timer_kind kind, uint16_t flags, const char *text,
		    size_t n)
{
	struct timer_text t = { .r = { .kind = (uint16_t)kind, .flags = flags } };

	if (kind == TIMER_EXEC && preload.header && !preload.careful)
		t.cpu_us = preload_cpu_us();
	t.n = (uint32_t)(n < TIMER_TEXT_MAX ? n : TIMER_TEXT_MAX);
	ring_tell(&t.r, sizeof(t), text, t.n);
}
