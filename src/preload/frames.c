// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the frames of an interpreter, if this program is one, for its samples
 * (runtime/frame_part.h).
 *
 * All memory is read by a system call that copies from this process to itself, so that
 * unmapped memory causes an error instead of a fault.  process_vm_writev(2) copies from
 * many small places in a tenth of the time that process_vm_readv(2) takes: the latter
 * looks up and pins the page of each place, the former only those of the destination.
 */
#include "preload/preload.h"
#include "runtime/php_frames.h"
#include "runtime/python_frames.h"
#include "runtime/ruby_frames.h"

enum { NONE, PYTHON, PHP, RUBY };
enum { CACHE_LINE = 64 };
enum { SEARCH_MIN = 8 };	/* samples between a load and the first search */

static struct {
	uint32_t is;		/* set last, maybe by another thread's handler */
	/* Search for an interpreter that is loaded later.  The load has no end that
	 * could be observed, so the distance of two searches doubles until the next
	 * load.  Counted in samples: */
	uint64_t samples;
	uint64_t next;		/* number at the next search; 0: none */
	uint64_t distance;
	uint32_t searching;
	bool no_writev;		/* a filter refuses it */
	uint64_t seen[FRAME_SEEN];
	/* One for each ring, because the holder of a ring works here. */
	union {
		struct python_scratch python;
		struct php_scratch php;
		struct ruby_scratch ruby;
	} scratch[TIMER_RINGS_MAX];
} frames;

struct part {
	const struct preload_ring_room *place;
	size_t at;
};

/* Begins to load a place into the caches.  A prefetch faults at no address (Intel SDM,
 * PREFETCHh). */
static void prefetch(const struct frame_span *v)
{
	uint64_t at = v->at & ~(uint64_t)(CACHE_LINE - 1);

	for (; at < v->at + v->n; at += CACHE_LINE)
		__builtin_prefetch((const void *)at);
}

/* The kernel copies one place after the other, and would wait for each. */
static size_t read_spans(void *ctx, const struct frame_span *v, size_t n,
			 void *to)
{
	struct frame_span all = { (uintptr_t)to, 0 };
	long r;

	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		prefetch(&v[i]);
		all.n += v[i].n;
	}
	r = frames.no_writev
	    ? sys6(SYS_process_vm_readv, preload.pid, (long)&all, 1, (long)v, (long)n, 0)
	    : sys6(SYS_process_vm_writev, preload.pid, (long)v, (long)n, (long)&all, 1, 0);
	return r > 0 ? (size_t)r : 0;
}

void frames_find(void)
{
	const struct frame_door door = { .read = read_spans };
	const struct frame_span own = { (uintptr_t)&preload.pid, sizeof(preload.pid) };
	uint32_t pid;

	frames.no_writev = !read_spans(NULL, &own, 1, &pid);
	frames.is = python_find(&door, false) ? PYTHON : php_find() ? PHP
		    : ruby_find() ? RUBY : NONE;
}

static uint32_t frames_of(void)
{
	return preload.careful || preload.no_readv
	       ? NONE : __atomic_load_n(&frames.is, __ATOMIC_ACQUIRE);
}

static uint64_t count(const uint64_t *n)
{
	return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static void search_in(uint64_t samples)
{
	uint64_t at = count(&frames.samples) + samples, next = count(&frames.next);

	__atomic_store_n(&frames.distance, samples, __ATOMIC_RELAXED);
	/* Frequent loads do not postpone a search. */
	if (count(&frames.samples) >= next || at < next)
		__atomic_store_n(&frames.next, at, __ATOMIC_RELAXED);
}

void frames_load(void)
{
	if (preload.copy_bytes && !__atomic_load_n(&frames.is, __ATOMIC_RELAXED))
		search_in(SEARCH_MIN);
}

void frames_search(void)
{
	const struct frame_door door = { .read = read_spans };

	if (preload.careful || preload.no_readv || !count(&frames.next) ||
	    __atomic_add_fetch(&frames.samples, 1, __ATOMIC_RELAXED) <
	    count(&frames.next) ||
	    __atomic_exchange_n(&frames.searching, 1, __ATOMIC_ACQUIRE))
		return;
	if (!__atomic_load_n(&frames.is, __ATOMIC_RELAXED)) {
		if (python_find(&door, true)) {
			__atomic_store_n(&frames.is, PYTHON, __ATOMIC_RELEASE);
			__atomic_store_n(&frames.next, 0, __ATOMIC_RELAXED);
		} else {
			search_in(2 * count(&frames.distance));
		}
	}
	__atomic_store_n(&frames.searching, 0, __ATOMIC_RELEASE);
}

void frames_forget(void)
{
	frames.searching = 0;	/* by a thread that the child has not */
	if (!frames.is)
		return;
	bytes_zero(frames.seen, sizeof(frames.seen));
	python_forget();
}

size_t frames_room(void)
{
	return frames_of() ? FRAME_PART_MAX : 0;
}

static void put_bytes(void *ctx, const void *p, size_t n)
{
	struct part *part = ctx;

	preload_ring_put(part->place, part->at, p, n);
	part->at += n;
}

size_t frames_put(const struct preload_ring_room *p, size_t at, struct slot *s,
		  const long long *registers)
{
	struct part part = { p, at };
	const struct frame_door door = { read_spans, put_bytes, &part, frames.seen };
	void *work = &frames.scratch[p->ring - preload.rings];

	switch (frames_of()) {
	case PYTHON: return python_put(&door, work, s);
	case PHP: return php_put(&door, work, s, registers);
	case RUBY: return ruby_put(&door, work, s);
	}
	return 0;
}
