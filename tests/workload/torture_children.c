// SPDX-License-Identifier: GPL-2.0-or-later
/* Children: fork, vfork, spawn, the shell, chains of programs, daemons. */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int tree(int depth)
{
	int sum = depth, status;

	if (!depth)
		return 1;
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(tree(depth - 1));
		burn_ms(1);
		waitpid(pid, &status, 0);
		sum += WEXITSTATUS(status);
	}
	return sum;
}

static void spawns(const char *self)
{
	char *link[] = { (char *)self, (char *)"link", (char *)"0", NULL };
	char *none[] = { NULL };
	posix_spawn_file_actions_t fa;
	pid_t pid;

	fflush(stdout);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	if (!posix_spawn(&pid, self, &fa, NULL, link, none))
		show_child("spawn", pid);
	fflush(stdout);
	if (!posix_spawnp(&pid, "sh", NULL, NULL,
			  (char *[]){ (char *)"sh", (char *)"-c",
				      (char *)"exit 5", NULL }, environ))
		show_child("spawnp", pid);
	printf("missing: %d\n", posix_spawn(&pid, "/nonexistent", NULL, NULL,
					    link, environ));
	posix_spawn_file_actions_destroy(&fa);
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		execlp("sh", "sh", "-c", "exit 6", (char *)NULL);
		_exit(1);
	}
	show_child("vfork", pid);
	pid = vfork();
	if (!pid) {
		execl("/nonexistent", "x", (char *)NULL);
		_exit(errno == ENOENT ? 8 : 1);
	}
	show_child("vfork without program", pid);
}

static void shells(void)
{
	char text[64] = "";
	FILE *f;

	fflush(stdout);
	printf("system: %d\n", WEXITSTATUS(system("echo from the shell; "
						  "exit 4")));
	f = popen("echo from a pipe; sh -c 'exit 2'; echo $?", "r");
	while (f && fgets(text, sizeof(text), f))
		printf("popen: %s", text);
	if (f)
		printf("pclose: %d\n", WEXITSTATUS(pclose(f)));
}

static void chain(const char *self)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl(self, self, "link", "9", (char *)NULL);
		_exit(1);
	}
	show_child("chain", pid);
}

/* Two forks, a session of its own, no files: as daemons begin. */
static void daemons(void)
{
	int ends[2];
	char text[32];
	ssize_t n;
	pid_t pid;

	if (pipe(ends) < 0)
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setsid();
		if (fork())
			_exit(0);
		dup2(ends[1], 0);
		for (int fd = 1; fd < 256; fd++)
			close(fd);
		burn_ms(5);
		if (write(0, "daemon", 6) < 0)
			_exit(1);
		_exit(0);
	}
	show_child("daemon's parent", pid);
	close(ends[1]);
	n = read(ends[0], text, sizeof(text));
	printf("it wrote %zd bytes\n", n);
	close(ends[0]);
}

static void crashes(void)
{
	static const int signals[] = { SIGABRT, SIGSEGV, SIGKILL, SIGTERM };
	struct rlimit none = { 0, 0 };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid) {
			setrlimit(RLIMIT_CORE, &none);
			burn_ms(5);
			raise(signals[i]);
			_exit(0);
		}
		show_child("crash", pid);
	}
}

static void *forks(void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit((int)(intptr_t)arg);
	waitpid(pid, &status, 0);
	return (void *)(intptr_t)WEXITSTATUS(status);
}

static void fork_in_threads(void)
{
	pthread_t t[8];
	intptr_t sum = 0;

	for (intptr_t i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, forks, (void *)i);
	for (int i = 0; i < 8; i++) {
		void *r;

		pthread_join(t[i], &r);
		sum += (intptr_t)r;
	}
	printf("forks in threads: %ld\n", (long)sum);
}

void torture_children(const char *self)
{
	printf("-- children\n");
	printf("tree: %d\n", tree(3));
	spawns(self);
	shells();
	chain(self);
	daemons();
	crashes();
	fork_in_threads();
}
