// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks PHP's frames.
 *
 * Offsets are those of PHP 8.2 and 8.4 for x86-64 without threads, from their headers
 * (Zend/zend_globals.h, zend_compile.h).  The number of the module API changes when a
 * field moves.  Releases may append fields to executor_globals without changing it:
 * 8.2 has 1,776 or 1,800 bytes.  A field near the end, with known content, is
 * therefore checked instead of the size.
 */
#include "runtime/php_frames.h"

enum {
	/* zend_execute_data */
	FRAME_OP = 0, FRAME_FUNCTION = 24, FRAME_THIS = 32, FRAME_INFO = 40, FRAME_PREVIOUS = 48,
	FRAME_BYTES = 56,
	CALLED_FROM_C = 1 << 17,	/* ZEND_CALL_TOP */
	/* zend_function */
	FUNCTION_TYPE = 0, FUNCTION_NAME = 8, FUNCTION_SCOPE = 16,
	TYPE_INTERNAL = 1, TYPE_USER = 2, TYPE_EVAL = 4,
	/* zend_op */
	OP_LINE = 24, OP_CODE = 28, OP_BYTES = 32, OPS_MAX = 1 << 24,
	EXCEPTION_OPS = 3, HANDLE_EXCEPTION = 149,
	/* zend_string */
	STRING_INFO = 4, STRING_LENGTH = 16, STRING_TEXT = 24, IS_STRING = 6,
	CLASS_NAME = 8,		/* zend_class_entry */
	IS_OBJECT = 8, OBJECT_CLASS = 16,	/* zend_object */
	/* zend_generator */
	GENERATOR_FRAME = 56, GENERATOR_PARENT = 152, GENERATOR_BYTES = 160,
	/* HashTable and zend_module_entry */
	TABLE_DATA = 16, TABLE_BYTES = 24, MODULE_SIZE = 168, MODULE_API = 4,
	MODULE_DEBUG = 8, MODULE_THREADS = 9, MODULE_BYTES = 16,
};

#define GENERATOR_TEXT 0x6f746172656e6547ull	/* "Generato" */

static const struct php_layout layouts[] = {
	{ .api = 20220829, .current = 488,
	  .before_exception = 880, .exception_op = 888, .body = 80, .last = 0,
	  .opcodes = 8, .filename = 72, .line_start = 80 },
	{ .api = 20240924, .current = 488,
	  .before_exception = 952, .exception_op = 960, .body = 96, .last = 0,
	  .opcodes = 8, .filename = 72, .line_start = 80 },
};

static uint8_t byte(const void *p, size_t at)
{
	return ((const uint8_t *)p)[at];
}

/* Returns whether executor_globals has the instructions for exceptions where this
 * layout has them. */
static bool has_exception_ops(const struct php_types *t, const struct php_layout *l,
			      const struct frame_door *door)
{
	uint64_t ops[EXCEPTION_OPS * OP_BYTES / 8];

	if (t->globals_bytes < l->exception_op + sizeof(ops) ||
	    !frame_read(door, t->globals + l->exception_op, sizeof(ops), ops))
		return false;
	for (size_t i = 0; i < EXCEPTION_OPS; i++)
		if (byte(ops, i * OP_BYTES + OP_CODE) != HANDLE_EXCEPTION)
			return false;
	return true;
}

bool php_layout(struct php_types *t, const struct frame_door *door)
{
	uint64_t table[TABLE_BYTES / 8], bucket, module[MODULE_BYTES / 8];

	/* The first module is the core. */
	if (!frame_read(door, t->modules, sizeof(table), table) ||
	    !frame_read(door, u64_at(table, TABLE_DATA), sizeof(bucket), &bucket) ||
	    !frame_read(door, bucket, sizeof(module), module) ||
	    (u32_at(module, 0) & 0xffff) != MODULE_SIZE || byte(module, MODULE_DEBUG) ||
	    byte(module, MODULE_THREADS))
		return false;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].api == u32_at(module, MODULE_API) &&
		    has_exception_ops(t, &layouts[i], door)) {
			t->layout = layouts[i];
			return true;
		}
	return false;
}

struct walk {
	const struct php_types *types;
	const struct php_registers *regs;
	const struct frame_door *door;
	struct php_scratch *s;
	struct frame_out out;
	size_t entries;
	size_t pending;		/* number of frames in s->batch */
	size_t held;
};

