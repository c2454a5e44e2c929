// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwinds frames in code without call frame information (JIT, assembly without
 * CFI, musl).  Uses the meaning of its instructions, the frame pointer, or the
 * first word on the stack that looks like a return address.
 */
#include "unwind/unwind_internal.h"

/* How far above the copy a frame pointer may point. */
#define POINTER_REACH (1ull << 20)
enum { SCAN_WORDS = 128, EPILOGUE_MAX = 64 };

/* Moves to the caller, whose return address is at `at`. */
static enum step go_on(struct walk *w, uint64_t at, uint64_t ra, unsigned marks)
{
	w->regs.r[UNWIND_RIP] = ra;
	w->regs.r[UNWIND_RSP] = at + w->word;
	/* where the callee saved the other registers is unknown */
	w->regs.known &= FAST_REGS;
	w->exact = false;
	w->marks = (uint8_t)marks;
	return STEP_ON;
}

/* What the rest of an epilogue still pops from the stack. */
struct epilogue {
	unsigned words;		/* number of words below the return address */
	int rbp;		/* index of the word that holds rbp, or -1 */
};

/* Returns the size of an instruction that can be part of an epilogue; 0 for
 * others. */
static size_t epilogue_part(const uint8_t *p, bool is32, struct epilogue *e)
{
	static const uint8_t vzeroupper[] = { 0xc5, 0xf8, 0x77 };
	size_t rex = !is32 && (p[0] & 0xf0) == 0x40;

	if ((p[rex] & 0xf8) == 0x58) {			/* pop */
		if (p[0] == 0x5d)
			e->rbp = (int)e->words;
		e->words++;
		return rex + 1;
	}
	if (p[rex] == 0x83 && p[rex + 1] == 0xc4) {	/* add n, rsp */
		e->words += (p[rex + 2] & 0x7f) / (is32 ? 4 : 8);
		return rex + 3;
	}
	if (p[rex] == 0x81 && p[rex + 1] == 0xc4) {
		e->words += (p[rex + 2] | (unsigned)p[rex + 3] << 8) /
			    (is32 ? 4 : 8);
		return rex + 6;
	}
	return memcmp(p, vzeroupper, sizeof(vzeroupper)) ? 0 : 3;
}

static bool in_epilogue(struct span s, bool is32, struct epilogue *e)
{
	uint8_t p[EPILOGUE_MAX + 8] = { 0 };
	size_t i = 0, n;

	*e = (struct epilogue){ 0, -1 };
	if (!s.n)
		return false;
	memcpy(p, s.p, s.n < EPILOGUE_MAX ? s.n : EPILOGUE_MAX);
	while (i < EPILOGUE_MAX && (n = epilogue_part(p + i, is32, e)) != 0)
		i += n;
	return p[i] == 0xc3 || p[i] == 0xc2 ||
	       (p[i] == 0xf3 && p[i + 1] == 0xc3);
}

/* Returns whether a function has just begun: push rbp; mov rsp, rbp. */
static bool in_prologue(struct span s, uint8_t before, bool is32,
			struct epilogue *e)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e },
			     to_rbp[] = { 0x48, 0x89, 0xe5 },
			     to_rbp2[] = { 0x48, 0x8b, 0xec };

	*e = (struct epilogue){ 0, -1 };
	if (s.n < 4)
		return false;
	if (s.p[0] == 0x55 || !memcmp(s.p, endbr, sizeof(endbr)))
		return true;
	*e = (struct epilogue){ 1, 0 };
	return before == 0x55 && (!memcmp(s.p, to_rbp + is32, 3 - is32) ||
				  !memcmp(s.p, to_rbp2 + is32, 3 - is32));
}

/* Returns how many words a PLT stub has pushed; -1 if pc is not in a stub.  The
 * stub pushes a number and jumps to the common part, which pushes one more. */
static int words_in_stub(struct walk *w, uint64_t pc)
{
	struct image_stub stub;
	uint64_t vaddr;
	struct span s;

	if (!walk_code(w, pc) || !w->code.table)
		return -1;
	vaddr = pc + w->code.delta;
	if (!image_find_stub(w->code.table->img, vaddr, &stub))
		return -1;
	if (!stub.target[0] && !stub.resolver)
		return vaddr > stub.start ? 2 : 1;
	s = image_bytes(w->code.table->img, vaddr, 1);
	/* the jmp after a push */
	return s.n && (s.p[0] == 0xe9 || s.p[0] == 0xf2) &&
	       vaddr > stub.start ? 1 : 0;
}

