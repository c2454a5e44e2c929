// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the name of the running asyncio task.
 *
 * Offsets are those of the releases that python_frames.c names, up to 3.13.0.  Every
 * object is checked by its type before it is used, and searches are bounded.
 */
#include "runtime/python_task.h"

enum {
	OBJECT_TYPE = 8,
	MODULE_DICT = 16,
	TYPE_BASE = 256,
	BASES_MAX = 8,
	DICT_KEYS = 32,
	DICT_VALUES = 40,	/* not 0: the values are elsewhere */
	DICT_BYTES = 48,
	TRIES_MAX = 16,
	NAMES_MAX = 512,	/* in a module */
	LOOPS_MAX = 512,	/* entries in the dict of tasks, free ones included */
	TASK_BYTES = 176,	/* up to the name, in all releases */
	VAR_SIZE = 16,
	TEXT_STATE = 32,
};

/* Offsets by minor version from 3.8 on. */
static const struct task_layout {
	uint16_t locals;	/* in a frame */
	uint8_t globals;
	uint8_t task_name;
} layouts[] = {
	{ 360, 48, 120 }, { 360, 48, 160 }, { 352, 48, 168 },
	{ 72, 8, 144 }, { 72, 24, 144 }, { 72, 24, 128 },
};

static const struct task_layout *layout_of(const struct python_task_walk *w)
{
	unsigned int minor = w->types->layout.minor;

	return minor >= 8 && minor - 8 < sizeof(layouts) / sizeof(*layouts)
	       ? &layouts[minor - 8] : NULL;
}

bool python_text_find(const struct python_types *types, const struct frame_door *door,
		      uint64_t at, struct frame_piece *p, uint8_t *kind)
{
	uint64_t head[5];
	uint32_t state;
	uint64_t n;

	if (!frame_read(door, at, sizeof(head), head) ||
	    u64_at(head, OBJECT_TYPE) != types->text)
		return false;
	state = u32_at(head, TEXT_STATE);
	n = u64_at(head, VAR_SIZE);
	*kind = (uint8_t)(state >> 2 & 7);
	if (!(state & 32) || n > 1u << 30 ||
	    (*kind != 1 && *kind != 2 && *kind != 4))
		return false;
	p->at = at + (state & 64 ? types->layout.text_ascii
				 : types->layout.text_other);
	n *= *kind;
	p->literal = NULL;
	p->n = n < FRAME_TEXT_MAX ? (size_t)n : FRAME_TEXT_MAX;
	return true;
}

/* Reads n bytes at any address. */
static bool read_bytes(const struct python_task_walk *w, uint64_t at, size_t n, void *to)
{
	struct frame_span v = { at, n };

	return frame_is_pointer(at & ~7ull) && w->door->read(w->door->ctx, &v, 1, to) == n;
}

enum { LITERAL_MAX = 32 };

/* Returns whether the text ends with a literal, or equals it. */
static bool ends(const struct python_task_walk *w, const struct frame_piece *p,
		 uint8_t kind, const char *literal, bool whole)
{
	char text[LITERAL_MAX];
	size_t n = 0;

	while (literal[n])
		n++;
	if (kind != 1 || p->n < n || (whole && p->n != n) || n > sizeof(text) ||
	    !read_bytes(w, p->at + p->n - n, n, text))
		return false;
	for (size_t i = 0; i < n; i++)
		if (text[i] != literal[i])
			return false;
	return true;
}

bool python_task_is_loop(const struct python_task_walk *w,
			 const struct frame_piece *name, uint8_t name_kind,
			 const struct frame_piece *file, uint8_t file_kind)
{
	const char *method = w->types->layout.minor < 11 ? "_run_once"
							 : "BaseEventLoop._run_once";

	return layout_of(w) && ends(w, name, name_kind, method, true) &&
	       ends(w, file, file_kind, "asyncio/base_events.py", false);
}

/* The entries of a dict. */
struct entries {
	uint64_t at;
	size_t n, size;		/* size: bytes of an entry, whose last words are key
				 * and value */
};

/* Objects/dictobject.c: struct _dictkeysobject.  The entries follow a hash table of
 * indices. */
static bool entries_of(const struct python_task_walk *w, uint64_t dict, uint64_t type,
		       struct entries *e)
{
	uint64_t d[DICT_BYTES / 8], k[5], indices, at;

	if (!frame_read(w->door, dict, sizeof(d), d) || u64_at(d, OBJECT_TYPE) != type ||
	    u64_at(d, DICT_VALUES))
		return false;
	at = u64_at(d, DICT_KEYS);
	if (!frame_read(w->door, at, sizeof(k), k))
		return false;
	e->size = 24;
	if (w->types->layout.minor < 11) {
		indices = k[1];
		if (indices > 1u << 30)
			return false;
		indices *= indices <= 0xff ? 1 : indices <= 0xffff ? 2 : 4;
		e->at = at + 40 + indices;
		e->n = (size_t)k[4];
	} else {
		uint8_t log2_bytes = (uint8_t)(k[1] >> 8), kind = (uint8_t)(k[1] >> 16);

		if (log2_bytes > 32 || kind > 1)
			return false;
		e->at = at + 32 + (1ull << log2_bytes);
		e->n = (size_t)k[3];
		e->size = kind ? 16 : 24;
	}
	return true;
}

