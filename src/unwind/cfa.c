// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the programs of CIEs and FDEs (DWARF 5 §6.4.2, and GNU's additions: LSB
 * Core 5.0 "DWARF Extensions").  They produce a table that tells, for each
 * address, where to find the canonical frame address and the caller's
 * registers.
 */
#include <dwarf.h>

#include "unwind/unwind_internal.h"

/* Instructions with an operand in their low bits. */
enum { CFA_HIGH = 0xc0, CFA_LOW = 0x3f };

/* Compilers nest at most twice. */
enum { SAVED_MAX = 16 };

struct cfa {
	struct cfa_program *p;
	struct cursor c;
	uint64_t loc;
	struct rule row;
	struct rule saved[SAVED_MAX];
	unsigned nsaved;
	bool initial;		/* running the CIE's program */
	bool bad;		/* invalid or unknown instruction */
	int rc;			/* negative: stop everything */
};

/* Returns the number of a tracked register, or -1; all others are read and
 * dropped. */
static int get_reg(struct cfa *m, uint64_t r)
{
	return reg_of(m->p->t->is32, r);
}

static void set_how(struct cfa *m, uint64_t reg, enum how how, int64_t val)
{
	int r = get_reg(m, reg);

	if (val != (int32_t)val) {
		m->bad = true;
	} else if (r >= 0) {
		m->row.how[r] = (uint8_t)how;
		m->row.val[r] = (int32_t)val;
	}
}

static int64_t factored(const struct cfa *m, int64_t v)
{
	return (int64_t)((uint64_t)v * (uint64_t)m->p->cie->data_align);
}

static void set_cfa(struct cfa *m, uint64_t reg, int64_t off)
{
	int r = get_reg(m, reg);

	if (r < 0 || off != (int32_t)off) {
		m->bad = true;
		return;
	}
	m->row.cfa = CFA_REG;
	m->row.cfa_reg = (uint8_t)r;
	m->row.cfa_val = (int32_t)off;
}

static void set_cfa_offset(struct cfa *m, int64_t off)
{
	if (m->row.cfa != CFA_REG || off != (int32_t)off)
		m->bad = true;
	else
		m->row.cfa_val = (int32_t)off;
}

/* Reads DW_OP_breg0…31 with its offset and an optional DW_OP_deref.  Returns
 * false for other expressions. */
static bool read_breg(struct cfa *m, struct span e, int *reg, int64_t *off,
		      bool *deref)
{
	enum { OP_deref = 0x06, OP_breg0 = 0x70, OP_breg31 = 0x8f };
	struct cursor c = cursor_of(e.p, e.n);
	uint8_t op = cursor_u8(&c);

	if (op < OP_breg0 || op > OP_breg31)
		return false;
	*reg = get_reg(m, op - (unsigned)OP_breg0);
	*off = cursor_sleb(&c);
	*deref = cursor_left(&c) == 1 && *c.p == OP_deref;
	return !c.bad && *reg >= 0 && *off == (int32_t)*off &&
	       (*deref || !cursor_left(&c));
}

static struct span take_block(struct cfa *m)
{
	uint64_t n = cursor_uleb(&m->c);
	const uint8_t *p = cursor_take(&m->c, n);

	if (!p || !n)
		m->bad = true;
	return (struct span){ p, p ? (size_t)n : 0 };
}

static int keep_expr(struct cfa *m, struct span e)
{
	int id = m->bad ? -ERR_UNSUPPORTED : expr_intern(m->p->t, e);

	if (id == -ERR_NOMEM)
		m->rc = id;
	else if (id < 0)
		m->bad = true;
	return id;
}

static void set_cfa_expr(struct cfa *m)
{
	struct span e = take_block(m);
	int reg, id;
	int64_t off;
	bool deref;

	if (!m->bad && read_breg(m, e, &reg, &off, &deref)) {
		m->row.cfa = deref ? CFA_MEM : CFA_REG;
		m->row.cfa_reg = (uint8_t)reg;
		m->row.cfa_val = (int32_t)off;
		return;
	}
	id = keep_expr(m, e);
	if (id >= 0) {
		m->row.cfa = CFA_EXPR;
		m->row.cfa_reg = 0;
		m->row.cfa_val = id;
	}
}

