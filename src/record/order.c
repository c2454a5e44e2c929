// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Before each record in a stream. */
struct entry {
	uint64_t time;
	uint64_t size;
};

static size_t entry_space(size_t size)
{
	return sizeof(struct entry) + ((size + 7) & ~(size_t)7);
}

int order_init(struct order *o, size_t nstreams)
{
	memset(o, 0, sizeof(*o));
	o->streams = calloc(nstreams ? nstreams : 1, sizeof(*o->streams));
	o->heap = calloc(nstreams ? nstreams : 1, sizeof(*o->heap));
	o->nstreams = nstreams;
	if (!o->streams || !o->heap) {
		order_fini(o);
		return -ERR_NOMEM;
	}
	return 0;
}

void order_fini(struct order *o)
{
	for (size_t i = 0; o->streams && i < o->nstreams; i++)
		free(o->streams[i].p);
	free(o->streams);
	free(o->heap);
	memset(o, 0, sizeof(*o));
}

uint8_t *order_room(struct order *o, size_t stream, size_t size)
{
	struct order_stream *s = &o->streams[stream];
	size_t need = entry_space(size);

	if (s->cap - s->n < need && s->head) {
		memmove(s->p, s->p + s->head, s->n - s->head);
		s->n -= s->head;
		s->head = 0;
	}
	if (s->cap - s->n < need) {
		size_t cap = s->cap * 2 + need + 65536;
		uint8_t *p = realloc(s->p, cap);

		if (!p)
			return NULL;
		s->p = p;
		s->cap = cap;
	}
	return s->p + s->n + sizeof(struct entry);
}

void order_commit(struct order *o, size_t stream, size_t size, uint64_t time)
{
	struct order_stream *s = &o->streams[stream];
	struct entry *e = (struct entry *)(s->p + s->n);

	if (time < s->last)
		time = s->last;
	s->last = time;
	if (time < o->flushed)
		o->late++;
	e->time = time;
	e->size = size;
	s->n += entry_space(size);
	o->waiting += entry_space(size);
}

static const struct entry *stream_head(const struct order_stream *s)
{
	return (const struct entry *)(s->p + s->head);
}

static uint64_t heap_time(const struct order *o, size_t i)
{
	return stream_head(&o->streams[o->heap[i]])->time;
}

static void heap_down(struct order *o, size_t i, size_t n)
{
	for (;;) {
		size_t kid = 2 * i + 1;
		uint32_t t = o->heap[i];

		if (kid >= n)
			return;
		if (kid + 1 < n && heap_time(o, kid + 1) < heap_time(o, kid))
			kid++;
		if (heap_time(o, i) <= heap_time(o, kid))
			return;
		o->heap[i] = o->heap[kid];
		o->heap[kid] = t;
		i = kid;
	}
}

/* Streams with records up to `upto`, as a heap by the time of their first. */
static size_t heap_make(struct order *o, uint64_t upto)
{
	size_t n = 0;

	for (size_t i = 0; i < o->nstreams; i++) {
		struct order_stream *s = &o->streams[i];

		if (s->head < s->n && stream_head(s)->time <= upto)
			o->heap[n++] = (uint32_t)i;
	}
	for (size_t i = n / 2; i-- > 0;)
		heap_down(o, i, n);
	return n;
}

/* The time up to which the first stream may go on before another's turn. */
static uint64_t heap_second(const struct order *o, size_t n, uint64_t upto)
{
	for (size_t kid = 1; kid <= 2 && kid < n; kid++)
		if (heap_time(o, kid) < upto)
			upto = heap_time(o, kid);
	return upto;
}

static int stream_flush(struct order *o, struct order_stream *s,
			uint64_t upto, order_cb *cb, void *ctx)
{
	while (s->head < s->n) {
		const struct entry *e = stream_head(s);
		int r;

		if (e->time > upto)
			return 0;
		s->head += entry_space(e->size);
		o->waiting -= entry_space(e->size);
		r = cb(ctx, e->time, (const uint8_t *)(e + 1), e->size);
		if (r < 0)
			return r;
	}
	s->head = s->n = 0;
	return 0;
}

int order_flush(struct order *o, uint64_t upto, order_cb *cb, void *ctx)
{
	size_t n = heap_make(o, upto);

	while (n) {
		struct order_stream *s = &o->streams[o->heap[0]];
		int r = stream_flush(o, s, heap_second(o, n, upto), cb, ctx);

		if (r < 0)
			return r;
		if (s->head >= s->n || stream_head(s)->time > upto)
			o->heap[0] = o->heap[--n];
		heap_down(o, 0, n);
	}
	if (upto > o->flushed)
		o->flushed = upto;
	return 0;
}
