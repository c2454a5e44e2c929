// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compiles the rows of a page of code.  Each function's rows are painted over
 * the addresses, those of .eh_frame last so that they win where functions
 * overlap.  Then each run of addresses with the same rule becomes a row.
 */
#include <stdlib.h>

#include "unwind/unwind_internal.h"

/* Number of addresses with rules, plus padding for reads beyond the end; an
 * array of row starts follows. */
enum { PAINT_SIZE = PAGE_SIZE_ + 4 };

struct painter {
	struct unwind_table *t;
	uint64_t base;		/* vaddr of the page */
	struct cfa_program program;
	int rc;
};

static void spend_work(struct unwind_table *t, uint64_t work)
{
	t->fuel -= work < t->fuel ? work : t->fuel;
}

static void fill(uint16_t *at, size_t n, uint16_t id)
{
	uint64_t four = id * 0x0001000100010001ull;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4)
		memcpy(at + i, &four, sizeof(four));
	for (; i < n; i++)
		at[i] = id;
}

static int paint_row(void *ctx, uint64_t lo, uint64_t hi, const struct rule *r)
{
	struct painter *p = ctx;
	int id = r ? rule_intern(p->t, r) : RULE_BAD;

	if (id < 0)
		return id;
	spend_work(p->t, (hi - lo) / 16);
	fill(p->t->paint + (lo - p->base), (size_t)(hi - lo), (uint16_t)id);
	return 0;
}

static bool paint_fde(void *ctx, const struct cfi_section *s,
		      const struct cfi_cie *cie, const struct cfi_fde *fde)
{
	struct painter *p = ctx;

	spend_work(p->t, 16);
	if (fde->start >= p->program.hi ||
	    fde->start + fde->size <= p->program.lo)
		return p->t->fuel != 0;
	p->program.s = s;
	p->program.cie = cie;
	p->program.fde = fde;
	p->rc = cfa_run(&p->program);
	return p->rc >= 0 && p->t->fuel;
}

/* Sets the rule for a signal frame: struct ucontext (Linux, x86, 64-bit:
 * asm/ucontext.h, asm/sigcontext.h).  The kernel pushes it when it calls a
 * handler; it is at rsp after the handler has returned. */
static void signal_rule(struct rule *r)
{
	enum { GREGS = 40 };
	static const uint8_t order[] = {
		8, 9, 10, 11, 12, 13, 14, 15, UNWIND_RDI, UNWIND_RSI,
		UNWIND_RBP, UNWIND_RBX, UNWIND_RDX, UNWIND_RAX, UNWIND_RCX,
		UNWIND_RSP, UNWIND_RIP,
	};

	memset(r, 0, sizeof(*r));
	r->signal = 1;
	r->cfa = CFA_MEM;
	for (size_t i = 0; i < sizeof(order); i++) {
		r->how[order[i]] = HOW_MEM + UNWIND_RSP;
		r->val[order[i]] = (int32_t)(GREGS + 8 * i);
	}
	r->cfa_reg = UNWIND_RSP;
	r->cfa_val = r->val[UNWIND_RSP];
}

/* Finds a restorer without CFI by its instructions: the system call
 * rt_sigreturn, number 15. */
static size_t restorer_at(const uint8_t *p, size_t n)
{
	static const uint8_t rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 15, 5 };
	static const uint8_t eax[] = { 0xb8, 15, 0, 0, 0, 15, 5 };

	if (n >= sizeof(rax) && !memcmp(p, rax, sizeof(rax)))
		return sizeof(rax);
	if (n >= sizeof(eax) && !memcmp(p, eax, sizeof(eax)))
		return sizeof(eax);
	return 0;
}

static bool is_signal(const struct unwind_table *t, uint16_t id)
{
	return id >= RULE_FIRST && t->rules.v[id].signal;
}

/* Returns the id of an address that may lie outside of the page. */
static int id_at(const struct painter *p, int64_t at)
{
	struct rule own;
	int id;

	if (at >= 0 && at < PAGE_SIZE_)
		return p->t->paint[at];
	id = table_ask(p->t, p->base + (uint64_t)at, &own);
	return id == RULE_ASK ? rule_intern(p->t, &own) : id;
}

/* Sets the rule of a restorer's bytes, as far as they lie in the page. */
static int paint_restorer(struct painter *p, int64_t at, int64_t n,
			  uint8_t before)
{
	int64_t end = at + n < PAGE_SIZE_ ? at + n : PAGE_SIZE_;
	int id = id_at(p, at);
	struct rule r;

	if (id < 0 || is_signal(p->t, (uint16_t)id))
		return id < 0 ? id : 0;
	/* its return address is looked up one byte lower */
	if (before == 0x90 || before == 0xcc)
		at--;
	else if ((id = id_at(p, at - 1)) < 0)
		return id;
	else if (id == RULE_NONE)
		at--;
	if (at < 0)
		at = 0;
	if (at >= end)
		return 0;
	signal_rule(&r);
	return paint_row(p, p->base + (uint64_t)at, p->base + (uint64_t)end, &r);
}

