// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes records into the shared rings: see shared.h. */
#include "preload/preload.h"

static bool preload_ring_lock(struct timer_ring *r, uint64_t owner)
{
	uint64_t unlocked = 0;

	return !__atomic_load_n(&r->lock, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(&r->lock, &unlocked, owner, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void preload_ring_unlock(struct timer_ring *r)
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
bool preload_ring_begin(struct preload_ring_room *p, uint32_t tid, size_t most)
{
	uint32_t n = preload.nrings;
	uint64_t owner = (uint64_t)preload.pid << 32 | tid;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (tid + i) % n;
		struct timer_ring *r = &preload.rings[k];
		uint64_t used;

		if (!preload_ring_lock(r, owner))
			continue;
		used = r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
		if (used <= preload.ring_bytes &&
		    preload.ring_bytes - used >= most) {
			p->ring = r;
			p->data = preload.data + k * preload.ring_bytes;
			p->pos = r->head;
			return true;
		}
		preload_ring_unlock(r);
	}
	return false;
}

void preload_ring_put(const struct preload_ring_room *p, size_t at,
		      const void *from, size_t n)
{
	uint64_t size = preload.ring_bytes, pos = (p->pos + at) & (size - 1);
	size_t first = n < size - pos ? n : (size_t)(size - pos);

	bytes_copy(p->data + pos, from, first);
	if (first < n)
		bytes_copy(p->data, (const uint8_t *)from + first, n - first);
}

void preload_ring_end(const struct preload_ring_room *p, size_t size)
{
	__atomic_store_n(&p->ring->head, p->pos + size, __ATOMIC_RELEASE);
	preload_ring_unlock(p->ring);
}

uint64_t preload_ring_time(void)
{
	uint64_t now = preload_now();

	__atomic_store_n(&preload.sideband_ns, now, __ATOMIC_RELAXED);
	return now;
}

void preload_record(struct timer_record *r, size_t size, const char *text, size_t n)
{
	static const uint64_t zero;
	struct preload_ring_room p;
	size_t all = (size + n + 7) & ~(size_t)7;

	if (!preload.header || preload.careful)
		return;
	preload_numbers(&r->pid, &r->tid);
	if (!preload_ring_begin(&p, r->tid, all)) {
		__atomic_fetch_add(&preload.header->lost_sideband, 1,
				   __ATOMIC_RELAXED);
		return;
	}
	r->size = (uint32_t)all;
	r->time = preload_ring_time();
	preload_ring_put(&p, 0, r, size);
	preload_ring_put(&p, size, text, n);
	preload_ring_put(&p, size + n, &zero, all - size - n);
	preload_ring_end(&p, all);
}

void preload_record_kind(enum timer_kind kind)
{
	struct timer_record r = { .kind = (uint16_t)kind };

	preload_record(&r, sizeof(r), NULL, 0);
}

void preload_record_text(enum timer_kind kind, uint16_t flags, const char *text,
			 size_t n)
{
	struct timer_text t = { .r = { .kind = (uint16_t)kind, .flags = flags } };

	if (kind == TIMER_EXEC && preload.header && !preload.careful)
		t.cpu_us = preload_cpu_us();
	t.n = (uint32_t)(n < TIMER_TEXT_MAX ? n : TIMER_TEXT_MAX);
	preload_record(&t.r, sizeof(t), text, t.n);
}
