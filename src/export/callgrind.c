// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes Callgrind's format, version 1 (cl-format of valgrind), for kcachegrind
 * and callgrind_annotate.
 *
 * Each function, including inlined ones, has its own cost by instruction and
 * line, and the inclusive cost of its calls by instruction, line and callee.  A
 * function's lines in another file (#include) follow fi=.  The numbers of calls
 * are numbers of samples, because calls were not counted.  In recursion a call
 * counts once per sample and line, so no line's inclusive cost exceeds the total.
 *
 * Addresses are those in the files of programs, as objdump shows them.  Where the
 * recording has a function's code, they are starts of instructions; elsewhere a
 * call has the last byte of its instruction.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "compare/insn_tokens.h"
#include "disasm/disasm.h"
#include "export/block_counts.h"
#include "export/formats.h"

/* A location, to be sorted by address. */
struct place {
	uint32_t image, loc;
	uint64_t vaddr;
};

/* Cost of an instruction of a function: its own if callee is PROF_NONE. */
struct cost {
	uint32_t fk, file, line, callee;
	uint64_t vaddr;
	uint64_t samples;
	size_t at;		/* offset in `weights` */
	uint64_t seen;		/* cell that was added last to its line and callee; in
				 * the first of these costs */
};

struct callgrind {
	struct export *x;
	VEC(struct cost) costs;
	VEC(uint64_t) weights;		/* [cost.at + column] */
	struct idtab tab;
	struct idtab line_tab;		/* the first cost of each line and callee */
	uint64_t cells;
	uint64_t *insns;		/* by location: where its instruction begins */
	uint8_t *named_fn, *named_str;	/* names whose numbers are defined already */
};

static int by_place(const void *p, const void *q)
{
	const struct place *a = p, *b = q;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Moves the locations in a function's code to the starts of their instructions.
 * `places` are sorted. */
static int move_places(struct callgrind *w, const struct prof_code *c,
		       const struct place *places, size_t n,
		       struct block_counts *code)
{
	const struct profile *p = w->x->p;
	const struct place want = { .image = c->image, .vaddr = c->vaddr };
	size_t at, i = 0;
	int rc;

	lower_bound(at, 0, n, by_place(&places[at], &want) < 0);
	if (at == n || places[at].image != c->image ||
	    places[at].vaddr - c->vaddr >= c->size)
		return 0;
	rc = block_counts_fill(p, c, insn_machine(p, c->image), NULL, 0, code);
	for (; !rc && at < n && places[at].image == c->image &&
	       places[at].vaddr - c->vaddr < c->size; at++) {
		while (i + 1 < code->insns.n &&
		       code->insns.v[i + 1].vaddr <= places[at].vaddr)
			i++;
		if (places[at].vaddr - code->insns.v[i].vaddr < DISASM_INSN_MAX)
			w->insns[places[at].loc] = code->insns.v[i].vaddr;
	}
	return rc < 0 ? rc : 0;
}

static int find_instructions(struct callgrind *w)
{
	const struct profile *p = w->x->p;
	struct place *places = malloc((p->locs.n + 1) * sizeof(*places));
	struct block_counts code = { 0 };
	int rc = 0;

	w->insns = malloc((p->locs.n + 1) * sizeof(*w->insns));
	if (!places || !w->insns)
		rc = -ERR_NOMEM;
	for (uint32_t i = 0; !rc && i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];

		places[i] = (struct place){ l->image, i, l->vaddr };
		w->insns[i] = l->vaddr;
	}
	if (!rc && p->locs.n)
		qsort(places, p->locs.n, sizeof(*places), by_place);
	for (size_t i = 0; !rc && i < p->codes.n; i++)
		rc = move_places(w, &p->codes.v[i], places, p->locs.n, &code);
	block_counts_fini(&code);
	free(places);
	return rc;
}

