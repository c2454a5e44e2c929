// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges streams of records by time. */
#include "record/source/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Precedes each record in a stream. */
struct entry {
	uint64_t time;
	uint64_t size;
};

/*
 * A stream is a list of blocks.  The writer fills the last block and then publishes
 * how far (`n`, with release order).  The reader reads up to there (acquire order).
 * The writer never returns to a block once it has linked the next one.  The block
 * belongs to the reader alone once the reader has seen that link.
 */
struct order_block {
	struct order_block *next;	/* atomic */
	size_t n;			/* bytes filled; atomic */
	size_t cap;
	uint64_t bytes[];
};

/* The first record of a stream. */
struct head {
	uint64_t time;
	const struct entry *added;	/* NULL: the feed has it */
};

/* A stream in the heap.  Its first record stays the first until it is delivered, though
 * the other thread may add it meanwhile, if the feed had it. */
struct order_turn {
	struct head head;
	size_t stream;
};

enum {
	BLOCK_BYTES = 128 << 10,
	SPARE_MAX = 16,		/* number of blocks kept for reuse */
};

static size_t entry_space(size_t size)
{
	return sizeof(struct entry) + ((size + 7) & ~(size_t)7);
}

static struct order_block *block_new(size_t cap)
{
	struct order_block *b = malloc(sizeof(*b) + cap);

	if (b)
		*b = (struct order_block){ NULL, 0, cap };
	return b;
}

static void blocks_free(struct order_block *b)
{
	while (b) {
		struct order_block *next = b->next;

		free(b);
		b = next;
	}
}

int order_init(struct order *o, size_t nstreams)
{
	memset(o, 0, sizeof(*o));
	o->streams = calloc(nstreams ? nstreams : 1, sizeof(*o->streams));
	o->heap = calloc(nstreams ? nstreams : 1, sizeof(*o->heap));
	o->nstreams = nstreams;
	if (!o->streams || !o->heap)
		goto fail;
	/* Start with an empty block, so that a last block always exists. */
	for (size_t i = 0; i < nstreams; i++) {
		struct order_stream *s = &o->streams[i];

		s->first = s->last = block_new(0);
		if (!s->first)
			goto fail;
	}
	return 0;
fail:
	order_fini(o);
	return -ERR_NOMEM;
}

void order_fini(struct order *o)
{
	for (size_t i = 0; o->streams && i < o->nstreams; i++)
		blocks_free(o->streams[i].first);
	blocks_free(o->spare);
	blocks_free(o->returned);
	free(o->streams);
	free(o->heap);
	memset(o, 0, sizeof(*o));
}

/* Returns a block of the usual size, reused or new. */
static struct order_block *block_take(struct order *o)
{
	struct order_block *b;

	if (!o->spare) {
		o->spare = __atomic_exchange_n(&o->returned, NULL,
					       __ATOMIC_ACQUIRE);
		__atomic_store_n(&o->nreturned, 0, __ATOMIC_RELAXED);
	}
	b = o->spare;
	if (!b)
		return block_new(BLOCK_BYTES);
	o->spare = b->next;
	*b = (struct order_block){ NULL, 0, BLOCK_BYTES };
	return b;
}

/* Returns a block to the writer.  The writer takes all returned blocks at once, so a
 * block that comes back during a push cannot be mistaken for its old self. */
