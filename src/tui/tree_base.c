// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of trees: their text, details and titles. */
#include "tui/tree_base.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/framekey.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

/* Text of a row. */

void tree_word(struct tree_base *b, uint32_t row, enum view_key key,
	       struct buf *out)
{
	const struct report *rep = b->f.d->rep;
	bool full = b->pg.t->m.full_names;
	struct buf word = { 0 };
	struct column_at x;

	if (key == KEY_SYMBOL) {
		buf_str(out, name_cached(&b->f.d->row_names,
					 rep->table.rows.v[row].fk));
		return;
	}
	report_at_row(rep, row, &x);
	column_text(&report_columns[key], &x, full ? COLUMN_FULL : COLUMN_SHORT,
		    &word);
	text_safe(out, key == KEY_LINE && !full ? path_base(buf_cstr(&word))
						: buf_cstr(&word));
	buf_fini(&word);
}

void tree_title_samples(struct page *pg, struct strip *s)
{
	struct model *m = &pg->t->m;
	const struct report *rep = tree_data(pg)->rep;
	struct buf text = { 0 };
	size_t col = model_column(m, rep);
	const struct prof_event *e;

	if (rep->agg.cols.n) {
		e = &m->p->events.v[rep->agg.cols.v[col]];
		strip_put_unsafe(s, STYLE_PLAIN, prof_event_actual(m->p, e));
		if (rep->agg.cols.n > 1)
			strip_printf(s, STYLE_DIM, " (%zu of %zu: e)", col + 1,
				     rep->agg.cols.n);
		text_count(&text, rep->agg.shown[rep->agg.cols.v[col]].count);
		strip_printf(s, STYLE_PLAIN, ", %s samples", buf_cstr(&text));
	}
	buf_fini(&text);
	if (m->tid) {
		strip_put(s, STYLE_WARN, "  thread ");
		strip_put_unsafe(s, STYLE_WARN, m->tid);
	}
	if (m->image) {
		strip_put(s, STYLE_WARN, "  image ");
		strip_put_unsafe(s, STYLE_WARN, path_base(m->image));
	}
	if (m->symbol) {
		strip_put(s, STYLE_WARN, "  only ");
		strip_put_unsafe(s, STYLE_WARN, m->symbol);
	}
}

static void put_event(const struct report *rep, const struct tree_row *r,
		      size_t c, const struct values *v, struct buf *out)
{
	const struct profile *p = rep->p;
	uint32_t event = report_event(rep, r->lane, c);
	const struct prof_event *e = &p->events.v[event];
	struct cell all = rep->agg.shown[event];
	struct interval self = interval_of(e, v->self, all);
	struct interval total = interval_of(e, v->total, all);

	text_safe(out, profile_cstr(p, p->events.v[event].name));
	buf_printf(out, ":\n  self   %6.2f%% (%.2f-%.2f), ",
		   report_percent(rep, r->lane, c, v->self), 100 * self.lo,
		   100 * self.hi);
	text_count(out, v->self.count);
	buf_printf(out, " samples\n  total  %6.2f%% (%.2f-%.2f), ",
		   report_percent(rep, r->lane, c, v->total), 100 * total.lo,
		   100 * total.hi);
	text_count(out, v->total.count);
	buf_str(out, " samples\n");
}

/* Appends a line.  `text` may be anything, so it is made safe. */
static void put_fact(struct buf *out, const char *what, const char *text)
{
	if (!*text)
		return;
	buf_printf(out, "%s: ", what);
	text_safe(out, text);
	buf_u8(out, '\n');
}