static bool line_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct callgrind *w = ctx;
	const struct cost *a = &w->costs.v[id], *b = key;

	return a->fk == b->fk && a->file == b->file && a->line == b->line &&
	       a->callee == b->callee;
}

static bool cost_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct callgrind *w = ctx;
	const struct cost *b = key;

	return line_eq(ctx, id, key) && w->costs.v[id].vaddr == b->vaddr;
}

/* Returns the file that declares a function, or `other` if it is unknown. */
static uint32_t own_file(const struct callgrind *w, uint32_t fk, uint32_t other)
{
	const struct prof_func *f = export_func(w->x, fk);

	return f && f->file != PROF_STR_EMPTY ? f->file : other;
}

static int add(struct callgrind *w, const struct export_frame *f,
	       uint32_t callee, uint32_t col, struct cell c)
{
	struct cost key = { .fk = f->fk, .file = f->file, .line = f->line,
			    .callee = callee };
	uint64_t line = hash_mix((uint64_t)key.fk << 32 | key.callee,
				 (uint64_t)key.file << 32 | key.line), h;
	uint32_t id, first = idtab_find(&w->line_tab, line, line_eq, w, &key);

	if (first != IDTAB_NONE && w->costs.v[first].seen == w->cells)
		return 0;
	if (f->loc != PROF_NONE)
		key.vaddr = w->insns[f->loc];
	h = hash_mix(line, key.vaddr);
	id = idtab_find(&w->tab, h, cost_eq, w, &key);

	if (id == IDTAB_NONE) {
		id = (uint32_t)w->costs.n;
		key.at = w->weights.n;
		for (size_t i = 0; i < w->x->a.ncols; i++)
			if (vec_push(&w->weights, 0) < 0)
				return -ERR_NOMEM;
		if (vec_push(&w->costs, key) < 0 ||
		    idtab_add(&w->tab, h, id) < 0)
			return -ERR_NOMEM;
	}
	if (first == IDTAB_NONE) {
		first = id;
		if (idtab_add(&w->line_tab, line, id) < 0)
			return -ERR_NOMEM;
	}
	w->costs.v[first].seen = w->cells;
	w->costs.v[id].samples += c.count;
	w->weights.v[w->costs.v[id].at + col] += c.weight;
	return 0;
}

static int add_stack(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		     struct cell c, struct error *err)
{
	struct callgrind *w = ctx;
	struct export *x = w->x;
	int rc = export_stack(x, node);

	(void)lane;
	w->cells++;
	if (!rc)
		rc = add(w, &x->frames.v[0], PROF_NONE, col, c);
	for (size_t i = 1; !rc && i < x->frames.n; i++)
		rc = add(w, &x->frames.v[i], x->frames.v[i - 1].fk, col, c);
	return rc < 0 ? export_nomem(err) : 0;
}

