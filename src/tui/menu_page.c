// SPDX-License-Identifier: GPL-2.0-or-later
/* Menus: pages from which the user selects a row, which runs an action. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/page.h"

struct menu_page {
	struct page pg;
	const char *title;
	choice_cb *chosen;
	void *ctx;
	VEC(struct choice) choices;
};

static struct menu_page *menu_page(struct page *pg)
{
	return (struct menu_page *)pg;
}

static size_t menu_count(struct page *pg)
{
	return menu_page(pg)->choices.n;
}

static void menu_row(struct page *pg, size_t i, struct strip *s)
{
	const struct choice *c = &menu_page(pg)->choices.v[i];

	if (c->percent >= 0)
		strip_printf(s, STYLE_PLAIN, "%7.2f%%  ", c->percent);
	else
		strip_put(s, STYLE_PLAIN, "  ");
	strip_put(s, STYLE_PLAIN, c->label);
}

static void menu_title(struct page *pg, struct strip *s)
{
	strip_put(s, STYLE_BOLD, menu_page(pg)->title);
}

static void free_choice(struct choice *c)
{
	free(c->label);
	free(c->value);
}

static void menu_close(struct page *pg)
{
	struct menu_page *mp = menu_page(pg);

	for (size_t i = 0; i < mp->choices.n; i++)
		free_choice(&mp->choices.v[i]);
	vec_fini(&mp->choices);
	free(mp);
}

static bool menu_key(struct page *pg, uint32_t key)
{
	struct menu_page *mp = menu_page(pg);
	struct choice c;
	struct tui *t = pg->t;
	choice_cb *chosen = mp->chosen;
	void *ctx = mp->ctx;

	if ((key != SCREEN_ENTER && key != SCREEN_RIGHT) ||
	    pg->cursor >= mp->choices.n)
		return false;
	c = mp->choices.v[pg->cursor];
	/* the action may close this page */
	mp->choices.v[pg->cursor] = (struct choice){ 0 };
	page_pop(t);
	chosen(t, &c, ctx);
	free_choice(&c);
	return true;
}

static const struct page_ops menu_ops = {
	.keys = "Enter:choose  /:search  q:back",
	.count = menu_count,
	.row = menu_row,
	.title = menu_title,
	.key = menu_key,
	.close = menu_close,
};

struct page *menu_page_new(struct tui *t, const char *title, choice_cb *chosen,
			   void *ctx)
{
	struct menu_page *mp = calloc(1, sizeof(*mp));

	if (!mp) {
		tui_notice(t, "out of memory");
		return NULL;
	}
	page_init(&mp->pg, t, &menu_ops);
	mp->title = title;
	mp->chosen = chosen;
	mp->ctx = ctx;
	return &mp->pg;
}

void menu_page_add(struct page *pg, const char *label, double percent,
		   const char *value, int id)
{
	struct choice c = { strdup(label), percent, strdup(value), id };

	if (!c.label || !c.value ||
	    vec_push(&menu_page(pg)->choices, c) < 0) {
		tui_notice(pg->t, "out of memory");
		free_choice(&c);
	}
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

void menu_group(struct tui *t)
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
static void value_chosen(struct tui *t, const struct choice *c, void *filter)
{
	if (model_set(filter, c->value) < 0)
		tui_notice(t, "out of memory");
	reload(t);
}

/* Adds the rows of a report as choices.  `value` is the key to choose. */
static void add_rows(struct page *pg, const struct report *rep,
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
		add_rows(pg, rep, value);
	*filter = before;
	report_free(rep);
	page_push(pg);
}

void menu_threads(struct tui *t)
{
	menu_of(t, "only this thread", "comm,tid", KEY_TID, &t->m.tid);
}

void menu_images(struct tui *t)
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

void menu_filter(struct tui *t)
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
