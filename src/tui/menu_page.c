// SPDX-License-Identifier: GPL-2.0-or-later
/* Menus: pages from which the user selects a row, which runs an action. */
#include <stdlib.h>
#include <string.h>

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
