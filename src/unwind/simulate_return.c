// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulates code without call frame information up to its ret.  What it still
 * pops from the stack shows where the return address is.  Both sides of a
 * branch are tried until one reaches a ret.
 */
#include "unwind/insn.h"
#include "unwind/unwind_internal.h"

enum { STEPS = 4000, WAITING = 96, SEEN_BITS = 11 };

struct path {
	uint64_t at;		/* offset in the code */
	int64_t sp;		/* stack pointer, relative to the base register */
	int64_t rbp_at;		/* where rbp was saved, relative to rsp or rbp
				 * (rbp_by_rbp) */
	bool by_rbp;		/* base register: initial rbp if true, else initial
				 * rsp */
	bool has_rbp, rbp_by_rbp;
	/* slot in which the path stored rbp by a mov; the slot is valid only
	 * after that */
	int64_t stored_at;
	bool stored;
	/* value that the path gave rbp: a frame of the function itself */
	int64_t frame;
	bool framed, frame_by_rbp;
};

struct follower {
	struct span code;
	struct path now, waiting[WAITING];
	unsigned nwaiting;
	uint32_t seen[1 << SEEN_BITS];	/* offsets + 1, by hash */
};

enum verdict { GO_ON, DEAD, AT_RET, AT_JMP };

static int64_t imm(const uint8_t *p, size_t n)
{
	int32_t v;

	if (n == 1)
		return (int8_t)p[0];
	memcpy(&v, p, sizeof(v));
	return v;
}

static void wait_for(struct follower *f, uint64_t at)
{
	if (f->nwaiting == WAITING)
		return;
	f->waiting[f->nwaiting] = f->now;
	f->waiting[f->nwaiting++].at = at;
}

/* rsp = rbp + n */
static void from_rbp(struct path *s, int64_t n)
{
	s->by_rbp = s->framed ? s->frame_by_rbp : true;
	s->sp = (s->framed ? s->frame : 0) + n;
}

/* rbp = rsp + n */
static void set_frame(struct path *s, int64_t n)
{
	s->framed = true;
	s->frame_by_rbp = s->by_rbp;
	s->frame = s->sp + n;
}

/* add, sub and lea of the stack pointer. */
static void arithmetic(struct path *s, const struct insn *x, const uint8_t *p)
{
	uint8_t m = x->modrm;
	size_t n = x->op == 0x83 ? 1 : 4;

	if (!(x->rex & 8) || (x->rex & 1))
		return;
	if ((x->op == 0x83 || x->op == 0x81) && m == 0xc4)
		s->sp += imm(p + x->imm_at, n);
	else if ((x->op == 0x83 || x->op == 0x81) && m == 0xec)
		s->sp -= imm(p + x->imm_at, n);
	else if (x->op == 0x8d && m == 0x64 && x->sib == 0x24)
		s->sp += imm(p + x->operand + 2, 1);
	else if (x->op == 0x8d && m == 0xa4 && x->sib == 0x24)
		s->sp += imm(p + x->operand + 2, 4);
	else if (x->op == 0x8d && (m == 0x65 || m == 0xa5))
		from_rbp(s, imm(p + x->operand + 1, m == 0x65 ? 1 : 4));
	else if ((x->op == 0x89 && m == 0xec) || (x->op == 0x8b && m == 0xe5))
		from_rbp(s, 0);
	else if ((x->op == 0x89 && m == 0xe5) || (x->op == 0x8b && m == 0xec))
		set_frame(s, 0);
	else if (x->op == 0x8d && m == 0x6c && x->sib == 0x24)
		set_frame(s, imm(p + x->operand + 2, 1));
}

/* pop rbp.  A value pushed on the path is the current rbp, which stays. */
static void pop_rbp(struct path *s)
{
	s->has_rbp = s->by_rbp || s->sp >= 0;
	s->rbp_by_rbp = s->by_rbp;
	s->rbp_at = s->sp;
	s->framed = false;
}

/* mov rbp, n(rsp) and the reverse, as in frames of Go. */
static void store_rbp(struct path *s, int64_t n)
{
	if (s->by_rbp || s->framed)
		return;
	s->stored = true;
	s->stored_at = s->sp + n;
}

static void load_rbp(struct path *s, int64_t n)
{
	s->has_rbp = s->by_rbp || (s->sp + n >= 0 &&
				   !(s->stored && s->stored_at == s->sp + n));
	s->rbp_by_rbp = s->by_rbp;
	s->rbp_at = s->sp + n;
	s->framed = false;
}

/* Handles a mov between rbp and n(rsp).  Returns false for other
 * instructions. */
static bool moves_rbp(struct path *s, const struct insn *x, const uint8_t *p)
{
	bool near = x->modrm == 0x6c, far = x->modrm == 0xac;
	int64_t n;

	if ((x->op != 0x89 && x->op != 0x8b) || !(near || far) ||
	    x->sib != 0x24 || (x->rex & 0x0d) != 8)
		return false;
	n = imm(p + x->operand + 2, near ? 1 : 4);
	if (x->op == 0x89)
		store_rbp(s, n);
	else
		load_rbp(s, n);
	return true;
}

