/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_KERNEL_KALLSYMS_LINES_H
#define TALLY_SYMBOLIZE_KERNEL_KALLSYMS_LINES_H
/* Lines of a table of kernel symbols, found without parsing the others. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Returns the value of the 16 hexadecimal digits at p.  With other characters, the value
 * is undefined. */
uint64_t kallsyms_digits(const char *p);

/* Copies from a file the lines of the symbols at `text` and at the n addresses
 * text + offsets[i], in ascending order, each with the next line, whose address ends the
 * symbol.  Returns false if the file lacks any of them.  The file is assumed to be sorted
 * by address, as the kernel's own symbols are. */
bool kallsyms_copy_lines(const char *path, uint64_t text,
			 const uint64_t *offsets, size_t n, struct buf *out);

#endif