static void block_give(struct order *o, struct order_block *b)
{
	struct order_block *top;

	if (b->cap != BLOCK_BYTES ||
	    __atomic_load_n(&o->nreturned, __ATOMIC_RELAXED) >= SPARE_MAX) {
		free(b);
		return;
	}
	top = __atomic_load_n(&o->returned, __ATOMIC_RELAXED);
	do
		b->next = top;
	while (!__atomic_compare_exchange_n(&o->returned, &top, b, false,
					    __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
	__atomic_fetch_add(&o->nreturned, 1, __ATOMIC_RELAXED);
}

uint8_t *order_room(struct order *o, size_t stream, size_t size)
{
	struct order_stream *s = &o->streams[stream];
	struct order_block *b = s->last;
	size_t need = entry_space(size);

	if (b->cap - b->n < need) {
		b = need > BLOCK_BYTES ? block_new(need) : block_take(o);
		if (!b)
			return NULL;
		__atomic_store_n(&s->last->next, b, __ATOMIC_RELEASE);
		s->last = b;
	}
	return (uint8_t *)b->bytes + b->n + sizeof(struct entry);
}

void order_commit(struct order *o, size_t stream, size_t size, uint64_t time)
{
	struct order_stream *s = &o->streams[stream];
	struct order_block *b = s->last;
	struct entry *e = (struct entry *)((uint8_t *)b->bytes + b->n);

	e->time = time;
	e->size = size;
	/* Store this first, so that the waiting size is never negative. */
	__atomic_store_n(&o->put, o->put + entry_space(size),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&b->n, b->n + entry_space(size), __ATOMIC_RELEASE);
}

size_t order_waiting(const struct order *o)
{
	uint64_t taken = __atomic_load_n(&o->taken, __ATOMIC_RELAXED);
	uint64_t put = __atomic_load_n(&o->put, __ATOMIC_RELAXED);

	return put > taken ? (size_t)(put - taken) : 0;
}

/* Returns the stream's oldest record that was added, or NULL. */
static const struct entry *added_head(struct order *o, struct order_stream *s)
{
	for (;;) {
		struct order_block *b = s->first, *next;

		if (s->head < __atomic_load_n(&b->n, __ATOMIC_ACQUIRE))
			return (const struct entry *)((uint8_t *)b->bytes +
						      s->head);
		next = __atomic_load_n(&b->next, __ATOMIC_ACQUIRE);
		if (!next)
			return NULL;
		/* The block may have been filled further before it was left. */
		if (s->head < __atomic_load_n(&b->n, __ATOMIC_RELAXED))
			continue;
		s->first = next;
		s->head = 0;
		block_give(o, b);
	}
}

/* One call of order_flush. */
struct flushing {
	struct order *o;
	uint64_t upto;
};

/* Returns the time of a stream's next record: not before its predecessor's. */
static uint64_t time_after(const struct order_stream *s, uint64_t time)
{
	return time < s->newest ? s->newest : time;
}

static bool added(const struct flushing *f, struct order_stream *s, struct head *out)
{
	out->added = added_head(f->o, s);
	if (out->added)
		out->time = time_after(s, out->added->time);
	return out->added;
}

/* Returns the stream's first record up to f->upto in *out, or false. */
static bool stream_head(const struct flushing *f, size_t stream, struct head *out)
{
	struct order_stream *s = &f->o->streams[stream];
	const struct order_feed *feed = f->o->feed;

	if (added(f, s, out))
		return out->time <= f->upto;
	if (!s->fed && feed)
		s->fed = feed->peek(feed->ctx, stream, f->upto, &s->fed_time);
	/* The other thread may just have added it. */
	if (!s->fed)
		return feed && added(f, s, out) && out->time <= f->upto;
	out->time = time_after(s, s->fed_time);
	return out->time <= f->upto;
}

static void heap_down(struct order_turn *heap, size_t i, size_t n)
{
	for (;;) {
		size_t kid = 2 * i + 1;
		struct order_turn t = heap[i];

		if (kid >= n)
			return;
		if (kid + 1 < n && heap[kid + 1].head.time < heap[kid].head.time)
			kid++;
		if (t.head.time <= heap[kid].head.time)
			return;
		heap[i] = heap[kid];
		heap[kid] = t;
		i = kid;
	}
}

/* Builds a heap of the streams with records up to `upto`, by the time of their first
 * record. */
static size_t heap_make(const struct flushing *f)
{
	struct order_turn *heap = f->o->heap;
	size_t n = 0;

	for (size_t i = 0; i < f->o->nstreams; i++) {
		heap[n].stream = i;
		n += stream_head(f, i, &heap[n].head);
	}
	for (size_t i = n / 2; i-- > 0;)
		heap_down(heap, i, n);
	return n;
}

/* Returns the time up to which the first stream may continue before another's turn. */
static uint64_t heap_second(const struct flushing *f, size_t n)
{
	const struct order_turn *heap = f->o->heap;
	uint64_t upto = f->upto;

	for (size_t kid = 1; kid <= 2 && kid < n; kid++)
		if (heap[kid].head.time < upto)
			upto = heap[kid].head.time;
	return upto;
}

/* Delivers a record that was added, and removes it. */
static int deliver_added(struct order *o, size_t stream, const struct head *h,
			 order_cb *cb, void *ctx)
{
	struct order_stream *s = &o->streams[stream];
	const struct entry *e = h->added;
	int r;

	s->newest = h->time;
	o->late += h->time < o->flushed;
	r = cb(ctx, h->time, (const uint8_t *)(e + 1), e->size);
	s->head += entry_space(e->size);
	__atomic_store_n(&o->taken, o->taken + entry_space(e->size),
			 __ATOMIC_RELAXED);
	return r;
}

/* Delivers the record that the feed has, unless it was added meanwhile. */
static int deliver_fed(struct order *o, size_t stream, uint64_t time,
		       order_cb *cb, void *ctx)
{
	struct order_stream *s = &o->streams[stream];
	struct order_record r;

	s->fed = false;
	if (!o->feed->take(o->feed->ctx, stream, &r))
		return 0;
	s->newest = time;
	o->late += time < o->flushed;
	return cb(ctx, time, r.bytes, r.size);
}

/* Delivers a stream's records up to `upto`.  Returns 1 if it has another one up to
 * f->upto, which is then its head. */
static int stream_flush(const struct flushing *f, struct order_turn *t,
			uint64_t upto, order_cb *cb, void *ctx)
{
	struct order *o = f->o;
	struct head *h = &t->head;
	bool more;

	do {
		int r = h->added ? deliver_added(o, t->stream, h, cb, ctx)
				 : deliver_fed(o, t->stream, h->time, cb, ctx);

		if (r < 0)
			return r;
		more = stream_head(f, t->stream, h);
	} while (more && h->time <= upto);
	return more;
}

int order_flush(struct order *o, uint64_t upto, order_cb *cb, void *ctx)
{
	const struct flushing f = { o, upto };
	size_t n = heap_make(&f);

	while (n) {
		int more = stream_flush(&f, &o->heap[0], heap_second(&f, n), cb, ctx);

		if (more < 0)
			return more;
		if (!more)
			o->heap[0] = o->heap[--n];
		heap_down(o->heap, 0, n);
	}
	if (upto > o->flushed)
		o->flushed = upto;
	return 0;
}
