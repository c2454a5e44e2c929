// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a report as text.
 *
 *	    SELF    TOTAL  IMAGE  SYMBOL
 *	  24.31%   30.11%  app    parse_number(…)
 *	           14.02%    parse_value(…)
 *	                     parse_object(…)
 *
 * The tree of a row is below it.  A branch that is an only child with all of its
 * parent's cost has the same indent and no number.
 */
#include <string.h>

#include "base/text.h"
#include "views/cells.h"
#include "views/query/lines.h"
#include "views/query/names.h"
#include "views/report.h"

enum {
	NAME_WIDTH = 24,	/* maximum width of an event's name above its columns */
	MIN_NAMES = 28,	/* minimum columns for names; each key gets 8 */
};

struct text {
	const struct report *rep;
	const struct text_style *style;
	struct buf *out;
	bool totals;		/* there is a column of totals beside self */
	size_t numbers;		/* width of the numbers */
	/* blanks before each event's numbers, so that its name fits above
	 * them */
	size_t before;
	size_t columns;		/* 0: unlimited */
	size_t least;		/* minimum columns for names */
	struct key_cells cells;
	struct name_cache names, tree_names;
	struct buf number;
};

static void put_number(struct text *t, const struct report_column *c,
		       const struct column_at *x)
{
	double v = c->percent ? c->percent(x) : 0;
	bool tint = t->style->color && v >= 0.5;
	size_t n;

	buf_again(&t->number);
	column_text(c, x, COLUMN_SHORT, &t->number);
	n = t->number.n;
	if (tint)
		buf_str(t->out, v >= 5 ? LINE_RED : LINE_GREEN);
	line_pad(t->out, n < c->width ? c->width - n : 0);
	buf_str(t->out, buf_cstr(&t->number));
	if (tint)
		buf_str(t->out, LINE_OFF);
}

static size_t group_width(const struct text *t)
{
	const struct report_column *c = NULL;
	size_t width = 0;

	while ((c = report_next_number(c, t->totals, t->style->samples)))
		width += c->width;
	return width;
}

static void put_row_numbers(struct text *t, uint32_t row)
{
	const struct values *v = report_values(t->rep, row);
	uint32_t lane = t->rep->table.rows.v[row].lane;
	struct column_at x;

	report_at_row(t->rep, row, &x);
	for (size_t e = 0; e < t->rep->table.ncols; e++) {
		const struct report_column *c = NULL;

		report_at_event(t->rep, lane, e, v, &x);
		line_pad(t->out, t->before);
		while ((c = report_next_number(c, t->totals, t->style->samples)))
			put_number(t, c, &x);
	}
	line_pad(t->out, 2);
}

/* Appends the numbers of a branch.  `same`: the line above has the same number,
 * so omit it.  Without a column of totals, totals are shown in the column of
 * self. */
static void put_tree_numbers(struct text *t, uint32_t lane,
			     const struct values *v, bool same)
{
	bool callees = t->rep->spec.tree == TREE_CALLEES;

	for (size_t e = 0; e < t->rep->table.ncols; e++) {
		const struct report_column *c = NULL;
		struct column_at x = { .p = t->rep->p };

		report_at_event(t->rep, lane, e, v, &x);
		x.metric = x.v.total;
		if (!t->totals)
			x.v.self = x.v.total;
		line_pad(t->out, t->before);
		while ((c = report_next_number(c, t->totals, t->style->samples))) {
			bool self = c->of_self && t->totals;

			if (self ? callees && x.v.self.count : !same)
				put_number(t, c, &x);
			else
				line_pad(t->out, c->width);
		}
	}
	line_pad(t->out, 2);
}

static void put_branch(struct text *t, const struct tree_node *n,
		       size_t indent)
{
	size_t room = t->columns > t->numbers ? t->columns - t->numbers : 0;
	struct buf line = { 0 };

	if (t->columns && 2 * indent > room / 2)
		indent = room / 4;
	line_pad(t->out, 2 * indent);
	room = room > 2 * indent ? room - 2 * indent : 1;
	buf_str(&line, name_cached(&t->tree_names, n->fk));
	if (t->rep->tree_keys->mask & KEY_BIT(KEY_LINE)) {
		const struct frame_key *k =
			&t->rep->tree_keys->keys.v[n->fk];

		buf_u8(&line, ' ');
		text_safe(&line, path_base(profile_cstr(t->rep->p, k->file)));
		buf_printf(&line, ":%u", k->line);
	}
	if (n->inlined)
		buf_str(&line, " (inlined)");
	if (n->recursive)
		buf_str(&line, " (recursive)");
	if (!t->columns)
		buf_str(t->out, buf_cstr(&line));
	else if (t->style->full_names)
		text_cut(t->out, buf_cstr(&line), room);
	else
		line_cut_symbol(t->out, buf_cstr(&line), room);
	buf_u8(t->out, '\n');
	buf_fini(&line);
}

