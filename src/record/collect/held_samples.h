/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_HELD_SAMPLES_H
#define TALLY_RECORD_COLLECT_HELD_SAMPLES_H
/*
 * Samples that wait to be written until the programs among them have told what code was
 * where and when (symbolize/jitdump.h): some write their files long after the code ran.
 *
 * An address that was one function's throughout stays what it is.  Where functions came
 * one after the other, the sample's time tells which, and its frame becomes a location
 * of another image of the process, whose addresses are offsets of code in the file.
 *
 * All samples wait, in their order, from when the first such file was seen; at most
 * HELD_MAX of them.
 */
#include "record/collect/images.h"
#include "symbolize/jitdump.h"

enum { HELD_MAX = 1 << 19 };	/* 16 MB */

struct held_samples {
	bool on;
	VEC(struct prof_sample) rows;
	VEC(struct held_dump *) dumps;
	struct u64map by_image;		/* image of a jitdump file -> dump */
	VEC(uint8_t) locs;		/* by location: enum held_kind */
	VEC(uint8_t) nodes;		/* by node */
	VEC(uint32_t) path;		/* of nodes */
};

void held_fini(struct held_samples *h);
/* Looks again where code was, and gives samples the stacks of their times: rows from
 * now on may be written.  0 or -ERR_NOMEM. */
int held_resolve(struct held_samples *h, struct images *im, struct profile *p);

#endif
