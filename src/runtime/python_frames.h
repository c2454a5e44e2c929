/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_FRAMES_H
#define TALLY_RUNTIME_PYTHON_FRAMES_H
/*
 * The frames of CPython's interpreter (3.8 to 3.15, x86-64, with the global lock) in a
 * thread that stands still: in the handler of its own signal (preload/python.c), or
 * asleep (record/python_live.h).  One walk and one table of structures for both; what
 * reads memory is the caller's.
 *
 * The walk runs in a signal handler: it calls no function of the C library,
 * allocates nothing, takes no lock and follows no pointer itself.  All that it reads
 * is checked; after a doubt the chain is torn, never a shorter or another one.
 *
 * What is found is put as a part of the sample, a sequence of struct python_entry:
 *
 *	frame	the code object, the offset of the instruction in its bytecode, and
 *		a witness: a hash of what tells the code object from another one
 *		that comes to be at its address
 *	run	behind the frames, innermost first, of one activation of the
 *		interpreter's loop: the address of what that activation keeps on the
 *		C stack.  The C frame with this address between its stack pointer
 *		and that of its caller is the one that ran them.  3.8 and 3.9 keep
 *		nothing there (0): each activation runs one frame
 *	loop	3.8 and 3.9, the first: where the loop's function is, so that its
 *		activations can be counted
 *	code	before the first frame of a code object: its names and its table of
 *		lines, which so are those of the sample's moment
 *	end	the last: whether the chain is whole
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PYTHON_ENTRIES_MAX = 2048,	/* frames and runs of a sample */
	PYTHON_TEXT_MAX = 2048,		/* bytes of a name or a file's name */
	PYTHON_TABLE_MAX = 24 << 10,	/* bytes of a table of lines */
	PYTHON_CODES_MAX = 40 << 10,	/* bytes of all code entries of a sample */
	PYTHON_PART_MAX = PYTHON_ENTRIES_MAX * 16 + PYTHON_CODES_MAX + 64,
	PYTHON_INSTR_MAX = 1 << 26,	/* offsets of instructions are below */
	PYTHON_BATCH = 32,
	PYTHON_CODE_BYTES = 144,	/* of a code object that are looked at */
	PYTHON_WINDOW = 4096,
	PYTHON_SEEN = 4096,		/* a power of two */
};

/* python_entry.what; below PYTHON_INSTR_MAX: a frame */
#define PYTHON_LOOP 0xfffffffcu
#define PYTHON_CODE 0xfffffffdu
#define PYTHON_RUN 0xfffffffeu
#define PYTHON_END 0xffffffffu

enum python_state {
	PYTHON_WHOLE,
	PYTHON_CUT,	/* more frames than there is room for */
	PYTHON_TORN,	/* what was read makes no sense */
};

struct python_entry {
	uint64_t at;	/* code object; run: on the C stack; loop: function */
	uint32_t what;	/* offset of the instruction, or PYTHON_* */
	uint32_t more;	/* witness; loop: its bytes; end: enum python_state */
};

/* Behind a PYTHON_CODE entry; then name, file and table, with zeros up to a
 * multiple of 8 bytes. */
struct python_code {
	uint32_t first_line;
	uint32_t table_bytes;		/* 0: it is too large */
	uint16_t name_bytes, file_bytes;
	uint8_t name_kind, file_kind;	/* bytes of a character */
	uint8_t minor;
	uint8_t pad;
};

/* As struct iovec. */
struct python_span {
	uint64_t at, n;
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

struct python_door {
	/* Reads n spans into `to`, one behind the other; returns the bytes up to
	 * the first that is not there. */
	size_t (*read)(void *ctx, const struct python_span *v, size_t n,
		       void *to);
	/* Takes the next bytes of the sample's part. */
	void (*put)(void *ctx, const void *p, size_t n);
	void *ctx;
	/* PYTHON_SEEN words of the process, zero at first: code objects that
	 * were put.  Threads may share them. */
	uint64_t *seen;
};

/* Where the walk works: nobody else's during one. */
struct python_scratch {
	uint64_t window_at, window_n;
	uint64_t window[PYTHON_WINDOW / 8];
	struct python_entry batch[PYTHON_BATCH];
	struct python_span spans[PYTHON_BATCH];
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
		   const struct python_door *door);

/* The state of the thread with this number (as its own pid namespace has it), of the
 * interpreters of a runtime at `runtime` (_PyRuntime); `guess`: where it was before, or
 * 0.  0: it has none, or none that makes sense. */
uint64_t python_thread(const struct python_types *types, uint64_t runtime,
		       uint32_t tid, uint64_t guess,
		       const struct python_door *door);

/* Walks the frames of a thread state and puts the part, at most PYTHON_PART_MAX
 * bytes; how many. */
size_t python_walk(const struct python_types *types, uint64_t thread,
		   const struct python_door *door, struct python_scratch *s);

#endif
