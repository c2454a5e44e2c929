// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The search for the table of Python's module _asyncio, in memory that was made for the
 * test: a file of three segments, and pages around it.
 */
#include "../checks.h"

#include <elf.h>

#include "runtime/python_asyncio.h"

enum {
	PAGE = 4096, BASE = 0x10000000,
	HEADER = 2 * PAGE, CODE = 3 * PAGE, DATA = 6 * PAGE, DATA_BYTES = 2 * PAGE + 8,
	BYTES = 10 * PAGE,
	INTERPRETER = 226888, RUNNING = 872, NAME = 136,
};

static struct memory {
	uint8_t bytes[BYTES];
	size_t hole;		/* page that cannot be read; 0: none */
} memory;

static size_t read_memory(void *ctx, const struct frame_span *v, size_t n, void *to)
{
	const struct memory *m = ctx;
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = v[i].at - BASE;

		if (at > BYTES || v[i].n > BYTES - at ||
		    (m->hole && at < m->hole + PAGE && at + v[i].n > m->hole))
			return done;
		memcpy((uint8_t *)to + done, m->bytes + at, v[i].n);
		done += v[i].n;
	}
	return done;
}

/* The words of CPython 3.14.10's table. */
static void put_table(size_t at)
{
	const uint64_t table[] = { 168, NAME, 96, 108, 109, 128, 152,
				   INTERPRETER, 10880, 936, 864, RUNNING, 880 };

	memcpy(memory.bytes + at, table, sizeof(table));
}

static void put_file(void)
{
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = PAGE, .p_memsz = PAGE },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = PAGE,
		  .p_vaddr = CODE - HEADER, .p_filesz = 2 * PAGE, .p_memsz = 2 * PAGE },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 3 * PAGE,
		  .p_vaddr = DATA - HEADER, .p_filesz = DATA_BYTES, .p_memsz = 3 * PAGE },
	};
	const Elf64_Ehdr e = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
		.e_phoff = sizeof(e), .e_phentsize = sizeof(*segments), .e_phnum = 3,
	};

	memset(&memory, 0, sizeof(memory));
	memcpy(memory.bytes + HEADER, &e, sizeof(e));
	memcpy(memory.bytes + HEADER + sizeof(e), segments, sizeof(segments));
}

static bool find(uint64_t function, struct python_asyncio *a)
{
	static uint64_t room[FRAME_WINDOW / 8];
	const struct frame_door door = { .read = read_memory, .ctx = &memory };
	const struct python_types types = {
		.layout = { .interpreter_bytes = INTERPRETER },
	};
	const struct python_objects o = { &types, &door, room };

	return python_asyncio_find(&o, BASE + function, a);
}

static void table_is_found(void **state)
{
	const size_t at[] = { DATA, DATA + DATA_BYTES - 104, DATA + DATA_BYTES - PAGE - 48,
			      DATA + PAGE - 96 };
	struct python_asyncio a;

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		put_file();
		put_table(at[i]);
		assert_true(find(CODE + PAGE + 64, &a));
		assert_int_equal(a.table, BASE + at[i]);
		assert_int_equal(a.running_task, RUNNING);
		assert_int_equal(a.task_name, NAME);
	}
}

/* Outside the data, or after it in memory that is not of the file. */
static void others_are_not(void **state)
{
	const size_t at[] = { CODE + 128, DATA + DATA_BYTES - 96, DATA - 104 };
	struct python_asyncio a;

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		put_file();
		put_table(at[i]);
		assert_false(find(CODE + 64, &a));
	}
}

static void word_of_table(size_t word, uint64_t v)
{
	put_file();
	put_table(DATA);
	memcpy(memory.bytes + DATA + 8 * word, &v, sizeof(v));
}

static void impossible_words_are_refused(void **state)
{
	const struct { size_t word; uint64_t v; } wrong[] = {
		{ 0, 136 }, { 0, 1 << 20 }, { 1, 0 }, { 1, 137 }, { 1, 168 },
		{ 1, (uint64_t)-8 }, { 7, INTERPRETER + 8 }, { 8, INTERPRETER },
		{ 9, 872 }, { 9, 1 << 20 }, { 11, 0 }, { 11, 875 }, { 11, 936 },
		{ 11, 1 << 17 }, { 12, (uint64_t)-8 },
	};
	struct python_asyncio a;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		word_of_table(wrong[i].word, wrong[i].v);
		assert_false(find(CODE + 64, &a));
	}
}

static void file_must_have_the_function(void **state)
{
	struct python_asyncio a;

	(void)state;
	put_file();
	put_table(DATA);
	assert_true(find(CODE, &a));
	assert_false(find(HEADER + 64, &a));
	assert_false(find(CODE + 2 * PAGE, &a));
	assert_false(find(PAGE, &a));
	memory.hole = CODE;
	assert_false(find(CODE + PAGE, &a));
	memory.hole = DATA + PAGE;
	assert_false(find(CODE, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_found),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(impossible_words_are_refused),
		cmocka_unit_test(file_must_have_the_function),
	};

	return cmocka_run_group_tests_name("python_asyncio", tests, NULL, NULL);
}
