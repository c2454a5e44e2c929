// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of rows, details, titles: see tree_base.h. */
#include <string.h>

#include "base/text.h"
#include "tui/tree_base.h"
#include "views/query/framekey.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

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

/* "from" may be anything: a line of it is safe. */
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
