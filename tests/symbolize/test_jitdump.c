// SPDX-License-Identifier: GPL-2.0-or-later
/* Jitdump files, made here as the specification has them
 * (tools/perf/Documentation/jitdump-specification.txt). */
#include "../checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbolize/jitdump.h"

enum { LOAD, MOVE, LINES, CLOSE, OTHER = 77, PID = 4711 };

struct file {
	struct buf b;
	uint64_t flags;
	size_t record;		/* where the last one begins */
	struct jitdump *j;
};

static size_t read_file(void *ctx, uint64_t at, void *to, size_t n)
{
	const struct file *f = ctx;

	if (at >= f->b.n)
		return 0;
	if (n > f->b.n - at)
		n = f->b.n - (size_t)at;
	memcpy(to, f->b.p + at, n);
	return n;
}

static void header(struct file *f)
{
	buf_u32(&f->b, 0x4a695444);
	buf_u32(&f->b, 1);
	buf_u32(&f->b, 40);
	buf_u32(&f->b, 62);	/* EM_X86_64 */
	buf_u32(&f->b, 0);
	buf_u32(&f->b, PID);
	buf_u64(&f->b, 1);
	buf_u64(&f->b, f->flags);
}

static void begin(struct file *f, uint32_t id, uint64_t time_ns)
{
	f->record = f->b.n;
	buf_u32(&f->b, id);
	buf_u32(&f->b, 0);
	buf_u64(&f->b, time_ns);
}

static void end(struct file *f)
{
	uint32_t n = (uint32_t)(f->b.n - f->record);

	memcpy(f->b.p + f->record + 4, &n, sizeof(n));
}

static void load(struct file *f, uint64_t time_ns, uint64_t addr, uint64_t index,
		 const char *name, const char *code)
{
	begin(f, LOAD, time_ns);
	buf_u32(&f->b, PID);
	buf_u32(&f->b, PID);
	buf_u64(&f->b, addr);
	buf_u64(&f->b, addr);
	buf_u64(&f->b, strlen(code));
	buf_u64(&f->b, index);
	buf_bytes(&f->b, name, strlen(name) + 1);
	buf_str(&f->b, code);
	end(f);
}

static void line(struct file *f, uint64_t addr, uint32_t number, const char *file)
{
	buf_u64(&f->b, addr);
	buf_u32(&f->b, number);
	buf_u32(&f->b, 0);
	buf_bytes(&f->b, file, strlen(file) + 1);
}

static void lines(struct file *f, uint64_t addr, uint64_t n)
{
	begin(f, LINES, 1);
	buf_u64(&f->b, addr);
	buf_u64(&f->b, n);
}

static void opened(struct file *f)
{
	struct jitdump_door door = { read_file, f };

	assert_int_equal(jitdump_open(&door, &f->j), 0);
	assert_int_equal(jitdump_read(f->j), 0);
}

static void closed(struct file *f)
{
	jitdump_close(f->j);
	buf_fini(&f->b);
}

static const char *name_at(struct file *f, uint64_t addr, uint64_t time_ns)
{
	static char name[64];
	const struct jitdump_code *c = jitdump_find(f->j, addr, time_ns);
	struct buf b = { 0 };

	strcpy(name, "none");
	if (c && jitdump_name(f->j, c, &b))
		snprintf(name, sizeof(name), "%s", buf_cstr(&b));
	buf_fini(&b);
	return name;
}

