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

int unwind_table_open(struct image *img, struct unwind_table **out,
		      struct error *err)
{
	uint16_t machine = image_machine(img);
	struct unwind_table *t;

	*out = NULL;
	if (machine != (image_is_64(img) ? EM_X86_64 : EM_386)) {
		error_set(err, ERR_UNSUPPORTED,
			  "%s: code of machine %u is not unwound with tables",
			  image_name(img), machine);
		image_close(img);
		return -ERR_UNSUPPORTED;
	}
	t = calloc(1, sizeof(*t));
	if (!t) {
		image_close(img);
		return error_nomem(err);
	}
	t->img = img;
	t->is32 = !image_is_64(img);
	if (make_directory(t) < 0 || make_rules(t) < 0) {
		unwind_table_close(t);
		return error_nomem(err);
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

int table_ask(struct unwind_table *t, uint64_t vaddr, struct rule *own)
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
