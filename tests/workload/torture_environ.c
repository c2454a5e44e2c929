// SPDX-License-Identifier: GPL-2.0-or-later
/* The environment while the C library starts shells, what those shells get, and
 * programs that cannot be executed. */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static atomic_int done;
static int changes, seen;

/* Looks at the environment as long as others start shells, and changes it. */
static void *watch(void *arg)
{
	char **was, n[16];
	int i = 0;

	(void)arg;
	setenv("TORTURE_N", "0", 1);
	was = environ;
	while (!done) {
		for (int k = 0; k < 1000; k++) {
			changes += environ != was;
			seen += getenv("LD_PRELOAD") != NULL;
			was = environ;
		}
		snprintf(n, sizeof(n), "%d", ++i % 10);
		setenv("TORTURE_N", n, 1);
		usleep(100);
	}
	setenv("TORTURE_LAST", "here", 1);
	return NULL;
}

static void shells_beside(void)
{
	pthread_t t;
	int bad = 0;

	fflush(stdout);
	pthread_create(&t, NULL, watch, NULL);
	for (int i = 0; i < 8; i++) {
		FILE *f = popen("sleep 0.01; exit 3", "r");

		bad += WEXITSTATUS(system("sleep 0.01; exit 4")) != 4;
		bad += !f || WEXITSTATUS(pclose(f)) != 3;
	}
	done = 1;
	pthread_join(t, NULL);
	printf("shells: %d failed; environ changed %d times, LD_PRELOAD seen "
	       "%d times, last %s\n", bad, changes, seen,
	       getenv("TORTURE_LAST"));
	unsetenv("TORTURE_N");
	unsetenv("TORTURE_LAST");
}

static void count(int sig)
{
	(void)sig;
}

/* system(3): SIGINT and SIGQUIT are ignored meanwhile, not in the shell; SIGCHLD
 * is blocked, not in the shell. */
static void signals_of_system(void)
{
	struct sigaction a = { .sa_handler = count }, now;
	int r;

	sigaction(SIGINT, &a, NULL);
	signal(SIGQUIT, SIG_IGN);
	fflush(stdout);
	/* 32 and 33 are the C library's own. */
	system("grep -E '^Sig(Blk|Ign)' /proc/self/status | "
	       "sed -E 's/(.......)..(.......)$/\\1**\\2/'");
	r = system("grep '^SigIgn' /proc/$PPID/status | cut -c 18-; "
		   "kill -INT $PPID");
	sigaction(SIGINT, NULL, &now);
	printf("system: %d; the handler is back: %d\n", WEXITSTATUS(r),
	       now.sa_handler == count);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	r = system("kill -TERM $$");
	printf("killed: %d %d, none: %d\n", WIFSIGNALED(r), WTERMSIG(r),
	       system(NULL) != 0);
}

static void *waits(void *arg)
{
	(void)arg;
	system("echo $$; exec sleep 30");
	return NULL;
}

/* A thread that is cancelled within takes its shell along. */
static void cancelled(void)
{
	int ends[2], out = dup(1);
	char text[32] = "";
	ssize_t n;
	pthread_t t;
	void *r;

	if (pipe(ends) < 0)
		return;
	fflush(stdout);
	dup2(ends[1], 1);
	pthread_create(&t, NULL, waits, NULL);
	n = read(ends[0], text, sizeof(text) - 1);
	dup2(out, 1);
	close(out);
	close(ends[0]);
	close(ends[1]);
	pthread_cancel(t);
	pthread_join(t, &r);
	printf("cancelled: %d; the shell has ended: %d\n",
	       r == PTHREAD_CANCELED,
	       n > 0 && kill(atoi(text), 0) < 0 && errno == ESRCH);
}

