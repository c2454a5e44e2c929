// SPDX-License-Identifier: GPL-2.0-or-later
/* Keys that open, close and follow rows of trees. */
#include "tui/tree_base.h"

static const double open_all_percent = 0.1;

static void open_row(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	struct error err = { 0 };
	struct tree_row *r;

	if (b->flat)
		return;
	if (!pg->t->m.has_callers) {
		tui_notice(pg->t, "no stacks were recorded: tally record -g "
			   "records callers");
		return;
	}
	if (open_tree_open(&b->f, pg->cursor, &err) < 0)
		tui_complain(pg->t, &err);
	r = open_tree_row(&b->f, pg->cursor);
	if (!r->open && !err.msg[0])
		tui_notice(pg->t, r->mode == TREE_CALLERS
				? "no callers: this is the outermost frame"
				: "no callees in the samples");
}

/* Closes the row, or selects its parent if `go`. */
static void shut_row(struct page *pg, bool go)
{
	struct tree_base *b = tree_base(pg);
	struct tree_row *r = open_tree_row(&b->f, pg->cursor);
	size_t above = open_tree_above(&b->f, pg->cursor);

	if (r->open && !r->same) {
		open_tree_shut(&b->f, pg->cursor);
		return;
	}
	/* a chain closes as one */
	while (r->same && above != SIZE_MAX) {
		pg->cursor = above;
		r = open_tree_row(&b->f, above);
		above = open_tree_above(&b->f, above);
		go = false;
	}
	if (!go && r->open)
		open_tree_shut(&b->f, pg->cursor);
	else if (above != SIZE_MAX)
		page_go(pg, above);
}

static void open_all(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	struct error err = { 0 };

	if (b->flat || !pg->t->m.has_callers) {
		open_row(pg);
		return;
	}
	if (open_tree_open_all(&b->f, pg->cursor, open_all_percent, &err) < 0)
		tui_complain(pg->t, &err);
}

static void shut_all(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	uint32_t id = b->f.seen.v[pg->cursor];

	while (b->f.rows.v[id].above != PROF_NONE)
		id = b->f.rows.v[id].above;
	open_tree_shut_all(&b->f);
	for (size_t i = 0; i < b->f.seen.n; i++)
		if (b->f.seen.v[i] == id)
			page_go(pg, i);
}

static const struct frame_key *function_here(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	const struct frame_key *k;

	k = open_tree_function(&b->f, open_tree_row(&b->f, pg->cursor));
	if (!k)
		tui_notice(pg->t, "this row is not a function: g groups by "
				"function");
	return k;
}

static void zoom(struct page *pg)
{
	const struct frame_key *k = function_here(pg);
	struct error err = { 0 };
	struct data *flat;
	uint32_t fk;

	if (!k)
		return;
	flat = model_flat(&pg->t->m, &err);
	if (!flat) {
		tui_complain(pg->t, &err);
		return;
	}
	fk = model_same_function(flat->rep->tree_keys, k);
	if (fk == PROF_NONE)
		tui_notice(pg->t, "this function has no trees");
	else
		tree_page_butterfly(pg->t, fk);
}

static void annotate(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	const struct tree_row *r = open_tree_row(&b->f, pg->cursor);
	const struct frame_key *k = open_tree_function(&b->f, r);
	struct annot_pick pick;

	if (!k && r->kind == TREE_ROW)
		k = &b->f.d->rep->keys.keys.v[
			b->f.d->rep->table.rows.v[r->id].fk];
	if (!k || !model_pick(&pg->t->m, k, &pick)) {
		tui_notice(pg->t,
			   "neither lines nor code of this row are known");
		return;
	}
	annotate_page_open(pg->t, &pick, k->line);
}

/* Handles keys that need no row. */
static bool any_key(struct page *pg, uint32_t key)
{
	struct model *m = &pg->t->m;
	size_t n = tree_data(pg)->rep->table.ncols;

	switch (key) {
	case 'e': case SCREEN_TAB:
		if (n < 2)
			tui_notice(pg->t, "there is only one event");
		m->event = n ? (model_column(m, tree_data(pg)->rep) + 1) % n
			     : 0;
		return true;
	case 'b': case '1':
		page_pop_all(pg->t);
		return true;
	case 'T': case '2':
		tree_page_top_down(pg->t);
		return true;
	}
	return false;
}

bool tree_key(struct page *pg, uint32_t key)
{
	struct tree_base *b = tree_base(pg);

	if (any_key(pg, key))
		return true;
	if (pg->cursor >= b->f.seen.n)
		return false;
	switch (key) {
	case SCREEN_ENTER: case 13: case 10:
		if (open_tree_row(&b->f, pg->cursor)->open)
			shut_row(pg, false);
		else
			open_row(pg);
		return true;
	case '+': case SCREEN_RIGHT: case 'l':
		open_row(pg);
		return true;
	case '-': case SCREEN_LEFT:
		shut_row(pg, true);
		return true;
	case '*': case 'E':
		open_all(pg);
		return true;
	case 'C':
		shut_all(pg);
		return true;
	case 'z': case '3':
		zoom(pg);
		return true;
	case 'a': case '4':
		annotate(pg);
		return true;
	case '=':
		tree_details(pg);
		return true;
	}
	return false;
}
