// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes LLVM's sample profile as text (SampleProfReader.h), for clang
 * -fprofile-sample-use, and for llvm-profdata, which makes its binary forms.
 *
 * The counts are estimated execution counts of lines, by function and inlined
 * function, and by line relative to the function's first.  Callers are not
 * written, because they do not matter for a program that is compiled again.  If
 * the recording contains a function's code, its counts are those of basic
 * blocks (block_counts.h).  A line has the count of its most frequent block,
 * and the first block gives the head samples.  Otherwise a line has the mean of
 * its addresses with samples, and the function's head is its first line with
 * samples.  Functions whose first line is unknown are omitted, and so is code
 * without a file.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "compare/insn_tokens.h"
#include "export/block_counts.h"
#include "export/formats.h"
#include "profile/symbol_order.h"

enum {
	OFFSET_MAX = 0xffff,	/* LLVM stores 16 bits */
	/* factor of counts, so that a sample at one of 100 instructions is not
	 * lost */
	SCALE = 100,
};

#define COUNT_MAX 1e15

/* A function, or a function inlined at a line of another. */
struct body {
	uint32_t parent, offset, fk;	/* parent PROF_NONE: not inlined */
	uint64_t total;			/* including functions inlined into it */
	/* execution count of its first block; negative: unknown */
	double head;
	uint32_t first, last, next;	/* first and last child; next sibling */
	uint32_t first_line;
};

struct line {
	uint32_t body, offset;
	double runs;
	/* used if execution counts of blocks are unknown */
	double samples, addresses;
	uint32_t next;
};

struct llvm {
	struct export *x;
	VEC(struct body) bodies;
	VEC(struct line) lines;
	struct idtab body_tab, line_tab;
	uint32_t first, last;		/* list of functions that are not inlined */
	uint64_t *count;		/* samples by location */
	VEC(struct address_samples) samples;	/* samples in code of files, sorted */
	/* copy of the profile's, by image and address */
	struct prof_line *rows;
	struct block_counts blocks;
};

static bool body_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct llvm *w = ctx;
	const struct body *a = &w->bodies.v[id], *b = key;

	return a->parent == b->parent && a->offset == b->offset &&
	       a->fk == b->fk;
}

static bool line_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct llvm *w = ctx;
	const struct line *a = &w->lines.v[id], *b = key;

	return a->body == b->body && a->offset == b->offset;
}

static uint32_t body(struct llvm *w, uint32_t parent, uint32_t offset,
		     uint32_t fk)
{
	struct body key = { parent, offset, fk, 0, -1, PROF_NONE, PROF_NONE,
			    PROF_NONE, PROF_NONE };
	uint64_t h = hash_mix((uint64_t)parent << 32 | fk, offset);
	uint32_t before = (uint32_t)w->bodies.n;
	uint32_t id = idtab_row(&w->body_tab, &w->bodies, h, body_eq, w, &key);
	uint32_t *first, *last;

	if (w->bodies.n == before)
		return id;
	first = parent == PROF_NONE ? &w->first : &w->bodies.v[parent].first;
	last = parent == PROF_NONE ? &w->last : &w->bodies.v[parent].last;
	if (*last == PROF_NONE)
		*first = id;
	else
		w->bodies.v[*last].next = id;
	*last = id;
	return id;
}

static struct line *line_of(struct llvm *w, uint32_t in, uint32_t offset)
{
	struct line key = { .body = in, .offset = offset,
			    .next = w->bodies.v[in].first_line };
	size_t before = w->lines.n;
	uint32_t id = idtab_row(&w->line_tab, &w->lines, hash_mix(in, offset),
				line_eq, w, &key);

	if (w->lines.n > before)
		w->bodies.v[in].first_line = id;
	return id == IDTAB_NONE ? NULL : &w->lines.v[id];
}

/* Computes the line relative to the function's first.  Returns false if
 * unknown. */
