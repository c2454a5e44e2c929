/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_PYTHON_H
#define TALLY_RECORD_COLLECT_PYTHON_H
/*
 * Frames of interpreters (Python, PHP) of samples, as runtime/frame_part.h found them in
 * the program at the sample's moment, in their places between the native ones.
 *
 * Names.  A code is known by (process, address, witness).  Its names and its
 * table of lines came with the first sample that it was in, so nothing is read
 * later and nothing can be another's.  Each (function, line) becomes a frame's name
 * (frame_names.h) of one image for each language, PROF_IMAGE_PYTHON and
 * PROF_IMAGE_PHP, for all processes: equal functions of several processes are one.
 *
 * Places.  Each activation of the interpreter's loop keeps a record in its own C
 * frame, whose address came with the frames that it runs.  The C frame whose
 * [stack pointer, caller's stack pointer) holds it is replaced by these frames: what
 * the loop itself takes is the time of the Python line that it runs.  No name, symbol
 * or count of frames is asked for, but where the loop keeps no record (Python 3.8 and 3.9,
 * PHP): then its C frames are counted, one for each run.
 *
 * What is torn, or in another order than the C stack, gives no such frames but
 * the end mark PROF_END_INTERPRETER; the native stack stays as it is.
 */
#include "base/buf.h"
#include "base/strtab.h"
#include "record/collect/frame_names.h"
#include "record/source/source.h"
#include "runtime/frame_part.h"

/* A frame's name in these images, for profile/fill_jit.c: "LINE FIRST
 * FILE\1NAME" with the function's first line. */

enum { PYTHON_CHAIN_MAX = 1 << 12 };	/* frames of a merged stack */

struct python {
	struct frame_names names[FRAME_PHP + 1];	/* by language */
	enum frame_language language;	/* of the last known frame */
	struct strtab text;		/* identities of functions */
	VEC(struct python_func) funcs;
	struct buf tables;		/* of lines, of all functions */
	struct u64map by_key;		/* process's code -> func */
	struct u64map by_code;		/* identity and table -> func */
	struct u64map numbers;		/* func, instruction -> frame's name */
	struct u64map lines;		/* identity, line -> frame's name */
	VEC(struct python_run) runs;	/* of the sample at hand */
	uint64_t loop, loop_end;	/* … its loop's function, if runs are to be counted */
	VEC(uint64_t) frames;		/* the same; then the merged stack: */
	VEC(uint64_t) merged;
};

/* 0 or -ERR_NOMEM. */
int python_init(struct python *py, struct images *im);
void python_fini(struct python *py);

/* The user part of a sample with frames of an interpreter: pc and sp as in unwind_stack, n
 * of them, innermost first.  Sets s->user, s->nuser, and s->end where the stack
 * is not whole; what it sets is valid until the next call. */
void python_merge(struct python *py, uint32_t pid, const uint64_t *pc,
		  const uint64_t *sp, size_t n, struct record_sample *s);

#endif