static void put_function(const struct profile *p, const struct frame_keys *keys,
			 const struct frame_key *k, struct buf *out)
{
	struct annot_pick pick;
	struct model m = { .p = (struct profile *)p };
	struct buf name = { 0 };

	name_symbol(p, keys, k, NAME_ALONE, &name);
	put_fact(out, "function", buf_cstr(&name));
	buf_fini(&name);
	put_fact(out, "linkage name", profile_cstr(p, k->name));
	put_fact(out, "image", profile_cstr(p, k->image));
	put_fact(out, "in file", profile_cstr(p, k->file));
	if (k->file && k->line)
		buf_printf(out, "at line: %u\n", k->line);
	if (!model_pick(&m, k, &pick) || pick.kind != UNIT_FUNCTION)
		return;
	put_fact(out, "declared in", profile_cstr(p, p->funcs.v[pick.id].file));
	if (p->funcs.v[pick.id].line)
		buf_printf(out, "line: %u\n", p->funcs.v[pick.id].line);
}

void tree_details(struct page *pg)
{
	struct tree_base *b = tree_base(pg);
	const struct report *rep = b->f.d->rep;
	const struct tree_row *r;
	const struct frame_key *k;
	struct buf text = { 0 };

	if (pg->cursor >= b->f.seen.n)
		return;
	r = open_tree_row(&b->f, pg->cursor);
	k = open_tree_function(&b->f, r);
	if (k)
		put_function(rep->p, open_tree_keys(&b->f, r), k, &text);
	else
		tree_text(pg, pg->cursor, &text);
	buf_u8(&text, '\n');
	for (size_t c = 0; c < rep->table.ncols; c++)
		put_event(rep, r, c, &open_tree_values(&b->f, r)[c], &text);
	buf_str(&text, "\nShares are relative to all samples that pass the "
		"filters; brackets contain the 95 % confidence interval "
		"(Wilson).\n");
	text_page_open(pg->t, "details of this row", &text);
}

enum { FEW = 200 };

static void begin(struct buf *out)
{
	if (out->n)
		buf_str(out, ", ");
}

static void put_share(struct buf *out, uint64_t part, uint64_t whole,
		      double least, const char *what)
{
	double share = line_share(part, whole);

	if (!part || share < least)
		return;
	begin(out);
	if (share < 0.1)
		buf_printf(out, "<0.1%% %s", what);
	else
		buf_printf(out, "%.1f%% %s", share, what);
}

static void put_events(const struct quality *t, struct buf *out)
{
	const struct profile *p = t->p;

	for (size_t i = 0; i < p->events.n; i++) {
		const struct prof_event *e = &p->events.v[i];
		const char *actual = profile_cstr(p, e->actual);
		const char *name = profile_cstr(p, e->name);

		if (!*actual || !strcmp(actual, name))
			continue;
		begin(out);
		text_safe(out, actual);
		buf_str(out, " for ");
		text_safe(out, name);
	}
}

/* Appends a short description of problems with data quality; nothing if all is
 * well. */
static void quality_line(const struct quality *t, struct buf *out)
{
	if (t->damage && t->damage->message[0]) {
		begin(out);
		buf_str(out, t->damage->bad_chunks ? "file damaged"
						   : "file incomplete");
	}
	if (t->lost) {
		begin(out);
		text_count(out, t->lost);
		buf_str(out, " samples lost");
	}
	if (t->throttled) {
		begin(out);
		buf_str(out, "throttled");
	}
	if (t->shown < FEW) {
		begin(out);
		buf_printf(out, "only %llu sample%s",
			   (unsigned long long)t->shown, plural(t->shown, "s"));
	}
	put_share(out, t->broken, t->shown, 0.05, "stacks broken");
	put_share(out, t->cut, t->shown, 0.05, "stacks truncated");
	put_share(out, t->guessed, t->shown, 0.5,
		  "callers found by heuristics");
	put_share(out, t->unresolved, t->shown, 0.5, "unresolved");
	put_events(t, out);
}

enum {
	MARK = 2,		/* width of "+ " */
	/* minimum width for names before a second event is shown */
	NAMES_MIN = 36,
	NARROW = 60,		/* width below which images have no column */
	MEASURED = 300,		/* rows measured for the width of keys */
	GAP = 2,
};

static const struct report *report_of(const struct tree_base *b)
{
	return b->f.d->rep;
}

