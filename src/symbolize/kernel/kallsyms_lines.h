/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_KERNEL_KALLSYMS_LINES_H
#define TALLY_SYMBOLIZE_KERNEL_KALLSYMS_LINES_H
/* Lines of a table of kernel symbols, found without parsing the others. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Returns the value of the 16 hexadecimal digits at p; of others, any value. */
uint64_t kallsyms_digits(const char *p);

/* Copies the lines of a file that name the n addresses `offsets` behind `text`,
 * ascending, and `text` itself, each with the line that ends them.  Returns false if
 * the file lacks any.  The file is searched as one that is sorted by address, as the
 * kernel's own symbols are. */
bool kallsyms_copy_lines(const char *path, uint64_t text,
			 const uint64_t *offsets, size_t n, struct buf *out);

#endif