static enum verdict jumps(struct follower *f, const struct insn *x,
			  const uint8_t *p)
{
	struct path *s = &f->now;
	uint64_t next = s->at + x->size;

	switch (x->op) {
	case 0xeb: s->at = next + (uint64_t)imm(p + x->imm_at, 1); break;
	case 0xe9: s->at = next + (uint64_t)imm(p + x->imm_at, 4); break;
	case 0xc2: case 0xc3: return AT_RET;
	case 0xf4: case 0xcc: return DEAD;	/* hlt, int3 */
	case 0xff:
		/* jmp *slot(rip) and jmp *register are treated as ret if a
		 * return address is on the stack */
		if (x->modrm == 0x25)
			return AT_RET;
		if ((x->modrm & 0xf8) == 0xe0)
			return AT_JMP;
		if ((x->modrm >> 3 & 7) == 4 || (x->modrm >> 3 & 7) == 5)
			return DEAD;
		if ((x->modrm >> 3 & 7) == 6)
			s->sp -= 8;
		/* fall through */
	default:
		if (x->op >= 0xe0 && x->op <= 0xe3)
			wait_for(f, next + (uint64_t)imm(p + x->imm_at, 1));
		if (x->op >= 0x70 && x->op <= 0x7f)
			wait_for(f, next + (uint64_t)imm(p + x->imm_at, 1));
		s->at = next;
	}
	return GO_ON;
}

static enum verdict follow_one(struct follower *f)
{
	struct path *s = &f->now;
	const uint8_t *p;
	struct insn x;

	if (s->at >= f->code.n)
		return DEAD;
	p = f->code.p + s->at;
	if (!insn_read(p, f->code.n - s->at, &x))
		return DEAD;
	if (x.vector || x.map > 1) {
		s->at += x.size;
		return GO_ON;
	}
	if (x.map == 1) {
		if (x.op == 0x0b)		/* ud2 */
			return DEAD;
		if (x.op >= 0x80 && x.op <= 0x8f)
			wait_for(f, s->at + x.size +
				    (uint64_t)imm(p + x.imm_at, 4));
		s->at += x.size;
		return GO_ON;
	}
	if ((x.op & 0xf8) == 0x50 || x.op == 0x68 || x.op == 0x6a) {
		s->sp -= 8;
	} else if ((x.op & 0xf8) == 0x58 || x.op == 0x8f) {
		if (x.op == 0x5d && !(x.rex & 1))
			pop_rbp(s);
		s->sp += 8;
	} else if (x.op == 0xc9) {		/* leave */
		from_rbp(s, 0);
		pop_rbp(s);
		s->sp += 8;
	} else if (!moves_rbp(s, &x, p)) {
		arithmetic(s, &x, p);
	}
	return jumps(f, &x, p);
}

/* Returns whether a path was at this address before. */
static bool was_here(struct follower *f)
{
	uint32_t *slot = &f->seen[hash_u64(f->now.at) &
				  ((1u << SEEN_BITS) - 1)];

	if (*slot == (uint32_t)f->now.at + 1)
		return true;
	*slot = (uint32_t)f->now.at + 1;
	return false;
}

/* Returns the result as a cache rule (see rule_fast), which is valid as long as
 * the code is unchanged; FAST_NONE if it does not fit. */
static uint32_t learn(const struct path *s)
{
	int64_t cfa = s->sp + 8, rbp = s->has_rbp ? s->rbp_at - cfa : 0;
	uint32_t kind = s->by_rbp ? FAST_RBP : FAST_RSP;

	if (cfa % 8 || rbp % 8 || cfa < 0 || cfa / 8 > 0x3fff ||
	    rbp / 8 < -0x4000 || rbp > 0 || (s->has_rbp &&
					     s->by_rbp != s->rbp_by_rbp))
		return FAST_NONE;
	return kind | (uint32_t)(cfa / 8) << 3 | (uint32_t)(rbp / 8) << 17;
}

static bool is_way_out(struct walk *w, const struct path *s, struct return_info *out)
{
	const uint64_t *r = w->regs.r;
	uint64_t ra;

	if ((s->by_rbp || (s->has_rbp && s->rbp_by_rbp)) &&
	    !(w->regs.known >> UNWIND_RBP & 1))
		return false;
	out->ra_at = r[s->by_rbp ? UNWIND_RBP : UNWIND_RSP] + (uint64_t)s->sp;
	out->has_rbp = s->has_rbp;
	out->rbp_at = r[s->rbp_by_rbp ? UNWIND_RBP : UNWIND_RSP] +
		      (uint64_t)s->rbp_at;
	out->fast = learn(s);
	return out->ra_at >= r[UNWIND_RSP] &&
	       walk_get(w, out->ra_at, w->word, &ra) && walk_returns(w, ra);
}

/* Follows paths to a return address with a call before it.  Without this check,
 * code after a call that never returns would be followed: it is another
 * function, whose ret means nothing. */
static bool follow_to_ret(struct follower *f, struct walk *w, struct return_info *out)
{
	for (unsigned i = 0; i < STEPS; i++) {
		enum verdict v = was_here(f) ? DEAD : follow_one(f);

		if (v == GO_ON)
			continue;
		if ((v == AT_RET || v == AT_JMP) && is_way_out(w, &f->now, out))
			return true;
		if (!f->nwaiting)
			return false;
		f->now = f->waiting[--f->nwaiting];
	}
	return false;
}

bool return_find(struct walk *w, struct return_info *out)
{
	struct follower f = { .nwaiting = 0 };
	uint64_t pc = w->regs.r[UNWIND_RIP];
	bool stays;

	if (w->word != 8 || !walk_code(w, pc))
		return false;
	stays = w->code.table;
	f.code = walk_bytes(w, w->code.start,
			    (size_t)(w->code.end - w->code.start));
	f.now.at = pc - w->code.start;
	if (f.code.n >= UINT32_MAX || !follow_to_ret(&f, w, out))
		return false;
	/* the program may replace generated code */
	if (!stays)
		out->fast = FAST_NONE;
	return true;
}
