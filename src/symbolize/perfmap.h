/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_PERFMAP_H
#define TALLY_SYMBOLIZE_PERFMAP_H
/*
 * Reads names of generated code from /tmp/perf-PID.map, which the program
 * writes (Linux: tools/perf/Documentation/jit-interface.txt): lines of START
 * SIZE NAME, both numbers hexadecimal.  New code may replace older code, so the
 * last line that covers an address gives its name.  perfmap_times.h finds the name
 * at a time.
 *
 * Names by CPython ("py::NAME:FILE", Python/perf_trampoline.c) and V8
 * ("JS:*NAME FILE:LINE:COLUMN", src/logging/log.cc) are split.  Marks of the compiler
 * by V8 and .NET ("TYPE [ASSEMBLY] CLASS::NAME(TYPES)[TIER]", src/coreclr/vm/perfmap.cpp)
 * are removed, so that a function has one name for all compilers.
 *
 * The bytes are hostile.  Time and memory are proportional to the sum of the
 * file and the addresses, not to their product.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What wrote a name, by its form. */
enum perfmap_runtime { PERFMAP_OTHER, PERFMAP_V8, PERFMAP_DOTNET };

struct perfmap_name {
	const char *name;	/* points into the text, or "<anonymous>"; NULL: no
				 * line covers the address */
	const char *file;	/* "" if not part of the name */
	uint32_t line;		/* first line of the function; 0 if not part of the
				 * name */
	enum perfmap_runtime runtime;
	uint64_t start, size;
};

enum { PERFMAP_NAME_MAX = 4096 };	/* longer names are truncated */

/* Parts of a file, in the order in which they were written. */
struct perfmap_parts {
	const uint64_t *ends;	/* offsets in the file at which n parts end */
	size_t n;
	uint64_t from;		/* offset of the text */
};

/* Finds the names of n sorted addresses: the last ones, or with `parts` the last one in
 * the first part that covers the address.  Modifies `text` (size bytes) by terminating
 * names with NUL.  Returns 0 or -ERR_NOMEM. */
int perfmap_resolve(char *text, size_t size, const struct perfmap_parts *parts,
		    const uint64_t *addrs, size_t n, struct perfmap_name *out);

/* Parses the line from `start` to its newline at `end` in place.  Returns false if it is
 * no line of START SIZE NAME. */
bool perfmap_parse(char *start, char *end, struct perfmap_name *out);

/* Addresses of code by its line instead of its place in memory: offset of the line in the
 * file << PERFMAP_LINE_SHIFT | PERFMAP_EITHER_BIT | offset in the code. */
enum { PERFMAP_LINE_SHIFT = 32 };
#define PERFMAP_LINE_MAX (UINT64_MAX >> (PERFMAP_LINE_SHIFT + 1))
#define PERFMAP_EITHER_BIT (1ull << 31)	/* the code may be that of an earlier line */

/* Splits a name as above, in place: sets name, file, line and runtime of *out. */
void perfmap_split(struct perfmap_name *out, char *name);

#endif
