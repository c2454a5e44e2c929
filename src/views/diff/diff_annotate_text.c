// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes two annotations side by side as text.
 *
 *	      OLD      NEW   CHANGE    LINE  SOURCE           LINE  SOURCE
 *	   134.20   149.10   +14.90       7  x = f(x);           9  x = f(x);
 *	     9.00             -9.00       8  x++;             <
 *
 * Between the sides, | marks a changed line, and < or > a line on one side only.
 * On a narrow terminal, lines are shown below each other as by `diff -u`.
 */
#include <string.h>

#include "base/text.h"
#include "views/diff/diff_annotate.h"
#include "views/query/lines.h"

enum {
	COST = 10,		/* width of a cost column */
	NARROW = 110,		/* minimum width for two texts side by side */
	TEXT_LIMIT = 72,		/* width of the old text if lines are not cut */
	NUMBER = 8,		/* width of a line's number or address, with a gap */
	CODES_SHOWN = 3,
};

struct aligned {
	struct diff_annotation *x;
	const struct annotate_style *style;
	struct buf *out;
	const struct diff_unit *u;
	bool beside, same_file_noted;
	size_t left;			/* width of the old text */
	struct buf text, tmp;
};

/* Makes one side of a row in t->text: its number and text. */
static void make_text(struct aligned *t, const struct listing_row *r, int side)
{
	buf_again(&t->text);
	listing_number(&t->u->list, r, side, &t->text);
	listing_text(&t->u->list, r, side, &t->text);
	while (t->text.n && t->text.p[t->text.n - 1] == ' ')
		t->text.n--;
}

static bool is_noise(const struct aligned *t, const struct listing_row *r)
{
	for (size_t c = 0; c < t->x->d->cols.n; c++)
		if (diff_row_changes(t->x, t->u, r)[c].real)
			return false;
	return true;
}

static void put_cell(struct aligned *t)
{
	size_t n = t->tmp.n;

	line_pad(t->out, n < COST ? COST - n : 1);
	buf_str(t->out, buf_cstr(&t->tmp));
}

/* `only`: the side whose cost is shown, or -1 for both. */
static void put_costs(struct aligned *t, const struct listing_row *r, int only)
{
	const struct diff *d = t->x->d;

	for (size_t c = 0; c < d->cols.n; c++) {
		const struct cost_change *k = &diff_row_changes(t->x, t->u, r)[c];
		bool any = false;

		for (int s = 0; s < DIFF_SIDES; s++) {
			struct cell x = diff_part_cell(t->x, s, r->cost[s], c);

			buf_again(&t->tmp);
			if (x.count && only != !s) {
				diff_put_cost(d, c, k->cost[s], false,
					      &t->tmp);
				any = true;
			}
			put_cell(t);
		}
		buf_again(&t->tmp);
		if (any && only < 0)
			diff_put_cost(d, c, k->change, true, &t->tmp);
		if (t->style->color && k->real)
			buf_str(t->out, k->change > 0 ? LINE_RED : LINE_BLUE);
		put_cell(t);
		if (t->style->color && k->real)
			buf_str(t->out, LINE_OFF);
	}
	line_pad(t->out, 2);
}

static size_t costs_width(const struct aligned *t)
{
	return 1 + 3 * COST * t->x->d->cols.n + 2;
}

/* Appends the current text, cut at `width` (0: all of it).  Returns its
 * columns. */
static size_t put_text(struct aligned *t, size_t width)
{
	size_t n = text_columns(buf_cstr(&t->text));

	if (!width || n <= width) {
		buf_str(t->out, buf_cstr(&t->text));
		return n;
	}
	text_cut(t->out, buf_cstr(&t->text), width);
	return width;
}

static size_t room(const struct aligned *t, size_t used)
{
	size_t columns = (size_t)t->style->columns;

	return t->style->columns <= 0 ? 0 : columns > used ? columns - used : 1;
}

static void begin_row(struct aligned *t, const struct listing_row *r, bool *dim)
{
	bool cost = listing_has_cost(&t->u->list, r), noise = is_noise(t, r);

	*dim = t->style->color && noise && cost;
	if (*dim)
		buf_str(t->out, LINE_DIM);
	buf_u8(t->out, cost && noise ? '~' : ' ');
}

static void end_row(struct aligned *t, bool dim)
{
	while (t->out->n && t->out->p[t->out->n - 1] == ' ')
		t->out->n--;
	if (dim)
		buf_str(t->out, LINE_OFF);
	buf_u8(t->out, '\n');
}

