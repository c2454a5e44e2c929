// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps and reads the rings of perf events. */
#include "record/perf/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RING_MIN = 4096 };

int perf_ring_open(struct perf_ring *r, int fd, size_t size,
		   struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (;; size /= 2) {
		void *p = mmap(NULL, page + size, PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);

		if (p != MAP_FAILED) {
			*r = (struct perf_ring){ .page = p, .size = size };
			return 0;
		}
		if ((errno != EPERM && errno != ENOMEM) ||
		    size / 2 < (page > RING_MIN ? page : RING_MIN))
			break;
	}
	if (errno == EPERM)
		return error_set(err, ERR_PERM, "cannot lock %zu KB of memory "
				 "per CPU for samples: raise kernel."
				 "perf_event_mlock_kb or \"ulimit -l\" (see "
				 "\"tally doctor\")",
				 size / 1024);
	return error_errno(err, errno, "cannot map %zu KB for samples",
			   size / 1024);
}

void perf_ring_close(struct perf_ring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	r->page = NULL;
}

/* What to keep while this many 64ths of the limit are pending. */
struct degree {
	unsigned int below;	/* 64ths */
	size_t most;		/* bytes of a copy; 0: all */
	unsigned int stride;	/* keep one of this many samples; 0: none */
};

static const struct degree *degree_of(size_t waiting, size_t limit)
{
	static const struct degree degrees[] = {
		{ 32, 0, 1 }, { 48, 16384, 1 }, { 56, 4096, 1 },
		{ 60, 1024, 2 }, { 62, 256, 4 }, { 63, 256, 16 },
		{ 64, 256, 64 }, { 0, 256, 0 },
	};
	const struct degree *d = degrees;

	while (d->below && waiting >= limit / 64 * d->below)
		d++;
	return d;
}

/* Returns whether to skip a sample at this degree.  For a sample that is kept, sets
 * *weight to the total of the skipped ones. */
static bool leave_out(const struct perf_intake *in,
		      const struct perf_bytes *ring, uint64_t pos,
		      struct perf_event_header h, const struct degree *d,
		      uint64_t *weight)
{
	struct perf_pressure *p = in->pressure;
	struct perf_thinning *t;
	uint32_t event;

	*weight = 0;
	if (h.type != PERF_RECORD_SAMPLE || (d->stride == 1 && !p->lowered))
		return false;
	event = perf_sample_event(in->decoder, ring, pos, h.size);
	if (event == U64MAP_NONE)
		return false;
	if (!d->stride) {
		__atomic_fetch_add(&p->dropped[event], 1, __ATOMIC_RELAXED);
		return true;
	}
	t = &p->thinning[event * p->nstreams + in->stream];
	if (t->n + 1 < d->stride) {
		p->lowered = true;
		t->n++;
		t->weight += perf_sample_weight(ring, pos, h.size);
		__atomic_fetch_add(&p->thinned[event], 1, __ATOMIC_RELAXED);
		return true;
	}
	*weight = t->weight;
	*t = (struct perf_thinning){ 0, 0 };
	return false;
}

static void count_taken(struct perf_taken *t, uint32_t type, enum perf_sample_kind kind)
{
	t->switches += type == PERF_RECORD_SWITCH ||
		       type == PERF_RECORD_SWITCH_CPU_WIDE;
	t->blocked += kind == PERF_SAMPLE_BLOCKED;
	t->waking += kind == PERF_SAMPLE_WAKING;
}

uint64_t perf_ring_take(const struct perf_bytes *ring, uint64_t tail,
			uint64_t head, const struct perf_intake *in,
			uint64_t now)
{
	while (tail != head) {
		struct perf_event_header h;
		struct perf_extent e;
		uint64_t left = head - tail, time, weight = 0;
		size_t most = 0;
		uint8_t *to;

		if (left < sizeof(h) || left > ring->size)
			goto bad;
		perf_bytes_copy(ring, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > left)
			goto bad;
		if (in->pressure) {
			const struct degree *d =
				degree_of(order_waiting(in->order),
					  in->pressure->limit);

			most = d->most;
			if (leave_out(in, ring, tail, h, d, &weight)) {
				tail += h.size;
				continue;
			}
		}
		e = perf_record_extent(in->decoder, ring, tail, h, most);
		if (e.shortened)
			__atomic_fetch_add(&in->pressure->shortened, 1,
					   __ATOMIC_RELAXED);
		to = order_room(in->order, in->stream, e.size);
		if (!to)
			return tail;
		perf_record_take(ring, tail, h, e, to);
		if (weight)
			perf_sample_add_weight(to, e.size, weight);
		if (in->taken)
			count_taken(in->taken, h.type, e.kind);
		time = perf_record_time(to, e.size);
		order_commit(in->order, in->stream, e.size,
			     time < now ? time : now);
		tail += h.size;
	}
	return tail;
bad:
	*in->damaged += head - tail;
	return head;
}

bool perf_ring_waiting(const struct perf_ring *r)
{
	return perf_ring_used(r) != 0;
}

