// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks of Python's frames that recall the walk before, in memory that was made for the
 * test.  A thread calls and returns at random between them, code objects are replaced,
 * and memory goes.  Each walk must find what one without recall finds.
 */
#include "../checks.h"

#include <stdlib.h>

#include "runtime/python_frames.h"

enum {
	BASE = 0x10000000, BYTES = 0x60000,
	STATE = 0, RUNTIME = 0x1000, TEXTS = 0x2000, NAMES = 16, TABLE = 0x3000,
	CODES = 0x4000, CODE_ROOM = 0x100, NCODES = 40, SLOTS = 0x10000, RECORDS = 0x50000,
	CODE_TYPE = 0x100, TEXT_TYPE = 0x200, BYTES_TYPE = 0x300,	/* only numbers */
	DEPTH_MAX = 700, OWNER_ENTRY = 3,
};

struct call {
	uint64_t at;		/* frame, and (from 3.12 on) the entry before it, or 0 */
	uint64_t entry_at;
	size_t code;
	uint32_t instr;
	bool entry;		/* begins a run */
};

static struct thread {
	struct python_types types;
	uint8_t bytes[BYTES];
	size_t hole, hole_end;
	struct call calls[DEPTH_MAX];	/* the outermost first */
	size_t n;
	unsigned int reads;
} thread;

static uint64_t random_word(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static size_t below(size_t n)
{
	return (size_t)(random_word() % n);
}

static void put(uint64_t at, uint64_t v, size_t n)
{
	memcpy(thread.bytes + (at - BASE), &v, n);
}

static void put_word(uint64_t at, uint64_t v)
{
	put(at, v, 8);
}

static size_t read_memory(void *ctx, const struct frame_span *v, size_t n, void *to)
{
	size_t done = 0;

	(void)ctx;
	thread.reads++;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = v[i].at - BASE;

		if (at > BYTES || v[i].n > BYTES - at ||
		    (at < thread.hole_end && at + v[i].n > thread.hole))
			return done;
		memcpy((uint8_t *)to + done, thread.bytes + at, v[i].n);
		done += v[i].n;
	}
	return done;
}

struct part {
	uint8_t bytes[FRAME_PART_MAX];
	size_t n;
};

static void put_part(void *ctx, const void *p, size_t n)
{
	struct part *part = ctx;

	assert_true(n <= sizeof(part->bytes) - part->n);
	memcpy(part->bytes + part->n, p, n);
	part->n += n;
}

static uint64_t code_at(size_t i)
{
	return BASE + CODES + i * CODE_ROOM;
}

static void put_code(size_t i)
{
	const struct python_layout *l = &thread.types.layout;
	static uint32_t version;

	put_word(code_at(i) + 8, CODE_TYPE);
	put_word(code_at(i) + l->code_file, BASE + TEXTS);
	put_word(code_at(i) + l->code_name, BASE + TEXTS + 0x80 * below(NAMES));
	put_word(code_at(i) + l->code_table, BASE + TABLE);
	put(code_at(i) + l->code_line, below(1000), 4);
	if (l->code_version)
		put(code_at(i) + l->code_version, ++version, 4);
}

static void put_texts(void)
{
	const struct python_layout *l = &thread.types.layout;

	for (size_t i = 0; i < NAMES; i++) {
		const uint64_t at = BASE + TEXTS + 0x80 * i;

		put_word(at + 8, TEXT_TYPE);
		put_word(at + 16, 6);
		put_word(at + 32, 1 << 2 | 32 | 64);
		put_word(at + l->text_ascii, 0x646f6874656dull + i);
	}
	put_word(BASE + TABLE + 8, BYTES_TYPE);
	put_word(BASE + TABLE + 16, 8);
}

static void thread_begin(uint64_t minor)
{
	memset(&thread, 0, sizeof(thread));
	assert_true(python_layout_released(&thread.types.layout, 3 << 24 | minor << 16));
	thread.types.runtime = BASE + RUNTIME;
	thread.types.code = CODE_TYPE;
	thread.types.text = TEXT_TYPE;
	thread.types.bytes = BYTES_TYPE;
	put_texts();
	for (size_t i = 0; i < NCODES; i++)
		put_code(i);
}

