// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded, gives a machine counters of made-up values:
 *
 *	FAKE_COUNTS="TYPE:CONFIG=VALUE/ENABLED/RUNNING …"  numbers as C has them
 *	FAKE_GROUP=N	more than N events in a group are refused, as by a PMU
 *			of N counters
 *	FAKE_CPU=FILE	what /sys/devices/system/cpu/modalias reads
 *
 * For tests of what is made of counts, not of the counts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES = 256 };

static struct {
	int leader;		/* file + 1; 0: no event of ours */
	uint64_t v[3];
} files[FILES];

static int find(const struct perf_event_attr *a, uint64_t v[3])
{
	const char *s = getenv("FAKE_COUNTS");

	while (s && *s) {
		unsigned long long type, config, n[3];
		int used = 0;

		if (sscanf(s, " %lli:%lli=%lli/%lli/%lli%n", (long long *)&type,
			   (long long *)&config, (long long *)&n[0],
			   (long long *)&n[1], (long long *)&n[2], &used) < 5)
			return 0;
		if (type == a->type && config == a->config) {
			for (int i = 0; i < 3; i++)
				v[i] = n[i];
			return 1;
		}
		s += used;
	}
	return 0;
}

static int group_full(int leader)
{
	const char *max = getenv("FAKE_GROUP");
	int n = 0;

	for (int i = 0; i < FILES; i++)
		n += files[i].leader == leader + 1;
	return max && n >= atoi(max);
}

static long next_syscall(long number, const long *v)
{
	static long (*next)(long, ...);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, v[0], v[1], v[2], v[3], v[4], v[5]);
}

static long fake_open(long *v)
{
	struct perf_event_attr attr;
	uint64_t counts[3];
	int leader = (int)v[3];
	long fd;

	memcpy(&attr, (void *)v[0], PERF_ATTR_SIZE_VER5);
	/* Passed as int: the upper half is anything. */
	v[1] = (int)v[1];
	v[2] = (int)v[2];
	v[3] = leader;
	if (attr.type == PERF_TYPE_SOFTWARE)
		return next_syscall(SYS_perf_event_open, v);
	if (!find(&attr, counts) || (leader >= 0 && group_full(leader))) {
		errno = leader >= 0 && group_full(leader) ? EINVAL : ENOENT;
		return -1;
	}
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	v[0] = (long)&attr;
	fd = next_syscall(SYS_perf_event_open, v);
	if (fd >= 0 && fd < FILES) {
		files[fd].leader = (leader < 0 ? (int)fd : leader) + 1;
		memcpy(files[fd].v, counts, sizeof(counts));
	}
	return fd;
}

long syscall(long number, ...)
{
	long v[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		v[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_perf_event_open)
		return fake_open(v);
	return next_syscall(number, v);
}

ssize_t read(int fd, void *p, size_t n)
{
	static ssize_t (*next)(int, void *, size_t);

	if (fd >= 0 && fd < FILES && files[fd].leader &&
	    n == sizeof(files[fd].v)) {
		memcpy(p, files[fd].v, n);
		return (ssize_t)n;
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "read");
	return next(fd, p, n);
}

int close(int fd)
{
	static int (*next)(int);

	if (fd >= 0 && fd < FILES)
		files[fd].leader = 0;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "close");
	return next(fd);
}

static const char *other_file(const char *path)
{
	const char *cpu = getenv("FAKE_CPU");

	return cpu && !strcmp(path, "/sys/devices/system/cpu/modalias")
	       ? cpu : path;
}

int open(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "open");
	return next(other_file(path), flags, mode);
}

int open64(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "open64");
	return next(other_file(path), flags, mode);
}
