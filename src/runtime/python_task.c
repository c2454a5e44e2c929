// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the name of the running asyncio task.
 *
 * Offsets are those of the releases that python_frames.c names, up to 3.13.0.
 */
#include "runtime/python_task.h"

#include "runtime/python_asyncio.h"

enum {
	MODULE_DICT = 16,
	TYPE_DEALLOC = 48,
	TYPE_BASE = 256,
	BASES_MAX = 8,
	TRIES_MAX = 16,
};

/* Offsets by minor version from 3.8 on. */
static const struct task_layout {
	uint8_t globals;	/* in a frame */
	uint8_t task_name;	/* 0: a table says it (python_asyncio.h) */
} layouts[] = {
	{ 48, 120 }, { 48, 160 }, { 48, 168 }, { 8, 144 }, { 24, 144 }, { 24, 128 },
	{ 24, 0 }, { 24, 0 },
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

	if (!layout_of(o))
		return false;
	if (python_text_ends(o, name, name_kind, method, true))
		return python_text_ends(o, file, file_kind, "asyncio/base_events.py",
					false);
	return !layout_of(o)->task_name &&
	       python_text_ends(o, name, name_kind, "Runner.run", true) &&
	       python_text_ends(o, file, file_kind, "asyncio/runners.py", false);
}

/* Finds the table of the module that has the type of tasks. */
static uint64_t find_table(const struct python_objects *o, uint64_t task_type)
{
	struct python_found *t = o->types->found;
	struct python_asyncio a;
	uint64_t function;

	if (!frame_read(o->door, task_type + TYPE_DEALLOC, 8, &function) ||
	    !python_asyncio_find(o, function, &a))
		return 0;
	__atomic_store_n(&t->running_task, a.running_task, __ATOMIC_RELAXED);
	__atomic_store_n(&t->task_name, a.task_name, __ATOMIC_RELAXED);
	return a.table;
}

/* Finds the dict of tasks, or the table, from the names of the frame's module.  All
 * these modules have imported asyncio.tasks. */
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
	task_type = python_dict_value(o, names, type, "_CTask", 0);
	if (!task_type)
		return 0;
	tasks = layout_of(o)->task_name
		? python_dict_value(o, names, type, "_current_tasks", 0)
		: find_table(o, task_type);
	if (!tasks)
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

/* Returns the task that the dict has for the loop of a frame, or 0. */
static uint64_t task_of_loop(const struct python_objects *o, uint64_t frame,
			     uint64_t tasks)
{
	const struct python_found *t = o->types->found;
	uint64_t loop;

	return frame && frame_read(o->door, python_first_local(o, frame), 8, &loop)
	       ? python_dict_value(o, tasks, __atomic_load_n(&t->dict_type, __ATOMIC_RELAXED),
				   NULL, loop)
	       : 0;
}

/* Returns the task that the thread's state has, or 0. */
static uint64_t task_of_thread(const struct python_objects *o, uint64_t thread)
{
	const struct python_found *t = o->types->found;
	uint64_t task;

	return frame_read(o->door, thread + __atomic_load_n(&t->running_task,
							    __ATOMIC_RELAXED),
			  8, &task) ? task : 0;
}

/* Reads a task's type and name. */
static bool read_task(const struct python_objects *o, uint64_t task, uint64_t *type,
		      uint64_t *name)
{
	const struct python_found *t = o->types->found;
	const uint16_t at = layout_of(o)->task_name
		? layout_of(o)->task_name
		: __atomic_load_n(&t->task_name, __ATOMIC_RELAXED);
	const struct frame_span v[] = { { task + PYTHON_OBJECT_TYPE, 8 }, { task + at, 8 } };
	uint64_t words[2];

	if (!frame_is_pointer(task) ||
	    o->door->read(o->door->ctx, v, 2, words) != sizeof(words))
		return false;
	*type = words[0];
	*name = words[1];
	return true;
}

bool python_task_name(const struct python_objects *o, const struct python_task_place *p,
		      struct frame_piece *name, uint8_t *kind)
{
	const struct task_layout *l = layout_of(o);
	uint64_t tasks, task, type, text;

	if (!l)
		return false;
	tasks = __atomic_load_n(&o->types->found->tasks, __ATOMIC_ACQUIRE);
	if (!tasks && p->frame)
		tasks = find(o, p->frame);
	task = !tasks ? 0 : l->task_name ? task_of_loop(o, p->frame, tasks)
					 : task_of_thread(o, p->thread);
	if (!task || !read_task(o, task, &type, &text) || !is_task(o, type))
		return false;
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
