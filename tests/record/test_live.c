// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory of programs, read while they run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/live_memory.h"

enum { GOOD, REFUSED_TOO_LITTLE, REFUSED_TOO_MUCH, CANNOT };

/* Reads of a process that is closed to us, and then our own. */
static int read_both(uint32_t closed, const char *text)
{
	uint64_t at = (uintptr_t)text;
	struct live_memory m;
	char got[8];
	int result = GOOD;

	if (live_memory_init(&m) < 0)
		return CANNOT;
	if (live_read(&m, closed, at, got, 4))
		result = REFUSED_TOO_LITTLE;
	else if (m.absent || !live_refused(&m, closed))
		result = CANNOT;
	else if (live_refused(&m, (uint32_t)getpid()) ||
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
	/* nobody else's child may read us (ptrace(2), access mode checking) */
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
		skip();	/* process_vm_readv is not for us here */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_closed_process_closes_no_other),
		cmocka_unit_test(refusals_do_not_last_forever),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