/* Returns the frame at an address. */
static const void *look(struct walk *w, uint64_t at)
{
	return frame_window_at(&w->s->window, w->door, at, FRAME_BYTES);
}

static bool string_find(struct walk *w, uint64_t at, struct frame_piece *p)
{
	uint64_t head[STRING_TEXT / 8];
	uint64_t n;

	if (!frame_read(w->door, at, sizeof(head), head) ||
	    (u32_at(head, STRING_INFO) & 15) != IS_STRING)
		return false;
	n = u64_at(head, STRING_LENGTH);
	if (n > 1u << 30)
		return false;
	p->at = at + STRING_TEXT;
	p->n = n < FRAME_TEXT_MAX / 2 ? (size_t)n : FRAME_TEXT_MAX / 2;
	p->literal = NULL;
	return true;
}

static void literal(struct frame_piece *p, const char *text, size_t n)
{
	p->at = 0;
	p->n = n;
	p->literal = text;
}

/* Writes the pieces of "CLASS::FUNCTION".  Returns their number; 0: the data is
 * inconsistent. */
static size_t name_find(struct walk *w, const void *function, struct frame_piece *p)
{
	uint64_t name = u64_at(function, FUNCTION_NAME);
	uint64_t scope = u64_at(function, FUNCTION_SCOPE), class;

	if (!name) {
		literal(&p[0], "{main}", 6);
		return 1;
	}
	if (!scope)
		return string_find(w, name, &p[0]);
	if (!frame_read(w->door, scope + CLASS_NAME, sizeof(class), &class) ||
	    !string_find(w, class, &p[0]) || !string_find(w, name, &p[2]))
		return 0;
	literal(&p[1], "::", 2);
	return 3;
}

/* body: NULL for an internal function */
static bool put_code_once(struct walk *w, uint64_t at, uint32_t witness,
			  const void *function, const void *body)
{
	const struct php_layout *l = &w->types->layout;
	struct frame_piece piece[FRAME_PIECES];
	struct frame_code c;
	size_t n;

	if (frame_is_written(&w->out, at, witness))
		return true;
	n = name_find(w, function, piece);
	if (!n)
		return false;
	c.first_line = body ? u32_at(body, l->line_start) : 0;
	c.table_bytes = 0;
	c.name_bytes = c.file_bytes = 0;
	for (size_t i = 0; i < n; i++)
		c.name_bytes = (uint16_t)(c.name_bytes + piece[i].n);
	c.name_kind = c.file_kind = FRAME_UTF8;
	c.minor = 0;
	c.language = FRAME_PHP;
	if (body) {
		if (!string_find(w, u64_at(body, l->filename), &piece[n]))
			return false;
		c.file_bytes = (uint16_t)piece[n++].n;
	}
	w->s->window.n = 0;
	return frame_put_code(&w->out, at, witness, &c, piece, n);
}

static uint32_t hash_of(const void *function, const void *body, size_t body_bytes)
{
	uint64_t h = frame_mix(1, u64_at(function, FUNCTION_NAME));

	h = frame_mix(h, u64_at(function, FUNCTION_SCOPE));
	for (size_t i = 0; body && i + 8 <= body_bytes; i += 8)
		h = frame_mix(h, u64_at(body, i));
	return (uint32_t)(h >> 32);
}

/* Hashes opcodes, their number, file and first line. */
static uint32_t witness_of(const struct php_layout *l, const void *function,
			   const void *body)
{
	uint64_t own[4];

	own[0] = u64_at(body, l->opcodes);
	own[1] = u32_at(body, l->last);
	own[2] = u64_at(body, l->filename);
	own[3] = u32_at(body, l->line_start);
	return hash_of(function, own, sizeof(own));
}

/* Holds an internal function until its run is known. */
static bool hold(struct walk *w, const void *function)
{
	uint64_t name = u64_at(function, FUNCTION_NAME);
	struct frame_entry *e;

	/* A fiber's outermost frame is a function without a name. */
	if (!name || w->held == PHP_HELD)
		return true;
	e = &w->s->held[w->held];
	e->at = name;
	e->what = 0;
	e->more = hash_of(function, NULL, 0);
	if (!put_code_once(w, e->at, e->more, function, NULL))
		return false;
	w->held++;
	return true;
}

static void put_user(struct walk *w, const struct php_batch *b, uint64_t at,
		     uint32_t line, uint32_t witness)
{
	for (size_t i = 0; i < w->held; i++)
		frame_put_entry(&w->out, w->s->held[i].at, 0, w->s->held[i].more);
	w->held = 0;
	frame_put_entry(&w->out, at, line, witness);
	if (b->top)
		frame_put_entry(&w->out, 0, FRAME_RUN, 0);
}

