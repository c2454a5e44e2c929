// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds the code and lines of functions that were not hot when the profile was
 * symbolized, and are requested now: see symbolize_profile.h.  Existing rows do
 * not change.
 */
#include <stdlib.h>

#include "base/search.h"
#include "profile/symbolize_internal.h"

enum {
	COLD_SIZE = 1 << 20,	/* bytes of one function */
	COLD_BYTES = 4 << 20,	/* bytes of all functions */
};

struct cold {
	uint32_t image;
	uint64_t start, size;
	uint32_t symbol;
	uint32_t rank;		/* 0: the most important */
};

struct cold_image {
	struct symbolize_run *f;
	struct symbolize_item part;
	const struct cold *v;	/* n functions, ascending */
	size_t n;
	struct symbolize_addrs ask;
	uint32_t frame;		/* frame of the most recent result */
	int rc;
};

static int by_place(const void *x, const void *y)
{
	const struct cold *a = x, *b = y;

	return ascending(a->image, b->image) ?:
	       ascending(a->start, b->start) ?:
	       ascending(a->rank, b->rank);
}

/* Chooses the functions that fit the budget, by image and address.  Returns
 * their number. */
static size_t choose(const struct profile *p, const uint32_t *symbols, size_t n,
		     struct cold *v)
{
	uint64_t used = 0;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct prof_symbol *s = &p->symbols.v[symbols[i]];

		if (p->images.v[s->image].kind != PROF_IMAGE_ELF || !s->size ||
		    s->size > COLD_SIZE || s->size > COLD_BYTES - used ||
		    s->vaddr > UINT64_MAX - s->size)
			continue;
		used += s->size;
		v[kept++] = (struct cold){ s->image, s->vaddr, s->size,
					   symbols[i], (uint32_t)i };
	}
	sort_rows(v, kept, by_place);
	return kept;
}

/* Requests every byte of the functions once. */
static int ask_lines(struct cold_image *c)
{
	uint64_t bytes = 0, at = 0;

	for (size_t i = 0; i < c->n; i++)
		bytes += c->v[i].size;
	c->ask.vaddrs = malloc((size_t)(bytes + 1) * sizeof(*c->ask.vaddrs));
	if (!c->ask.vaddrs)
		return -ERR_NOMEM;
	for (size_t i = 0; i < c->n; i++) {
		uint64_t end = c->v[i].start + c->v[i].size;

		for (at = at > c->v[i].start ? at : c->v[i].start; at < end;
		     at++)
			c->ask.vaddrs[c->ask.n++] = at;
	}
	return 0;
}

static bool on_line(void *ctx, size_t i, const struct sym_result *r)
{
	struct cold_image *c = ctx;

	(void)i;
	if (!r->same)
		c->rc = symbolize_add_frames(c->f, c->part.image, r, &c->frame);
	if (!c->rc)
		c->rc = symbolize_add_line(c->f, &c->part, &c->ask, r,
					   c->frame);
	return c->rc == 0;
}

struct claims {
	const struct cold *v;
	bool *hold;		/* by function */
};

static bool on_claim(void *ctx, size_t i, const struct sym_result *r)
{
	struct claims *c = ctx;

	c->hold[i] = r->sym_start == c->v[i].start &&
		     r->sym_size == c->v[i].size;
	return true;
}

/* Finds which functions of the recording also exist in the file, because the recording's
 * author may have invented them.  A build ID shows that the author had the file.  The
 * caller frees the result; NULL if out of memory. */
static bool *check_claims(const struct cold_image *c, struct symbolizer *s)
{
	struct claims claims = { c->v, calloc(c->n + 1, 1) };
	uint64_t *starts = calloc(c->n + 1, sizeof(*starts));
	bool known = c->f->p->images.v[c->part.image].build_id.len;
	struct error ignored;

	for (size_t i = 0; claims.hold && starts && i < c->n; i++) {
		starts[i] = c->v[i].start;
		claims.hold[i] = known;
	}
	if (!claims.hold || !starts ||
	    (!known && symbolizer_resolve(s, starts, c->n, on_claim, &claims,
					  &ignored) < 0)) {
		free(claims.hold);
		claims.hold = NULL;
	}
	free(starts);
	return claims.hold;
}

static int take_code(struct cold_image *c, struct image *img,
		     struct symbolizer *s)
{
	struct symbolize_run *f = c->f;
	bool *hold = check_claims(c, s);
	size_t first = f->codes.n;

	for (size_t i = 0; hold && i < c->n; i++) {
		struct symbolize_code code = { c->v[i].symbol,
					  UINT32_MAX - c->v[i].rank,
					  f->bytes.n, 0 };

		if (hold[i])
			code.size = read_image_code(img, c->v[i].start,
						    (size_t)c->v[i].size,
						    &f->bytes);
		if (code.size && vec_push(&f->codes, code) < 0)
			f->bytes.failed = true;
	}
	if (!hold || (f->codes.n > first &&
		      vec_push(&f->p->code_from, c->part.image) < 0))
		f->bytes.failed = true;
	free(hold);
	return f->bytes.failed ? -ERR_NOMEM : 0;
}

