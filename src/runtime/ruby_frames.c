// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks Ruby's frames.
 *
 * Offsets are those of Ruby 3.1 for x86-64, from the header that it installs for its
 * own compiler (rb_mjit_min_header-3.1.2.h).  Releases of 3.1 share them.
 */
#include "runtime/ruby_frames.h"

enum {
	/* rb_vm_t, rb_ractor_t, rb_thread_t */
	VM_MAIN_RACTOR = 32, RACTOR_THREADS = 304,
	THREAD_NEXT = 0, THREAD_VM = 32, THREAD_EC = 40, THREAD_SELF = 80,
	THREAD_BYTES = 88,
	/* rb_execution_context_t */
	EC_STACK = 0, EC_STACK_SIZE = 8, EC_FRAME = 16, EC_THREAD = 48, EC_BYTES = 56,
	STACK_SIZE_MAX = 1 << 27,
	/* rb_control_frame_t, and the flags at its environment */
	FRAME_PC = 0, FRAME_ISEQ = 16, FRAME_EP = 32,
	FRAME_FINISH = 0x20, FRAME_C = 0x80,
	/* RBasic, RString, RArray */
	TYPE_MASK = 0x1f, TYPE_STRING = 5, TYPE_ARRAY = 7, TYPE_IMEMO = 26,
	IMEMO_SHIFT = 12, IMEMO_MASK = 15, IMEMO_ISEQ = 7,
	STRING_HEAP = 1 << 13, STRING_EMBED_SHIFT = 14, STRING_EMBED_MASK = 31,
	STRING_LENGTH = 16, STRING_HEAP_TEXT = 24, STRING_TEXT = 16, STRING_BYTES = 32,
	ARRAY_EMBEDDED = 1 << 13, ARRAY_ITEMS = 16, ARRAY_HEAP_ITEMS = 32,
	ARRAY_BYTES = 40,
	/* rb_iseq_t, rb_iseq_constant_body */
	ISEQ_BODY = 16,
	BODY_SIZE = 4, BODY_CODE = 8, BODY_PATH = 64, BODY_LABEL = 80, BODY_LINE = 88,
	BODY_INFOS = 120, BODY_INFOS_SIZE = 136, BODY_INDEX = 144,
	/* iseq_insn_info_entry */
	INFO_BYTES = 12, INFOS_MAX = 1 << 24,
	/* succ_index_table: the number of entries up to a position.  It packs nine
	 * numbers in each of six words, then has blocks of 512 bits. */
	INDEX_DIRECT = 54, INDEX_PER_WORD = 9, INDEX_BITS = 7, INDEX_BLOCKS = 48,
	BLOCK_POSITIONS = 512, BLOCK_BYTES = 80, BLOCK_RANK_BITS = 9,
};

bool ruby_is_known(const char version[8])
{
	return version[0] == '3' && version[1] == '.' && version[2] == '1' &&
	       version[3] == '.';
}

/* Returns whether there is a thread of this VM at the address.  Sets *next. */
static bool is_thread(uint64_t at, uint64_t vm, uint64_t self, uint64_t *next,
		      const struct frame_door *door)
{
	uint64_t t[THREAD_BYTES / 8];

	*next = 0;
	if (!frame_read(door, at, sizeof(t), t) || u64_at(t, THREAD_VM) != vm)
		return false;
	*next = u64_at(t, THREAD_NEXT);
	return u64_at(t, THREAD_SELF) == self;
}

uint64_t ruby_thread(const struct ruby_types *types, uint64_t self, uint64_t guess,
		     const struct frame_door *door)
{
	uint64_t vm, ractor, at, next;

	if (!frame_read(door, types->vm, sizeof(vm), &vm) || !vm)
		return 0;
	if (guess && is_thread(guess, vm, self, &next, door))
		return guess;
	if (!frame_read(door, vm + VM_MAIN_RACTOR, sizeof(ractor), &ractor) ||
	    !frame_read(door, ractor + RACTOR_THREADS, sizeof(at), &at))
		return 0;
	for (size_t n = 0; at && at != ractor + RACTOR_THREADS; n++) {
		if (n == RUBY_THREADS_MAX)
			return 0;
		if (is_thread(at, vm, self, &next, door))
			return at;
		at = next;
	}
	return 0;
}

