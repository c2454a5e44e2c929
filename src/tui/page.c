// SPDX-License-Identifier: GPL-2.0-or-later
/* Moving, scrolling, searching and drawing, shared by all pages. */
#include "tui/page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/outfile.h"
#include "base/text.h"

void tui_notice(struct tui *t, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_reset(&t->message);
	buf_str(&t->message, text);
}

void tui_complain(struct tui *t, const struct error *err)
{
	buf_reset(&t->message);
	text_safe(&t->message, err->msg[0] ? err->msg : "it failed");
}

enum { COLUMNS = 400, FILES_MAX = 1000 };

static void put_strip(struct strip *s, struct buf *out)
{
	strip_text(s, out);
	while (out->n && out->p[out->n - 1] == ' ')
		out->n--;
	buf_u8(out, '\n');
}

/* Appends all rows as they look on a wide screen. */
static void put_page(struct page *pg, struct buf *out)
{
	struct strip *s = &pg->t->strip;
	int columns = pg->t->columns;

	pg->t->columns = COLUMNS;
	strip_begin(s, COLUMNS);
	pg->ops->title(pg, s);
	buf_str(out, "# ");
	put_strip(s, out);
	if (pg->ops->heads) {
		strip_begin(s, COLUMNS);
		pg->ops->heads(pg, s);
		put_strip(s, out);
	}
	for (size_t i = 0; i < pg->ops->count(pg) && !out->failed; i++) {
		strip_begin(s, COLUMNS);
		pg->ops->row(pg, i, s);
		put_strip(s, out);
	}
	pg->t->columns = columns;
}

/* Finds an unused file name, so that no file is overwritten. */
static int free_name(char *name, size_t n, struct error *err)
{
	for (int i = 1; i <= FILES_MAX; i++) {
		struct stat st;

		snprintf(name, n, i == 1 ? "tally.txt" : "tally-%d.txt", i);
		if (lstat(name, &st) < 0)
			return errno == ENOENT ? 0
			       : error_errno(err, errno, "%s", name);
	}
	return error_errno(err, EEXIST, "%s", name);
}

/* Writes all rows of a page into a new file in the current directory and shows
 * its name. */
static void page_write(struct page *pg)
{
	struct error err = { 0 };
	struct buf out = { 0 };
	char name[32];

	pg->t->writing = true;
	put_page(pg, &out);
	pg->t->writing = false;
	if (out.failed)
		error_nomem(&err);
	else if (!free_name(name, sizeof(name), &err))
		outfile_write(name, out.p, out.n, &err);
	if (err.msg[0])
		tui_complain(pg->t, &err);
	else
		tui_notice(pg->t, "wrote %s", name);
	buf_fini(&out);
}

/* Where the table does not show a newer recording yet. */
#define NEWS_ELSEWHERE "new names are in the table  "

/* Returns the number of screen rows outside the page: title, heads, status and
 * keys. */
static size_t rows_taken(const struct page *pg)
{
	size_t n = 2 + (pg->ops->heads != NULL);

	return n + (pg->t->rows >= 8);
}

/* Returns the number of screen rows available for the page's rows. */
static size_t page_room(const struct page *pg)
{
	size_t taken = rows_taken(pg), rows = (size_t)pg->t->rows;

	return rows > taken ? rows - taken : 1;
}

void page_init(struct page *pg, struct tui *t, const struct page_ops *ops)
{
	*pg = (struct page){ .ops = ops, .t = t };
}

static void page_close(struct page *pg)
{
	free(pg->find);
	pg->ops->close(pg);
}

void page_push(struct page *pg)
{
	if (vec_push(&pg->t->pages, pg) < 0) {
		tui_notice(pg->t, "out of memory");
		page_close(pg);
	}
}

void page_pop(struct tui *t)
{
	if (t->pages.n)
		page_close(t->pages.v[--t->pages.n]);
}

void page_pop_all(struct tui *t)
{
	while (t->pages.n > 1)
		page_pop(t);
}

struct page *page_seen(const struct tui *t)
{
	return t->pages.n ? t->pages.v[t->pages.n - 1] : NULL;
}

