// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * failing [-a] [-n N] [-b SECONDS] [-k KEYS] COMMAND [ARGS…]: runs a command of tally again
 * and again, each time with another allocation failing: the first and the last that is
 * made by each path of calls (DEPTH of them), as a run with enough memory showed.
 * Private mappings are allocations, too.  Libraries' own count, unless a sanitizer has
 * the allocator.  Each run must either do as the command does with enough memory, or fail with one message that
 * tells of memory, and with the status of that.  Prints what does not, then how many runs
 * there were.
 *
 *	-a	all allocations, not only those of each path
 *	-n N	only the N-th allocation, in this process, for a debugger
 *	-b SECONDS
 *		only as many of these allocations, evenly spread, as can be tested in
 *		this time if each run takes as long as one with enough memory, but
 *		at least FEWEST
 *	-k KEYS	in a terminal, where KEYS are typed once something is seen
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A busy machine takes 20 seconds for what is done in one on an idle one. */
enum { STATUS = 4, SECONDS = 120, SHOWN = 20, DEPTH = 12, FEWEST = 10, MOST = 1 << 22 };

#undef main		/* of src/cli/main.c */
int tally_main(int argc, char **argv);

static uint64_t fail_at, count;	/* 0: never */

/* Shared with the parent. */
static struct {
	bool failed;
	uint64_t n;
	uint64_t path[MOST];	/* of the n-th allocation: a hash of its calls */
} *seen;
static bool watching;		/* fill in paths */

static uint64_t calls(void)
{
	static _Thread_local bool inside;
	uint64_t h = 0xcbf29ce484222325u;
	void *pc[DEPTH + 3];
	int n;

	if (inside)
		return 0;
	inside = true;
	n = backtrace(pc, DEPTH + 3);
	for (int i = 3; i < n; i++)
		h = (h ^ (uintptr_t)pc[i]) * 0x100000001b3u;
	inside = false;
	return h | 1;
}

bool allocation_fails(void);
bool allocation_fails(void)
{
	uint64_t n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);

	if (watching && n < MOST)
		seen->path[n] = calls();
	if (watching)
		seen->n = n;
	if (!fail_at || n != fail_at)
		return false;
	seen->failed = true;
	errno = ENOMEM;
	return true;
}

struct outcome {
	char out[1 << 20], err[4096];
	size_t nout, nerr;
	int status;		/* as waitpid's */
};

static void take(int fd, char *to, size_t room, size_t *n)
{
	ssize_t got = pread(fd, to, room - 1, 0);

	*n = got < 0 ? 0 : (size_t)got;
	to[*n] = 0;
	close(fd);
}

static const char *keys;	/* NULL: no terminal */

static int open_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct winsize size = { .ws_row = 24, .ws_col = 80 };

	if (fd < 0 || grantpt(fd) || unlockpt(fd) || ioctl(fd, TIOCSWINSZ, &size))
		exit(2);
	return fd;
}

static void enter_terminal(int terminal)
{
	int fd;

	setsid();
	fd = open(ptsname(terminal), O_RDWR);
	dup2(fd, 0);
	dup2(fd, 1);
	setenv("TERM", "xterm", 1);
}

/* Types the keys and reads until the terminal is closed. */
static void type(int terminal)
{
	bool typed = false;
	char buf[4096];

	while (read(terminal, buf, sizeof(buf)) > 0) {
		if (!typed && write(terminal, keys, strlen(keys)) < 0)
			break;
		typed = true;
	}
	close(terminal);
}

