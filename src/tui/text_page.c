// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages of text: help and data quality. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/page.h"
#include "views/wait_sites.h"

struct text_page {
	struct page pg;
	const char *title;
	struct buf text;
	int columns;		/* width for which lines were folded */
	VEC(const char *) lines;	/* NUL-terminated lines in `folded` */
	struct buf folded;
};

static struct text_page *text_page(struct page *pg)
{
	return (struct text_page *)pg;
}

/* Returns how many bytes of `line` fit into `columns`, cut at a blank if there
 * is one. */
static size_t fold_at(const char *line, size_t n, size_t columns)
{
	struct buf part = { 0 };
	size_t k = n, blank;

	buf_bytes(&part, line, n);
	if (text_columns(buf_cstr(&part)) <= columns) {
		buf_fini(&part);
		return n;
	}
	k = n < columns ? n : columns;
	while (k > 1 && ((uint8_t)line[k] & 0xc0) == 0x80)
		k--;
	/* wide characters take two columns */
	for (;;) {
		buf_reset(&part);
		buf_bytes(&part, line, k);
		if (k <= 4 || text_columns(buf_cstr(&part)) <= columns)
			break;
		k--;
		while (k > 1 && ((uint8_t)line[k] & 0xc0) == 0x80)
			k--;
	}
	buf_fini(&part);
	for (blank = k; blank > k / 2; blank--)
		if (line[blank] == ' ')
			return blank;
	return k;
}

static void fold_lines(struct text_page *tp)
{
	const char *p = buf_cstr(&tp->text), *end = p + tp->text.n;
	size_t columns = (size_t)tp->pg.t->columns;
	VEC(size_t) at = { 0 };
	bool ok = true;

	buf_reset(&tp->folded);
	while (ok && p < end) {
		size_t n = strcspn(p, "\n"), k = fold_at(p, n, columns);

		ok = vec_push(&at, tp->folded.n) == 0;
		buf_bytes(&tp->folded, p, k);
		buf_u8(&tp->folded, 0);
		p += k;
		if (k == n)
			p++;
		else
			p += *p == ' ';
	}
	tp->lines.n = 0;
	for (size_t i = 0; i < at.n && !tp->folded.failed; i++)
		if (vec_push(&tp->lines,
			     (const char *)tp->folded.p + at.v[i]) < 0)
			break;
	tp->columns = tp->pg.t->columns;
	vec_fini(&at);
}

static size_t text_count_rows(struct page *pg)
{
	struct text_page *tp = text_page(pg);

	if (tp->columns != pg->t->columns)
		fold_lines(tp);
	return tp->lines.n;
}

static void text_row(struct page *pg, size_t i, struct strip *s)
{
	strip_put(s, STYLE_PLAIN, text_page(pg)->lines.v[i]);
}

static void text_title(struct page *pg, struct strip *s)
{
	strip_put(s, STYLE_BOLD, text_page(pg)->title);
}

static void text_close(struct page *pg)
{
	struct text_page *tp = text_page(pg);

	buf_fini(&tp->text);
	buf_fini(&tp->folded);
	vec_fini(&tp->lines);
	free(tp);
}

static const struct page_ops text_ops = {
	.keys = "q:back  /:search",
	.count = text_count_rows,
	.row = text_row,
	.title = text_title,
	.close = text_close,
};

void text_page_open(struct tui *t, const char *title, struct buf *text)
{
	struct text_page *tp = calloc(1, sizeof(*tp));

	if (!tp) {
		buf_fini(text);
		tui_notice(t, "out of memory");
		return;
	}
	page_init(&tp->pg, t, &text_ops);
	tp->title = title;
	tp->text = *text;
	*text = (struct buf){ 0 };
	page_push(&tp->pg);
}

static void open_quality(struct tui *t)
{
	const struct report *rep = t->m.table->rep;
	struct buf text = { 0 };

	quality_text(&rep->quality, t->columns, &text);
	missing_text(&rep->missing, rep->missing.rows.n, t->columns, &text);
	text_page_open(t, "data quality", &text);
}

enum { WAIT_ROWS = 1000 };