uint64_t perf_ring_used(const struct perf_ring *r)
{
	const struct perf_event_mmap_page *page = r->page;

	return __atomic_load_n(&page->data_head, __ATOMIC_RELAXED) -
	       page->data_tail;
}

bool perf_ring_tight(const struct perf_ring *r)
{
	/* The record of a mapping holds a path. */
	enum { ROOM = 6144 };

	return perf_ring_used(r) + (r->size > 2 * ROOM ? ROOM : r->size / 2) > r->size;
}

/*
 * The kernel's side is perf_output_put_handle(), kernel/events/ring_buffer.c:
 *
 *	kernel				tally
 *
 *	if (LOAD data_tail) {		LOAD data_head
 *	    (A: control dependency)	smp_rmb()	(C)
 *	    STORE record		LOAD record
 *	    smp_wmb()	(B)		smp_mb()	(D)
 *	    STORE data_head		STORE data_tail
 *	}
 *
 * B pairs with C: a reader of the new head also sees the records before it; a load
 * with acquire order is C.  D pairs with A: the kernel may overwrite a record only
 * after tally has copied it.  A store with release order is D, because tally's loads
 * of the record cannot move past it.
 */
static void free_up_to(struct perf_ring *r, uint64_t tail)
{
	struct perf_event_mmap_page *page = r->page;

	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static struct perf_bytes data_of(const struct perf_ring *r)
{
	return (struct perf_bytes){
		(const uint8_t *)r->page + (size_t)sysconf(_SC_PAGESIZE), r->size,
	};
}

int perf_ring_drain(struct perf_ring *r, const struct perf_intake *to,
		    uint64_t (*now)(void))
{
	const struct perf_event_mmap_page *page = r->page;
	struct perf_bytes ring = data_of(r);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail, end;

	if (head == tail)
		return 0;
	/* All these records were written before this reading of the clock. */
	end = perf_ring_take(&ring, tail, head, to, now());
	free_up_to(r, end);
	r->head = r->before = end;
	return end == head ? 0 : -ERR_NOMEM;
}

void perf_ring_look(struct perf_ring *r)
{
	const struct perf_event_mmap_page *page = r->page;

	r->before = r->head;
	r->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

bool perf_ring_peek(struct perf_ring *r, uint64_t now, uint64_t before_ns,
		    uint64_t upto, uint64_t *time, uint64_t *damaged)
{
	struct perf_event_mmap_page *page = r->page;
	struct perf_bytes ring = data_of(r);
	uint64_t tail = page->data_tail, left = r->head - tail;
	struct perf_event_header h = { .size = 0 };

	if (!left)
		return false;
	if (left >= sizeof(h) && left <= r->size)
		perf_bytes_copy(&ring, tail, &h, sizeof(h));
	if (h.size < sizeof(h) || h.size > left) {
		*damaged += left;
		free_up_to(r, r->head);
		return false;
	}
	r->peeked = tail;
	*time = perf_bytes_time(&ring, tail, h);
	if ((int64_t)(r->before - tail) > 0)
		now = before_ns;
	if (*time > now)
		*time = now;
	return *time <= upto;
}

/* Returns whether the record that was peeked at is still there. */
static bool is_peeked(const struct perf_ring *r)
{
	const struct perf_event_mmap_page *page = r->page;

	return page->data_tail == r->peeked && r->head != r->peeked;
}

size_t perf_ring_fetch(struct perf_ring *r, const struct perf_decoder *d, void *to)
{
	struct perf_bytes ring = data_of(r);
	struct perf_event_header h;
	struct perf_extent e;

	if (!is_peeked(r))
		return 0;
	perf_bytes_copy(&ring, r->peeked, &h, sizeof(h));
	e = perf_record_extent(d, &ring, r->peeked, h, 0);
	perf_record_take(&ring, r->peeked, h, e, to);
	free_up_to(r, r->peeked + h.size);
	return e.size;
}

/* Loads the first bytes of the next record into the caches while this one is handled.  The
 * kernel wrote it up to a round ago, perhaps on another CPU. */
static void prefetch_next(const struct perf_ring *r, const struct perf_bytes *ring,
			  uint64_t at)
{
	enum { LINE = 64, AHEAD = 4096 };	/* header, registers, inner frames */

	for (uint64_t i = 0; at != r->head && i < AHEAD; i += LINE)
		__builtin_prefetch(ring->data + ((at + i) & (r->size - 1)));
}

bool perf_ring_borrow(struct perf_ring *r, struct order_record *out)
{
	struct perf_bytes ring = data_of(r);
	uint64_t at = r->peeked & (r->size - 1);
	struct perf_event_header h;

	if (!is_peeked(r) || at & 7)
		return false;
	perf_bytes_copy(&ring, r->peeked, &h, sizeof(h));
	if (at + h.size > r->size)
		return false;
	*out = (struct order_record){ ring.data + at, h.size };
	prefetch_next(r, &ring, r->peeked + h.size);
	return true;
}

void perf_ring_free(struct perf_ring *r, const struct order_record *record)
{
	free_up_to(r, r->peeked + record->size);
}
