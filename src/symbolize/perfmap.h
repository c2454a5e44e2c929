/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_PERFMAP_H
#define TALLY_SYMBOLIZE_PERFMAP_H
/*
 * Names of code that a program made while it ran, as it tells them in
 * /tmp/perf-PID.map (Linux: tools/perf/Documentation/jit-interface.txt): lines
 * of START SIZE NAME, both numbers hexadecimal.  Code that is made later may take
 * the place of older code: the last line that covers an address names it.
 *
 * Names by CPython ("py::NAME:FILE", Python/perf_trampoline.c) and V8 ("JS:*NAME
 * FILE:LINE:COLUMN", src/logging/log.cc) are split; V8's mark of the compiler is left
 * out, as the function is the same one whichever compiled it.
 *
 * The bytes are hostile.  Time and memory grow with the file and the addresses,
 * not with their product.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmap_name {
	const char *name;	/* in the text, or "<anonymous>"; NULL: no line
				 * covers the address */
	const char *file;	/* "": the name does not tell */
	uint32_t line;		/* where the function begins; 0: the same */
	bool javascript;
	uint64_t start, size;
};

enum { PERFMAP_NAME_MAX = 4096 };	/* longer names are cut */

/* For n sorted addresses.  Ends the names in `text` (size bytes, changed) with
 * NUL.  0 or -ERR_NOMEM. */
int perfmap_resolve(char *text, size_t size, const uint64_t *addrs, size_t n,
		    struct perfmap_name *out);

/* Splits a name as above, in place: sets name, file, line and javascript of *out. */
void perfmap_split(struct perfmap_name *out, char *name);

#endif
