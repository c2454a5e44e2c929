// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: calls of tally (not of what it runs) fail, or it is killed
 * before them.  FAULT="CALL N WHAT[,CALL N WHAT]...": the N-th call of CALL (N+: and
 * each later one), in all threads together; WHAT is KILL, SLEEP (the call takes a second
 * longer) or ENOSPC, EIO, EDQUOT, EROFS, EMFILE, ENOMEM, EINVAL, EPERM.  CALL is write,
 * rename, link, unlink, open, any (of these), flagged (renames with flags) or child
 * (writes of tally's child processes).
 * Only writes to regular files count.  FAULT_CLOCK="MS SECONDS": MS milliseconds
 * after the start the time of day jumps by so many seconds.  FAULT_POLLS=FILE: tally
 * writes there how often it called poll.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FAULTS_MAX = 4 };
static atomic_long calls[FAULTS_MAX];
static pid_t first;	/* tally, or its child before the command runs */

static void __attribute__((constructor)) begin(void)
{
	first = getpid();
}

static int number_of(const char *what)
{
	static const struct { const char *name; int e; } all[] = {
		{ "ENOSPC", ENOSPC }, { "EIO", EIO }, { "EDQUOT", EDQUOT },
		{ "EROFS", EROFS }, { "EMFILE", EMFILE }, { "ENOMEM", ENOMEM },
		{ "EINVAL", EINVAL }, { "EPERM", EPERM },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, what))
			return all[i].e;
	abort();
}

/* Does this call fail by this fault?  Then errno says how. */
static int fails_by(const char *fault, const char *call, atomic_long *number)
{
	char which[16], later, what[16];
	long n, now;

	if (sscanf(fault, "%15s %ld%c %15[A-Z]", which, &n, &later, what) != 4)
		abort();
	if (strcmp(which, call) &&
	    (strcmp(which, "any") || !strcmp(call, "flagged") || !strcmp(call, "child")))
		return 0;
	now = ++*number;
	if (later == '+' ? now < n : now != n)
		return 0;
	if (!strcmp(what, "KILL"))
		kill(getpid(), SIGKILL);
	if (!strcmp(what, "SLEEP")) {
		nanosleep(&(struct timespec){ 1, 0 }, NULL);
		return 0;
	}
	errno = number_of(what);
	return 1;
}

static int fails(const char *call)
{
	static atomic_int ours;
	const char *text = getenv("FAULT");

	if (!ours)
		ours = strcmp(program_invocation_short_name, "tally") ? -1
								      : 1;
	for (int i = 0; ours > 0 && text && i < FAULTS_MAX; i++) {
		if (fails_by(text, call, &calls[i]))
			return 1;
		text = strchr(text, ',');
		text += text != NULL;
	}
	return 0;
}

ssize_t write(int fd, const void *p, size_t n)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (fails("write") || (getpid() != first && fails("child"))))
		return -1;
	return syscall(SYS_write, fd, p, n);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to,
	      unsigned int flags)
{
	if (fails("rename") || (flags && fails("flagged")))
		return -1;
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int rename(const char *from, const char *to)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	return fails("link") ? -1 : (int)syscall(SYS_linkat, from_dir, from,
						   to_dir, to, flags);
}

int unlinkat(int dir, const char *path, int flags)
{
	return fails("unlink") ? -1 : (int)syscall(SYS_unlinkat, dir, path,
						   flags);
}

int unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

/* Only of files that are made. */
int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if ((flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) && fails("open"))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
	__attribute__((alias("open")));

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static struct timespec first;
	const char *text = getenv("FAULT_CLOCK");
	struct timespec now;
	long ms, by;
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	if (rc || clock != CLOCK_REALTIME || !text ||
	    sscanf(text, "%ld %ld", &ms, &by) != 2)
		return rc;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	if (!first.tv_sec)
		first = now;
	if ((now.tv_sec - first.tv_sec) * 1000 +
	    (now.tv_nsec - first.tv_nsec) / 1000000 >= ms)
		ts->tv_sec += by;
	return 0;
}

static atomic_long polls;

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	static int (*next)(struct pollfd *, nfds_t, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "poll");
	polls++;
	return next(fds, n, ms);
}

static void __attribute__((destructor)) end(void)
{
	const char *path = getenv("FAULT_POLLS");
	FILE *f;

	if (!path || getpid() != first || strcmp(program_invocation_short_name, "tally"))
		return;
	f = fopen(path, "w");
	if (!f || fprintf(f, "%ld\n", polls) < 0 || fclose(f))
		abort();
}
