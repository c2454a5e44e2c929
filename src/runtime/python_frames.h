/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_FRAMES_H
#define TALLY_RUNTIME_PYTHON_FRAMES_H
/*
 * The frames of CPython's interpreter (3.8 to 3.15, x86-64, with the global lock) in
 * a stopped thread.  The thread is in the handler of its own signal
 * (preload/python.c), or asleep (record/collect/python_live.h).  Both use the same
 * walk and the same table of structures.
 *
 * In the part (frame_part.h), codes are code objects, and frames carry the offset of
 * the instruction in the bytecode.  3.8 and 3.9 keep no record on the C stack: each
 * activation of the loop runs one frame.
 */
#include "runtime/frame_part.h"
#include "runtime/python_recall.h"

enum {
	PYTHON_BATCH = 32,
	PYTHON_CODE_BYTES = 144,	/* bytes read of a code object */
	PYTHON_FRAME_BYTES = 112,	/* maximum bytes read of a frame */
	PYTHON_STATES_MAX = 8,		/* states of a thread besides its first one */
};

/* Offsets, used only by python_frames.c. */
struct python_layout {
	uint8_t minor;
	uint8_t thread_frame;	/* in the thread state: the innermost frame */
	bool by_cframe;		/* … or a pointer to its record on the C stack */
	bool by_object;		/* frames are objects, one run each */
	/* 3.10: offsets of the innermost run, and of the outermost run's record. */
	uint8_t thread_cframe;	/* 0: runs have no records */
	uint16_t thread_root;
	uint8_t cframe_frame, cframe_previous;
	uint8_t frame_code, frame_previous, frame_instr, frame_size;
	uint8_t instr_bytes;	/* … by_object: bytes per unit of frame_instr */
	uint8_t frame_entry;	/* 3.11: flag of a run's last frame; 0: later version */
	uint8_t frame_owner;	/* values from 3 on mark the end of a run instead of a
				 * frame */
	uint8_t tags;		/* tag bits in the code's address */
	uint8_t code_file, code_name, code_table, code_line, code_version;
	uint8_t code_bytecode;
	uint8_t text_ascii, text_other;	/* offsets of the characters */
	/* In the runtime, interpreters and threads. */
	uint16_t runtime_head, interpreter_next, interpreter_threads;
	uint8_t thread_number;
	uint8_t thread_handle;	/* … or a pthread_t that contains the number */
	uint32_t interpreter_bytes;	/* size of an interpreter's structure; 0:
					 * unknown */
};

/* Addresses of an interpreter's types, and their layout. */
struct python_types {
	struct python_layout layout;
	uint64_t runtime;		/* _PyRuntime */
	uint64_t code, text, bytes;	/* PyCode_Type, PyUnicode_Type … */
	uint64_t loop, loop_bytes;	/* _PyEval_EvalFrameDefault() */
	struct python_found *found;	/* for names of tasks and threads
					 * (python_objects.h), or NULL */
};

/* States of a thread, and what they have at python_layout.thread_frame. */
struct python_states {
	size_t n;
	uint64_t at[PYTHON_STATES_MAX], frame[PYTHON_STATES_MAX];
};

/* Scratch space of one walk at a time.  Handlers may run on small stacks. */
struct python_scratch {
	struct python_states states;
	struct frame_entry batch[PYTHON_BATCH];
	struct frame_span spans[PYTHON_BATCH];
	uint64_t frames[PYTHON_BATCH];
	bool complete[PYTHON_BATCH];	/* the witness is set, the code written */
	uint64_t visited[PYTHON_FRAME_BYTES / 8];
	/* What most walks use ends with the first places that are recalled. */
	struct python_recalled recalled;
	uint64_t codes[PYTHON_BATCH][PYTHON_CODE_BYTES / 8];
	struct frame_window window;
};

/* Returns the version of an interpreter without Py_Version (before 3.11), derived
 * from the functions that it exports, in Py_Version's format; or 0. */
typedef bool python_exports(void *ctx, const char *function);
uint64_t python_version(python_exports *exports, void *ctx);

/* Sets the offsets of a version's releases for x86-64.  Returns false for unknown
 * versions. */
bool python_layout_released(struct python_layout *l, uint64_t version);
/* Determines the layout of an interpreter with a known _PyRuntime.  From 3.13 on it
 * publishes its offsets itself (_Py_DebugOffsets).  `version` is in Py_Version's
 * format; only the door's `read` is used.  Returns false if the version is unknown,
 * or if it has frames of another kind (as without the global lock). */
bool python_layout(struct python_layout *l, uint64_t version, uint64_t runtime,
		   const struct frame_door *door);

/* Returns the state of the thread with this number (in its own pid namespace), among
 * the interpreters of the runtime.  `guess` is its previous
 * address, or 0.  Returns 0 if there is none, or none that is consistent. */
uint64_t python_thread_state(const struct python_types *types, uint32_t tid,
			     uint64_t guess, const struct frame_door *door);

struct python_thread_name;
/* A stopped thread. */
struct python_thread {
	uint64_t state;		/* one of its states */
	uint32_t tid;		/* its number in its own pid namespace */
	uint64_t stack, stack_end;	/* bounds of its stack, or 0: unknown */
	struct python_thread_name *name;	/* what is known of its name
						 * (python_thread_name.h) */
	struct python_recall *recall;	/* its last walk, or NULL */
};

/* Walks the frames of a thread and writes the part, at most FRAME_PART_MAX bytes.
 * Returns its size.  A thread that runs subinterpreters has a state in each, whose
 * frames follow those of t->state. */
size_t python_walk(const struct python_types *types, const struct python_thread *t,
		   const struct frame_door *door, struct python_scratch *s);

#endif
