// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the rows of a report.
 *
 * One walk over the tree of stacks computes all totals: a node whose key is not
 * active above it adds its whole subtree.  The time is proportional to the
 * number of nodes, not to stacks times depth.
 */
#include "views/query/table.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

struct walk {
	struct row_table *t;
	const struct fold *f;
	const struct frame_keys *k;
	const struct profile *p;
	uint32_t *active;	/* by fk: number of occurrences on the path */
	uint32_t *fk_row;	/* by fk: row in this lane */
	size_t on_path;		/* TABLE_ROOTS: number of matching steps on the path */
	uint32_t lane;
	bool failed;
};

/* Adds the row of a function.  Returns its values, or NULL if out of memory. */
static __attribute__((noinline)) struct values *add_row(struct walk *w, uint32_t fk)
{
	struct values zero = { { 0, 0 }, { 0, 0 } };
	struct row_table *t = w->t;

	/* both or none, because a row's values are found by its number */
	if (vec_reserve(&t->rows, t->rows.n + 1) < 0 ||
	    vec_reserve(&t->vals, t->vals.n + t->ncols) < 0) {
		w->failed = true;
		return NULL;
	}
	w->fk_row[fk] = (uint32_t)t->rows.n;
	t->rows.v[t->rows.n++] = (struct row){ w->lane, fk, 0, 0 };
	for (size_t c = 0; c < t->ncols; c++)
		t->vals.v[t->vals.n++] = zero;
	return &t->vals.v[t->vals.n - t->ncols];
}

static inline struct values *row_values(struct walk *w, uint32_t fk)
{
	uint32_t row = w->fk_row[fk];

	return row == PROF_NONE ? add_row(w, fk)
				: &w->t->vals.v[row * w->t->ncols];
}

static void add_total(struct walk *w, uint32_t fk, uint32_t node)
{
	const struct cell *sub = fold_sub(w->f, node);
	struct values *v = row_values(w, fk);

	for (size_t c = 0; v && c < w->t->ncols; c++)
		cell_add(&v[c].total, sub[c]);
}

static void add_self(struct walk *w, uint32_t fk, uint32_t node)
{
	struct values *v = row_values(w, fk);

	for (size_t c = 0; v && c < w->t->ncols; c++)
		cell_add(&v[c].self, fold_own(w->f, node, c));
}

/* Adds the samples without frames. */
static void add_frameless(struct walk *w, uint32_t node)
{
	struct values *v;

	if (w->k->unknown == PROF_NONE || !fold_has_own(w->f, node))
		return;
	add_self(w, w->k->unknown, node);
	v = row_values(w, w->k->unknown);
	for (size_t c = 0; v && c < w->t->ncols; c++)
		cell_add(&v[c].total, fold_own(w->f, node, c));
}

static void enter_function(void *ctx, uint32_t node)
{
	struct walk *w = ctx;
	uint32_t loc = w->p->nodes.v[node].loc, s, fk;

	if (prof_is_mark(loc)) {
		add_frameless(w, node);
		return;
	}
	for (s = w->k->head[loc]; s != PROF_NONE; s = w->k->steps[s].outer) {
		fk = w->k->steps[s].fk;
		if (fk != PROF_NONE && w->active[fk]++ == 0)
			add_total(w, fk, node);
	}
	fk = w->k->steps[w->k->head[loc]].fk;
	if (fk != PROF_NONE && fold_has_own(w->f, node))
		add_self(w, fk, node);
}

static void leave_function(void *ctx, uint32_t node)
{
	struct walk *w = ctx;
	uint32_t loc = w->p->nodes.v[node].loc, s;

	if (prof_is_mark(loc))
		return;
	for (s = w->k->head[loc]; s != PROF_NONE; s = w->k->steps[s].outer)
		if (w->k->steps[s].fk != PROF_NONE)
			w->active[w->k->steps[s].fk]--;
}

