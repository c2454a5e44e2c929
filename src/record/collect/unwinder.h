/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_UNWINDER_H
#define TALLY_RECORD_COLLECT_UNWINDER_H
/*
 * The user part of a sample's stack from registers and a copy of the stack
 * (unwind.h), at once, while the recording runs.
 *
 * Tables are made of the files that the recorder has seen mapped (images.h), when
 * a stack first leads through them, and closed again, the longest unused first,
 * when there are too many or when nothing used them for a while.
 *
 * Code that its file tells nothing of is walked by .debug_frame of its separate
 * debug file, if there is one.
 *
 * Of Java's code, which no file describes, the program's memory tells (java.h).
 *
 * Frames of a Python interpreter come with the sample (python.h).
 *
 * Where the copy ends before the stack does, the rest is read from the living
 * program, if the thread still runs and either the outermost return addresses in
 * the copy are still in their places, or the frame that leaves the copy had the
 * same callers for a while, and has them now (outer_callers.h).  Such stacks are
 * marked as PROF_MARK_READ_LATE.
 */
#include "record/collect/deep_stacks.h"
#include "record/collect/images.h"
#include "record/collect/java.h"
#include "record/collect/live_memory.h"
#include "record/collect/outer_callers.h"
#include "record/collect/python.h"
#include "record/source/source.h"

enum { WALK_CODE = 16 << 10 };

struct unwinder {
	struct images *images;
	struct unwind_cache *cache;
	VEC(struct walk_table) tables;	/* by image of images.h */
	size_t open;			/* tables */
	uint64_t *pcs, *sps;		/* of the walk's frames: … */
	uint8_t *marks;
	size_t room;			/* … their number */
	struct deep_stacks deep;
	struct outer_callers outer;
	struct live_memory live;
	struct java java;
	struct python python;
	uint8_t code[WALK_CODE];	/* that a program made, around a sample */
	uint64_t released;	/* the clock when pages were given back */
	uint64_t clock;			/* walks so far */
	uint64_t cut;			/* stacks that went on behind the copy */
	uint64_t pointer_steps;		/* made by frame pointers */
	const char *debug_dirs;		/* as in sym_options */
	/* Tables of more than kept_bytes together are closed when that many walks
	 * did not use them. */
	uint64_t kept_bytes, unused_walks;
	bool no_live;			/* tests: only the copies */
};

/* 0 or -ERR_NOMEM. */
int unwinder_init(struct unwinder *w, struct images *im);
void unwinder_fini(struct unwinder *w);
/* Fills in s->user, s->deep and s->end from s->copy.  The result is valid until the next
 * call. */
void unwinder_sample(struct unwinder *w, struct mapset *maps, uint32_t pid,
		     uint32_t tid, struct record_sample *s);
/* The image is mapped nowhere: closes its table. */
void unwinder_forget(struct unwinder *w, uint32_t image);
/* Between two batches of samples. */
void unwinder_rest(struct unwinder *w);
/* Gives pages of mapped files back; they come again when they are read. */
void unwinder_release(struct unwinder *w);

#endif
