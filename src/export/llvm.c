// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LLVM's sample profile as text (SampleProfReader.h): for clang
 * -fprofile-sample-use, and llvm-profdata that makes its binary forms.
 *
 * Samples are counted where they were taken, by function and inlined function and
 * by line from the function's first: stacks above that tell nothing of a program
 * that is compiled anew.  Head samples, how often a function was entered, are not
 * known without branch records and are 0.  Functions whose first line is not known
 * are left out; so is all that is no code of a file.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export/formats.h"

enum { OFFSET_MAX = 0xffff };	/* LLVM keeps 16 bits */

/* A function, or one inlined at a line of another. */
struct body {
	uint32_t parent, offset, fk;	/* parent PROF_NONE: a function */
	uint64_t total;			/* with those inlined into it */
	uint32_t first, last, next;	/* children; next sibling */
	uint32_t first_line;
};

struct line {
	uint32_t body, offset;
	uint64_t count;
	uint32_t next;
};

struct llvm {
	struct export *x;
	VEC(struct body) bodies;
	VEC(struct line) lines;
	struct idtab body_tab, line_tab;
	uint32_t first, last;		/* functions */
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
	struct body key = { parent, offset, fk, 0, PROF_NONE, PROF_NONE,
			    PROF_NONE, PROF_NONE };
	uint64_t h = hash_mix((uint64_t)parent << 32 | fk, offset);
	uint32_t id = idtab_find(&w->body_tab, h, body_eq, w, &key);
	uint32_t *first, *last;

	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)w->bodies.n;
	if (vec_push(&w->bodies, key) < 0 || idtab_add(&w->body_tab, h, id) < 0)
		return PROF_NONE;
	first = parent == PROF_NONE ? &w->first : &w->bodies.v[parent].first;
	last = parent == PROF_NONE ? &w->last : &w->bodies.v[parent].last;
	if (*last == PROF_NONE)
		*first = id;
	else
		w->bodies.v[*last].next = id;
	*last = id;
	return id;
}

static int add_line(struct llvm *w, uint32_t in, uint32_t offset, uint64_t n)
{
	struct line key = { in, offset, 0, PROF_NONE };
	uint64_t h = hash_mix(in, offset);
	uint32_t id = idtab_find(&w->line_tab, h, line_eq, w, &key);

	if (id == IDTAB_NONE) {
		id = (uint32_t)w->lines.n;
		key.next = w->bodies.v[in].first_line;
		if (vec_push(&w->lines, key) < 0 ||
		    idtab_add(&w->line_tab, h, id) < 0)
			return -ERR_NOMEM;
		w->bodies.v[in].first_line = id;
	}
	w->lines.v[id].count += n;
	for (; in != PROF_NONE; in = w->bodies.v[in].parent)
		w->bodies.v[in].total += n;
	return 0;
}

/* Lines from the function's first; false: not known. */
static bool offset_of(const struct llvm *w, const struct export_frame *f,
		      uint32_t *out)
{
	const struct prof_func *pf = export_func(w->x, f->fk);

	if (!pf || !pf->line || !f->line || pf->name == PROF_STR_EMPTY)
		return false;
	*out = (f->line - pf->line) & OFFSET_MAX;
	return true;
}

static int add_cell(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		    struct cell c, struct error *err)
{
	struct llvm *w = ctx;
	struct export *x = w->x;
	const struct prof_node *nodes = x->p->nodes.v;
	const struct prof_image *im;
	uint32_t in = PROF_NONE, offset, at = 0;

	(void)lane;
	if (col || !node || prof_is_mark(nodes[node].loc))
		return 0;
	if (export_chain(x, nodes[node].loc) < 0)
		return export_nomem(err);
	im = export_image(x, &x->frames.v[0]);
	if (!im || im->kind != PROF_IMAGE_ELF)
		return 0;
	for (size_t i = 0; i < x->frames.n; i++)
		if (!offset_of(w, &x->frames.v[i], &offset))
			return 0;
	for (size_t i = x->frames.n; i--;) {
		in = body(w, in, at, x->frames.v[i].fk);
		if (in == PROF_NONE)
			return export_nomem(err);
		offset_of(w, &x->frames.v[i], &at);
	}
	return add_line(w, in, at, c.count) < 0 ? export_nomem(err) : 0;
}

/* LLVM's own separators may not be in a name. */
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
			   w->lines.v[k].offset, w->lines.v[k].count);
}

/* Depth-first: a body, its lines, what is inlined into it. */
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
		buf_str(out, depth ? "\n" : ":0\n");
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
	int rc = export_stack_sums(x, add_cell, &w, err);

	if (!rc)
		rc = put_bodies(&w, err);
	vec_fini(&w.bodies);
	vec_fini(&w.lines);
	idtab_fini(&w.body_tab);
	idtab_fini(&w.line_tab);
	return rc;
}
