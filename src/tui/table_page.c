// SPDX-License-Identifier: GPL-2.0-or-later
/* The page with the table of functions, and trees below its rows. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "tui/tree_base.h"

struct table_page {
	struct tree_base b;
	enum tree_mode below;	/* mode of the trees below rows */
	bool back;		/* reverse order */
};

static struct table_page *table_page(struct page *pg)
{
	return (struct table_page *)pg;
}

/* A row during sorting. */
struct sort_row {
	uint32_t row, at;	/* `at`: its place in the report's order */
	uint64_t weight, count;
	const char *word;
};

static int by_numbers(const void *x, const void *y)
{
	const struct sort_row *a = x, *b = y;

	return descending(a->weight, b->weight) ?:
	       descending(a->count, b->count) ?:
	       ascending(a->at, b->at);
}

static int by_words(const void *x, const void *y)
{
	const struct sort_row *a = x, *b = y;

	return strcasecmp(a->word, b->word) ?: ascending(a->at, b->at);
}

static void set_numbers(struct table_page *tp, struct sort_row *v, size_t n)
{
	const struct report *rep = tp->b.f.d->rep;
	size_t col = model_column(&tp->b.pg.t->m, rep);

	for (size_t i = 0; i < n; i++) {
		const struct values *x = &report_values(rep, v[i].row)[col];
		struct cell c = tp->b.sorted == 1 ? x->total : x->self;

		v[i].weight = c.weight;
		v[i].count = c.count;
	}
}

/* Sets the text of each row, stored in `text`.  Returns false if out of
 * memory. */
static bool set_words(struct table_page *tp, struct sort_row *v, size_t n,
		      struct buf *text)
{
	size_t *at = malloc((n + 1) * sizeof(*at));
	const struct key_list *keys = &tp->b.f.d->rep->spec.keys;
	size_t k = (size_t)tp->b.sorted - 2;

	for (size_t i = 0; at && i < n; i++) {
		at[i] = text->n;
		tree_word(&tp->b, v[i].row, keys->v[k], text);
		buf_u8(text, 0);
	}
	for (size_t i = 0; at && !text->failed && i < n; i++)
		v[i].word = (const char *)text->p + at[i];
	free(at);
	return at && !text->failed;
}

static int add_rows(struct table_page *tp, const struct sort_row *v, size_t n)
{
	const struct report *rep = tp->b.f.d->rep;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		struct tree_row r = {
			.kind = TREE_ROW, .mode = (uint8_t)tp->below,
			.by_total = tp->b.sorted == 1,
			.id = v[tp->back ? n - 1 - i : i].row,
		};

		r.lane = rep->table.rows.v[r.id].lane;
		rc = open_tree_add(&tp->b.f, &r);
	}
	return rc;
}

/* Rebuilds the rows in the requested order. */
static int fill(struct table_page *tp)
{
	const struct report *rep = tp->b.f.d->rep;
	size_t n = rep->order.n;
	struct sort_row *v = calloc(n + 1, sizeof(*v));
	struct buf text = { 0 };
	int rc = v ? 0 : -ERR_NOMEM;

	open_tree_clear(&tp->b.f);
	for (size_t i = 0; !rc && i < n; i++)
		v[i] = (struct sort_row){ .row = rep->order.v[i],
					  .at = (uint32_t)i, .word = "" };
	if (!rc && tp->b.sorted < 2)
		set_numbers(tp, v, n);
	else if (!rc && !set_words(tp, v, n, &text))
		rc = -ERR_NOMEM;
	if (!rc)
		sort_rows(v, n, tp->b.sorted < 2 ? by_numbers : by_words);
	if (!rc)
		rc = add_rows(tp, v, n);
	buf_fini(&text);
	free(v);
	if (rc)
		tui_notice(tp->b.pg.t, "out of memory");
	return rc;
}

static void refill(struct table_page *tp)
{
	fill(tp);
	tp->b.pg.cursor = tp->b.pg.top = 0;
}

void table_page_reload(struct page *pg)
{
	struct table_page *tp = table_page(pg);
	size_t keys;

	open_tree_clear(&tp->b.f);
	tp->b.f.d = pg->t->m.table;
	keys = tp->b.f.d->rep->spec.keys.n;
	if (tp->b.sorted > (int)keys + 1)
		tp->b.sorted = 0;
	refill(tp);
}

void table_page_renew(struct page *pg, struct data *old)
{
	struct table_page *tp = table_page(pg);
	struct open_tree before = tp->b.f;
	size_t cursor = pg->cursor, above = pg->cursor - pg->top;

	before.d = old;
	open_tree_init(&tp->b.f, pg->t->m.table);
	if (!fill(tp))
		pg->cursor = open_tree_restore(&tp->b.f, &before, cursor);
	/* until a key is pressed, the cursor stays on the first row */
	if (!pg->t->touched)
		pg->cursor = 0;
	pg->top = pg->cursor > above ? pg->cursor - above : 0;
	open_tree_fini(&before);
}