/* Returns whether an instruction belongs to that function. */
static bool is_op(const struct walk *w, const void *body, uint64_t op)
{
	const struct php_layout *l = &w->types->layout;
	uint64_t ops = u64_at(body, l->opcodes), n = u32_at(body, l->last);

	return frame_is_pointer(ops) && n < OPS_MAX && op >= ops &&
	       op - ops < n * OP_BYTES && (op - ops) % OP_BYTES == 0;
}

/* Replaces one of the engine's own instructions by the instruction that threw, or by
 * none. */
static bool op_of(struct walk *w, const void *body, uint64_t *op)
{
	const struct php_layout *l = &w->types->layout;
	uint64_t ops = u64_at(body, l->opcodes), n = u32_at(body, l->last);
	uint64_t globals = w->types->globals, thrown;

	if (!*op)
		return true;
	if (*op - globals < w->types->globals_bytes) {
		uint64_t at = *op - globals - l->exception_op;

		*op = 0;
		if (at >= EXCEPTION_OPS * OP_BYTES)
			return true;
		if (!frame_read(w->door, globals + l->before_exception, 8, &thrown))
			return false;
		if (thrown >= ops && thrown - ops < n * OP_BYTES)
			*op = thrown;
		return true;
	}
	return is_op(w, body, *op);
}

static bool read_functions(struct walk *w)
{
	struct php_scratch *s = w->s;

	for (size_t i = 0; i < w->pending; i++) {
		s->spans[i].at = s->batch[i].function;
		s->spans[i].n = PHP_FUNCTION_BYTES;
	}
	return !w->pending ||
	       w->door->read(w->door->ctx, s->spans, w->pending, s->functions) ==
		       w->pending * PHP_FUNCTION_BYTES;
}

/* Reads the bodies of functions written in PHP: the n-th of them is s->bodies[n]. */
static bool read_bodies(struct walk *w)
{
	struct php_scratch *s = w->s;
	size_t n = 0;

	for (size_t i = 0; i < w->pending; i++) {
		uint8_t type = byte(s->functions[i], FUNCTION_TYPE);

		s->batch[i].user = type == TYPE_USER || type == TYPE_EVAL;
		if (!s->batch[i].user && type != TYPE_INTERNAL)
			return false;
		if (!s->batch[i].user)
			continue;
		s->spans[n].at = s->batch[i].function + w->types->layout.body;
		s->spans[n++].n = PHP_BODY_BYTES;
	}
	return !n || w->door->read(w->door->ctx, s->spans, n, s->bodies) ==
			     n * PHP_BODY_BYTES;
}

static bool read_lines(struct walk *w)
{
	struct php_scratch *s = w->s;
	size_t n = 0, lines = 0;

	for (size_t i = 0; i < w->pending; i++) {
		if (!s->batch[i].user)
			continue;
		if (is_op(w, s->bodies[n], s->batch[i].running))
			s->batch[i].op = s->batch[i].running;
		if (!op_of(w, s->bodies[n++], &s->batch[i].op))
			return false;
		if (!s->batch[i].op)
			continue;
		s->spans[lines].at = s->batch[i].op + OP_LINE;
		s->spans[lines++].n = sizeof(*s->lines);
	}
	return !lines || w->door->read(w->door->ctx, s->spans, lines, s->lines) ==
				 lines * sizeof(*s->lines);
}

/* Writes the pending frames.  Reads the data of all of them at once. */
static bool flush(struct walk *w)
{
	const struct php_layout *l = &w->types->layout;
	struct php_scratch *s = w->s;
	size_t n = 0, lines = 0;

	if (!read_functions(w) || !read_bodies(w) || !read_lines(w))
		return false;
	for (size_t i = 0; i < w->pending; i++) {
		const struct php_batch *b = &s->batch[i];
		const void *function = s->functions[i], *body;
		uint32_t witness, line;

		if (!b->user) {
			if (!hold(w, function))
				return false;
			continue;
		}
		body = s->bodies[n++];
		witness = witness_of(l, function, body);
		line = b->op ? s->lines[lines++] : u32_at(body, l->line_start);
		if (line >= FRAME_INSTR_MAX ||
		    !put_code_once(w, u64_at(body, l->opcodes), witness, function, body))
			return false;
		put_user(w, b, u64_at(body, l->opcodes), line, witness);
	}
	w->pending = 0;
	return true;
}