static void put_beside(struct aligned *t, const struct listing_row *r)
{
	static const char marks[] = { ' ', '|', '<', '>' };
	bool dim;
	size_t n;

	begin_row(t, r, &dim);
	put_costs(t, r, -1);
	make_text(t, r, DIFF_OLD);
	n = put_text(t, t->left);
	line_pad(t->out, t->left > n ? t->left - n : 0);
	buf_printf(t->out, " %c ", marks[r->how & 3]);
	make_text(t, r, DIFF_NEW);
	put_text(t, room(t, costs_width(t) + t->left + 3));
	end_row(t, dim);
}

/* Writes one row if both sides are equal, otherwise one per side. */
static void put_below(struct aligned *t, const struct listing_row *r)
{
	bool dim;

	for (int s = 0; s < DIFF_SIDES; s++) {
		if (r->at[s] == PROF_NONE ||
		    (r->how == ALIGN_SAME && s == DIFF_OLD))
			continue;
		begin_row(t, r, &dim);
		put_costs(t, r, r->how == ALIGN_CHANGED ? s : -1);
		buf_u8(t->out, r->how == ALIGN_SAME ? ' ' : s ? '+' : '-');
		make_text(t, r, s);
		put_text(t, room(t, costs_width(t) + 1));
		end_row(t, dim);
	}
}

static void put_fold(struct aligned *t, const struct listing_row *r)
{
	line_pad(t->out, costs_width(t));
	make_text(t, r, DIFF_NEW);
	buf_str(t->out, buf_cstr(&t->text));
	buf_u8(t->out, '\n');
}

/* Computes the width of the old text beside the new one. */
static void plan(struct aligned *t, const struct listing_group *g)
{
	size_t width = costs_width(t);

	t->beside = t->style->columns <= 0 || t->style->columns >= NARROW;
	t->left = 0;
	if (!t->beside)
		return;
	for (size_t i = g->shown; i < g->shown + g->nshown; i++) {
		const struct listing_row *r = &t->u->list.shown.v[i];
		size_t w;

		if (r->at[DIFF_OLD] == PROF_NONE)
			continue;
		make_text(t, r, DIFF_OLD);
		w = text_columns(buf_cstr(&t->text));
		t->left = w > t->left ? w : t->left;
	}
	if (t->left > TEXT_LIMIT + NUMBER)
		t->left = TEXT_LIMIT + NUMBER;
	width = room(t, width + 3) / 2;
	if (width && t->left > width)
		t->left = width;
	if (t->left < 24)
		t->left = 24;
}

static void put_heads(struct aligned *t, const struct listing_group *g)
{
	const char *what = g->is_code ? "INSTRUCTION" : "SOURCE";
	const char *number = g->is_code ? "OFFSET  " : "  LINE  ";
	struct buf head = { 0 };

	for (size_t c = 0; c < t->x->d->cols.n; c++)
		buf_printf(&head, "%*s%*s%*s", COST, "OLD", COST, "NEW", COST,
			   "CHANGE");
	buf_printf(&head, "  %s%s", number, what);
	if (t->style->color)
		buf_str(t->out, LINE_BOLD);
	buf_u8(t->out, ' ');
	buf_str(t->out, buf_cstr(&head));
	if (t->beside) {
		size_t used = NUMBER + strlen(what);

		line_pad(t->out, t->left > used ? t->left - used : 0);
		buf_printf(t->out, "   %s%s", number, what);
	}
	if (t->style->color)
		buf_str(t->out, LINE_OFF);
	buf_u8(t->out, '\n');
	buf_close(&head, t->out);
}

static void comment(struct aligned *t, const char *text)
{
	line_comment(t->out, text, t->style->columns);
}

/* Notes that the code differs although only one version of the source
 * exists. */
static void put_same_file(struct aligned *t, const struct listing_group *g)
{
	const struct source_file *s = g->source[0], *o = g->source[1];
	const struct build_id *id[DIFF_SIDES];

	if (t->same_file_noted || g->is_code || !s || !o ||
	    s->place != SOURCE_FILE || o->place != SOURCE_FILE || !s->path ||
	    !o->path || strcmp(s->path, o->path))
		return;
	for (int i = 0; i < DIFF_SIDES; i++) {
		const struct annotation *a = t->x->a[i];

		id[i] = &a->p->images.v[a->units.v[t->u->unit[i]].image].build_id;
	}
	if (id[0]->len && id[0]->len == id[1]->len &&
	    !memcmp(id[0]->bytes, id[1]->bytes, id[0]->len))
		return;
	t->same_file_noted = true;
	comment(t, "note: both sides show the same file, but they ran different "
		   "builds: if the file changed in between, lines of the old side "
		   "are wrong (--repo DIR, --old-source-map FROM=TO, or record "
		   "with --embed-source)");
}

