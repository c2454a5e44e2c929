// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes two annotations side by side as text.
 *
 *	      OLD      NEW   CHANGE    LINE  OLD SOURCE       LINE  NEW SOURCE
 *	   134.20   149.10   +14.90       7  x = f(x);           9  x = f(x);
 *	     9.00        -    -9.00       8  x++;             <
 *
 * Between the sides, | marks a changed line, and < or > a line on one side only.
 * On a narrow terminal, lines are shown below each other as by `diff -u`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/diff/diff_annotate.h"
#include "views/diff/diff_internal.h"
#include "views/query/lines.h"

enum {
	COST = 10,		/* width of a cost column */
	TAB = 8,
	NARROW = 110,		/* minimum width for two texts side by side */
	TEXT_MOST = 72,		/* width of the old text if lines are not cut */
	NUMBER = 8,		/* width of a line's number or address, with a gap */
	CODES_SHOWN = 3,
};

#define DIM "\033[2m"
#define BOLD "\033[1m"
#define RED "\033[31m"
#define BLUE "\033[34m"
#define OFF "\033[0m"

struct aligned {
	struct diff_annotation *x;
	const struct diff_annotate_style *style;
	struct buf *out;
	const struct diff_file *f;	/* file of the lines, or NULL */
	const struct diff_code *c;	/* code of the instructions, or NULL */
	bool beside, same_file_told;
	size_t left;			/* width of the old text */
	struct buf raw, text, tmp;
};

/* Appends safe text, with tabs as blanks. */
static void put_untabbed(struct aligned *t, const char *s)
{
	size_t column = 0;

	buf_again(&t->tmp);
	for (; *s; s++) {
		size_t n = *s == '\t' ? TAB - column % TAB : 1;

		if (*s == '\t')
			line_pad(&t->tmp, n);
		else
			buf_u8(&t->tmp, (uint8_t)*s);
		column += n;
	}
	text_safe(&t->text, buf_cstr(&t->tmp));
}

/* Makes one side of a part in t->text: its number and text. */
static void make_text(struct aligned *t, const struct diff_part *p, int side)
{
	uint32_t at = p->at[side];

	buf_again(&t->text);
	buf_again(&t->raw);
	if (at == PROF_NONE)
		return;
	if (t->c) {
		const struct annotation *a = t->x->a[side];
		const struct annot_code *c = &a->codes.v[t->c->code[side]];

		buf_printf(&t->text, "%6llx  ", (unsigned long long)(
			a->insns.v[c->insn + at].vaddr -
			a->p->symbols.v[c->symbol].vaddr));
		diff_insn_text(t->x, t->c, side, at, &t->raw);
	} else if (at) {
		buf_printf(&t->text, "%6u  ", at);
		diff_line_text(t->x, t->f, side, at, &t->raw);
	} else {
		buf_str(&t->text, "     -  (code without a line)");
	}
	put_untabbed(t, buf_cstr(&t->raw));
	while (t->text.n && t->text.p[t->text.n - 1] == ' ')
		t->text.n--;
}

static bool has_cost(const struct aligned *t, const struct diff_part *p)
{
	for (int s = 0; s < DIFF_SIDES; s++)
		for (size_t c = 0; c < t->x->d->cols.n; c++)
			if (diff_part_cell(t->x, s, p->cost[s], c).count)
				return true;
	return false;
}

static const struct diff_change *changes_of(const struct aligned *t,
					    const struct diff_part *p)
{
	size_t i = (size_t)(p - t->x->parts.v);

	return &t->x->changes[i * t->x->d->cols.n];
}

static bool is_noise(const struct aligned *t, const struct diff_part *p)
{
	for (size_t c = 0; c < t->x->d->cols.n; c++)
		if (changes_of(t, p)[c].real)
			return false;
	return true;
}

static void put_right(struct aligned *t, size_t width)
{
	size_t n = t->tmp.n;

	line_pad(t->out, n < width ? width - n : 1);
	buf_str(t->out, buf_cstr(&t->tmp));
}

