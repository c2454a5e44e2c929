// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded, gives a machine without a PMU one that counts cycles and
 * instructions at the second level of precision: the kernel's clock stands for
 * both.  For tests of what is decided, not of what is counted.
 *
 *	FAKE_KINDS=1	processor 0 is a core of type 4, the others are of 10: events
 *			that do not say so are refused
 *	FAKE_ALONE=1	events of a group are refused, as by a PMU of one counter
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PRECISE = 2, PERIOD_NS = 1000000 };

/* 0 when the clock takes the event's place, else why there is no such event. */
static int become_clock(struct perf_event_attr *a, int cpu)
{
	if (a->type != PERF_TYPE_HARDWARE)
		return 0;
	if (getenv("FAKE_KINDS")) {
		if (a->config >> 32 != (cpu ? 10 : 4))
			return ENOENT;
		a->config &= 0xffffffff;
	}
	if (a->config != PERF_COUNT_HW_CPU_CYCLES &&
	    a->config != PERF_COUNT_HW_INSTRUCTIONS)
		return ENOENT;
	if (a->precise_ip > PRECISE)
		return EOPNOTSUPP;
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_CPU_CLOCK;
	a->precise_ip = 0;
	if (!a->freq)
		a->sample_period = PERIOD_NS;
	return 0;
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	struct perf_event_attr attr;
	long v[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		v[i] = va_arg(ap, long);
	va_end(ap);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open) {
		memcpy(&attr, (void *)v[0], PERF_ATTR_SIZE_VER5);
		errno = become_clock(&attr, (int)v[2]);
		if (!errno && (int)v[3] >= 0 && getenv("FAKE_ALONE"))
			errno = EINVAL;
		if (errno)
			return -1;
		v[0] = (long)&attr;
		/* Passed as int: the upper half is anything. */
		v[1] = (int)v[1];
		v[2] = (int)v[2];
		v[3] = (int)v[3];
	}
	return next(number, v[0], v[1], v[2], v[3], v[4], v[5]);
}
