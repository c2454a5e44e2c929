// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges an interpreter's frames of a sample with the native frames. */
#include "record/collect/python.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"
#include "runtime/python_frames.h"

enum { FUNCS_MAX = 1 << 20, STATES_MAX = 16 };
#define TABLES_MAX (256ull << 20)

struct python_func {
	uint32_t identity;	/* string in `text`: "FIRST FILE\1NAME" */
	uint32_t first_line;
	uint32_t table_bytes;	/* 0: its lines are unknown */
	uint8_t minor;		/* minor version of Python, which determines the
				 * table's format */
	uint8_t language;	/* enum frame_language */
	bool hidden;		/* made by the interpreter for its own use */
	size_t table;
};

struct python_run {
	uint64_t record;	/* address on the C stack */
	uint32_t state;		/* number of its interpreter in the sample */
	size_t first, n;	/* range in `frames` */
};

int python_init(struct python *py, struct images *im)
{
	memset(py, 0, sizeof(*py));
	frame_names_init(&py->names[FRAME_PYTHON], im, PROF_IMAGE_PYTHON, 0);
	frame_names_init(&py->names[FRAME_PHP], im, PROF_IMAGE_PHP, 0);
	frame_names_init(&py->names[FRAME_RUBY], im, PROF_IMAGE_RUBY, 0);
	return strtab_init(&py->text);
}

void python_fini(struct python *py)
{
	strtab_fini(&py->text);
	vec_fini(&py->funcs);
	buf_fini(&py->tables);
	buf_fini(&py->task);
	buf_fini(&py->thread);
	u64map_fini(&py->by_key);
	u64map_fini(&py->by_code);
	u64map_fini(&py->numbers);
	u64map_fini(&py->lines);
	vec_fini(&py->runs);
	vec_fini(&py->frames);
	vec_fini(&py->merged);
}

static void put_char(struct buf *b, uint32_t c)
{
	if (c < 0x20 || c == 0x7f)
		c = '?';
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	text_utf8(b, c);
}

/* Returns the next character of UTF-8; U+FFFD if invalid. */
static uint32_t utf8_next(const uint8_t **p, const uint8_t *end)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint32_t c = *(*p)++, more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2
				     : c >> 3 == 30 ? 3 : 4;

	if (!more)
		return c;
	if (more > 3)
		return 0xfffd;
	c &= 0x3fu >> more;
	for (uint32_t i = 0; i < more; i++) {
		if (*p == end || **p >> 6 != 2)
			return 0xfffd;
		c = c << 6 | (*(*p)++ & 0x3f);
	}
	return c < least[more] ? 0xfffd : c;
}

static void put_utf8(struct buf *b, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	while (p < end)
		put_char(b, utf8_next(&p, end));
}

/* Writes text in Python's form, with characters of 1, 2 or 4 bytes, or in UTF-8. */
static void put_text(struct buf *b, const uint8_t *p, size_t n, uint8_t kind)
{
	if (kind == FRAME_UTF8) {
		put_utf8(b, p, n);
		return;
	}
	for (size_t i = 0; kind && i + kind <= n; i += kind) {
		uint32_t c = p[i];
		uint16_t two;

		if (kind == 2) {
			memcpy(&two, p + i, sizeof(two));
			c = two;
		} else if (kind == 4) {
			memcpy(&c, p + i, sizeof(c));
		}
		put_char(b, c);
	}
}

static uint64_t key_of(uint32_t pid, const struct frame_entry *e)
{
	return hash_mix(hash_mix(pid, e->at), e->more);
}

