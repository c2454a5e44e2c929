// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads records from the kernel module's rings. */
#include "record/kmod/kmod_ring.h"

#include <string.h>
#include <unistd.h>

#include "record/source/ring_read.h"
#include "tally/kmod.h"

static uint32_t size_of(const void *header)
{
	return ((const struct tally_record *)header)->size;
}

static uint64_t time_of(const void *header)
{
	return ((const struct tally_record *)header)->time;
}

uint64_t kmod_ring_take(const uint8_t *data, uint64_t size, uint64_t tail,
			uint64_t head, struct order *o, size_t stream,
			uint64_t now, uint64_t *damaged)
{
	static const struct ring_format format = {
		sizeof(struct tally_record), UINT16_MAX, size_of, time_of,
	};

	return ring_read(&format, data, size, tail, head, o, stream, now,
			 damaged);
}

/*
 * The module's side is ring_put(), kmod/sample.c:
 *
 *	LOAD tail			LOAD head	(acquire)
 *	smp_mb()			LOAD record
 *	STORE record			STORE tail	(release)
 *	STORE head (release)
 */
int kmod_ring_drain(struct kmod_ring *r, struct order *o, size_t stream,
		    uint64_t (*now)(void), uint64_t *damaged)
{
	struct tally_ring *page = r->page;
	const uint8_t *data = (const uint8_t *)r->page +
			      (size_t)sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&page->head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->tail, end;

	if (head == tail)
		return 0;
	end = kmod_ring_take(data, r->size, tail, head, o, stream, now(),
			     damaged);
	__atomic_store_n(&page->tail, end, __ATOMIC_RELEASE);
	return end == head ? 0 : -ERR_NOMEM;
}

/* The user side at the end of a sample.  The unwinder's registers have the same
 * numbers. */
static bool decode_copy(const uint8_t *p, size_t n, struct record_sample *s)
{
	const struct tally_copy *t = (const struct tally_copy *)p;
	struct record_copy *copy = &s->copy;

	if (n < sizeof(*t) || (t->bytes + 7ull) / 8 != (n - sizeof(*t)) / 8)
		return false;
	memcpy(copy->regs.r, t->regs, sizeof(t->regs));
	/* Without its two pointers there is nothing to begin with. */
	copy->regs.known = t->known >> UNWIND_RIP & 1 &&
			   t->known >> UNWIND_RSP & 1
			   ? t->known & ((1u << UNWIND_REGS) - 1) : 0;
	copy->is32 = t->flags & TALLY_COPY_32;
	copy->all = t->flags & TALLY_COPY_ALL;
	copy->bytes = t->stack;
	copy->size = t->bytes;
	s->copied = true;
	if (!s->nkernel && !s->nuser) {
		s->user = (const uint64_t *)&t->regs[UNWIND_RIP];
		s->nuser = 1;
	}
	return true;
}

static bool decode_sample(const uint8_t *p, size_t n, struct record *out)
{
	struct record_sample *s = &out->sample;
	const struct tally_sample *t = (const struct tally_sample *)p;
	size_t all, rest;

	if (n < sizeof(*t))
		return false;
	all = (size_t)t->nkernel + t->nuser;
	rest = (n - sizeof(*t)) / 8;
	if (t->flags & TALLY_SAMPLE_COPY ? all > rest : !all || all != rest)
		return false;
	out->kind = RECORD_SAMPLE;
	out->pid = t->pid;
	out->tid = t->tid;
	out->cpu = t->cpu;
	s->weight = t->weight;
	s->nkernel = t->nkernel;
	s->nuser = t->nuser;
	s->kernel = (const uint64_t *)(p + sizeof(*t));
	s->user = s->kernel + s->nkernel;
	s->cut = t->flags & TALLY_SAMPLE_CUT;
	p += sizeof(*t) + all * 8;
	n -= sizeof(*t) + all * 8;
	return !(t->flags & TALLY_SAMPLE_COPY) || decode_copy(p, n, s);
}

bool kmod_decode(const uint8_t *p, size_t n, uint32_t nevents,
		 struct record *out)
{
	const struct tally_record *h = (const struct tally_record *)p;

	memset(out, 0, sizeof(*out));
	if (n < sizeof(*h) || h->event >= nevents)
		return false;
	out->event = h->event;
	if (h->type == TALLY_RECORD_SAMPLE)
		return decode_sample(p, n, out);
	if (h->type != TALLY_RECORD_THROTTLE)
		return false;
	out->kind = RECORD_THROTTLE;
	return true;
}
