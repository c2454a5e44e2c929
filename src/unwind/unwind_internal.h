/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_UNWIND_UNWIND_INTERNAL_H
#define TALLY_UNWIND_UNWIND_INTERNAL_H
/* Shared by the files of this folder and by tests. */
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/cfi.h"
#include "unwind/unwind.h"

/* How to find the caller's value of a register (DWARF 5 §6.4.1). */
enum how {
	HOW_SAME,	/* unchanged, or no rule for it */
	HOW_UNDEFINED,
	HOW_CFA,	/* in memory at CFA + val */
	HOW_VAL,	/* CFA + val */
	HOW_REG,	/* in register val */
	HOW_EXPR,	/* in memory at the result of expression number val */
	HOW_VAL_EXPR,	/* the result of expression number val */
	HOW_MEM,	/* HOW_MEM + r: in memory at register r + val */
};

/* How to find the canonical frame address. */
enum cfa_how {
	CFA_NONE,	/* no rule */
	CFA_REG,	/* register + val */
	CFA_MEM,	/* in memory at register + val */
	CFA_EXPR,	/* the result of expression number val */
};

/* A row of the table that CFI describes.  No padding: compared as bytes. */
struct rule {
	uint8_t cfa, cfa_reg;
	uint8_t signal;			/* CIE augmentation S */
	uint8_t how[UNWIND_REGS];	/* enum how, by x86-64 number; rip: the
					 * return address */
	int32_t cfa_val;
	int32_t val[UNWIND_REGS];
};

/* Rule ids without a struct rule. */
enum rule_id {
	RULE_NONE,	/* no call frame information */
	RULE_BAD,	/* invalid call frame information */
	RULE_ASK,	/* not stored because of limits; read it again */
	RULE_FIRST,
	RULE_MAX = 65535,
};

/*
 * A rule for the walk that follows only rip, rsp and rbp; the return address is
 * at CFA - word:
 *	bits 0-2	kind
 *	bits 3-16	CFA offset, words
 *	bits 17-31	rbp is at CFA + offset, words; 0: unchanged
 */
enum fast_kind {
	FAST_NONE,	/* needs a struct rule */
	FAST_RSP,	/* CFA = rsp + offset */
	FAST_RBP,	/* CFA = rbp + offset */
	FAST_END,	/* the return address is undefined: no caller */
	FAST_NO_DATA,
};

static inline uint64_t fast_cfa_words(uint32_t fast)
{
	return fast >> 3 & 0x3fff;
}

static inline int64_t fast_rbp_words(uint32_t fast)
{
	return (int32_t)fast >> 17;
}

/* Code that is compiled at once: little, because samples of short programs ask for
 * few addresses.  Rows are sorted by their addresses in it; the first one is 0. */
enum { PAGE_BITS = 13, PAGE_SIZE_ = 1 << PAGE_BITS, PAGES_MAX = 1 << 19 };

struct page {
	uint16_t *lo;		/* n addresses, then n rule ids */
	uint32_t n;		/* 0: not compiled yet */
};

struct unwind_table {
	struct image *img;
	struct image *debug;	/* its debug file, or NULL */
	bool is32;
	uint64_t base;		/* vaddr of page 0 */
	size_t npages;
	struct page *pages;
	VEC(struct rule) rules;	/* by id; ids below RULE_FIRST are empty */
	VEC(uint32_t) fast;	/* by rule id */
	struct idtab by_rule;
	VEC(struct span) exprs;
	struct idtab by_expr;
	uint64_t fuel;		/* remaining work and ... */
	uint64_t room;		/* ... remaining memory in bytes */
	bool limited;		/* fuel and room are set */
	uint64_t entry_end;	/* end of the function at the file's entry point, by its
				 * symbol; 0: not looked up yet, 1: unknown */
	uint64_t rows, compiled;
	uint16_t *paint;	/* rule of each address while a page is compiled */
};

/* rules.c: return the id of an equal rule or expression, or a new id; at most
 * RULE_MAX.  Return RULE_ASK if there are too many, or -ERR_NOMEM. */
int rule_intern(struct unwind_table *t, const struct rule *r);
int expr_intern(struct unwind_table *t, struct span e);
uint32_t rule_fast(const struct rule *r, bool is32);

/* cfa.c: evaluates a function's program row by row. */
typedef int row_cb(void *ctx, uint64_t lo, uint64_t hi, const struct rule *r);
struct cfa_program {
	struct unwind_table *t;
	const struct cfi_section *s;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde;
	uint64_t lo, hi;	/* range of the rows to report */
	row_cb *cb;		/* called for each row; r is NULL where the program
				 * is invalid */
	void *ctx;
	/* Initial row of the CIE, kept between calls; all-zero at first. */
	struct rule start;
	uint64_t start_at;
	enum cfi_kind start_kind;
	bool started, start_bad;
};
/* Runs the program.  Returns 0, -ERR_NOMEM, or a negative result of cb. */
int cfa_run(struct cfa_program *p);

/* table.c: returns the end of the function at the file's entry point, by its symbol; 1 if it
 * has none. */
uint64_t table_entry_end(struct unwind_table *t);

/* table.c: compiles the page if that was not done yet.  Returns 0 or -ERR_NOMEM. */
int table_page(struct unwind_table *t, size_t number);

/* table.c: finds the rule of vaddr.  *rule points into the table or is *own; it
 * is valid for ids >= RULE_FIRST and RULE_ASK.  Returns -ERR_NOMEM or an id. */
int table_find(struct unwind_table *t, uint64_t vaddr, uint32_t *fast,
	       struct rule *own, const struct rule **rule);

