// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the code bytes stored in a profile: those of the symbols with the
 * most self samples, as many as the budget allows. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/symbolize_internal.h"

enum {
	HOT_SHARE = 100,	/* hot: at least 1/100 of all samples… */
	HOT_SIZE = 1 << 20,	/* … in a function of at most this size in bytes… */
	HOT_BUDGET = 4 << 20,	/* … as long as all of them fit in this many bytes */
};

bool symbolize_is_hot(const struct symbolize_run *f, uint64_t self_samples,
		      uint64_t size)
{
	return self_samples && size <= HOT_SIZE &&
	       self_samples >= f->all_self_samples / HOT_SHARE;
}

static int hotter(const void *a, const void *b)
{
	const struct symbolize_code *x = a, *y = b;

	return descending(x->self_samples, y->self_samples) ?:
	       ascending(x->symbol, y->symbol);
}

size_t read_image_code(void *img, uint64_t vaddr, size_t n, struct buf *out)
{
	struct span code = { NULL, 0 };

	/* The recording says where its functions are, and may mean data. */
	if (image_is_code(img, vaddr, n))
		code = image_bytes(img, vaddr, n);
	buf_bytes(out, code.p, code.n);
	return code.n;
}

/* Returns the total bytes of code that may be stored, including a function with
 * these samples and size. */
static uint64_t budget_of(const struct symbolize_run *f, uint64_t self_samples,
			  uint64_t size)
{
	return symbolize_is_hot(f, self_samples, size) && f->o->code_budget < HOT_BUDGET
		       ? HOT_BUDGET : f->o->code_budget;
}

int symbolize_keep_code(struct symbolize_run *f, uint32_t first, read_code_fn *read,
			void *ctx)
{
	struct profile *p = f->p;
	size_t start = f->codes.n, i, kept = start;
	uint64_t used = 0;

	if (!f->o->self_samples || !f->o->code_budget)
		return 0;
	for (i = first; i < p->symbols.n; i++) {
		struct symbolize_code c = { (uint32_t)i, f->self_samples.v[i], 0, 0 };
		uint64_t size = p->symbols.v[i].size;

		if (c.self_samples && (size <= f->o->code_budget ||
				       symbolize_is_hot(f, c.self_samples, size)) &&
		    vec_push(&f->codes, c) < 0)
			return symbolize_nomem(f);
	}
	sort_rows(f->codes.v + start, f->codes.n - start, hotter);
	/* A single image cannot use more than the whole budget. */
	for (i = start; i < f->codes.n; i++) {
		struct symbolize_code c = f->codes.v[i];
		const struct prof_symbol *s = &p->symbols.v[c.symbol];

		if (used + s->size > budget_of(f, c.self_samples, s->size))
			continue;
		c.offset = f->bytes.n;
		c.size = read(ctx, s->vaddr, (size_t)s->size, &f->bytes);
		used += c.size;
		if (c.size)
			f->codes.v[kept++] = c;
	}
	f->codes.n = kept;
	return f->bytes.failed ? symbolize_nomem(f) : 0;
}

int symbolize_choose_code(struct symbolize_run *f)
{
	struct profile *p = f->p;
	size_t i;

	vec_sort(&f->codes, hotter);
	for (i = 0; i < f->codes.n; i++) {
		const struct symbolize_code *c = &f->codes.v[i];
		const struct prof_symbol *s = &p->symbols.v[c->symbol];
		struct prof_code row = { s->image, s->vaddr,
					 (uint32_t)p->code_bytes.n,
					 (uint32_t)c->size };

		if (p->code_bytes.n + c->size >
			    budget_of(f, c->self_samples, s->size) ||
		    p->code_bytes.n + c->size > UINT32_MAX)
			continue;
		buf_bytes(&p->code_bytes, f->bytes.p + c->offset, c->size);
		if (p->code_bytes.failed || vec_push(&p->codes, row) < 0)
			return symbolize_nomem(f);
	}
	return 0;
}