/* Frames that are objects are anywhere, the others one after the other. */
static void call(void)
{
	const struct python_layout *l = &thread.types.layout;
	struct call *c = &thread.calls[thread.n];
	uint64_t end = thread.n ? c[-1].at + l->frame_size + 8 * below(6) : BASE + SLOTS;

	c->entry = !thread.n || !below(5);
	c->code = below(NCODES);
	c->instr = 2 * (uint32_t)below(100);
	c->entry_at = 0;
	if (l->by_object) {
		for (bool used = true; used;) {
			used = false;
			c->at = BASE + SLOTS + 0x80 * below(DEPTH_MAX * 2);
			for (size_t i = 0; i < thread.n; i++)
				used |= thread.calls[i].at == c->at;
		}
	} else {
		if (c->entry && l->frame_owner) {
			c->entry_at = end;
			end += l->frame_size;
		}
		c->at = end;
	}
	thread.n++;
}

static void put_frame(const struct call *c, uint64_t previous)
{
	const struct python_layout *l = &thread.types.layout;
	uint64_t code = code_at(c->code);

	if (c->entry_at) {
		put_word(c->entry_at + l->frame_code, 1);
		put_word(c->entry_at + l->frame_previous, previous);
		put(c->entry_at + l->frame_owner, OWNER_ENTRY, 1);
		previous = c->entry_at;
	}
	put_word(c->at + l->frame_code, code | (l->tags & c->instr >> 1));
	put_word(c->at + l->frame_previous, previous);
	if (l->by_object)
		put(c->at + l->frame_instr, c->instr, 4);
	else
		put_word(c->at + l->frame_instr, code + l->code_bytecode + c->instr);
	if (l->frame_owner)
		put(c->at + l->frame_owner, 0, 1);
	if (l->frame_entry)
		put(c->at + l->frame_entry, c->entry, 1);
}

/* Writes what the calls are to memory. */
static void put_calls(void)
{
	const struct python_layout *l = &thread.types.layout;
	uint64_t previous = 0, record = l->thread_root ? BASE + STATE + l->thread_root : 0;
	size_t runs = 0;

	for (size_t i = 0; i < thread.n; i++) {
		put_frame(&thread.calls[i], previous);
		previous = thread.calls[i].at;
		if (!l->thread_cframe && !(l->by_cframe && thread.calls[i].entry))
			continue;
		put_word(BASE + RECORDS + 0x40 * runs + l->cframe_previous, record);
		record = BASE + RECORDS + 0x40 * runs++;
	}
	/* the innermost frame of each run */
	for (size_t i = thread.n; l->by_cframe && i--;) {
		if (i + 1 == thread.n || thread.calls[i + 1].entry)
			put_word(BASE + RECORDS + 0x40 * --runs + l->cframe_frame,
				 thread.calls[i].at);
		while (!thread.calls[i].entry)
			i--;
	}
	put_word(BASE + STATE + l->thread_frame, l->by_cframe ? record : previous);
	if (l->thread_cframe)
		put_word(BASE + STATE + l->thread_cframe, record);
}

/* Walks; the number of reads is in thread.reads. */
static void walk(struct python_recall *recall, uint64_t *seen, struct part *part)
{
	static struct python_scratch scratch;
	const struct frame_door door = { read_memory, put_part, part, seen };
	const struct python_thread t = { .state = BASE + STATE, .recall = recall };

	size_t n;

	part->n = 0;
	thread.reads = 0;
	n = python_walk(&thread.types, &t, &door, &scratch);
	assert_int_equal(n, part->n);
}

/* A thread that is walked twice each time. */
struct watch {
	struct python_recall recall;
	uint64_t seen[FRAME_SEEN], plain_seen[FRAME_SEEN];
	struct part part, plain;
	unsigned int reads, plain_reads;
};

static void watch(struct watch *w)
{
	walk(NULL, w->plain_seen, &w->plain);
	w->plain_reads = thread.reads;
	walk(&w->recall, w->seen, &w->part);
	w->reads = thread.reads;
	assert_int_equal(w->part.n, w->plain.n);
	assert_memory_equal(w->part.bytes, w->plain.bytes, w->part.n);
}

static uint32_t end_of(const struct part *part)
{
	struct frame_entry e;

	memcpy(&e, part->bytes + part->n - sizeof(e), sizeof(e));
	assert_int_equal(e.what, FRAME_END);
	return e.more;
}

