// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages that show only trees: top-down, and around one function; the keys of all pages
 * with trees. */
#include <stdlib.h>
#include <string.h>

#include "tui/tree_base.h"

struct tree_page {
	struct tree_base b;
	uint32_t fk;		/* butterfly: fk of the function */
};

static struct tree_page *tree_page(struct page *pg)
{
	return (struct tree_page *)pg;
}

static void top_down_title(struct page *pg, struct strip *s)
{
	strip_put(s, STYLE_BOLD, "top-down  ");
	tree_title_samples(pg, s);
}

static void butterfly_title(struct page *pg, struct strip *s)
{
	struct tree_page *tp = tree_page(pg);

	strip_put(s, STYLE_BOLD, "around ");
	strip_put(s, STYLE_BOLD, name_cached(&tp->b.f.d->tree_names, tp->fk));
	strip_put(s, STYLE_PLAIN, "  ");
	tree_title_samples(pg, s);
}

static void tree_page_heads(struct page *pg, struct strip *s)
{
	tree_number_heads(tree_base(pg), s);
	strip_put(s, STYLE_BOLD, "   FUNCTION");
}

static const struct page_ops top_down_ops = {
	.keys = "?:help  Enter:open  *:open all  z:zoom  a:annotate  /:search  "
		"q:back",
	.unsearched = TREE_UNSEARCHED,
	.count = tree_count,
	.row = tree_draw,
	.text = tree_text,
	.title = top_down_title,
	.heads = tree_page_heads,
	.key = tree_key,
	.status = tree_status,
	.close = tree_close,
};

/* Draws a row.  The two headings describe the rows below them. */
static void butterfly_row(struct page *pg, size_t i, struct strip *s)
{
	struct tree_base *b = tree_base(pg);
	const struct tree_row *r = open_tree_row(&b->f, i);

	if (r->kind != TREE_CAPTION) {
		tree_draw(pg, i, s);
		return;
	}
	strip_put(s, STYLE_BOLD | STYLE_LINK,
		  r->mode == TREE_CALLERS ? "callers of " : "called by ");
	strip_put(s, STYLE_BOLD, name_cached(&b->f.d->tree_names, r->id));
	if (!r->n)
		strip_put(s, STYLE_DIM, ": none");
}

static bool is_caption(struct page *pg, size_t i)
{
	struct open_tree *f = &tree_base(pg)->f;

	return i < f->seen.n && open_tree_row(f, i)->kind == TREE_CAPTION;
}

static void butterfly_text(struct page *pg, size_t i, struct buf *out)
{
	if (!is_caption(pg, i))
		tree_text(pg, i, out);
}

static void butterfly_status(struct page *pg, struct strip *s)
{
	if (!is_caption(pg, pg->cursor) && pg->cursor < tree_count(pg))
		tree_status(pg, s);
}

/* Handles keys.  Headings have no values and so no details. */
static bool butterfly_key(struct page *pg, uint32_t key)
{
	return (key == '=' && is_caption(pg, pg->cursor)) || tree_key(pg, key);
}

static const struct page_ops butterfly_ops = {
	.keys = "?:help  Enter:open  *:open all  z:zoom  a:annotate  /:search  "
		"q:back",
	.unsearched = TREE_UNSEARCHED,
	.count = tree_count,
	.row = butterfly_row,
	.text = butterfly_text,
	.title = butterfly_title,
	.heads = tree_page_heads,
	.key = butterfly_key,
	.status = butterfly_status,
	.close = tree_close,
};

static struct tree_page *new_page(struct tui *t, const struct page_ops *ops)
{
	struct error err = { 0 };
	struct data *d = model_flat(&t->m, &err);
	struct tree_page *tp = d ? calloc(1, sizeof(*tp)) : NULL;

	if (!d)
		tui_complain(t, &err);
	else if (!tp)
		tui_notice(t, "out of memory");
	if (!tp)
		return NULL;
	page_init(&tp->b.pg, t, ops);
	open_tree_init(&tp->b.f, d);
	tp->b.sorted = -1;
	return tp;
}

/* Adds a heading and opens it.  Returns an error if its rows could not be
 * built. */
static int add_caption(struct tree_page *tp, enum tree_mode mode,
		       struct error *err)
{
	struct tree_row r = { .kind = TREE_CAPTION, .mode = (uint8_t)mode,
			      .id = tp->fk };
	int rc = open_tree_add(&tp->b.f, &r);

	if (rc)
		return error_nomem(err);
	return open_tree_open(&tp->b.f, tp->b.f.seen.n - 1, err);
}

/* Opens callers and callees of a function.  `fk` is a frame key of model.flat's
 * trees. */
static void open_butterfly(struct tui *t, uint32_t fk)
{
	struct tree_page *tp = new_page(t, &butterfly_ops);
	struct error err = { 0 };

	if (!tp)
		return;
	tp->fk = fk;
	if (tp->b.f.d->rep->agg.lanes.n &&
	    (add_caption(tp, TREE_CALLERS, &err) < 0 ||
	     add_caption(tp, TREE_CALLEES, &err) < 0))
		tui_complain(t, &err);
	tp->b.pg.cursor = tp->b.f.seen.n > 1;
	page_push(&tp->b.pg);
}

void tree_page_top_down(struct tui *t)
{
	struct tree_page *tp = new_page(t, &top_down_ops);
	struct tree_level *l = NULL;
	struct error err = { 0 };

	if (!tp)
		return;
	if (tp->b.f.d->rep->agg.lanes.n &&
	    (tree_level_roots(&tp->b.f.d->trees, 0, &l, &err) < 0 ||
	     open_tree_add_level(&tp->b.f, l, 0, TREE_CALLEES, &err) < 0))
		tui_complain(t, &err);
	/* most programs start in one function */
	if (tp->b.f.seen.n == 1)
		open_tree_open(&tp->b.f, 0, &err);
	page_push(&tp->b.pg);
}

/* --- keys that open, close and follow rows */

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
		open_butterfly(pg->t, fk);
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