struct walk {
	const struct ruby_types *types;
	const struct frame_door *door;
	struct ruby_scratch *s;
	struct frame_out out;
	size_t entries;
	size_t pending;		/* number of frames in s->batch */
	bool has_code;		/* the address of an instruction's code was written */
};

static bool string_find(struct walk *w, uint64_t at, struct frame_piece *p)
{
	uint64_t s[STRING_BYTES / 8], n;

	if (!frame_read(w->door, at, sizeof(s), s) ||
	    (s[0] & TYPE_MASK) != TYPE_STRING)
		return false;
	p->literal = NULL;
	p->at = at + STRING_TEXT;
	n = s[0] >> STRING_EMBED_SHIFT & STRING_EMBED_MASK;
	if (s[0] & STRING_HEAP) {
		p->at = u64_at(s, STRING_HEAP_TEXT);
		n = u64_at(s, STRING_LENGTH);
	}
	if (n > 1u << 30)
		return false;
	p->n = n < FRAME_TEXT_MAX ? (size_t)n : FRAME_TEXT_MAX;
	return true;
}

/* A file is a string, or an array of its name as given and its full name. */
static bool file_find(struct walk *w, uint64_t at, struct frame_piece *p)
{
	uint64_t a[ARRAY_BYTES / 8], items[2];

	if (!frame_read(w->door, at, sizeof(a), a))
		return false;
	if ((a[0] & TYPE_MASK) != TYPE_ARRAY)
		return string_find(w, at, p);
	items[0] = u64_at(a, ARRAY_ITEMS);
	items[1] = u64_at(a, ARRAY_ITEMS + 8);
	if (!(a[0] & ARRAY_EMBEDDED) &&
	    !frame_read(w->door, u64_at(a, ARRAY_HEAP_ITEMS), sizeof(items), items))
		return false;
	return string_find(w, items[1], p) || string_find(w, items[0], p);
}

/* A file's own code begins at line 0 according to Ruby. */
static uint32_t first_line(const void *body)
{
	uint32_t line = (uint32_t)(u64_at(body, BODY_LINE) >> 1);

	return line ? line : 1;
}

static bool put_code_once(struct walk *w, uint64_t at, uint32_t witness,
			  const void *body)
{
	struct frame_piece piece[2];
	struct frame_code c;

	if (frame_is_written(&w->out, at, witness))
		return true;
	if (!string_find(w, u64_at(body, BODY_LABEL), &piece[0]) ||
	    !file_find(w, u64_at(body, BODY_PATH), &piece[1]))
		return false;
	c.first_line = first_line(body);
	c.table_bytes = 0;
	c.name_bytes = (uint16_t)piece[0].n;
	c.file_bytes = (uint16_t)piece[1].n;
	c.name_kind = c.file_kind = FRAME_UTF8;
	c.minor = 0;
	c.language = FRAME_RUBY;
	return frame_put_code(&w->out, at, witness, &c, piece, 2);
}

static uint32_t witness_of(const void *body)
{
	uint64_t h = frame_mix(u32_at(body, BODY_SIZE), u64_at(body, BODY_PATH));

	h = frame_mix(h, u64_at(body, BODY_LABEL));
	h = frame_mix(h, u64_at(body, BODY_LINE));
	return (uint32_t)(frame_mix(h, u64_at(body, BODY_INFOS)) >> 32);
}