/* Moves the selection to an existing row and scrolls it into view. */
static void keep_visible(struct page *pg)
{
	size_t n = pg->ops->count(pg), room = page_room(pg);

	if (pg->cursor >= n)
		pg->cursor = n ? n - 1 : 0;
	if (pg->cursor < pg->top)
		pg->top = pg->cursor;
	if (pg->cursor >= pg->top + room)
		pg->top = pg->cursor - room + 1;
	if (n < room || pg->top > n - room)
		pg->top = n < room ? 0 : n - room;
}

void page_go(struct page *pg, size_t row)
{
	size_t room = page_room(pg);

	pg->cursor = row;
	/* far away: show it away from the edge */
	if (row < pg->top || row >= pg->top + room)
		pg->top = row > room / 3 ? row - room / 3 : 0;
	keep_visible(pg);
}

static void draw_row(struct page *pg, size_t i, int at)
{
	struct strip *s = &pg->t->strip;

	strip_begin(s, (size_t)pg->t->columns);
	if (i < pg->ops->count(pg))
		pg->ops->row(pg, i, s);
	if (i == pg->cursor && pg->ops->count(pg))
		s->look = STYLE_REVERSE;
	strip_show(s, pg->t->screen, at);
}

/* Draws the message, the typed text, or the page's status of its selected
 * row. */
static void draw_status(struct page *pg, int at)
{
	struct tui *t = pg->t;
	struct strip *s = &t->strip;

	strip_begin(s, (size_t)t->columns);
	if (t->prompt != PROMPT_NONE) {
		strip_put(s, STYLE_BOLD, t->prompt == PROMPT_FIND
					? "/" : "show only: ");
		strip_put_unsafe(s, STYLE_PLAIN, buf_cstr(&t->typed));
	} else if (t->message.n) {
		strip_put(s, STYLE_WARN, buf_cstr(&t->message));
	} else if (pg->ops->status) {
		pg->ops->status(pg, s);
	}
	strip_show(s, t->screen, at);
}

static void draw_keys(struct page *pg, int at)
{
	struct strip *s = &pg->t->strip;

	strip_begin(s, (size_t)pg->t->columns);
	if (pg->t->newer && pg->t->pages.n > 1)
		strip_put(s, STYLE_LINK, NEWS_ELSEWHERE);
	else if (pg->t->going_on.n) {
		strip_put(s, STYLE_LINK, buf_cstr(&pg->t->going_on));
		strip_put(s, STYLE_PLAIN, "  ");
	}
	strip_put(s, STYLE_DIM, pg->ops->keys);
	strip_show(s, pg->t->screen, at);
}

void page_draw(struct page *pg)
{
	struct tui *t = pg->t;
	size_t room = page_room(pg);
	int at = 0, cursor = 0;

	keep_visible(pg);
	strip_begin(&t->strip, (size_t)t->columns);
	pg->ops->title(pg, &t->strip);
	t->strip.look = STYLE_REVERSE;
	strip_show(&t->strip, t->screen, at++);
	if (pg->ops->heads) {
		strip_begin(&t->strip, (size_t)t->columns);
		pg->ops->heads(pg, &t->strip);
		strip_show(&t->strip, t->screen, at++);
	}
	for (size_t i = 0; i < room && at < t->rows - 1; i++) {
		if (pg->top + i == pg->cursor)
			cursor = at;
		draw_row(pg, pg->top + i, at++);
	}
	if (t->prompt != PROMPT_NONE)
		cursor = at;
	draw_status(pg, at++);
	if (at < t->rows)
		draw_keys(pg, at);
	t->screen->ops->show(t->screen->ctx, cursor,
			     t->prompt != PROMPT_NONE
			     ? (int)t->strip.columns : 0);
}

static bool row_has(struct page *pg, size_t i, const char *find,
		    struct buf *tmp)
{
	buf_reset(tmp);
	if (pg->ops->text) {
		pg->ops->text(pg, i, tmp);
	} else {
		struct strip *s = &pg->t->strip;

		strip_begin(s, SIZE_MAX / 2);
		pg->ops->row(pg, i, s);
		strip_text(s, tmp);
	}
	return strcasestr(buf_cstr(tmp), find) != NULL;
}