static void run(int argc, char **argv, uint64_t n, struct outcome *o)
{
	int out = memfd_create("out", 0), err = memfd_create("err", 0);
	int terminal = keys ? open_terminal() : -1;
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		alarm(SECONDS);
		dup2(out, 1);
		dup2(err, 2);
		if (keys)
			enter_terminal(terminal);
		count = 0;
		fail_at = n;
		n = (uint64_t)tally_main(argc, argv);
		fail_at = 0;
		watching = false;
		fflush(NULL);
		_exit((int)n);
	}
	if (keys)
		type(terminal);
	while (waitpid(pid, &o->status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	take(out, o->out, sizeof(o->out), &o->nout);
	take(err, o->err, sizeof(o->err), &o->nerr);
}

/* The one message: the last line, and no other tells of memory. */
static bool tells(const struct outcome *o)
{
	const char *first = strstr(o->err, "out of memory"), *end;

	if (!first || !o->nerr || strstr(first + 1, "tally: out of memory"))
		return false;
	end = strchr(first, '\n');
	return end && !end[1];
}

/* What is wrong with a run, or NULL. */
static const char *judge(const struct outcome *good, const struct outcome *o)
{
	if (WIFSIGNALED(o->status))
		return WTERMSIG(o->status) == SIGALRM
		       ? "hangs" : strsignal(WTERMSIG(o->status));
	if (WEXITSTATUS(o->status) == STATUS)
		return tells(o) ? NULL : "no message, or several";
	if (o->status != good->status)
		return "another exit status";
	if (o->nout != good->nout || memcmp(o->out, good->out, o->nout))
		return "half an answer";
	return o->nerr == good->nerr ? NULL : "other messages";
}

struct path {
	uint64_t hash, first, last;
};

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The first and last allocation of each path, or all, in their order. */
static size_t choose(bool all, uint64_t **out)
{
	uint64_t n = seen->n < MOST ? seen->n : MOST - 1, *v;
	struct path *paths;	/* a hash table, gone before runs are forked */
	size_t chosen = 0, room = 2 * n + 1;

	v = malloc((n + 1) * 2 * sizeof(*v));
	if (!v)
		exit(2);
	*out = v;
	while (all && chosen < n) {
		v[chosen] = chosen + 1;
		chosen++;
	}
	if (all)
		return chosen;
	paths = calloc(room, sizeof(*paths));
	if (!paths)
		exit(2);
	for (uint64_t i = 1; i <= n; i++) {
		size_t at = (seen->path[i] * 0x9e3779b97f4a7c15u >> 20) % room;

		while (paths[at].first && paths[at].hash != seen->path[i])
			at = (at + 1) % room;
		paths[at].hash = seen->path[i];
		paths[at].last = i;
		if (!paths[at].first)
			paths[at].first = i;
	}
	for (size_t i = 0; i < room; i++) {
		if (!paths[i].first)
			continue;
		v[chosen++] = paths[i].first;
		if (paths[i].last != paths[i].first)
			v[chosen++] = paths[i].last;
	}
	free(paths);
	qsort(v, chosen, sizeof(*v), by_number);
	return chosen;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int usage(void)
{
	fputs("usage: failing [-a] [-n N] [-b SECONDS] [-k KEYS] COMMAND [ARGS]\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static struct outcome good, o;
	size_t bad = 0, runs = 0, chosen;
	double budget = 1e9, took, step;
	uint64_t only = 0, *v;
	bool all = false;
	void *pc[1];
	int c;

	while ((c = getopt(argc, argv, "+an:b:k:")) != -1)
		if (c == 'a')
			all = true;
		else if (c == 'n')
			only = strtoull(optarg, NULL, 10);
		else if (c == 'b')
			budget = strtod(optarg, NULL);
		else if (c == 'k')
			keys = optarg;
		else
			return usage();
	if (optind == argc || !(budget > 0))
		return usage();
	argc -= optind - 1;
	argv += optind - 1;
	argv[0] = (char *)"tally";
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (seen == MAP_FAILED)
		return 2;
	optind = 1;
	backtrace(pc, 1);	/* loads what it needs */
	if (only) {
		count = 0;
		fail_at = only;
		return tally_main(argc, argv);
	}
	watching = true;
	run(argc, argv, 0, &good);
	watching = false;
	took = -now();
	run(argc, argv, 0, &o);
	took += now();
	chosen = choose(all, &v);
	step = took * (double)chosen / budget;
	if (step > (double)chosen / FEWEST)
		step = (double)chosen / FEWEST;
	if (step < 1)
		step = 1;
	for (double at = 0; at < (double)chosen; at += step) {
		size_t i = (size_t)at;
		const char *what;

		seen->failed = false;
		run(argc, argv, v[i], &o);
		if (!seen->failed)	/* threads do not always take turns alike */
			continue;
		runs++;
		what = judge(&good, &o);
		if (what && ++bad <= SHOWN)
			printf("allocation %llu: %s (status %d): %.200s\n",
			       (unsigned long long)v[i], what,
			       WIFEXITED(o.status) ? WEXITSTATUS(o.status)
						   : -WTERMSIG(o.status),
			       o.err);
	}
	if (bad > SHOWN)
		printf("and %zu more\n", bad - SHOWN);
	printf("%zu runs of %llu allocations, status %d\n", runs,
	       (unsigned long long)seen->n, WEXITSTATUS(good.status));
	free(v);
	return bad != 0;
}
