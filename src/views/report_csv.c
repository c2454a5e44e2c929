// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a report as CSV (RFC 4180): a heading, then a record for each row and
 * event.
 *
 * With a tree, "depth" comes first: 0 for a row, 1 and more for the branches
 * below it.  Branches have the sample keys of their row and the frame keys of
 * their own frame.
 */
#include "base/text.h"
#include "views/query/names.h"
#include "views/report.h"

struct writer_csv {
	const struct report *rep;
	struct buf *out;
	struct buf tmp;
	bool many;	/* several events: add an event column */
};

static bool has_functions(const struct writer_csv *w)
{
	return (w->rep->keys.mask | w->rep->tree_keys->mask) &
	       KEY_BIT(KEY_SYMBOL);
}

/* Ends a line, without the comma after the last field. */
static void end_line(struct writer_csv *w)
{
	w->out->n -= !w->out->failed;
	buf_str(w->out, "\r\n");
}

static void put_head(struct writer_csv *w)
{
	const struct key_list *keys = &w->rep->spec.keys;

	if (w->rep->spec.tree != TREE_NONE)
		buf_str(w->out, "depth,");
	for (size_t k = 0; k < keys->n; k++) {
		if (keys->v[k] == KEY_LINE && !key_list_has(keys, KEY_FILE))
			buf_str(w->out, "file,");
		buf_str(w->out, key_name(keys->v[k]));
		buf_u8(w->out, ',');
	}
	/* if rows are not functions, branches are functions nevertheless */
	if (w->rep->tree_keys == &w->rep->own_tree_keys &&
	    !key_list_has(keys, KEY_SYMBOL))
		buf_str(w->out, "symbol,");
	if (w->many)
		buf_str(w->out, "event,");
	for (size_t i = KEY_COUNT; i < report_columns_count(); i++) {
		const struct report_column *c = &report_columns[i];

		if (c->data)
			buf_printf(w->out, "%s%s%s,", c->object ? c->object : "",
				   c->object ? "_" : "", c->name);
	}
	if (has_functions(w))
		buf_str(w->out, "id,");
	end_line(w);
}

static void put_text(struct writer_csv *w, const char *s)
{
	text_csv(w->out, s);
	buf_u8(w->out, ',');
}

static void put_column(struct writer_csv *w, const struct report_column *c,
		       const struct column_at *x)
{
	column_csv(c, x, &w->tmp, w->out);
	buf_u8(w->out, ',');
}

static void put_keys(struct writer_csv *w, const struct column_at *x)
{
	const struct key_list *keys = &w->rep->spec.keys;

	for (size_t k = 0; k < keys->n; k++) {
		if (keys->v[k] == KEY_LINE && !key_list_has(keys, KEY_FILE))
			put_column(w, &report_columns[KEY_FILE], x);
		put_column(w, &report_columns[keys->v[k]], x);
	}
}

/* Writes one line per event for a frame, which is one of the keys `of`.  `own`:
 * the keys are not those of the rows. */
static void put_lines(struct writer_csv *w, uint32_t row, uint32_t depth,
		      const struct frame_keys *of, const struct frame_key *k,
		      bool own, const struct values *v)
{
	const struct report *rep = w->rep;
	uint32_t lane = rep->table.rows.v[row].lane;
	bool extra = rep->tree_keys == &rep->own_tree_keys &&
		     !key_list_has(&rep->spec.keys, KEY_SYMBOL);
	struct column_at x;

	report_at_row(rep, row, &x);
	x.keys = of;
	for (size_t e = 0; e < rep->table.ncols; e++) {
		report_at_event(rep, lane, e, v, &x);
		if (rep->spec.tree != TREE_NONE)
			buf_printf(w->out, "%u,", depth);
		x.frame = own ? NULL : k;
		put_keys(w, &x);
		x.frame = own ? k : NULL;
		if (extra)
			put_column(w, &report_columns[KEY_SYMBOL], &x);
		if (w->many)
			put_text(w, profile_cstr(rep->p, rep->p->events.v[
				report_event(rep, lane, e)].name));
		for (size_t i = KEY_COUNT; i < report_columns_count(); i++)
			if (report_columns[i].data)
				put_column(w, &report_columns[i], &x);
		if (has_functions(w)) {
			/* identifies the function in all recordings */
			buf_again(&w->tmp);
			if (of->mask & KEY_BIT(KEY_SYMBOL))
				name_stable(rep->p, of, k, &w->tmp);
			put_text(w, buf_cstr(&w->tmp));
		}
		end_line(w);
	}
}

static void put_row(struct writer_csv *w, uint32_t r)
{
	const struct report *rep = w->rep;
	const struct row *row = &rep->table.rows.v[r];
	bool own = !key_list_has(&rep->spec.keys, KEY_SYMBOL);

	put_lines(w, r, 0, &rep->keys, &rep->keys.keys.v[row->fk], false,
		  report_values(rep, r));
	for (uint32_t i = row->tree; i < row->tree + row->tree_n; i++) {
		const struct tree_node *n = &rep->tree.v[i];
		const struct frame_key *k = &rep->tree_keys->keys.v[n->fk];

		put_lines(w, r, n->depth + 1, rep->tree_keys, k, own,
			  &rep->tree_vals.v[i * rep->table.ncols]);
	}
}

void report_csv(const struct report *rep, struct buf *out)
{
	struct writer_csv w = { .rep = rep, .out = out,
				.many = rep->table.ncols > 1 };

	put_head(&w);
	for (size_t i = 0; i < rep->order.n; i++)
		put_row(&w, rep->order.v[i]);
	buf_fini(&w.tmp);
}
