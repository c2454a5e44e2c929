// SPDX-License-Identifier: GPL-2.0-or-later
/* The main loop of the interactive view. */
#include "tui/tui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/page.h"

enum { MIN_ROWS = 3, MIN_COLUMNS = 10, TYPED_MAX = 1000 };

static void take_size(struct tui *t)
{
	t->screen->ops->size(t->screen->ctx, &t->rows, &t->columns);
	if (t->rows < MIN_ROWS)
		t->rows = MIN_ROWS;
	if (t->columns < MIN_COLUMNS)
		t->columns = MIN_COLUMNS;
}

static void type(struct buf *to, uint32_t c)
{
	if (to->n < TYPED_MAX && c >= 0x20 && c != 0x7f && c < 0x110000)
		text_utf8(to, c);
}

static void delete_char(struct buf *b)
{
	while (b->n && (b->p[b->n - 1] & 0xc0) == 0x80)
		b->n--;
	if (b->n)
		b->n--;
}

/* Shows only functions with that name, or all if it is empty. */
static void show_only(struct tui *t, const char *text)
{
	struct error err = { 0 };

	if (model_set(&t->m.symbol, text) < 0)
		error_nomem(&err);
	else if (model_reload(&t->m, &err) < 0)
		model_set(&t->m.symbol, NULL);
	page_pop_all(t);
	table_page_reload(page_seen(t));
	if (err.msg[0])
		tui_complain(t, &err);
}

static void end_prompt(struct tui *t)
{
	struct page *pg = page_seen(t);
	enum prompt prompt = t->prompt;

	t->prompt = PROMPT_NONE;
	if (prompt == PROMPT_SHOW) {
		show_only(t, buf_cstr(&t->typed));
	} else if (t->typed.n) {
		free(pg->find);
		pg->find = strdup(buf_cstr(&t->typed));
		page_find(pg, false, true);
	} else if (pg->find) {
		page_find(pg, false, false);
	}
}

static void prompt_key(struct tui *t, uint32_t key)
{
	switch (key) {
	case SCREEN_ENTER:
		end_prompt(t);
		break;
	case SCREEN_ESCAPE:
		t->prompt = PROMPT_NONE;
		break;
	case SCREEN_BACKSPACE: case 8: case 127:
		if (!t->typed.n)
			t->prompt = PROMPT_NONE;
		delete_char(&t->typed);
		break;
	case 21:	/* ^U */
		buf_reset(&t->typed);
		break;
	default:
		type(&t->typed, key);
		break;
	}
}

static void watch(struct tui *t, int fd)
{
	if (t->screen->ops->watch)
		t->screen->ops->watch(t->screen->ctx, fd);
}

/* After the first screen, which does not wait for news. */
static void start_news(struct tui *t)
{
	const struct tui_news *news = t->o->news;

	if (!news || t->news_started)
		return;
	t->news_started = true;
	if (news->start(news->ctx))
		watch(t, news->fd);
}

static void take_news(struct tui *t)
{
	const struct tui_news *news = t->o->news;
	struct buf message = { 0 };

	if (!news)
		return;
	buf_reset(&t->going_on);
	if (!news->take(news->ctx, &t->going_on, &message))
		watch(t, -1);
	/* what is shown was not read yet: a key would have removed it */
	if (message.n && t->message.n)
		buf_str(&t->message, "; ");
	buf_str(&t->message, buf_cstr(&message));
	buf_fini(&message);
	t->newer = news->has_newer(news->ctx);
}

/* Shows a newer recording, if there is one and the table is in front. */
static void renew(struct tui *t)
{
	const struct tui_news *news = t->o->news;
	struct error err = { 0 };
	struct buf message = { 0 };
	struct reader *r;
	struct data *old;

	if (!t->newer || t->pages.n != 1 || t->prompt != PROMPT_NONE)
		return;
	t->newer = false;
	r = news->newer(news->ctx, &message);
	if (model_renew(&t->m, r, &old, &err) < 0) {
		tui_complain(t, &err);
	} else {
		table_page_renew(page_seen(t), old);
		data_free(old);
		news->shown(news->ctx, r);
		/* before what take_news had to say */
		if (message.n && t->message.n)
			buf_str(&message, "; ");
		buf_str(&message, buf_cstr(&t->message));
		buf_reset(&t->message);
		buf_str(&t->message, buf_cstr(&message));
	}
	buf_fini(&message);
}

static void handle(struct tui *t, const struct screen_event *e)
{
	struct page *pg = page_seen(t);

	if (e->key == SCREEN_RESIZE)
		return;
	if (e->key == SCREEN_NEWS) {
		take_news(t);
		return;
	}
	if (e->key == SCREEN_CLOSED) {
		t->quit = true;
		return;
	}
	t->touched = true;
	buf_reset(&t->message);
	if (t->prompt != PROMPT_NONE)
		prompt_key(t, e->key);
	else if (!page_key(pg, e))
		text_page_key(t, e->key);
}

int tui_run(struct reader *r, const struct tui_options *o,
	    const struct screen *screen, struct error *err)
{
	struct tui t = { .screen = screen, .o = o };
	struct page *first = NULL;
	int rc = model_init(&t.m, r, o, err);

	if (!rc)
		first = table_page_new(&t, err);
	if (!rc && !first)
		rc = -ERR_NOMEM;
	if (first)
		page_push(first);
	if (o->notice)
		buf_str(&t.message, o->notice);
	if (first && o->report.tree == TREE_CALLEES)
		tree_page_top_down(&t);
	while (!rc && t.pages.n && !t.quit) {
		struct screen_event e;

		take_size(&t);
		renew(&t);
		page_draw(page_seen(&t));
		start_news(&t);
		e = screen->ops->key(screen->ctx);
		handle(&t, &e);
	}
	while (t.pages.n)
		page_pop(&t);
	vec_fini(&t.pages);
	strip_fini(&t.strip);
	buf_fini(&t.typed);
	buf_fini(&t.message);
	buf_fini(&t.going_on);
	model_fini(&t.m);
	return rc;
}
