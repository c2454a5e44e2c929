// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the name of the running asyncio task.
 *
 * Offsets are those of the releases that python_frames.c names, up to 3.13.0.
 */
#include "runtime/python_task.h"

enum {
	MODULE_DICT = 16,
	TYPE_BASE = 256,
	BASES_MAX = 8,
	TRIES_MAX = 16,
	TASK_BYTES = 176,	/* up to the name, in all releases */
};

/* Offsets by minor version from 3.8 on. */
static const struct task_layout {
	uint8_t globals;	/* in a frame */
	uint8_t task_name;
} layouts[] = {
	{ 48, 120 }, { 48, 160 }, { 48, 168 }, { 8, 144 }, { 24, 144 }, { 24, 128 },
};

static const struct task_layout *layout_of(const struct python_objects *o)
{
	unsigned int minor = o->types->layout.minor;

	return minor >= 8 && minor - 8 < sizeof(layouts) / sizeof(*layouts)
	       ? &layouts[minor - 8] : NULL;
}

bool python_task_is_loop(const struct python_objects *o,
			 const struct frame_piece *name, uint8_t name_kind,
			 const struct frame_piece *file, uint8_t file_kind)
{
	const char *method = o->types->layout.minor < 11 ? "_run_once"
							 : "BaseEventLoop._run_once";

	return layout_of(o) && python_text_ends(o, name, name_kind, method, true) &&
	       python_text_ends(o, file, file_kind, "asyncio/base_events.py", false);
}

/* Finds the dict of tasks from the names of the module asyncio.base_events, which the
 * frame has. */
static uint64_t find(const struct python_objects *o, uint64_t frame)
{
	struct python_found *t = o->types->found;
	uint64_t globals, type, module, names, tasks, task_type;

	if (__atomic_load_n(&t->tries, __ATOMIC_RELAXED) >= TRIES_MAX)
		return 0;
	__atomic_add_fetch(&t->tries, 1, __ATOMIC_RELAXED);
	if (!frame_read(o->door, frame + layout_of(o)->globals, 8, &globals) ||
	    !frame_read(o->door, globals + PYTHON_OBJECT_TYPE, 8, &type))
		return 0;
	module = python_dict_value(o, globals, type, "tasks", 0);
	if (!module || !frame_read(o->door, module + MODULE_DICT, 8, &names))
		return 0;
	tasks = python_dict_value(o, names, type, "_current_tasks", 0);
	task_type = tasks ? python_dict_value(o, names, type, "_CTask", 0) : 0;
	if (!task_type)
		return 0;
	__atomic_store_n(&t->type, task_type, __ATOMIC_RELAXED);
	__atomic_store_n(&t->dict_type, type, __ATOMIC_RELAXED);
	__atomic_store_n(&t->tasks, tasks, __ATOMIC_RELEASE);
	return tasks;
}

/* Returns whether a type is that of asyncio's own tasks, or based on it. */
static bool is_task(const struct python_objects *o, uint64_t type)
{
	const uint64_t wanted = __atomic_load_n(&o->types->found->type, __ATOMIC_RELAXED);

	for (int i = 0; i < BASES_MAX && type != wanted; i++)
		if (!frame_read(o->door, type + TYPE_BASE, 8, &type))
			return false;
	return type == wanted;
}

bool python_task_name(const struct python_objects *o, uint64_t frame,
		      struct frame_piece *name, uint8_t *kind)
{
	const struct task_layout *l = layout_of(o);
	struct python_found *t = o->types->found;
	uint64_t loop, tasks, task, text, object[TASK_BYTES / 8];

	if (!l || !frame_read(o->door, python_first_local(o, frame), 8, &loop))
		return false;
	tasks = __atomic_load_n(&t->tasks, __ATOMIC_ACQUIRE);
	if (!tasks)
		tasks = find(o, frame);
	task = !tasks ? 0 : python_dict_value(o, tasks,
			__atomic_load_n(&t->dict_type, __ATOMIC_RELAXED), NULL, loop);
	if (!task || !frame_read(o->door, task, l->task_name + 8ul, object) ||
	    !is_task(o, u64_at(object, PYTHON_OBJECT_TYPE)))
		return false;
	text = u64_at(object, l->task_name);
	if (python_text_find(o->types, o->door, text, name, kind)) {
		if (name->n > PYTHON_NAME_CHARS * (size_t)*kind)
			name->n = PYTHON_NAME_CHARS * (size_t)*kind;
		return true;
	}
	/* From 3.12 on a generated name is stored as its number. */
	*kind = 0;
	name->n = 0;
	name->literal = "";
	return o->types->layout.minor >= 12 && frame_is_pointer(text);
}
