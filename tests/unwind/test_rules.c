// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What expressions (DWARF 5 §2.5) and call frame instructions (§6.4.2) mean,
 * one by one; expected values are those of the document.
 */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <stdio.h>

#include "unwind/unwind_internal.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool word(void *ctx, uint64_t addr, unsigned size, uint64_t *out)
{
	(void)ctx;
	if (addr < 0x1000)
		return false;
	*out = size == 8 ? addr + 1 : addr & ((1ull << 8 * size) - 1);
	return true;
}

static enum expr_result eval(const uint8_t *p, size_t n, uint64_t *out)
{
	struct unwind_regs regs = { .known = 1u << 7 | 1u << 16 };
	struct expr_env env = { .regs = &regs, .word = word, .width = 8,
				.lost = -1 };

	regs.r[7] = 0x7000;
	regs.r[16] = 0x40100b;
	return expr_eval(&env, (struct span){ p, n }, true, 5, out);
}

struct expr_case {
	uint8_t n;
	uint8_t op[14];
	uint64_t want;
};

/* 5 is on the stack at first. */
static const struct expr_case cases[] = {
	{ 0, { 0 }, 5 },
	{ 9, { 0x03, 1, 2, 3, 4, 5, 6, 7, 8 }, 0x0807060504030201 }, /* addr */
	{ 3, { 0x77, 8, 0x06 }, 0x7009 },		/* breg7 8; deref */
	{ 4, { 0x77, 8, 0x94, 1 }, 0x08 },		/* deref_size 1 */
	{ 2, { 0x08, 0xff }, 0xff },			/* const1u */
	{ 2, { 0x09, 0xff }, UINT64_MAX },		/* const1s */
	{ 3, { 0x0a, 0xfe, 0xff }, 0xfffe },
	{ 3, { 0x0b, 0xfe, 0xff }, (uint64_t)-2 },
	{ 5, { 0x0c, 0xfd, 0xff, 0xff, 0xff }, 0xfffffffd },
	{ 5, { 0x0d, 0xfd, 0xff, 0xff, 0xff }, (uint64_t)-3 },
	{ 9, { 0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 0x8000000000000001 },
	{ 3, { 0x10, 0x80, 0x01 }, 128 },		/* constu */
	{ 2, { 0x11, 0x7f }, UINT64_MAX },		/* consts */
	{ 2, { 0x12, 0x22 }, 10 },			/* dup; plus */
	{ 2, { 0x31, 0x13 }, 5 },			/* lit1; drop */
	{ 2, { 0x31, 0x14 }, 5 },			/* lit1; over */
	{ 4, { 0x31, 0x32, 0x15, 2 }, 5 },		/* pick 2 */
	{ 2, { 0x31, 0x16 }, 5 },			/* lit1; swap */
	/* lit1; lit2; rot: top is the former second, 1 */
	{ 3, { 0x31, 0x32, 0x17 }, 1 },
	{ 4, { 0x31, 0x32, 0x17, 0x13 }, 5 },
	{ 3, { 0x09, 0xf0, 0x19 }, 16 },		/* abs */
	{ 2, { 0x34, 0x1a }, 4 },			/* lit4; and */
	{ 4, { 0x09, 0xf6, 0x16, 0x1b }, (uint64_t)-2 },/* -10 / 5 */
	{ 2, { 0x33, 0x1c }, 2 },			/* 5 - 3 */
	{ 2, { 0x33, 0x1d }, 2 },			/* 5 mod 3 */
	{ 2, { 0x33, 0x1e }, 15 },
	{ 1, { 0x1f }, (uint64_t)-5 },			/* neg */
	{ 1, { 0x20 }, ~5ull },				/* not */
	{ 2, { 0x38, 0x21 }, 13 },			/* or */
	{ 3, { 0x23, 0x80, 0x01 }, 133 },		/* plus_uconst */
	{ 2, { 0x34, 0x24 }, 80 },			/* shl */
	{ 2, { 0x31, 0x25 }, 2 },			/* shr */
	{ 4, { 0x09, 0xf0, 0x32, 0x26 }, (uint64_t)-4 },/* shra */
	{ 2, { 0x31, 0x27 }, 4 },			/* xor */
	{ 2, { 0x35, 0x29 }, 1 },			/* 5 == 5 */
	{ 2, { 0x36, 0x2a }, 0 },			/* 5 >= 6 */
	{ 2, { 0x34, 0x2b }, 1 },			/* 5 > 4 */
	{ 2, { 0x34, 0x2c }, 0 },			/* 5 <= 4 */
	{ 3, { 0x09, 0xff, 0x2d }, 0 },			/* 5 < -1: signed */
	{ 2, { 0x35, 0x2e }, 0 },			/* 5 != 5 */
	{ 5, { 0x2f, 1, 0, 0x1f, 0x96 }, 5 },		/* skip neg; nop */
	{ 6, { 0x31, 0x28, 1, 0, 0x1f, 0x96 }, 5 },	/* bra: taken */
	{ 6, { 0x30, 0x28, 1, 0, 0x1f, 0x96 }, (uint64_t)-5 },
	{ 3, { 0x92, 7, 0 }, 0x7000 },			/* bregx 7, 0 */
	/* the linker's expression for .plt: at offset 11 of a stub */
	{ 11, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 },
	  0x7010 },
};

