// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a Python interpreter, of any contents: the walk of its frames, what
 * the recorder makes of them, and the search for a thread.  The first byte is the minor
 * version; if its highest bit is set, the bytes are no memory but what a program says
 * that it found.  The memory begins at BASE with the thread's state; types are where
 * BASE + 80, + 88 and + 96 say, the loop (of 3.8 and 3.9) where BASE + 120 and + 128 do,
 * the code of Thread._bootstrap where BASE + 176 does.  The second walk finds the name
 * known.  For the last ones four words of the memory change, as BASE + 208 says; one of
 * them recalls the walk before.
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

/* One walk's surroundings. */
struct walker {
	struct memory m;
	struct python_found found;
	struct python_types types;
	struct python_thread_name name;
	uint64_t seen[FRAME_SEEN];
	struct python_recall recall;
};

static void walk(struct walker *w, bool recall)
{
	static struct python_scratch scratch;
	const struct python_thread thread = {
		.state = BASE, .tid = (uint32_t)word_at(&w->m, 104) & 0xff,
		.stack = BASE, .stack_end = BASE + 0x1000, .name = &w->name,
		.recall = recall ? &w->recall : NULL,
	};
	const struct frame_door door = { read_memory, put_part, &w->m, w->seen };
	size_t n;

	w->types.found = &w->found;
	w->m.reads = 0;
	buf_reset(&w->m.part);
	n = python_walk(&w->types, &thread, &door, &scratch);
	if (n != w->m.part.n || n > FRAME_PART_MAX || n % 8)
		abort();
}

/* Leaves the frames of a part, without the codes before them.  Returns how it ended. */
static enum frame_state frames_of(const struct buf *part, struct buf *out)
{
	struct frame_entry e = { 0 };
	struct frame_code c;
	size_t bytes;

	for (size_t at = 0; at < part->n; at += bytes) {
		memcpy(&e, part->p + at, sizeof(e));
		bytes = sizeof(e);
		if (e.what == FRAME_CODE) {
			memcpy(&c, part->p + at + bytes, sizeof(c));
			bytes += sizeof(c) + c.name_bytes + c.file_bytes + c.table_bytes;
		} else if (e.what == FRAME_TASK || e.what == FRAME_THREAD) {
			bytes += (size_t)e.at;
		}
		bytes += -bytes & 7;
		if (e.what != FRAME_CODE)
			buf_bytes(out, part->p + at, bytes);
	}
	return (enum frame_state)e.more;
}

/* Returns a copy of the memory with some words changed.  The caller frees it. */
static uint8_t *changed(const struct memory *m)
{
	uint8_t *bytes = malloc(m->size + 1);

	if (!bytes)
		abort();
	memcpy(bytes, m->bytes, m->size);
	for (size_t i = 0; i < 4; i++) {
		uint64_t at = word_at(m, 208 + 16 * i) % (m->size + 1);
		uint64_t v = word_at(m, 216 + 16 * i);

		if (at + sizeof(v) <= m->size)
			memcpy(bytes + at, &v, sizeof(v));
	}
	return bytes;
}

/* A walk that recalls finds what one that does not finds. */
static void walk_twice(struct walker *w)
{
	struct walker *plain = malloc(sizeof(*plain));
	uint8_t *bytes = changed(&w->m);
	struct buf a = { 0 }, b = { 0 };
	enum frame_state end;

	if (!plain)
		abort();
	walk(w, true);
	w->m.bytes = bytes;
	*plain = *w;
	plain->m.part = (struct buf){ 0 };
	walk(w, true);
	walk(plain, false);
	end = frames_of(&plain->m.part, &a);
	frames_of(&w->m.part, &b);
	if (end != FRAMES_TORN && (a.n != b.n || memcmp(a.p, b.p, a.n)))
		abort();
	buf_fini(&a);
	buf_fini(&b);
	buf_fini(&plain->m.part);
	free(plain);
	free(bytes);
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
	struct walker *w = calloc(1, sizeof(*w));
	struct memory *m = &w->m;
	struct frame_door door = { read_memory, put_part, m, w->seen };

	if (!w)
		abort();
	if (!size || data[0] & 0x80) {
		if (size)
			merge(data + 1, size - 1);
		free(w);
		return 0;
	}
	*m = (struct memory){ .bytes = data + 1, .size = size - 1,
			      .most = STEPS_MAX * 8 + READS_OF_SEARCH + READS_OF_TABLE };
	w->found = (struct python_found){
		.code = word_at(m, 144), .tasks = word_at(m, 152),
		.type = word_at(m, 160), .dict_type = word_at(m, 168),
		.bootstrap = { word_at(m, 176) },
		.running_task = (uint16_t)word_at(m, 184),
		.task_name = (uint16_t)word_at(m, 192),
	};
	w->types.runtime = BASE;
	w->types.code = word_at(m, 80);
	w->types.text = word_at(m, 88);
	w->types.bytes = word_at(m, 96);
	w->types.loop = word_at(m, 120) & 0xffff;
	w->types.loop_bytes = word_at(m, 128) & 0xffff;
	if (!find_layout(&w->types.layout, data[0], m, &door))
		abort();
	walk(w, false);
	merge(m->part.p, m->part.n);
	walk(w, false);
	find_thread(&w->types, m, &door);
	walk_twice(w);
	buf_fini(&m->part);
	free(w);
	return 0;
}