void page_find(struct page *pg, bool back, bool here)
{
	size_t n = pg->ops->count(pg), i = pg->cursor;
	struct buf tmp = { 0 };

	if (!pg->find || !n)
		return;
	for (size_t k = 0; k < n; k++) {
		if (!here || k)
			i = back ? (i ? i - 1 : n - 1) : (i + 1) % n;
		if (!row_has(pg, i, pg->find, &tmp))
			continue;
		if (back ? i > pg->cursor : i < pg->cursor)
			tui_notice(pg->t, "continued at the %s",
				   back ? "end" : "beginning");
		page_go(pg, i);
		buf_fini(&tmp);
		return;
	}
	buf_reset(&tmp);
	text_safe(&tmp, pg->find);
	if (pg->ops->unsearched)
		tui_notice(pg->t, "not found: %s (%s)", buf_cstr(&tmp),
			   pg->ops->unsearched);
	else
		tui_notice(pg->t, "not found: %s", buf_cstr(&tmp));
	buf_fini(&tmp);
}

static void move(struct page *pg, long by)
{
	size_t n = pg->ops->count(pg);

	if (by < 0)
		pg->cursor = pg->cursor > (size_t)-by
				     ? pg->cursor - (size_t)-by : 0;
	else
		pg->cursor += (size_t)by;
	if (pg->cursor >= n)
		pg->cursor = n ? n - 1 : 0;
}

static bool move_key(struct page *pg, uint32_t key)
{
	long room = (long)page_room(pg);

	switch (key) {
	case SCREEN_UP: case 'k': move(pg, -1); return true;
	case SCREEN_DOWN: case 'j': move(pg, 1); return true;
	case SCREEN_PAGE_UP: case 2: move(pg, -room); return true;
	case SCREEN_PAGE_DOWN: case 6: case ' ': move(pg, room); return true;
	case 21: move(pg, -room / 2); return true;	/* ^U, ^D */
	case 4: move(pg, room / 2); return true;
	case SCREEN_HOME: pg->cursor = 0; return true;
	case SCREEN_END: case 'G': pg->cursor = SIZE_MAX; return true;
	case SCREEN_WHEEL_UP: move(pg, -3); return true;
	case SCREEN_WHEEL_DOWN: move(pg, 3); return true;
	}
	return false;
}

/* A click selects a row; a second click opens it. */
static bool click(struct page *pg, const struct screen_event *e)
{
	size_t first = 1 + (pg->ops->heads != NULL), row;

	if (e->row < (int)first ||
	    (size_t)e->row >= first + page_room(pg))
		return true;
	row = pg->top + (size_t)e->row - first;
	if (row >= pg->ops->count(pg))
		return true;
	pg->cursor = row;
	if (e->key == SCREEN_DOUBLE_CLICK && pg->ops->key)
		pg->ops->key(pg, SCREEN_ENTER);
	return true;
}

static void leave(struct page *pg, bool may_quit)
{
	struct tui *t = pg->t;

	if (t->pages.n > 1)
		page_pop(t);
	else if (may_quit)
		t->quit = true;
}

void page_prompt(struct tui *t, enum prompt prompt)
{
	t->prompt = prompt;
	buf_reset(&t->typed);
}

bool page_key(struct page *pg, const struct screen_event *e)
{
	if (e->key == SCREEN_CLICK || e->key == SCREEN_DOUBLE_CLICK)
		return click(pg, e);
	if (pg->ops->key && pg->ops->key(pg, e->key))
		return true;
	if (move_key(pg, e->key))
		return true;
	switch (e->key) {
	case '/':
		page_prompt(pg->t, PROMPT_FIND);
		return true;
	case 'n': case 'N':
		if (!pg->find)
			tui_notice(pg->t, "no search yet: press /");
		page_find(pg, e->key == 'N', false);
		return true;
	case '#':
		pg->t->m.samples = !pg->t->m.samples;
		return true;
	case 'P':
		page_write(pg);
		return true;
	case 'Q':
		pg->t->quit = true;
		return true;
	case 'q': case SCREEN_ESCAPE:
		leave(pg, e->key == 'q');
		return true;
	}
	return false;
}
