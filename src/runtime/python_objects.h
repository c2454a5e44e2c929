/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_OBJECTS_H
#define TALLY_RUNTIME_PYTHON_OBJECTS_H
/*
 * Reads CPython's objects (3.8 to 3.15, with the global lock) in a stopped thread:
 * texts, dicts, attributes of objects.  Every object is checked before it is used, and
 * searches are bounded.
 */
#include "runtime/frame_part.h"
#include "runtime/python_frames.h"

enum {
	PYTHON_OBJECT_TYPE = 8,	/* in every object */
	PYTHON_PATH = 8,
	PYTHON_NAME_CHARS = FRAME_NAME_MAX / 4,
};

/* What was found in a process, initially zero.  Threads may share it. */
struct python_found {
	/* For names of tasks (python_task.h). */
	uint64_t code;		/* code of _run_once */
	uint64_t tasks;		/* the dict, or from 3.14 on the table; set last */
	uint64_t type;		/* type of tasks */
	uint64_t dict_type;
	uint16_t running_task, task_name;	/* from the table */
	uint32_t tries;
	/* For names of threads (python_thread_name.h). */
	uint64_t bootstrap[2];	/* codes of Thread._bootstrap, the newest first: each
				 * interpreter has its own */
	/* The only interpreter, or 0. */
	uint64_t only;
};

/* Access to objects: `room` is scratch space of FRAME_WINDOW bytes. */
struct python_objects {
	const struct python_types *types;
	const struct frame_door *door;
	void *room;
};

/* The words that led to an object, to find out later whether they still do. */
struct python_path {
	uint32_t n;
	uint64_t at[PYTHON_PATH], word[PYTHON_PATH];
};

/* Finds the characters of a text object; *kind: bytes per character. */
bool python_text_find(const struct python_types *types, const struct frame_door *door,
		      uint64_t at, struct frame_piece *p, uint8_t *kind);
/* Returns whether the text ends with a literal, or equals it. */
bool python_text_ends(const struct python_objects *o, const struct frame_piece *p,
		      uint8_t kind, const char *literal, bool whole);

/* Returns the value of a name, or of an object if there is no name, in a dict of this
 * type; 0: none. */
uint64_t python_dict_value(const struct python_objects *o, uint64_t dict, uint64_t type,
			   const char *name, uint64_t object);
/* Reads the word at an address, and appends it to the path. */
bool python_step(const struct python_objects *o, struct python_path *path, uint64_t at,
		 uint64_t *word);
/* Returns an attribute that an object itself has (not its class), or 0, and appends
 * the words that lead there to the path.  For objects of classes written in Python. */
uint64_t python_attribute(const struct python_objects *o, uint64_t object,
			  const char *name, struct python_path *path);

/* Returns the address of a frame's first local variable. */
uint64_t python_first_local(const struct python_objects *o, uint64_t frame);

#endif
