/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_PAGE_H
#define TALLY_TUI_PAGE_H
/*
 * Internals of the interactive view.  Everything shown is a page: a list of
 * rows, one of which is selected.  Pages form a stack and the top one is
 * visible.  All pages share moving, scrolling and searching (page.c).  Each
 * page defines what its rows look like and its other keys.
 */
#include "base/buf.h"
#include "base/vec.h"
#include "tui/screen.h"
#include "tui/tui.h"
#include "views/query/names.h"
#include "views/tree/tree_level.h"

/* model.c: the data that the interactive view shows: reports of the selected samples. */

/* A report, its trees, and its names. */
struct data {
	struct report *rep;
	struct tree_explorer trees;
	struct name_cache row_names, tree_names;
};

struct model {
	struct reader *r;
	struct profile *p;
	struct report_spec spec;	/* the user's options at start */
	struct key_list keys;		/* current keys of the rows */
	/* Filters chosen in the view; NULL: none. */
	char *tid, *image, *symbol;
	const char *image_list[1], *symbol_list[1];
	struct data *table;
	/* Report by image and symbol, for trees.  It is the table if the table
	 * has these keys; NULL until first used. */
	struct data *flat;
	size_t event;			/* index of the current event column */
	bool full_names;
	bool samples;			/* sample counts are shown too */
	bool has_callers;		/* some stack has callers */
};

int model_init(struct model *m, struct reader *r, const struct tui_options *o,
	       struct error *err);
void model_fini(struct model *m);
/* Builds the table again after keys or filters changed. */
int model_reload(struct model *m, struct error *err);
void data_free(struct data *d);
/* Shows another recording with the same samples.  On success *old is the data of the
 * table before, which still refers to the recording before; free it with data_free. */
int model_renew(struct model *m, struct reader *r, struct data **old,
		struct error *err);
/* Sets one of the filters; NULL or "" clears it. */
int model_set(char **which, const char *value);
/* Clears all of them. */
void model_set_none(struct model *m);
bool model_filters(const struct model *m);
/* Returns the current selection. */
struct select_spec model_select(struct model *m);
/* Returns the report by image and symbol, owned by the model, or NULL and an
 * error. */
struct data *model_flat(struct model *m, struct error *err);
/* Builds another report of the same samples.  Free it with report_free. */
int model_report(struct model *m, const char *keys, struct report **out,
		 struct error *err);

/* Returns the frame key in `to` of the same function, or PROF_NONE. */
uint32_t model_same_function(const struct frame_keys *to,
			     const struct frame_key *k);
/* Identifies a function for annotate.  Returns false if the function is
 * unresolved. */
bool model_pick(const struct model *m, const struct frame_key *k,
		struct annot_pick *out);
/* Returns the column of `rep` for the model's current event. */
size_t model_column(const struct model *m, const struct report *rep);

/* strip.c: one line of the screen under construction: pieces of safe text with their
 * styles. */
struct strip_piece {
	size_t start;		/* offset in `text`; NUL-terminated */
	unsigned int look;
};

struct strip {
	struct buf text;
	VEC(struct strip_piece) pieces;
	size_t columns;		/* columns used */
	size_t room;		/* columns available; text beyond is cut */
	bool cut;		/* text was cut at the end of the line */
	unsigned int look;	/* style bits added to every piece */
};

void strip_begin(struct strip *s, size_t room);
void strip_fini(struct strip *s);
/* Appends safe text, cut at the end of the line. */
void strip_put(struct strip *s, unsigned int look, const char *safe);
/* Appends untrusted text. */
void strip_put_unsafe(struct strip *s, unsigned int look, const char *text);
void strip_printf(struct strip *s, unsigned int look, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends blanks up to a column. */
void strip_pad(struct strip *s, size_t column);
/* Appends safe text in exactly `width` columns.  A wider text is cut like a
 * name. */
void strip_name(struct strip *s, unsigned int look, const char *safe,
		size_t width);
/* Appends the whole line as plain text to `out`, for searching. */
void strip_text(const struct strip *s, struct buf *out);
void strip_show(struct strip *s, const struct screen *screen, int row);

struct page;

struct page_ops {
	const char *keys;	/* key help for the last line */
	const char *unsearched;	/* what a search passes over, or NULL */
	size_t (*count)(struct page *pg);
	/* Draws row i, from column s->columns on. */
	void (*row)(struct page *pg, size_t i, struct strip *s);
	/* Appends the text that a search matches; NULL: the drawn text. */
	void (*text)(struct page *pg, size_t i, struct buf *out);
	void (*title)(struct page *pg, struct strip *s);
	/* column headings, or NULL */
	void (*heads)(struct page *pg, struct strip *s);
	/* Returns true if the page used the key. */
	bool (*key)(struct page *pg, uint32_t key);
	/* Draws the status line about the selected row, or NULL. */
	void (*status)(struct page *pg, struct strip *s);
	void (*close)(struct page *pg);
};

struct page {
	const struct page_ops *ops;
	struct tui *t;
	size_t cursor, top;
	char *find;		/* last search text, or NULL */
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
	struct buf message;	/* safe text, shown until the next key */
	struct buf going_on;	/* safe text, shown while tui_news has it */
	bool news_started;
	bool newer;		/* there is a newer recording to show */
	bool writing;		/* rows go to a file that others may read */
	bool touched;		/* a key was pressed */
	bool quit;
};

/* page.c */
void page_init(struct page *pg, struct tui *t, const struct page_ops *ops);
/* Pushes a page and takes ownership of it.  On failure the page is closed. */
void page_push(struct page *pg);
void page_pop(struct tui *t);
/* Closes all pages except the first. */
void page_pop_all(struct tui *t);
struct page *page_seen(const struct tui *t);
/* Selects a row and scrolls it into view. */
void page_go(struct page *pg, size_t row);
void page_draw(struct page *pg);
/* Handles the keys that all pages share.  Returns false for other keys. */
bool page_key(struct page *pg, const struct screen_event *e);
/* Asks for a text. */
void page_prompt(struct tui *t, enum prompt prompt);
/* Selects the next row, from the selected one on, whose text contains
 * `pg->find`. */
void page_find(struct page *pg, bool back, bool here);

/* Shows safe text in the status line. */
void tui_notice(struct tui *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tui_complain(struct tui *t, const struct error *err);

/* The pages.  Each function opens one and shows errors in the status line. */
struct page *table_page_new(struct tui *t, struct error *err);
/* Rebuilds the rows after the report changed. */
void table_page_reload(struct page *pg);
/* Rebuilds the rows after model_renew, which replaced the data `old`, and keeps the
 * selected row, the rows above it on the screen, and the open trees. */
void table_page_renew(struct page *pg, struct data *old);
void tree_page_top_down(struct tui *t);
void annotate_page_open(struct tui *t, const struct annot_pick *pick,
			uint32_t line);
/* Opens the page of this key, if it is one of help, data quality or waits. */
void text_page_key(struct tui *t, uint32_t key);
/* Opens lines of safe text; takes ownership of `text`. */
void text_page_open(struct tui *t, const char *title, struct buf *text);

/* menu_page.c: selection of one row from a list. */
struct choice {
	char *label;		/* safe */
	double percent;		/* negative: not shown */
	char *value;
	int id;
};
typedef void choice_cb(struct tui *t, const struct choice *c, void *ctx);
struct page *menu_page_new(struct tui *t, const char *title, choice_cb *chosen,
			   void *ctx);
void menu_page_add(struct page *pg, const char *label, double percent,
		   const char *value, int id);

#endif
