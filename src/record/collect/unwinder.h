/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_UNWINDER_H
#define TALLY_RECORD_COLLECT_UNWINDER_H
/*
 * Unwinds the user part of a sample's stack from registers and a copy of the stack
 * (unwind.h), while the recording runs.
 *
 * The rules are in the files of images (walk_tables.h).  Java's code is described by
 * no file, but by the program's memory (java.h).
 *
 * Frames of a Python interpreter come with the sample (python.h).
 *
 * If the stack continues beyond the copy, the rest is read from the living program.
 * The thread must still run, and one of two conditions must hold.  Either the
 * outermost return addresses in the copy are still in place, or the frame that
 * crosses the end of the copy has kept its callers for a while (outer_callers.h).
 * Such stacks are marked PROF_MARK_READ_LATE.
 */
#include "record/collect/deep_stacks.h"
#include "record/collect/go_callers.h"
#include "record/collect/images.h"
#include "record/collect/java.h"
#include "record/collect/live_memory.h"
#include "record/collect/outer_callers.h"
#include "record/collect/python.h"
#include "record/collect/walk_tables.h"
#include "record/source/source.h"

enum { WALK_CODE = 16 << 10 };

struct unwinder {
	struct images *images;
	struct walk_tables tables;
	uint64_t *pcs, *sps;		/* of the walk's frames */
	uint8_t *marks;
	size_t room;			/* capacity in frames */
	struct deep_stacks deep;
	struct outer_callers outer;
	struct go_c_callers go_c;
	struct live_memory live;
	struct java java;
	struct python python;
	uint8_t code[WALK_CODE];	/* generated code around a sample */
	uint64_t cut;			/* number of stacks that continued beyond the
					 * copy */
	bool no_live;			/* tests only: use only the copies */
};

/* Returns 0 or -ERR_NOMEM. */
int unwinder_init(struct unwinder *w, struct images *im);
void unwinder_fini(struct unwinder *w);
/* Sets s->user, s->deep and s->end from s->copy.  The result is valid until the next
 * call. */
void unwinder_sample(struct unwinder *w, struct mapset *maps, uint32_t pid,
		     uint32_t tid, struct record_sample *s);
/* In a child of the recorder: unmaps what both have and the recorder changes all the time,
 * which would copy it.  No stack can be unwound there. */
void unwinder_forked(struct unwinder *w);
/* Forgets an image that is no longer mapped. */
void unwinder_forget(struct unwinder *w, uint32_t image);
/* Closes unused tables between two batches of samples. */
void unwinder_idle(struct unwinder *w);
/* Releases pages of mapped files, which are read again when needed, and what is known of
 * deep stacks and Java programs that have ended.  Ends the validity of the last sample's stack. */
void unwinder_release(struct unwinder *w);

#endif