/* Returns the function with this identity and table; UINT32_MAX: out of memory. */
static uint32_t func_of(struct python *py, const struct python_func *new,
			const uint8_t *table)
{
	uint64_t hash = hash_mix(hash_bytes(table, new->table_bytes),
				 (uint64_t)new->identity << 16 |
					 (uint64_t)new->language << 8 | new->minor);
	uint32_t *slot = u64map_slot(&py->by_code, hash);
	struct python_func f = *new;

	if (!slot)
		return UINT32_MAX;
	if (*slot != U64MAP_NONE)
		return *slot;
	f.table = py->tables.n;
	if (py->funcs.n >= FUNCS_MAX)
		return UINT32_MAX;
	if (f.table + f.table_bytes > TABLES_MAX)
		f.table_bytes = 0;
	buf_bytes(&py->tables, table, f.table_bytes);
	if (py->tables.failed || vec_push(&py->funcs, f) < 0)
		return UINT32_MAX;
	return *slot = (uint32_t)py->funcs.n - 1;
}

/* Reads a code entry.  Returns its size in bytes; 0: it is inconsistent. */
static size_t learn(struct python *py, uint32_t pid,
		    const struct frame_entry *e, const uint8_t *p, size_t n)
{
	struct python_func f = { 0 };
	struct frame_code c;
	struct buf b = { 0 };
	const uint8_t *name, *file;
	size_t all, from;
	uint32_t *slot;

	if (n < sizeof(c))
		return 0;
	memcpy(&c, p, sizeof(c));
	all = sizeof(c) + c.name_bytes + c.file_bytes + (size_t)c.table_bytes;
	all = (all + 7) & ~(size_t)7;
	if (c.table_bytes > FRAME_TABLE_MAX || all > n ||
	    c.first_line > INT32_MAX || c.language >= FRAME_LANGUAGES)
		return 0;
	name = p + sizeof(c);
	file = name + c.name_bytes;
	buf_printf(&b, "%u ", c.first_line);
	from = b.n;
	put_text(&b, file, c.file_bytes, c.file_kind);
	/* The shim below a specialised __init__(). */
	f.hidden = c.language == FRAME_PYTHON && !c.first_line && b.n - from == 8 &&
		   !memcmp(b.p + from, "__init__", 8);
	buf_bytes(&b, "\1", 1);
	put_text(&b, name, c.name_bytes, c.name_kind);
	f.identity = b.failed ? UINT32_MAX
			      : strtab_add(&py->text, buf_cstr(&b));
	buf_fini(&b);
	f.first_line = c.first_line;
	f.table_bytes = c.table_bytes;
	f.minor = c.minor;
	f.language = c.language;
	slot = f.identity == UINT32_MAX
	       ? NULL : u64map_slot(&py->by_key, key_of(pid, e));
	if (slot)
		*slot = func_of(py, &f, file + c.file_bytes);
	return all;
}

struct table {
	const uint8_t *p;
	size_t n, at;
};

static uint32_t next_byte(struct table *t)
{
	return t->at < t->n ? t->p[t->at++] : 0;
}

static uint32_t next_number(struct table *t)
{
	uint32_t v = 0, b, shift = 0;

	do {
		b = next_byte(t);
		v |= shift < 32 ? (b & 0x3f) << shift : 0;
		shift += 6;
	} while (b & 0x40);
	return v;
}