static void enter_root(void *ctx, uint32_t node)
{
	struct walk *w = ctx;
	uint32_t loc = w->p->nodes.v[node].loc, s;

	if (prof_is_mark(loc)) {
		add_frameless(w, node);
		return;
	}
	s = frame_keys_outermost(w->k, loc);
	if (s == PROF_NONE || w->on_path++)
		return;
	add_total(w, w->k->steps[s].fk, node);
	if (s == w->k->head[loc] && fold_has_own(w->f, node))
		add_self(w, w->k->steps[s].fk, node);
}

static void leave_root(void *ctx, uint32_t node)
{
	struct walk *w = ctx;
	uint32_t loc = w->p->nodes.v[node].loc;

	if (!prof_is_mark(loc) && frame_keys_outermost(w->k, loc) != PROF_NONE)
		w->on_path--;
}

static int build_lane(struct walk *w, struct fold *f, uint32_t lane,
		      enum table_kind kind, struct error *err)
{
	int rc = fold_lane(f, lane, err);

	if (rc < 0)
		return rc;
	w->lane = lane;
	add_frameless(w, 0);
	if (kind == TABLE_ROOTS)
		fold_walk(f, enter_root, leave_root, w);
	else
		fold_walk(f, enter_function, leave_function, w);
	for (size_t i = table_lane_start(w->t, lane); i < w->t->rows.n; i++)
		w->fk_row[w->t->rows.v[i].fk] = PROF_NONE;
	if (vec_push(&w->t->lane_end, (uint32_t)w->t->rows.n) < 0 ||
	    w->failed)
		return error_nomem(err);
	return 0;
}

/* Makes room for a row of each function, as most have one in the first lane, so that the
 * list is not copied while it grows. */
static int reserve_rows(struct row_table *t, size_t n)
{
	enum { AT_ONCE = 1 << 16 };

	if (n > AT_ONCE || n * t->ncols > AT_ONCE)
		return 0;
	return vec_reserve(&t->rows, n) < 0 ||
	       vec_reserve(&t->vals, n * t->ncols) < 0 ? -ERR_NOMEM : 0;
}

int table_build(struct row_table *t, struct fold *f, const struct frame_keys *k,
		enum table_kind kind, struct error *err)
{
	struct walk w = { .t = t, .f = f, .k = k, .p = f->a->p };
	int rc = 0;

	*t = (struct row_table){ .ncols = f->ncols };
	w.active = calloc(k->keys.n + 1, sizeof(*w.active));
	w.fk_row = malloc((k->keys.n + 1) * sizeof(*w.fk_row));
	if (!w.active || !w.fk_row)
		rc = error_nomem(err);
	for (size_t i = 0; !rc && i < k->keys.n; i++)
		w.fk_row[i] = PROF_NONE;
	if (!rc && reserve_rows(t, k->keys.n) < 0)
		rc = error_nomem(err);
	for (uint32_t l = 0; !rc && l < f->a->lanes.n; l++)
		rc = build_lane(&w, f, l, kind, err);
	free(w.active);
	free(w.fk_row);
	if (rc < 0)
		table_fini(t);
	return rc;
}

void table_fini(struct row_table *t)
{
	vec_fini(&t->rows);
	vec_fini(&t->vals);
	vec_fini(&t->lane_end);
}

static int compare_str(const struct profile *p, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(profile_cstr(p, a), profile_cstr(p, b));
}

int frame_key_compare(const struct profile *p, const struct frame_key *a,
		      const struct frame_key *b)
{
	return ascending(a->kind, b->kind) ?:
	       compare_str(p, a->name, b->name) ?:
	       compare_str(p, a->image, b->image) ?:
	       ascending(a->vaddr, b->vaddr) ?:
	       compare_str(p, a->file, b->file) ?:
	       ascending(a->line, b->line) ?: ascending(a->kernel, b->kernel);
}

int lane_compare(const struct profile *p, const struct lane *a,
		 const struct lane *b)
{
	int c = compare_str(p, a->comm, b->comm) ?:
		ascending(a->pid, b->pid) ?: ascending(a->tid, b->tid) ?:
		ascending(a->run, b->run) ?: ascending(a->cpu, b->cpu);

	for (int i = 0; !c && i < LABEL_COUNT; i++)
		c = compare_str(p, a->label[i], b->label[i]);
	return c ?: ascending(a->event, b->event);
}