static void test_expressions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t v = 0;

		assert_int_equal(eval(cases[i].op, cases[i].n, &v), EXPR_OK);
		assert_int_equal(v, cases[i].want);
	}
}

static void test_bad_expressions(void **state)
{
	static const struct {
		enum expr_result want;
		uint8_t n, op[8];
	} bad[] = {
		{ EXPR_BAD, 1, { 0x22 } },		/* plus of one value */
		{ EXPR_BAD, 1, { 0x01 } },		/* reserved */
		{ EXPR_BAD, 1, { 0x9c } },		/* call_frame_cfa */
		{ EXPR_BAD, 1, { 0x13 } },		/* leaves nothing */
		{ EXPR_BAD, 2, { 0x30, 0x1b } },	/* / 0 */
		{ EXPR_BAD, 2, { 0x30, 0x1d } },	/* mod 0 */
		{ EXPR_BAD, 3, { 0x2f, 0xfd, 0xff } },	/* for ever */
		{ EXPR_BAD, 4, { 0x12, 0x2f, 0xfc, 0xff } },	/* dup for ever */
		{ EXPR_BAD, 3, { 0x2f, 9, 0 } },	/* out of it */
		{ EXPR_BAD, 3, { 0x0c, 1, 2 } },	/* too short */
		{ EXPR_BAD, 2, { 0x94, 3 } },		/* 3 bytes */
		{ EXPR_BAD, 2, { 0x8f, 0 } },		/* no such register */
		{ EXPR_MEMORY, 1, { 0x06 } },
		{ EXPR_REGISTER, 2, { 0x73, 0 } },	/* rbx: not known */
	};
	static const uint8_t min_by_minus_1[] = {
		0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x11, 0x7f, 0x1b };
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(eval(bad[i].op, bad[i].n, &v), bad[i].want);
	assert_int_equal(eval(min_by_minus_1, sizeof(min_by_minus_1), &v),
			 EXPR_OK);
	assert_int_equal(v, 1ull << 63);
}

/* Rows of a program, as text: "address:rule …" with the registers that are told
 * of. */
struct rows {
	struct unwind_table *t;
	char text[1024];
	size_t n;
};

static int take_row(void *ctx, uint64_t lo, uint64_t hi, const struct rule *r)
{
	struct rows *x = ctx;
	char *p = x->text + x->n;
	size_t left = sizeof(x->text) - x->n, at = 0;

	at += (size_t)snprintf(p, left, "%llx-%llx",
			       (unsigned long long)lo, (unsigned long long)hi);
	if (!r) {
		at += (size_t)snprintf(p + at, left - at, " bad");
	} else {
		at += (size_t)snprintf(p + at, left - at, " %d:r%d%+d", r->cfa,
				       r->cfa_reg, r->cfa_val);
		for (int i = 0; i < UNWIND_REGS; i++)
			if (r->how[i])
				at += (size_t)snprintf(p + at, left - at,
						       " r%d=%d%+d", i,
						       r->how[i], r->val[i]);
	}
	at += (size_t)snprintf(p + at, left - at, ";");
	x->n += at;
	return 0;
}

/* def_cfa rsp, 8; offset rip, 1 as all compilers begin. */
static const uint8_t start_program[] = { 0x0c, 7, 8, 0x90, 1 };

