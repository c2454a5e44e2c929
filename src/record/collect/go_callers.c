// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the goroutine's function that called systemstack, and keeps the callers of C. */
#include "record/collect/go_callers.h"

#include <string.h>

#include "unwind/unwind.h"

enum {
	CALL = 0xe8, CALL_SIZE = 5,
	LEA_SIZE = 7,		/* lea disp32(%rip), %r64 */
	PROLOGUE_MAX = 128,	/* from systemstack's start to its call */
	FUNCTION_MAX = 1 << 16,	/* bytes of code to search */
	FRAME_MAX = 4096,	/* bytes of a frame to search */
};

bool go_is_switch(const struct go_code *code, uint64_t at)
{
	return code->img && unwind_go_switches(code->img, at + 1 + code->delta);
}

bool go_is_begin(const struct go_code *code, uint64_t at)
{
	return code->img && unwind_go_begins(code->img, at + 1 + code->delta);
}

static uint64_t relative(const uint8_t *p)
{
	int32_t rel;

	memcpy(&rel, p, sizeof(rel));
	return (uint64_t)(int64_t)rel;
}

/* Returns the target of the direct call before a return address, or 0. */
static uint64_t call_target(const struct go_switch *s, uint64_t ra)
{
	struct go_code c;
	struct span b;

	if (!s->code(s->ctx, ra - 1, &c) || !c.img)
		return 0;
	b = image_bytes(c.img, ra - CALL_SIZE + c.delta, CALL_SIZE);
	return b.n == CALL_SIZE && b.p[0] == CALL ? ra + relative(b.p + 1) : 0;
}

/* Returns whether an address is the start of systemstack.  Stripped programs do not
 * say where functions begin. */
static bool is_systemstack(const struct go_switch *s, uint64_t addr)
{
	struct go_code c;

	if (addr >= s->at || s->at - addr > PROLOGUE_MAX ||
	    !s->code(s->ctx, s->at, &c))
		return false;
	return !c.start || c.start == addr;
}

/* Calls of systemstack in a function. */
struct calls {
	uint64_t ra;		/* the last one found */
	size_t n;
	bool named;		/* it is for the callee, by the code before it */
};

/* Returns whether a lea loads the callee's address, or that of a variable that holds
 * it (a closure without variables). */
static bool is_lea_of(const struct go_code *c, const uint8_t *p, uint64_t next,
		      uint64_t callee)
{
	uint64_t to, holds;
	struct span b;

	if ((p[0] & 0xfb) != 0x48 || p[1] != 0x8d || (p[2] & 0xc7) != 5)
		return false;
	to = next + relative(p + 3);
	if (to == callee)
		return true;
	b = image_bytes(c->img, to + c->delta, sizeof(holds));
	if (b.n != sizeof(holds))
		return false;
	memcpy(&holds, b.p, sizeof(holds));
	return holds == callee + c->delta;
}

/* Finds the calls of systemstack in a function; if one of them is for the callee, only
 * those that are.  A callee of 0 is unknown. */
static struct calls find_calls(const struct go_switch *s, const struct go_code *c,
			       uint64_t callee)
{
	size_t size = c->end - c->start > FUNCTION_MAX
		      ? FUNCTION_MAX : (size_t)(c->end - c->start);
	struct span b = image_bytes(c->img, c->start + c->delta, size);
	struct calls found = { 0, 0, false };
	bool named = false;

	for (size_t i = 0; i + CALL_SIZE <= b.n; i++) {
		uint64_t ra = c->start + i + CALL_SIZE;

		if (callee && i + LEA_SIZE <= b.n &&
		    is_lea_of(c, b.p + i, c->start + i + LEA_SIZE, callee))
			named = true;
		if (b.p[i] != CALL ||
		    !is_systemstack(s, ra + relative(b.p + i + 1)))
			continue;
		if (named && !found.named)
			found = (struct calls){ 0, 0, true };
		if (named == found.named) {
			found.ra = ra;
			found.n++;
		}
		named = false;
	}
	return found;
}