/* Writes a file or a code: what it is, then its rows. */
static void put_group(struct aligned *t, const struct listing_group *g)
{
	bool headed = false;

	for (size_t i = g->shown; i < g->shown + g->nshown; i++) {
		const struct listing_row *r = &t->u->list.shown.v[i];

		if (r->kind == LISTING_NOTE) {
			comment(t, listing_note_text(&t->u->list, r));
			continue;
		}
		if (!headed) {
			put_same_file(t, g);
			plan(t, g);
			put_heads(t, g);
		}
		headed = true;
		if (r->kind == LISTING_FOLD)
			put_fold(t, r);
		else if (t->beside)
			put_beside(t, r);
		else
			put_below(t, r);
	}
}

/* Writes the files of a unit, or its codes.  Returns whether there are any. */
static bool put_groups(struct aligned *t, bool code)
{
	const struct listing *l = &t->u->list;
	size_t n = 0;

	for (size_t i = 0; i < l->groups.n; i++) {
		const struct listing_group *g = &l->groups.v[i];

		if (g->is_code != code || !g->nshown ||
		    (!code && !g->file[0] && !g->file[1]))
			continue;
		if (++n <= CODES_SHOWN || !code)
			put_group(t, g);
	}
	if (code && n > CODES_SHOWN)
		comment(t, "more functions that it was inlined into are not "
			   "shown: name one to see its code");
	return n > 0;
}

static void put_unit(struct aligned *t, struct diff_unit *u)
{
	const struct diff *d = t->x->d;
	bool lines = false;

	t->u = u;
	if (listing_fold(&u->list, t->style->context, t->style->all) < 0)
		t->out->failed = true;
	buf_again(&t->tmp);
	buf_again(&t->text);
	diff_unit_name(t->x, u, t->style->full_names, &t->tmp);
	text_safe(&t->text, buf_cstr(&t->tmp));
	buf_str(&t->text, ": ");
	put_cost_scaled(d, 0, u->change.cost[DIFF_OLD], false, &t->text);
	buf_str(&t->text, " -> ");
	put_cost_scaled(d, 0, u->change.cost[DIFF_NEW], false, &t->text);
	buf_str(&t->text, ", ");
	put_cost_scaled(d, 0, u->change.change, true, &t->text);
	if (u->unit[DIFF_OLD] == SIZE_MAX)
		buf_str(&t->text, " (new side only)");
	else if (u->unit[DIFF_NEW] == SIZE_MAX)
		buf_str(&t->text, " (old side only)");
	else if (u->change.cost[DIFF_OLD] > 0)
		buf_printf(&t->text, " (%+.1f%%)", 100 * u->change.change /
						   u->change.cost[DIFF_OLD]);
	buf_str(&t->text, ", 95%: ");
	put_cost_scaled(d, 0, u->change.low, true, &t->text);
	buf_str(&t->text, " to ");
	put_cost_scaled(d, 0, u->change.high, true, &t->text);
	if (!u->change.real)
		buf_str(&t->text, ": not significant");
	buf_u8(t->out, '\n');
	comment(t, buf_cstr(&t->text));
	if (t->style->source)
		lines = put_groups(t, false);
	if (t->style->source && !lines)
		comment(t, "no lines are known");
	if (t->style->code && (!lines || !t->style->automatic))
		put_groups(t, true);
}

void diff_annotate_text(struct diff_annotation *x,
			const struct annotate_style *style,
			struct buf *out)
{
	struct aligned t = { .x = x, .style = style, .out = out };

	if (!style->no_header) {
		if (style->color)
			buf_str(out, LINE_DIM);
		diff_head(x->d, style->columns, out);
		comment(&t, "Costs of lines include functions inlined there; | "
			    "changed, < old side only, > new side only");
		if (style->color)
			buf_str(out, LINE_OFF);
	}
	for (size_t i = 0; i < x->units.n; i++)
		put_unit(&t, &x->units.v[i]);
	if (!x->units.n)
		comment(&t, "no function has samples on either side");
	out->failed |= t.text.failed || t.tmp.failed;
	buf_fini(&t.text);
	buf_fini(&t.tmp);
}
