// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detects the start of a stack that no CFI marks.  Libraries that create stacks
 * (makecontext(3), boost.context, libco, Go) store a return address that no
 * call pushed.  It points to code that ends the thread or switches to another
 * stack.  That code has no caller, so the stack ends with it.
 */
#include "unwind/insn.h"
#include "unwind/unwind_internal.h"

static bool is_go(struct image *img)
{
	return image_section(img, ".go.buildinfo").n;
}

/* goexit is the return address of every goroutine.  It has a nop before its
 * call, so that the return address - 1 is in goexit, too. rt0_go is on the
 * first thread.  It calls abort after mstart. */
bool unwind_go_begins(struct image *img, uint64_t ra)
{
	enum { NOP = 0x90, CALL = 0xe8, INT3 = 0xcc, INT = 0xcd, SIZE = 7 };
	struct span s = image_bytes(img, ra - 1, SIZE);
	int32_t to;

	if (s.n != SIZE || s.p[1] != CALL || !is_go(img))
		return false;
	if (s.p[0] == NOP && s.p[6] == NOP)
		return true;
	memcpy(&to, s.p + 2, sizeof(to));
	s = image_bytes(img, ra + 5 + (uint64_t)(int64_t)to, 1);
	return s.n && (*s.p == INT3 || *s.p == INT);
}

/* systemstack: movq %rdi, %rdx; movq (%rdi), %rdi; call *%rdi.  Compiled functions
 * call closures by other registers. */
bool unwind_go_switches(struct image *img, uint64_t ra)
{
	static const uint8_t call[] = { 0x48, 0x89, 0xfa, 0x48, 0x8b, 0x3f,
					0xff, 0xd7 };
	struct span s = image_bytes(img, ra - sizeof(call), sizeof(call));

	return s.n == sizeof(call) && !memcmp(s.p, call, sizeof(call)) &&
	       is_go(img);
}

/* asmcgocall has switched to the thread's stack.  After its call it returns to the
 * goroutine's: movq G(%rsp), %rdi; movq 8(%rdi), %rsi; subq DEPTH(%rsp), %rsi.  In
 * programs at any address (PIE) it first loads where the variable for the goroutine is
 * among those of the thread: movq rel(%rip), %rcx, which linkers make movq $imm, %rcx. */
bool unwind_go_calls_c(struct image *img, uint64_t ra, struct unwind_go_c *out)
{
	enum { VARIABLE = 7, SIZE = VARIABLE + 14 };
	static const uint8_t variable[] = { 0x48, 0x8b, 0x0d },
			     linked[] = { 0x48, 0xc7, 0xc1 },
			     g[] = { 0x48, 0x8b, 0x7c, 0x24 },
			     top[] = { 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b };
	struct span s = image_bytes(img, ra, SIZE);
	const uint8_t *p = s.p;

	if (s.n != SIZE)
		return false;
	if (!memcmp(p, variable, sizeof(variable)) ||
	    !memcmp(p, linked, sizeof(linked)))
		p += VARIABLE;
	if (memcmp(p, g, sizeof(g)) || memcmp(p + 5, top, sizeof(top)) ||
	    (p[11] & 0xbf) != 0x34 || p[12] != 0x24 || !is_go(img))
		return false;
	*out = (struct unwind_go_c){ p[4], p[11] == 0x74 ? p[13] : 0 };
	return true;
}

enum { INSNS = 32, BRANCHES = 8, CODE = 128, ARGUMENTS_MAX = 1 << 24, RET = 0xc3 };

/* Returns whether Go's runtime begins a goroutine's or a thread's stack here, or
 * leaves a goroutine's stack.  What lies above a switch is left from other calls. */
static bool is_go_begin(struct walk *w, uint64_t ra)
{
	struct unwind_table *t = walk_code(w, ra - 1) ? w->code.table : NULL;
	uint64_t vaddr = ra + w->code.delta;
	struct unwind_go_c c;

	return t && (unwind_go_begins(t->img, vaddr) ||
		     unwind_go_switches(t->img, vaddr) ||
		     unwind_go_calls_c(t->img, vaddr, &c));
}

/* Returns whether the code at ra never returns: every path ends at an
 * instruction that traps. */