/* expr.c: DWARF 5 §2.5. */
struct expr_env {
	const struct unwind_regs *regs;
	/* Reads a word; false if it is unreadable, then the walk has the
	 * reason. */
	bool (*word)(void *ctx, uint64_t addr, unsigned size, uint64_t *out);
	void *ctx;
	unsigned width;		/* bytes of an address */
	int lost;		/* unknown register that was needed, or -1 */
};
enum expr_result { EXPR_OK, EXPR_BAD, EXPR_MEMORY, EXPR_REGISTER };
/* Evaluates an expression.  `first` is the initial stack element if
 * has_first. */
enum expr_result expr_eval(struct expr_env *env, struct span e, bool has_first,
			   uint64_t first, uint64_t *out);

/* Returns the x86-64 number of an i386 register (psABI i386, figure 2.14); -1
 * if tally does not track it. */
static inline int reg_of(bool is32, uint64_t r)
{
	static const int8_t i386[] = { UNWIND_RAX, UNWIND_RCX, UNWIND_RDX,
				       UNWIND_RBX, UNWIND_RSP, UNWIND_RBP,
				       UNWIND_RSI, UNWIND_RDI, UNWIND_RIP };

	if (is32)
		return r < sizeof(i386) ? i386[r] : -1;
	return r < UNWIND_REGS ? (int)r : -1;
}

/* Registers that every walk tracks. */
#define FAST_REGS (1u << UNWIND_RIP | 1u << UNWIND_RSP | 1u << UNWIND_RBP)

/* walk.c: returns the cached rule of an address, or FAST_NONE. */
uint32_t cache_get(const struct unwind_cache *c, uint64_t pc,
		   uint32_t generation);

/* step.c: unwinds one frame by any rule. */
struct walk {
	struct unwind_cache *cache;
	const struct unwind_space *space;
	const struct unwind_memory *mem;
	struct unwind_stack *out;
	struct unwind_regs regs;	/* registers of the current frame */
	bool all;		/* tracks all registers, not only three */
	bool want_all;		/* restart, tracking all registers */
	bool exact;		/* rip is not a return address */
	uint8_t marks;		/* how the current frame was found: UNWIND_* */
	uint32_t learned;	/* rule that simulate_return.c derived for code
				 * without data */
	uint32_t confirmed;	/* heuristic steps confirmed because they led to the
				 * start of the stack */
	uint64_t guess;		/* pc of the first frame unwound by heuristics */
	bool elsewhere;		/* the last signal interrupted code on a stack
				 * outside the copy */
	unsigned word;		/* bytes of an address */
	struct unwind_code code;	/* most recent result of `find` */
};

enum step { STEP_ON, STEP_END };	/* STEP_END: w->out has the reason */

bool walk_get(const struct walk *w, uint64_t addr, unsigned size,
	      uint64_t *out);
/* Returns whether addr can be stack memory above the copy, at most `reach`
 * bytes above its end.  Only that part of the stack is missing. */
bool walk_above(const struct walk *w, uint64_t addr, uint64_t reach);
/* Like walk_get, but a failure also sets out->end, reason and addr. */
bool walk_read(struct walk *w, uint64_t addr, unsigned size, uint64_t *out);
enum step walk_stop(struct walk *w, enum unwind_end end,
		    enum unwind_reason reason, uint64_t addr);
/* Returns whether the innermost frame has already popped this slot. */
bool walk_popped(const struct walk *w, uint64_t addr);
/* Finds the code at pc and stores it in w->code. */
bool walk_code(struct walk *w, uint64_t pc);
enum step step_rule(struct walk *w, const struct unwind_table *t,
		    const struct rule *r);

/* code.c: returns up to n bytes of code; fewer if the rest is unknown. */
struct span walk_bytes(struct walk *w, uint64_t pc, size_t n);
/* code.c: returns whether a call precedes ra.  MAYBE: code whose bytes are unknown may
 * contain a call anywhere, and generated code may use return addresses that no call
 * pushed. */
enum likely { LIKELY_NO, LIKELY_MAYBE, LIKELY_YES };
enum likely walk_after_call(struct walk *w, uint64_t ra);

/* simulate_return.c: where code without tables finds its return address and the
 * caller's rbp. */
struct return_info {
	uint64_t ra_at, rbp_at;
	bool has_rbp;		/* false: rbp already holds the caller's value */
	uint32_t fast;		/* the same as a rule, or FAST_NONE */
};
bool return_find(struct walk *w, struct return_info *out);
/* begin.c: returns whether the stack begins at this frame although no rule says
 * so. */
enum begin {
	BEGIN_NO,
	BEGIN_CALLED,	/* rip is a return address, as usual */
	BEGIN_PUT,	/* rip is the frame's first instruction: it was not called */
	BEGIN_NOT_YET,	/* ... and returns at once: the caller is next on the stack,
			 * as of Go's systemstack_switch below a callback from C */
};
/* Returns whether ra may be a return address: after a call, or where a stack ends. */
bool walk_returns(struct walk *w, uint64_t ra);
enum begin walk_begins(struct walk *w);
/* Returns whether an address is in the function at which a process begins: the file's
 * entry point. */
bool walk_in_entry(struct walk *w, uint64_t pc);
/* Returns whether the last frame is that function's, and the walk has gone beyond it: the
 * "return address" and what lies above it are argc and argv. */
bool walk_left_entry(struct walk *w);

/* heuristics.c: unwinds without a rule, for the reason `why`. */
enum step step_guess(struct walk *w, enum unwind_reason why);

#endif
