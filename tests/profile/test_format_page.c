// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hex dumps in doc/tally-format.5 are a file that opens and says what the
 * page says: page and code cannot drift apart.
 */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format.h"
#include "profile/reader.h"

/* Reads the page's dump lines that begin with `prefix` and an offset. */
static struct buf read_dump(const char *prefix)
{
	const char *top = getenv("top_srcdir");
	struct buf out = { 0 };
	char path[4096], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/doc/tally-format.5",
		 top ? top : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned int offset, byte;
		char *p = line;
		int used = 0;

		if (strncmp(p, prefix, strlen(prefix)))
			continue;
		p += strlen(prefix);
		if (sscanf(p, "%8x:%n", &offset, &used) != 1 || used != 9)
			continue;
		assert_int_equal(offset, out.n);
		for (p += used; sscanf(p, " %2x%n", &byte, &used) == 1;
		     p += used)
			buf_u8(&out, (uint8_t)byte);
	}
	fclose(f);
	assert_true(out.n > 0);
	return out;
}

static void check_model(const struct profile *p)
{
	assert_int_equal(p->runs.n, 1);
	assert_string_equal(profile_cstr(p, p->runs.v[0].command), "a.out");
	assert_int_equal(p->runs.v[0].exit_status, 0);
	assert_int_equal(p->events.n, 1);
	assert_string_equal(profile_cstr(p, p->events.v[0].actual),
			    "cpu-clock");
	assert_int_equal(p->events.v[0].unit, PROF_UNIT_NS);
	assert_int_equal(p->threads.v[0].pid, 7);
	assert_string_equal(profile_cstr(p, p->images.v[0].path), "/a.out");
	assert_int_equal(p->images.v[0].build_id.len, 2);
	assert_memory_equal(p->images.v[0].build_id.bytes, "\xab\xcd", 2);
	assert_int_equal(p->nodes.n, 3);
	assert_int_equal(p->nodes.v[2].parent, 1);
	assert_int_equal(p->locs.v[1].vaddr, 0x1000);
	assert_true(p->symbolized);
	assert_string_equal(
		profile_cstr(p, p->funcs.v[p->frames.v[0].func].name), "main");
	assert_int_equal(p->frames.v[1].line, 4);
	assert_int_equal(profile_loc_frame(p, 0), 0);
	assert_int_equal(profile_loc_frame(p, 1), 1);
	assert_int_equal(p->sources.n, 1);
	assert_int_equal(p->sources.v[0].names,
			 PROF_NAMES_SYMTAB | PROF_NAMES_DWARF);
	assert_int_equal(p->sources.v[0].missing, 0);
}

static void test_whole_file(void **state)
{
	static const uint32_t stacks[] = { 2, 1, 2 };
	struct buf b = read_dump("");
	struct reader *r;
	struct error err;
	struct sample_batch batch;

	(void)state;
	assert_int_equal(reader_open_bytes(b.p, b.n, "page", &r, &err), 0);
	assert_string_equal(reader_damage(r)->message, "");
	check_model(reader_profile(r));
	assert_true(reader_next(r, &batch));
	assert_int_equal(batch.n, 3);
	assert_memory_equal(batch.stack, stacks, sizeof(stacks));
	assert_int_equal(batch.time_ns[0], 2000000);
	assert_int_equal(batch.time_ns[1], 3000000);
	assert_int_equal(batch.time_ns[2], 3500000);
	assert_int_equal(batch.weight[2], 1000000);
	assert_false(reader_next(r, &batch));
	reader_close(r);
	buf_fini(&b);
}

static void test_inflated_tables(void **state)
{
	struct buf b = read_dump(""), want = read_dump("raw  ");
	struct chunk c;
	uint8_t raw[256];

	(void)state;
	assert_true(chunk_get_header(b.p + 0x20, &c));
	assert_int_equal(c.kind, CHUNK_TABLES);
	assert_int_equal(c.raw, want.n);
	assert_true(want.n <= sizeof(raw));
	assert_true(format_inflate(b.p + 0x40, c.stored, raw, c.raw));
	assert_memory_equal(raw, want.p, want.n);
	buf_fini(&b);
	buf_fini(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_file),
		cmocka_unit_test(test_inflated_tables),
	};

	return cmocka_run_group_tests_name("format page", tests, NULL, NULL);
}
