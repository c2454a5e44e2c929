/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_THREAD_NAME_H
#define TALLY_RUNTIME_PYTHON_THREAD_NAME_H
/*
 * The name of the thread that a program started by threading.Thread (CPython 3.8 to
 * 3.15): what threading.current_thread().name would return at a sample's moment.
 *
 * Such threads run everything below Thread._bootstrap(self), their outermost frame.
 * Other threads (the main thread, those of _thread and of extensions) have no such
 * frame, and no name here.
 */
#include "runtime/python_objects.h"

/* The state of a thread's name between samples, initially zero. */
struct python_thread_name {
	struct python_path path;	/* to the name; without words: unknown */
	struct frame_piece text;
	uint64_t head;		/* hash of the text's beginning */
	uint8_t kind;		/* bytes per character */
	uint8_t tries;		/* number of searches that failed */
};

/* Returns whether a code object with these texts is Thread._bootstrap. */
bool python_thread_is_bootstrap(const struct python_objects *o,
				const struct frame_piece *name, uint8_t name_kind,
				const struct frame_piece *file, uint8_t file_kind);
/* Writes the name of the thread with this frame of _bootstrap if it was not written
 * yet or has changed. */
void python_thread_name_put(const struct python_objects *o, uint64_t frame,
			    struct python_thread_name *known, struct frame_out *out);

#endif