/* `only`: the side whose cost is shown, or -1 for both. */
static void put_costs(struct aligned *t, const struct diff_part *p, int only)
{
	const struct diff *d = t->x->d;

	for (size_t c = 0; c < d->cols.n; c++) {
		const struct diff_change *k = &changes_of(t, p)[c];
		bool any = false;

		for (int s = 0; s < DIFF_SIDES; s++) {
			struct cell x = diff_part_cell(t->x, s, p->cost[s], c);

			buf_again(&t->tmp);
			if (x.count && only != !s) {
				diff_put_cost(d, c, k->cost[s], false,
					      &t->tmp);
				any = true;
			}
			put_right(t, COST);
		}
		buf_again(&t->tmp);
		if (any && only < 0)
			diff_put_cost(d, c, k->change, true, &t->tmp);
		if (t->style->color && k->real)
			buf_str(t->out, k->change > 0 ? RED : BLUE);
		put_right(t, COST);
		if (t->style->color && k->real)
			buf_str(t->out, OFF);
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

static void begin_row(struct aligned *t, const struct diff_part *p, bool *dim)
{
	bool cost = has_cost(t, p), noise = is_noise(t, p);

	*dim = t->style->color && noise && cost;
	if (*dim)
		buf_str(t->out, DIM);
	buf_u8(t->out, cost && noise ? '~' : ' ');
}

static void end_row(struct aligned *t, bool dim)
{
	while (t->out->n && t->out->p[t->out->n - 1] == ' ')
		t->out->n--;
	if (dim)
		buf_str(t->out, OFF);
	buf_u8(t->out, '\n');
}

static void put_beside(struct aligned *t, const struct diff_part *p)
{
	static const char marks[] = { ' ', '|', '<', '>' };
	bool dim;
	size_t n;

	begin_row(t, p, &dim);
	put_costs(t, p, -1);
	make_text(t, p, DIFF_OLD);
	n = put_text(t, t->left);
	line_pad(t->out, t->left > n ? t->left - n : 0);
	buf_printf(t->out, " %c ", marks[p->how & 3]);
	make_text(t, p, DIFF_NEW);
	put_text(t, room(t, costs_width(t) + t->left + 3));
	end_row(t, dim);
}

/* Writes one row if both sides are equal, otherwise one per side. */
static void put_below(struct aligned *t, const struct diff_part *p)
{
	bool dim;

	for (int s = 0; s < DIFF_SIDES; s++) {
		if (p->at[s] == PROF_NONE ||
		    (p->how == ALIGN_SAME && s == DIFF_OLD))
			continue;
		begin_row(t, p, &dim);
		put_costs(t, p, p->how == ALIGN_CHANGED ? s : -1);
		buf_u8(t->out, p->how == ALIGN_SAME ? ' ' : s ? '+' : '-');
		make_text(t, p, s);
		put_text(t, room(t, costs_width(t) + 1));
		end_row(t, dim);
	}
}

static void put_fold(struct aligned *t)
{
	line_pad(t->out, costs_width(t) + (t->beside ? 5 : 6));
	buf_str(t->out, "\u22ee\n");
}

/* Selects the parts to show: those with cost, and their neighbours. */
static uint8_t *choose(const struct aligned *t, const struct diff_part *v,
		       size_t n)
{
	uint8_t *show = calloc(n + 1, 1);
	size_t around = t->style->context, first = n, last = 0;

	for (size_t i = 0; show && i < n; i++) {
		if (v[i].cost[0] != SIZE_MAX || v[i].cost[1] != SIZE_MAX) {
			first = first < n ? first : i;
			last = i;
		}
		if (!has_cost(t, &v[i]))
			continue;
		for (size_t k = i > around ? i - around : 0;
		     k < n && k <= i + around; k++)
			show[k] = 1;
	}
	for (size_t i = first; show && t->style->all && i <= last && i < n; i++)
		show[i] = 1;
	return show;
}

/* Computes the width of the old text beside the new one. */
static void plan(struct aligned *t, const struct diff_part *v, size_t n,
		 const uint8_t *show)
{
	size_t width = costs_width(t);

	t->beside = t->style->columns <= 0 || t->style->columns >= NARROW;
	t->left = 0;
	if (!t->beside)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t w;

		if (!show[i])
			continue;
		make_text(t, &v[i], DIFF_OLD);
		w = text_columns(buf_cstr(&t->text));
		t->left = w > t->left ? w : t->left;
	}
	if (t->left > TEXT_MOST + NUMBER)
		t->left = TEXT_MOST + NUMBER;
	width = room(t, width + 3) / 2;
	if (width && t->left > width)
		t->left = width;
	if (t->left < 24)
		t->left = 24;
}

static void put_heads(struct aligned *t)
{
	const char *what = t->c ? "INSTRUCTION" : "SOURCE";
	const char *number = t->c ? "OFFSET  " : "  LINE  ";
	struct buf head = { 0 };

	for (size_t c = 0; c < t->x->d->cols.n; c++)
		buf_printf(&head, "%*s%*s%*s", COST, "OLD", COST, "NEW", COST,
			   "CHANGE");
	buf_printf(&head, "  %s%s", number, what);
	if (t->style->color)
		buf_str(t->out, BOLD);
	buf_u8(t->out, ' ');
	buf_str(t->out, buf_cstr(&head));
	if (t->beside) {
		size_t used = NUMBER + strlen(what);

		line_pad(t->out, t->left > used ? t->left - used : 0);
		buf_printf(t->out, "   %s%s", number, what);
	}
	if (t->style->color)
		buf_str(t->out, OFF);
	buf_u8(t->out, '\n');
	t->out->failed |= head.failed;
	buf_fini(&head);
}

static void put_parts(struct aligned *t, size_t first, size_t n)
{
	const struct diff_part *v = t->x->parts.v + first;
	uint8_t *show = choose(t, v, n);
	size_t last = SIZE_MAX;

	if (!show) {
		t->out->failed = true;
		return;
	}
	plan(t, v, n, show);
	put_heads(t);
	for (size_t i = 0; i < n; i++) {
		if (!show[i])
			continue;
		if (last != SIZE_MAX && i > last + 1)
			put_fold(t);
		last = i;
		if (t->beside)
			put_beside(t, &v[i]);
		else
			put_below(t, &v[i]);
	}
	free(show);
}

static void comment(struct aligned *t, const char *text)
{
	line_comment(t->out, text, t->style->columns);
}

static void put_source_notes(struct aligned *t, int side)
{
	static const char *const names[] = { "old", "new" };
	const struct source_file *s = t->f->source[side];
	const struct profile *p = t->x->d->side[side].p;
	struct buf origin = { 0 };

	buf_again(&t->text);
	if (!s)
		return;
	buf_printf(&t->text, "%s: ", names[side]);
	text_safe(&t->text, profile_cstr(p, t->f->file[side]));
	source_origin(&t->x->a[side]->sources, s, &origin);
	if (origin.n) {
		buf_str(&t->text, " (");
		text_safe(&t->text, buf_cstr(&origin));
		buf_str(&t->text, ")");
	}
	t->text.failed |= origin.failed;
	buf_fini(&origin);
	if (s->place == SOURCE_NONE && t->f->file[side]) {
		buf_str(&t->text, ": no source: ");
		text_safe(&t->text, s->why ? s->why : "");
		buf_str(&t->text, " (--source-map FROM=TO, --repo DIR, or "
				  "record with --embed-source)");
	}
	if (s->newer)
		buf_str(&t->text, ": warning: the source is newer than what "
				  "was recorded: lines may not fit");
	comment(t, buf_cstr(&t->text));
}

/* Notes that the code differs although only one version of the source
 * exists. */
static void put_same_file(struct aligned *t, const struct diff_unit *u)
{
	const struct source_file *s = t->f->source[0], *o = t->f->source[1];
	const struct build_id *id[DIFF_SIDES];

	if (t->same_file_told || !s || !o || s->place != SOURCE_FILE || o->place != SOURCE_FILE ||
	    !s->path || !o->path || strcmp(s->path, o->path))
		return;
	for (int i = 0; i < DIFF_SIDES; i++) {
		const struct annotation *a = t->x->a[i];

		id[i] = &a->p->images.v[a->units.v[u->unit[i]].image].build_id;
	}
	if (id[0]->len && id[0]->len == id[1]->len &&
	    !memcmp(id[0]->bytes, id[1]->bytes, id[0]->len))
		return;
	t->same_file_told = true;
	comment(t, "note: both sides show the same file, though they ran other "
		   "builds: if it changed between them, old lines do not fit "
		   "(--repo DIR, --old-source-map FROM=TO, or record with "
		   "--embed-source)");
}

static bool any_cost(const struct aligned *t, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		if (has_cost(t, &t->x->parts.v[i]))
			return true;
	return false;
}

static bool put_files(struct aligned *t, const struct diff_unit *u)
{
	bool any = false;

	t->c = NULL;
	for (size_t i = u->file; i < u->file + u->nfiles; i++) {
		const struct diff_file *f = &t->x->files.v[i];

		if ((!f->file[0] && !f->file[1]) ||
		    (!t->style->all && !any_cost(t, f->part, f->nparts)))
			continue;
		any = true;
		t->f = f;
		put_source_notes(t, DIFF_OLD);
		put_source_notes(t, DIFF_NEW);
		put_same_file(t, u);
		put_parts(t, f->part, f->nparts);
	}
	return any;
}

static void put_codes(struct aligned *t, const struct diff_unit *u)
{
	for (size_t i = 0; i < u->ncodes; i++) {
		const char *missing = NULL;

		if (i >= CODES_SHOWN)
			break;
		t->c = &t->x->codes.v[u->code + i];
		buf_again(&t->text);
		for (int s = DIFF_NEW; s >= 0; s--) {
			const struct annotation *a = t->x->a[s];
			const struct annot_code *c;

			if (t->c->code[s] == SIZE_MAX)
				continue;
			c = &a->codes.v[t->c->code[s]];
			if (c->missing)
				missing = c->missing;
			if (!t->text.n)
				text_safe(&t->text, profile_cstr(a->p,
					a->p->symbols.v[c->symbol].name));
		}
		if (missing) {
			buf_str(&t->text, ": ");
			buf_str(&t->text, missing);
		} else {
			buf_str(&t->text, ": its instructions");
		}
		comment(t, buf_cstr(&t->text));
		if (t->c->nparts)
			put_parts(t, t->c->part, t->c->nparts);
	}
	if (u->ncodes > CODES_SHOWN)
		comment(t, "more functions that it was inlined into are not "
			   "shown: name one to see its code");
}

static void put_unit(struct aligned *t, const struct diff_unit *u)
{
	const struct diff *d = t->x->d;
	bool lines = false;

	buf_again(&t->raw);
	buf_again(&t->text);
	diff_unit_name(t->x, u, t->style->full_names, &t->raw);
	text_safe(&t->text, buf_cstr(&t->raw));
	buf_str(&t->text, ": ");
	put_cost_scaled(d, 0, u->change.cost[DIFF_OLD], false, &t->text);
	buf_str(&t->text, " -> ");
	put_cost_scaled(d, 0, u->change.cost[DIFF_NEW], false, &t->text);
	buf_str(&t->text, ", ");
	put_cost_scaled(d, 0, u->change.change, true, &t->text);
	if (u->unit[DIFF_OLD] == SIZE_MAX)
		buf_str(&t->text, " (only in the new one)");
	else if (u->unit[DIFF_NEW] == SIZE_MAX)
		buf_str(&t->text, " (only in the old one)");
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
		lines = put_files(t, u);
	if (t->style->source && !lines)
		comment(t, "no line is known");
	if (t->style->code && (!lines || !t->style->automatic))
		put_codes(t, u);
}

void diff_annotate_text(struct diff_annotation *x,
			const struct diff_annotate_style *style,
			struct buf *out)
{
	struct aligned t = { .x = x, .style = style, .out = out };

	if (!style->no_header) {
		if (style->color)
			buf_str(out, DIM);
		diff_head(x->d, style->columns, out);
		comment(&t, "Lines: with what was inlined there; | changed, < "
			    "only old, > only new");
		if (style->color)
			buf_str(out, OFF);
	}
	for (size_t i = 0; i < x->units.n; i++)
		put_unit(&t, &x->units.v[i]);
	if (!x->units.n)
		comment(&t, "no function has samples on either side");
	out->failed |= t.raw.failed || t.text.failed || t.tmp.failed;
	buf_fini(&t.raw);
	buf_fini(&t.text);
	buf_fini(&t.tmp);
}