static int64_t next_signed(struct table *t)
{
	uint32_t v = next_number(t);

	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/* 3.8 and 3.9, Objects/lnotab_notes.txt: pairs of (bytes up to the change of line,
 * change). */
static uint32_t line_of_steps(const struct python *py, const struct python_func *f,
			      uint32_t instr)
{
	struct table t = { py->tables.p + f->table, f->table_bytes, 0 };
	int64_t line = f->first_line;
	uint64_t at = 0;

	while (t.at < t.n) {
		at += next_byte(&t);
		if (instr < at)
			break;
		line += (int8_t)next_byte(&t);
	}
	return line <= 0 || line > INT32_MAX ? 0 : (uint32_t)line;
}

/* 3.10, Objects/lnotab_notes.txt: pairs of (bytes, change of line) for each part of
 * the code. */
static uint32_t line_of_pairs(const struct python *py, const struct python_func *f,
			      uint32_t instr)
{
	enum { NO_LINE = -128 };
	struct table t = { py->tables.p + f->table, f->table_bytes, 0 };
	int64_t line = f->first_line;
	uint64_t at = 0;

	while (t.at < t.n) {
		uint32_t bytes = next_byte(&t);
		int8_t change = (int8_t)next_byte(&t);

		at += bytes;
		line += change == NO_LINE ? 0 : change;
		if (instr < at)
			return change == NO_LINE || line <= 0 || line > INT32_MAX
			       ? 0 : (uint32_t)line;
	}
	return 0;
}

/* 3.11 and later, Objects/locations.md.  Returns 0 if the instruction has no line. */
static uint32_t line_of(const struct python *py, const struct python_func *f,
			uint32_t instr)
{
	struct table t = { py->tables.p + f->table, f->table_bytes, 0 };
	int64_t line = f->first_line;
	uint64_t at = 0;

	while (t.at < t.n) {
		uint32_t b = next_byte(&t), code = b >> 3 & 15;

		if (!(b & 0x80))
			return 0;
		if (code == 14 || code == 13)
			line += next_signed(&t);
		if (code >= 10 && code <= 12)
			line += code - 10;
		if (code == 14) {
			next_number(&t);
			next_number(&t);
			next_number(&t);
		} else if (code < 13) {
			t.at += code >= 10 ? 2 : 1;
		}
		at += 2 * ((b & 7) + 1);
		if (instr < at)
			return code == 15 || line <= 0 || line > INT32_MAX
			       ? 0 : (uint32_t)line;
	}
	return 0;
}

/* Returns the name number of a function at a line; 0: none. */
static uint32_t number_at(struct python *py, enum frame_language language,
			  uint32_t identity, uint32_t line)
{
	uint32_t *slot = u64map_slot(&py->lines, hash_mix(language,
				     (uint64_t)identity << 32 | line));
	struct buf b = { 0 };

	if (!slot)
		return 0;
	if (*slot != U64MAP_NONE)
		return *slot;
	*slot = 0;
	buf_printf(&b, "%u %s", line, strtab_get(&py->text, identity));
	if (!b.failed && frame_names_add(&py->names[language], buf_cstr(&b)))
		*slot = py->names[language].written;
	buf_fini(&b);
	return *slot;
}

static uint32_t unknown_number(struct python *py)
{
	uint32_t id = strtab_add(&py->text, "0 \1[unknown function]");

	return id == UINT32_MAX ? 0 : number_at(py, py->language, id, 0);
}

static uint32_t number_of(struct python *py, uint32_t func, uint32_t instr)
{
	const struct python_func *f = &py->funcs.v[func];
	uint32_t *slot = u64map_slot(&py->numbers,
				     (uint64_t)func << 32 | instr);
	uint32_t line;

	if (!slot)
		return 0;
	if (*slot != U64MAP_NONE)
		return *slot;
	line = f->language != FRAME_PYTHON ? instr
	       : f->minor < 10 ? line_of_steps(py, f, instr)
	       : f->minor == 10 ? line_of_pairs(py, f, instr)
				: line_of(py, f, instr);
	/* instructions at the start of a function have no line */
	if (!line && f->table_bytes)
		line = f->first_line;
	return *slot = number_at(py, f->language, f->identity, line);
}

static bool take_frame(struct python *py, uint32_t pid,
		       const struct frame_entry *e)
{
	uint32_t func = u64map_get(&py->by_key, key_of(pid, e)), number;
	enum frame_language language = py->language;
	uint64_t addr;

	if (func < py->funcs.n && py->funcs.v[func].hidden)
		return true;
	if (func < py->funcs.n)
		py->language = language = py->funcs.v[func].language;
	number = func < py->funcs.n ? number_of(py, func, e->what)
				    : unknown_number(py);
	addr = frame_names_address(&py->names[language], number);
	return addr && vec_push(&py->frames, addr) == 0;
}

static bool is_generated(const char *name)
{
	const char *digits = name + strlen("Task-");

	return !strncmp(name, "Task-", strlen("Task-")) && *digits &&
	       !digits[strspn(digits, "0123456789")];
}

/* Reads a name.  Returns its size in bytes; SIZE_MAX: it is inconsistent. */
static size_t take_name(struct buf *name, const struct frame_entry *e, const uint8_t *p,
			size_t n)
{
	size_t all;

	if (e->at > FRAME_NAME_MAX || e->more > 4)
		return SIZE_MAX;
	all = ((size_t)e->at + 7) & ~(size_t)7;
	if (all > n)
		return SIZE_MAX;
	buf_reset(name);
	put_text(name, p, (size_t)e->at, (uint8_t)e->more);
	return all;
}

static size_t take_task(struct python *py, const struct frame_entry *e, const uint8_t *p,
			size_t n)
{
	size_t all = take_name(&py->task, e, p, n);

	if (all != SIZE_MAX && (!e->more || is_generated(buf_cstr(&py->task)))) {
		buf_reset(&py->task);
		buf_str(&py->task, "Task-N");
	}
	return all;
}

const char *python_task(struct python *py)
{
	return py->task.n ? buf_cstr(&py->task) : "";
}

const char *python_take_thread_name(struct python *py)
{
	if (!py->thread_told)
		return NULL;
	py->thread_told = false;
	return buf_cstr(&py->thread);
}

/* The runs and frames of interpreters before the current one. */
struct kept {
	size_t runs, frames;
};

/* Drops what a state has if it is torn.  Its thread may be running: it is another one's
 * (python_states.c).  The first state is always the thread's. */
static bool end_state(struct python *py, struct kept *kept, const struct frame_entry *e,
		      struct python_run *next)
{
	if (e->more != FRAMES_COMPLETE || next->first != py->frames.n) {
		if (!py->states && e->more != FRAMES_CUT)
			return false;
		py->runs.n = py->states ? kept->runs : py->runs.n;
		py->frames.n = py->states ? kept->frames : next->first;
	}
	next->first = kept->frames = py->frames.n;
	kept->runs = py->runs.n;
	return ++py->states <= STATES_MAX;
}

/* Reads the part of a sample into runs. */
static enum frame_state take(struct python *py, uint32_t pid,
			      const uint8_t *p, size_t n)
{
	struct python_run run = { 0 };
	struct frame_entry e;

	struct kept kept = { 0, 0 };

	py->frames.n = py->runs.n = 0;
	py->states = 0;
	py->loop = py->loop_end = py->core = 0;
	buf_reset(&py->task);
	py->thread_told = false;
	while (n >= sizeof(e)) {
		memcpy(&e, p, sizeof(e));
		p += sizeof(e);
		n -= sizeof(e);
		if (e.what == FRAME_CODE) {
			size_t used = learn(py, pid, &e, p, n);

			if (!used)
				return FRAMES_TORN;
			p += used;
			n -= used;
		} else if (e.what == FRAME_TASK || e.what == FRAME_THREAD) {
			bool task = e.what == FRAME_TASK;
			size_t used = task ? take_task(py, &e, p, n)
					   : take_name(&py->thread, &e, p, n);

			py->thread_told |= !task && used <= n;

			if (used > n)
				return FRAMES_TORN;
			p += used;
			n -= used;
		} else if (e.what == FRAME_LOOP && !e.more) {
			py->core = e.at;
		} else if (e.what == FRAME_LOOP) {
			py->loop = e.at;
			py->loop_end = e.at + e.more;
		} else if (e.what == FRAME_RUN) {
			run.record = e.at;
			run.n = py->frames.n - run.first;
			run.state = py->states;
			if (vec_push(&py->runs, run) < 0)
				return FRAMES_TORN;
			run.first = py->frames.n;
		} else if (e.what == FRAME_STATE) {
			if (!end_state(py, &kept, &e, &run))
				return FRAMES_TORN;
		} else if (e.what == FRAME_END) {
			if (e.more == FRAMES_CUT)
				return FRAMES_CUT;
			return e.more == FRAMES_COMPLETE &&
			       run.first == py->frames.n ? FRAMES_COMPLETE
							 : FRAMES_TORN;
		} else if (e.what >= FRAME_INSTR_MAX ||
			   !take_frame(py, pid, &e)) {
			return FRAMES_TORN;
		}
	}
	return FRAMES_TORN;
}

/* The native stack of a sample, innermost first. */
struct native {
	const uint64_t *pc, *sp;
	size_t n;
	bool whole;
	bool runs_cut;		/* the outer runs are unknown */
	uint64_t loop_frame;	/* size of a C frame of the loop, in bytes; 0:
				 * unknown */
	python_same_function *same;
	void *ctx;
};

static bool is_named_loop(const struct python *py, const struct native *s, size_t i)
{
	return s->pc[i] >= py->loop && s->pc[i] < py->loop_end;
}

/* Also accepts the cold part of the function, which compilers place elsewhere.  Its C
 * frame has the same size. */
static bool is_loop(const struct python *py, const struct native *s, size_t i)
{
	enum { NEAR = 64 << 20 };
	uint64_t far = s->pc[i] > py->loop ? s->pc[i] - py->loop
					   : py->loop - s->pc[i];

	return is_named_loop(py, s, i) ||
	       (s->loop_frame && far < NEAR && i + 1 < s->n &&
		s->sp[i + 1] - s->sp[i] == s->loop_frame);
}

typedef bool loop_rule(const struct python *py, const struct native *s, size_t i);

static size_t count_loops(const struct python *py, const struct native *s, loop_rule *is)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += is(py, s, i);
	return n;
}

