// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory of programs, read while they run. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/collect/live_memory.h"

enum { GOOD, REFUSED_TOO_LITTLE, REFUSED_TOO_MUCH, CANNOT };

/* By the system call itself: 0, or why not. */
static int reads(uint32_t pid, const char *text)
{
	char got[4];
	struct iovec to = { got, 4 }, from = { (void *)(uintptr_t)text, 4 };

	return process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == 4 ? 0
								   : errno;
}

/* Reads of a process that is closed to us, and then our own. */
static int read_both(uint32_t closed, const char *text)
{
	uint64_t at = (uintptr_t)text;
	struct live_memory m;
	char got[8];
	int result = GOOD;

	if (reads((uint32_t)getpid(), text) || reads(closed, text) != EPERM)
		return CANNOT;
	if (live_memory_init(&m) < 0)
		return REFUSED_TOO_MUCH;
	if (live_read(&m, closed, at, got, 4))
		result = REFUSED_TOO_LITTLE;
	else if (m.absent || !live_refused(&m, closed) ||
		 live_refused(&m, (uint32_t)getpid()) ||
		 !live_read(&m, (uint32_t)getpid(), at, got, 4) ||
		 memcmp(got, text, 4))
		result = REFUSED_TOO_MUCH;
	live_memory_fini(&m);
	return result;
}

static void one_closed_process_closes_no_other(void **state)
{
	/* amid memory of ours: neighbours are read with it */
	static char room[128 << 10];
	char *text = room + sizeof(room) / 2;
	pid_t pid;
	int status;

	(void)state;
	memset(room, 't', sizeof(room));
	/* only children of this process may read it (ptrace(2), access mode checking) */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!getuid() && (setgid(65534) || setuid(65534)))
			_exit(CANNOT);
		_exit(read_both((uint32_t)getppid(), text));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT)
		skip_test("process_vm_readv is not for us here");
	assert_int_equal(WEXITSTATUS(status), GOOD);
}

static void refusals_do_not_last_forever(void **state)
{
	struct live_memory m;

	(void)state;
	assert_int_equal(live_memory_init(&m), 0);
	for (size_t i = 0; i < LIVE_REFUSALS; i++)
		m.refused[i] = (struct live_refusal){ 77, m.batch };
	assert_true(live_refused(&m, 77));
	assert_false(live_refused(&m, 78));
	for (int i = 0; i < 2000; i++)
		live_memory_forget(&m);
	assert_false(live_refused(&m, 77));
	live_memory_fini(&m);
}

/* Until it is reaped, an ended process can be sent signals. */
static void what_ended_lives_no_more(void **state)
{
	uint64_t addr = (uint64_t)(uintptr_t)&state;
	const uint8_t byte = 0;
	struct live_memory m;
	bool closed, lives;
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_int_equal(live_memory_init(&m), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(live_thread(&m, (uint32_t)pid, (uint32_t)pid));
	assert_false(live_equal(&m, (uint32_t)pid, addr, &byte, 1));
	closed = m.absent || live_refused(&m, (uint32_t)pid);
	lives = live_thread(&m, (uint32_t)pid, (uint32_t)pid);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	live_memory_fini(&m);
	if (closed)
		skip_test("process_vm_readv is not for us here");
	assert_false(lives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_closed_process_closes_no_other),
		cmocka_unit_test(what_ended_lives_no_more),
		cmocka_unit_test(refusals_do_not_last_forever),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