static bool add_frame(struct walk *w, const void *p, uint64_t running, bool top)
{
	struct php_batch *b = &w->s->batch[w->pending];

	if (!frame_is_pointer(u64_at(p, FRAME_FUNCTION)))
		return false;
	b->function = u64_at(p, FRAME_FUNCTION);
	b->op = u64_at(p, FRAME_OP);
	b->top = top;
	b->running = running;
	w->pending++;
	w->entries += 2;
	return w->pending < PHP_BATCH || flush(w);
}

/* Returns whether it is an object of PHP's class Generator. */
static bool is_generator(struct walk *w, const void *frame)
{
	uint64_t class, name, text[2], object = u64_at(frame, FRAME_THIS);
	struct frame_piece p;

	return (u32_at(frame, FRAME_INFO) & 0xff) == IS_OBJECT &&
	       frame_read(w->door, object + OBJECT_CLASS, sizeof(class), &class) &&
	       frame_read(w->door, class + CLASS_NAME, sizeof(name), &name) &&
	       string_find(w, name, &p) && p.n == sizeof("Generator") - 1 &&
	       frame_read(w->door, p.at, sizeof(text), text) &&
	       text[0] == GENERATOR_TEXT && (uint8_t)text[1] == 'r';
}

/* Adds the generators that wait for one to which they delegate ("yield from").  The
 * object is that of the outermost one; its parents lie further in.  The innermost
 * parent is the running one, which was already added. */
static bool take_generators(struct walk *w, uint64_t object)
{
	uint64_t *frames = w->s->generators, own[GENERATOR_BYTES / 8];
	size_t n = 0;

	for (;; n++) {
		if (n == PHP_GENERATORS || !frame_read(w->door, object, sizeof(own), own))
			return false;
		if (!u64_at(own, GENERATOR_PARENT))
			break;
		frames[n] = u64_at(own, GENERATOR_FRAME);
		object = u64_at(own, GENERATOR_PARENT);
	}
	while (n--) {
		const void *p = look(w, frames[n]);

		if (!p || !add_frame(w, p, 0, false))
			return false;
	}
	return true;
}

/* Adds one frame; sets *f to the next outer one. */
static bool take_frame(struct walk *w, uint64_t *f, bool innermost)
{
	const struct php_registers *r = w->regs;
	const void *p = look(w, *f);
	uint64_t at = *f;

	if (!p)
		return false;
	*f = u64_at(p, FRAME_PREVIOUS);
	/* It represents generators or the engine itself, and leads to their caller. */
	if (!u64_at(p, FRAME_FUNCTION))
		return !is_generator(w, p) || take_generators(w, u64_at(p, FRAME_THIS));
	return add_frame(w, p, innermost && r->frame == at ? r->op : 0,
			 u32_at(p, FRAME_INFO) & CALLED_FROM_C);
}

static enum frame_state walk(struct walk *w, uint64_t f)
{
	uint64_t seen = 0;

	for (size_t n = 1; f; n++) {
		if (w->entries + 2 + PHP_HELD > FRAME_ENTRIES_MAX)
			return flush(w) ? FRAMES_CUT : FRAMES_TORN;
		/* detect a circular chain (Brent) */
		if (f == seen)
			return FRAMES_TORN;
		if (!(n & (n - 1)))
			seen = f;
		if (n > FRAME_ENTRIES_MAX || !take_frame(w, &f, n == 1))
			return FRAMES_TORN;
	}
	return flush(w) ? FRAMES_COMPLETE : FRAMES_TORN;
}

size_t php_walk(const struct php_types *types, const struct php_registers *regs,
		const struct frame_door *door, struct php_scratch *s)
{
	struct walk w;
	uint64_t f;

	if (!frame_read(door, types->globals + types->layout.current, sizeof(f), &f) ||
	    !f)
		return 0;
	w.types = types;
	w.regs = regs;
	w.door = door;
	w.s = s;
	w.out.door = door;
	w.out.room = s->window.bytes;
	w.out.codes = w.out.all = 0;
	w.entries = w.pending = w.held = 0;
	s->window.n = s->window.at = 0;
	frame_put_entry(&w.out, types->loop, FRAME_LOOP, (uint32_t)types->loop_bytes);
	frame_put_entry(&w.out, 0, FRAME_END, walk(&w, f));
	return w.out.all;
}
