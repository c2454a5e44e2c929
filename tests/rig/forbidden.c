// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts itself, and forbids RDPMC between two readings: the page still says that
 * it is allowed, and the instruction faults. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>

#include "tally/rdpmc.h"

int main(void)
{
	struct tally_counter c;
	struct tally_count a, b;
	int first, second, fd = open("/sys/devices/cpu/rdpmc", O_WRONLY);

	if (fd < 0 || tally_counter_open(&c, PERF_TYPE_HARDWARE,
					 PERF_COUNT_HW_INSTRUCTIONS,
					 TALLY_COUNT_USER) < 0)
		return 1;
	first = tally_counter_read(&c, &a);
	if (write(fd, "0", 1) != 1)
		return 1;
	for (long n = 1000000; n; n--)
		__asm__ volatile("" : "+r"(n));
	second = tally_counter_read(&c, &b);
	printf("%d %d %llu\n", first, second,
	       (unsigned long long)(b.value - a.value));
	tally_counter_close(&c);
	return 0;
}