static void check_rows(const uint8_t *p, size_t n, uint64_t code_align, const char *want)
{
	struct unwind_table t = { .fuel = 1000, .room = 1 << 20 };
	struct rows rows = { .t = &t };
	struct cfi_section s = { .is64 = true };
	struct cfi_cie cie = {
		.code_align = code_align, .data_align = -8, .ra_reg = 16,
		.program = { start_program, sizeof(start_program) },
	};
	struct cfi_fde fde = { .start = 0x1000, .size = 0x100,
			       .program = { p, n } };
	struct cfa_program run = { .t = &t, .s = &s, .cie = &cie, .fde = &fde,
				   .hi = UINT64_MAX, .cb = take_row,
				   .ctx = &rows };

	assert_int_equal(cfa_run(&run), 0);
	assert_string_equal(rows.text, want);
	vec_fini(&t.exprs);
	idtab_fini(&t.by_expr);
}

#define ROWS(want, ...) \
	do { \
		static const uint8_t p_[] = { __VA_ARGS__ }; \
		check_rows(p_, sizeof(p_), 1, want); \
	} while (0)

/* how: 2 in memory at CFA + val, 3 CFA + val, 4 register, 5 and 6 expressions,
 * 7 + r in memory at a register + val. */
static void test_instructions(void **state)
{
	(void)state;
	/* push rbp; mov; … leave */
	ROWS("1000-1001 1:r7+8 r16=2-8;1001-1004 1:r7+16 r6=2-16 r16=2-8;"
	     "1004-10ff 1:r6+16 r6=2-16 r16=2-8;10ff-1100 1:r7+8 r6=2-16 "
	     "r16=2-8;",
	     0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0xfb, 0x0c, 7, 8);
	/* remember_state keeps the CFA, too; advance_loc2, 4 */
	ROWS("1000-1010 1:r7+8 r16=2-8;1010-1020 1:r7+64 r3=2-24 r16=2-8;"
	     "1020-1100 1:r7+8 r16=2-8;",
	     0x0a, 0x03, 16, 0, 0x0e, 64, 0x83, 3, 0x04, 16, 0, 0, 0, 0x0b);
	/* restore, restore_extended: to what the CIE said */
	ROWS("1000-1001 1:r7+8 r3=1+0 r16=1+0;1001-1100 1:r7+8 r16=2-8;",
	     0x07, 3, 0x07, 16, 0x41, 0xc3, 0x06, 16);
	/* *_sf, val_offset, register, same_value, negative_offset_extended */
	ROWS("1000-1100 1:r7-16 r3=2+16 r6=3-8 r12=4+13 r13=3+24 r14=2+8 "
	     "r16=2-8;",
	     0x12, 7, 2, 0x11, 3, 0x7e, 0x14, 6, 1, 0x09, 12, 13, 0x15, 13,
	     0x7d, 0x2f, 14, 1, 0x08, 0, 0x2e, 32);
	/* expressions: *(rbp - 8), as gcc aligns stacks; rbp + 0 */
	ROWS("1000-1100 2:r6-8 r6=13+0 r16=2-8;",
	     0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0);
	ROWS("1000-1100 3:r0+0 r3=6+1 r16=2-8;",
	     0x0f, 2, 0x31, 0x22, 0x16, 3, 1, 0x30);
	/* *(*(rbp - 8)) is no plain place in memory */
	ROWS("1000-1100 1:r7+8 r6=5+0 r16=2-8;", 0x10, 6, 3, 0x76, 0x78, 0x06);
	/* registers that are not followed: of vectors */
	ROWS("1000-1100 1:r7+8 r16=2-8;", 0x05, 17, 4, 0x07, 30, 0x09, 17, 3);
	/* saved in one of them: lost; in itself: unchanged */
	ROWS("1000-1100 1:r7+8 r3=1+0 r16=2-8;", 0x09, 3, 17, 0x8c, 2, 0x09, 12, 12);
	/* def_cfa_offset_sf; advance by nothing */
	ROWS("1000-1100 1:r7+16 r16=2-8;", 0x40, 0x13, 0x7e);
}

static void test_code_alignment(void **state)
{
	static const uint8_t program[] = { 0x41, 0x0e, 16 };

	(void)state;
	check_rows(program, sizeof(program), 4,
		   "1000-1004 1:r7+8 r16=2-8;1004-1100 1:r7+16 r16=2-8;");
}

