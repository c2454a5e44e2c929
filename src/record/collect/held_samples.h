/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_HELD_SAMPLES_H
#define TALLY_RECORD_COLLECT_HELD_SAMPLES_H
/*
 * Samples held back until programs have reported what code was where and when
 * (symbolize/jitdump.h).  Some programs write their files long after the code ran.
 *
 * An address that belonged to one function throughout stays unchanged.  If several
 * functions used it in succession, the sample's time selects one.  The frame then
 * becomes a location of another image of the process, whose addresses are offsets of
 * code in the file.
 *
 * From the first such file on, all samples are held in their order, HELD_MAX at most,
 * and as long as their stacks have HELD_NODES_MAX nodes at most.
 */
#include "record/collect/images.h"
#include "symbolize/jitdump.h"

enum {
	HELD_MAX = 1 << 19,		/* samples: 16 MB */
	HELD_NODES_MAX = 1 << 20,	/* stack nodes that may wait with them: 9 MB */
};

struct held_samples {
	bool on;
	VEC(struct prof_sample) rows;
	VEC(struct held_dump *) dumps;
	struct u64map by_image;		/* image of a jitdump file -> dump */
	VEC(uint8_t) locs;		/* enum held_kind by location */
	VEC(uint8_t) nodes;		/* enum held_kind by node */
	VEC(uint32_t) path;		/* nodes of the current path */
};

void held_fini(struct held_samples *h);
/* Forgets all rows of the profile, whose tables begin anew. */
void held_forget_rows(struct held_samples *h);
/* Forgets the nodes of the profile, which are only in the file from here on. */
void held_forget_nodes(struct held_samples *h);
/* Reads the code files again and gives samples the stacks that fit their times.  The
 * rows may be written afterwards.  Returns 0 or -ERR_NOMEM. */
int held_resolve(struct held_samples *h, struct images *im, struct profile *p);

#endif