static void finds_code_by_address_and_time(void **state)
{
	struct file f = { 0 };

	(void)state;
	header(&f);
	load(&f, 100, 0x1000, 0, "one", "0123456789abcdef");
	load(&f, 110, 0x1ff8, 1, "two", "0123456789abcdef");
	load(&f, 200, 0x1004, 2, "three", "0123");
	opened(&f);
	assert_int_equal(jitdump_pid(f.j), PID);
	assert_int_equal(jitdump_machine(f.j), 62);
	assert_true(jitdump_is_timed(f.j));
	assert_int_equal(jitdump_count(f.j), 3);
	assert_string_equal(name_at(&f, 0x1000, 100), "one");
	assert_string_equal(name_at(&f, 0x100f, 150), "one");
	assert_string_equal(name_at(&f, 0x1010, 150), "none");
	assert_string_equal(name_at(&f, 0x0fff, 150), "none");
	/* over the end of a page */
	assert_string_equal(name_at(&f, 0x1ff8, 150), "two");
	assert_string_equal(name_at(&f, 0x2007, 150), "two");
	/* replaced in part */
	assert_string_equal(name_at(&f, 0x1004, 199), "one");
	assert_string_equal(name_at(&f, 0x1004, 200), "three");
	assert_string_equal(name_at(&f, 0x1008, 300), "one");
	/* told late */
	assert_string_equal(name_at(&f, 0x1000, 50), "one");
	closed(&f);
}

static void follows_moves(void **state)
{
	struct file f = { 0 };
	struct buf b = { 0 };

	(void)state;
	header(&f);
	load(&f, 100, 0x1000, 5, "moved", "0123456789abcdef");
	begin(&f, MOVE, 200);
	buf_u32(&f.b, PID);
	buf_u32(&f.b, PID);
	buf_u64(&f.b, 0x9000);
	buf_u64(&f.b, 0x1000);
	buf_u64(&f.b, 0x9000);
	buf_u64(&f.b, 16);
	buf_u64(&f.b, 5);
	end(&f);
	load(&f, 300, 0x1000, 6, "other", "0123456789abcdef");
	opened(&f);
	assert_string_equal(name_at(&f, 0x1008, 150), "moved");
	assert_string_equal(name_at(&f, 0x9008, 250), "moved");
	assert_string_equal(name_at(&f, 0x1008, 350), "other");
	jitdump_bytes(f.j, jitdump_find(f.j, 0x9008, 250), 8, 100, &b);
	assert_string_equal(buf_cstr(&b), "89abcdef");
	buf_fini(&b);
	closed(&f);
}

static void has_lines(void **state)
{
	struct jitdump_lines l = { 0 };
	struct file f = { 0 };

	(void)state;
	header(&f);
	lines(&f, 0x1000, 3);
	line(&f, 0x1000, 10, "a.c");
	line(&f, 0x1004, 11, "\xff");
	line(&f, 0x1008, 7, "b.c");
	end(&f);
	load(&f, 100, 0x1000, 0, "one", "0123456789abcdef");
	load(&f, 100, 0x2000, 1, "without", "0123456789abcdef");
	opened(&f);
	assert_false(jitdump_lines(f.j, jitdump_find(f.j, 0x2000, 100), "", &l));
	assert_true(jitdump_lines(f.j, jitdump_find(f.j, 0x1000, 100), "", &l));
	assert_int_equal(jitdump_line(&l, 3)->line, 10);
	assert_int_equal(jitdump_line(&l, 4)->line, 11);
	assert_string_equal(l.text.p + jitdump_line(&l, 4)->file, "a.c");
	assert_int_equal(jitdump_line(&l, 15)->line, 7);
	assert_string_equal(l.text.p + jitdump_line(&l, 15)->file, "b.c");
	jitdump_lines_fini(&l);
	closed(&f);
}

/* As node 20 writes them: 64 bytes on, and with a name that was freed. */
static void has_lines_of_v8(void **state)
{
	struct jitdump_lines l = { 0 };
	struct file f = { 0 };
	const struct jitdump_code *c;

	(void)state;
	header(&f);
	lines(&f, 0x1000, 2);
	line(&f, 0x1040, 10, "\x03x");
	buf_bytes(&f.b, "\0\1\2", 3);	/* as "/a.js" and its end */
	line(&f, 0x1044, 11, "");
	buf_bytes(&f.b, "abcde\0\0\0\0", 9);	/* and filled up to 8 bytes */
	end(&f);
	load(&f, 100, 0x1000, 0, "JS:*one /a.js:10:1", "0123456789abcdef");
	opened(&f);
	c = jitdump_find(f.j, 0x1000, 100);
	assert_false(jitdump_lines(f.j, c, "", &l));
	jitdump_lines_fini(&l);
	assert_false(jitdump_lines(f.j, c, "/ab.js", &l));
	jitdump_lines_fini(&l);
	assert_true(jitdump_lines(f.j, c, "/a.js", &l));
	assert_int_equal(jitdump_line(&l, 0)->line, 10);
	assert_int_equal(jitdump_line(&l, 4)->line, 11);
	assert_string_equal(l.text.p + jitdump_line(&l, 4)->file, "/a.js");
	jitdump_lines_fini(&l);
	closed(&f);
}