static void test_bad_programs(void **state)
{
	(void)state;
	/* the rows before hold */
	ROWS("1000-1001 1:r7+8 r16=2-8;1001-1100 bad;", 0x41, 0x3f);
	ROWS("1000-1100 bad;", 0x0b);		/* nothing is remembered */
	ROWS("1000-1100 bad;", 0x0c, 17, 8);	/* CFA of a vector register */
	ROWS("1000-1100 bad;", 0x0f, 9, 0x77);	/* too short */
	ROWS("1000-1100 bad;", 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f);
	ROWS("1000-1100 bad;", 0x0c, 7, 0xff, 0xff, 0xff, 0xff, 0x7f);
	ROWS("1000-1100 bad;", 0x05, 3, 0xff, 0xff, 0xff, 0xff, 0x7f);
	/* an offset from an expression */
	ROWS("1000-1100 bad;", 0x0f, 2, 0x31, 0x22, 0x0e, 16);
	/* past its end, and over all addresses */
	ROWS("1000-1100 1:r7+8 r16=2-8;", 0x04, 0xff, 0xff, 0xff, 0xff, 0x0e,
	     16);
	ROWS("1000-1100 1:r7+8 r16=2-8;", 0x1d, 0xff, 0xff, 0xff, 0xff, 0xff,
	     0xff, 0xff, 0xff, 0x0e, 16);
	/* set_loc backwards */
	ROWS("1000-1010 1:r7+8 r16=2-8;1010-1100 bad;", 0x50, 0x01, 0, 0, 0, 0,
	     0, 0, 0, 0);
	/* 17 of remember_state */
	ROWS("1000-1100 bad;", 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
	     10, 10, 10, 10, 10);
}

/* The compact form says the same, or nothing. */
static void test_fast(void **state)
{
	struct rule r = { .cfa = CFA_REG, .cfa_reg = UNWIND_RSP };
	uint32_t f;

	(void)state;
	r.how[UNWIND_RIP] = HOW_CFA;
	r.val[UNWIND_RIP] = -8;
	r.how[UNWIND_RBP] = HOW_CFA;
	r.val[UNWIND_RBP] = -16;
	r.cfa_val = 102400;
	f = rule_fast(&r, false);
	assert_int_equal(f & 7, FAST_RSP);
	assert_int_equal(fast_cfa_words(f), 12800);
	assert_int_equal(fast_rbp_words(f), -2);
	r.cfa_val = 131072;
	assert_int_equal(rule_fast(&r, false), FAST_NONE);
	r.cfa_val = 12;
	assert_int_equal(rule_fast(&r, false), FAST_NONE);
	r.val[UNWIND_RIP] = -4;
	r.val[UNWIND_RBP] = -8;
	f = rule_fast(&r, true);
	assert_int_equal(fast_cfa_words(f), 3);
	assert_int_equal(fast_rbp_words(f), -2);
	r.signal = 1;
	assert_int_equal(rule_fast(&r, true), FAST_NONE);
	r.how[UNWIND_RIP] = HOW_UNDEFINED;
	assert_int_equal(rule_fast(&r, true) & 7, FAST_END);
}

/* One step by a rule, from a frame at the first of eight words: 0x100, 0x101, ... */
enum { STACK = 0x1000, WORDS = 8, UNKNOWN = UNWIND_R8 + 5, PC = 0x400000 };

struct one_step {
	struct walk w;
	struct unwind_table t;
	struct unwind_memory m;
	struct unwind_space space;
	struct unwind_stack out;
	struct rule r;
	uint64_t words[WORDS], pc[4];
};

static bool find_nothing(void *ctx, uint64_t pc, struct unwind_code *out)
{
	(void)ctx, (void)pc, (void)out;
	return false;
}

/* The caller's rsp is 16 higher, and its rip before it. */
static void begin_step(struct one_step *x)
{
	memset(x, 0, sizeof(*x));
	for (size_t i = 0; i < WORDS; i++)
		x->words[i] = 0x100 + i;
	x->m = (struct unwind_memory){ .bytes = (const uint8_t *)x->words,
				       .start = STACK - 16, .size = sizeof(x->words) };
	x->space.find = find_nothing;
	x->out = (struct unwind_stack){ .pc = x->pc, .n = 2, .max = 4 };
	x->w = (struct walk){ .space = &x->space, .mem = &x->m, .out = &x->out,
			      .all = true, .word = 8, .marks = 1 };
	x->w.regs.known = (1u << UNWIND_REGS) - 1;
	x->w.regs.known &= ~(1u << UNKNOWN);
	for (int i = 0; i < UNWIND_REGS; i++)
		x->w.regs.r[i] = 0x7000 + (uint64_t)i;
	x->w.regs.r[UNWIND_RSP] = STACK;
	x->w.regs.r[UNWIND_RBP] = STACK + 8;
	x->w.regs.r[UNWIND_RIP] = PC;
	x->r.cfa = CFA_REG;
	x->r.cfa_reg = UNWIND_RSP;
	x->r.cfa_val = 16;
	x->r.how[UNWIND_RIP] = HOW_CFA;
	x->r.val[UNWIND_RIP] = -8;
}

