// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocates large arrays in huge pages: see pages.h. */
#include "base/pages.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	PAGE = 4096, HUGE_PAGE = 2 << 20,
	FEWEST = HUGE_PAGE / 2,	/* bytes from which on they are worth one */
};

/* Returns the bytes of the pages, of which those of a small last part are no huge ones;
 * 0: the array, whose size does not overflow, is not large. */
static size_t pages_of(size_t n, size_t size)
{
	size_t bytes = n * size, last = bytes % HUGE_PAGE;
	size_t page = last < FEWEST ? PAGE : HUGE_PAGE;

	if (bytes < FEWEST)
		return 0;
	return (bytes + page - 1) & ~(page - 1);
}

void *pages_calloc(size_t n, size_t size)
{
	size_t bytes, before, after;
	char *p;

	if (size && n > (SIZE_MAX / 2 - 2 * HUGE_PAGE) / size)
		return NULL;
	bytes = pages_of(n, size);
	if (!bytes)
		return calloc(n, size);
	/* one more than needed, of which the parts around the aligned pages are given
	 * back */
	p = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)p & (HUGE_PAGE - 1);
	after = HUGE_PAGE - before;
	if (before)
		munmap(p, before);
	if (after)
		munmap(p + before + bytes, after);
	(void)madvise(p + before, bytes, MADV_HUGEPAGE);
	return p + before;
}

void pages_free(void *p, size_t n, size_t size)
{
	size_t bytes = pages_of(n, size);

	if (!bytes)
		free(p);
	else if (p)
		munmap(p, bytes);
}

void pages_trim(void)
{
#ifdef M_TRIM_THRESHOLD
	malloc_trim(0);
#endif
}