static void reads_on_where_the_file_grows(void **state)
{
	struct file f = { 0 };
	size_t all, half;

	(void)state;
	header(&f);
	load(&f, 100, 0x1000, 0, "one", "0123456789abcdef");
	half = f.b.n + 30;
	load(&f, 100, 0x2000, 1, "two", "0123456789abcdef");
	begin(&f, OTHER, 1);
	end(&f);
	load(&f, 100, 0x3000, 2, "three", "0123456789abcdef");
	all = f.b.n;
	f.b.n = half;
	opened(&f);
	assert_int_equal(jitdump_count(f.j), 1);
	assert_string_equal(name_at(&f, 0x2000, 100), "none");
	f.b.n = all;
	assert_int_equal(jitdump_read(f.j), 0);
	assert_int_equal(jitdump_count(f.j), 3);
	assert_string_equal(name_at(&f, 0x1000, 100), "one");
	assert_string_equal(name_at(&f, 0x2000, 100), "two");
	assert_string_equal(name_at(&f, 0x3000, 100), "three");
	closed(&f);
}

static void times_of_another_clock_do_not_count(void **state)
{
	struct file f = { .flags = 1 };

	(void)state;
	header(&f);
	load(&f, 5000, 0x1000, 0, "one", "0123456789abcdef");
	load(&f, 6000, 0x1000, 1, "two", "0123456789abcdef");
	opened(&f);
	assert_false(jitdump_is_timed(f.j));
	assert_string_equal(name_at(&f, 0x1000, 10), "two");
	closed(&f);
}

static void inconsistent_input_is_rejected(void **state)
{
	struct file f = { 0 };
	struct jitdump_door door = { read_file, &f };
	uint64_t at;

	(void)state;
	buf_str(&f.b, "JiTD");
	assert_int_equal(jitdump_open(&door, &f.j), -ERR_FORMAT);
	f.b.n = 0;
	header(&f);
	memcpy(f.b.p, "JiTD", 4);	/* of the other byte order */
	assert_int_equal(jitdump_open(&door, &f.j), -ERR_FORMAT);
	f.b.n = 0;
	header(&f);
	f.b.p[4] = 2;
	assert_int_equal(jitdump_open(&door, &f.j), -ERR_FORMAT);
	f.b.n = 0;
	header(&f);
	load(&f, 100, 0x1000, 0, "one", "0123456789abcdef");
	/* more code than the record has */
	begin(&f, LOAD, 1);
	for (int i = 0; i < 3; i++)
		buf_u64(&f.b, 0x5000);
	buf_u64(&f.b, 0x1000000);
	buf_u64(&f.b, 9);
	buf_str(&f.b, "x");
	end(&f);
	begin(&f, LOAD, 1);	/* a record shorter than its head */
	f.b.p[f.record + 4] = 3;
	load(&f, 100, 0x3000, 1, "behind", "0123456789abcdef");
	opened(&f);
	assert_string_equal(name_at(&f, 0x1000, 100), "one");
	assert_string_equal(name_at(&f, 0x5000, 100), "none");
	assert_string_equal(name_at(&f, 0x3000, 100), "none");
	assert_true(jitdump_damage(f.j, &at));
	assert_int_equal(at, f.record - 16);
	closed(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_code_by_address_and_time),
		cmocka_unit_test(follows_moves),
		cmocka_unit_test(has_lines),
		cmocka_unit_test(has_lines_of_v8),
		cmocka_unit_test(reads_on_where_the_file_grows),
		cmocka_unit_test(times_of_another_clock_do_not_count),
		cmocka_unit_test(inconsistent_input_is_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
