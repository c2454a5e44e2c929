// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks Python's frames.
 *
 * Offsets are those of CPython's releases 3.8.18, 3.9.18, 3.10.13, 3.11.2 and 3.11.7,
 * 3.12.1, 3.13.0 and 3.13.18, 3.14.10 and 3.15.2 for x86-64.  Structures do not
 * change within a minor version.
 */
#include "runtime/python_frames.h"

#include "runtime/python_states.h"
#include "runtime/python_task.h"
#include "runtime/python_thread_name.h"

enum {
	OBJECT_TYPE = 8,	/* in every object */
	VAR_SIZE = 16,		/* in text and bytes */
	TEXT_STATE = 32,	/* python_objects.c reads texts */
	BYTES_DATA = 32,
	OWNER_NONE = 3,
	CFRAME_BYTES = 24,
};

static const struct python_layout layouts[] = {
	{ .minor = 8, .by_object = true, .thread_frame = 24,
	  .frame_code = 32, .frame_previous = 24, .frame_instr = 104,
	  .instr_bytes = 1, .frame_size = 112, .code_file = 104,
	  .code_name = 112, .code_table = 120, .code_line = 40,
	  .text_ascii = 48, .text_other = 72, .runtime_head = 32,
	  .interpreter_next = 0, .interpreter_threads = 8,
	  .thread_handle = 176 },
	{ .minor = 9, .by_object = true, .thread_frame = 24,
	  .frame_code = 32, .frame_previous = 24, .frame_instr = 104,
	  .instr_bytes = 1, .frame_size = 112, .code_file = 104,
	  .code_name = 112, .code_table = 120, .code_line = 40,
	  .text_ascii = 48, .text_other = 72, .runtime_head = 32,
	  .interpreter_next = 0, .interpreter_threads = 8,
	  .thread_handle = 176 },
	{ .minor = 10, .by_object = true, .thread_frame = 24,
	  .thread_cframe = 48, .thread_root = 264, .cframe_previous = 8,
	  .frame_code = 32, .frame_previous = 24, .frame_instr = 96,
	  .instr_bytes = 2, .frame_size = 104, .code_file = 104, .code_name = 112,
	  .code_table = 120, .code_line = 40, .text_ascii = 48,
	  .text_other = 72, .runtime_head = 32, .interpreter_next = 0,
	  .interpreter_threads = 8, .thread_handle = 176 },
	{ .minor = 11, .thread_frame = 56, .by_cframe = true,
	  .cframe_frame = 8, .cframe_previous = 16, .frame_code = 32,
	  .frame_previous = 48, .frame_instr = 56, .frame_size = 72,
	  .frame_entry = 68, .code_file = 112, .code_name = 128,
	  .code_table = 136, .code_line = 72, .code_bytecode = 184,
	  .text_ascii = 48, .text_other = 72,
	  .runtime_head = 40, .interpreter_next = 0,
	  .interpreter_threads = 16, .thread_number = 160 },
	{ .minor = 12, .thread_frame = 56, .by_cframe = true,
	  .cframe_frame = 0, .cframe_previous = 8, .frame_code = 0,
	  .frame_previous = 8, .frame_instr = 56, .frame_size = 72,
	  .frame_owner = 70, .code_file = 112, .code_name = 128,
	  .code_table = 136, .code_line = 68, .code_version = 92,
	  .code_bytecode = 192, .text_ascii = 40, .text_other = 56,
	  .runtime_head = 40, .interpreter_next = 0,
	  .interpreter_threads = 72, .thread_number = 144 },
	{ .minor = 13, .thread_frame = 72, .frame_code = 0,
	  .frame_previous = 8, .frame_instr = 56, .frame_size = 72,
	  .frame_owner = 70, .code_file = 112, .code_name = 128,
	  .code_table = 136, .code_line = 68, .code_version = 92,
	  .code_bytecode = 200, .text_ascii = 40, .text_other = 56,
	  .runtime_head = 632, .interpreter_next = 7264,
	  .interpreter_threads = 7344, .thread_number = 160 },
	{ .minor = 14, .thread_frame = 72, .frame_code = 0, .tags = 1,
	  .frame_previous = 8, .frame_instr = 56, .frame_size = 80,
	  .frame_owner = 74, .code_file = 112, .code_name = 128,
	  .code_table = 136, .code_line = 68, .code_version = 92,
	  .code_bytecode = 208, .text_ascii = 40, .text_other = 56,
	  .runtime_head = 808, .interpreter_next = 7272,
	  .interpreter_threads = 7344, .thread_number = 160 },
	{ .minor = 15, .thread_frame = 72, .frame_code = 0, .tags = 3,
	  .frame_previous = 8, .frame_instr = 56, .frame_size = 80,
	  .frame_owner = 74, .code_file = 112, .code_name = 128,
	  .code_table = 136, .code_line = 68, .code_version = 92,
	  .code_bytecode = 208, .text_ascii = 40, .text_other = 56,
	  .runtime_head = 936, .interpreter_next = 7264,
	  .interpreter_threads = 7336, .thread_number = 184 },
};