static size_t event_width(const struct tree_layout *l)
{
	const struct report_column *c = NULL;
	size_t width = l->before;

	while ((c = report_next_number(c, l->total, l->samples)))
		width += c->width;
	return width;
}

/* Chooses between one event and several side by side, depending on room. */
static void plan_events(struct tree_base *b, size_t columns)
{
	struct tree_layout *l = &b->lay;
	size_t all = report_of(b)->table.ncols;

	l->total = b->pg.t->m.has_callers && columns >= 32;
	l->samples = b->pg.t->m.samples && columns >= 50;
	l->before = all > 1 ? 2 : 0;
	l->first = model_column(&b->pg.t->m, report_of(b));
	l->n = all ? 1 : 0;
	if (all > 1 && all * event_width(l) + NAMES_MIN <= columns) {
		l->first = 0;
		l->n = all;
	}
}

static size_t measure(struct tree_base *b, enum view_key key)
{
	size_t most = strlen(report_columns[key].head), seen = 0;
	struct buf word = { 0 };

	for (size_t i = 0; i < b->f.seen.n && seen < MEASURED; i++) {
		const struct tree_row *r = open_tree_row(&b->f, i);
		size_t w;

		if (r->kind != TREE_ROW)
			continue;
		seen++;
		buf_reset(&word);
		tree_word(b, r->id, key, &word);
		w = text_columns(buf_cstr(&word));
		most = w > most ? w : most;
	}
	buf_fini(&word);
	return most;
}

/* Sets the width of key columns.  All but the last are as wide as needed, up to
 * a third of the screen; the last one gets the rest. */
static void plan_keys(struct tree_base *b, size_t columns)
{
	const struct key_list *keys = &report_of(b)->spec.keys;

	for (size_t k = 0; k < keys->n; k++) {
		size_t w = measure(b, keys->v[k]), most = columns / 3;

		if (keys->v[k] == KEY_IMAGE && keys->n > 1 && columns < NARROW)
			w = 0;
		b->lay.key[k] = w > most ? most : w;
	}
	if (keys->n)
		b->lay.key[keys->n - 1] = SIZE_MAX;
}

static void tree_plan(struct tree_base *b)
{
	size_t columns = (size_t)b->pg.t->columns;

	plan_events(b, columns);
	plan_keys(b, columns);
}

void tree_close(struct page *pg)
{
	open_tree_fini(&tree_base(pg)->f);
	free(pg);
}

size_t tree_count(struct page *pg)
{
	return tree_base(pg)->f.seen.n;
}

static void put_number(const struct report_column *c, const struct column_at *x,
		       struct strip *s)
{
	double v = c->percent ? c->percent(x) : 0;
	struct buf text = { 0 };

	column_text(c, x, COLUMN_SHORT, &text);
	strip_printf(s, v >= 5 ? STYLE_HOT : v >= 0.5 ? STYLE_WARM : STYLE_PLAIN,
		     "%*s", c->width, buf_cstr(&text));
	buf_fini(&text);
}

/* Appends the numbers of a row.  A branch shows totals, and self cost only if
 * stacks end in it.  The sample counts belong to the percentages beside them:
 * for a row, its self samples if rows are ordered by self. */
static void put_numbers(struct tree_base *b, const struct tree_row *r,
			struct strip *s)
{
	const struct report *rep = report_of(b);
	const struct values *v = open_tree_values(&b->f, r);
	const struct tree_layout *l = &b->lay;
	bool row = r->kind == TREE_ROW;

	for (size_t e = l->first; e < l->first + l->n; e++) {
		const struct report_column *c = NULL;
		struct column_at x = { .p = rep->p };
		bool self = row || v[e].self.count;

		report_at_event(rep, r->lane, e, v, &x);
		x.metric = row && b->sorted != 1 ? x.v.self : x.v.total;
		if (!self && !l->total)
			x.v.self = x.v.total;
		strip_pad(s, s->columns + l->before);
		while ((c = report_next_number(c, l->total, l->samples))) {
			bool shown = c->of_self ? self || (!l->total && !r->same)
						: !r->same;

			if (shown)
				put_number(c, &x, s);
			else
				strip_pad(s, s->columns + c->width);
		}
	}
	strip_pad(s, s->columns + 1);
}