static void assert_end(struct one_step *x, enum unwind_end end,
		       enum unwind_reason reason)
{
	assert_int_equal(step_rule(&x->w, &x->t, &x->r), STEP_END);
	assert_int_equal(x->out.end, end);
	assert_int_equal(x->out.reason, reason);
	vec_fini(&x->t.exprs);
}

static void test_registers_of_the_caller(void **state)
{
	enum { NOT_KNOWN = -2 };
	static const uint8_t cfa_and_8[] = { 0x38, 0x22 };	/* lit8; plus */
	static const struct {
		int how, val;
		int64_t want;
		bool exact;
	} rules[] = {
		{ HOW_SAME, 0, 0x7003, false },
		{ HOW_UNDEFINED, 0, NOT_KNOWN, false },
		{ HOW_CFA, 8, 0x105, false },
		{ HOW_VAL, 8, STACK + 24, false },
		{ HOW_REG, UNWIND_RBP, STACK + 8, false },
		{ HOW_REG, UNKNOWN, NOT_KNOWN, false },
		{ HOW_EXPR, 0, 0x105, false },
		{ HOW_VAL_EXPR, 0, STACK + 24, false },
		{ HOW_MEM + UNWIND_RBP, 8, 0x104, false },
		{ HOW_MEM + UNKNOWN, 8, NOT_KNOWN, false },
		/* at the end of what is known */
		{ HOW_CFA, 32 - 8, 0x107, false },
		{ HOW_CFA, 32 - 4, NOT_KNOWN, false },
		/* an epilogue has popped what is below rsp, but not what is at it */
		{ HOW_CFA, -24, 0x7003, true },
		{ HOW_CFA, -16, 0x102, true },
		{ HOW_CFA, -24, 0x101, false },
	};
	enum { RBX = 3 };

	(void)state;
	for (size_t i = 0; i < COUNT(rules); i++) {
		struct one_step x;

		begin_step(&x);
		x.w.exact = rules[i].exact;
		assert_int_equal(vec_push(&x.t.exprs, (struct span){
			cfa_and_8, sizeof(cfa_and_8) }), 0);
		x.r.how[RBX] = (uint8_t)rules[i].how;
		x.r.val[RBX] = rules[i].val;
		assert_int_equal(step_rule(&x.w, &x.t, &x.r), STEP_ON);
		assert_int_equal(x.w.regs.r[UNWIND_RIP], 0x103);
		assert_int_equal(x.w.regs.r[UNWIND_RSP], STACK + 16);
		assert_int_equal(x.w.regs.known >> RBX & 1, rules[i].want != NOT_KNOWN);
		assert_int_equal(x.w.regs.known >> UNKNOWN & 1, 0);
		if (rules[i].want != NOT_KNOWN)
			assert_int_equal(x.w.regs.r[RBX], rules[i].want);
		assert_false(x.w.exact);
		assert_int_equal(x.w.marks, 0);
		vec_fini(&x.t.exprs);
	}
}

/* An address of 32 bits wraps around. */
static void test_small_words(void **state)
{
	struct one_step x;
	uint32_t words[4] = { 0x100, 0x101, 0x102, 0x103 };

	(void)state;
	begin_step(&x);
	x.w.word = 4;
	x.m = (struct unwind_memory){ .bytes = (const uint8_t *)words, .start = 0x10,
				      .size = sizeof(words) };
	x.w.regs.r[UNWIND_RBP] = 0xfffffff8;
	x.w.regs.r[UNWIND_RSP] = 0x10;
	x.r.cfa_reg = UNWIND_RBP;
	x.r.cfa_val = 0x20;		/* the CFA is 0x18 */
	x.r.val[UNWIND_RIP] = -4;
	x.r.how[3] = HOW_VAL;
	x.r.val[3] = -0x20;
	assert_int_equal(step_rule(&x.w, &x.t, &x.r), STEP_ON);
	assert_int_equal(x.w.regs.r[UNWIND_RIP], 0x101);
	assert_int_equal(x.w.regs.r[UNWIND_RSP], 0x18);
	assert_int_equal(x.w.regs.r[3], 0xfffffff8);
}