static void put_tree(struct text *t, const struct row *row)
{
	const struct report *rep = t->rep;
	size_t indent[TREE_DEPTH_MAX + 1], last[TREE_DEPTH_MAX + 1];

	for (size_t i = row->tree; i < (size_t)row->tree + row->tree_n; i++) {
		const struct tree_node *n = &rep->tree.v[i];
		const struct values *v =
			&rep->tree_vals.v[i * rep->table.ncols];
		bool same = n->depth &&
			    values_same_totals(v, &rep->tree_vals.v[
				    last[n->depth - 1] * rep->table.ncols],
				    rep->table.ncols);

		indent[n->depth] = !n->depth ? 1
				   : indent[n->depth - 1] + !same;
		last[n->depth] = i;
		put_tree_numbers(t, row->lane, v, same);
		put_branch(t, n, indent[n->depth]);
	}
	if (row->tree_n)
		buf_u8(t->out, '\n');
}

/* Appends the events' names above their columns, if there are several. */
static void put_event_names(struct text *t)
{
	size_t width = t->before + group_width(t);

	if (t->rep->table.ncols < 2)
		return;
	for (size_t c = 0; c < t->rep->table.ncols; c++) {
		const struct prof_event *e =
			&t->rep->p->events.v[t->rep->agg.cols.v[c]];
		struct buf name = { 0 }, cut = { 0 };
		size_t n;

		text_safe(&name, profile_cstr(t->rep->p, e->name));
		text_cut(&cut, buf_cstr(&name), width - 1);
		n = text_columns(buf_cstr(&cut));
		line_pad(t->out, width - n);
		buf_str(t->out, buf_cstr(&cut));
		buf_close(&name, t->out);
		buf_close(&cut, t->out);
	}
	buf_u8(t->out, '\n');
}

static void put_heads(struct text *t)
{
	bool bold = t->style->color;

	put_event_names(t);
	if (bold)
		buf_str(t->out, LINE_BOLD);
	for (size_t c = 0; c < t->rep->table.ncols; c++) {
		const struct report_column *n = NULL;

		line_pad(t->out, t->before);
		while ((n = report_next_number(n, t->totals, t->style->samples)))
			buf_printf(t->out, "%*s", n->width, n->head);
	}
	line_pad(t->out, 2);
	key_cells_head(&t->cells, t->out);
	if (bold)
		buf_str(t->out, LINE_OFF);
	buf_u8(t->out, '\n');
}

static void put_hidden(struct text *t)
{
	const struct report *rep = t->rep;
	struct buf line = { 0 };

	if (rep->below_limit) {
		text_count(&line, rep->below_limit);
		buf_printf(&line, " row%s with less than %g%% %s %s not shown "
			   "(--percent-limit 0 shows all%s)",
			   plural(rep->below_limit, "s"), rep->spec.limit,
			   rep->spec.by_total ? "in total" : "self",
			   rep->below_limit == 1 ? "is" : "are",
			   rep->spec.by_total ? "" : ", --children orders by "
						     "total");
		line_comment(t->out, buf_cstr(&line), (int)t->columns);
	}
	if (rep->beyond_top) {
		buf_reset(&line);
		text_count(&line, rep->beyond_top);
		buf_printf(&line, " more %s beyond --top %llu",
			   rep->beyond_top == 1 ? "row is" : "rows are",
			   (unsigned long long)rep->spec.top);
		line_comment(t->out, buf_cstr(&line), (int)t->columns);
	}
	buf_fini(&line);
}

static void put_empty(struct text *t)
{
	const struct quality *tr = &t->rep->quality;

	line_comment(t->out, !tr->got ? "the recording contains no samples" :
		     !tr->shown ? "no sample passes the filters" :
		     !t->rep->table.rows.n ? "no function passes the filters" :
		     "no row reaches the limit", (int)t->columns);
}

