// SPDX-License-Identifier: GPL-2.0-or-later
/* What a thread sleeps in: by the numbers of calls and files, of real threads of this
 * process, and by files that look like those of /proc. */
#include "../checks.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/collect/sleeping.h"

static const char *text_of(wait_kind k)
{
	static char text[32];

	wait_kind_text(k, text, sizeof(text));
	return text;
}

static void calls_have_kinds(void **state)
{
	(void)state;
	assert_string_equal(text_of(wait_kind_of_call(SYS_futex)), "futex");
	assert_string_equal(text_of(wait_kind_of_call(SYS_recvfrom)),
			    "read socket");
	assert_int_equal(wait_kind_of_call(SYS_read), WAIT_FOR_READ);
	assert_string_equal(text_of(wait_kind_of_call(SYS_getpid)), "other");
	assert_string_equal(text_of(wait_kind_of_call(-7)), "other");
	assert_int_equal(wait_kind_of_call(SYS_restart_syscall), 0);
	assert_string_equal(text_of(0), "unknown");
	assert_string_equal(text_of(0xffff), "unknown");
}

static void links_and_modes_have_objects(void **state)
{
	(void)state;
	assert_int_equal(wait_object_of_link("pipe:[123]"), WAIT_ON_PIPE);
	assert_int_equal(wait_object_of_link("socket:[123]"), WAIT_ON_SOCKET);
	assert_int_equal(wait_object_of_link("anon_inode:[timerfd]"),
			 WAIT_ON_TIMERFD);
	assert_int_equal(wait_object_of_link("anon_inode:inotify"),
			 WAIT_ON_INOTIFY);
	assert_int_equal(wait_object_of_link("anon_inode:[perf_event]"),
			 WAIT_ON_NOTHING);
	assert_int_equal(wait_object_of_link("/pipe:[1]"), WAIT_ON_PATH);
	assert_int_equal(wait_object_of_link(""), WAIT_ON_NOTHING);
	assert_int_equal(wait_object_of_mode(S_IFIFO | 0600, 0), WAIT_ON_PIPE);
	assert_int_equal(wait_object_of_mode(S_IFREG, 0), WAIT_ON_FILE);
	assert_int_equal(wait_object_of_mode(S_IFBLK, 8), WAIT_ON_DISK);
	assert_int_equal(wait_object_of_mode(S_IFCHR, 136), WAIT_ON_TTY);
	assert_int_equal(wait_object_of_mode(S_IFCHR, 1), WAIT_ON_DEVICE);
	assert_int_equal(wait_object_of_mode(0, 0), WAIT_ON_NOTHING);
}

/* Reads a child that calls `fn` once it sleeps. */
static const char *kind_of(void (*fn)(int fd), int fd)
{
	struct sleeping now = { .kind = 0 };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		fn(fd);
		_exit(1);
	}
	/* Until then it may be on its way there. */
	for (int i = 0; i < 1000 && !(now.kind && now.kind != WAIT_FOR_OTHER &&
				      now.kind != WAIT_FOR_PAGE); i++) {
		poll(NULL, 0, 2);
		if (!sleeping_read("/proc", (uint32_t)pid, (uint32_t)pid, &now))
			now.kind = 0;
	}
	assert_true(now.regs.known & 1u << UNWIND_RIP);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return text_of(now.kind);
}

static void do_read(int fd)
{
	char c[8];

	if (read(fd, c, sizeof(c)) < 0)
		_exit(1);
}

static void do_poll(int fd)
{
	(void)fd;
	poll(NULL, 0, -1);
}

static void do_epoll(int fd)
{
	struct epoll_event e;

	epoll_wait(fd, &e, 1, -1);
}

static void do_lock(int fd)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	(void)fd;
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
}

static void do_stop(int fd)
{
	volatile int spin = 1;

	(void)fd;
	while (spin)
		;
}

