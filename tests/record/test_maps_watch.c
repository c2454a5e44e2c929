// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings as records, from a /proc of our own and from the real one. */
#include "../checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/source/maps_watch.h"

struct seen {
	struct record r[64];
	char text[64][64];
	size_t n, fail_at;
	unsigned int sleep_us;	/* as if others had the processor meanwhile */
};

struct fixture {
	char proc[64];
	struct maps_watch w;
	struct seen seen;
	struct error err;
};

static int see(void *ctx, const struct record *r, struct error *err)
{
	struct seen *s = ctx;

	if (s->fail_at && s->n + 1 == s->fail_at)
		return error_set(err, ERR_STOPPED, "enough");
	assert_true(s->n < 64);
	if (s->sleep_us)
		usleep(s->sleep_us);
	s->r[s->n] = *r;
	snprintf(s->text[s->n], sizeof(s->text[0]), "%s",
		 r->kind == RECORD_MMAP ? r->mmap.path : r->comm.name);
	s->n++;
	return 0;
}

static void put(struct fixture *f, const char *name, const char *text)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", f->proc, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[128];

	strcpy(f->proc, "/tmp/tally-maps.XXXXXX");
	assert_non_null(mkdtemp(f->proc));
	snprintf(path, sizeof(path), "%s/7", f->proc);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/task");
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/7");
	assert_int_equal(mkdir(path, 0700), 0);
	put(f, "7/task/7/comm", "a program\n");
	put(f, "7/maps",
	    "1000-3000 r-xp 00000000 fe:01 11 /bin/a\n"
	    "3000-4000 rw-p 00002000 fe:01 11 /bin/a\n"
	    "8000-9000 r-xp 00001000 fe:01 12 /lib/b\n");
	maps_watch_init(&f->w, f->proc);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[128];

	maps_watch_fini(&f->w);
	snprintf(command, sizeof(command), "rm -r %s", f->proc);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static int sample(struct fixture *f, uint32_t pid, uint64_t addr, uint64_t ms)
{
	struct watch_place at = { pid, pid, ms * 1000000 };

	f->seen.n = 0;
	return maps_watch_sample(&f->w, &at, addr, see, &f->seen, &f->err);
}

static void the_first_sample_tells_all(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sample(f, 7, 0x1004, 5), 0);
	assert_int_equal(f->seen.n, 2);
	assert_int_equal(f->seen.r[0].kind, RECORD_MMAP);
	assert_int_equal(f->seen.r[0].pid, 7);
	assert_int_equal(f->seen.r[0].time_ns, 5000000);
	assert_int_equal(f->seen.r[0].mmap.start, 0x1000);
	assert_int_equal(f->seen.r[0].mmap.len, 0x2000);
	assert_string_equal(f->seen.text[1], "/lib/b");
	assert_int_equal(f->seen.r[1].mmap.offset, 0x1000);
	assert_int_equal(f->seen.r[1].mmap.inode, 12);
	assert_true(maps_watch_knows(&f->w, 7, 0x8fff));
	assert_false(maps_watch_knows(&f->w, 7, 0x3000));
	assert_false(maps_watch_knows(&f->w, 8, 0x1000));
	assert_int_equal(sample(f, 7, 0x2fff, 6), 0);
	assert_int_equal(f->seen.n, 0);
}

static void new_mappings_are_reported_once(void **state)
{
	struct fixture *f = *state;

	sample(f, 7, 0x1004, 5);
	put(f, "7/maps",
	    "1000-3000 r-xp 00000000 fe:01 11 /bin/a\n"
	    "5000-6000 r-xp 00000000 fe:01 13 /lib/c\n"
	    "8000-9000 r-xp 00001000 fe:01 14 /lib/b\n");
	assert_int_equal(sample(f, 7, 0x5000, 30), 0);
	assert_int_equal(f->seen.n, 2);
	assert_string_equal(f->seen.text[0], "/lib/c");
	assert_int_equal(f->seen.r[1].mmap.inode, 14);
	/* A piece that goes and comes again is new again. */
	put(f, "7/maps", "1000-3000 r-xp 00000000 fe:01 11 /bin/a\n");
	assert_int_equal(sample(f, 7, 0x1000, 1000), 0);
	assert_int_equal(f->seen.n, 0);
	assert_false(maps_watch_knows(&f->w, 7, 0x5000));
	put(f, "7/maps", "5000-6000 r-xp 00000000 fe:01 13 /lib/c\n");
	assert_int_equal(sample(f, 7, 0x5000, 1100), 0);
	assert_int_equal(f->seen.n, 1);
}

static void nothing_is_read_again_and_again(void **state)
{
	struct fixture *f = *state;

	for (uint64_t ms = 5; ms < 1005; ms++)
		assert_int_equal(sample(f, 7, 0x1000, ms), 0);
	assert_in_range(f->w.reads, 1, 11);
	f->w.reads = 0;
	for (uint64_t ms = 2000; ms < 3000; ms++)
		assert_int_equal(sample(f, 7, 0xdead000, ms), 0);
	assert_in_range(f->w.reads, 1, 40);
}

/* A library that was loaded calls back: the sample itself lies in what is
 * known. */
/* What reading costs is its processor time: on a busy machine it takes longer. */
static void waiting_for_a_processor_is_no_cost(void **state)
{
	struct fixture *f = *state;

	f->seen.sleep_us = 50000;
	assert_int_equal(sample(f, 7, 0x1004, 5), 0);
	assert_int_equal(f->seen.n, 2);
	put(f, "7/maps", "5000-6000 r-xp 00000000 fe:01 13 /lib/c\n");
	assert_int_equal(sample(f, 7, 0x5000, 105), 0);
	assert_int_equal(f->seen.n, 1);
}

