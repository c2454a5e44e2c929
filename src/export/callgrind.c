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
 * Costs are summed in the tree of all stacks, whose parts are visited once.
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
#include "export/paths.h"

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
	uint32_t first;		/* first cost of the same line and callee */
	uint32_t open;		/* in that one: calls around the current path */
};

/* Cost of an event at a path. */
struct path_cell {
	uint32_t path, col;
	struct cell c;
};

struct callgrind {
	struct export *x;
	VEC(struct cost) costs;
	VEC(uint64_t) weights;		/* [cost.at + column] */
	struct idtab tab;
	struct idtab line_tab;		/* the first cost of each line and callee */
	bool too_long;			/* more weights than the output may have */
	struct export_paths paths;
	VEC(struct path_cell) cells;
	/* by path: cost of its outermost function's call; 0: not yet known */
	uint32_t *call;
	/* by place: 1 + offset in `inlined` of the costs of calls within the place,
	 * after their number; 0: not yet known */
	uint32_t *inlined_at;
	VEC(uint32_t) inlined;
	uint32_t *order;		/* by path: parts of the tree are adjacent */
	/* by path with a cost in the column that `column_of` holds + 1 */
	struct cell *sum;
	uint32_t *column_of;
	VEC(uint32_t) touched, around;	/* paths */
	uint64_t *insns;		/* by location: where its instruction begins */
	uint8_t *named_fn, *named_str;	/* names whose numbers are defined already */
};