static uint64_t callee_start(const struct go_switch *s)
{
	struct go_code c;

	return s->code(s->ctx, s->callee, &c) ? c.start : 0;
}

/* Sets *pc to the call in a function, or to its start if there are several. */
static bool take_calls(const struct go_code *c, struct calls calls, uint64_t *pc)
{
	if (calls.n)
		*pc = calls.n == 1 ? calls.ra - 1 : c->start;
	return calls.n;
}

/* Looks at the function that the caller's caller calls. */
static bool find_by_code(const struct go_switch *s, uint64_t *pc)
{
	uint64_t target = call_target(s, s->chain[0]);
	struct go_code c;

	return target && s->code(s->ctx, target, &c) && c.img &&
	       c.start == target &&
	       take_calls(&c, find_calls(s, &c, callee_start(s)), pc);
}

/* Returns whether a word of the goroutine's stack is a return address in the function
 * that called systemstack.  It need not be the one of that call: others use the same
 * place. */
static bool is_late(const struct go_switch *s, uint64_t ra, uint64_t sp,
		    uint64_t callee, uint64_t *pc)
{
	uint64_t target = call_target(s, s->chain[0]);
	struct calls calls;
	struct go_code c;

	if (!s->code(s->ctx, ra - 1, &c) || !c.img || !c.start ||
	    (target && target != c.start) ||
	    !s->fits(s->ctx, ra, sp, s->rbp, s->chain[0]))
		return false;
	calls = find_calls(s, &c, callee);
	return calls.named && take_calls(&c, calls, pc);
}

/* Searches the frame below the frame pointer. */
static bool find_late(const struct go_switch *s, uint64_t *pc)
{
	uint64_t words[FRAME_MAX / 8], callee = callee_start(s);
	uint64_t low = s->rbp - FRAME_MAX;

	if (!callee || s->rbp & 7 || s->rbp <= FRAME_MAX)
		return false;
	/* a goroutine's stack may be smaller */
	for (; low < s->rbp; low += FRAME_MAX / 2)
		if (s->read(s->ctx, low, words, s->rbp - low))
			break;
	for (size_t i = low < s->rbp ? (s->rbp - low) / 8 : 0; i-- > 0;)
		if (is_late(s, words[i], low + 8 * i + 8, callee, pc))
			return true;
	return false;
}

enum go_caller go_find_caller(const struct go_switch *s, uint64_t *pc)
{
	if (!s->nchain)
		return GO_CALLER_NONE;
	if (is_systemstack(s, call_target(s, s->chain[0])))
		return GO_CALLER_CHAIN;
	if (find_by_code(s, pc))
		return GO_CALLER_CODE;
	return find_late(s, pc) ? GO_CALLER_LATE : GO_CALLER_NONE;
}

static size_t find_kept(const struct go_c_callers *c, const struct go_c_call *call)
{
	size_t i;

	for (i = 0; i < GO_C_CALLS; i++) {
		const struct go_c_call *k = &c->kept[i].call;

		if (c->kept[i].n && k->g == call->g && k->depth == call->depth &&
		    k->fn == call->fn && k->pid == call->pid &&
		    k->generation == call->generation)
			break;
	}
	return i;
}

void go_c_keep(struct go_c_callers *c, const struct go_c_call *call,
	       const uint64_t *pc, size_t n)
{
	size_t i = find_kept(c, call);

	if (n > GO_C_CALLERS)
		return;
	if (i == GO_C_CALLS)
		i = c->next++ % GO_C_CALLS;
	c->kept[i].call = *call;
	c->kept[i].n = n;
	memcpy(c->kept[i].pc, pc, n * sizeof(*pc));
}

size_t go_c_find(const struct go_c_callers *c, const struct go_c_call *call,
		 const uint64_t **pc)
{
	size_t i = find_kept(c, call);

	if (i == GO_C_CALLS)
		return 0;
	*pc = c->kept[i].pc;
	return c->kept[i].n;
}
