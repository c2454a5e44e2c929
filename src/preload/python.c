// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of the Python interpreter that this program is, for its samples
 * (runtime/python_frames.h).
 *
 * The thread's state is the interpreter's own answer, one read of a thread's
 * variable.  All else is read by process_vm_readv(2) from ourselves: what is not
 * there is an error then, and no fault.
 */
#include "preload/preload.h"
#include "runtime/python_frames.h"

static struct {
	struct python_types types;
	void *(*thread)(void);	/* NULL: no Python */
	uint64_t seen[PYTHON_SEEN];
	/* One for each ring, as who holds it works here. */
	struct python_scratch scratch[TIMER_RINGS_MAX];
} python;

struct part {
	const struct ring_place *place;
	size_t at;
};

static size_t read_spans(void *ctx, const struct python_span *v, size_t n,
			 void *to)
{
	struct python_span all = { (uintptr_t)to, 0 };
	long r;

	(void)ctx;
	for (size_t i = 0; i < n; i++)
		all.n += v[i].n;
	r = sys6(SYS_process_vm_readv, preload.pid, (long)&all, 1, (long)v,
		 (long)n, 0);
	return r > 0 ? (size_t)r : 0;
}

static bool exports(void *ctx, const char *function)
{
	(void)ctx;
	return resolve_any(function, true, NULL);
}

void python_find(void)
{
	const uint64_t *version = resolve_any("Py_Version", false, NULL);
	const struct python_door door = { .read = read_spans };
	void *runtime = resolve_any("_PyRuntime", false, NULL);

	if (!runtime ||
	    !python_layout(&python.types.layout,
			   version ? *version : python_version(exports, NULL),
			   (uintptr_t)runtime, &door))
		return;
	python.types.code = (uintptr_t)resolve_any("PyCode_Type", false, NULL);
	python.types.text = (uintptr_t)resolve_any("PyUnicode_Type", false, NULL);
	python.types.bytes = (uintptr_t)resolve_any("PyBytes_Type", false, NULL);
	python.types.loop = (uintptr_t)resolve_any("_PyEval_EvalFrameDefault", true,
						   &python.types.loop_bytes);
	if (python.types.code && python.types.text && python.types.bytes)
		python.thread = (void *(*)(void))
			resolve_any("PyGILState_GetThisThreadState", true, NULL);
}

void python_forget(void)
{
	if (python.thread)
		bytes_zero(python.seen, sizeof(python.seen));
}

size_t python_room(void)
{
	return python.thread && !preload.careful && !preload.no_readv
		? PYTHON_PART_MAX : 0;
}

static void put_bytes(void *ctx, const void *p, size_t n)
{
	struct part *part = ctx;

	ring_put(part->place, part->at, p, n);
	part->at += n;
}

size_t python_put(const struct ring_place *p, size_t at)
{
	struct part part = { p, at };
	struct python_door door = { read_spans, put_bytes, &part, python.seen };
	void *thread = python.thread();

	if (!thread)
		return 0;
	return python_walk(&python.types, (uintptr_t)thread, &door,
			   &python.scratch[p->ring - preload.rings]);
}