static bool offset_of(const struct llvm *w, uint32_t frame, uint32_t *out)
{
	const struct prof_frame *f = &w->x->p->frames.v[frame];
	uint32_t fk = w->x->keys.steps[frame].fk;
	const struct prof_func *pf = fk == PROF_NONE ? NULL
						     : export_func(w->x, fk);

	if (!pf || !pf->line || !f->line || pf->name == PROF_STR_EMPTY)
		return false;
	*out = (f->line - pf->line) & OFFSET_MAX;
	return true;
}

/* Finds the body of a frame and the line in it.  Returns 1 if its inline chain
 * is not fully known. */
static int body_of(struct llvm *w, uint32_t frame, uint32_t *in, uint32_t *at)
{
	const struct prof_frame *frames = w->x->p->frames.v;
	uint32_t chain[INLINE_MAX], offset = 0;
	size_t n = 0;

	for (uint32_t f = frame; f != PROF_NONE; f = frames[f].outer) {
		if (n == INLINE_MAX || !offset_of(w, f, &offset))
			return 1;
		if (w->x->spec->no_inline)
			n = 0;
		chain[n++] = f;
	}
	*in = PROF_NONE;
	*at = 0;
	while (n--) {
		*in = body(w, *in, *at, w->x->keys.steps[chain[n]].fk);
		if (*in == PROF_NONE)
			return -ERR_NOMEM;
		offset_of(w, chain[n], at);
	}
	return *in == PROF_NONE;
}

/* Finds or adds the line of a frame and the body that it is in.  Returns 0, 1 if the
 * frame has none, or -ERR_NOMEM. */
static int line_of_frame(struct llvm *w, uint32_t frame, uint32_t *in,
			 struct line **l)
{
	uint32_t at;
	int rc = frame == PROF_NONE ? 1 : body_of(w, frame, in, &at);

	if (rc)
		return rc;
	*l = line_of(w, *in, at);
	return *l ? 0 : -ERR_NOMEM;
}

/* Adds an instruction of a block with a known execution count. */
static int add_runs(struct llvm *w, uint32_t frame, double runs, bool entry)
{
	uint32_t in;
	struct line *l;
	int rc = line_of_frame(w, frame, &in, &l);

	if (rc)
		return rc < 0 ? rc : 0;
	if (runs > l->runs)
		l->runs = runs;
	while (entry && w->bodies.v[in].parent != PROF_NONE)
		in = w->bodies.v[in].parent;
	if (entry && runs > w->bodies.v[in].head)
		w->bodies.v[in].head = runs;
	return 0;
}

/* Adds an address with samples outside known blocks. */
static int add_address(struct llvm *w, uint32_t frame, uint64_t samples)
{
	uint32_t in;
	struct line *l;
	int rc = line_of_frame(w, frame, &in, &l);

	if (rc)
		return rc < 0 ? rc : 0;
	l->samples += (double)samples;
	l->addresses++;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct address_samples *x = a, *y = b;

	return ascending(x->image, y->image) ?:
	       ascending(x->vaddr, y->vaddr);
}

static int by_place(const void *a, const void *b)
{
	const struct prof_line *x = a, *y = b;

	return ascending(x->image, y->image) ?:
	       ascending(x->vaddr, y->vaddr);
}

/* Sorts the samples by address, and the profile's line rows. */
static int prepare(struct llvm *w)
{
	const struct profile *p = w->x->p;

	for (uint32_t i = 0; i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];

		if (w->count[i] &&
		    p->images.v[l->image].kind == PROF_IMAGE_ELF &&
		    vec_push(&w->samples, (struct address_samples){
				l->image, l->vaddr, w->count[i] }) < 0)
			return -ERR_NOMEM;
	}
	vec_sort(&w->samples, by_address);
	w->rows = malloc((p->lines.n + 1) * sizeof(*w->rows));
	if (!w->rows)
		return -ERR_NOMEM;
	if (p->lines.n) {
		memcpy(w->rows, p->lines.v, p->lines.n * sizeof(*w->rows));
		sort_rows(w->rows, p->lines.n, by_place);
	}
	return 0;
}

