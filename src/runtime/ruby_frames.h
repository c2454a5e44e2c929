/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_RUBY_FRAMES_H
#define TALLY_RUNTIME_RUBY_FRAMES_H
/*
 * The frames of CRuby's interpreter (3.1, x86-64).  Its thread is stopped in the
 * handler of its own signal (preload/ruby.c).
 *
 * In the part (frame_part.h), the code of a Ruby method or block is identified by its
 * instructions.  Frames carry their line.  Methods written in C have no frames here,
 * but C frames of their own in the native stack.  Each activation of rb_vm_exec()
 * runs the frames up to one that is marked as its last (VM_FRAME_FLAG_FINISH); the C
 * frames of rb_vm_exec() are counted.
 */
#include "runtime/frame_part.h"

enum {
	RUBY_BATCH = 32,
	RUBY_FRAME_BYTES = 64,		/* size of a control frame */
	RUBY_ISEQ_BYTES = 24,		/* bytes read of an instruction sequence, … */
	RUBY_BODY_BYTES = 152,		/* … of its body */
	RUBY_THREADS_MAX = 4096,
};

/* Addresses of an interpreter's variables and of its loop. */
struct ruby_types {
	uint64_t vm;			/* ruby_current_vm_ptr */
	uint64_t loop, loop_bytes;	/* rb_vm_exec() */
};

struct ruby_batch {
	uint64_t pc, iseq, ep;
};

/* Scratch space of one walk at a time. */
struct ruby_scratch {
	uint64_t window[FRAME_WINDOW / 8];
	struct ruby_batch batch[RUBY_BATCH];
	struct frame_span spans[RUBY_BATCH];
	uint64_t flags[RUBY_BATCH];
	uint64_t iseqs[RUBY_BATCH][RUBY_ISEQ_BYTES / 8];
	uint64_t bodies[RUBY_BATCH][RUBY_BODY_BYTES / 8];
};

/* Returns whether the offsets of this version ("3.1.2") are known. */
bool ruby_is_known(const char version[8]);

/* Returns the address of the thread whose pthread_self() this is, among those of the
 * main ractor.  `guess` is its previous address, or 0.  Returns 0 if there is none. */
uint64_t ruby_thread(const struct ruby_types *types, uint64_t self, uint64_t guess,
		     const struct frame_door *door);

/* Walks the frames of a thread and writes the part, at most FRAME_PART_MAX bytes.
 * Returns its size; 0: no Ruby code runs. */
size_t ruby_walk(const struct ruby_types *types, uint64_t thread,
		 const struct frame_door *door, struct ruby_scratch *s);

#endif