/* Returns whether a C frame is that of the loop's function which runs the frames. */
static bool is_core(const struct python *py, const struct native *s, size_t i)
{
	return py->core && s->same && s->same(s->ctx, s->pc[i], py->core);
}

/* Assigns a run to each C frame of the loop.  A loop that just begins or ends has no
 * run.  A truncated stack lacks the outer C frames. */
static void place_by(struct python *py, const struct native *s, loop_rule *is,
		     size_t skip)
{
	size_t r = 0, beyond = py->runs.n;

	for (size_t i = 0; i < s->n && r < py->runs.n; i++) {
		if (!is(py, s, i))
			continue;
		if (skip)
			skip--;
		else
			py->runs.v[r++].record = s->sp[i - (i && is_core(py, s, i - 1))];
	}
	for (; r < py->runs.n; r++)
		py->runs.v[r].record = UINT64_MAX - 1 - beyond--;
}

/* Places runs without records.  Returns false if their number differs from that of
 * the loop's C frames. */
static bool place_runs(struct python *py, struct native *s)
{
	size_t named, all, n = py->runs.n;

	s->loop_frame = 0;
	for (size_t i = 0; i + 1 < s->n; i++)
		if (is_named_loop(py, s, i))
			s->loop_frame = s->sp[i + 1] - s->sp[i];
	named = count_loops(py, s, is_named_loop);
	all = count_loops(py, s, is_loop);
	if (named == n || named == n + 1)
		place_by(py, s, is_named_loop, named - n);
	else if (all == n || all == n + 1 || (all < n && !s->whole) ||
		 (all > n && s->runs_cut))
		place_by(py, s, is_loop, all == n + 1 && !s->runs_cut);
	else
		return false;
	return true;
}