/* Unwinds by instructions that begin or end functions.  Returns false if there
 * are none. */
static bool step_code(struct walk *w)
{
	uint64_t *r = w->regs.r, pc = r[UNWIND_RIP], ra, at, rbp;
	struct span s = walk_bytes(w, pc, EPILOGUE_MAX);
	struct span before = walk_bytes(w, pc - 1, 1);
	struct epilogue e;
	bool is32 = w->word == 4;

	if (!in_epilogue(s, is32, &e) &&
	    !in_prologue(s, before.n ? before.p[0] : 0, is32, &e)) {
		int words = words_in_stub(w, pc);

		if (words < 0)
			return false;
		e = (struct epilogue){ (unsigned)words, -1 };
	}
	at = r[UNWIND_RSP] + e.words * w->word;
	if (!walk_get(w, at, w->word, &ra) || !walk_returns(w, ra))
		return false;
	if (e.rbp >= 0) {
		if (!walk_get(w, r[UNWIND_RSP] + (unsigned)e.rbp * w->word,
			      w->word, &rbp))
			return false;
		r[UNWIND_RBP] = rbp;
		w->regs.known |= 1u << UNWIND_RBP;
	}
	return go_on(w, at, ra, 0) == STEP_ON;
}

/* Returns whether rbp points to the caller's rbp, with a return address above
 * it. */
static bool is_frame(struct walk *w, uint64_t rbp)
{
	uint64_t next, ra;

	return w->regs.known >> UNWIND_RBP & 1 &&
	       rbp >= w->regs.r[UNWIND_RSP] && rbp % w->word == 0 &&
	       walk_get(w, rbp, w->word, &next) && next > rbp &&
	       walk_get(w, rbp + w->word, w->word, &ra) &&
	       walk_returns(w, ra);
}

/* Unwinds by following the code to its return.  Does not skip a valid frame:
 * then the code returns in a way that the simulation cannot follow (V8 drops a
 * variable number of arguments). */
static bool step_return(struct walk *w)
{
	struct return_info l;
	uint64_t ra, rbp = w->regs.r[UNWIND_RBP];

	if (!return_find(w, &l) || !walk_get(w, l.ra_at, w->word, &ra) ||
	    (l.ra_at > rbp + w->word && is_frame(w, rbp)))
		return false;
	if (l.has_rbp && !walk_get(w, l.rbp_at, w->word, &rbp))
		return false;
	w->regs.r[UNWIND_RBP] = rbp;
	if (l.has_rbp)
		w->regs.known |= 1u << UNWIND_RBP;
	w->learned = l.fast;
	return go_on(w, l.ra_at, ra, 0) == STEP_ON;
}

/* Unwinds with the help of the runtime that generated the code.  The runtime
 * knows return addresses into its own code that no call pushed. */
static bool step_runtime(struct walk *w)
{
	const struct unwind_space *s = w->space;
	struct unwind_caller c = { 0 };
	uint64_t ra, rbp = w->regs.r[UNWIND_RBP];

	if (!s->frame || w->word != 8 || !walk_code(w, w->regs.r[UNWIND_RIP] - !w->exact) ||
	    w->code.table || !s->frame(s->ctx, &w->regs, w->exact, &c) ||
	    c.sp <= w->regs.r[UNWIND_RSP] || !walk_get(w, c.ra_at, 8, &ra) ||
	    !walk_code(w, ra - 1) || (w->code.table && !walk_after_call(w, ra)) ||
	    (c.has_rbp && !walk_get(w, c.rbp_at, 8, &rbp)))
		return false;
	w->regs.r[UNWIND_RBP] = rbp;
	if (c.has_rbp)
		w->regs.known |= 1u << UNWIND_RBP;
	go_on(w, c.ra_at, ra, 0);
	w->regs.r[UNWIND_RSP] = c.sp;
	return true;
}

/* Unwinds by the frame pointer: rbp points to the caller's rbp, with the return
 * address above it. */
static bool step_pointer(struct walk *w)
{
	uint64_t *r = w->regs.r, rbp = r[UNWIND_RBP], next, ra;

	if (rbp < r[UNWIND_RSP] || rbp % w->word ||
	    !walk_get(w, rbp, w->word, &next) ||
	    !walk_get(w, rbp + w->word, w->word, &ra))
		return false;
	if (ra ? !walk_returns(w, ra) : next != 0)
		return false;
	go_on(w, rbp + w->word, ra, UNWIND_BY_POINTER);
	r[UNWIND_RBP] = next;
	w->out->by_pointer++;
	return true;
}