/* Registers existing symbols, because functions that the code refers to may
 * already have a row. */
static int know_symbols(struct cold_image *c)
{
	const struct profile *p = c->f->p;

	for (size_t i = 0; i < p->symbols.n; i++)
		if (p->symbols.v[i].image == c->part.image &&
		    u64map_put(&c->f->symbols, p->symbols.v[i].vaddr,
			       (uint32_t)i) < 0)
			return -ERR_NOMEM;
	return 0;
}

static int fill_from(struct cold_image *c, struct image *img,
		     struct symbolizer *s)
{
	struct symbolize_run *f = c->f;
	struct sym_sources has = symbolizer_sources(s);
	size_t first = f->codes.n;
	struct error err;
	int rc = 0;

	if (take_code(c, img, s) < 0 || know_symbols(c) < 0)
		return symbolize_nomem(f);
	if (has.dwarf || has.go)
		rc = ask_lines(c);
	if (!rc)
		rc = symbolizer_resolve(s, c->ask.vaddrs, c->ask.n, on_line, c,
					&err);
	if (c->rc || rc == -ERR_NOMEM ||
	    symbolize_end_lines(f, &c->part, &c->ask) < 0)
		return symbolize_nomem(f);
	if (rc) {
		*f->err = err;
		return rc;
	}
	return name_call_targets(f, &c->part, s, img, first);
}

/* Fills one image.  An unavailable file gives no code; that is not an error. */
static int symbolize_image(struct cold_image *c)
{
	struct sym_options so = { .debug_dirs = c->f->o->debug_dirs };
	struct symbolize_failure why = { 0 };
	struct image *img = symbolize_open_elf(c->f, &c->part, &why);
	struct symbolizer *s;
	int rc;

	if (!img)
		return 0;
	rc = symbolizer_open(img, &so, &s, c->f->err);
	if (!rc) {
		rc = fill_from(c, img, s);
		symbolizer_close(s);
	}
	symbolize_addrs_fini(&c->ask);
	symbolize_next_image(c->f);
	image_close(img);
	return rc;
}

struct line_at {
	struct prof_line l;
	size_t at;		/* position before sorting */
};

/* One function may end where the next one starts. */
static int by_line(const void *x, const void *y)
{
	const struct line_at *a = x, *b = y;

	return ascending(a->l.image, b->l.image) ?:
	       ascending(a->l.vaddr, b->l.vaddr) ?:
	       descending(a->l.frame == PROF_NONE, b->l.frame == PROF_NONE) ?:
	       ascending(a->at, b->at);
}

static int sort_lines(struct profile *p)
{
	size_t n = p->lines.n;
	struct line_at *v = malloc((n + 1) * sizeof(*v));

	if (!v)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct line_at){ p->lines.v[i], i };
	sort_rows(v, n, by_line);
	for (size_t i = 0; i < n; i++)
		p->lines.v[i] = v[i].l;
	free(v);
	return 0;
}

static int fill_all(struct symbolize_run *f, const struct cold *v, size_t n)
{
	struct profile *p = f->p;
	size_t lines = p->lines.n;
	int rc = 0;

	for (size_t i = 0, k; !rc && i < n; i = k) {
		const struct prof_image *im = &p->images.v[v[i].image];
		struct cold_image c = {
			.f = f, .v = v + i, .frame = PROF_NONE,
			.ask = { .last = PROF_NONE },
			.part = { .image = v[i].image,
				  .path = profile_cstr(p, im->path),
				  .reason = profile_cstr(p, im->reason) },
		};

		for (k = i; k < n && v[k].image == v[i].image; k++)
			;
		c.n = k - i;
		if (f->o->progress)
			f->o->progress(f->o->ctx, c.part.path, i, n);
		rc = symbolize_image(&c);
	}
	if (!rc)
		rc = symbolize_choose_code(f);
	if (!rc && p->lines.n > lines && sort_lines(p) < 0)
		rc = symbolize_nomem(f);
	return rc;
}

int profile_add_cold_code(struct profile *p, const uint32_t *symbols, size_t n,
			  const struct symbolize_options *o, struct error *err)
{
	struct symbolize_options mine = { .debug_dirs = o->debug_dirs,
				     .for_others = o->for_others,
				     .code_budget = SIZE_MAX,
				     .progress = o->progress, .ctx = o->ctx };
	struct symbolize_run f = { .p = p, .o = &mine, .err = err,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .moved = PTHREAD_COND_INITIALIZER };
	struct cold *v;
	int rc = 0;

	if (p->foreign)
		return 0;
	v = malloc((n + 1) * sizeof(*v));

	if (v)
		n = choose(p, symbols, n, v);
	if (!v || profile_index_symbols(p) < 0 ||
	    vec_reserve(&f.self_samples, p->symbols.n + 1) < 0) {
		rc = symbolize_nomem(&f);
	} else {
		while (f.self_samples.n < p->symbols.n)
			f.self_samples.v[f.self_samples.n++] = 0;
		rc = fill_all(&f, v, n);
	}
	free(v);
	symbolize_run_end(&f);
	return rc;
}
