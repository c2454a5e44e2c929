// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiles call frame information into rows that are searched by address. */
#include <elf.h>
#include <stdlib.h>

#include "base/search.h"
#include "tally/kmod.h"
#include "unwind/unwind_internal.h"

enum {
	ROOM = 2 << 20, ROOM_FACTOR = 8,	/* as the header says */
	FUEL = 1 << 20, FUEL_FACTOR = 64,
	RELEASE_PAGES = 64,	/* pages compiled between releases of the file's
				 * memory */
};

static int make_directory(struct unwind_table *t)
{
	uint64_t lo, hi;

	if (!image_code_range(t->img, &lo, &hi) || hi < lo)
		return 0;
	/* pages of the kernel module (rows.c) are larger */
	t->base = lo & ~((1ull << TALLY_PAGE_BITS) - 1);
	t->npages = PAGES_MAX;
	if ((hi - t->base) >> PAGE_BITS < PAGES_MAX)
		t->npages = (size_t)(((hi - t->base) >> TALLY_PAGE_BITS) + 1)
			    << (TALLY_PAGE_BITS - PAGE_BITS);
	t->pages = calloc(t->npages, sizeof(*t->pages));
	return t->pages ? 0 : -ERR_NOMEM;
}

static int make_rules(struct unwind_table *t)
{
	for (int id = RULE_NONE; id < RULE_FIRST; id++) {
		uint32_t fast = id == RULE_NONE ? FAST_NO_DATA : FAST_NONE;

		if (vec_push(&t->rules, (struct rule){ 0 }) < 0 ||
		    vec_push(&t->fast, fast) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static bool ends_entry(void *ctx, const struct image_symbol *sym)
{
	struct unwind_table *t = ctx;

	if (sym->type == STT_FUNC && sym->vaddr == image_entry(t->img) && sym->size)
		t->entry_end = sym->vaddr + sym->size;
	return t->entry_end == 1;
}

uint64_t table_entry_end(struct unwind_table *t)
{
	if (!t->entry_end) {
		t->entry_end = 1;
		image_each_symbol(t->img, IMAGE_SYMTAB, ends_entry, t);
	}
	return t->entry_end;
}

int unwind_table_open(struct image *img, struct unwind_table **out)
{
	struct unwind_table *t;

	*out = NULL;
	if (image_machine(img) != (image_is_64(img) ? EM_X86_64 : EM_386)) {
		image_close(img);
		return -ERR_UNSUPPORTED;
	}
	t = calloc(1, sizeof(*t));
	if (!t) {
		image_close(img);
		return -ERR_NOMEM;
	}
	t->img = img;
	t->is32 = !image_is_64(img);
	if (make_directory(t) < 0 || make_rules(t) < 0) {
		unwind_table_close(t);
		return -ERR_NOMEM;
	}
	*out = t;
	return 0;
}

void unwind_table_close(struct unwind_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->pages && i < t->npages; i++)
		free(t->pages[i].lo);
	free(t->pages);
	vec_fini(&t->rules);
	vec_fini(&t->fast);
	vec_fini(&t->exprs);
	idtab_fini(&t->by_rule);
	idtab_fini(&t->by_expr);
	if (t->debug)
		image_close(t->debug);
	image_close(t->img);
	free(t);
}

/* Returns the bytes of call frame information. */
static uint64_t cfi_size(struct image *img)
{
	uint64_t size = 0;

	for (int k = 0; k < CFI_KINDS; k++) {
		struct cfi_section s;

		if (cfi_open(img, (enum cfi_kind)k, &s))
			size += s.data.n;
	}
	return size;
}

bool unwind_table_wants_debug(struct unwind_table *t)
{
	enum { USUAL = 64 };	/* compilers emit more than 1/64 */
	uint64_t lo, hi;

	return image_code_range(t->img, &lo, &hi) && hi > lo &&
	       cfi_size(t->img) < (hi - lo) / USUAL;
}

void unwind_table_add_debug(struct unwind_table *t, struct image *debug)
{
	bool same = image_is_64(debug) == image_is_64(t->img);

	if (t->debug || t->limited || !same)
		image_close(debug);
	else
		t->debug = debug;
}

struct image *unwind_table_image(struct unwind_table *t)
{
	return t->img;
}

/* Sets limits before the first page is compiled, because sections are only read
 * when needed. */
static void set_limits(struct unwind_table *t)
{
	uint64_t size = cfi_size(t->img);

	if (t->limited)
		return;
	t->limited = true;
	if (t->debug)
		size += cfi_size(t->debug);
	t->room = ROOM + ROOM_FACTOR * size;
	t->fuel = FUEL + FUEL_FACTOR * size;
}

struct asked {
	struct rule *own;
	int id;
};

static int take_row(void *ctx, uint64_t lo, uint64_t hi, const struct rule *r)
{
	struct asked *a = ctx;

	(void)lo, (void)hi;
	a->id = r ? RULE_ASK : RULE_BAD;
	if (r)
		*a->own = *r;
	return 0;
}

/* Reads the rule of one address without its page: RULE_ASK and *own, another id
 * without a rule, or -ERR_NOMEM. */
static int table_ask(struct unwind_table *t, uint64_t vaddr, struct rule *own)
{
	struct asked a = { own, RULE_NONE };
	struct cfi_section s;
	struct cfi_cie cie;
	struct cfi_fde fde;
	struct cfa_program p = {
		.t = t, .s = &s, .cie = &cie, .fde = &fde,
		.lo = vaddr, .hi = vaddr + 1, .cb = take_row, .ctx = &a,
	};
	int rc;

	set_limits(t);
	if (!t->fuel)
		return RULE_BAD;
	if (!image_find_fde(t->img, vaddr, &s, &cie, &fde) &&
	    (!t->debug || !image_find_fde(t->debug, vaddr, &s, &cie, &fde)))
		return RULE_NONE;
	rc = cfa_run(&p);
	return rc < 0 ? rc : a.id;
}

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

/* Compiles the rows of a page of code.  Each function's rows are painted over the
 * addresses, those of .eh_frame last so that they win where functions overlap.  Then each
 * run of addresses with the same rule becomes a row.  Returns 0 or -ERR_NOMEM. */
static int page_compile(struct unwind_table *t, size_t number)
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

int table_page(struct unwind_table *t, size_t number)
{
	int rc;

	if (t->pages[number].n)
		return 0;
	set_limits(t);
	rc = page_compile(t, number);
	/* A fault maps 64 KB of a file (fault_around_bytes, Linux), and the
	 * search of a page's entries takes a dozen of them. */
	if (t->compiled % RELEASE_PAGES == 0) {
		image_release(t->img);
		if (t->debug)
			image_release(t->debug);
	}
	return rc;
}

/* Returns the rule of the last row at or below the address; the first row is at
 * 0.  Functions have rows about as evenly as bytes, so the search begins where the row
 * would be if all were of one size: it reads half as many lines of memory. */
static uint16_t page_find(const struct page *p, uint16_t addr)
{
	enum { NEAR = 16 };
	size_t guess = (size_t)addr * p->n >> PAGE_BITS, at;
	size_t from = guess > NEAR ? guess - NEAR : 0;
	size_t to = p->n - guess > NEAR ? guess + NEAR : p->n;

	if (p->lo[from] > addr)
		from = 0, to = guess;
	else if (to < p->n && p->lo[to] <= addr)
		from = to, to = p->n;
	last_where(at, to - from, p->lo[from + at] <= addr);
	return p->lo[from + at + p->n];
}

int table_find(struct unwind_table *t, uint64_t vaddr, uint32_t *fast,
	       struct rule *own, const struct rule **rule)
{
	uint64_t number = (vaddr - t->base) >> PAGE_BITS;
	int id = RULE_ASK;

	if (number < t->npages) {
		int rc = table_page(t, (size_t)number);

		if (rc < 0)
			return rc;
		id = page_find(&t->pages[number],
			       vaddr & (PAGE_SIZE_ - 1));
	}
	if (id == RULE_ASK) {
		id = table_ask(t, vaddr, own);
		*rule = own;
		*fast = id == RULE_ASK ? rule_fast(own, t->is32) :
			id == RULE_NONE ? FAST_NO_DATA : FAST_NONE;
		return id;
	}
	*rule = &t->rules.v[id];
	*fast = t->fast.v[id];
	return id;
}

int unwind_table_compile(struct unwind_table *t)
{
	for (size_t i = 0; i < t->npages; i++) {
		int rc = table_page(t, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

struct unwind_table_stats unwind_table_stats(const struct unwind_table *t)
{
	struct unwind_table_stats s = {
		.pages = t->compiled, .rows = t->rows,
		.rules = t->rules.n - RULE_FIRST,
	};

	s.bytes = sizeof(*t) + t->npages * sizeof(*t->pages) +
		  t->rows * 2 * sizeof(uint16_t) +
		  t->rules.cap * sizeof(*t->rules.v) +
		  t->fast.cap * sizeof(*t->fast.v) +
		  t->exprs.cap * sizeof(*t->exprs.v) +
		  (t->by_rule.cap + t->by_expr.cap) * 2 * sizeof(uint32_t);
	return s;
}
