// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the Python interpreter in this program, and the frames of its threads
 * (runtime/python_frames.h).  The interpreter itself supplies the thread's state, by
 * one read of a thread-local variable.
 */
#include "preload/preload.h"
#include "runtime/python_frames.h"

static struct {
	struct python_types types;
	void *(*thread)(void);	/* NULL: no Python */
} python;

static bool exports(void *ctx, const char *function)
{
	(void)ctx;
	return resolve_any(function, true, NULL);
}

bool python_find(const struct frame_door *door)
{
	const uint64_t *version = resolve_any("Py_Version", false, NULL);
	void *runtime = resolve_any("_PyRuntime", false, NULL);

	if (!runtime ||
	    !python_layout(&python.types.layout,
			   version ? *version : python_version(exports, NULL),
			   (uintptr_t)runtime, door))
		return false;
	python.types.code = (uintptr_t)resolve_any("PyCode_Type", false, NULL);
	python.types.text = (uintptr_t)resolve_any("PyUnicode_Type", false, NULL);
	python.types.bytes = (uintptr_t)resolve_any("PyBytes_Type", false, NULL);
	python.types.loop = (uintptr_t)resolve_any("_PyEval_EvalFrameDefault", true,
						   &python.types.loop_bytes);
	if (python.types.code && python.types.text && python.types.bytes)
		python.thread = (void *(*)(void))
			resolve_any("PyGILState_GetThisThreadState", true, NULL);
	return python.thread;
}

size_t python_put(const struct frame_door *door, void *work)
{
	void *thread = python.thread();

	return thread ? python_walk(&python.types, (uintptr_t)thread, door, work) : 0;
}
