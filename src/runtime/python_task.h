/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_TASK_H
#define TALLY_RUNTIME_PYTHON_TASK_H
/*
 * The name of the asyncio task that a stopped thread runs (CPython 3.8 to 3.15): what
 * asyncio.current_task().get_name() would return at that moment.
 *
 * asyncio's own event loops run everything below BaseEventLoop._run_once(self).  The
 * frame of this method supplies the loop (its first local variable) and its module's
 * names, among them asyncio.tasks, which has the dict of current tasks by loop.
 * Other loops (uvloop) have no such frame, and their tasks have no names.
 *
 * From 3.14 on the thread's state has the running task, whatever loop runs it
 * (python_asyncio.h).  The frame only leads to the type of tasks, once in a process.
 * That of asyncio.Runner.run(self) does so for other loops.
 */
#include "runtime/python_objects.h"

/* Where a thread may run a task. */
struct python_task_place {
	uint64_t thread;	/* its state */
	uint64_t frame;		/* a frame of _run_once or Runner.run, or 0 */
};

/* Returns whether a code object with these texts is _run_once, or from 3.14 on
 * Runner.run. */
bool python_task_is_loop(const struct python_objects *o,
			 const struct frame_piece *name, uint8_t name_kind,
			 const struct frame_piece *file, uint8_t file_kind);
/* Finds the name of the task that runs there.  *kind: bytes per character, or 0: it is
 * a generated name ("Task-7") of which only the number is stored.  Returns false if
 * there is no task, or none of asyncio's own type. */
bool python_task_name(const struct python_objects *o, const struct python_task_place *p,
		      struct frame_piece *name, uint8_t *kind);

#endif
