/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_PAGES_H
#define TALLY_BASE_PAGES_H
/*
 * Large arrays that are read in no order.  With huge pages the kernel is entered for each
 * 2 MB instead of each 4 KB, and addresses are found faster.  Smaller arrays, and those on
 * kernels without huge pages, are as from calloc.
 */
#include <stddef.h>

/* Returns n zeroed rows of `size` bytes, which pages_free gets with the same numbers; NULL
 * if out of memory. */
void *pages_calloc(size_t n, size_t size);
void pages_free(void *p, size_t n, size_t size);

/* Returns memory that was freed to the system, for processes that do little for long. */
void pages_trim(void);

#endif
