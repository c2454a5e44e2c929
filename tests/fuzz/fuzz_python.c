// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a Python interpreter, of any contents: the walk of its frames, what
 * the recorder makes of them, and the search for a thread.  The first byte is the minor
 * version; if its highest bit is set, the bytes are no memory but what a program says
 * that it found.  The memory begins at BASE with the thread's state; types are where
 * BASE + 80, + 88 and + 96 say, the loop (of 3.8 and 3.9) where BASE + 120 and + 128 do.
 */
#include <stdlib.h>
#include <string.h>

#include "record/collect/python.h"
#include "runtime/python_frames.h"
#include "runtime/python_task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x100000ull
enum { STEPS_MAX = 3 * FRAME_ENTRIES_MAX, READS_OF_SEARCH = 8192 + 2 * 256 + 2 };

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned int reads;
	struct buf part;
};

static size_t read_memory(void *ctx, const struct frame_span *v, size_t n,
			  void *to)
{
	struct memory *m = ctx;
	size_t done = 0;

	if (++m->reads > STEPS_MAX * 8 + READS_OF_SEARCH)
		abort();
	for (size_t i = 0; i < n; i++) {
		uint64_t at = v[i].at - BASE;

		if (at > m->size || v[i].n > m->size - at)
			return done;
		memcpy((uint8_t *)to + done, m->bytes + at, v[i].n);
		done += v[i].n;
	}
	return done;
}

static void put_part(void *ctx, const void *p, size_t n)
{
	struct memory *m = ctx;

	buf_bytes(&m->part, p, n);
}

static uint64_t word_at(const struct memory *m, size_t at)
{
	uint64_t v = 0;

	if (at + sizeof(v) <= m->size)
		memcpy(&v, m->bytes + at, sizeof(v));
	return v;
}

static void merge(const uint8_t *part, size_t n)
{
	static const uint64_t pc[] = { 0x1000, 0x2000, 0x3000, 0x4000 };
	static const uint64_t sp[] = { BASE, BASE + 0x40, BASE + 0x100,
				       BASE + 0x4000 };
	struct record_sample s = { .frames = part, .frame_bytes = n };
	struct profile p;
	struct images im;
	struct python py;

	if (profile_init(&p) < 0)
		abort();
	if (images_init(&im, &p, "/nonexistent") < 0 ||
	    python_init(&py, &im) < 0)
		abort();
	for (int i = 0; i < 2; i++) {
		python_merge(&py, 1, pc, sp, 4, &s);
		if (!s.nuser || s.nuser > PYTHON_CHAIN_MAX)
			abort();
		/* whatever it says, the outermost caller is who it was */
		if (!s.end.mark && s.user[s.nuser - 1] != pc[3] &&
		    !frame_is_name(&im, s.user[s.nuser - 1]))
			abort();
	}
	python_fini(&py);
	images_fini(&im);
	profile_fini(&p);
}

/* A state that is found holds the number, wherever the search began. */
static void find_thread(const struct python_types *types, struct memory *m,
			const struct frame_door *door)
{
	uint32_t tid = (uint32_t)word_at(m, 104) & 0xff;
	uint64_t guess = word_at(m, 112), at;

	for (int i = 0; i < 2; i++, guess = 0) {
		m->reads = 0;
		at = python_thread(types, BASE, tid, guess, door);
		if (at && (at < BASE || at - BASE > m->size))
			abort();
		if (at && python_thread(types, BASE, tid, at, door) != at)
			abort();
	}
}

/* What the memory says of itself, or the release's. */
static bool find_layout(struct python_layout *l, uint8_t first, const struct memory *m,
			const struct frame_door *door)
{
	uint64_t minor = first & 0x40 ? 8 + first % 3 : 11 + first % 5;
	uint64_t version = 3 << 24 | minor << 16;

	return python_layout(l, version, BASE + (word_at(m, 136) & 0xffff), door) ||
	       python_layout_released(l, version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct python_scratch scratch;
	struct memory m = { .bytes = data + 1, .size = size ? size - 1 : 0 };
	struct python_tasks tasks = { .code = word_at(&m, 144), .tasks = word_at(&m, 152),
				      .type = word_at(&m, 160), .dict_type = word_at(&m, 168) };
	struct python_types types = { .tasks = &tasks };
	struct frame_door door = { read_memory, put_part, &m, NULL };
	size_t n;

	if (!size)
		return 0;
	if (data[0] & 0x80) {
		merge(m.bytes, m.size);
		return 0;
	}
	types.code = word_at(&m, 80);
	types.text = word_at(&m, 88);
	types.bytes = word_at(&m, 96);
	types.loop = word_at(&m, 120) & 0xffff;
	types.loop_bytes = word_at(&m, 128) & 0xffff;
	door.seen = calloc(FRAME_SEEN, sizeof(*door.seen));
	if (!door.seen || !find_layout(&types.layout, data[0], &m, &door))
		abort();
	m.reads = 0;
	n = python_walk(&types, BASE, &door, &scratch);
	if (n != m.part.n || n > FRAME_PART_MAX || n % 8)
		abort();
	merge(m.part.p, n);
	find_thread(&types, &m, &door);
	buf_fini(&m.part);
	free(door.seen);
	return 0;
}