/* Returns whether the records of the runs lie on the stack in order.  Runs without
 * frames may be anywhere. */
static bool in_order(const struct python *py, uint64_t sp)
{
	uint64_t last = sp;

	for (size_t i = 0; i < py->runs.n; i++) {
		const struct python_run *r = &py->runs.v[i];

		if (!r->n)
			continue;
		if (r->record < last)
			return false;
		last = r->record + 1;
	}
	return true;
}

/* Returns whether the records of a state's runs lie on the stack in order. */
static bool state_in_order(const struct python *py, uint32_t state, const struct native *s)
{
	uint64_t last = s->sp[0];

	for (size_t i = 0; i < py->runs.n; i++) {
		const struct python_run *r = &py->runs.v[i];

		if (r->state != state || !r->n)
			continue;
		if (r->record < last || r->record >= s->sp[s->n - 1])
			return false;
		last = r->record + 1;
	}
	return true;
}

static int by_record(const void *a, const void *b)
{
	const struct python_run *x = a, *y = b;

	return ascending(x->record, y->record);
}

/* Orders the runs of several interpreters by their records.  Drops those of states that
 * another thread runs. */
static void sort_states(struct python *py, const struct native *s)
{
	size_t n = 0;

	for (uint32_t k = 0; k < py->states; k++)
		if (!state_in_order(py, k, s))
			for (size_t i = 0; i < py->runs.n; i++)
				if (py->runs.v[i].state == k)
					py->runs.v[i].n = 0;
	for (size_t i = 0; i < py->runs.n; i++)
		if (py->runs.v[i].n)
			py->runs.v[n++] = py->runs.v[i];
	py->runs.n = n;
	sort_rows(py->runs.v, n, by_record);
}