static void sort_by(struct table_page *tp, int sorted)
{
	int last = (int)tp->b.f.d->rep->spec.keys.n + 1;

	if (sorted < 0)
		sorted = last;
	else if (sorted > last)
		sorted = 0;
	if (sorted == 1 && !tp->b.pg.t->m.has_callers)
		sorted = tp->b.sorted == 0 ? 2 : 0;
	tp->b.sorted = sorted;
	refill(tp);
}

/* Filters by the image of the row, or removes the filter. */
static void filter_image(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	struct model *m = &pg->t->m;
	struct error err = { 0 };
	const struct frame_key *k = NULL;

	if (pg->cursor < b->f.seen.n)
		k = open_tree_function(&b->f, open_tree_row(&b->f, pg->cursor));
	if (!m->image && (!k || !k->image)) {
		menu_images(pg->t);
		return;
	}
	if (model_set(&m->image, m->image ? NULL
		      : profile_cstr(m->p, k->image)) < 0 ||
	    model_reload(m, &err) < 0)
		tui_complain(pg->t, &err);
	table_page_reload(pg);
}

static void clear_filters(struct page *pg)
{
	struct model *m = &pg->t->m;
	struct error err = { 0 };

	model_set_none(m);
	if (model_reload(m, &err) < 0)
		tui_complain(pg->t, &err);
	table_page_reload(pg);
}

static bool table_other_key(struct page *pg, uint32_t key)
{
	struct table_page *tp = table_page(pg);
	struct model *m = &pg->t->m;

	switch (key) {
	case 'f':
		menu_filter(pg->t);
		return true;
	case 't':
		menu_threads(pg->t);
		return true;
	case 'd':
		filter_image(pg);
		return true;
	case 'g':
		menu_group(pg->t);
		return true;
	case '&':
		page_prompt(pg->t, PROMPT_SHOW);
		return true;
	case 'c':
		tp->below = tp->below == TREE_CALLERS ? TREE_CALLEES
						      : TREE_CALLERS;
		refill(tp);
		tui_notice(pg->t, "rows now expand to %s",
			   tp->below == TREE_CALLERS ? "callers" : "callees");
		return true;
	case 'x': case SCREEN_ESCAPE:
		if (model_filters(m))
			clear_filters(pg);
		return true;
	}
	return false;
}

static bool table_key(struct page *pg, uint32_t key)
{
	struct table_page *tp = table_page(pg);

	switch (key) {
	case 's':
		sort_by(tp, tp->b.sorted == 0 ? 1 : 0);
		return true;
	case '<':
		sort_by(tp, tp->b.sorted - 1);
		return true;
	case '>':
		sort_by(tp, tp->b.sorted + 1);
		return true;
	case 'r':
		tp->back = !tp->back;
		refill(tp);
		return true;
	case 'e': case SCREEN_TAB:
		tree_key(pg, key);
		if (tp->b.sorted < 2)
			refill(tp);
		return true;
	}
	return table_other_key(pg, key) || tree_key(pg, key);
}

static void table_title(struct page *pg, struct strip *s)
{
	const struct tui *t = pg->t;

	strip_put(s, STYLE_BOLD, "tally ");
	if (t->columns >= 70) {
		strip_put_unsafe(s, STYLE_PLAIN, t->o->file);
		strip_put(s, STYLE_PLAIN, ": ");
	}
	tree_title_samples(pg, s);
}

static const struct page_ops table_ops = {
	.keys = "?:help  Enter:callers  z:zoom  a:annotate  /:search  s:self/"
		"total  T:top-down  f:filter  g:group  q:quit",
	.unsearched = TREE_UNSEARCHED,
	.count = tree_count,
	.row = tree_draw,
	.text = tree_text,
	.title = table_title,
	.heads = tree_heads,
	.key = table_key,
	.status = tree_status,
	.close = tree_close,
};

struct page *table_page_new(struct tui *t, struct error *err)
{
	struct table_page *tp = calloc(1, sizeof(*tp));

	if (!tp) {
		error_nomem(err);
		return NULL;
	}
	page_init(&tp->b.pg, t, &table_ops);
	open_tree_init(&tp->b.f, t->m.table);
	tp->below = t->o->report.tree == TREE_CALLEES ? TREE_CALLEES
						      : TREE_CALLERS;
	tp->b.sorted = t->o->report.by_total;
	if (fill(tp) < 0) {
		error_nomem(err);
		tree_close(&tp->b.pg);
		return NULL;
	}
	return &tp->b.pg;
}
