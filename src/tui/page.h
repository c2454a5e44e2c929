/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_PAGE_H
#define TALLY_TUI_PAGE_H
/*
 * Inside of the interactive view.  What can be seen is a page: a list of rows of
 * which one is chosen.  Pages lie on each other; the last one is seen.  Moving,
 * scrolling and searching are the same in all (page.c), what rows look like and
 * which other keys there are is each page's own.
 */
#include "tui/model.h"
#include "tui/strip.h"
#include "tui/tui.h"

struct page;

struct page_ops {
	const char *keys;	/* for the last line */
	const char *unsearched;	/* what a search passes over, or NULL */
	size_t (*count)(struct page *pg);
	/* Row i, from s->columns on. */
	void (*row)(struct page *pg, size_t i, struct strip *s);
	/* What a search looks at; NULL: what is shown. */
	void (*text)(struct page *pg, size_t i, struct buf *out);
	void (*title)(struct page *pg, struct strip *s);
	void (*heads)(struct page *pg, struct strip *s);	/* or NULL */
	/* True: the key was used. */
	bool (*key)(struct page *pg, uint32_t key);
	/* What the status line says of the chosen row, or NULL. */
	void (*status)(struct page *pg, struct strip *s);
	void (*close)(struct page *pg);
};

struct page {
	const struct page_ops *ops;
	struct tui *t;
	size_t cursor, top;
	char *find;		/* what was searched here, or NULL */
};

enum prompt { PROMPT_NONE, PROMPT_FIND, PROMPT_SHOW };

struct tui {
	const struct screen *screen;
	const struct tui_options *o;
	struct model m;
	VEC(struct page *) pages;
	struct strip strip;
	int rows, columns;
	enum prompt prompt;
	struct buf typed;
	struct buf message;	/* safe; shown until the next key */
	bool writing;		/* rows go to a file, which others may get */
	bool quit;
};

/* page.c */
void page_init(struct page *pg, struct tui *t, const struct page_ops *ops);
/* Puts a page on the others and owns it: on failure it is closed. */
void page_push(struct page *pg);
void page_pop(struct tui *t);
/* Closes all pages but the first. */
void page_pop_all(struct tui *t);
struct page *page_seen(const struct tui *t);
/* Rows that the screen has for a page's. */
size_t page_room(const struct page *pg);
/* Chooses a row, and brings it into sight. */
void page_go(struct page *pg, size_t row);
void page_draw(struct page *pg);
/* The keys that all pages have. */
bool page_key(struct page *pg, const struct screen_event *e);
/* The next row, from the chosen one on, whose text has `pg->find`. */
void page_find(struct page *pg, bool back, bool here);

/* Writes all rows of a page into a new file here, and says which. */
void page_write(struct page *pg);

/* Says something in the status line: safe text. */
void tui_say(struct tui *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tui_complain(struct tui *t, const struct error *err);

/* The pages.  Each of these opens one; what went wrong is said. */
struct page *table_page_new(struct tui *t, struct error *err);
/* After the report changed: its rows are made anew. */
void table_page_reload(struct page *pg);
void tree_page_top_down(struct tui *t);
/* Callers and callees of a function: a frame key of model.flat's trees. */
void tree_page_butterfly(struct tui *t, uint32_t fk);
void annotate_page_open(struct tui *t, const struct annot_pick *pick,
			uint32_t line);
void text_page_help(struct tui *t);
void text_page_truth(struct tui *t);
/* Lines of safe text; `text` is taken over. */
void text_page_open(struct tui *t, const char *title, struct buf *text);

/* menu_page.c: one of some rows is chosen. */
struct choice {
	char *label;		/* safe */
	double percent;		/* below 0: none is shown */
	char *value;
	int id;
};
typedef void choice_cb(struct tui *t, const struct choice *c, void *ctx);
struct page *menu_page_new(struct tui *t, const char *title, choice_cb *chosen,
			   void *ctx);
void menu_page_add(struct page *pg, const char *label, double percent,
		   const char *value, int id);
/* The menus of the table. */
void menu_group(struct tui *t);
void menu_filter(struct tui *t);
void menu_threads(struct tui *t);
void menu_images(struct tui *t);

#endif
