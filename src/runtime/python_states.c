// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the states of a thread in the interpreters of a process. */
#include "runtime/python_states.h"

#include "runtime/python_objects.h"

enum {
	/* Offset in struct pthread, in all of glibc 2.4 to 2.43. */
	PTHREAD_TID = 720,
	INTERPRETERS_MAX = 256,
};

static bool read_word(const struct frame_door *door, uint64_t at, uint64_t *v)
{
	struct frame_span s = { at, sizeof(*v) };

	return frame_is_pointer(at) && door->read(door->ctx, &s, 1, v) == sizeof(*v);
}

static bool has_number(const struct python_layout *l, const struct frame_door *door,
		       const uint64_t *state, uint32_t tid)
{
	uint64_t number;

	if (!l->thread_handle)
		return u64_at(state, l->thread_number) == tid;
	return read_word(door, u64_at(state, l->thread_handle) + PTHREAD_TID,
			 &number) &&
	       (uint32_t)number == tid;
}

/* Returns whether the state belongs to this thread and interpreter (0: any).  *next
 * is the following state. */
static bool thread_is(const struct python_layout *l, const struct frame_door *door,
		      uint64_t at, uint32_t tid, uint64_t interpreter,
		      uint64_t *next, bool *sane)
{
	uint64_t state[PYTHON_THREAD_BYTES / 8];
	struct frame_span v = { at, sizeof(state) };

	*sane = frame_is_pointer(at) &&
		door->read(door->ctx, &v, 1, state) == sizeof(state);
	if (!*sane)
		return false;
	*next = u64_at(state, PYTHON_THREAD_NEXT);
	*sane = !interpreter || u64_at(state, PYTHON_THREAD_INTERPRETER) == interpreter;
	return *sane && has_number(l, door, state, tid);
}

/* *left: number of states that may still be read */
static uint64_t thread_of(const struct python_layout *l,
			  const struct frame_door *door, uint64_t interpreter,
			  uint32_t tid, size_t *left)
{
	uint64_t at, next;
	bool sane;

	if (!read_word(door, interpreter + l->interpreter_threads, &at))
		return 0;
	while (at && (*left)--) {
		if (thread_is(l, door, at, tid, interpreter, &next, &sane))
			return at;
		if (!sane)
			return 0;
		at = next;
	}
	return 0;
}

uint64_t python_thread_state(const struct python_types *types, uint32_t tid,
			     uint64_t guess, const struct frame_door *door)
{
	enum { THREADS_MAX = 8192 };
	const struct python_layout *l = &types->layout;
	size_t left = THREADS_MAX;
	uint64_t at, found;
	bool sane;

	if (guess && thread_is(l, door, guess, tid, 0, &found, &sane))
		return guess;
	if (!read_word(door, types->runtime + l->runtime_head, &at))
		return 0;
	for (int i = 0; at && i < INTERPRETERS_MAX; i++) {
		found = thread_of(l, door, at, tid, &left);
		if (found || !left ||
		    !read_word(door, at + l->interpreter_next, &at))
			return found;
	}
	return 0;
}

/* Returns whether a state is, or may be, this thread's.  Up to 3.12 a subinterpreter's
 * state keeps the number of the thread that made it, whichever thread runs it.  The
 * record of its innermost run shows where that is. */
static bool is_state_of(const struct python_layout *l, const struct frame_door *door,
			const struct python_thread *t, const uint64_t *state)
{
	uint8_t record = l->by_cframe ? l->thread_frame : l->thread_cframe;

	return (record && u64_at(state, record) >= t->stack &&
		u64_at(state, record) < t->stack_end) ||
	       has_number(l, door, state, t->tid);
}

struct search {
	const struct python_layout *layout;
	const struct frame_door *door;
	const struct python_thread *of;
	size_t left;		/* number of states that may still be read */
};

static void find_states(struct search *f, uint64_t interpreter, struct python_states *s)
{
	const struct python_layout *l = f->layout;
	uint64_t at, state[PYTHON_THREAD_BYTES / 8];

	if (!read_word(f->door, interpreter + l->interpreter_threads, &at))
		return;
	for (; at && s->n < PYTHON_STATES_MAX && f->left; f->left--) {
		if (!frame_read(f->door, at, sizeof(state), state) ||
		    u64_at(state, PYTHON_THREAD_INTERPRETER) != interpreter)
			return;
		if (at != f->of->state && is_state_of(l, f->door, f->of, state)) {
			s->at[s->n] = at;
			s->frame[s->n++] = u64_at(state, l->thread_frame);
		}
		at = u64_at(state, PYTHON_THREAD_NEXT);
	}
}

void python_other_states(const struct python_types *types, const struct python_thread *t,
			 uint64_t head, const struct frame_door *door,
			 struct python_states *s)
{
	enum { READ_MAX = 256 };
	struct python_found *found = types->found;
	struct search f;
	uint64_t next;

	s->n = 0;
	if (!found || head == __atomic_load_n(&found->only, __ATOMIC_RELAXED) ||
	    !read_word(door, head + types->layout.interpreter_next, &next))
		return;
	if (!next) {
		__atomic_store_n(&found->only, head, __ATOMIC_RELAXED);
		return;
	}
	f.layout = &types->layout;
	f.door = door;
	f.of = t;
	f.left = READ_MAX;
	for (int i = 0; head && i < INTERPRETERS_MAX; i++) {
		find_states(&f, head, s);
		if (!read_word(door, head + types->layout.interpreter_next, &head))
			return;
	}
}