/* Sets *index to the number of entries that begin at or before an instruction. */
static bool index_of(struct walk *w, uint64_t table, uint64_t pos, uint32_t *index)
{
	uint64_t block[BLOCK_BYTES / 8], packed, at, part;

	if (pos < INDEX_DIRECT) {
		at = table + pos / INDEX_PER_WORD * 8;
		if (!frame_read(w->door, at, sizeof(packed), &packed))
			return false;
		*index = packed >> pos % INDEX_PER_WORD * INDEX_BITS &
			 ((1u << INDEX_BITS) - 1);
		return true;
	}
	pos -= INDEX_DIRECT;
	at = table + INDEX_BLOCKS + pos / BLOCK_POSITIONS * BLOCK_BYTES;
	if (!frame_read(w->door, at, sizeof(block), block))
		return false;
	/* its first word is the rank of the block, the second those of its words */
	part = pos % BLOCK_POSITIONS / 64;
	*index = (uint32_t)block[0];
	if (part)
		*index += block[1] >> (part - 1) * BLOCK_RANK_BITS &
			  ((1u << BLOCK_RANK_BITS) - 1);
	for (uint64_t bits = block[2 + part] << (63 - pos % 64); bits; bits &= bits - 1)
		++*index;
	return true;
}

/* Sets *line to that of the instruction before pc. */
static bool line_of(struct walk *w, const void *body, uint64_t pc, uint32_t *line)
{
	uint64_t code = u64_at(body, BODY_CODE), infos = u64_at(body, BODY_INFOS);
	uint64_t pos = (pc - code) / 8;
	uint32_t n = u32_at(body, BODY_INFOS_SIZE), index = 1;
	uint64_t info;

	*line = first_line(body);
	if (pc < code || (pc - code) % 8 || pos > u32_at(body, BODY_SIZE))
		return false;
	if (!n)
		return true;
	if (n > INFOS_MAX ||
	    (n > 1 && !index_of(w, u64_at(body, BODY_INDEX), pos - !!pos, &index)) ||
	    !index || index > n)
		return false;
	/* the line comes first, in the lower or upper half of a word */
	infos += (uint64_t)(index - 1) * INFO_BYTES;
	if (!frame_read(w->door, infos & ~7ull, sizeof(info), &info))
		return false;
	*line = u32_at(&info, infos & 4);
	return true;
}

/* Reads one span of each pending frame.  The spans have been set. */
static bool read_all(struct walk *w, size_t each, void *to)
{
	return w->door->read(w->door->ctx, w->s->spans, w->pending, to) ==
	       w->pending * each;
}

static void span_set(struct walk *w, size_t i, uint64_t at, size_t n)
{
	w->s->spans[i].at = at;
	w->s->spans[i].n = n;
}

static bool put_frame(struct walk *w, const struct ruby_batch *b, uint64_t flags,
		      const void *body)
{
	uint64_t code = u64_at(body, BODY_CODE);
	uint32_t witness = witness_of(body), line;

	if (!frame_is_pointer(code) || !line_of(w, body, b->pc, &line) ||
	    line >= FRAME_INSTR_MAX || !put_code_once(w, code, witness, body))
		return false;
	frame_put_entry(&w->out, code, line, witness);
	if (flags & FRAME_FINISH)
		frame_put_entry(&w->out, 0, FRAME_RUN, 0);
	return true;
}

/* An instruction is the address of its code in the function that executes them. */
static bool put_core(struct walk *w, const void *body)
{
	uint64_t core;

	if (w->has_code)
		return true;
	w->has_code = true;
	if (!frame_read(w->door, u64_at(body, BODY_CODE), sizeof(core), &core))
		return false;
	frame_put_entry(&w->out, core, FRAME_LOOP, 0);
	return true;
}