/* Unwinds to the first word on the stack that looks like a return address.
 * Scans only the copy: a guess does not justify reading the process. */
static bool step_scan(struct walk *w, unsigned words)
{
	const struct unwind_memory *m = w->mem;

	for (unsigned i = 0; i < words; i++) {
		uint64_t at = w->regs.r[UNWIND_RSP] + i * w->word, ra;
		uint64_t off = at - m->start;

		if (off >= m->size || m->size - off < w->word ||
		    !walk_get(w, at, w->word, &ra))
			return false;
		if (walk_after_call(w, ra) == LIKELY_YES) {
			if (!w->out->guessed++)
				w->guess = w->out->pc[w->out->n - 1];
			go_on(w, at, ra, UNWIND_GUESSED);
			return true;
		}
	}
	return false;
}

/* Returns whether a process begins here (the file's entry), or a thread.  At
 * the start of a thread, the call is followed by exit(2), system call 60, as in
 * musl's clone and _start. */
static bool is_begin(struct walk *w)
{
	enum { START_SIZE = 40, LOOK = 16 };	/* usual size where it is unknown */
	static const uint8_t exit_al[] = { 0xb0, 60, 15, 5 },
			     exit_eax[] = { 0xb8, 60, 0, 0, 0, 15, 5 };
	uint64_t pc = w->regs.r[UNWIND_RIP], entry, at;
	struct span s = walk_bytes(w, pc, LOOK);

	if (!s.n || !w->code.table)
		return false;
	entry = image_entry(w->code.table->img);
	at = pc + w->code.delta;
	if (entry && at >= entry &&
	    (at - entry < START_SIZE || at < table_entry_end(w->code.table)))
		return true;
	return !w->exact && w->word == 8 &&
	       (memmem(s.p, s.n, exit_al, sizeof(exit_al)) ||
		memmem(s.p, s.n, exit_eax, sizeof(exit_eax)));
}

/* Returns whether a sample is at the return of a system call, before test %rax, %rax, as
 * in glibc's clone and clone3.  They have no call frame information there, because
 * two threads return from the call on two stacks. */
static bool is_clone(struct walk *w)
{
	static const uint8_t code[] = { 0x0f, 0x05, 0x48, 0x85, 0xc0 };
	struct span s;

	if (!w->exact || w->out->n != 1 || w->word != 8)
		return false;
	s = walk_bytes(w, w->regs.r[UNWIND_RIP] - 2, sizeof(code));
	return s.n == sizeof(code) && !memcmp(s.p, code, sizeof(code));
}

enum step step_guess(struct walk *w, enum unwind_reason why)
{
	uint64_t rbp = w->regs.r[UNWIND_RBP];
	bool has_rbp = w->regs.known >> UNWIND_RBP & 1;

	/* a guess that led directly to the start of the stack is confirmed */
	w->confirmed = w->marks & UNWIND_GUESSED ? 1 : 0;
	if (is_begin(w)) {
		if (w->out->marks)
			w->out->marks[w->out->n - 1] |= UNWIND_BEGIN;
		return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
	}
	if (is_clone(w)) {
		/* the new thread; nothing has called it */
		if (w->regs.known >> UNWIND_RAX & 1 && !w->regs.r[UNWIND_RAX])
			return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
		if (step_return(w)) {
			w->learned = FAST_NONE;
			return STEP_ON;
		}
	}
	if (step_runtime(w) || (w->exact && step_code(w)))
		return STEP_ON;
	if (step_return(w) || (w->exact && step_scan(w, 1)))
		return STEP_ON;
	if (has_rbp && step_pointer(w))
		return w->regs.r[UNWIND_RIP] ? STEP_ON :
			walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
	if (has_rbp && rbp >= w->regs.r[UNWIND_RSP] && rbp % w->word == 0 &&
	    walk_above(w, rbp, POINTER_REACH) &&
	    rbp - w->mem->start >= w->mem->size)
		return walk_stop(w, UNWIND_CUT, UNWIND_OK, rbp);
	if (step_scan(w, SCAN_WORDS))
		return STEP_ON;
	/* rbp is 0 where processes and threads begin; elsewhere it is an
	 * ordinary register */
	if (has_rbp && !rbp)
		return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
	return walk_stop(w, UNWIND_BROKEN, why, rbp);
}
