/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_STATES_H
#define TALLY_RUNTIME_PYTHON_STATES_H
/*
 * The states of a thread (PyThreadState): one in each interpreter that it runs.
 * Programs without subinterpreters have one interpreter.
 */
#include "runtime/python_frames.h"

enum {
	PYTHON_THREAD_NEXT = 8,
	PYTHON_THREAD_INTERPRETER = 16,
	PYTHON_THREAD_BYTES = 192,
};

/* Finds the states of a thread besides t->state, in all interpreters.  `head` is the
 * newest interpreter.  Some may be other threads': see is_state_of. */
void python_other_states(const struct python_types *types, const struct python_thread *t,
			 uint64_t head, const struct frame_door *door,
			 struct python_states *s);

#endif
