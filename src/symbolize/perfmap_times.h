/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_PERFMAP_TIMES_H
#define TALLY_SYMBOLIZE_PERFMAP_TIMES_H
/*
 * Finds the line of a perf map (perfmap.h) that named an address at a time.
 *
 * The file has no times, but it only grows.  A recorder that looks at its size again and
 * again knows in which part of the recording each line was written: after the last look
 * that found the file without it, and before the first look that found it.
 *
 *	perfmap_times_add(t, offset, text, n, since_ns, until_ns);
 *	...
 *	switch (perfmap_times_find(t, addr, time_ns, &line)) ...
 *
 * Within a part, the last line that covers an address counts.  Lines with the same name,
 * file and line number count as one: a function that was compiled again.
 *
 * The bytes are hostile.  Some 24 MB are kept: 262,144 lines, 524,288 pages of code, 65,536
 * parts.  Later lines are ignored, as are lines of more than 16 MB of code; later parts are
 * added to the last one.
 */
#include <stddef.h>
#include <stdint.h>

struct perfmap_times;

enum perfmap_found {
	PERFMAP_FIRST,	/* the address's first name, or no name.  A sample before all
			 * lines has the first name, too: some programs write late */
	PERFMAP_LATER,	/* that of *line */
	PERFMAP_EITHER,	/* that of *line or an earlier one: *line was written between
			 * the two looks around the sample */
};

struct perfmap_line {
	uint64_t offset;	/* position in the file */
	uint64_t start, size;	/* its code */
};

/* Returns 0 or -ERR_NOMEM. */
int perfmap_times_new(struct perfmap_times **out);
void perfmap_times_free(struct perfmap_times *t);
/* Frees everything except the ends of parts. */
void perfmap_times_close(struct perfmap_times *t);

/* Adds n bytes of whole lines from `offset` of the file, which were written between the
 * two times.  Neither offset nor times may be lower than in earlier calls; the same
 * until_ns means the same part.  Modifies the text.  Returns 0 or -ERR_NOMEM. */
int perfmap_times_add(struct perfmap_times *t, uint64_t offset, char *text, size_t n,
		      uint64_t since_ns, uint64_t until_ns);

enum perfmap_found perfmap_times_find(struct perfmap_times *t, uint64_t addr,
				      uint64_t time_ns, struct perfmap_line *line);
/* Returns a number.  If it is the same for two times, perfmap_times_find has the same
 * results for both.  0: PERFMAP_FIRST for all addresses. */
uint32_t perfmap_times_epoch(const struct perfmap_times *t, uint64_t time_ns);

/* Returns the offsets at which the parts end. */
const uint64_t *perfmap_times_ends(const struct perfmap_times *t, size_t *n);

#endif
