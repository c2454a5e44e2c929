// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a Python interpreter, of any contents: the walk of its frames, what
 * the recorder makes of them, and the search for a thread.  The first byte is the minor
 * version; if its highest bit is set, the bytes are no memory but what a program says
 * that it found.  The memory begins at BASE with the thread's state; types are where
 * BASE + 80, + 88 and + 96 say, the loop (of 3.8 and 3.9) where BASE + 120 and + 128 do,
 * the code of Thread._bootstrap where BASE + 176 does.  The second walk finds the name
 * known.
 */
#include "runtime/python_frames.h"
#include "runtime/python_thread_name.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	STEPS_MAX = 3 * FRAME_ENTRIES_MAX,
	READS_OF_SEARCH = 8192 + 2 * 256 + 2,
	READS_OF_TABLE = 600,	/* python_asyncio.h */
};

static uint64_t word_at(const struct memory *m, size_t at)
{
	uint64_t v = 0;

	if (at + sizeof(v) <= m->size)
		memcpy(&v, m->bytes + at, sizeof(v));
	return v;
}

/* A state that is found holds the number, wherever the search began. */
static void find_thread(const struct python_types *types, struct memory *m,
			const struct frame_door *door)
{
	uint32_t tid = (uint32_t)word_at(m, 104) & 0xff;
	uint64_t guess = word_at(m, 112), at;

	for (int i = 0; i < 2; i++, guess = 0) {
		m->reads = 0;
		at = python_thread_state(types, tid, guess, door);
		if (at && (at < BASE || at - BASE > m->size))
			abort();
		if (at && python_thread_state(types, tid, at, door) != at)
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
	struct memory m = { .bytes = data + 1, .size = size ? size - 1 : 0,
			    .most = STEPS_MAX * 8 + READS_OF_SEARCH +
				    READS_OF_TABLE };
	struct python_found found = { .code = word_at(&m, 144), .tasks = word_at(&m, 152),
				      .type = word_at(&m, 160), .dict_type = word_at(&m, 168),
				      .bootstrap = { word_at(&m, 176) },
				      .running_task = (uint16_t)word_at(&m, 184),
				      .task_name = (uint16_t)word_at(&m, 192) };
	struct python_thread_name name = { 0 };
	const struct python_thread thread = {
		.state = BASE, .tid = (uint32_t)word_at(&m, 104) & 0xff,
		.stack = BASE, .stack_end = BASE + 0x1000, .name = &name,
	};
	struct python_types types = { .runtime = BASE, .found = &found };
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
	n = python_walk(&types, &thread, &door, &scratch);
	if (n != m.part.n || n > FRAME_PART_MAX || n % 8)
		abort();
	merge(m.part.p, n);
	m.reads = 0;
	m.part.n = 0;
	n = python_walk(&types, &thread, &door, &scratch);
	if (n != m.part.n || n > FRAME_PART_MAX || n % 8)
		abort();
	find_thread(&types, &m, &door);
	buf_fini(&m.part);
	free(door.seen);
	return 0;
}
