// SPDX-License-Identifier: GPL-2.0-or-later
#include "../checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/source/cpu_watch.h"

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Lists are as bitmap_print_to_pagebuf of the kernel writes them. */
static void reports_added_and_removed_cpus(void **state)
{
	char path[] = "/tmp/tally-cpus-XXXXXX";
	int fd = mkstemp(path);
	struct cpu_watch w;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	put(path, "0-3,8,10-11\n");
	cpu_watch_open(&w, path);
	assert_false(cpu_watch_changed(&w));
	for (uint32_t c = 0; c < 13; c++)
		assert_int_equal(cpu_watch_has(&w, c), c < 4 || c == 8 ||
				 c == 10 || c == 11);
	put(path, "0,2-3,8,10-11\n");
	assert_true(cpu_watch_has(&w, 1));
	assert_true(cpu_watch_changed(&w));
	assert_false(cpu_watch_changed(&w));
	assert_false(cpu_watch_has(&w, 1));
	assert_true(cpu_watch_has(&w, 2));
	cpu_watch_close(&w);
	unlink(path);
}

/* Device events are as kobject_uevent_env() of the kernel writes them. */
static void reports_cpus_that_are_back(void **state)
{
	static const char *const others[] = {
		"online@/devices/system/cpu/cpu2", "offline@/devices/system/cpu/cpu",
		"offline@/devices/system/cpu/cpu9999999999999999999999",
		"offline@/devices/system/cpu/cpu-1", "offline@/devices/system/cpu/cpu1/x",
		"offline@/devices/system/memory/memory1", "", "change@",
	};
	static const char offline[] = "offline@/devices/system/cpu/cpu2\0ACTION=offline";
	char path[] = "/tmp/tally-cpus-XXXXXX";
	int fd = mkstemp(path), pair[2];
	struct cpu_watch w;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	put(path, "0-3\n");
	cpu_watch_open(&w, path);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	if (w.device_fd >= 0)
		close(w.device_fd);
	w.device_fd = pair[0];
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		send(pair[1], others[i], strlen(others[i]) + 1, 0);
	assert_false(cpu_watch_changed(&w));
	send(pair[1], offline, sizeof(offline), 0);
	assert_true(cpu_watch_changed(&w));
	for (uint32_t c = 0; c < 4; c++)
		assert_int_equal(cpu_watch_went(&w, c), c == 2);
	assert_true(cpu_watch_has(&w, 2));
	assert_false(cpu_watch_changed(&w));
	assert_false(cpu_watch_went(&w, 2));
	/* The machine has slept for a second. */
	w.slept_ns -= 1000000000;
	assert_true(cpu_watch_changed(&w));
	assert_true(cpu_watch_went(&w, 0) && cpu_watch_went(&w, 3));
	assert_false(cpu_watch_changed(&w));
	assert_false(cpu_watch_went(&w, 0));
	cpu_watch_close(&w);
	close(pair[1]);
	unlink(path);
}

/* Nothing is known, and nothing changes. */
static void does_without(void **state)
{
	char path[] = "/tmp/tally-cpus-XXXXXX", text[3000];
	int fd = mkstemp(path);
	struct cpu_watch w;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	cpu_watch_open(&w, "/nonexistent");
	assert_false(cpu_watch_changed(&w));
	assert_false(cpu_watch_has(&w, 0));
	cpu_watch_close(&w);
	memset(text, '1', sizeof(text));
	text[sizeof(text) - 1] = 0;
	put(path, text);
	cpu_watch_open(&w, path);
	assert_false(cpu_watch_has(&w, 1));
	put(path, "x-,,4-\n");
	assert_false(cpu_watch_changed(&w));
	assert_false(cpu_watch_has(&w, 4));
	cpu_watch_close(&w);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_added_and_removed_cpus),
		cmocka_unit_test(reports_cpus_that_are_back),
		cmocka_unit_test(does_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
