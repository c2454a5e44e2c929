// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the events of a region of this program (tally/rdpmc.h):
 *
 *	cc -O2 -I include doc/examples/count_region.c && ./a.out
 *
 * It counts instructions if the processor can, otherwise CPU time.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "tally/rdpmc.h"

static unsigned long region(unsigned long n)
{
	volatile unsigned long sum = 0;

	while (n)
		sum += n--;
	return sum;
}

int main(void)
{
	struct tally_counter counter;
	struct tally_count start, end;
	const char *unit = "instructions";
	int how;

	if (tally_counter_open(&counter, PERF_TYPE_HARDWARE,
			       PERF_COUNT_HW_INSTRUCTIONS,
			       TALLY_COUNT_USER) < 0) {
		unit = "ns of CPU time";
		if (tally_counter_open(&counter, PERF_TYPE_SOFTWARE,
				       PERF_COUNT_SW_TASK_CLOCK, 0) < 0) {
			fprintf(stderr, "no counter: %s\n", strerror(errno));
			return 1;
		}
	}
	tally_counter_read(&counter, &start);
	region(1000000);
	how = tally_counter_read(&counter, &end);
	if (how < 0) {
		fprintf(stderr, "cannot read: %s\n", strerror(errno));
		return 1;
	}
	printf("%llu %s, read by %s\n",
	       (unsigned long long)(end.value - start.value), unit,
	       how ? "RDPMC" : "a system call");
	if (end.enabled - start.enabled != end.running - start.running)
		printf("(counted only part of the time)\n");
	tally_counter_close(&counter);
	return 0;
}