uint64_t python_version(python_exports *exports, void *ctx)
{
	return exports(ctx, "PyIter_Send") ? 0x030a0000
	       : exports(ctx, "PyThreadState_GetFrame") ? 0x03090000
	       : exports(ctx, "PyCode_NewWithPosOnlyArgs") ? 0x03080000 : 0;
}

/* Internal/pycore_debug_offsets.h of 3.13, 3.14 and 3.15.  Each entry has a number's
 * position in the table, and the member of struct python_layout that it sets, or the
 * value that it must have. */
struct debug_offset {
	uint16_t at[3];
	uint8_t to, bytes, must_be;
};

enum {
	DEBUG_FIRST_MINOR = 13,
	DEBUG_BYTES = 768,
	DEBUG_VERSION = 8,
	DEBUG_FREE_THREADED = 16
};
#define DEBUG_COOKIE 0x7970677562656478ull	/* "xdebugpy" */

#define DEBUG_OFFSET(a, b, c, field) \
	{ { a, b, c }, offsetof(struct python_layout, field), \
	  sizeof(((struct python_layout *)NULL)->field), 0 }
#define MUST(a, b, c, number) { { a, b, c }, 0, 0, number }
static const struct debug_offset debug_offsets[] = {
	DEBUG_OFFSET(40, 40, 40, runtime_head),
	DEBUG_OFFSET(48, 48, 48, interpreter_bytes),
	DEBUG_OFFSET(64, 64, 64, interpreter_next),
	DEBUG_OFFSET(72, 72, 72, interpreter_threads),
	MUST(168, 192, 192, PYTHON_THREAD_NEXT),
	MUST(176, 200, 200, PYTHON_THREAD_INTERPRETER),
	DEBUG_OFFSET(184, 208, 208, thread_frame),
	DEBUG_OFFSET(200, 224, 248, thread_number),
	DEBUG_OFFSET(224, 248, 312, frame_size),
	DEBUG_OFFSET(232, 256, 320, frame_previous),
	DEBUG_OFFSET(240, 264, 328, frame_code),
	DEBUG_OFFSET(248, 272, 336, frame_instr),
	DEBUG_OFFSET(264, 288, 352, frame_owner),
	DEBUG_OFFSET(280, 320, 384, code_file),
	DEBUG_OFFSET(296, 336, 400, code_name),
	DEBUG_OFFSET(304, 344, 408, code_table),
	DEBUG_OFFSET(312, 352, 416, code_line),
	DEBUG_OFFSET(344, 384, 448, code_bytecode),
	MUST(360, 408, 472, OBJECT_TYPE),
	MUST(528, 608, 704, BYTES_DATA),
	MUST(544, 624, 720, TEXT_STATE),
	MUST(552, 632, 728, VAR_SIZE),
	DEBUG_OFFSET(560, 640, 736, text_ascii),
};