/* Appends where threads wait and what ended which waits. */
static int put_waits(struct tui *t, const struct report *rep, struct buf *text)
{
	struct text_style style = { .columns = t->columns,
				    .full_names = t->m.full_names };
	struct wait_sites sites, pairs;
	uint64_t blocked;

	if (wait_sites_build(rep, t->m.r, &sites) < 0)
		return -ERR_NOMEM;
	if (wait_pairs_build(rep, t->m.r, &pairs, &blocked) < 0) {
		wait_sites_fini(&sites);
		return -ERR_NOMEM;
	}
	if (sites.rows.n) {
		wait_sites_text(rep, &sites, &style, WAIT_ROWS, text);
		buf_u8(text, '\n');
		wait_pairs_text(rep, &pairs, blocked, &style, WAIT_ROWS, text);
	}
	wait_sites_fini(&sites);
	wait_sites_fini(&pairs);
	return text->failed ? -ERR_NOMEM : 0;
}

static void open_waits(struct tui *t)
{
	struct report *rep = NULL;
	struct buf text = { 0 };
	struct error err = { 0 };
	int rc = model_report(&t->m, "image,symbol", &rep, &err);

	if (rc >= 0 && put_waits(t, rep, &text) < 0)
		error_nomem(&err);
	report_free(rep);
	if (err.msg[0])
		tui_complain(t, &err);
	else if (!text.n)
		tui_notice(t, "no waits were recorded: use tally record --wait");
	else
		text_page_open(t, "waits", &text);
	buf_fini(&text);
}

static const char help[] =
	"Moving\n"
	"  Up Down j k       one row        PgUp PgDn Space  one screen\n"
	"  Home End G        first, last    ^U ^D            half a screen\n"
	"  /                 search         n N              next, previous\n"
	"  q Esc             back (q leaves at the table), Q leaves\n"
	"\n"
	"Rows and trees\n"
	"  Enter             open or close a row's callers (or callees)\n"
	"  + Right, - Left   open, close; Left goes to the row above\n"
	"  * or E            open all below this row (branches from 0.1 %)\n"
	"  C                 close all\n"
	"  c                 rows open into callers or callees\n"
	"  z or 3            zoom: callers and callees of this function\n"
	"  T or 2            top-down tree, from the entry point\n"
	"  b or 1            table of functions (bottom-up)\n"
	"  a or 4            annotate: cost of its lines and instructions\n"
	"  =                 details of the row, with full names\n"
	"\n"
	"The table\n"
	"  s                 by self, or by total (including callees)\n"
	"  < >               by the column to the left or right; r reverses\n"
	"  g                 group by function, image, thread, line…\n"
	"  t d &             only a thread, this row's image, or functions whose\n"
	"                    name contains a text; f: menu; x: clear all\n"
	"  e or Tab          the next event\n"
	"\n"
	"Annotated functions\n"
	"  s                 source, instructions, or both\n"
	"  n N               next, previous line with a cost (or match,\n"
	"                    after a search); Tab: by cost, H: the costliest\n"
	"  Enter             follow a call or a jump; Backspace or q goes back\n"
	"  Left Right        move the text sideways\n"
	"  o                 only lines with a cost and those around them\n"
	"\n"
	"Everywhere\n"
	"  i                 data quality and missing symbols\n"
	"  W                 where threads wait, and what ended which waits\n"
	"  #                 show numbers of samples\n"
	"  P                 write this page to a new file tally.txt\n"
	"  ?                 this page\n"
	"\n"
	"Percentages are relative to all samples that pass the thread filters.\n"
	"The wheel scrolls, a click selects a row, a second click opens it (hold\n"
	"Shift to select text).\n";

static void open_help(struct tui *t)
{
	struct buf text = { 0 };

	buf_str(&text, help);
	text_page_open(t, "keys", &text);
}

void text_page_key(struct tui *t, uint32_t key)
{
	switch (key) {
	case '?': case 'h': case SCREEN_F1:
		open_help(t);
		break;
	case 'i':
		open_quality(t);
		break;
	case 'W':
		open_waits(t);
		break;
	}
}
