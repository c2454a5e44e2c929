// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose counts are known:
 *
 *	faults N	touches N fresh pages
 *	sleeps N M	sleeps N times, and so do M children
 *	spin MS		uses that much CPU time
 *
 * Prints what getrusage(2) has of it and its children: faults, switches, and
 * CPU time in microseconds; then its switches before main, which include those before
 * the exec.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int touch(size_t pages)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, pages * size + 1, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	/* One fault a page, also where the kernel likes larger ones. */
	madvise((void *)(size_t)p, pages * size + 1, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		p[i * size] = 1;
	return 0;
}

static void sleep_often(int n)
{
	const struct timespec ms = { 0, 1000000 };

	while (n-- > 0)
		nanosleep(&ms, NULL);
}

static void spin(long ms)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static long add(int who, long v[3])
{
	struct rusage u;

	getrusage(who, &u);
	v[0] += u.ru_minflt + u.ru_majflt;
	v[1] += u.ru_nvcsw + u.ru_nivcsw;
	v[2] += (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
		u.ru_utime.tv_usec + u.ru_stime.tv_usec;
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	int children = argc > 3 ? atoi(argv[3]) : 0;
	long v[3] = { 0, 0, 0 }, before[3] = { 0, 0, 0 };

	if (argc < 3)
		return 2;
	add(RUSAGE_SELF, before);
	if (!strcmp(argv[1], "faults") && touch((size_t)n))
		return 1;
	if (!strcmp(argv[1], "spin"))
		spin(n);
	for (int i = 0; i < children; i++)
		if (!fork()) {
			sleep_often(n);
			_exit(0);
		}
	if (!strcmp(argv[1], "sleeps"))
		sleep_often(n);
	while (wait(NULL) > 0)
		;
	add(RUSAGE_SELF, v);
	add(RUSAGE_CHILDREN, v);
	printf("%ld %ld %ld %ld\n", v[0], v[1], v[2], before[1]);
	return 0;
}