static void set_expr(struct cfa *m, enum how how)
{
	uint64_t to = cursor_uleb(&m->c);
	struct span e = take_block(m);
	int reg, id;
	int64_t off;
	bool deref;

	if (!m->bad && how == HOW_EXPR && read_breg(m, e, &reg, &off, &deref) &&
	    !deref) {
		set_how(m, to, (enum how)(HOW_MEM + reg), off);
		return;
	}
	if (get_reg(m, to) < 0)
		return;
	id = keep_expr(m, e);
	if (id >= 0)
		set_how(m, to, how, id);
}

static void restore_reg(struct cfa *m, uint64_t reg)
{
	int r = get_reg(m, reg);

	if (m->initial) {
		m->bad = true;	/* the CIE has no initial rule to restore */
	} else if (r >= 0) {
		m->row.how[r] = m->p->start.how[r];
		m->row.val[r] = m->p->start.val[r];
	}
}

/* DW_CFA_register: a register is saved in another one.  If tally does not track
 * that one, the value is lost. */
static void set_register(struct cfa *m)
{
	uint64_t to = cursor_uleb(&m->c);
	int from = get_reg(m, cursor_uleb(&m->c));

	if (from < 0)
		set_how(m, to, HOW_UNDEFINED, 0);
	else if (from == get_reg(m, to))
		set_how(m, to, HOW_SAME, 0);
	else
		set_how(m, to, HOW_REG, from);
}

static void remember(struct cfa *m)
{
	if (m->nsaved == SAVED_MAX)
		m->bad = true;
	else
		m->saved[m->nsaved++] = m->row;
}

/* Restores the CFA too, as compilers expect, although DWARF mentions only
 * registers. */
static void recall(struct cfa *m)
{
	if (!m->nsaved)
		m->bad = true;
	else
		m->row = m->saved[--m->nsaved];
}

/* Reports the current row for [loc, to). */
static void emit(struct cfa *m, uint64_t to)
{
	struct cfa_program *p = m->p;
	uint64_t end = p->fde->start + p->fde->size;
	uint64_t lo = m->loc > p->lo ? m->loc : p->lo;
	uint64_t hi = to < end ? to : end;
	const struct rule *r = &m->row;

	if (hi > p->hi)
		hi = p->hi;
	if (lo >= hi)
		return;
	if (m->bad || r->cfa == CFA_NONE)
		r = NULL;
	m->rc = p->cb(p->ctx, lo, hi, r);
}

static void move_to(struct cfa *m, uint64_t to)
{
	if (m->initial || to < m->loc) {
		m->bad = true;
		return;
	}
	emit(m, to);
	m->loc = to;
}

static void advance(struct cfa *m, uint64_t by)
{
	uint64_t to;

	if (__builtin_mul_overflow(by, m->p->cie->code_align, &by) ||
	    __builtin_add_overflow(m->loc, by, &to))
		to = UINT64_MAX;
	move_to(m, to);
}

static void set_loc(struct cfa *m)
{
	uint64_t to;

	if (cfi_pointer(m->p->s, &m->c, m->p->cie->fde_encoding,
			m->p->fde ? m->p->fde->start : 0, &to))
		move_to(m, to);
	else
		m->bad = true;
}

static bool locations(struct cfa *m, uint8_t op)
{
	struct cursor *c = &m->c;

	switch (op) {
	case DW_CFA_nop: break;
	case DW_CFA_set_loc: set_loc(m); break;
	case DW_CFA_advance_loc1: advance(m, cursor_u8(c)); break;
	case DW_CFA_advance_loc2: advance(m, cursor_u16(c)); break;
	case DW_CFA_advance_loc4: advance(m, cursor_u32(c)); break;
	case DW_CFA_MIPS_advance_loc8: advance(m, cursor_u64(c)); break;
	case DW_CFA_remember_state: remember(m); break;
	case DW_CFA_restore_state: recall(m); break;
	case DW_CFA_GNU_args_size: cursor_uleb(c); break;
	default: return false;
	}
	return true;
}