static bool never_returns(struct walk *w, uint64_t ra)
{
	struct span s = walk_bytes(w, ra, CODE);
	size_t wait[BRANCHES], nwait = 0, at = 0;

	for (unsigned i = 0; i < INSNS && at < s.n; i++) {
		const uint8_t *p = s.p + at;
		size_t next, to;
		struct insn x;

		if (!insn_read(p, s.n - at, &x))
			return false;
		next = at + x.size;
		if ((!x.map && (x.op == 0xf4 || x.op == 0xcc)) ||
		    (x.map == 1 && x.op == 0x0b)) {	/* hlt, int3; ud2 */
			if (!nwait)
				return true;
			at = wait[--nwait];
			continue;
		}
		if (x.vector || (x.map && (x.map > 1 || (x.op & 0xf0) == 0x80)))
			return false;
		if (!x.map && (x.op & 0xf0) == 0x70) {	/* jcc */
			to = next + (size_t)(int8_t)p[x.imm_at];
			if (nwait == BRANCHES || to <= at)
				return false;
			wait[nwait++] = to;
		} else if (!x.map && x.op == 0xeb) {
			next += (size_t)(int8_t)p[x.imm_at];
			if (next <= at)
				return false;
		} else if (!x.map && (x.op == 0xe9 || (x.op & 0xf6) == 0xc2 ||
				      x.op == 0xff)) {
			return false;	/* jmp far away, ret, jmp *x */
		}
		at = next;
	}
	return false;
}

static bool is_function_start(struct walk *w, uint64_t ra)
{
	struct unwind_table *t = w->code.table;
	struct cfi_section s;
	struct cfi_cie cie;
	struct cfi_fde fde;
	uint64_t vaddr;

	if (!t || !walk_code(w, ra))
		return false;
	vaddr = ra + w->code.delta;
	return image_find_fde(t->img, vaddr, &s, &cie, &fde) &&
	       fde.start == vaddr && !cie.signal;
}

bool walk_in_entry(struct walk *w, uint64_t pc)
{
	struct cfi_section s;
	struct cfi_cie cie;
	struct cfi_fde fde;
	struct image *img;
	uint64_t entry;

	if (!walk_code(w, pc) || !w->code.table)
		return false;
	img = w->code.table->img;
	entry = image_entry(img);
	pc += w->code.delta;
	return entry && image_find_fde(img, pc, &s, &cie, &fde) && !cie.signal &&
	       entry - fde.start < fde.size && pc - fde.start < fde.size;
}

/* The psABIs, "initial process stack": argc, argv[0] to argv[argc - 1], NULL.  The strings
 * are further up. */
bool walk_left_entry(struct walk *w)
{
	uint64_t argc = w->regs.r[UNWIND_RIP], argv = w->regs.r[UNWIND_RSP];
	uint64_t first, last, end;

	return w->out->n && !w->exact && argc && argc <= ARGUMENTS_MAX &&
	       walk_in_entry(w, w->out->pc[w->out->n - 1]) &&
	       walk_get(w, argv, w->word, &first) && first > argv &&
	       walk_get(w, argv + (argc - 1) * w->word, w->word, &last) && last >= first &&
	       walk_get(w, argv + argc * w->word, w->word, &end) && !end;
}

/* Returns whether the code at ra ends a stack, by its instructions alone. */
static bool ends_at(struct walk *w, uint64_t ra)
{
	return w->word == 8 && ra && (is_go_begin(w, ra) || never_returns(w, ra));
}

bool walk_returns(struct walk *w, uint64_t ra)
{
	return walk_after_call(w, ra) || ends_at(w, ra);
}

enum begin walk_begins(struct walk *w)
{
	uint64_t ra = w->regs.r[UNWIND_RIP];

	if (w->exact || w->word != 8 || !walk_bytes(w, ra, 1).n)
		return BEGIN_NO;
	if (is_go_begin(w, ra))
		return BEGIN_CALLED;
	if (walk_after_call(w, ra))
		return BEGIN_NO;
	if (is_function_start(w, ra))
		return *walk_bytes(w, ra, 1).p == RET ? BEGIN_NOT_YET : BEGIN_PUT;
	return never_returns(w, ra) ? BEGIN_PUT : BEGIN_NO;
}