static void put_mark(struct tree_base *b, const struct tree_row *r,
		     struct strip *s)
{
	const char *mark = r->open ? "- " : r->grown && !r->n ? "  " : "+ ";

	if (b->flat || !b->pg.t->m.has_callers)
		return;
	strip_put(s, STYLE_DIM, r->same && r->open ? "  " : mark);
}

static void put_keys(struct tree_base *b, const struct tree_row *r,
		     struct strip *s)
{
	const struct key_list *keys = &report_of(b)->spec.keys;
	struct buf word = { 0 };

	for (size_t k = 0; k < keys->n; k++) {
		size_t w = b->lay.key[k], room = s->room - s->columns;

		if (!w)
			continue;
		buf_reset(&word);
		tree_word(b, r->id, keys->v[k], &word);
		strip_name(s, STYLE_PLAIN, buf_cstr(&word), w < room ? w : room);
		if (k + 1 < keys->n)
			strip_pad(s, s->columns + GAP);
	}
	buf_fini(&word);
}

/* Returns a suffix that describes the kind of branch. */
static const char *branch_tail(const struct tree_base *b,
			       const struct tree_row *r)
{
	bool narrow = b->pg.t->columns < NARROW;

	if (r->inlined && r->recursive)
		return narrow ? " [ir]" : " (inlined) (recursive)";
	if (r->inlined)
		return narrow ? " [i]" : " (inlined)";
	return !r->recursive ? "" : narrow ? " [r]" : " (recursive)";
}

static void branch_words(struct tree_base *b, const struct tree_row *r,
			 struct buf *out)
{
	const struct frame_keys *keys = report_of(b)->tree_keys;
	const struct frame_key *k = &keys->keys.v[r->id];

	buf_str(out, name_cached(&b->f.d->tree_names, r->id));
	if (keys->mask & KEY_BIT(KEY_LINE)) {
		buf_u8(out, ' ');
		text_safe(out, path_base(profile_cstr(b->pg.t->m.p, k->file)));
		buf_printf(out, ":%u", k->line);
	}
}

/* Appends the image of a tree's root, because many programs have first
 * functions of the same name. */
static void root_image(struct tree_base *b, const struct tree_row *r,
		       struct strip *s)
{
	const struct frame_keys *keys = report_of(b)->tree_keys;
	const struct frame_key *k = &keys->keys.v[r->id];
	struct buf image = { 0 };

	if (r->depth || k->kernel || k->kind != FRAME_FUNC || !k->image ||
	    b->pg.t->columns < NARROW)
		return;
	name_image(b->pg.t->m.p, keys, k, false, &image);
	strip_put(s, STYLE_DIM, " in ");
	strip_put_unsafe(s, STYLE_DIM, buf_cstr(&image));
	buf_fini(&image);
}

static void put_branch(struct tree_base *b, const struct tree_row *r,
		       struct strip *s)
{
	size_t room = s->room - s->columns, indent = 2 * (size_t)r->depth;
	const char *tail = branch_tail(b, r);
	struct buf words = { 0 };
	size_t n;

	/* deep branches keep room for their names */
	strip_pad(s, s->columns + (indent > room / 2 ? room / 2 : indent));
	put_mark(b, r, s);
	branch_words(b, r, &words);
	room = s->room - s->columns;
	room -= room > strlen(tail) + 8 ? strlen(tail) : 0;
	n = text_columns(buf_cstr(&words));
	strip_name(s, STYLE_PLAIN, buf_cstr(&words), n < room ? n : room);
	strip_put(s, STYLE_DIM, tail);
	root_image(b, r, s);
	buf_fini(&words);
}

