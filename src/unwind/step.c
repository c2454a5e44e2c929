// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds one frame to its caller by any rule. */
#include "unwind/unwind_internal.h"

/* Memory farther above the copy than this is not part of its stack. */
#define STACK_REACH (1ull << 30)

bool walk_get(const struct walk *w, uint64_t addr, unsigned size,
	      uint64_t *out)
{
	const struct unwind_memory *m = w->mem;
	uint64_t off = addr - m->start, v = 0;
	bool copied = off < m->size && m->size - off >= size;

	if (copied && size == sizeof(v))
		memcpy(&v, m->bytes + off, sizeof(v));	/* most often; no call */
	else if (copied)
		memcpy(&v, m->bytes + off, size);
	else if (!m->read || !m->read(m->ctx, addr, &v, size))
		return false;
	*out = v;
	return true;
}

enum step walk_stop(struct walk *w, enum unwind_end end,
		    enum unwind_reason reason, uint64_t addr)
{
	struct unwind_stack *out = w->out;

	out->pc_end = out->n ? out->pc[out->n - 1] : w->regs.r[UNWIND_RIP];
	/* an end reached by heuristics is not certain */
	if (end == UNWIND_COMPLETE && out->guessed > w->confirmed) {
		end = UNWIND_BROKEN;
		reason = UNWIND_NO_DATA;
		out->pc_end = w->guess;
	}
	out->end = end;
	out->reason = reason;
	out->addr = addr;
	out->image = UINT32_MAX;
	if (end != UNWIND_COMPLETE && walk_code(w, out->pc_end))
		out->image = w->code.image;
	return STEP_END;
}

/*
 * A slot below the stack pointer: epilogues pop registers, and the call frame
 * information does not mention it.  The register already has the caller's value
 * again.
 */
bool walk_popped(const struct walk *w, uint64_t addr)
{
	enum { FRAME_SAVES = 512 };
	uint64_t rsp = w->regs.r[UNWIND_RSP];

	return w->exact && addr < rsp && rsp - addr <= FRAME_SAVES;
}

bool walk_above(const struct walk *w, uint64_t addr, uint64_t reach)
{
	const struct unwind_memory *m = w->mem;

	return !m->all && addr >= m->start &&
	       addr - m->start < m->size + reach;
}

/* Ends the walk because a word is missing. */
static enum step unreadable(struct walk *w, uint64_t addr)
{
	if (w->elsewhere || walk_above(w, addr, STACK_REACH))
		return walk_stop(w, UNWIND_CUT, UNWIND_OK, addr);
	return walk_stop(w, UNWIND_BROKEN, UNWIND_BAD_MEMORY, addr);
}

bool walk_read(struct walk *w, uint64_t addr, unsigned size, uint64_t *out)
{
	if (walk_get(w, addr, size, out))
		return true;
	unreadable(w, addr);
	return false;
}

bool walk_code(struct walk *w, uint64_t pc)
{
	if (pc >= w->code.start && pc < w->code.end)
		return true;
	if (w->space->find(w->space->ctx, pc, &w->code) &&
	    pc >= w->code.start && pc < w->code.end)
		return true;
	w->code = (struct unwind_code){ 0 };
	return false;
}

static enum step lost(struct walk *w, int reg)
{
	if (!w->all) {
		w->want_all = true;
		return STEP_END;
	}
	return walk_stop(w, UNWIND_BROKEN, UNWIND_LOST_REGISTER,
			 (uint64_t)reg);
}

static bool known(const struct walk *w, int reg)
{
	return w->regs.known >> reg & 1;
}

struct expr_words {
	struct walk *w;
	uint64_t failed;
};

static bool expr_word(void *ctx, uint64_t addr, unsigned size, uint64_t *out)
{
	struct expr_words *x = ctx;

	x->failed = addr;
	return walk_get(x->w, addr, size, out);
}

/* Evaluates expression number id and stores the result in *out. */
static enum step eval(struct walk *w, const struct unwind_table *t, int32_t id,
		      bool has_cfa, uint64_t cfa, uint64_t *out)
{
	struct expr_words x = { .w = w };
	struct expr_env env = { .regs = &w->regs, .word = expr_word,
				.ctx = &x, .width = w->word, .lost = -1 };

	switch (expr_eval(&env, t->exprs.v[id], has_cfa, cfa, out)) {
	case EXPR_OK: return STEP_ON;
	case EXPR_MEMORY: return unreadable(w, x.failed);
	case EXPR_REGISTER: return lost(w, env.lost);
	default: return walk_stop(w, UNWIND_BROKEN, UNWIND_BAD_RULE, 0);
	}
}

