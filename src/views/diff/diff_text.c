// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a diff as text.
 *
 *	      OLD       NEW    CHANGE        %          95% CI     TOTAL  IMAGE  SYMBOL
 *	   134.20    149.10    +14.90   +11.1%  +12.10..+17.60    +14.90  app    f
 *	~   10.00     10.20     +0.20    +2.0%    -0.70..+1.10     +0.20  app    g
 *
 * Rows within noise begin with ~ and are dimmed on a terminal.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "views/cells.h"
#include "views/diff/diff_internal.h"
#include "views/query/lines.h"

enum {
	COST = 10, RATIO = 9, INTERVAL = 20, COUNT = 9,	/* column widths */
	GAP = 2, MIN_KEYS = 28,
};

struct diff_table {
	const struct diff *d;
	const struct diff_style *style;
	struct buf *out;
	struct buf cell, tmp;
	struct key_cells cells;
	bool sure;			/* there is room for intervals */
};

/* Appends ":12", the new number, or ":12 (was 10)" if the old one differs. */
static void put_line(const struct diff *d, uint32_t key, struct buf *out)
{
	uint32_t old = diff_line(d, key, DIFF_OLD);
	uint32_t now = diff_line(d, key, DIFF_NEW);

	buf_printf(out, ":%u", now ? now : old);
	if (now && old && old != now)
		buf_printf(out, " (was %u)", old);
	else if (d->keys.keys.v[key].line & LINE_REMOVED && !now)
		buf_str(out, " (old)");
}

/* Returns the name without scope: "ns::cls<…>::method(…)" -> "method(…)". */
static const char *without_scope(const char *shown)
{
	const char *start = shown;
	int depth = 0;

	for (const char *s = shown; *s && *s != '('; s++) {
		depth += *s == '<';
		depth -= *s == '>' && depth;
		if (!depth && s[0] == ':' && s[1] == ':' && s[2])
			start = s + 2;
	}
	return start;
}

/* Appends the row that a row's cost came from or went to. */
static void put_moved(struct diff_table *t, const struct diff_row *r,
		      struct buf *out)
{
	const struct diff *d = t->d;
	size_t row = (size_t)(r - d->rows.v);
	uint32_t from = d->moved_from[row], to = d->moved_to[row];
	struct buf name = { 0 }, shorter = { 0 };
	bool before = diff_name_before(d, r->key, &name);

	if (!before && from != PROF_NONE)
		diff_name(d, d->rows.v[from].key, &name);
	else if (!before && to != PROF_NONE)
		diff_name(d, d->rows.v[to].key, &name);
	else if (!before)
		return;
	name_shorten(buf_cstr(&name), &shorter);
	buf_printf(out, " %s %s", before || from != PROF_NONE ? "<-" : "->",
		   t->style->full_names ? buf_cstr(&name)
					: without_scope(buf_cstr(&shorter)));
	buf_close(&name, out);
	buf_close(&shorter, out);
}

/* Appends the value of a key, from the side that has it, and its old name. */
static void put_word(struct diff_table *t, const struct diff_row *r,
		     enum view_key key, const struct buf *brief, struct buf *out)
{
	const struct diff *d = t->d;
	const struct frame_key *k = &d->keys.keys.v[r->key];
	struct lane lane = { .comm = r->comm, .cpu = r->cpu, .wait = r->wait };
	struct column_at x = { .p = &d->names, .keys = &d->keys, .frame = k,
			       .lane = &lane };

	switch (key) {
	case KEY_IMAGE:
		buf_str(out, profile_cstr(&d->names, k->image));
		break;
	case KEY_SYMBOL:
		if (k->kernel)
			buf_str(out, "[k] ");
		buf_bytes(out, brief->p, brief->n);
		put_moved(t, r, out);
		break;
	case KEY_LINE:
		buf_str(out, profile_cstr(&d->names, k->file));
		if (k->file)
			put_line(d, r->key, out);
		break;
	default:
		column_text(&report_columns[key], &x, COLUMN_DATA, out);
		break;
	}
	if (!out->n)
		buf_str(out, "[unknown]");
}

/* Makes the names of all shown rows. */
static void make_names(const struct diff_table *t, struct name_set *set)
{
	const struct diff *d = t->d;

	name_set_init(set, d->order.n);
	for (size_t i = 0; i < set->n; i++) {
		uint32_t key = d->rows.v[d->order.v[i]].key;

		diff_name(d, key, &set->full[i]);
		if (t->style->full_names ||
		    d->keys.keys.v[key].kind != FRAME_FUNC)
			buf_str(&set->brief[i], buf_cstr(&set->full[i]));
	}
	name_set_shorten(set);
}

