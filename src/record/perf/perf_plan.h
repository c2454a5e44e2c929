/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_PLAN_H
#define TALLY_RECORD_PERF_PERF_PLAN_H
/* Sizes of the rings and stack copies of perf events. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the size of a CPU's ring in bytes, from the limit of locked memory. */
size_t perf_ring_size(void);
/* The sizes of one CPU's rings in bytes: for samples; for mappings, forks and exits;
 * and for switches, for waits. */
struct perf_rings {
	size_t samples, sideband, switches;
};
/* Plans rings for `samples` bytes of samples, or smaller rings where little memory
 * may be locked, to leave room for the other CPUs.  With `calm`
 * (source_options.calm), rings of mappings are larger.  On all CPUs together they then
 * take at most 64 MB, and rings of samples 256 MB, or 128 KB each if that is more. */
struct perf_rings perf_rings_plan(size_t samples, size_t ncpus, bool waits,
				  bool calm);
/* Ring and copy sizes for stack copies: see perf_copies_plan. */
struct perf_copies {
	size_t ring_bytes;	/* per CPU */
	uint32_t copy_bytes;	/* size of each copy */
};
/* Plans for a sampling rate of `rate` Hz per CPU (0: unknown) on `ncpus` CPUs.
 * `wanted` is the size of a copy, or 0 to let tally choose. */
struct perf_copies perf_copies_plan(uint64_t rate, size_t ncpus,
				    uint32_t wanted);
/* Likewise, for a recorder that wakes rarely (source_options.calm): a ring holds at
 * least 1.25 seconds of copies that have room for most stacks.  The rings of all CPUs
 * together take at most 256 MB, or 128 KB each if that is more. */
struct perf_copies perf_copies_plan_calm(uint64_t rate, size_t ncpus,
					 uint32_t wanted);
/* How often such a recorder reads the rings. */
struct perf_rounds {
	uint32_t round_ms;	/* time between two rounds; 0: rings fill too fast, or
				 * at an unknown rate, so they must report it */
	uint32_t rescue_ms;	/* time after a round at which the rings must be emptied
				 * even if the recorder is busy */
};
/* Plans for rings of `ring` bytes of samples with copies of `copy` bytes (0: none). */
struct perf_rounds perf_rounds_plan(uint64_t rate, size_t ring, uint32_t copy);

#endif