/* Changes calls, as a program does. */
static void change(size_t most)
{
	size_t out = below(below(8) ? 4 : thread.n), in = below(below(8) ? 4 : most);

	thread.n -= out < thread.n ? out : thread.n - 1;
	while (in-- && thread.n < most)
		call();
	thread.calls[thread.n - 1].instr = 2 * (uint32_t)below(100);
	if (!below(4))
		put_code(below(NCODES));
	put_calls();
}

/* Runs a test with each version, in a thread of n calls that was walked once. */
static void each_version(size_t n, void (*test)(struct watch *w, uint64_t minor))
{
	static const uint64_t minors[] = { 8, 9, 10, 11, 12, 13, 14, 15 };
	struct watch *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		thread_begin(minors[i]);
		memset(w, 0, sizeof(*w));
		while (thread.n < n)
			call();
		put_calls();
		watch(w);
		test(w, minors[i]);
	}
	free(w);
}

static void walk_often(struct watch *w, uint64_t minor)
{
	(void)minor;
	for (int k = 0; k < 2000; k++) {
		change(k < 1000 ? 30 : DEPTH_MAX);
		watch(w);
		assert_int_equal(end_of(&w->part), FRAMES_COMPLETE);
	}
}

static void walks_find_the_same(void **state)
{
	(void)state;
	each_version(1, walk_often);
}

static void return_and_go_on(struct watch *w, uint64_t minor)
{
	assert_true(w->reads > 1);
	for (; thread.n; thread.n -= thread.n > 7 ? 7 : thread.n) {
		thread.calls[thread.n - 1].instr += 2;
		put_calls();
		watch(w);
		/* 3.12: the record of another run */
		assert_in_range(w->reads, 1, minor == 12 ? 2 : 1);
		assert_int_equal(end_of(&w->part), FRAMES_COMPLETE);
	}
}

/* Fewer calls, or the same ones elsewhere in their code, are read at once. */
static void what_is_known_takes_one_read(void **state)
{
	(void)state;
	each_version(60, return_and_go_on);
}

static void call_two_more(struct watch *w, uint64_t minor)
{
	(void)minor;
	/* all code has been written */
	for (int k = 0; k < 200; k++) {
		change(60);
		watch(w);
	}
	while (thread.n > 40)
		thread.n--;
	put_calls();
	watch(w);
	call();
	call();
	put_calls();
	watch(w);
	/* the first words; two frames, records and entries; codes */
	assert_in_range(w->reads, 2, 30);
}

/* The outer calls are known, two inner ones are not. */
static void what_is_new_is_read_alone(void **state)
{
	(void)state;
	each_version(50, call_two_more);
}

static void replace_three(struct watch *w, uint64_t minor)
{
	(void)minor;
	for (int k = 0; k < 20; k++) {
		thread.n -= 3;
		call();
		call();
		call();
		put_calls();
		watch(w);
		assert_true(w->reads < w->plain_reads);
	}
}

/* The inner frames of chains that are too deep are recalled, also when they change. */
static void deep_chains_are_recalled_in_part(void **state)
{
	(void)state;
	each_version(600, replace_three);
}

static void return_into_a_hole(struct watch *w, uint64_t minor)
{
	struct call *inner = &thread.calls[30];

	(void)minor;
	thread.n = 30;
	put_calls();
	thread.hole = inner->at - BASE;
	thread.hole_end = thread.hole + 1;
	watch(w);
	assert_int_equal(end_of(&w->part), FRAMES_COMPLETE);
	thread.n = 31;
	put_calls();
	watch(w);
	assert_int_equal(end_of(&w->part), FRAMES_TORN);
	thread.hole = thread.hole_end = 0;
	watch(w);
	assert_int_equal(end_of(&w->part), FRAMES_COMPLETE);
}

/* A walk that meets memory which is not there is torn, with what is recalled, too; the
 * memory of frames that ended does no harm. */
static void memory_goes(void **state)
{
	(void)state;
	each_version(60, return_into_a_hole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_find_the_same),
		cmocka_unit_test(what_is_known_takes_one_read),
		cmocka_unit_test(what_is_new_is_read_alone),
		cmocka_unit_test(deep_chains_are_recalled_in_part),
		cmocka_unit_test(memory_goes),
	};

	return cmocka_run_group_tests_name("python_recall", tests, NULL, NULL);
}
