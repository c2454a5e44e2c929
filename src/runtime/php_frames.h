/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PHP_FRAMES_H
#define TALLY_RUNTIME_PHP_FRAMES_H
/*
 * The frames of PHP's interpreter (8.2 and 8.4, x86-64, without threads: NTS).  Its
 * thread is stopped in the handler of its own signal (preload/php.c).
 *
 * In the part (frame_part.h), the code of a PHP function is identified by its
 * opcodes.  That of an internal function (written in C) is identified by its name.
 * Frames carry their line.  PHP keeps no usable record on the C stack: each
 * activation of execute_ex() runs the frames up to one that is marked as called from
 * C.  An internal function is part of the run of its caller; its own C frames are
 * inner frames of the native stack.
 *
 * The innermost frame and its instruction are in registers (r14, r15) while the loop
 * or its callees keep them there.  The instruction stored in the frame may be older.
 * The registers are therefore used if they are consistent: they hold this frame and
 * an instruction of its function.
 */
#include "runtime/frame_part.h"

enum {
	PHP_BATCH = 32,
	PHP_FUNCTION_BYTES = 24,	/* bytes read of any function */
	PHP_BODY_BYTES = 104,		/* bytes read of a function written in PHP */
	PHP_HELD = 8,
	PHP_GENERATORS = 64,	/* maximum depth of generators that delegate to each
				 * other */
};

/* Offsets, used only by php_frames.c, by the number of Zend's module API. */
struct php_layout {
	uint32_t api;
	uint16_t current, before_exception, exception_op;	/* offsets in
								 * executor_globals */
	uint16_t body;			/* offset of a PHP function's body */
	uint8_t last, opcodes, filename, line_start;	/* offsets in the body */
};

/* Addresses of a PHP's variables and of its loop. */
struct php_types {
	struct php_layout layout;	/* api 0: unknown so far */
	uint64_t globals, globals_bytes;	/* executor_globals */
	uint64_t modules;			/* module_registry */
	uint64_t loop, loop_bytes;		/* execute_ex() */
};

/* Registers of the thread. */
struct php_registers {
	uint64_t frame, op;		/* r14, r15 */
};

struct php_batch {
	uint64_t function, op;
	uint64_t running;	/* instruction in the register, or 0 */
	bool top;		/* called from C */
	bool user;		/* written in PHP */
};

/* Scratch space of one walk at a time. */
struct php_scratch {
	struct frame_window window;
	struct php_batch batch[PHP_BATCH];
	struct frame_span spans[PHP_BATCH];
	uint64_t functions[PHP_BATCH][PHP_FUNCTION_BYTES / 8];
	uint64_t bodies[PHP_BATCH][PHP_BODY_BYTES / 8];
	uint32_t lines[PHP_BATCH];
	uint64_t generators[PHP_GENERATORS];	/* frames of generators */
	struct frame_entry held[PHP_HELD];	/* entries of internal functions */
};

/* Determines the layout of a PHP whose variables are known, once it has started.
 * Returns false if it has not, or if it is of another kind: another version, with
 * threads, for debugging. */
bool php_layout(struct php_types *t, const struct frame_door *door);
/* Walks the frames and writes the part, at most FRAME_PART_MAX bytes.  Returns its
 * size; 0: no PHP code runs. */
size_t php_walk(const struct php_types *types, const struct php_registers *regs,
		const struct frame_door *door, struct php_scratch *s);

#endif