/* Makes the safe text of all shown rows. */
static int make_texts(struct diff_table *t)
{
	const struct diff *d = t->d;
	struct name_set set;

	make_names(t, &set);
	for (size_t i = 0; i < set.n; i++)
		for (size_t k = 0; k < d->spec.keys.n; k++) {
			buf_again(&t->cell);
			put_word(t, &d->rows.v[d->order.v[i]],
				 d->spec.keys.v[k], &set.brief[i], &t->cell);
			text_safe(&t->cells.text, buf_cstr(&t->cell));
			key_cells_next(&t->cells);
		}
	return name_set_fini(&set) || t->cell.failed ? -ERR_NOMEM : 0;
}

static size_t numbers(const struct diff_table *t)
{
	size_t one = 3 * COST + RATIO + (t->sure ? INTERVAL : 0) +
		     (t->style->samples ? 2 * COUNT : 0) + COST;

	return 1 + one * t->d->cols.n + GAP;
}

static void put_right(struct diff_table *t, const char *s, size_t width)
{
	size_t n = strlen(s);

	line_pad(t->out, n < width ? width - n : 1);
	buf_str(t->out, s);
}

static void put_cost(struct diff_table *t, size_t col, double x, bool sign)
{
	buf_again(&t->cell);
	diff_put_cost(t->d, col, x, sign, &t->cell);
	put_right(t, buf_cstr(&t->cell), COST);
}

/* Appends the change relative to the old cost. */
static void put_ratio(struct diff_table *t, uint32_t row, size_t col,
		      const struct cost_change *c)
{
	bool total = t->d->spec.by_total;
	enum diff_status s = diff_status(t->d, row, col, total);
	char text[32] = "";

	if (!(c->cost[DIFF_OLD] > 0))
		strcpy(text, s == DIFF_ADDED ? "new" : s == DIFF_MOVED ? "moved"
								      : "");
	else if (s == DIFF_MOVED)
		strcpy(text, "moved");
	else if (!(c->cost[DIFF_NEW] > 0) && s == DIFF_REMOVED)
		strcpy(text, "gone");
	else if (c->change >= 9.995 * c->cost[DIFF_OLD])
		snprintf(text, sizeof(text), "x%.3g",
			 c->cost[DIFF_NEW] / c->cost[DIFF_OLD]);
	else
		snprintf(text, sizeof(text), "%+.1f%%",
			 100 * c->change / c->cost[DIFF_OLD]);
	put_right(t, text, RATIO);
}

static void put_interval(struct diff_table *t, size_t col,
			 const struct cost_change *c)
{
	buf_again(&t->cell);
	diff_put_cost(t->d, col, c->low, true, &t->cell);
	buf_str(&t->cell, "..");
	diff_put_cost(t->d, col, c->high, true, &t->cell);
	put_right(t, buf_cstr(&t->cell), INTERVAL);
}

static void put_counts(struct diff_table *t, uint32_t row, size_t col)
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct values *v = &diff_values(t->d, s, row)[col];

		buf_again(&t->cell);
		text_count(&t->cell, t->d->spec.by_total ? v->total.count
							 : v->self.count);
		put_right(t, buf_cstr(&t->cell), COUNT);
	}
}

/* Returns whether a row has samples in a column. */
static bool has_samples(const struct diff *d, uint32_t row, size_t col,
			bool total)
{
	const struct values *a = &diff_values(d, DIFF_OLD, row)[col];
	const struct values *b = &diff_values(d, DIFF_NEW, row)[col];

	return total ? a->total.count || b->total.count
		     : a->self.count || b->self.count;
}

static void put_own(struct diff_table *t, uint32_t row, size_t col)
{
	const struct cost_change *c = diff_row_change(t->d, row, col,
						      t->d->spec.by_total);
	bool tint = t->style->color && c->real;

	put_cost(t, col, c->cost[DIFF_OLD], false);
	put_cost(t, col, c->cost[DIFF_NEW], false);
	if (tint)
		buf_str(t->out, c->change > 0 ? LINE_RED : LINE_BLUE);
	put_cost(t, col, c->change, true);
	put_ratio(t, row, col, c);
	if (tint)
		buf_str(t->out, LINE_OFF);
	if (t->sure)
		put_interval(t, col, c);
}

static void put_numbers(struct diff_table *t, uint32_t row, size_t col)
{
	bool total = t->d->spec.by_total;

	if (has_samples(t->d, row, col, total))
		put_own(t, row, col);
	else
		line_pad(t->out, 3 * COST + RATIO + (t->sure ? INTERVAL : 0));
	if (has_samples(t->d, row, col, !total))
		put_cost(t, col, diff_row_change(t->d, row, col, !total)
					 ->change, true);
	else
		line_pad(t->out, COST);
	if (t->style->samples)
		put_counts(t, row, col);
}

