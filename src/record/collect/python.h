/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_PYTHON_H
#define TALLY_RECORD_COLLECT_PYTHON_H
/*
 * Merges the frames of interpreters (Python, PHP, Ruby) into the native stacks of samples.
 * runtime/frame_part.h found these frames in the program at the sample's moment.
 *
 * Names.  A code object is identified by (process, address, witness).  Its names and
 * its table of lines came with the first sample that contained it.  Nothing is read
 * later, so nothing can belong to another object.  Each (function, line) becomes a
 * frame's name (frame_names.h) in one image per language (PROF_IMAGE_PYTHON …),
 * for all processes: equal functions of several processes are merged.
 *
 * Places.  Each activation of the interpreter's loop keeps a record in its own C
 * frame.  The record's address came with the frames that the activation runs.  The C
 * frame whose [stack pointer, caller's stack pointer) holds the record is replaced by
 * these frames.  The time of the loop itself is thus the time of the Python line that
 * it runs.  This requires no name, symbol or count of frames, except where the loop
 * keeps no record (Python 3.8 and 3.9, PHP, Ruby).  There the C frames of the loop are
 * counted, one for each run.
 *
 * Frames that are torn, or in another order than the C stack, are dropped and leave
 * the end mark PROF_END_INTERPRETER; the native stack stays unchanged.
 */
#include "base/buf.h"
#include "base/strtab.h"
#include "record/collect/frame_names.h"
#include "record/source/source.h"
#include "runtime/frame_part.h"

/* Name format of a frame in these images, for profile/symbolize_jit.c: "LINE FIRST
 * FILE\1NAME", with the function's first line. */

enum { PYTHON_CHAIN_MAX = 1 << 12 };	/* maximum number of frames in a merged stack */

struct python {
	struct frame_names names[FRAME_LANGUAGES];	/* by language */
	enum frame_language language;	/* language of the last known frame */
	struct strtab text;		/* identities of functions */
	VEC(struct python_func) funcs;
	struct buf tables;		/* line tables of all functions */
	struct u64map by_key;		/* code object of a process -> func */
	struct u64map by_code;		/* identity and line table -> func */
	struct u64map numbers;		/* func, instruction -> frame's name */
	struct u64map lines;		/* identity, line -> frame's name */
	struct buf task;		/* name of the current sample's task, or "" */
	struct buf thread;		/* … and of its thread, if thread_told */
	bool thread_told;
	VEC(struct python_run) runs;	/* runs of the current sample */
	uint32_t states;		/* number of interpreters that ran them */
	uint64_t loop, loop_end;	/* bounds of its loop's function if runs must
					 * be counted */
	uint64_t core;			/* code in the function that it calls to run
					 * the frames; 0: it runs them itself */
	VEC(uint64_t) frames;		/* frames of the current sample; then the
					 * merged stack: */
	VEC(uint64_t) merged;
	uint64_t samples;		/* samples that had frames */
};

/* Returns 0 or -ERR_NOMEM. */
int python_init(struct python *py, struct images *im);
void python_fini(struct python *py);

/* Returns whether two addresses belong to the same function. */
typedef bool python_same_function(void *ctx, uint64_t a, uint64_t b);

/* Merges the user part of a sample with frames of an interpreter. pc and sp are as in
 * unwind_stack, n of them, innermost first.  Sets s->user, s->nuser, and s->end if
 * the stack is incomplete.  The results are valid until the next call. */
void python_merge(struct python *py, uint32_t pid, const uint64_t *pc,
		  const uint64_t *sp, size_t n, struct record_sample *s,
		  python_same_function *same, void *ctx);

/* Returns the name of the asyncio task that the thread of the last sample ran, or "".
 * Generated names ("Task-7") become "Task-N". */
const char *python_task(struct python *py);
/* Returns the name that Python has for the thread of the last sample (threading.Thread),
 * or NULL if the sample does not say: it is as before.  A sample says it once. */
const char *python_take_thread_name(struct python *py);

#endif