static int compare(const void *p, const void *q)
{
	const struct cost *a = p, *b = q;

	if (a->fk != b->fk)
		return a->fk < b->fk ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	/* PROF_NONE, the function's own cost, sorts last */
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static void put_file(struct callgrind *w, const char *key, uint32_t str)
{
	struct buf *out = &w->x->out;
	const char *name = export_str(w->x, str);

	buf_printf(out, "%s=(%u)", key, str + 1);
	if (!w->named_str[str])
		buf_printf(out, " %s", *name ? name : "???");
	w->named_str[str] = 1;
	buf_u8(out, '\n');
}

/* Writes a function's image by name. */
static void put_object(struct callgrind *w, const char *key, uint32_t fk)
{
	uint32_t str = export_special(w->x, fk)
			       ? 0 : w->x->keys.keys.v[fk].image;
	const char *name = export_str(w->x, str);

	buf_printf(&w->x->out, "%s=%s\n", key, *name ? name : "???");
}

static void put_function(struct callgrind *w, const char *key, uint32_t fk)
{
	buf_printf(&w->x->out, "%s=(%u)", key, fk + 1);
	if (!w->named_fn[fk])
		buf_printf(&w->x->out, " %s", export_name(w->x, fk));
	w->named_fn[fk] = 1;
	buf_u8(&w->x->out, '\n');
}

static void put_cost(struct callgrind *w, const struct cost *c)
{
	buf_printf(&w->x->out, "0x%" PRIx64 " %u", c->vaddr, c->line);
	for (size_t i = 0; i < w->x->a.ncols; i++)
		buf_printf(&w->x->out, " %" PRIu64, w->weights.v[c->at + i]);
	buf_u8(&w->x->out, '\n');
}

static int put_costs(struct callgrind *w, struct error *err)
{
	struct export *x = w->x;
	uint32_t fk = PROF_NONE, file = PROF_NONE, own = PROF_NONE;
	int rc = 0;

	for (size_t i = 0; !rc && i < w->costs.n; i++) {
		const struct cost *c = &w->costs.v[i];
		const struct prof_func *callee = c->callee == PROF_NONE
			? NULL : export_func(x, c->callee);

		if (c->fk != fk) {
			fk = c->fk;
			file = own = own_file(w, fk, c->file);
			buf_u8(&x->out, '\n');
			put_object(w, "ob", fk);
			put_file(w, "fl", own);
			put_function(w, "fn", fk);
		}
		if (c->file != file && c->file != PROF_STR_EMPTY) {
			file = c->file;
			put_file(w, file == own ? "fe" : "fi", file);
		}
		if (c->callee != PROF_NONE) {
			put_object(w, "cob", c->callee);
			put_file(w, "cfi", own_file(w, c->callee, 0));
			put_function(w, "cfn", c->callee);
			buf_printf(&x->out, "calls=%" PRIu64 " 0x%" PRIx64
				   " %u\n", c->samples, callee ? callee->vaddr : 0,
				   callee ? callee->line : 0);
		}
		put_cost(w, c);
		rc = export_flush(x, false, err);
	}
	return rc;
}

static void put_head(struct callgrind *w)
{
	struct export *x = w->x;

	buf_str(&x->out, "# callgrind format\nversion: 1\ncreator: tally\n");
	if (x->p->runs.n)
		buf_printf(&x->out, "cmd: %s\n",
			   export_str(x, x->p->runs.v[0].command));
	buf_str(&x->out, "positions: instr line\nevents:");
	for (size_t c = 0; c < x->a.ncols; c++) {
		buf_u8(&x->out, ' ');
		for (const char *s = export_event_name(x, c); *s; s++)
			buf_u8(&x->out, isalnum((unsigned char)*s)
						? (uint8_t)*s : '_');
	}
	buf_str(&x->out, "\nsummary:");
	for (size_t c = 0; c < x->a.ncols; c++) {
		uint64_t sum = 0;

		for (size_t l = 0; l < x->a.lanes.n; l++)
			sum += x->totals[l * x->a.ncols + c].weight;
		buf_printf(&x->out, " %" PRIu64, sum);
	}
	buf_u8(&x->out, '\n');
}

int export_callgrind(struct export *x, struct error *err)
{
	struct callgrind w = { .x = x };
	int rc;

	w.named_fn = calloc(export_nfuncs(x), 1);
	w.named_str = calloc(x->p->str.str.n + 1, 1);
	rc = w.named_fn && w.named_str && find_instructions(&w) == 0
	     ? 0 : export_nomem(err);
	if (!rc)
		rc = export_stack_sums(x, add_stack, &w, err);
	if (!rc) {
		put_head(&w);
		if (w.costs.n)
			qsort(w.costs.v, w.costs.n, sizeof(*w.costs.v),
			      compare);
		rc = put_costs(&w, err);
	}
	vec_fini(&w.costs);
	vec_fini(&w.weights);
	idtab_fini(&w.tab);
	idtab_fini(&w.line_tab);
	free(w.insns);
	free(w.named_fn);
	free(w.named_str);
	return rc;
}