static bool row_is_noise(const struct diff *d, uint32_t row)
{
	for (size_t c = 0; c < d->cols.n; c++)
		if (diff_row_change(d, row, c, d->spec.by_total)->real)
			return false;
	return true;
}

static void put_row(struct diff_table *t, size_t i)
{
	uint32_t row = t->d->order.v[i];
	bool noise = row_is_noise(t->d, row);

	if (noise && t->style->color)
		buf_str(t->out, LINE_DIM);
	buf_u8(t->out, noise ? '~' : ' ');
	for (size_t c = 0; c < t->d->cols.n; c++)
		put_numbers(t, row, c);
	line_pad(t->out, GAP);
	key_cells_row(&t->cells, i, t->out);
	if (noise && t->style->color)
		buf_str(t->out, LINE_OFF);
	buf_u8(t->out, '\n');
}

static void put_event_names(struct diff_table *t)
{
	size_t width = (numbers(t) - 1 - GAP) / t->d->cols.n;

	buf_u8(t->out, ' ');
	for (size_t c = 0; c < t->d->cols.n; c++) {
		buf_again(&t->tmp);
		buf_again(&t->cell);
		text_safe(&t->tmp, diff_event_name(t->d, c));
		if (*t->d->cols.v[c].shown_unit)
			buf_printf(&t->tmp, ", %s", t->d->cols.v[c].shown_unit);
		text_cut(&t->cell, buf_cstr(&t->tmp), width - 1);
		line_pad(t->out, width - text_columns(buf_cstr(&t->cell)));
		buf_str(t->out, buf_cstr(&t->cell));
	}
	buf_u8(t->out, '\n');
}

static void put_heads(struct diff_table *t)
{
	if (t->d->cols.n > 1)
		put_event_names(t);
	if (t->style->color)
		buf_str(t->out, LINE_BOLD);
	buf_u8(t->out, ' ');
	for (size_t c = 0; c < t->d->cols.n; c++) {
		put_right(t, "OLD", COST);
		put_right(t, "NEW", COST);
		put_right(t, "CHANGE", COST);
		put_right(t, "%", RATIO);
		if (t->sure)
			put_right(t, "95% CI", INTERVAL);
		put_right(t, t->d->spec.by_total ? "SELF" : "TOTAL", COST);
		if (t->style->samples) {
			put_right(t, "SAMPLES", COUNT);
			put_right(t, "NEW", COUNT);
		}
	}
	line_pad(t->out, GAP);
	key_cells_head(&t->cells, t->out);
	if (t->style->color)
		buf_str(t->out, LINE_OFF);
	buf_u8(t->out, '\n');
}

static void put_rows(struct diff_table *t)
{
	size_t columns = t->style->columns > 0 ? (size_t)t->style->columns : 0;
	size_t room;

	t->sure = true;
	if (columns && numbers(t) + MIN_KEYS > columns)
		t->sure = false;
	room = columns > numbers(t) + MIN_KEYS ? columns - numbers(t)
						 : MIN_KEYS;
	key_cells_init(&t->cells, &t->d->spec.keys, t->style->full_names);
	if (make_texts(t) < 0 ||
	    key_cells_fit(&t->cells, columns ? room : 0) < 0) {
		t->out->failed = true;
		return;
	}
	put_heads(t);
	for (size_t i = 0; i < t->d->order.n; i++)
		put_row(t, i);
}

static void put_hidden(const struct diff *d, int columns, struct buf *out)
{
	struct buf line = { 0 };

	if (!d->hidden)
		return;
	text_count(&line, d->hidden);
	buf_printf(&line, " rows that changed less%s are not shown "
		   "(--percent-limit 0 --top 0 shows all)",
		   d->spec.order == DIFF_BY_CHANGE ? "" : " or come later");
	line_comment(out, buf_cstr(&line), columns);
	buf_fini(&line);
}

void diff_text(const struct diff *d, const struct diff_style *style,
	       struct buf *out)
{
	struct diff_table t = { .d = d, .style = style, .out = out };

	if (!style->no_header) {
		if (style->color)
			buf_str(out, LINE_DIM);
		diff_head(d, style->columns, out);
		if (style->color)
			buf_str(out, LINE_OFF);
		buf_str(out, "#\n");
	}
	if (d->order.n)
		put_rows(&t);
	else
		line_comment(out, "no sample on either side passes the filters",
			     style->columns);
	if (!style->no_header)
		put_hidden(d, style->columns, out);
	out->failed |= t.cell.failed || t.tmp.failed;
	buf_fini(&t.cell);
	buf_fini(&t.tmp);
	key_cells_fini(&t.cells);
}