static int by_place(const void *p, const void *q)
{
	const struct place *a = p, *b = q;

	return ascending(a->image, b->image) ?:
	       ascending(a->vaddr, b->vaddr);
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
	if (!rc)
		sort_rows(places, p->locs.n, by_place);
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

/* Returns the cost of a frame that calls `callee`.  Returns PROF_NONE if out of memory
 * or w->too_long. */
static uint32_t cost_of(struct callgrind *w, const struct export_frame *f,
			uint32_t callee)
{
	struct cost key = { .fk = f->fk, .file = f->file, .line = f->line,
			    .callee = callee, .at = w->weights.n };
	uint64_t line = hash_mix((uint64_t)key.fk << 32 | key.callee,
				 (uint64_t)key.file << 32 | key.line), h;
	uint64_t most = w->x->spec->max_output;
	uint32_t id = (uint32_t)w->costs.n;

	key.first = idtab_find(&w->line_tab, line, line_eq, w, &key);
	if (f->loc < w->x->p->locs.n)
		key.vaddr = w->insns[f->loc];
	h = hash_mix(line, key.vaddr);
	if (key.first != IDTAB_NONE) {
		uint32_t old = idtab_find(&w->tab, h, cost_eq, w, &key);

		if (old != IDTAB_NONE)
			return old;
	} else {
		key.first = id;
		if (idtab_add(&w->line_tab, line, id) < 0)
			return PROF_NONE;
	}
	/* each weight will be a digit and a blank at least */
	w->too_long = most && w->weights.n > most / 2;
	for (size_t i = 0; i < w->x->a.ncols; i++)
		if (w->too_long || vec_push(&w->weights, 0) < 0)
			return PROF_NONE;
	return vec_push(&w->costs, key) < 0 || idtab_add(&w->tab, h, id) < 0
		       ? PROF_NONE : id;
}

static void charge(struct callgrind *w, uint32_t id, uint32_t col, struct cell c)
{
	w->costs.v[id].samples += c.count;
	w->weights.v[w->costs.v[id].at + col] += c.weight;
}

static int take_cell(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		     struct cell c, struct error *err)
{
	struct callgrind *w = ctx;
	struct path_cell cell = { export_path(&w->paths, node), col, c };

	(void)lane;
	if (cell.path == PROF_NONE || vec_push(&w->cells, cell) < 0)
		return error_nomem(err);
	return 0;
}

static int by_column(const void *p, const void *q)
{
	const struct path_cell *a = p, *b = q;

	return ascending(a->col, b->col);
}

/* Orders the paths so that those below a path follow it. */
static int order_paths(struct callgrind *w)
{
	const struct export_path *v = w->paths.v.v;
	size_t n = w->paths.v.n;
	uint32_t *size = calloc(n, sizeof(*size));

	w->order = calloc(n, sizeof(*w->order));
	w->call = calloc(n, sizeof(*w->call));
	w->sum = calloc(n, sizeof(*w->sum));
	w->column_of = calloc(n, sizeof(*w->column_of));
	if (!size || !w->order || !w->call || !w->sum || !w->column_of) {
		free(size);
		return -ERR_NOMEM;
	}
	for (size_t i = n; --i;)
		size[v[i].up] += ++size[i];
	/* from here on, size is the place of the next path below */
	size[0] = 1;
	for (size_t i = 1; i < n; i++) {
		uint32_t all = size[i];

		w->order[i] = size[v[i].up];
		size[v[i].up] += all;
		size[i] = w->order[i] + 1;
	}
	free(size);
	return 0;
}

/* Finds the costs of the calls that lead to the functions of a path's place. */
static int find_calls(struct callgrind *w, uint32_t path)
{
	struct export *x = w->x;
	const struct export_path *k = &w->paths.v.v[path];
	struct export_frame outermost;
	uint32_t id = 0;

	if (export_place(x, k->what) < 0)
		return -ERR_NOMEM;
	outermost = x->frames.v[x->frames.n - 1];
	if (!w->inlined_at[k->what]) {
		w->inlined_at[k->what] = (uint32_t)w->inlined.n + 1;
		if (vec_push(&w->inlined, (uint32_t)x->frames.n - 1) < 0)
			return -ERR_NOMEM;
		for (size_t i = x->frames.n; --i && id != PROF_NONE;) {
			id = cost_of(w, &x->frames.v[i], x->frames.v[i - 1].fk);
			if (vec_push(&w->inlined, id) < 0)
				return -ERR_NOMEM;
		}
	}
	if (id != PROF_NONE && k->up) {
		if (export_place(x, w->paths.v.v[k->up].what) < 0)
			return -ERR_NOMEM;
		id = cost_of(w, &x->frames.v[0], outermost.fk);
	}
	w->call[path] = id + 1;
	return id == PROF_NONE ? -ERR_NOMEM : 0;
}

/* Opens a call, which is charged unless it is open already, or closes it. */
static void pass(struct callgrind *w, uint32_t id, bool close, uint32_t col,
		 struct cell c)
{
	uint32_t *open = &w->costs.v[w->costs.v[id].first].open;

	if (close)
		--*open;
	else if (!(*open)++)
		charge(w, id, col, c);
}

static void pass_path(struct callgrind *w, uint32_t path, bool close,
		      uint32_t col)
{
	const struct export_path *k = &w->paths.v.v[path];
	const uint32_t *inlined = &w->inlined.v[w->inlined_at[k->what] - 1];

	if (k->up)
		pass(w, w->call[path] - 1, close, col, w->sum[path]);
	for (uint32_t i = 1; i <= *inlined; i++)
		pass(w, inlined[i], close, col, w->sum[path]);
}

/* Adds a cell to its path, and the paths around it to w->touched. */
static int touch(struct callgrind *w, const struct path_cell *cell)
{
	uint32_t own;

	for (uint32_t k = cell->path; k && w->column_of[k] != cell->col + 1;
	     k = w->paths.v.v[k].up) {
		w->column_of[k] = cell->col + 1;
		w->sum[k] = (struct cell){ 0 };
		if (vec_push(&w->touched, k) < 0 ||
		    (!w->call[k] && find_calls(w, k) < 0))
			return -ERR_NOMEM;
	}
	cell_add(&w->sum[cell->path], cell->c);
	if (export_place(w->x, w->paths.v.v[cell->path].what) < 0)
		return -ERR_NOMEM;
	own = cost_of(w, &w->x->frames.v[0], PROF_NONE);
	if (own == PROF_NONE)
		return -ERR_NOMEM;
	charge(w, own, cell->col, cell->c);
	return 0;
}

static int by_order(const void *p, const void *q, void *order)
{
	const uint32_t *a = p, *b = q, *at = order;

	return ascending(at[*a], at[*b]);
}

/* Adds the cells of one column. */
static int add_column(struct callgrind *w, const struct path_cell *cells,
		      size_t n)
{
	const struct export_path *v = w->paths.v.v;
	uint32_t col = cells->col;
	int rc = 0;

	w->touched.n = w->around.n = 0;
	for (size_t i = 0; !rc && i < n; i++)
		rc = touch(w, &cells[i]);
	if (rc || !w->touched.n)
		return rc;
	vec_sort_r(&w->touched, by_order, w->order);
	for (size_t i = w->touched.n; i--;) {
		uint32_t k = w->touched.v[i];

		if (v[k].up)
			cell_add(&w->sum[v[k].up], w->sum[k]);
	}
	for (size_t i = 0; i <= w->touched.n; i++) {
		uint32_t k = i < w->touched.n ? w->touched.v[i] : 0;

		while (w->around.n &&
		       (!k || w->around.v[w->around.n - 1] != v[k].up))
			pass_path(w, w->around.v[--w->around.n], true, col);
		if (k)
			pass_path(w, k, false, col);
		if (vec_push(&w->around, k) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int add_cells(struct callgrind *w, struct error *err)
{
	int rc = order_paths(w);

	if (!rc)
		vec_sort(&w->cells, by_column);
	for (size_t i = 0, k; !rc && i < w->cells.n; i = k) {
		for (k = i + 1; k < w->cells.n &&
				w->cells.v[k].col == w->cells.v[i].col; k++)
			;
		rc = add_column(w, &w->cells.v[i], k - i);
	}
	return !rc ? 0 : w->too_long ? export_too_long(w->x, err)
				     : error_nomem(err);
}

static int compare(const void *p, const void *q)
{
	const struct cost *a = p, *b = q;

	/* callee PROF_NONE, the function's own cost, sorts last */
	return ascending(a->fk, b->fk) ?:
	       ascending(a->file, b->file) ?:
	       ascending(a->line, b->line) ?:
	       ascending(a->vaddr, b->vaddr) ?:
	       ascending(a->callee, b->callee);
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

		/* calls within another call of the same line, which has their cost */
		if (!c->samples)
			continue;
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
	w.inlined_at = calloc(export_nplaces(x), sizeof(*w.inlined_at));
	rc = w.named_fn && w.named_str && w.inlined_at &&
	     find_instructions(&w) == 0 ? 0 : error_nomem(err);
	if (!rc)
		rc = export_paths_init(&w.paths, x, EXPORT_PATH_PLACES, err) ?:
		     export_stack_sums(x, take_cell, &w, err) ?:
		     add_cells(&w, err);
	if (!rc) {
		put_head(&w);
		vec_sort(&w.costs, compare);
		rc = put_costs(&w, err);
	}
	vec_fini(&w.costs);
	vec_fini(&w.weights);
	idtab_fini(&w.tab);
	idtab_fini(&w.line_tab);
	export_paths_fini(&w.paths);
	vec_fini(&w.cells);
	free(w.call);
	free(w.inlined_at);
	vec_fini(&w.inlined);
	free(w.order);
	free(w.sum);
	free(w.column_of);
	vec_fini(&w.touched);
	vec_fini(&w.around);
	free(w.insns);
	free(w.named_fn);
	free(w.named_str);
	return rc;
}