static void sleeping_processes_are_read(void **state)
{
	struct sleeping now = { .kind = 0 };
	int p[2], s[2], e = eventfd(0, 0), ep = epoll_create1(0), fifo;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	assert_string_equal(kind_of(do_read, p[0]), "read pipe");
	assert_string_equal(kind_of(do_read, s[0]), "read socket");
	assert_string_equal(kind_of(do_read, e), "read eventfd");
	assert_string_equal(kind_of(do_poll, 0), "poll");
	assert_string_equal(kind_of(do_epoll, ep), "epoll");
	assert_string_equal(kind_of(do_lock, 0), "futex");
	/* A pipe with a path. */
	if (!mkfifo("test_sleeping.fifo", 0600)) {
		fifo = open("test_sleeping.fifo", O_RDWR);
		assert_true(fifo >= 0);
		unlink("test_sleeping.fifo");
		assert_string_equal(kind_of(do_read, fifo), "read pipe");
		close(fifo);
	}
	/* A program that computes is not read, and one that is stopped waits. */
	pid = fork();
	if (!pid)
		do_stop(0);
	for (int i = 0; i < 1000 && sleeping_read("/proc", (uint32_t)pid,
						  (uint32_t)pid, &now); i++)
		poll(NULL, 0, 2);
	assert_false(sleeping_read("/proc", (uint32_t)pid, (uint32_t)pid, &now));
	kill(pid, SIGSTOP);
	for (int i = 0; i < 1000 && now.kind != WAIT_FOR_CONTINUE; i++) {
		poll(NULL, 0, 2);
		sleeping_read("/proc", (uint32_t)pid, (uint32_t)pid, &now);
	}
	assert_string_equal(text_of(now.kind), "stopped");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(sleeping_read("/proc", (uint32_t)pid, (uint32_t)pid, &now));
	assert_true(now.closed);
	close(p[0]);
	close(p[1]);
	close(s[0]);
	close(s[1]);
	close(e);
	close(ep);
}

static bool read_text(const char *text, char state, struct sleeping *now)
{
	FILE *f = fopen("test_sleeping.dir/5/task/6/syscall", "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	f = fopen("test_sleeping.dir/5/task/6/stat", "w");
	assert_non_null(f);
	if (state)
		fprintf(f, "6 (a) b) %c 1 5 5 0 -1 4194304 91", state);
	fclose(f);
	return sleeping_read("test_sleeping.dir", 5, 6, now);
}

static void other_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "running\n", "\n", "-1", "202", "202 0x1", "-1 0x0 0x0",
		"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7fff00000000 0x0",
		"1 2 3 4 5 6 7 8 9 10 11 12", "x 0x1 0x2",
		"202 0x1 0x2 y 0x4 0x5 0x6 0x7fff00000000 0x7f0000000000",
	};
	struct sleeping now;

	(void)state;
	assert_int_equal(system("mkdir -p test_sleeping.dir/5/task/6"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(read_text(bad[i], 'S', &now));
	assert_true(read_text("202 0x1 0x2 0x3 0x4 0x5 0x6 0x7fff00000010 "
			      "0x7f0000000020\n", 'S', &now));
	assert_string_equal(text_of(now.kind), "futex");
	assert_int_equal(now.regs.r[UNWIND_RDI], 1);
	assert_int_equal(now.regs.r[UNWIND_RSP], 0x7fff00000010);
	assert_int_equal(now.regs.r[UNWIND_RIP], 0x7f0000000020);
	/* There is no such file. */
	assert_true(read_text("0 0xffffffffffffffff 0 0 0 0 0 0x7fff00000010 "
			      "0x7f0000000020\n", 'D', &now));
	assert_string_equal(text_of(now.kind), "read");
	/* A 32-bit program. */
	assert_true(read_text("3 0x1 0x2 0x3 0x4 0x5 0x6 0xffbe0010 "
			      "0xf7f00020\n", 'S', &now));
	assert_string_equal(text_of(now.kind), "other");
	assert_true(read_text("-1 0x7fff00000010 0x7f0000000020\n", 'D', &now));
	assert_string_equal(text_of(now.kind), "pagefault");
	/* Stopped at the end of a call, or elsewhere. */
	assert_true(read_text("202 0x1 0x2 0x3 0x4 0x5 0x6 0x7fff00000010 "
			      "0x7f0000000020\n", 'T', &now));
	assert_string_equal(text_of(now.kind), "stopped");
	assert_true(read_text("-1 0x7fff00000010 0x7f0000000020\n", 'T', &now));
	assert_string_equal(text_of(now.kind), "stopped");
	assert_true(read_text("-1 0x7fff00000010 0x7f0000000020\n", 't', &now));
	assert_int_equal(now.kind, 0);
	/* Its state is unknown. */
	assert_true(read_text("-1 0x7fff00000010 0x7f0000000020\n", 0, &now));
	assert_int_equal(now.kind, 0);
	assert_int_equal(system("rm -r test_sleeping.dir"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_kinds),
		cmocka_unit_test(links_and_modes_have_objects),
		cmocka_unit_test(sleeping_processes_are_read),
		cmocka_unit_test(other_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
