// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines as proc(5) shows them. */
#include "../checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "launch/proc_read.h"
#include "launch/proc_text.h"

struct list {
	struct mapping maps[8];
	char paths[8][128];
	struct proc_module modules[8];
	size_t n, stop_at;
};

static bool add_map(void *ctx, const struct mapping *m)
{
	struct list *l = ctx;

	assert_true(l->n < 8);
	snprintf(l->paths[l->n], sizeof(l->paths[0]), "%s", m->path);
	l->maps[l->n++] = *m;
	return l->n != l->stop_at;
}

static bool add_module(void *ctx, const struct proc_module *m)
{
	struct list *l = ctx;

	assert_true(l->n < 8);
	l->modules[l->n++] = *m;
	return true;
}

static struct list maps(const char *text)
{
	struct list l = { .n = 0 };

	proc_maps_parse(text, strlen(text), add_map, &l);
	return l;
}

static void executable_lines_become_mappings(void **state)
{
	struct list l = maps(
"55a0d0c00000-55a0d0c02000 r--p 00000000 fe:01 1311 /usr/bin/cat\n"
"55a0d0c02000-55a0d0c07000 r-xp 00002000 fe:01 1311                /usr/bin/cat\n"
"7f00a0000000-7f00a0021000 rw-p 00000000 00:00 0\n"
"7f00b0000000-7f00b0001000 rwxp 00000000 00:00 0 \n"
"7ffe6a9d2000-7ffe6a9d4000 r-xp 00000000 00:00 0                  [vdso]\n"
"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]\n"
"7f00c0000000-7f00c0001000 r-xp 00001000 00:1f 99 /tmp/a b (deleted)\n"
"7f00d0000000-7f00d0001000 r-xp 00000000 00:1f 98 /tmp/new\\012line");

	(void)state;
	assert_int_equal(l.n, 6);
	assert_int_equal(l.maps[0].start, 0x55a0d0c02000);
	assert_int_equal(l.maps[0].len, 0x5000);
	assert_int_equal(l.maps[0].offset, 0x2000);
	assert_int_equal(l.maps[0].dev, makedev(0xfe, 1));
	assert_int_equal(l.maps[0].inode, 1311);
	assert_string_equal(l.paths[0], "/usr/bin/cat");
	assert_string_equal(l.paths[1], "//anon");
	assert_string_equal(l.paths[2], "[vdso]");
	assert_int_equal(l.maps[3].start, 0xffffffffff600000);
	assert_string_equal(l.paths[4], "/tmp/a b (deleted)");
	assert_string_equal(l.paths[5], "/tmp/new\nline");
}

static void damaged_lines_are_left_out(void **state)
{
	struct list l = maps(
"\n"
"x\n"
"1000\n"
"1000-2000\n"
"2000-1000 r-xp 0 00:00 0 /a\n"
"1000-1000 r-xp 0 00:00 0 /a\n"
"1000-2000 r-xp\n"
"1000-2000 r-xpp 0 00:00 0 /a\n"
"1000-2000 r-xp 0 0000 0 /a\n"
"1000-2000 r-xp 0 00:00 x /a\n"
"10000000000000000-20000000000000000 r-xp 0 00:00 0 /a\n"
"1000-2000 r-xp 0 00:00 0 /good\n");

	(void)state;
	assert_int_equal(l.n, 1);
	assert_string_equal(l.paths[0], "/good");
}

static void long_names_are_cut_not_spilled(void **state)
{
	static char text[20000];
	struct list l = { .n = 0 };
	int n = sprintf(text, "1000-2000 r-xp 0 00:00 0 /");

	(void)state;
	memset(text + n, 'a', sizeof(text) - 1 - (size_t)n);
	proc_maps_parse(text, sizeof(text) - 1, add_map, &l);
	assert_int_equal(l.n, 1);
}

static void the_caller_can_stop(void **state)
{
	struct list l = { .stop_at = 1 };
	static const char text[] = "1000-2000 r-xp 0 00:00 0 /a\n"
				   "2000-3000 r-xp 0 00:00 0 /b\n";

	(void)state;
	proc_maps_parse(text, strlen(text), add_map, &l);
	assert_int_equal(l.n, 1);
}