/* Returns the index of the first sample at or after an address. */
static size_t samples_from(const struct llvm *w, uint32_t image, uint64_t vaddr)
{
	const struct address_samples want = { image, vaddr, 0 };
	size_t at;

	lower_bound(at, 0, w->samples.n,
		    by_address(&w->samples.v[at], &want) < 0);
	return at;
}

/* Returns the innermost frame of an address, using line rows from *row on. */
static uint32_t frame_at(const struct llvm *w, uint32_t image, uint64_t vaddr,
			 size_t *row)
{
	size_t n = w->x->p->lines.n;
	const struct prof_line want = { .image = image, .vaddr = vaddr };

	while (*row + 1 < n && by_place(&w->rows[*row + 1], &want) <= 0)
		++*row;
	return *row < n && w->rows[*row].image == image &&
	       w->rows[*row].vaddr <= vaddr ? w->rows[*row].frame : PROF_NONE;
}

static size_t row_before(const struct llvm *w, uint32_t image, uint64_t vaddr)
{
	const struct prof_line want = { .image = image, .vaddr = vaddr };
	size_t end;

	lower_bound(end, 0, w->x->p->lines.n,
		    by_place(&w->rows[end], &want) <= 0);
	return end ? end - 1 : 0;
}

/* Adds the instructions of a function whose code the profile contains. */
static int add_code(struct llvm *w, const struct prof_code *c)
{
	const struct profile *p = w->x->p;
	uint64_t end = c->vaddr + c->size;
	size_t first = samples_from(w, c->image, c->vaddr), n = first;
	size_t row = row_before(w, c->image, c->vaddr);
	int rc;

	while (n < w->samples.n && w->samples.v[n].image == c->image &&
	       w->samples.v[n].vaddr < end)
		n++;
	if (end < c->vaddr || n == first)
		return 0;
	rc = block_counts_fill(p, c, insn_machine(p, c->image),
			       w->samples.v + first, n - first, &w->blocks);
	for (size_t i = 0; !rc && i < w->blocks.insns.n; i++) {
		uint64_t at = w->blocks.insns.v[i].vaddr;

		rc = add_runs(w, frame_at(w, c->image, at, &row),
			      w->blocks.insns.v[i].runs, !i);
	}
	/* these samples are counted now */
	for (size_t i = first; !rc && i < n; i++)
		w->samples.v[i].count = 0;
	return rc < 0 ? rc : 0;
}

static int add_all(struct llvm *w)
{
	const struct profile *p = w->x->p;
	int rc = prepare(w);

	for (size_t i = 0; !rc && i < p->codes.n; i++)
		if (p->images.v[p->codes.v[i].image].kind == PROF_IMAGE_ELF)
			rc = add_code(w, &p->codes.v[i]);
	for (uint32_t i = 0; !rc && i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];
		size_t k = samples_from(w, l->image, l->vaddr);

		if (w->count[i] && i < p->loc_frame.n && k < w->samples.n &&
		    w->samples.v[k].image == l->image &&
		    w->samples.v[k].vaddr == l->vaddr && w->samples.v[k].count)
			rc = add_address(w, p->loc_frame.v[i],
					 w->samples.v[k].count);
	}
	return rc;
}

/* Scales a count for output.  Readers reject larger numbers, so sums of hostile
 * weights are limited. */
static uint64_t scaled(double runs)
{
	return runs < COUNT_MAX / SCALE ? (uint64_t)llround(SCALE * runs)
					: (uint64_t)COUNT_MAX;
}

static uint64_t count_of(const struct line *l)
{
	double runs = l->addresses > 0 && l->samples / l->addresses > l->runs
			      ? l->samples / l->addresses : l->runs;

	return scaled(runs);
}

/* Adds up totals.  A body's index is greater than its parent's. */
static void add_up(struct llvm *w)
{
	for (size_t i = 0; i < w->lines.n; i++)
		w->bodies.v[w->lines.v[i].body].total +=
			count_of(&w->lines.v[i]);
	for (size_t i = w->bodies.n; i--;) {
		const struct body *b = &w->bodies.v[i];

		if (b->parent != PROF_NONE)
			w->bodies.v[b->parent].total += b->total;
	}
}

