/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_TASK_H
#define TALLY_RUNTIME_PYTHON_TASK_H
/*
 * The name of the asyncio task that a stopped thread runs (CPython 3.8 to 3.13): what
 * asyncio.current_task().get_name() would return at that moment.
 *
 * asyncio's own event loops run everything below BaseEventLoop._run_once(self).  The
 * frame of this method supplies the loop (its first local variable) and its module's
 * names, among them asyncio.tasks, which has the dict of current tasks by loop.
 * Other loops (uvloop) have no such frame, and their tasks have no names.  3.14 keeps
 * no dict.
 */
#include "runtime/python_objects.h"

/* Returns whether a code object with these texts is _run_once. */
bool python_task_is_loop(const struct python_objects *o,
			 const struct frame_piece *name, uint8_t name_kind,
			 const struct frame_piece *file, uint8_t file_kind);
/* Finds the name of the task that runs below a frame of _run_once.  *kind: bytes per
 * character, or 0: it is a generated name ("Task-7") of which only the number is
 * stored.  Returns false if there is no task, or none of asyncio's own type. */
bool python_task_name(const struct python_objects *o, uint64_t frame,
		      struct frame_piece *name, uint8_t *kind);

#endif