static void modules_with_known_addresses(void **state)
{
	struct list l = { .n = 0 };
	static const char text[] =
"nf_tables 311296 0 - Live 0xffffffffc0a00000\n"
"zfs 4210688 6 zcommon,spl, Live 0xffffffffc0b00000 (POE)\n"
"hidden 4096 0 - Live 0x0000000000000000\n"
"short 4096 0\n"
"bad size 0 - Live 0xffffffffc0c00000\n"
"wraps 4096 0 - Live 0xffffffffffffffff\n";

	(void)state;
	proc_modules_parse(text, strlen(text), add_module, &l);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.modules[0].name, "nf_tables");
	assert_int_equal(l.modules[0].start, 0xffffffffc0a00000);
	assert_int_equal(l.modules[0].size, 311296);
	assert_string_equal(l.modules[1].name, "zfs");
	assert_int_equal(l.modules[1].start, 0xffffffffc0b00000);
}

static void numbers_of_status(void **state)
{
	static const char text[] = "Name:\tPPid: 3\nTgid:\t12\nPPid:\t34\n"
				   "PPid2:\t5\nEmpty:\n";
	uint64_t v = 0;

	(void)state;
	assert_true(proc_status_number(text, strlen(text), "PPid", &v));
	assert_int_equal(v, 34);
	assert_true(proc_status_number(text, strlen(text), "Tgid", &v));
	assert_int_equal(v, 12);
	assert_false(proc_status_number(text, strlen(text), "Empty", &v));
	assert_false(proc_status_number(text, strlen(text), "None", &v));
}

static uint32_t own(const char *text)
{
	return proc_status_own(text, strlen(text));
}

static void numbers_in_other_namespaces(void **state)
{
	(void)state;
	assert_int_equal(own("Pid:\t70\nNSpid:\t70\n"), 70);
	assert_int_equal(own("NSpid:\t7012\t45\t1\nNSsid:\t3\n"), 1);
	assert_int_equal(own("NSpid:\t7012\tx\n"), 0);
	assert_int_equal(own("NSpid:\t7012\t99999999999\n"), 0);
	assert_int_equal(own("NSpid:\n"), 0);
	assert_int_equal(own("Pid:\t70\n"), 0);
}

static uint64_t stolen(const char *text)
{
	return proc_stat_stolen(text, strlen(text));
}

static void what_the_host_took(void **state)
{
	(void)state;
	assert_int_equal(stolen("cpu  836 0 848 204056 81 0 11 7 0 0\n"
				"cpu0 436 0 448 104056 41 0 11 9 0 0\n"), 7);
	assert_int_equal(stolen("cpu  836 0 848 204056 81 0 11 7"), 7);
	/* before Linux 2.6.11 */
	assert_int_equal(stolen("cpu  836 0 848 204056 81 0 11\n"
				"cpu0 436 0 448 104056 41 0 11\n"), 0);
	assert_int_equal(stolen("cpu0 436 0 448 104056 41 0 11 9 0 0\n"), 0);
	assert_int_equal(stolen("cpu  1 2 3 4 5 6 x 8 9\n"), 0);
	assert_int_equal(stolen("cpu"), 0);
	assert_int_equal(stolen(""), 0);
}

static void only_numbers_are_processes(void **state)
{
	static const char *const names[] = {
		"12", "7", "0", "x1", "3a", "self", "2147483647", "99999999999999999999",
	};
	char folder[] = "proc-XXXXXX", path[64];
	uint32_t id, sum = 0, n = 0;
	DIR *d;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	d = opendir(folder);
	assert_non_null(d);
	for (; (id = proc_next(d)); n++)
		sum += id;
	assert_int_equal(n, 2);
	assert_int_equal(sum, 19);
	closedir(d);
	assert_int_equal(proc_next(NULL), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		rmdir(path);
	}
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executable_lines_become_mappings),
		cmocka_unit_test(damaged_lines_are_left_out),
		cmocka_unit_test(long_names_are_cut_not_spilled),
		cmocka_unit_test(the_caller_can_stop),
		cmocka_unit_test(modules_with_known_addresses),
		cmocka_unit_test(numbers_of_status),
		cmocka_unit_test(numbers_in_other_namespaces),
		cmocka_unit_test(what_the_host_took),
		cmocka_unit_test(only_numbers_are_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