static bool frame_address(struct cfa *m, uint8_t op)
{
	struct cursor *c = &m->c;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		set_cfa(m, reg, (int64_t)cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		set_cfa(m, reg, factored(m, cursor_sleb(c)));
		break;
	case DW_CFA_def_cfa_register:
		reg = cursor_uleb(c);
		if (m->row.cfa == CFA_REG)
			set_cfa(m, reg, m->row.cfa_val);
		else
			m->bad = true;
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(m, (int64_t)cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_offset(m, factored(m, cursor_sleb(c)));
		break;
	case DW_CFA_def_cfa_expression: set_cfa_expr(m); break;
	default: return false;
	}
	return true;
}

static void registers(struct cfa *m, uint8_t op)
{
	struct cursor *c = &m->c;
	uint64_t reg;

	switch (op) {
	case DW_CFA_register: set_register(m); return;
	case DW_CFA_expression: set_expr(m, HOW_EXPR); return;
	case DW_CFA_val_expression: set_expr(m, HOW_VAL_EXPR); return;
	default: break;
	}
	reg = cursor_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		set_how(m, reg, HOW_CFA, factored(m, (int64_t)cursor_uleb(c)));
		break;
	case DW_CFA_offset_extended_sf:
		set_how(m, reg, HOW_CFA, factored(m, cursor_sleb(c)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_how(m, reg, HOW_CFA,
			factored(m, (int64_t)-cursor_uleb(c)));
		break;
	case DW_CFA_val_offset:
		set_how(m, reg, HOW_VAL, factored(m, (int64_t)cursor_uleb(c)));
		break;
	case DW_CFA_val_offset_sf:
		set_how(m, reg, HOW_VAL, factored(m, cursor_sleb(c)));
		break;
	case DW_CFA_restore_extended: restore_reg(m, reg); break;
	case DW_CFA_undefined: set_how(m, reg, HOW_UNDEFINED, 0); break;
	case DW_CFA_same_value: set_how(m, reg, HOW_SAME, 0); break;
	default: m->bad = true;
	}
}

static void run(struct cfa *m, struct span program)
{
	struct unwind_table *t = m->p->t;

	m->c = cursor_of(program.p, program.n);
	while (cursor_left(&m->c) && !m->bad && m->rc >= 0 &&
	       (m->initial || m->loc < m->p->hi)) {
		uint8_t op = cursor_u8(&m->c), low = op & CFA_LOW;

		if (!t->fuel) {
			m->bad = true;
			return;
		}
		t->fuel--;
		switch (op & CFA_HIGH) {
		case DW_CFA_advance_loc: advance(m, low); break;
		case DW_CFA_offset:
			set_how(m, low, HOW_CFA,
				factored(m, (int64_t)cursor_uleb(&m->c)));
			break;
		case DW_CFA_restore: restore_reg(m, low); break;
		default:
			if (!locations(m, op) && !frame_address(m, op))
				registers(m, op);
		}
		if (m->c.bad)
			m->bad = true;
	}
}

/* Computes the initial row by running the CIE's program. */
static int run_start(struct cfa_program *p)
{
	struct cfa m;

	if (p->started && p->start_at == p->cie->at &&
	    p->start_kind == p->s->kind)
		return 0;
	m.p = p;
	m.loc = 0;
	m.nsaved = 0;
	m.initial = true;
	m.bad = false;
	m.rc = 0;
	memset(&m.row, 0, sizeof(m.row));
	m.row.signal = p->cie->signal;
	run(&m, p->cie->program);
	p->start = m.row;
	p->start_bad = m.bad;
	p->start_at = p->cie->at;
	p->start_kind = p->s->kind;
	p->started = m.rc >= 0;
	return m.rc;
}

int cfa_run(struct cfa_program *p)
{
	const struct cfi_fde *fde = p->fde;
	struct cfa m;
	int rc = run_start(p);

	if (rc < 0)
		return rc;
	m.p = p;
	m.loc = fde->start;
	m.nsaved = 0;
	m.initial = false;
	m.bad = p->start_bad ||
		reg_of(p->t->is32, p->cie->ra_reg) != UNWIND_RIP;
	m.rc = 0;
	m.row = p->start;
	run(&m, fde->program);
	if (m.rc >= 0)
		emit(&m, UINT64_MAX);
	return m.rc < 0 ? m.rc : 0;
}