/* Writes the pending frames.  Reads the data of all of them at once. */
static bool flush(struct walk *w)
{
	struct ruby_scratch *s = w->s;
	size_t n = 0;

	for (size_t i = 0; i < w->pending; i++)
		span_set(w, i, s->batch[i].ep, 8);
	if (w->pending && !read_all(w, 8, s->flags))
		return false;
	for (size_t i = 0; i < w->pending; i++) {
		if (s->flags[i] & FRAME_C)
			continue;
		if (!frame_is_pointer(s->batch[i].iseq))
			return false;
		s->flags[n] = s->flags[i];
		s->batch[n] = s->batch[i];
		span_set(w, n, s->batch[n].iseq, RUBY_ISEQ_BYTES);
		n++;
	}
	w->pending = n;
	if (!n)
		return true;
	if (!read_all(w, RUBY_ISEQ_BYTES, s->iseqs))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t flags = s->iseqs[i][0];

		if ((flags & TYPE_MASK) != TYPE_IMEMO ||
		    (flags >> IMEMO_SHIFT & IMEMO_MASK) != IMEMO_ISEQ ||
		    !frame_is_pointer(u64_at(s->iseqs[i], ISEQ_BODY)))
			return false;
		span_set(w, i, u64_at(s->iseqs[i], ISEQ_BODY), RUBY_BODY_BYTES);
	}
	if (!read_all(w, RUBY_BODY_BYTES, s->bodies) || !put_core(w, s->bodies[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!put_frame(w, &s->batch[i], s->flags[i], s->bodies[i]))
			return false;
	w->pending = 0;
	return true;
}

/* Frames are an array, the innermost first. */
static enum frame_state walk(struct walk *w, uint64_t at, uint64_t end)
{
	size_t in_window = 0, next = 0;

	for (; at < end; at += RUBY_FRAME_BYTES) {
		struct ruby_batch *b = &w->s->batch[w->pending];
		const uint8_t *frame;

		if (w->entries + 2 > FRAME_ENTRIES_MAX)
			return flush(w) ? FRAMES_CUT : FRAMES_TORN;
		if (next == in_window) {
			in_window = end - at < FRAME_WINDOW ? end - at : FRAME_WINDOW;
			next = 0;
			if (!frame_read(w->door, at, in_window, w->s->window))
				return FRAMES_TORN;
		}
		frame = (const uint8_t *)w->s->window + next;
		next += RUBY_FRAME_BYTES;
		b->pc = u64_at(frame, FRAME_PC);
		b->iseq = u64_at(frame, FRAME_ISEQ);
		b->ep = u64_at(frame, FRAME_EP);
		/* methods written in C */
		if (!b->iseq || !b->pc)
			continue;
		if (!frame_is_pointer(b->ep))
			return FRAMES_TORN;
		w->pending++;
		w->entries += 2;
		if (w->pending < RUBY_BATCH)
			continue;
		if (!flush(w))
			return FRAMES_TORN;
		in_window = next = 0;	/* names were read into it */
	}
	return flush(w) ? FRAMES_COMPLETE : FRAMES_TORN;
}

size_t ruby_walk(const struct ruby_types *types, uint64_t thread,
		 const struct frame_door *door, struct ruby_scratch *s)
{
	uint64_t ec, own[EC_BYTES / 8], at, end;
	struct walk w;

	if (!frame_read(door, thread + THREAD_EC, sizeof(ec), &ec) ||
	    !frame_read(door, ec, sizeof(own), own) ||
	    u64_at(own, EC_THREAD) != thread)
		return 0;
	at = u64_at(own, EC_FRAME);
	if (!at || u64_at(own, EC_STACK_SIZE) > STACK_SIZE_MAX)
		return 0;
	/* the outermost frame of each stack runs nothing */
	end = u64_at(own, EC_STACK) + u64_at(own, EC_STACK_SIZE) * 8 - RUBY_FRAME_BYTES;
	w.types = types;
	w.door = door;
	w.s = s;
	w.out.door = door;
	w.out.room = s->window;
	w.out.codes = w.out.all = 0;
	w.entries = w.pending = 0;
	w.has_code = false;
	frame_put_entry(&w.out, types->loop, FRAME_LOOP, (uint32_t)types->loop_bytes);
	frame_put_entry(&w.out, 0, FRAME_END,
			at > end || (end - at) % RUBY_FRAME_BYTES
			? FRAMES_TORN : walk(&w, at, end));
	return w.out.all;
}
