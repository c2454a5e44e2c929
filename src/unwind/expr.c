// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Evaluates DWARF expressions (DWARF 5 §2.5) as call frame information uses
 * them (§6.4.2: no operations that need a frame, an object or other units).
 */
#include "unwind/unwind_internal.h"

enum {
	OP_addr = 0x03, OP_deref = 0x06, OP_const1u = 0x08, OP_const1s,
	OP_const2u, OP_const2s, OP_const4u, OP_const4s, OP_const8u, OP_const8s,
	OP_constu, OP_consts, OP_dup, OP_drop, OP_over, OP_pick, OP_swap,
	OP_rot, OP_abs = 0x19, OP_and, OP_div, OP_minus, OP_mod, OP_mul, OP_neg,
	OP_not, OP_or, OP_plus, OP_plus_uconst, OP_shl, OP_shr, OP_shra, OP_xor,
	OP_bra, OP_eq, OP_ge, OP_gt, OP_le, OP_lt, OP_ne, OP_skip, OP_lit0,
	OP_lit31 = 0x4f, OP_breg0 = 0x70, OP_breg31 = 0x8f, OP_bregx = 0x92,
	OP_deref_size = 0x94, OP_nop = 0x96, OP_stack_value = 0x9f,
};

enum { STACK_MAX = 64, STEPS_MAX = 1000 };

struct machine {
	struct expr_env *env;
	struct cursor c;
	uint64_t stack[STACK_MAX];
	unsigned n;
	enum expr_result result;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->n == STACK_MAX) {
		m->result = EXPR_BAD;
		return;
	}
	if (m->env->width == 4)
		v = (uint32_t)v;
	m->stack[m->n++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->n) {
		m->result = EXPR_BAD;
		return 0;
	}
	return m->stack[--m->n];
}

/* Returns entry i of the stack, counted from the top. */
static uint64_t peek(struct machine *m, unsigned i)
{
	if (i >= m->n) {
		m->result = EXPR_BAD;
		return 0;
	}
	return m->stack[m->n - 1 - i];
}

static void push_reg(struct machine *m, uint64_t reg)
{
	int r = reg_of(m->env->width == 4, reg);
	int64_t off = cursor_sleb(&m->c);

	if (r < 0) {
		m->result = EXPR_BAD;
	} else if (!(m->env->regs->known >> r & 1)) {
		m->env->lost = r;
		m->result = EXPR_REGISTER;
	} else {
		push(m, m->env->regs->r[r] + (uint64_t)off);
	}
}

static void deref(struct machine *m, unsigned size)
{
	uint64_t addr = pop(m), v = 0;

	if (m->result != EXPR_OK)
		return;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		m->result = EXPR_BAD;
	else if (!m->env->word(m->env->ctx, addr, size, &v))
		m->result = EXPR_MEMORY;
	else
		push(m, v);
}

/* The limit on steps ends endless loops. */
static void jump(struct machine *m, bool taken)
{
	int16_t by = (int16_t)cursor_u16(&m->c);
	struct cursor *c = &m->c;

	if (!taken || c->bad)
		return;
	if (by < c->start - c->p || by > c->end - c->p) {
		m->result = EXPR_BAD;
		return;
	}
	c->p += by;
}

static bool constants(struct machine *m, uint8_t op)
{
	struct cursor *c = &m->c;

	switch (op) {
	case OP_addr: push(m, cursor_sized(c, m->env->width)); break;
	case OP_const1u: push(m, cursor_u8(c)); break;
	case OP_const1s: push(m, (uint64_t)(int8_t)cursor_u8(c)); break;
	case OP_const2u: push(m, cursor_u16(c)); break;
	case OP_const2s: push(m, (uint64_t)(int16_t)cursor_u16(c)); break;
	case OP_const4u: push(m, cursor_u32(c)); break;
	case OP_const4s: push(m, (uint64_t)(int32_t)cursor_u32(c)); break;
	case OP_const8u:
	case OP_const8s: push(m, cursor_u64(c)); break;
	case OP_constu: push(m, cursor_uleb(c)); break;
	case OP_consts: push(m, (uint64_t)cursor_sleb(c)); break;
	case OP_bregx: push_reg(m, cursor_uleb(c)); break;
	default:
		if (op >= OP_lit0 && op <= OP_lit31)
			push(m, op - (unsigned)OP_lit0);
		else if (op >= OP_breg0 && op <= OP_breg31)
			push_reg(m, op - (unsigned)OP_breg0);
		else
			return false;
	}
	return true;
}

