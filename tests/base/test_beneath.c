// SPDX-License-Identifier: GPL-2.0-or-later
/* Files below a folder: what leads out of it is not opened, with openat2(2) and
 * where a kernel or a container has none. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/io.h"

static int setup(void **state)
{
	char *dir = strdup("/tmp/tally-beneath.XXXXXX");
	char name[128];
	int fd;

	if (!dir || !mkdtemp(dir) || chdir(dir) < 0)
		return -1;
	snprintf(name, sizeof(name), "%s/root/dir/deep/file", dir);
	*state = dir;
	if (mkdir("root", 0700) || mkdir("root/dir", 0700) ||
	    mkdir("root/dir/deep", 0700) || mkdir("outside", 0700))
		return -1;
	for (int i = 0; i < 2; i++) {
		fd = open(i ? "outside/file" : name, O_CREAT | O_WRONLY, 0600);
		if (fd < 0 || write(fd, i ? "out" : "in!", 3) != 3)
			return -1;
		close(fd);
	}
	return symlink("../outside/file", "root/out") ||
	       symlink("/etc/passwd", "root/absolute") ||
	       symlink("../outside", "root/folder") ||
	       symlink("dir/deep/file", "root/within") ||
	       symlink("loop", "root/loop") || mkfifo("root/fifo", 0600) ||
	       symlink("/dir/deep/file", "root/own") ||
	       symlink("fifo", "root/waits") ||
	       symlink("/../../dir/deep", "root/up");
}

static int teardown(void **state)
{
	char cmd[256];
	int rc;

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", (char *)*state);
	rc = chdir("/") + system(cmd);
	free(*state);
	return rc;
}

/* What the file holds, or why it is not opened.  Closes fd. */
static const char *content(int fd)
{
	static char text[64];
	ssize_t n;

	if (fd < 0)
		return strerrorname_np(-fd);
	n = read(fd, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = 0;
	close(fd);
	return text;
}

static const char *get(int dir, const char *path)
{
	int at = beneath_find(dir, path), fd = at < 0 ? at : io_open_at(at);

	if (at >= 0)
		close(at);
	return content(fd);
}

/* The same by the paths of a process whose root directory this is. */
static void check_root(bool follows)
{
	int dir = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	static const char *const links[] = { "/within", "/own", "/up/file",
					     "up/../deep/file" };
	static const char *const none[] = {
		"", "/", "/nothing", "/dir", "/fifo", "/waits", "/loop", "/out",
		"/absolute", "/folder/file", "/../outside/file", "/etc/passwd",
		"/dir/deep/file/more",
	};

	assert_true(dir >= 0);
	assert_string_equal(content(beneath_open_root(dir, "/dir/deep/file",
						      false)), "in!");
	assert_string_equal(content(beneath_open_root(dir, "dir//deep/file",
						      true)), "in!");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (follows)
			assert_string_equal(content(beneath_open_root(
					dir, links[i], true)), "in!");
		assert_true(beneath_open_root(dir, links[i], !follows) < 0);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (beneath_open_root(dir, none[i], true) >= 0)
			fail_msg("%s is opened", none[i]);
	close(dir);
}

static void check_all(bool follows)
{
	int dir = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	static const char *const out[] = {
		"out", "absolute", "folder/file", "../outside/file",
		"dir/../../outside/file", "/etc/passwd", "dir/../../root/out",
	};

	assert_true(dir >= 0);
	assert_string_equal(get(dir, "dir/deep/file"), "in!");
	assert_string_equal(get(dir, "dir//deep/./file"), "in!");
	assert_string_equal(get(dir, "within"), follows ? "in!" : "ELOOP");
	assert_string_equal(get(dir, "nothing"), "ENOENT");
	assert_string_equal(get(dir, "dir/nothing/file"), "ENOENT");
	assert_string_equal(get(dir, "loop"), "ELOOP");
	assert_string_equal(get(dir, ""), "ENOENT");
	assert_string_equal(get(dir, "fifo"), "EINVAL");
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++) {
		const char *got = get(dir, out[i]);

		if (strcmp(got, "EXDEV") && strcmp(got, "ELOOP") &&
		    strcmp(got, "ENOTDIR"))
			fail_msg("%s: %s", out[i], got);
	}
	close(dir);
	check_root(follows);
}

static void stays_below(void **state)
{
	(void)state;
	check_all(true);
}

/* As a container's filter that does not know the call. */
static int forbid(int answer)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (unsigned int)answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

static void stays_below_without_openat2(void **state)
{
	static const int answers[] = { ENOSYS, EPERM };

	(void)state;
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			if (forbid(answers[i]))
				_exit(77);
			check_all(false);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skip_test("no seccomp filters here");
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stays_below, setup, teardown),
		cmocka_unit_test_setup_teardown(stays_below_without_openat2,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("beneath", tests, NULL, NULL);
}