/* Returns the offset of the next operand 15 that is followed by a system call; n if there
 * is none.  If the instruction before it loads the operand, it calls rt_sigreturn. */
static size_t next_syscall15(struct span code, size_t from)
{
	static const uint8_t wanted[] = { 15, 0, 0, 0, 15, 5 };
	size_t last = sizeof(wanted) - 1;

	/* search for the last byte, which is the rarest */
	for (size_t at = from + last; at < code.n; at++) {
		const uint8_t *hit = memchr(code.p + at, 5, code.n - at);

		if (!hit)
			break;
		at = (size_t)(hit - code.p);
		if (!memcmp(hit - last, wanted, last))
			return at - last;
	}
	return code.n;
}

/* Also finds restorers that begin or end outside of the page. */
static int paint_restorers(struct painter *p)
{
	enum { AROUND = 16 };
	uint64_t lead = p->base < AROUND ? 0 : AROUND;
	struct span code = image_bytes(p->t->img, p->base - lead,
				       lead + PAGE_SIZE_ + AROUND);

	if (code.n <= lead) {
		lead = 0;
		code = image_bytes(p->t->img, p->base, PAGE_SIZE_ + AROUND);
	}
	for (size_t at = 0; (at = next_syscall15(code, at)) < code.n; at++) {
		for (size_t back = 1; back <= 3 && back <= at; back += 2) {
			size_t from = at - back, n;
			int rc;

			n = restorer_at(code.p + from, code.n - from);
			if (!n)
				continue;
			rc = paint_restorer(p, (int64_t)(from - lead),
					    (int64_t)n,
					    from ? code.p[from - 1] : 0);
			if (rc < 0)
				return rc;
			break;
		}
	}
	return 0;
}

static int paint_all(struct painter *p)
{
	struct unwind_table *t = p->t;

	p->program.t = t;
	p->program.lo = p->base;
	p->program.hi = p->base + PAGE_SIZE_;
	p->program.cb = paint_row;
	p->program.ctx = p;
	/* the image's own information is painted last and wins */
	if (t->debug && !image_fdes_in(t->debug, p->program.lo, p->program.hi,
				       paint_fde, p))
		return -ERR_NOMEM;
	p->program.start_at = 0;
	p->program.started = false;
	if (p->rc < 0)
		return p->rc;
	if (!image_fdes_in(t->img, p->program.lo, p->program.hi, paint_fde, p))
		return -ERR_NOMEM;
	if (p->rc < 0 || t->is32)
		return p->rc;
	return paint_restorers(p);
}

/* Stores the start of each row and returns their number.  Compares four rules
 * at a time, because most are the same as their neighbours. */
static size_t find_rows(const uint16_t *paint, uint16_t *starts)
{
	size_t n = 0;

	starts[n++] = 0;
	for (size_t i = 1; i < PAGE_SIZE_; i += 4) {
		uint64_t here, before;

		memcpy(&here, paint + i, 8);
		memcpy(&before, paint + i - 1, 8);
		if (here == before)
			continue;
		for (size_t k = i; k < i + 4 && k < PAGE_SIZE_; k++)
			if (paint[k] != paint[k - 1])
				starts[n++] = (uint16_t)k;
	}
	return n;
}

/* Stores a page of one row without a rule, because a limit is reached. */
static int refuse(struct unwind_table *t, struct page *page)
{
	page->lo = calloc(2, sizeof(*page->lo));
	if (!page->lo)
		return -ERR_NOMEM;
	page->lo[1] = RULE_BAD;
	page->n = 1;
	t->rows++;
	t->compiled++;
	return 0;
}

static int compress(struct unwind_table *t, struct page *page)
{
	uint16_t *starts = t->paint + PAINT_SIZE;
	size_t n = find_rows(t->paint, starts);
	size_t bytes = n * 2 * sizeof(*page->lo);

	if (bytes > t->room || !t->fuel)
		return refuse(t, page);
	page->lo = malloc(bytes);
	if (!page->lo)
		return -ERR_NOMEM;
	memcpy(page->lo, starts, n * sizeof(*starts));
	for (size_t i = 0; i < n; i++)
		page->lo[n + i] = t->paint[starts[i]];
	page->n = (uint32_t)n;
	t->room -= bytes;
	t->rows += n;
	t->compiled++;
	return 0;
}

int page_compile(struct unwind_table *t, size_t number)
{
	struct painter p = { .t = t };
	int rc;

	if (!t->fuel)
		return refuse(t, &t->pages[number]);
	p.base = t->base + (uint64_t)number * PAGE_SIZE_;
	t->paint = malloc((PAINT_SIZE + PAGE_SIZE_) * sizeof(*t->paint));
	if (!t->paint)
		return -ERR_NOMEM;
	memset(t->paint, 0, PAINT_SIZE * sizeof(*t->paint));
	rc = paint_all(&p);
	if (rc >= 0)
		rc = compress(t, &t->pages[number]);
	free(t->paint);
	t->paint = NULL;
	return rc;
}