static bool stack_ops(struct machine *m, uint8_t op)
{
	uint64_t a, b, d;

	switch (op) {
	case OP_deref: deref(m, m->env->width); break;
	case OP_deref_size: deref(m, cursor_u8(&m->c)); break;
	case OP_dup: push(m, peek(m, 0)); break;
	case OP_drop: pop(m); break;
	case OP_over: push(m, peek(m, 1)); break;
	case OP_pick: push(m, peek(m, cursor_u8(&m->c))); break;
	case OP_swap:
		a = pop(m), b = pop(m);
		push(m, a), push(m, b);
		break;
	case OP_rot:
		a = pop(m), b = pop(m), d = pop(m);
		push(m, a), push(m, d), push(m, b);
		break;
	case OP_skip: jump(m, true); break;
	case OP_bra:
		a = pop(m);
		jump(m, a != 0);
		break;
	case OP_stack_value:	/* no effect here */
	case OP_nop: break;
	default: return false;
	}
	return true;
}

static int64_t as_signed(const struct machine *m, uint64_t v)
{
	return m->env->width == 4 ? (int32_t)v : (int64_t)v;
}

static bool unary(struct machine *m, uint8_t op)
{
	uint64_t a;

	switch (op) {
	case OP_abs:
		a = pop(m);
		push(m, as_signed(m, a) < 0 ? -a : a);
		break;
	case OP_neg: push(m, -pop(m)); break;
	case OP_not: push(m, ~pop(m)); break;
	case OP_plus_uconst:
		a = pop(m);
		push(m, a + cursor_uleb(&m->c));
		break;
	default: return false;
	}
	return true;
}

/* Signed division (§2.5.1.4); -2^63 / -1 has no result. */
static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (!b) {
		m->result = EXPR_BAD;
		return 0;
	}
	return b == -1 ? -(uint64_t)a : (uint64_t)(a / b);
}

static uint64_t shift_right(const struct machine *m, uint64_t a, uint64_t b,
			    bool arithmetic)
{
	int64_t s = as_signed(m, a);

	if (b > 63)
		return arithmetic && s < 0 ? UINT64_MAX : 0;
	return arithmetic ? (uint64_t)(s >> b) : a >> b;
}

static void binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m), v = 0;
	int64_t sa = as_signed(m, a), sb = as_signed(m, b);

	switch (op) {
	case OP_and: v = a & b; break;
	case OP_div: v = divide(m, sa, sb); break;
	case OP_minus: v = a - b; break;
	case OP_mod:
		if (b)
			v = a % b;
		else
			m->result = EXPR_BAD;
		break;
	case OP_mul: v = a * b; break;
	case OP_or: v = a | b; break;
	case OP_plus: v = a + b; break;
	case OP_shl: v = b > 63 ? 0 : a << b; break;
	case OP_shr: v = shift_right(m, a, b, false); break;
	case OP_shra: v = shift_right(m, a, b, true); break;
	case OP_xor: v = a ^ b; break;
	case OP_eq: v = a == b; break;
	case OP_ge: v = sa >= sb; break;
	case OP_gt: v = sa > sb; break;
	case OP_le: v = sa <= sb; break;
	case OP_lt: v = sa < sb; break;
	case OP_ne: v = a != b; break;
	default: m->result = EXPR_BAD;
	}
	push(m, v);
}

enum expr_result expr_eval(struct expr_env *env, struct span e, bool has_first,
			   uint64_t first, uint64_t *out)
{
	struct machine m;
	unsigned steps = 0;

	m.env = env;
	m.c = cursor_of(e.p, e.n);
	m.n = 0;
	m.result = EXPR_OK;
	if (has_first)
		push(&m, first);
	while (cursor_left(&m.c) && m.result == EXPR_OK) {
		uint8_t op = cursor_u8(&m.c);

		if (++steps > STEPS_MAX)
			return EXPR_BAD;
		if (!constants(&m, op) && !stack_ops(&m, op) && !unary(&m, op))
			binary(&m, op);
		if (m.c.bad && m.result == EXPR_OK)
			m.result = EXPR_BAD;
	}
	if (m.result == EXPR_OK)
		*out = pop(&m);
	return m.result;
}