static bool push(struct python *py, uint64_t addr)
{
	return py->merged.n < PYTHON_CHAIN_MAX &&
	       vec_push(&py->merged, addr) == 0;
}

/* Returns false if there was no room for all frames. */
static bool merge(struct python *py, const struct native *s)
{
	bool cut = s->runs_cut, empty = true;
	size_t r = 0;

	py->merged.n = 0;
	for (size_t i = 0; i < s->n; i++) {
		uint64_t end = i + 1 < s->n ? s->sp[i + 1] : UINT64_MAX;
		bool outer = !empty && py->core && is_named_loop(py, s, i);

		while (r < py->runs.n && !py->runs.v[r].n)
			r++;
		empty = r == py->runs.n || py->runs.v[r].record >= end;
		/* the outer runs are unknown, and so are their callers */
		if (cut && r == py->runs.n)
			return false;
		/* The outermost C frame may differ from the frame that ran the last
		 * frames. */
		if (((empty && !outer) || i + 1 == s->n) && !push(py, s->pc[i]))
			return false;
		for (; r < py->runs.n && py->runs.v[r].record < end; r++)
			for (size_t k = 0; k < py->runs.v[r].n; k++)
				if (!push(py, py->frames.v[py->runs.v[r].first +
							   k]))
					return false;
	}
	return !cut;
}

void python_merge(struct python *py, uint32_t pid, const uint64_t *pc,
		  const uint64_t *sp, size_t n, struct record_sample *s,
		  python_same_function *same, void *ctx)
{
	enum frame_state state = take(py, pid, s->frames, s->frame_bytes);
	struct native native = {
		pc, sp, n, !s->end.mark, state == FRAMES_CUT, 0, same, ctx,
	};

	s->user = pc;
	s->nuser = n < PYTHON_CHAIN_MAX ? (uint32_t)n : PYTHON_CHAIN_MAX;
	if (n > PYTHON_CHAIN_MAX)
		s->end = record_end_of(PROF_MARK_CUT, PROF_END_TOO_DEEP);
	if (py->states && n)
		sort_states(py, &native);
	if (state == FRAMES_TORN || (py->loop && !place_runs(py, &native)) ||
	    !in_order(py, sp[0])) {
		s->end = record_end_of(PROF_MARK_BROKEN, PROF_END_INTERPRETER);
		buf_reset(&py->task);
		return;
	}
	if (!py->runs.n)
		return;
	py->samples++;
	if (!merge(py, &native))
		s->end = record_end_of(PROF_MARK_CUT, PROF_END_TOO_DEEP);
	s->user = py->merged.v;
	s->nuser = (uint32_t)py->merged.n;
}
