// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the Python interpreter in this program, and the frames of its threads
 * (runtime/python_frames.h).  The interpreter itself supplies the thread's state, by
 * one read of a thread-local variable.  An interpreter that was loaded later may be
 * unloaded at any moment, so its code is not called, and the thread's state is found
 * in its list of threads.
 */
#include "preload/preload.h"
#include "runtime/python_frames.h"

enum { RECALLS = 64 };

static struct {
	struct python_types types;
	struct python_found found;
	void *(*thread)(void);	/* NULL: loaded later */
} python;

/* Threads that run Python at the same time usually have different ones. */
static struct {
	uint32_t busy, tid;
	struct python_recall recall;
} recalls[RECALLS];

static void *find(bool loaded, const char *name, bool function, uint64_t *size)
{
	return loaded ? resolve_loaded("python", name, function, size)
		      : resolve_any(name, function, size);
}

static bool exports(void *ctx, const char *function)
{
	return find(*(const bool *)ctx, function, true, NULL);
}

bool python_find(const struct frame_door *door, bool loaded)
{
	struct python_types *t = &python.types;
	uint64_t at, version;

	t->runtime = (uintptr_t)find(loaded, "_PyRuntime", false, NULL);
	if (!t->runtime)
		return false;
	at = (uintptr_t)find(loaded, "Py_Version", false, NULL);
	if (!at)
		version = python_version(exports, &loaded);
	else if (!frame_read(door, at, sizeof(version), &version))
		return false;
	if (!python_layout(&t->layout, version, t->runtime, door))
		return false;
	t->code = (uintptr_t)find(loaded, "PyCode_Type", false, NULL);
	t->text = (uintptr_t)find(loaded, "PyUnicode_Type", false, NULL);
	t->bytes = (uintptr_t)find(loaded, "PyBytes_Type", false, NULL);
	t->loop = (uintptr_t)find(loaded, "_PyEval_EvalFrameDefault", true,
				  &t->loop_bytes);
	if (!t->code || !t->text || !t->bytes)
		return false;
	t->found = &python.found;
	if (!loaded)
		python.thread = (void *(*)(void))
			find(false, "PyGILState_GetThisThreadState", true, NULL);
	return loaded || python.thread;
}

void python_forget(void)
{
	for (size_t i = 0; i < RECALLS; i++)
		recalls[i].tid = recalls[i].busy = 0;
}

/* Returns what is recalled of a thread, or NULL if another one's handler is using it. */
static struct python_recall *recall_begin(size_t i, uint32_t tid)
{
	if (__atomic_exchange_n(&recalls[i].busy, 1, __ATOMIC_ACQUIRE))
		return NULL;
	if (recalls[i].tid != tid) {
		recalls[i].tid = tid;
		python_recall_forget(&recalls[i].recall);
	}
	return &recalls[i].recall;
}

size_t python_put(const struct frame_door *door, void *work, struct slot *s)
{
	const uint64_t here = (uintptr_t)__builtin_frame_address(0);
	const size_t i = (size_t)(s - preload.slots) % RECALLS;
	struct python_thread t;
	size_t n;

	if (python.thread)
		s->state_at = (uintptr_t)python.thread();
	else
		s->state_at = python_thread_state(&python.types, s->tid, s->state_at, door);
	if (!s->state_at)
		return 0;
	t.state = s->state_at;
	t.tid = s->tid;
	t.name = &s->name;
	/* the handler may have a stack of its own */
	t.stack = s->size && s->top - here < s->size ? here : s->top - s->size;
	t.stack_end = s->size ? s->top : 0;
	t.recall = recall_begin(i, s->tid);
	n = python_walk(&python.types, &t, door, work);
	if (t.recall)
		__atomic_store_n(&recalls[i].busy, 0, __ATOMIC_RELEASE);
	return n;
}
