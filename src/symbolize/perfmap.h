/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_PERFMAP_H
#define TALLY_SYMBOLIZE_PERFMAP_H
/*
 * Reads names of generated code from /tmp/perf-PID.map, which the program
 * writes (Linux: tools/perf/Documentation/jit-interface.txt): lines of START
 * SIZE NAME, both numbers hexadecimal.  New code may replace older code, so the
 * last line that covers an address gives its name.
 *
 * Names by CPython ("py::NAME:FILE", Python/perf_trampoline.c) and V8
 * ("JS:*NAME FILE:LINE:COLUMN", src/logging/log.cc) are split.  V8's mark of
 * the compiler is removed, so that a function has one name for all compilers.
 *
 * The bytes are hostile.  Time and memory are proportional to the sum of the
 * file and the addresses, not to their product.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmap_name {
	const char *name;	/* points into the text, or "<anonymous>"; NULL: no
				 * line covers the address */
	const char *file;	/* "" if not part of the name */
	uint32_t line;		/* first line of the function; 0 if not part of the
				 * name */
	bool javascript;
	uint64_t start, size;
};

enum { PERFMAP_NAME_MAX = 4096 };	/* longer names are truncated */

/* Finds the names of n sorted addresses.  Modifies `text` (size bytes) by
 * terminating names with NUL.  Returns 0 or -ERR_NOMEM. */
int perfmap_resolve(char *text, size_t size, const uint64_t *addrs, size_t n,
		    struct perfmap_name *out);

/* Splits a name as above, in place: sets name, file, line and javascript of *out. */
void perfmap_split(struct perfmap_name *out, char *name);

#endif
