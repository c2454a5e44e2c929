// SPDX-License-Identifier: GPL-2.0-or-later
/* A mapped file that somebody cuts short reads as zeros, and a reader that goes
 * away is an error of write(2), not a death. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../checks.h"

#include "base/io.h"
#include "cli/guard.h"

static void test_truncated_map(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("cut", MFD_CLOEXEC);
	char *bytes = malloc(3 * page);
	struct io_map map;
	struct error err;

	(void)state;
	memset(bytes, 'x', 3 * page);
	guard_install();	/* cmocka has handlers of its own */
	assert_int_equal(io_write_all(fd, "cut", bytes, 3 * page, &err), 0);
	assert_int_equal(io_map_fd(fd, "cut", &map, &err), 0);
	assert_int_equal(map.p[2 * page], 'x');
	assert_int_equal(ftruncate(fd, 10), 0);
	assert_int_equal(map.p[5], 'x');
	assert_int_equal(map.p[10], 0);
	assert_int_equal(map.p[page], 0);
	assert_int_equal(map.p[3 * page - 1], 0);
	io_unmap(&map);
	free(bytes);
	close(fd);
}

static void test_broken_pipe(void **state)
{
	int fds[2];

	(void)state;
	guard_install();
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	errno = 0;
	assert_int_equal(write(fds[1], "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	close(fds[1]);
}

/* Programs that are started have the default actions again. */
static void test_children(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	guard_install();
	pid = fork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", "kill -PIPE $$; exit 0",
		      (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated_map),
		cmocka_unit_test(test_broken_pipe),
		cmocka_unit_test(test_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
