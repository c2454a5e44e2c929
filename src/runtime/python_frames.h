/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_FRAMES_H
#define TALLY_RUNTIME_PYTHON_FRAMES_H
/*
 * The frames of CPython's interpreter (3.8 to 3.15, x86-64, with the global lock) in a
 * thread that stands still: in the handler of its own signal (preload/python.c), or
 * asleep (record/python_live.h).  One walk and one table of structures for both.
 *
 * The part (frame_part.h): codes are code objects, and frames have the offset of the
 * instruction in the bytecode.  3.8 and 3.9 keep nothing on the C stack: each
 * activation of the loop runs one frame.
 */
#include "runtime/frame_part.h"

enum {
	PYTHON_BATCH = 32,
	PYTHON_CODE_BYTES = 144,	/* of a code object that are looked at */
};

/* Offsets, for python_frames.c alone. */
struct python_layout {
	uint8_t minor;
	uint8_t thread_frame;	/* of the thread state: the innermost frame … */
	bool by_cframe;		/* … or what tells it, on the C stack */
	bool by_object;		/* frames are objects, each runs on its own */
	/* 3.10: the innermost run, and where the outermost one's record is. */
	uint8_t thread_cframe;	/* 0: runs have no records */
	uint16_t thread_root;
	uint8_t cframe_frame, cframe_previous;
	uint8_t frame_code, frame_previous, frame_instr, frame_size;
	uint8_t instr_bytes;	/* … by_object: of what frame_instr counts */
	uint8_t frame_entry;	/* 3.11: it is the last of its run; 0: later */
	uint8_t frame_owner;	/* 3 and more: no frame, but the run's end */
	uint8_t tags;		/* bits of the code's address that are none */
	uint8_t code_file, code_name, code_table, code_line, code_version;
	uint8_t code_bytecode;
	uint8_t text_ascii, text_other;	/* where characters begin */
	/* Of the runtime, interpreters and threads. */
	uint16_t runtime_head, interpreter_next, interpreter_threads;
	uint8_t thread_number;
	uint8_t thread_handle;	/* … or a pthread_t, which knows the number */
};

/* Where an interpreter's types are, and what they look like. */
struct python_types {
	struct python_layout layout;
	uint64_t code, text, bytes;	/* PyCode_Type, PyUnicode_Type … */
	uint64_t loop, loop_bytes;	/* _PyEval_EvalFrameDefault() */
};

/* Where the walk works: nobody else's during one. */
struct python_scratch {
	uint64_t window_at, window_n;
	uint64_t window[FRAME_WINDOW / 8];
	struct frame_entry batch[PYTHON_BATCH];
	struct frame_span spans[PYTHON_BATCH];
	uint64_t codes[PYTHON_BATCH][PYTHON_CODE_BYTES / 8];
};

/* The version of an interpreter that has no Py_Version, which came with 3.11, by the
 * functions that it exports: as Py_Version would have it, or 0. */
typedef bool python_exports(void *ctx, const char *function);
uint64_t python_version(python_exports *exports, void *ctx);

/* Those of a version's releases, for x86-64; false: it is not known. */
bool python_layout_released(struct python_layout *l, uint64_t version);
/* What is known of an interpreter whose _PyRuntime is there.  From 3.13 on it tells its
 * offsets itself (_Py_DebugOffsets).  False: its version is not known, or it has
 * frames of another kind (as without the global lock).  `version` as Py_Version has it;
 * of the door only its reading is used. */
bool python_layout(struct python_layout *l, uint64_t version, uint64_t runtime,
		   const struct frame_door *door);

/* The state of the thread with this number (as its own pid namespace has it), of the
 * interpreters of a runtime at `runtime` (_PyRuntime); `guess`: where it was before, or
 * 0.  0: it has none, or none that makes sense. */
uint64_t python_thread(const struct python_types *types, uint64_t runtime,
		       uint32_t tid, uint64_t guess,
		       const struct frame_door *door);

/* Walks the frames of a thread state and puts the part, at most FRAME_PART_MAX
 * bytes; how many. */
size_t python_walk(const struct python_types *types, uint64_t thread,
		   const struct frame_door *door, struct python_scratch *s);

#endif
