// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages that show only trees: top-down, and around one function. */
#include <stdlib.h>
#include <string.h>

#include "tui/tree_base.h"

struct tree_page {
	struct tree_base b;
	const char *what;
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

void tree_page_butterfly(struct tui *t, uint32_t fk)
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
