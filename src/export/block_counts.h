/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_BLOCK_COUNTS_H
#define TALLY_EXPORT_BLOCK_COUNTS_H
/*
 * Execution counts of instructions, estimated from samples.  The unit is
 * samples per instruction.
 *
 * A slow instruction has many samples and a fast one has few, so the samples at
 * one instruction say little about how often it ran.  But all instructions of a
 * basic block run equally often.  The mean of their samples, including
 * instructions without samples, is proportional to the execution count if
 * blocks are equally slow on average.
 */
#include "profile/model.h"

struct address_samples {
	uint32_t image;
	uint64_t vaddr;
	uint64_t count;
};

struct insn_runs {
	uint64_t vaddr;
	double runs;		/* mean samples per instruction of its block */
};

struct block_counts {
	VEC(struct insn_runs) insns;	/* by address, from the start of the code */
};

/*
 * Estimates how often each instruction of `code` ran.  `samples` are those of
 * the code's image within the code, ordered by address.  A sample inside an
 * instruction counts for that instruction.  `out` is zeroed or holds the result
 * of an earlier call.  Returns 0, 1 if code of this machine cannot be decoded
 * here, or -ERR_NOMEM.
 */
int block_counts_fill(const struct profile *p, const struct prof_code *code,
		      uint16_t machine, const struct address_samples *samples,
		      size_t n, struct block_counts *out);
void block_counts_fini(struct block_counts *b);

#endif