static void pipes(void)
{
	FILE *a = popen("cat", "w"), *b, *c;
	/* Not what the manual wants; glibc closes and waits. */
	int (*volatile close_it)(FILE *) = fclose;
	int ends = -1;
	char text[64] = "";

	/* The second shell has not the first one's pipe. */
	b = popen("ls /proc/self/fd | wc -l", "re");
	if (!a || !b)
		return;
	if (fgets(text, sizeof(text), b))
		printf("descriptors: %s", text);
	printf("close on exec: %d %d\n", fcntl(fileno(a), F_GETFD),
	       fcntl(fileno(b), F_GETFD));
	fputs("through cat\n", a);
	fflush(stdout);
	printf("ends: %d %d\n", pclose(b), pclose(a));
	errno = 0;
	c = popen("true", "rw");
	printf("both ways: %d %d\n", c != NULL, errno);
	fflush(stdout);
	c = popen("exit 5", "r");
	if (c)
		ends = close_it(c);
	printf("by fclose: %d %d\n", WEXITSTATUS(ends), wait(NULL));
	c = popen("no-such-command-here 2>/dev/null", "w");
	printf("no such command: %d\n", c ? WEXITSTATUS(pclose(c)) : -1);
}

/* More streams than any table of fixed size.  Each shell must lack the pipes of all
 * others, or closing the first one waits for the last. */
static void many_pipes(void)
{
	enum { MANY = 300 };
	FILE *f[MANY];
	int good = 0;

	fflush(stdout);
	alarm(30);
	for (int i = 0; i < MANY; i++)
		f[i] = popen("cat >/dev/null; exit 2", "w");
	for (int i = 0; i < MANY; i++)
		good += f[i] && WEXITSTATUS(pclose(f[i])) == 2;
	alarm(0);
	printf("many pipes: %d\n", good);
}

/* What /proc shows is the array that main has got. */
static void proc_environ(void)
{
	static char text[1 << 17];
	size_t n = 0, at = 0;
	ssize_t r;
	int fd = open("/proc/self/environ", O_RDONLY), k;

	while (fd >= 0 && (r = read(fd, text + n, sizeof(text) - n)) > 0)
		n += (size_t)r;
	close(fd);
	for (k = 0; environ[k]; k++) {
		size_t m = strlen(environ[k]) + 1;

		if (at + m > n || memcmp(text + at, environ[k], m))
			break;
		at += m;
	}
	printf("/proc/self/environ: %s, %zu bytes more\n",
	       environ[k] ? "other" : "same", n - at);
}

static void refused(const char *name, const char *path, char **envp)
{
	char *argv[] = { (char *)"x", NULL };
	pid_t pid;
	int r;

	errno = 0;
	r = execve(path, argv, envp);
	printf("%s: %d errno %d", name, r, errno);
	r = posix_spawn(&pid, path, NULL, NULL, argv, envp);
	printf(", spawn %d\n", r);
}

/* Files that cannot be executed, and addresses where nothing is. */
static void not_executable(void)
{
	char name[] = "/tmp/torture-XXXXXX", *nothing, *bad[3], *end;
	char fifo[64];

	if (!mkdtemp(name))
		return;
	snprintf(fifo, sizeof(fifo), "%s/fifo", name);
	mkfifo(fifo, 0777);
	alarm(60);
	refused("a pipe", fifo, environ);
	refused("a folder", name, environ);
	refused("a device", "/dev/tty", environ);
	alarm(0);
	unlink(fifo);
	rmdir(name);
	nothing = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(nothing + 4096, 4096);
	end = nothing + 4096;
	memset(nothing, 'x', 4096);
	bad[0] = (char *)"GOOD=1";
	bad[1] = end;
	bad[2] = NULL;
	refused("no path", end, environ);
	refused("a path without end", end - 8, environ);
	refused("no environment", "/bin/true", (char **)end);
	refused("a bad variable", "/bin/true", bad);
	bad[1] = end - 8;
	refused("a variable without end", "/bin/true", bad);
	memcpy(end - 12, "LD_PRELOAD=x", 12);
	bad[1] = end - 12;
	refused("LD_PRELOAD without end", "/bin/true", bad);
	/* the first page, as by a member of a structure at NULL */
	end = (char *)(uintptr_t)8;
	bad[1] = end;
	refused("a path in the first page", end, environ);
	refused("an environment in the first page", "/bin/true", (char **)end);
	refused("a variable in the first page", "/bin/true", bad);
}

void torture_environ(void)
{
	proc_environ();
	shells_beside();
	signals_of_system();
	cancelled();
	pipes();
	many_pipes();
	not_executable();
}