static void put_rows(struct text *t)
{
	const struct report *rep = t->rep;

	put_heads(t);
	for (size_t i = 0; i < rep->order.n; i++) {
		put_row_numbers(t, rep->order.v[i]);
		key_cells_row(&t->cells, i, t->out);
		buf_u8(t->out, '\n');
		put_tree(t, &rep->table.rows.v[rep->order.v[i]]);
	}
}

/* Returns how much wider the columns of several events must be for their
 * names. */
static size_t widen(const struct text *t)
{
	size_t groups = t->rep->table.ncols, most = 0, width = group_width(t);

	for (size_t c = 0; c < groups; c++) {
		const struct prof_event *e =
			&t->rep->p->events.v[t->rep->agg.cols.v[c]];
		size_t n = strlen(profile_cstr(t->rep->p, e->name)) + 2;

		most = n > most ? n : most;
	}
	most = most > NAME_WIDTH ? NAME_WIDTH : most;
	while (most > width && t->columns &&
	       groups * most + t->least > t->columns)
		most--;
	return most > width ? most - width : 0;
}

/* Plans the columns.  Totals are dropped if several events would leave no room
 * for names. */
static void plan(struct text *t)
{
	size_t groups = t->rep->table.ncols;

	t->columns = t->style->columns > 0 ? (size_t)t->style->columns : 0;
	t->totals = !t->style->no_total;
	t->least = MIN_NAMES + 8 * t->rep->spec.keys.n;
	if (t->columns && groups > 1 &&
	    groups * group_width(t) + t->least > t->columns)
		t->totals = false;
	if (groups > 1)
		t->before = widen(t);
	t->numbers = groups * (t->before + group_width(t)) + 2;
}

/* Makes the safe text of all rows; names are made once per function. */
static int make_texts(struct text *t)
{
	const struct report *rep = t->rep;
	const struct key_list *keys = &rep->spec.keys;
	enum column_use use = t->style->full_names ? COLUMN_FULL : COLUMN_SHORT;
	struct buf word = { 0 };

	name_cache_rows(&t->names, &rep->table, rep->order.v, rep->order.n);
	for (size_t i = 0; i < rep->order.n; i++) {
		struct column_at x;

		report_at_row(rep, rep->order.v[i], &x);
		for (size_t k = 0; k < keys->n; k++) {
			buf_again(&word);
			if (keys->v[k] == KEY_SYMBOL)
				buf_str(&t->cells.text, name_cached(&t->names,
					rep->table.rows.v[rep->order.v[i]].fk));
			else
				column_text(&report_columns[keys->v[k]], &x,
					    use, &word);
			text_safe(&t->cells.text, buf_cstr(&word));
			key_cells_next(&t->cells);
		}
	}
	t->cells.text.failed |= word.failed || t->names.text.failed;
	buf_fini(&word);
	return t->cells.text.failed ? -ERR_NOMEM : 0;
}

void report_text(const struct report *rep, const struct text_style *style,
		 struct buf *out)
{
	struct text t = { .rep = rep, .style = style, .out = out };
	unsigned int how = style->full_names ? 0 : NAME_SHORT;
	size_t room;

	plan(&t);
	if (!style->no_header) {
		if (style->color)
			buf_str(out, LINE_DIM);
		quality_text(&rep->quality, style->columns, out);
		if (style->color)
			buf_str(out, LINE_OFF);
		buf_str(out, "#\n");
	}
	/* many events may need more than the width of the terminal */
	room = t.columns > t.numbers + MIN_NAMES
		       ? t.columns - t.numbers : MIN_NAMES;
	key_cells_init(&t.cells, &rep->spec.keys, style->full_names);
	if (name_cache_init(&t.names, rep->p, &rep->keys, how) < 0 ||
	    name_cache_init(&t.tree_names, rep->p, rep->tree_keys,
			    NAME_ALONE | how) < 0 ||
	    make_texts(&t) < 0 ||
	    key_cells_fit(&t.cells, t.columns ? room : 0) < 0)
		out->failed = true;
	else if (rep->order.n)
		put_rows(&t);
	else
		put_empty(&t);
	out->failed |= t.tree_names.text.failed || t.number.failed;
	if (!style->no_header) {
		put_hidden(&t);
		missing_text(&rep->missing, style->missing, style->columns,
			     out);
	}
	key_cells_fini(&t.cells);
	name_cache_fini(&t.names);
	name_cache_fini(&t.tree_names);
	buf_fini(&t.number);
}
