// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Evaluates DWARF expressions (DWARF 5 §2.5) as call frame information uses
 * them (§6.4.2: no operations that need a frame, an object or other units).
 */
#include <dwarf.h>

#include "unwind/unwind_internal.h"

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
	case DW_OP_addr: push(m, cursor_sized(c, m->env->width)); break;
	case DW_OP_const1u: push(m, cursor_u8(c)); break;
	case DW_OP_const1s: push(m, (uint64_t)(int8_t)cursor_u8(c)); break;
	case DW_OP_const2u: push(m, cursor_u16(c)); break;
	case DW_OP_const2s: push(m, (uint64_t)(int16_t)cursor_u16(c)); break;
	case DW_OP_const4u: push(m, cursor_u32(c)); break;
	case DW_OP_const4s: push(m, (uint64_t)(int32_t)cursor_u32(c)); break;
	case DW_OP_const8u:
	case DW_OP_const8s: push(m, cursor_u64(c)); break;
	case DW_OP_constu: push(m, cursor_uleb(c)); break;
	case DW_OP_consts: push(m, (uint64_t)cursor_sleb(c)); break;
	case DW_OP_bregx: push_reg(m, cursor_uleb(c)); break;
	default:
		if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
			push(m, op - (unsigned)DW_OP_lit0);
		else if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
			push_reg(m, op - (unsigned)DW_OP_breg0);
		else
			return false;
	}
	return true;
}

static bool stack_ops(struct machine *m, uint8_t op)
{
	uint64_t a, b, d;

	switch (op) {
	case DW_OP_deref: deref(m, m->env->width); break;
	case DW_OP_deref_size: deref(m, cursor_u8(&m->c)); break;
	case DW_OP_dup: push(m, peek(m, 0)); break;
	case DW_OP_drop: pop(m); break;
	case DW_OP_over: push(m, peek(m, 1)); break;
	case DW_OP_pick: push(m, peek(m, cursor_u8(&m->c))); break;
	case DW_OP_swap:
		a = pop(m), b = pop(m);
		push(m, a), push(m, b);
		break;
	case DW_OP_rot:
		a = pop(m), b = pop(m), d = pop(m);
		push(m, a), push(m, d), push(m, b);
		break;
	case DW_OP_skip: jump(m, true); break;
	case DW_OP_bra:
		a = pop(m);
		jump(m, a != 0);
		break;
	case DW_OP_stack_value:	/* no effect here */
	case DW_OP_nop: break;
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
	case DW_OP_abs:
		a = pop(m);
		push(m, as_signed(m, a) < 0 ? -a : a);
		break;
	case DW_OP_neg: push(m, -pop(m)); break;
	case DW_OP_not: push(m, ~pop(m)); break;
	case DW_OP_plus_uconst:
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
	case DW_OP_and: v = a & b; break;
	case DW_OP_div: v = divide(m, sa, sb); break;
	case DW_OP_minus: v = a - b; break;
	case DW_OP_mod:
		if (b)
			v = a % b;
		else
			m->result = EXPR_BAD;
		break;
	case DW_OP_mul: v = a * b; break;
	case DW_OP_or: v = a | b; break;
	case DW_OP_plus: v = a + b; break;
	case DW_OP_shl: v = b > 63 ? 0 : a << b; break;
	case DW_OP_shr: v = shift_right(m, a, b, false); break;
	case DW_OP_shra: v = shift_right(m, a, b, true); break;
	case DW_OP_xor: v = a ^ b; break;
	case DW_OP_eq: v = a == b; break;
	case DW_OP_ge: v = sa >= sb; break;
	case DW_OP_gt: v = sa > sb; break;
	case DW_OP_le: v = sa <= sb; break;
	case DW_OP_lt: v = sa < sb; break;
	case DW_OP_ne: v = a != b; break;
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