static void pages_tell_of_changes(void **state)
{
	struct fixture *f = *state;

	put(f, "7/statm", "100 2 3 4 0 5 0\n");
	sample(f, 7, 0x1004, 1000);
	sample(f, 7, 0x1004, 1100);
	f->w.reads = 0;
	sample(f, 7, 0x1004, 1120);
	assert_int_equal(f->w.reads, 0);
	put(f, "7/statm", "120 2 3 4 0 5 0\n");
	put(f, "7/maps",
	    "1000-3000 r-xp 00000000 fe:01 11 /bin/a\n"
	    "5000-6000 r-xp 00000000 fe:01 13 /lib/c\n"
	    "8000-9000 r-xp 00001000 fe:01 12 /lib/b\n");
	sample(f, 7, 0x1004, 1140);
	assert_int_equal(f->seen.n, 1);
	assert_string_equal(f->seen.text[0], "/lib/c");
}

static void exec_forgets(void **state)
{
	struct fixture *f = *state;
	struct watch_place at = { 7, 7, 9000000 };

	sample(f, 7, 0x1004, 5);
	f->seen.n = 0;
	assert_int_equal(maps_watch_exec(&f->w, &at, see, &f->seen, &f->err),
			 0);
	assert_int_equal(f->seen.n, 3);
	assert_int_equal(f->seen.r[0].kind, RECORD_COMM);
	assert_true(f->seen.r[0].comm.exec);
	assert_string_equal(f->seen.text[0], "a program");
	assert_int_equal(f->seen.r[1].kind, RECORD_MMAP);
	/* One that is gone already executed something all the same. */
	at.pid = at.tid = 9;
	f->seen.n = 0;
	assert_int_equal(maps_watch_exec(&f->w, &at, see, &f->seen, &f->err),
			 0);
	assert_int_equal(f->seen.n, 1);
	assert_string_equal(f->seen.text[0], "");
	f->seen.n = 0;
	assert_int_equal(maps_watch_name(&f->w, &at, false, see, &f->seen,
					 &f->err), 0);
	assert_int_equal(f->seen.n, 0);
}

static void a_fork_has_its_parents(void **state)
{
	struct fixture *f = *state;

	sample(f, 7, 0x1004, 5);
	assert_int_equal(maps_watch_fork(&f->w, 8, 7), 0);
	assert_true(maps_watch_knows(&f->w, 8, 0x1004));
	assert_int_equal(sample(f, 8, 0x1004, 6), 0);
	assert_int_equal(f->seen.n, 0);
	/* Its maps cannot be read: what was known stays. */
	assert_int_equal(sample(f, 8, 0x7000, 500), 0);
	assert_true(maps_watch_knows(&f->w, 8, 0x1004));
	maps_watch_exit(&f->w, 8);
	assert_false(maps_watch_knows(&f->w, 8, 0x1004));
	maps_watch_exit(&f->w, 8);
	assert_int_equal(maps_watch_fork(&f->w, 8, 99), 0);
	assert_false(maps_watch_knows(&f->w, 8, 0x1004));
	assert_int_equal(maps_watch_fork(&f->w, 7, 7), 0);
}

static void hostile_lines_are_left_out(void **state)
{
	struct fixture *f = *state;

	put(f, "7/maps",
	    "5000-7000 r-xp 00000000 fe:01 1 /a\n"
	    "6000-8000 r-xp 00000000 fe:01 2 /overlaps\n"
	    "1000-2000 r-xp 00000000 fe:01 3 /back\n"
	    "7000-7000 r-xp 00000000 fe:01 4 /empty\n"
	    "junk\n"
	    "ffffffffffff0000-fffffffffffffff0 r-xp 00000000 fe:01 5 /high\n");
	assert_int_equal(sample(f, 7, 0x5000, 5), 0);
	assert_int_equal(f->seen.n, 2);
	assert_string_equal(f->seen.text[0], "/a");
	assert_string_equal(f->seen.text[1], "/high");
	assert_false(maps_watch_knows(&f->w, 7, UINT64_MAX));
	assert_false(maps_watch_knows(&f->w, 7, 0x1000));
}

static void an_error_of_the_callback_stops(void **state)
{
	struct fixture *f = *state;

	f->seen.fail_at = 2;
	assert_int_equal(sample(f, 7, 0x1000, 5), -ERR_STOPPED);
	f->seen.fail_at = 0;
	/* What was not told is told then. */
	assert_int_equal(sample(f, 7, 0x1000, 6), 0);
	assert_int_equal(f->seen.n, 2);
}

static void the_real_proc(void **state)
{
	struct fixture *f = *state;
	uint64_t here = (uint64_t)(uintptr_t)the_real_proc;
	uint32_t me = (uint32_t)getpid();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *code;

	if (access("/proc/self/maps", R_OK))
		skip_test("no /proc here");
	f->w.proc = "/proc";
	assert_int_equal(sample(f, me, here, 1), 0);
	assert_true(maps_watch_knows(&f->w, me, here));
	code = mmap(NULL, page, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(sample(f, me, (uint64_t)(uintptr_t)code, 100000), 0);
	assert_int_equal(f->seen.n, 1);
	assert_int_equal(f->seen.r[0].mmap.start, (uintptr_t)code);
	assert_string_equal(f->seen.text[0], "//anon");
	munmap(code, page);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(the_first_sample_tells_all),
		T(new_mappings_are_reported_once),
		T(nothing_is_read_again_and_again),
		T(waiting_for_a_processor_is_no_cost),
		T(pages_tell_of_changes),
		T(exec_forgets),
		T(a_fork_has_its_parents),
		T(hostile_lines_are_left_out),
		T(an_error_of_the_callback_stops),
		T(the_real_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
