// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the frames of an interpreter, if this program is one, for its samples
 * (runtime/frame_part.h).
 *
 * All memory is read by process_vm_readv(2) from this process itself, so that
 * unmapped memory causes an error instead of a fault.
 */
#include "preload/preload.h"
#include "runtime/php_frames.h"
#include "runtime/python_frames.h"

static struct {
	enum { NONE, PYTHON, PHP } is;
	uint64_t seen[FRAME_SEEN];
	/* One for each ring, because the holder of a ring works here. */
	union {
		struct python_scratch python;
		struct php_scratch php;
	} scratch[TIMER_RINGS_MAX];
} frames;

struct part {
	const struct ring_place *place;
	size_t at;
};

static size_t read_spans(void *ctx, const struct frame_span *v, size_t n,
			 void *to)
{
	struct frame_span all = { (uintptr_t)to, 0 };
	long r;

	(void)ctx;
	for (size_t i = 0; i < n; i++)
		all.n += v[i].n;
	r = sys6(SYS_process_vm_readv, preload.pid, (long)&all, 1, (long)v,
		 (long)n, 0);
	return r > 0 ? (size_t)r : 0;
}

void frames_find(void)
{
	const struct frame_door door = { .read = read_spans };

	frames.is = python_find(&door) ? PYTHON : php_find() ? PHP : NONE;
}

void frames_forget(void)
{
	if (frames.is)
		bytes_zero(frames.seen, sizeof(frames.seen));
}

size_t frames_room(void)
{
	return frames.is && !preload.careful && !preload.no_readv ? FRAME_PART_MAX : 0;
}

static void put_bytes(void *ctx, const void *p, size_t n)
{
	struct part *part = ctx;

	ring_put(part->place, part->at, p, n);
	part->at += n;
}

size_t frames_put(const struct ring_place *p, size_t at, const struct slot *s,
		  const long long *registers)
{
	struct part part = { p, at };
	const struct frame_door door = { read_spans, put_bytes, &part, frames.seen };
	void *work = &frames.scratch[p->ring - preload.rings];

	return frames.is == PYTHON ? python_put(&door, work)
	       : frames.is == PHP ? php_put(&door, work, s, registers) : 0;
}