/* Returns the count of a body's first line, or of a function inlined before
 * it. */
static uint64_t first_count(const struct llvm *w, uint32_t in)
{
	for (;;) {
		const struct body *b = &w->bodies.v[in];
		uint32_t line = PROF_NONE, child = PROF_NONE;

		for (uint32_t k = b->first_line; k != PROF_NONE;
		     k = w->lines.v[k].next)
			if (line == PROF_NONE || w->lines.v[k].offset <
						 w->lines.v[line].offset)
				line = k;
		for (uint32_t k = b->first; k != PROF_NONE;
		     k = w->bodies.v[k].next)
			if (child == PROF_NONE || w->bodies.v[k].offset <
						  w->bodies.v[child].offset)
				child = k;
		if (child == PROF_NONE ||
		    (line != PROF_NONE && w->lines.v[line].offset <=
					  w->bodies.v[child].offset))
			return line == PROF_NONE ? 0
						 : count_of(&w->lines.v[line]);
		in = child;
	}
}

/* Returns the head samples, at least 1: a function that ran was entered. */
static uint64_t head_of(const struct llvm *w, uint32_t in)
{
	double known = w->bodies.v[in].head;
	uint64_t head = known >= 0 ? scaled(known) : first_count(w, in);

	return head ? head : 1;
}

/* Writes a name with LLVM's own separators replaced. */
static void put_name(struct llvm *w, uint32_t fk)
{
	for (const char *s = export_linkage(w->x, fk); *s; s++)
		buf_u8(&w->x->out, *s == ':' || *s == ' ' ? '_' : (uint8_t)*s);
}

static void put_lines(struct llvm *w, uint32_t in, size_t depth)
{
	for (uint32_t k = w->bodies.v[in].first_line; k != PROF_NONE;
	     k = w->lines.v[k].next)
		buf_printf(&w->x->out, "%*s%u: %" PRIu64 "\n", (int)depth, "",
			   w->lines.v[k].offset, count_of(&w->lines.v[k]));
}

/* Writes bodies depth-first: a body, its lines, then functions inlined into
 * it. */
static int put_bodies(struct llvm *w, struct error *err)
{
	struct buf *out = &w->x->out;
	uint32_t at = w->first;
	size_t depth = 0;
	int rc = 0;

	while (!rc && at != PROF_NONE) {
		const struct body *b = &w->bodies.v[at];

		if (depth)
			buf_printf(out, "%*s%u: ", (int)depth, "", b->offset);
		put_name(w, b->fk);
		buf_printf(out, ":%" PRIu64, b->total);
		if (!depth)
			buf_printf(out, ":%" PRIu64, head_of(w, at));
		buf_u8(out, '\n');
		put_lines(w, at, depth + 1);
		rc = export_flush(w->x, false, err);
		if (b->first != PROF_NONE) {
			at = b->first;
			depth++;
			continue;
		}
		while (at != PROF_NONE && w->bodies.v[at].next == PROF_NONE) {
			at = w->bodies.v[at].parent;
			depth--;
		}
		at = at == PROF_NONE ? at : w->bodies.v[at].next;
	}
	return rc;
}

int export_llvm(struct export *x, struct error *err)
{
	struct llvm w = { .x = x, .first = PROF_NONE, .last = PROF_NONE };
	int rc = export_loc_counts(x, &w.count, err);

	if (!rc && add_all(&w) < 0)
		rc = error_nomem(err);
	if (!rc) {
		add_up(&w);
		rc = put_bodies(&w, err);
	}
	free(w.count);
	free(w.rows);
	vec_fini(&w.samples);
	block_counts_fini(&w.blocks);
	vec_fini(&w.bodies);
	vec_fini(&w.lines);
	idtab_fini(&w.body_tab);
	idtab_fini(&w.line_tab);
	return rc;
}
