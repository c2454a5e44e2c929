// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report as CSV (RFC 4180): a head, then a row for each row and event. With
 * a tree, "depth" is first: 0 for a row, 1 and more for the branches below it,
 * which have the keys of their row's sample and of their own frame.
 */
#include <inttypes.h>

#include "base/text.h"
#include "views/cells.h"
#include "views/report.h"

struct writer_csv {
	const struct report *rep;
	struct buf *out;
	struct buf tmp;
	bool many;	/* several events: an event column */
};

static bool has_functions(const struct writer_csv *w)
{
	return (w->rep->keys.mask | w->rep->tree_keys->mask) &
	       KEY_BIT(KEY_SYMBOL);
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
	/* branches of rows that are no functions are functions */
	if (w->rep->tree_keys == &w->rep->own_tree_keys &&
	    !key_list_has(keys, KEY_SYMBOL))
		buf_str(w->out, "symbol,");
	if (w->many)
		buf_str(w->out, "event,");
	buf_str(w->out, "self_samples,self_weight,self_percent,"
			"total_samples,total_weight,total_percent");
	buf_str(w->out, has_functions(w) ? ",id\r\n" : "\r\n");
}

static void put_text(struct writer_csv *w, const char *s)
{
	text_csv(w->out, s);
	buf_u8(w->out, ',');
}

/* One key: of the frame `k` (NULL: an empty cell), or of the row's sample. */
static void put_key(struct writer_csv *w, uint32_t row, enum view_key key,
		    const struct frame_keys *of, const struct frame_key *k)
{
	const struct report *rep = w->rep;

	if (!(KEY_BIT(key) & KEYS_OF_FRAME)) {
		buf_reset(&w->tmp);
		key_word(rep, row, key, &w->tmp);
		put_text(w, buf_cstr(&w->tmp));
		return;
	}
	if (key == KEY_LINE && !key_list_has(&rep->spec.keys, KEY_FILE))
		put_text(w, k ? profile_cstr(rep->p, k->file) : "");
	if (key == KEY_LINE) {
		buf_printf(w->out, "%u,", k ? k->line : 0);
	} else if (key == KEY_SYMBOL) {
		buf_reset(&w->tmp);
		if (k)
			name_symbol(rep->p, of, k, 0, &w->tmp);
		put_text(w, buf_cstr(&w->tmp));
	} else if (key == KEY_IMAGE) {
		buf_reset(&w->tmp);
		if (k && k->image)
			name_image(rep->p, of, k, true, &w->tmp);
		put_text(w, buf_cstr(&w->tmp));
	} else {
		put_text(w, k ? profile_cstr(rep->p, k->file) : "");
	}
}

static void put_cell(struct writer_csv *w, uint32_t lane, size_t col,
		     struct cell c)
{
	buf_printf(w->out, "%" PRIu64 ",%" PRIu64 ",%.4f", c.count, c.weight,
		   report_percent(w->rep, lane, col, c));
}

/* The end of a line: what names the function in all recordings. */
static void put_function(struct writer_csv *w, const struct frame_keys *of,
			 const struct frame_key *k)
{
	if (has_functions(w)) {
		buf_u8(w->out, ',');
		buf_reset(&w->tmp);
		if (of->mask & KEY_BIT(KEY_SYMBOL))
			name_stable(w->rep->p, of, k, &w->tmp);
		text_csv(w->out, buf_cstr(&w->tmp));
	}
	buf_str(w->out, "\r\n");
}

/* One line for each event of a frame that is one of the keys `of`; `own`: they
 * are not those of the rows. */
static void put_lines(struct writer_csv *w, uint32_t row, uint32_t depth,
		      const struct frame_keys *of, const struct frame_key *k,
		      bool own, const struct values *v)
{
	const struct report *rep = w->rep;
	const struct key_list *keys = &rep->spec.keys;
	uint32_t lane = rep->table.rows.v[row].lane;
	bool extra = rep->tree_keys == &rep->own_tree_keys &&
		     !key_list_has(keys, KEY_SYMBOL);

	for (size_t c = 0; c < rep->table.ncols; c++) {
		if (rep->spec.tree != TREE_NONE)
			buf_printf(w->out, "%u,", depth);
		for (size_t i = 0; i < keys->n; i++)
			put_key(w, row, keys->v[i], of, own ? NULL : k);
		if (extra)
			put_key(w, row, KEY_SYMBOL, of, own ? k : NULL);
		if (w->many)
			put_text(w, profile_cstr(rep->p, rep->p->events.v[
				report_event(rep, lane, c)].name));
		put_cell(w, lane, c, v[c].self);
		buf_u8(w->out, ',');
		put_cell(w, lane, c, v[c].total);
		put_function(w, of, k);
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
