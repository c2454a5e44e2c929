// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads records from the kernel module's rings. */
#include "record/kmod/kmod_ring.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
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

static const struct ring_format format = {
	sizeof(struct tally_record), KMOD_RECORD_MAX, size_of, time_of,
};

uint64_t kmod_ring_take(const uint8_t *data, uint64_t size, uint64_t tail,
			uint64_t head, struct order *o, size_t stream,
			uint64_t now, uint64_t *damaged)
{
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
static const uint8_t *data_of(const struct kmod_ring *r)
{
	return (const uint8_t *)r->page + (size_t)sysconf(_SC_PAGESIZE);
}

static void free_up_to(struct kmod_ring *r, uint64_t end)
{
	struct tally_ring *page = r->page;

	__atomic_store_n(&page->tail, end, __ATOMIC_RELEASE);
}

int kmod_ring_drain(struct kmod_ring *r, struct order *o, size_t stream,
		    uint64_t (*now)(void), uint64_t *damaged)
{
	struct tally_ring *page = r->page;
	uint64_t head = __atomic_load_n(&page->head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->tail, end;

	if (head == tail)
		return 0;
	end = kmod_ring_take(data_of(r), r->size, tail, head, o, stream, now(),
			     damaged);
	free_up_to(r, end);
	return end == head ? 0 : -ERR_NOMEM;
}

int kmod_ring_look(struct kmod_ring *r, struct order *o, size_t stream,
		   uint64_t (*now)(void), uint64_t *damaged)
{
	struct tally_ring *page = r->page;
	int rc = 0;

	r->head = __atomic_load_n(&page->head, __ATOMIC_ACQUIRE);
	r->now_ns = now();
	r->data = data_of(r);
	if (r->head - page->tail > r->size / 2) {
		rc = kmod_ring_drain(r, o, stream, now, damaged);
		r->head = page->tail;
	}
	return rc;
}

bool kmod_ring_peek(struct kmod_ring *r, uint64_t upto, uint64_t *time,
		    uint64_t *damaged)
{
	struct tally_ring *page = r->page;
	uint64_t tail = page->tail;

	if (tail == r->head)
		return false;
	if (!ring_header(&format, r->data, r->size, tail, r->head, &r->peeked)) {
		*damaged += r->head - tail;
		free_up_to(r, r->head);
		return false;
	}
	r->peeked_at = tail;
	*time = r->peeked.time < r->now_ns ? r->peeked.time : r->now_ns;
	return *time <= upto;
}

size_t kmod_ring_fetch(struct kmod_ring *r, void *to)
{
	const struct tally_ring *page = r->page;
	size_t n = r->peeked.size;

	if (page->tail != r->peeked_at || r->head == r->peeked_at)
		return 0;
	ring_fetch(&format, r->data, r->size, r->peeked_at, &r->peeked, n, to);
	free_up_to(r, r->peeked_at + n);
	return n;
}

static int by_time(const void *a, const void *b)
{
	const struct tally_count *x = a, *y = b;

	return ascending(x->r.time, y->r.time);
}

int kmod_counts_take(struct tally_count *counts, size_t n, struct order *o,
		     size_t stream, uint64_t now)
{
	sort_rows(counts, n, by_time);
	for (size_t i = 0; i < n; i++) {
		uint8_t *to = order_room(o, stream, sizeof(counts[i]));
		uint64_t time = counts[i].r.time;

		if (!to)
			return -ERR_NOMEM;
		memcpy(to, &counts[i], sizeof(counts[i]));
		order_commit(o, stream, sizeof(counts[i]),
			     time < now ? time : now);
	}
	return 0;
}

/* Decodes the user side at the end of a sample.  Registers have the unwinder's
 * numbers. */
static bool decode_copy(const uint8_t *p, size_t n, struct record_sample *s)
{
	const struct tally_copy *t = (const struct tally_copy *)p;
	struct record_copy *copy = &s->copy;

	if (n < sizeof(*t) || (t->bytes + 7ull) / 8 != (n - sizeof(*t)) / 8)
		return false;
	memcpy(copy->regs.r, t->regs, sizeof(t->regs));
	/* Unwinding needs at least these two pointers. */
	copy->regs.known = t->known >> UNWIND_RIP & 1 &&
			   t->known >> UNWIND_RSP & 1
			   ? t->known & ((1u << UNWIND_REGS) - 1) : 0;
	copy->is32 = t->flags & TALLY_COPY_32;
	copy->all = t->flags & TALLY_COPY_ALL;
	copy->bytes = t->stack;
	s->why = t->why;
	copy->size = t->bytes;
	s->copied = true;
	if (!s->nkernel && !s->nuser) {
		s->user = (const uint64_t *)&t->regs[UNWIND_RIP];
		s->nuser = 1;
	}
	return true;
}

/* A numbered stack. */
struct kmod_stack {
	uint32_t number;
	uint16_t nkernel, nuser;
	uint64_t *ips;
};

int kmod_stacks_init(struct kmod_stacks *s, uint32_t ncpus)
{
	*s = (struct kmod_stacks){ .ncpus = ncpus };
	s->ring = calloc(2 * (size_t)ncpus, sizeof(*s->ring));
	return s->ring || !ncpus ? 0 : -ERR_NOMEM;
}

void kmod_stacks_fini(struct kmod_stacks *s)
{
	for (size_t r = 0; s->ring && r < 2 * (size_t)s->ncpus; r++) {
		for (size_t i = 0; s->ring[r] && i < TALLY_STACKS_KEPT; i++)
			free(s->ring[r][i].ips);
		free(s->ring[r]);
	}
	free(s->ring);
	*s = (struct kmod_stacks){ 0 };
}

/* Returns whether a record is one of a ring of waits. */
static bool is_of_waits(const struct tally_record *h)
{
	return h->event == TALLY_EVENT_BLOCKED || h->event == TALLY_EVENT_WAKING;
}

/* Returns the place of the stack of a sample, or of a sum, which begins like one. */
static struct kmod_stack *place_of(struct kmod_stacks *s,
				   const struct tally_sample *t)
{
	struct kmod_stack **ring;

	if (!s || t->cpu >= s->ncpus)
		return NULL;
	ring = &s->ring[t->cpu + (is_of_waits(&t->r) ? (size_t)s->ncpus : 0)];
	if (!*ring)
		*ring = calloc(TALLY_STACKS_KEPT, sizeof(**ring));
	return *ring ? *ring + t->stack % TALLY_STACKS_KEPT : NULL;
}

/* Keeps the numbered stack of a sample.  When out of memory, samples that refer to it
 * count as missing. */
static void keep(struct kmod_stacks *s, const struct tally_sample *t)
{
	size_t bytes = ((size_t)t->nkernel + t->nuser) * sizeof(uint64_t);
	struct kmod_stack *k = place_of(s, t);

	if (!k)
		return;
	free(k->ips);
	*k = (struct kmod_stack){ .ips = malloc(bytes) };
	if (!k->ips)
		return;
	memcpy(k->ips, t->ips, bytes);
	k->number = t->stack;
	k->nkernel = t->nkernel;
	k->nuser = t->nuser;
}

/* Returns the addresses of a numbered stack, or NULL if it is unknown. */
static const uint64_t *kept(struct kmod_stacks *s, const struct tally_sample *t)
{
	const struct kmod_stack *k = place_of(s, t);

	if (k && k->number == t->stack && k->ips && t->stack &&
	    k->nkernel == t->nkernel && k->nuser == t->nuser)
		return k->ips;
	if (s)
		s->missing++;
	return NULL;
}

/* Returns the addresses of a sample.  Returns NULL if it is damaged or refers to an
 * unknown stack. */
static const uint64_t *addresses(const struct tally_sample *t,
				 struct kmod_stacks *s)
{
	if (t->flags & TALLY_SAMPLE_AGAIN)
		return kept(s, t);
	if (t->stack)
		keep(s, t);
	return (const uint64_t *)t->ips;
}

/* Sets what a sample and a sum have in common. */
static void set_sample(const struct tally_sample *t, const uint64_t *ips,
		       struct record *out)
{
	struct record_sample *s = &out->sample;

	out->kind = RECORD_SAMPLE;
	out->pid = t->pid;
	out->tid = t->tid;
	out->cpu = t->cpu;
	s->weight = t->weight;
	s->taken_ns = t->r.time;
	s->nkernel = t->nkernel;
	s->nuser = t->nuser;
	s->kernel = ips;
	s->user = ips + t->nkernel;
}

/* The module has unwound a stack, with the mappings of this generation. */
static void set_walked(struct record_sample *s, uint32_t generation)
{
	s->walked = true;
	s->end.image = UINT32_MAX;
	s->space = generation;
}

static bool decode_sample(const uint8_t *p, size_t n,
			  struct kmod_stacks *stacks, struct record *out)
{
	struct record_sample *s = &out->sample;
	const struct tally_sample *t = (const struct tally_sample *)p;
	const uint64_t *ips;
	size_t all, here, rest, behind;

	if (n < sizeof(*t))
		return false;
	all = (size_t)t->nkernel + t->nuser;
	here = t->flags & TALLY_SAMPLE_AGAIN ? 0 : all;
	rest = (n - sizeof(*t)) / 8;
	behind = !!(t->flags & TALLY_SAMPLE_UNWOUND);
	if (t->flags & TALLY_SAMPLE_COPY
	    ? here + behind > rest || here != all
	    : !all || here + behind != rest)
		return false;
	ips = addresses(t, stacks);
	if (!ips)
		return false;
	set_sample(t, ips, out);
	if (is_of_waits(&t->r)) {
		s->outside_calls = t->flags & TALLY_SAMPLE_OUTSIDE;
		s->woken = (uint32_t)t->weight;
		s->weight = 0;
	}
	s->cut = t->flags & TALLY_SAMPLE_CUT;
	p += sizeof(*t) + here * 8;
	n -= sizeof(*t) + here * 8;
	if (behind) {
		set_walked(s, (uint32_t)*(const uint64_t *)p);
		p += 8;
		n -= 8;
		if (!t->nuser || s->cut)
			return false;
	}
	return !(t->flags & TALLY_SAMPLE_COPY) || decode_copy(p, n, s);
}

static bool decode_count(const uint8_t *p, size_t n,
			 struct kmod_stacks *stacks, struct record *out)
{
	const struct tally_count *t = (const struct tally_count *)p;
	const uint64_t *ips;
	bool unwound;

	/* A sum begins like a sample. */
	_Static_assert(offsetof(struct tally_count, weight) ==
		       offsetof(struct tally_sample, weight), "other members");
	if (n != sizeof(*t) || !t->n || t->n > TALLY_COUNT_SAMPLES ||
	    t->first > t->r.time || t->flags & TALLY_SAMPLE_CUT ||
	    is_of_waits(&t->r))
		return false;
	unwound = t->flags & TALLY_SAMPLE_UNWOUND;
	/* A user side that was not unwound may have changed its meaning. */
	if (unwound ? !t->nuser : t->nuser || !t->nkernel)
		return false;
	ips = kept(stacks, (const struct tally_sample *)p);
	if (!ips)
		return false;
	set_sample((const struct tally_sample *)p, ips, out);
	out->sample.count = t->n;
	out->sample.first_ns = t->first;
	if (unwound)
		set_walked(&out->sample, t->generation);
	return true;
}

static bool decode_switch(const uint8_t *p, size_t n, struct record *out)
{
	const struct tally_switch *t = (const struct tally_switch *)p;

	if (n != sizeof(*t))
		return false;
	out->kind = RECORD_SWITCH;
	out->pid = t->pid;
	out->tid = t->tid;
	out->cpu = t->cpu;
	out->change.out = t->flags & TALLY_SWITCH_OUT;
	out->change.preempted = out->change.out &&
				t->flags & TALLY_SWITCH_PREEMPTED;
	if (!out->change.out || out->change.preempted)
		return true;
	out->change.stopped = t->flags & TALLY_SWITCH_STOPPED;
	out->change.has_call = t->flags & TALLY_SWITCH_CALL;
	out->change.call = (int16_t)(t->flags >> TALLY_SWITCH_NUMBER);
	return true;
}

static bool decode_wake(const uint8_t *p, size_t n, struct record *out)
{
	const struct tally_wake *t = (const struct tally_wake *)p;

	if (n != sizeof(*t))
		return false;
	out->kind = RECORD_WAKE;
	out->pid = t->pid;
	out->tid = t->tid;
	out->cpu = t->cpu;
	out->wake.tid = t->woken;
	out->wake.interrupt = t->flags & TALLY_WAKE_INTERRUPT;
	return true;
}

static bool decode_gap(const uint8_t *p, size_t n, struct record *out)
{
	const struct tally_gap *t = (const struct tally_gap *)p;

	if (n != sizeof(*t))
		return false;
	out->kind = RECORD_SWITCH_GAP;
	out->lost = t->lost;
	return true;
}

/* Returns the source's number of the record's event, or SOURCE_NONE. */
static uint32_t number_of(const struct kmod_numbers *e,
			  const struct tally_record *h)
{
	if (h->event < e->sampled)
		return h->event;
	return h->event == TALLY_EVENT_BLOCKED ? e->blocked
	       : h->event == TALLY_EVENT_WAKING ? e->waking : SOURCE_NONE;
}

bool kmod_decode(const uint8_t *p, size_t n, const struct kmod_numbers *events,
		 struct kmod_stacks *stacks, struct record *out)
{
	const struct tally_record *h = (const struct tally_record *)p;

	memset(out, 0, sizeof(*out));
	if (n < sizeof(*h))
		return false;
	out->event = number_of(events, h);
	if (out->event == SOURCE_NONE)
		return false;
	switch (h->type) {
	case TALLY_RECORD_SAMPLE:
		return decode_sample(p, n, stacks, out);
	case TALLY_RECORD_COUNT:
		return decode_count(p, n, stacks, out);
	case TALLY_RECORD_SWITCH:
		return is_of_waits(h) && decode_switch(p, n, out);
	case TALLY_RECORD_WAKE:
		return is_of_waits(h) && decode_wake(p, n, out);
	case TALLY_RECORD_GAP:
		return is_of_waits(h) && decode_gap(p, n, out);
	case TALLY_RECORD_THROTTLE:
		out->kind = RECORD_THROTTLE;
		return true;
	default:
		return false;
	}
}