/* Returns whether the published offsets lie within the parts read of each structure. */
static bool is_sane(const struct python_layout *l)
{
	enum { CODE_MAX = PYTHON_CODE_BYTES - 8, THREAD_MAX = PYTHON_THREAD_BYTES - 8 };
	const uint8_t words = l->frame_previous | l->frame_code | l->frame_instr |
			      l->code_file | l->code_name | l->code_table |
			      l->thread_frame | l->thread_number;

	return !((words | l->frame_size) & 7) && !(l->code_line & 3) && l->thread_number <= THREAD_MAX &&
	       l->frame_size >= 8 && l->frame_previous <= l->frame_size - 8 &&
	       l->frame_code <= l->frame_size - 8 &&
	       l->frame_instr <= l->frame_size - 8 &&
	       l->frame_owner < l->frame_size && l->code_file <= CODE_MAX &&
	       l->code_name <= CODE_MAX && l->code_table <= CODE_MAX &&
	       l->code_line <= CODE_MAX;
}

static bool take_debug_offsets(struct python_layout *l, uint64_t version,
			       const uint64_t *table)
{
	const uint8_t line = l->code_line;

	if (u64_at(table, 0) != DEBUG_COOKIE || u64_at(table, DEBUG_VERSION) != version ||
	    u64_at(table, DEBUG_FREE_THREADED))
		return false;
	for (size_t i = 0; i < sizeof(debug_offsets) / sizeof(*debug_offsets); i++) {
		const struct debug_offset *o = &debug_offsets[i];
		uint64_t v = u64_at(table, o->at[l->minor - DEBUG_FIRST_MINOR]);
		uint8_t *to = (uint8_t *)l + o->to;

		if (o->bytes == 4)
			*(uint32_t *)(void *)to = (uint32_t)v;
		else if (o->bytes == 2)
			*(uint16_t *)(void *)to = (uint16_t)v;
		else if (o->bytes)
			*to = (uint8_t)v;
		if (o->bytes ? v >> 8 * o->bytes : v != o->must_be)
			return false;
	}
	l->text_other = (uint8_t)(l->text_ascii + 16);
	if (l->code_line != line)
		l->code_version = 0;	/* the table lacks it */
	return is_sane(l);
}

bool python_layout_released(struct python_layout *l, uint64_t version)
{
	l->minor = 0;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (version >> 24 == 3 && layouts[i].minor == (version >> 16 & 0xff))
			*l = layouts[i];
	return l->minor;
}

bool python_layout(struct python_layout *l, uint64_t version, uint64_t runtime,
		   const struct frame_door *door)
{
	uint64_t table[DEBUG_BYTES / 8];
	const struct frame_span v = { runtime, sizeof(table) };

	if (!python_layout_released(l, version) || l->minor < DEBUG_FIRST_MINOR)
		return l->minor;
	return frame_is_pointer(runtime) && door->read(door->ctx, &v, 1, table) == sizeof(table) &&
	       take_debug_offsets(l, version, table);
}

struct walk {
	const struct python_types *types;
	const struct python_layout *layout;
	const struct frame_door *door;
	struct python_scratch *s;
	struct frame_out out;
	size_t entries;
	size_t pending;			/* number of entries in s->batch */
	uint8_t code_from, code_bytes;	/* the part of a code for the witness */
	struct python_objects objects;	/* what is read of them is recalled */
	struct frame_door recalling;
	bool torn;			/* one of several states' frames are */
	uint64_t loop;			/* innermost frame that runs asyncio's loop */
	uint64_t thread;		/* the state whose frames are walked */
	uint64_t loop_thread;		/* … when `loop` was found */
	uint64_t bootstrap;		/* last frame, if it runs a thread's Thread, or 0 */
};

static uint8_t byte(const void *p, size_t at)
{
	return ((const uint8_t *)p)[at];
}

/* Sets the part of a code object that the witness is made of. */
static void set_code_part(struct walk *w)
{
	const struct python_layout *l = w->layout;
	const uint8_t at[] = { l->code_file, l->code_name, l->code_table,
			       l->code_version ? l->code_version : l->code_line };
	uint8_t from = l->code_line, last = l->code_line;

	for (size_t i = 0; i < sizeof(at); i++) {
		from = at[i] < from ? at[i] : from;
		last = at[i] > last ? at[i] : last;
	}
	w->code_from = from & (uint8_t)~7;
	w->code_bytes = (uint8_t)((last & ~7) + 8 - w->code_from);
}