static void test_where_steps_end(void **state)
{
	struct one_step x;

	(void)state;
	/* The CFA's register is not known, or not followed. */
	begin_step(&x);
	x.r.cfa_reg = UNKNOWN;
	assert_end(&x, UNWIND_BROKEN, UNWIND_LOST_REGISTER);
	assert_int_equal(x.out.addr, UNKNOWN);
	begin_step(&x);
	x.r.cfa_reg = UNKNOWN;
	x.w.all = false;
	assert_int_equal(step_rule(&x.w, &x.t, &x.r), STEP_END);
	assert_true(x.w.want_all);
	/* The start of the stack, which heuristics did not find for certain. */
	begin_step(&x);
	x.r.how[UNWIND_RIP] = HOW_UNDEFINED;
	assert_end(&x, UNWIND_COMPLETE, UNWIND_OK);
	begin_step(&x);
	x.r.how[UNWIND_RIP] = HOW_UNDEFINED;
	x.out.guessed = 1;
	x.w.guess = 0x1234;
	assert_end(&x, UNWIND_BROKEN, UNWIND_NO_DATA);
	assert_int_equal(x.out.pc_end, 0x1234);
	/* A return address of 0 marks it, too. */
	begin_step(&x);
	x.words[3] = 0;
	assert_end(&x, UNWIND_COMPLETE, UNWIND_OK);
	/* Where memory is not known: above the copy, or nowhere near it. */
	begin_step(&x);
	x.r.cfa_val = 0x1000;
	assert_end(&x, UNWIND_CUT, UNWIND_OK);
	begin_step(&x);
	x.w.regs.r[UNWIND_RBP] = 0x10;
	x.r.how[UNWIND_RIP] = HOW_MEM + UNWIND_RBP;
	assert_end(&x, UNWIND_BROKEN, UNWIND_BAD_MEMORY);
	begin_step(&x);
	x.w.elsewhere = true;
	x.w.regs.r[UNWIND_RBP] = 0x10;
	x.r.how[UNWIND_RIP] = HOW_MEM + UNWIND_RBP;
	assert_end(&x, UNWIND_CUT, UNWIND_OK);
}

/* rsp grows, except at the end of longjmp and after vfork. */
static void test_progress(void **state)
{
	static const struct {
		bool first, exact, in_register, longjmp, on;
	} steps[] = {
		{ false, false, false, false, false },
		{ true, false, false, false, false },
		{ true, false, false, true, true },
		{ false, false, false, true, false },
		{ false, true, true, false, true },
		{ false, false, true, false, false },
		{ false, true, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct one_step x;

		begin_step(&x);
		x.r.cfa_val = 0;
		x.r.val[UNWIND_RIP] = 8;
		x.out.n = steps[i].first ? 1 : 2;
		x.w.exact = steps[i].exact;
		if (steps[i].in_register) {
			x.r.how[UNWIND_RIP] = HOW_REG;
			x.r.val[UNWIND_RIP] = 3;
		}
		if (steps[i].longjmp)
			x.r.how[UNWIND_RSP] = HOW_VAL;
		if (steps[i].on)
			assert_int_equal(step_rule(&x.w, &x.t, &x.r), STEP_ON);
		else
			assert_end(&x, UNWIND_BROKEN, UNWIND_NO_PROGRESS);
	}
}

/* A handler of signals may have a stack of its own. */
static void test_interrupted_code(void **state)
{
	struct one_step x;

	(void)state;
	begin_step(&x);
	x.r.signal = 1;
	x.r.how[UNWIND_RSP] = HOW_CFA;
	x.r.val[UNWIND_RSP] = 0;	/* 0x104 */
	assert_int_equal(step_rule(&x.w, &x.t, &x.r), STEP_ON);
	assert_int_equal(x.w.regs.r[UNWIND_RSP], 0x104);
	assert_true(x.w.exact && x.w.elsewhere);
	begin_step(&x);
	x.r.signal = 1;
	assert_int_equal(step_rule(&x.w, &x.t, &x.r), STEP_ON);
	assert_true(x.w.exact);
	assert_false(x.w.elsewhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_bad_expressions),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_bad_programs),
		cmocka_unit_test(test_code_alignment),
		cmocka_unit_test(test_fast),
		cmocka_unit_test(test_registers_of_the_caller),
		cmocka_unit_test(test_small_words),
		cmocka_unit_test(test_where_steps_end),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_interrupted_code),
	};

	return cmocka_run_group_tests_name("unwind/rules", tests, NULL, NULL);
}