static enum step find_cfa(struct walk *w, const struct unwind_table *t,
			  const struct rule *r, uint64_t *cfa)
{
	uint64_t at = w->regs.r[r->cfa_reg] + (uint64_t)(int64_t)r->cfa_val;

	if (w->word == 4)
		at = (uint32_t)at;
	if (r->cfa == CFA_EXPR)
		return eval(w, t, r->cfa_val, false, 0, cfa);
	if (!known(w, r->cfa_reg))
		return lost(w, r->cfa_reg);
	if (r->cfa == CFA_REG)
		*cfa = at;
	else if (!walk_read(w, at, w->word, cfa))
		return STEP_END;
	return STEP_ON;
}

/* Restores the caller's register i.  A register that cannot be read becomes
 * unknown; the walk stops only if eval failed. */
static enum step restore(struct walk *w, const struct unwind_table *t,
			 const struct rule *r, int i, uint64_t cfa,
			 struct unwind_regs *next)
{
	uint64_t off = (uint64_t)(int64_t)r->val[i], v = 0;
	uint8_t how = r->how[i];
	bool good = true;

	switch (how) {
	case HOW_SAME:
		good = known(w, i);
		v = w->regs.r[i];
		break;
	case HOW_UNDEFINED: good = false; break;
	case HOW_CFA:
		good = walk_popped(w, cfa + off) ? known(w, i)
		       : walk_get(w, cfa + off, w->word, &v);
		if (walk_popped(w, cfa + off))
			v = w->regs.r[i];
		break;
	case HOW_VAL: v = cfa + off; break;
	case HOW_REG:
		good = known(w, r->val[i]);
		v = w->regs.r[r->val[i]];
		break;
	case HOW_EXPR:
	case HOW_VAL_EXPR:
		if (eval(w, t, r->val[i], true, cfa, &v) != STEP_ON)
			return STEP_END;
		if (how == HOW_EXPR)
			good = walk_get(w, v, w->word, &v);
		break;
	default:
		good = known(w, how - HOW_MEM) &&
		       walk_get(w, w->regs.r[how - HOW_MEM] + off, w->word, &v);
	}
	next->r[i] = w->word == 4 ? (uint32_t)v : v;
	next->known |= (uint32_t)good << i;
	return STEP_ON;
}

/* Ends the walk with the reason why register i could not be read. */
static enum step no_register(struct walk *w, const struct rule *r, int i,
			     uint64_t cfa)
{
	uint64_t off = (uint64_t)(int64_t)r->val[i];
	int how = r->how[i];

	if (how == HOW_CFA)
		return unreadable(w, cfa + off);
	if (how >= HOW_MEM && known(w, how - HOW_MEM))
		return unreadable(w, w->regs.r[how - HOW_MEM] + off);
	return lost(w, how >= HOW_MEM ? how - HOW_MEM :
		       how == HOW_REG ? r->val[i] : i);
}

static enum step take_regs(struct walk *w, const struct rule *r,
			   const struct unwind_regs *next, uint64_t cfa)
{
	/* Cases in which rsp does not grow.  One is the end of longjmp, whose
	 * caller is its target.  Another is vfork, which keeps its return
	 * address in a register while parent and child share the stack. */
	bool same = (w->out->n == 1 && r->how[UNWIND_RSP] != HOW_SAME) ||
		    (w->exact && r->how[UNWIND_RIP] == HOW_REG);

	if (!(next->known >> UNWIND_RIP & 1))
		return no_register(w, r, UNWIND_RIP, cfa);
	if (!(next->known >> UNWIND_RSP & 1))
		return no_register(w, r, UNWIND_RSP, cfa);
	if (!next->r[UNWIND_RIP])
		return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
	if (r->signal) {
		uint64_t off = next->r[UNWIND_RSP] - w->mem->start;

		w->elsewhere = off >= w->mem->size;
	} else if (next->r[UNWIND_RSP] < w->regs.r[UNWIND_RSP] + !same) {
		return walk_stop(w, UNWIND_BROKEN, UNWIND_NO_PROGRESS,
				 next->r[UNWIND_RSP]);
	}
	w->regs = *next;
	w->exact = r->signal;
	w->marks = 0;
	return STEP_ON;
}

enum step step_rule(struct walk *w, const struct unwind_table *t,
		    const struct rule *r)
{
	struct unwind_regs next = { .known = 0 };
	uint64_t cfa = 0;

	if (r->how[UNWIND_RIP] == HOW_UNDEFINED)
		return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
	if (r->how[UNWIND_RIP] == HOW_SAME)
		return walk_stop(w, UNWIND_BROKEN, UNWIND_BAD_RULE, 0);
	if (find_cfa(w, t, r, &cfa) != STEP_ON)
		return STEP_END;
	for (int i = 0; i < UNWIND_REGS; i++) {
		if (!w->all && !(FAST_REGS >> i & 1))
			continue;
		if (i == UNWIND_RSP && r->how[i] == HOW_SAME) {
			next.r[i] = cfa;
			next.known |= 1u << i;
		} else if (restore(w, t, r, i, cfa, &next) != STEP_ON) {
			return STEP_END;
		}
	}
	return take_regs(w, r, &next, cfa);
}