/* Returns whether this is the wanted key: a name, or an object. */
static bool is_key(const struct python_task_walk *w, uint64_t key, const char *name,
		   uint64_t object)
{
	struct frame_piece p;
	uint8_t kind;

	return name ? python_text_find(w->types, w->door, key, &p, &kind) &&
		      ends(w, &p, kind, name, true)
		    : key == object;
}

/* Returns the value of a name, or of an object, in a dict; 0: none. */
static uint64_t value_of(const struct python_task_walk *w, uint64_t dict, uint64_t type,
			 const char *name, uint64_t object)
{
	const size_t most = name ? NAMES_MAX : LOOPS_MAX;
	struct entries e;
	size_t got;

	if (!entries_of(w, dict, type, &e))
		return 0;
	if (e.n > most)
		e.n = most;
	for (size_t i = 0; i < e.n; i += got) {
		got = FRAME_WINDOW / e.size;
		if (got > e.n - i)
			got = e.n - i;
		if (!frame_read(w->door, e.at + i * e.size, got * e.size, w->room))
			return 0;
		for (size_t k = 0; k < got; k++) {
			const size_t end = (k + 1) * e.size;

			if (u64_at(w->room, end - 8) &&
			    is_key(w, u64_at(w->room, end - 16), name, object))
				return u64_at(w->room, end - 8);
		}
	}
	return 0;
}

/* Finds the dict of tasks from the names of the module asyncio.base_events, which the
 * frame has. */
static uint64_t find(const struct python_task_walk *w, uint64_t frame)
{
	struct python_tasks *t = w->types->tasks;
	uint64_t globals, type, module, names, tasks, task_type;

	if (__atomic_load_n(&t->tries, __ATOMIC_RELAXED) >= TRIES_MAX)
		return 0;
	__atomic_add_fetch(&t->tries, 1, __ATOMIC_RELAXED);
	if (!frame_read(w->door, frame + layout_of(w)->globals, 8, &globals) ||
	    !frame_read(w->door, globals + OBJECT_TYPE, 8, &type))
		return 0;
	module = value_of(w, globals, type, "tasks", 0);
	if (!module || !frame_read(w->door, module + MODULE_DICT, 8, &names))
		return 0;
	tasks = value_of(w, names, type, "_current_tasks", 0);
	task_type = tasks ? value_of(w, names, type, "_CTask", 0) : 0;
	if (!task_type)
		return 0;
	__atomic_store_n(&t->type, task_type, __ATOMIC_RELAXED);
	__atomic_store_n(&t->dict_type, type, __ATOMIC_RELAXED);
	__atomic_store_n(&t->tasks, tasks, __ATOMIC_RELEASE);
	return tasks;
}

/* Returns whether a type is that of asyncio's own tasks, or based on it. */
static bool is_task(const struct python_task_walk *w, uint64_t type)
{
	const uint64_t wanted = __atomic_load_n(&w->types->tasks->type, __ATOMIC_RELAXED);

	for (int i = 0; i < BASES_MAX && type != wanted; i++)
		if (!frame_read(w->door, type + TYPE_BASE, 8, &type))
			return false;
	return type == wanted;
}

bool python_task_name(const struct python_task_walk *w, uint64_t frame,
		      struct frame_piece *name, uint8_t *kind)
{
	const struct task_layout *l = layout_of(w);
	struct python_tasks *t = w->types->tasks;
	uint64_t loop, tasks, task, text, object[TASK_BYTES / 8];

	if (!l || !frame_read(w->door, frame + l->locals, 8, &loop))
		return false;
	tasks = __atomic_load_n(&t->tasks, __ATOMIC_ACQUIRE);
	if (!tasks)
		tasks = find(w, frame);
	task = tasks ? value_of(w, tasks, __atomic_load_n(&t->dict_type, __ATOMIC_RELAXED),
				NULL, loop) : 0;
	if (!task || !frame_read(w->door, task, l->task_name + 8ul, object) ||
	    !is_task(w, u64_at(object, OBJECT_TYPE)))
		return false;
	text = u64_at(object, l->task_name);
	if (python_text_find(w->types, w->door, text, name, kind)) {
		if (name->n > TASK_NAME_CHARS * (size_t)*kind)
			name->n = TASK_NAME_CHARS * (size_t)*kind;
		return true;
	}
	/* From 3.12 on a generated name is stored as its number. */
	*kind = 0;
	name->n = 0;
	name->literal = "";
	return w->types->layout.minor >= 12 && frame_is_pointer(text);
}
