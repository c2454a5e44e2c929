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
#include "runtime/frame_part.h"
#include "runtime/python_frames.h"

enum { TASK_NAME_CHARS = FRAME_NAME_MAX / 4 };

/* What was found in a process, initially zero.  Threads may share it. */
struct python_tasks {
	uint64_t code;		/* code of _run_once */
	uint64_t tasks;		/* the dict; set last */
	uint64_t type;		/* type of tasks */
	uint64_t dict_type;
	uint32_t tries;
};

/* A walk: `room` is scratch space of FRAME_WINDOW bytes. */
struct python_task_walk {
	const struct python_types *types;
	const struct frame_door *door;
	void *room;
};

/* Returns whether a code object with these texts is _run_once. */
bool python_task_is_loop(const struct python_task_walk *w,
			 const struct frame_piece *name, uint8_t name_kind,
			 const struct frame_piece *file, uint8_t file_kind);
/* Finds the name of the task that runs below a frame of _run_once.  *kind: bytes per
 * character, or 0: it is a generated name ("Task-7") of which only the number is
 * stored.  Returns false if there is no task, or none of asyncio's own type. */
bool python_task_name(const struct python_task_walk *w, uint64_t frame,
		      struct frame_piece *name, uint8_t *kind);

/* Finds the characters of a text object; *kind: bytes per character. */
bool python_text_find(const struct python_types *types, const struct frame_door *door,
		      uint64_t at, struct frame_piece *p, uint8_t *kind);

#endif