void tree_draw(struct page *pg, size_t i, struct strip *s)
{
	struct tree_base *b = tree_base(pg);
	const struct tree_row *r = open_tree_row(&b->f, i);

	put_numbers(b, r, s);
	if (r->kind != TREE_ROW) {
		put_branch(b, r, s);
		return;
	}
	put_mark(b, r, s);
	put_keys(b, r, s);
}

/* Appends the text for searching: the row without numbers, not cut. */
void tree_text(struct page *pg, size_t i, struct buf *out)
{
	struct tree_base *b = tree_base(pg);
	const struct tree_row *r = open_tree_row(&b->f, i);
	const struct key_list *keys = &report_of(b)->spec.keys;

	if (r->kind != TREE_ROW) {
		branch_words(b, r, out);
		return;
	}
	for (size_t k = 0; k < keys->n; k++) {
		tree_word(b, r->id, keys->v[k], out);
		buf_u8(out, ' ');
	}
}

static void head(struct strip *s, const char *word, size_t width, bool right,
		 bool sorted)
{
	unsigned int look = STYLE_BOLD | (sorted ? STYLE_REVERSE : 0);
	size_t n = strlen(word), start = s->columns;

	if (right && width > n)
		strip_pad(s, start + width - n);
	strip_put(s, look, word);
	if (!right && width < s->room - s->columns)
		strip_pad(s, start + width);
}

void tree_number_heads(struct tree_base *b, struct strip *s)
{
	const struct tree_layout *l = &b->lay;
	size_t active = model_column(&b->pg.t->m, report_of(b));

	tree_plan(b);
	for (size_t c = l->first; c < l->first + l->n; c++) {
		const struct report_column *n = NULL;
		bool mine = c == active;

		strip_pad(s, s->columns + l->before);
		while ((n = report_next_number(n, l->total, l->samples)))
			head(s, n->head, n->width, true, mine &&
			     ((b->sorted == 0 && n->shown == SHOWN_SELF) ||
			      (b->sorted == 1 && n->shown == SHOWN_TOTAL)));
	}
}

void tree_heads(struct page *pg, struct strip *s)
{
	struct tree_base *b = tree_base(pg);
	const struct key_list *keys = &report_of(b)->spec.keys;

	tree_number_heads(b, s);
	strip_pad(s, s->columns + 1);
	if (!b->flat && pg->t->m.has_callers)
		strip_pad(s, s->columns + MARK);
	for (size_t k = 0; k < keys->n; k++) {
		if (b->lay.key[k])
			head(s, report_columns[keys->v[k]].head, b->lay.key[k],
			     false, b->sorted == (int)k + 2);
		if (b->lay.key[k] && k + 1 < keys->n)
			strip_pad(s, s->columns + GAP);
	}
}

/* Shows problems with data quality first, then what the columns omit. */
void tree_status(struct page *pg, struct strip *s)
{
	struct tree_base *b = tree_base(pg);
	const struct report *rep = report_of(b);
	const struct frame_key *k;
	const struct tree_row *r;
	struct buf text = { 0 };

	quality_line(&rep->quality, &text);
	if (text.n) {
		strip_put(s, STYLE_WARN, "! ");
		strip_put(s, STYLE_WARN, buf_cstr(&text));
		strip_put(s, STYLE_DIM, " (i: more)  ");
	}
	buf_fini(&text);
	if (pg->cursor >= b->f.seen.n)
		return;
	r = open_tree_row(&b->f, pg->cursor);
	k = open_tree_function(&b->f, r);
	if (!k)
		return;
	name_image(pg->t->m.p, open_tree_keys(&b->f, r), k, false, &text);
	strip_put_unsafe(s, STYLE_PLAIN, buf_cstr(&text));
	buf_reset(&text);
	text_count(&text, open_tree_values(&b->f, r)[
			model_column(&pg->t->m, rep)].total.count);
	strip_printf(s, STYLE_PLAIN, "  %s samples", buf_cstr(&text));
	buf_fini(&text);
}
