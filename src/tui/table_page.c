// SPDX-License-Identifier: GPL-2.0-or-later
/* The page with the table of functions, and trees below its rows; its menus of groups and
 * filters. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"
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

/* --- the menus */

/* Updates all pages after a change that affects them. */
static void reload(struct tui *t)
{
	struct error err = { 0 };

	page_pop_all(t);
	if (model_reload(&t->m, &err) < 0)
		tui_complain(t, &err);
	table_page_reload(page_seen(t));
}

static void group_chosen(struct tui *t, const struct choice *c, void *ctx)
{
	struct key_list keys, before = t->m.keys;
	struct error err = { 0 };

	(void)ctx;
	page_pop_all(t);
	if (key_list_parse(c->value, &keys, &err) == 0) {
		t->m.keys = keys;
		if (model_reload(&t->m, &err) < 0)
			t->m.keys = before;
	}
	table_page_reload(page_seen(t));
	if (err.msg[0])
		tui_complain(t, &err);
}

static void menu_group(struct tui *t)
{
	static const char *const groups[][2] = {
		{ "function", "image,symbol" },
		{ "function, in all images it was compiled into", "symbol" },
		{ "program or library", "image" },
		{ "thread", "comm,tid" },
		{ "thread and function", "comm,tid,symbol" },
		{ "process", "comm,pid" },
		{ "line", "symbol,line" },
		{ "source file", "file" },
		{ "processor", "cpu" },
		{ "event", "event,symbol" },
		{ "what threads wait for", "wait" },
		{ "run", "run" },
	};
	struct page *pg = menu_page_new(t, "group by", group_chosen, NULL);

	for (size_t i = 0; pg && i < COUNT(groups); i++) {
		bool runs = !strcmp(groups[i][1], "run");
		bool waits = !strncmp(groups[i][1], "wait", 4);

		if ((!runs || t->m.p->runs.n > 1) &&
		    (!waits || t->m.p->wait_kinds.n))
			menu_page_add(pg, groups[i][0], -1, groups[i][1], 0);
	}
	if (pg)
		page_push(pg);
}

/* `filter`: one of the model's. */
static void set_filter(struct tui *t, char **filter, const char *value)
{
	if (model_set(filter, value) < 0)
		tui_notice(t, "out of memory");
	reload(t);
}

static void value_chosen(struct tui *t, const struct choice *c, void *filter)
{
	set_filter(t, filter, c->value);
}

/* Adds the rows of a report as choices.  `value` is the key to choose. */
static void add_choices(struct page *pg, const struct report *rep,
			enum view_key value)
{
	struct buf label = { 0 }, word = { 0 };

	for (size_t i = 0; i < rep->order.n; i++) {
		uint32_t row = rep->order.v[i];
		double percent = rep->table.ncols
			? report_percent(rep, rep->table.rows.v[row].lane, 0,
					 report_values(rep, row)->self) : 0;
		struct column_at x;

		report_at_row(rep, row, &x);
		buf_reset(&label);
		for (size_t k = 0; k < rep->spec.keys.n; k++) {
			buf_reset(&word);
			column_text(&report_columns[rep->spec.keys.v[k]], &x,
				    COLUMN_FULL, &word);
			text_safe(&label, buf_cstr(&word));
			buf_str(&label, k + 1 < rep->spec.keys.n ? "  " : "");
		}
		buf_reset(&word);
		column_text(&report_columns[value], &x, COLUMN_FULL, &word);
		menu_page_add(pg, buf_cstr(&label), percent, buf_cstr(&word),
			      0);
	}
	buf_fini(&label);
	buf_fini(&word);
}

/* Opens a menu of all values of a key, without the filter that it sets. */
static void menu_of(struct tui *t, const char *title, const char *keys,
		    enum view_key value, char **filter)
{
	struct page *pg = menu_page_new(t, title, value_chosen, filter);
	char *before = *filter;
	struct report *rep = NULL;
	struct error err = { 0 };

	if (!pg)
		return;
	menu_page_add(pg, "all", -1, "", 0);
	*filter = NULL;
	if (model_report(&t->m, keys, &rep, &err) < 0)
		tui_complain(t, &err);
	else
		add_choices(pg, rep, value);
	*filter = before;
	report_free(rep);
	page_push(pg);
}

static void menu_threads(struct tui *t)
{
	menu_of(t, "only this thread", "comm,tid", KEY_TID, &t->m.tid);
}

static void menu_images(struct tui *t)
{
	menu_of(t, "only functions of this image", "image", KEY_IMAGE, &t->m.image);
}

enum { BY_THREAD, BY_IMAGE, BY_SYMBOL, BY_NOTHING };

static void filter_chosen(struct tui *t, const struct choice *c, void *ctx)
{
	(void)ctx;
	switch (c->id) {
	case BY_THREAD:
		menu_threads(t);
		break;
	case BY_IMAGE:
		menu_images(t);
		break;
	case BY_SYMBOL:
		page_prompt(t, PROMPT_SHOW);
		break;
	default:
		model_set_none(&t->m);
		reload(t);
		break;
	}
}

static void menu_filter(struct tui *t)
{
	static const char *const choices[] = {
		[BY_THREAD] = "a thread (shares are relative to its samples)",
		[BY_IMAGE] = "functions of a program or library",
		[BY_SYMBOL] = "functions with a name, or whose name contains a text",
		[BY_NOTHING] = "clear all filters",
	};
	struct page *pg = menu_page_new(t, "show only", filter_chosen, NULL);

	for (int i = 0; pg && i <= BY_NOTHING; i++)
		menu_page_add(pg, choices[i], -1, "", i);
	if (pg)
		page_push(pg);
}

/* --- keys */

/* Filters by the image of the row, or removes the filter. */
static void filter_image(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	struct model *m = &pg->t->m;
	const struct frame_key *k = NULL;

	if (pg->cursor < b->f.seen.n)
		k = open_tree_function(&b->f, open_tree_row(&b->f, pg->cursor));
	if (!m->image && (!k || !k->image)) {
		menu_images(pg->t);
		return;
	}
	set_filter(pg->t, &m->image, m->image ? NULL : profile_cstr(m->p, k->image));
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
		if (model_filters(m)) {
			model_set_none(m);
			reload(pg->t);
		}
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