static bool get(struct walk *w, uint64_t at, size_t n, void *to)
{
	return frame_read(w->door, at, n, to);
}

/* Returns n bytes at an address. */
static const void *look(struct walk *w, uint64_t at, size_t n)
{
	return frame_window_at(&w->s->window, w->door, at, n);
}

/* Returns the witness of a code object; `from`: the offset in it of what was read. */
static uint32_t witness_of(const struct python_layout *l, const void *code, size_t from)
{
	uint64_t h = frame_mix(1, u64_at(code, l->code_file - from));

	h = frame_mix(h, u64_at(code, l->code_name - from));
	h = frame_mix(h, u64_at(code, l->code_table - from));
	h = frame_mix(h, u32_at(code, l->code_line - from));
	if (l->code_version)
		h = frame_mix(h, u32_at(code, l->code_version - from));
	return (uint32_t)(h >> 32);
}

static bool bytes_find(struct walk *w, uint64_t at, struct frame_piece *p)
{
	uint64_t head[4];

	if (!get(w, at, sizeof(head), head) ||
	    u64_at(head, OBJECT_TYPE) != w->types->bytes ||
	    u64_at(head, VAR_SIZE) > 1u << 30)
		return false;
	p->literal = NULL;
	p->at = at + BYTES_DATA;
	p->n = (size_t)u64_at(head, VAR_SIZE);
	return true;
}

static bool is_bootstrap(const struct python_found *found, uint64_t code)
{
	return code == __atomic_load_n(&found->bootstrap[0], __ATOMIC_RELAXED) ||
	       code == __atomic_load_n(&found->bootstrap[1], __ATOMIC_RELAXED);
}

