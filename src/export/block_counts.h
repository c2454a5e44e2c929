/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_BLOCK_COUNTS_H
#define TALLY_EXPORT_BLOCK_COUNTS_H
/*
 * How often instructions ran, estimated from samples, in samples an instruction.
 *
 * A slow instruction has many samples and a fast one few, so samples at one
 * instruction say little about how often it ran.  But all instructions of a basic
 * block run equally often: the mean of their samples, those without any included,
 * is proportional to that number if blocks are equally slow on average.
 */
#include "profile/model.h"

struct address_samples {
	uint32_t image;
	uint64_t vaddr;
	uint64_t count;
};

struct insn_runs {
	uint64_t vaddr;
	double runs;		/* samples an instruction, of its block */
};

struct block_counts {
	VEC(struct insn_runs) insns;	/* by address, from the code's first */
};

/* `samples` are those of the code's image within the code, by address; where one
 * lies inside an instruction, it counts for that.  1: code of this machine cannot be
 * decoded here; -ERR_NOMEM.  `out` is zero or of a former call. */
int block_counts_fill(const struct profile *p, const struct prof_code *code,
		      uint16_t machine, const struct address_samples *samples,
		      size_t n, struct block_counts *out);
void block_counts_fini(struct block_counts *b);

#endif
