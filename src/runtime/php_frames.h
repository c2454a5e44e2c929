/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PHP_FRAMES_H
#define TALLY_RUNTIME_PHP_FRAMES_H
/*
 * The frames of PHP's interpreter (8.2 and 8.4, x86-64, without threads: NTS) in its
 * thread, which stands still: in the handler of its own signal (preload/php.c).
 *
 * The part (frame_part.h): the code of a PHP function is known by its opcodes, that of
 * an internal one (written in C) by its name; frames have their line.  The machine keeps
 * nothing that tells on the C stack: each activation of execute_ex() runs the frames up
 * to one that is marked as called from C.  An internal function stands in the run of
 * its caller; its own C frames are inner ones of the native stack.
 *
 * The innermost frame and its instruction are in registers while the loop or what it calls
 * keeps them (r14, r15); the frame's own note of it may be older, so the registers count
 * where they fit: they hold this frame and an instruction of its function.
 */
#include "runtime/frame_part.h"

enum {
	PHP_BATCH = 32,
	PHP_FUNCTION_BYTES = 24,	/* of any function that are looked at … */
	PHP_BODY_BYTES = 104,		/* … and of one written in PHP */
	PHP_HELD = 8,
	PHP_GENERATORS = 64,	/* that delegate to one another */
};

/* Offsets, for php_frames.c alone: by the number of Zend's module API. */
struct php_layout {
	uint32_t api;
	uint16_t globals_bytes;		/* of executor_globals */
	uint16_t current, before_exception, exception_op;	/* in it */
	uint16_t body;			/* of a function of PHP, where its body is … */
	uint8_t last, opcodes, filename, line_start;	/* … and in there */
};

/* Where a PHP's variables and its loop are. */
struct php_types {
	struct php_layout layout;	/* api 0: not known yet */
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
	uint64_t running;	/* the instruction in the register; or 0 */
	bool top;		/* called from C */
	bool user;		/* written in PHP */
};

/* Where the walk works: nobody else's during one. */
struct php_scratch {
	uint64_t window_at, window_n;
	uint64_t window[FRAME_WINDOW / 8];
	struct php_batch batch[PHP_BATCH];
	struct frame_span spans[PHP_BATCH];
	uint64_t functions[PHP_BATCH][PHP_FUNCTION_BYTES / 8];
	uint64_t bodies[PHP_BATCH][PHP_BODY_BYTES / 8];
	uint32_t lines[PHP_BATCH];
	uint64_t generators[PHP_GENERATORS];	/* frames */
	struct frame_entry held[PHP_HELD];	/* internal functions */
};

/* What is known of a PHP whose variables are there, once it has begun.  False: not yet,
 * or it is of another kind: another version, with threads, for debugging. */
bool php_layout(struct php_types *t, const struct frame_door *door);
/* Walks the frames and puts the part, at most FRAME_PART_MAX bytes; how many.  0: no
 * PHP runs. */
size_t php_walk(const struct php_types *types, const struct php_registers *regs,
		const struct frame_door *door, struct php_scratch *s);

#endif