/* Notes the codes whose frames supply names. */
static void recognize(const struct walk *w, uint64_t at, const struct frame_piece *piece,
		      const struct frame_code *c)
{
	struct python_found *found = w->types->found;

	if (python_task_is_loop(&w->objects, &piece[0], c->name_kind, &piece[1],
				c->file_kind))
		__atomic_store_n(&found->code, at, __ATOMIC_RELAXED);
	if (!python_thread_is_bootstrap(&w->objects, &piece[0], c->name_kind, &piece[1],
					c->file_kind) ||
	    is_bootstrap(found, at))
		return;
	__atomic_store_n(&found->bootstrap[1],
			 __atomic_load_n(&found->bootstrap[0], __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&found->bootstrap[0], at, __ATOMIC_RELAXED);
}

/* Writes a code object.  Returns false if it is not one. */
static bool put_code(struct walk *w, uint64_t at, uint32_t witness,
		     const void *code)
{
	const struct python_layout *l = w->layout;
	struct frame_piece piece[3];
	struct frame_code c;

	if (!python_text_find(w->types, w->door, u64_at(code, l->code_name), &piece[0],
			      &c.name_kind) ||
	    !python_text_find(w->types, w->door, u64_at(code, l->code_file), &piece[1],
			      &c.file_kind) ||
	    !bytes_find(w, u64_at(code, l->code_table), &piece[2]))
		return false;
	if (piece[2].n > FRAME_TABLE_MAX)
		piece[2].n = 0;
	c.first_line = u32_at(code, l->code_line);
	c.name_bytes = (uint16_t)piece[0].n;
	c.file_bytes = (uint16_t)piece[1].n;
	c.table_bytes = (uint32_t)piece[2].n;
	c.minor = l->minor;
	c.language = FRAME_PYTHON;
	w->s->window.n = 0;
	if (w->types->found)
		recognize(w, at, piece, &c);
	return frame_put_code(&w->out, at, witness, &c, piece, 3);
}

/* Notes the frames that supply names. */
static void note_frame(struct walk *w, uint64_t code, uint64_t frame)
{
	const struct python_found *found = w->types->found;

	if (!found)
		return;
	if (!w->loop && code == __atomic_load_n(&found->code, __ATOMIC_RELAXED)) {
		w->loop = frame;
		w->loop_thread = w->thread;
	}
	w->bootstrap = is_bootstrap(found, code) ? frame : 0;
}

/* Completes pending entry i, whose code object was read.  *done: number of pending
 * entries that were written; those before a code that is new are. */
static bool complete(struct walk *w, size_t i, const void *code, size_t *done)
{
	struct frame_entry *e = &w->s->batch[i];

	e->more = witness_of(w->layout, code, 0);
	if (u64_at(code, OBJECT_TYPE) != w->types->code)
		return false;
	if (frame_is_written(&w->out, e->at, e->more))
		return true;
	frame_put_entries(&w->out, w->s->batch + *done, i - *done);
	*done = i;
	return put_code(w, e->at, e->more, code);
}

/* Writes the pending entries.  Reads the code objects of all new ones at once. */
static bool flush(struct walk *w)
{
	struct python_scratch *s = w->s;
	size_t n = 0, frames = 0, want, done = 0;

	for (size_t i = 0; i < w->pending; i++) {
		if (s->complete[i])
			continue;
		s->spans[frames].at = s->batch[i].at;
		s->spans[frames++].n = PYTHON_CODE_BYTES;
	}
	want = frames * PYTHON_CODE_BYTES;
	if (frames &&
	    w->door->read(w->door->ctx, s->spans, frames, s->codes) != want)
		return false;
	for (size_t i = 0; i < w->pending; i++) {
		if (!s->complete[i] && !complete(w, i, s->codes[n++], &done))
			return false;
		if (s->batch[i].what != FRAME_RUN)
			note_frame(w, s->batch[i].at, s->frames[i]);
	}
	frame_put_entries(&w->out, s->batch + done, w->pending - done);
	w->pending = 0;
	return true;
}

/* Returns n bytes of a frame or a record, until the next call.  near: what is read next
 * may lie below it. */
static const void *visit(struct walk *w, uint64_t at, size_t n, bool near)
{
	struct python_scratch *s = w->s;
	const void *p = python_recall_find(&s->recalled, at, n);

	if (!p)
		p = near ? look(w, at, n) : get(w, at, n, s->visited) ? s->visited : NULL;
	if (p)
		python_recall_note(&s->recalled, at, n, 0);
	return p;
}

static bool room(struct walk *w)
{
	return w->pending < PYTHON_BATCH || flush(w);
}

/* Appends an entry to those that are pending; there is room. */
static void append(struct walk *w, uint64_t at, uint32_t what, uint32_t more, bool complete)
{
	w->s->batch[w->pending] = (struct frame_entry){ at, what, more };
	w->s->complete[w->pending++] = complete;
	w->entries++;
}

static bool add_run(struct walk *w, uint64_t record)
{
	if (!room(w))
		return false;
	append(w, record, FRAME_RUN, 0, true);
	return true;
}

/* Adds the frame that was visited last. */
static bool add_frame(struct walk *w, uint64_t frame, uint64_t code, uint32_t instr)
{
	struct python_scratch *s = w->s;
	const uint64_t from = code + w->code_from;
	uint32_t written = 0, witness;
	const void *part;
	bool complete;

	if (!room(w))
		return false;
	part = python_recall_next(&s->recalled, from, w->code_bytes, &written);
	witness = part ? witness_of(w->layout, part, w->code_from) : 0;
	complete = (written && written == witness) ||
		   (part && frame_is_written(&w->out, code, witness));
	python_recall_note(&s->recalled, from, w->code_bytes, complete ? witness : 0);
	s->frames[w->pending] = frame;
	append(w, code, instr, witness, complete);
	return true;
}

/* 3.11 and 3.12: reads the record that each run keeps on the C stack; *frame: its
 * innermost frame. */
static bool get_cframe(struct walk *w, uint64_t at, uint64_t *frame,
		       uint64_t *previous)
{
	const void *p = visit(w, at, CFRAME_BYTES, false);

	if (!p)
		return false;
	*frame = u64_at(p, w->layout->cframe_frame);
	*previous = u64_at(p, w->layout->cframe_previous);
	return true;
}

/* The frame that the walk is at, and the record of its run. */
struct position {
	uint64_t frame, record;
	uint64_t outer;		/* 3.11: the next record */
};

/* 3.11: writes the end of a run, and advances to the next one, of which p->frame is the
 * innermost frame, or 0. */
static bool end_run(struct walk *w, struct position *p)
{
	uint64_t top;

	if (!add_run(w, p->record))
		return false;
	p->record = p->outer;
	return !p->frame ||
	       (get_cframe(w, p->record, &top, &p->outer) && top == p->frame);
}

/* Adds one frame, and advances to the next outer one. */
static bool take_frame(struct walk *w, struct position *pos)
{
	const struct python_layout *l = w->layout;
	const uint64_t at = pos->frame;
	const void *p = visit(w, at, l->frame_size, true);
	uint64_t code, instr;
	bool last;

	if (!p)
		return false;
	pos->frame = u64_at(p, l->frame_previous);
	if (l->frame_owner && byte(p, l->frame_owner) >= OWNER_NONE)
		return add_run(w, at);
	code = u64_at(p, l->frame_code) & ~(uint64_t)l->tags;
	instr = u64_at(p, l->frame_instr) - code - l->code_bytecode;
	last = l->frame_entry && byte(p, l->frame_entry);
	/* Before the first instruction it may point to the one before it. */
	if (instr >= (uint64_t)-8)
		instr = 0;
	if (!frame_is_pointer(code) || instr >= FRAME_INSTR_MAX ||
	    !add_frame(w, at, code, (uint32_t)instr))
		return false;
	return !last || end_run(w, pos);
}

/* Up to 3.10: adds a frame and its own run.  The outermost run's record, which runs
 * nothing, is in the thread's state. */
static bool take_object(struct walk *w, struct position *pos, uint64_t root)
{
	const struct python_layout *l = w->layout;
	const uint64_t frame = pos->frame, record = pos->record;
	const void *p;
	uint32_t instr;

	if (l->thread_cframe && (!frame_is_pointer(record) || record == root))
		return false;
	p = visit(w, frame, l->frame_size, false);
	if (!p)
		return false;
	/* Before the first instruction it is -1. */
	instr = u32_at(p, l->frame_instr);
	instr = instr == UINT32_MAX ? 0 : instr;
	pos->frame = u64_at(p, l->frame_previous);
	if (instr >= FRAME_INSTR_MAX / l->instr_bytes ||
	    !frame_is_pointer(u64_at(p, l->frame_code)) ||
	    !add_frame(w, frame, u64_at(p, l->frame_code), l->instr_bytes * instr) ||
	    !add_run(w, record))
		return false;
	if (!l->thread_cframe)
		return true;
	p = visit(w, record + l->cframe_previous, 8, false);
	if (!p)
		return false;
	pos->record = u64_at(p, 0);
	return pos->frame || pos->record == root;
}

/* f: what the thread's state has at thread_frame; record: at thread_cframe. */
static enum frame_state walk(struct walk *w, uint64_t thread, uint64_t f, uint64_t record)
{
	const struct python_layout *l = w->layout;
	struct position pos = { f, l->thread_cframe ? record : 0, 0 };
	uint64_t seen = 0;

	w->pending = 0;
	w->bootstrap = 0;
	w->thread = thread;
	if (l->by_cframe) {
		pos.record = f;
		if (!get_cframe(w, pos.record, &pos.frame, &pos.outer))
			return FRAMES_TORN;
	}
	for (size_t n = 1; pos.frame; n++) {
		if (w->entries + 2 > FRAME_ENTRIES_MAX)
			return flush(w) ? FRAMES_CUT : FRAMES_TORN;
		/* detect a circular chain (Brent) */
		if (pos.frame == seen)
			return FRAMES_TORN;
		if (!(n & (n - 1)))
			seen = pos.frame;
		if (!(l->by_object ? take_object(w, &pos, thread + l->thread_root)
				   : take_frame(w, &pos)))
			return FRAMES_TORN;
	}
	return flush(w) ? FRAMES_COMPLETE : FRAMES_TORN;
}

/* Writes the name of the asyncio task below the innermost loop. */
static void put_task(struct walk *w, uint64_t thread)
{
	const struct python_task_place at = {
		w->loop ? w->loop_thread : thread, w->loop
	};
	struct frame_piece name;
	uint8_t kind;

	w->s->window.n = 0;
	if (!w->types->found || !python_task_name(&w->objects, &at, &name, &kind))
		return;
	w->out.door = &w->recalling;
	frame_put_text(&w->out, FRAME_TASK, kind, &name);
	w->out.door = w->door;
}

/* Walks the first state, and then the others.  *bootstrap: the frame that has the
 * thread's name, or 0. */
static enum frame_state walk_states(struct walk *w, const struct python_thread *t,
				    uint64_t *bootstrap)
{
	const struct python_layout *l = w->layout;
	const bool recorded = !l->by_object || l->thread_cframe;
	const uint64_t v[PYTHON_RECALL_FIRST] = {
		t->state + l->thread_frame,
		t->state + (l->thread_cframe ? l->thread_cframe : l->thread_frame),
		w->types->runtime + l->runtime_head,
	};
	struct python_states *more = &w->s->states;
	const uint64_t *words = w->s->recalled.words;
	uint64_t record;
	enum frame_state first, state;

	*bootstrap = 0;
	if (!frame_is_pointer(v[0]) || !frame_is_pointer(v[1]) || !frame_is_pointer(v[2]) ||
	    !python_recall_begin(&w->s->recalled, t->recall, v, w->door))
		return FRAMES_TORN;
	first = walk(w, t->state, words[0], words[1]);
	if (first == FRAMES_COMPLETE)
		*bootstrap = w->bootstrap;
	if (!recorded || first == FRAMES_TORN)
		return first;
	python_other_states(w->types, t, words[2], w->door, more);
	if (more->n)
		frame_put_entry(&w->out, 0, FRAME_STATE, first);
	for (size_t i = 0; i < more->n; i++) {
		w->s->window.n = 0;
		record = 0;
		state = l->thread_cframe && !get(w, more->at[i] + l->thread_cframe, 8, &record)
			? FRAMES_TORN : walk(w, more->at[i], more->frame[i], record);
		if (state == FRAMES_COMPLETE && w->bootstrap)
			*bootstrap = w->bootstrap;
		w->torn |= state == FRAMES_TORN;
		frame_put_entry(&w->out, 0, FRAME_STATE, state);
	}
	return first;
}

static size_t read_recalled(void *ctx, const struct frame_span *v, size_t n, void *to)
{
	const struct walk *w = ctx;

	return python_recall_read(&w->s->recalled, w->door, v, n, to);
}

static void put_through(void *ctx, const void *p, size_t n)
{
	const struct walk *w = ctx;

	w->door->put(w->door->ctx, p, n);
}

size_t python_walk(const struct python_types *types, const struct python_thread *t,
		   const struct frame_door *door, struct python_scratch *s)
{
	enum frame_state state;
	uint64_t bootstrap;
	struct walk w;

	w.types = types;
	w.layout = &types->layout;
	w.door = door;
	w.s = s;
	w.out.door = door;
	w.out.room = s->window.bytes;
	w.out.codes = w.out.all = 0;
	w.entries = w.pending = 0;
	w.loop = w.bootstrap = 0;
	w.recalling = (struct frame_door){ read_recalled, put_through, &w, door->seen };
	w.objects = (struct python_objects){ types, &w.recalling, s->window.bytes };
	w.torn = false;
	s->window.n = s->window.at = 0;
	set_code_part(&w);
	if (w.layout->by_object && !w.layout->thread_cframe)
		frame_put_entry(&w.out, types->loop, FRAME_LOOP,
				(uint32_t)types->loop_bytes);
	state = walk_states(&w, t, &bootstrap);
	if (state != FRAMES_TORN)
		put_task(&w, t->state);
	if (bootstrap)
		python_thread_name_put(&w.objects, bootstrap, t->name, &w.out);
	if (state != FRAMES_TORN && !w.torn)
		python_recall_end(&s->recalled);
	frame_put_entry(&w.out, 0, FRAME_END, state);
	return w.out.all;
}
