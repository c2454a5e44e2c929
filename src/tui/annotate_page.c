// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of a function with the cost of its lines and instructions. */
#include "tui/annotate_page.h"

#include <stdlib.h>

#include "base/text.h"

enum { SHIFT = 8 };

static size_t page_count(struct page *pg)
{
	return annotate_page(pg)->rows.n;
}

/* Rebuilds the rows for another mode and keeps the selected line or
 * instruction. */
static void refill(struct annotate_page *ap)
{
	struct code_row was = { .sort = ROW_NOTE };
	size_t at = SIZE_MAX;

	if (ap->pg.cursor < ap->rows.n)
		was = ap->rows.v[ap->pg.cursor];
	annotate_page_fill(ap);
	for (size_t i = 0; i < ap->rows.n && at == SIZE_MAX; i++) {
		const struct code_row *r = &ap->rows.v[i];

		if (r->sort == was.sort &&
		    ((r->sort == ROW_LINE && r->file == was.file &&
		      r->line == was.line) ||
		     (r->sort == ROW_INSN && r->code == was.code &&
		      r->insn == was.insn)))
			at = i;
	}
	if (at != SIZE_MAX) {
		page_go(&ap->pg, at);
	} else {
		ap->pg.cursor = 0;
		annotate_page_next_by_cost(ap, false);
	}
}

static void shift(struct annotate_page *ap, bool left)
{
	if (!left)
		ap->shift += ap->shift < 1000 ? SHIFT : 0;
	else
		ap->shift -= ap->shift < SHIFT ? ap->shift : SHIFT;
}

static void go_back(struct annotate_page *ap)
{
	if (ap->back.n)
		page_go(&ap->pg, ap->back.v[--ap->back.n]);
	else
		page_pop(ap->pg.t);
}

static bool hot_key(struct annotate_page *ap, uint32_t key)
{
	switch (key) {
	case 'n': case 'N':
		if (ap->pg.find)	/* n goes to the next match */
			return false;
		if (!ap->rows.n || !annotate_page_next_hot(ap, key == 'N'))
			tui_say(ap->pg.t, "no row has samples");
		return true;
	case 'H':
		/* no row, so that the most expensive one is next */
		ap->pg.cursor = SIZE_MAX;
		annotate_page_next_by_cost(ap, false);
		return true;
	case SCREEN_TAB: case SCREEN_BACK_TAB:
		annotate_page_next_by_cost(ap, key == SCREEN_BACK_TAB);
		return true;
	case SCREEN_ESCAPE:
		if (!ap->pg.find)
			return false;
		free(ap->pg.find);
		ap->pg.find = NULL;
		return true;
	}
	return false;
}

static bool page_keys(struct page *pg, uint32_t key)
{
	struct annotate_page *ap = annotate_page(pg);

	if (hot_key(ap, key))
		return true;
	switch (key) {
	case 's':
		ap->mode = (ap->mode + 1) % SHOW_MODES;
		refill(ap);
		return true;
	case 'o':
		ap->near = !ap->near;
		refill(ap);
		return true;
	case 'e':
		pg->t->m.event = (annotate_page_column(ap) + 1) %
				 (ap->a->ncols ? ap->a->ncols : 1);
		refill(ap);
		return true;
	case SCREEN_LEFT: case SCREEN_RIGHT:
		shift(ap, key == SCREEN_LEFT);
		return true;
	case SCREEN_ENTER:
		if (pg->cursor < ap->rows.n)
			annotate_page_follow(ap);
		return true;
	case SCREEN_BACKSPACE: case 8: case 127:
		go_back(ap);
		return true;
	}
	return false;
}

static void page_close(struct page *pg)
{
	struct annotate_page *ap = annotate_page(pg);

	for (size_t i = 0; ap->lanes && i < ap->u.ncodes; i++)
		free(ap->lanes[i]);
	free(ap->lanes);
	vec_fini(&ap->rows);
	vec_fini(&ap->back);
	buf_fini(&ap->notes);
	buf_fini(&ap->words.line);
	buf_fini(&ap->words.tmp);
	annotate_free(ap->a);
	free(ap);
}

static const struct page_ops annotate_ops = {
	.keys = "?:help  s:source/instructions/both  n:next hot  Tab:by cost  "
		"Enter:follow  o:only hot  q:back",
	.count = page_count,
	.row = annotate_page_row,
	.title = annotate_page_title,
	.heads = annotate_page_heads,
	.key = page_keys,
	.status = annotate_page_status,
	.close = page_close,
};

/* Returns whether the text of any line is available. */
static bool has_source(struct annotate_page *ap)
{
	struct annotation *a = ap->a;
	const struct source_file *f;

	for (size_t i = ap->u.line; i < ap->u.line + ap->u.nlines; i++) {
		if (!a->lines.v[i].file || !a->lines.v[i].line)
			continue;
		f = sources_get(&a->sources, a->lines.v[i].file,
				a->lines.v[i].image);
		if (f && f->place != SOURCE_NONE)
			return true;
	}
	return false;
}

static bool has_insns(const struct annotate_page *ap)
{
	for (uint32_t i = 0; i < ap->u.ncodes; i++)
		if (annotate_page_code(ap, i)->ninsns)
			return true;
	return false;
}

/* Returns whether there is anything to show; shows the reason if not. */
static bool has_something(struct annotate_page *ap)
{
	struct buf name = { 0 }, safe = { 0 };
	bool any = annot_unit_has_lines(ap->a, &ap->u) || ap->u.ncodes;

	if (!any) {
		annot_unit_name(ap->a, &ap->u, false, &name);
		text_safe(&safe, buf_cstr(&name));
		buf_reset(&name);
		text_cut(&name, buf_cstr(&safe), 60);
		tui_say(ap->pg.t, "no samples are in %s itself: nothing to "
			"annotate", buf_cstr(&name));
	}
	buf_fini(&name);
	buf_fini(&safe);
	return any;
}

static void begin(struct annotate_page *ap, uint32_t line)
{
	size_t at = SIZE_MAX;

	ap->u = ap->a->units.v[0];
	ap->style = (struct annotate_style){ .source = true, .code = true };
	ap->words.a = ap->a;
	ap->words.style = &ap->style;
	ap->mode = annot_unit_has_lines(ap->a, &ap->u) &&
		   (has_source(ap) || !has_insns(ap))
			   ? SHOW_SOURCE : SHOW_CODE;
	annotate_page_fill(ap);
	annotate_page_next_by_cost(ap, false);
	for (size_t i = 0; line && i < ap->rows.n; i++)
		if (ap->rows.v[i].sort == ROW_LINE &&
		    ap->rows.v[i].line == line && at == SIZE_MAX)
			at = i;
	if (at != SIZE_MAX)
		page_go(&ap->pg, at);
}

void annotate_page_open(struct tui *t, const struct annot_pick *pick,
			uint32_t line)
{
	struct annotate_page *ap = calloc(1, sizeof(*ap));
	struct annotate_spec spec = t->o->annotate;
	struct error err = { 0 };

	if (!ap) {
		tui_say(t, "out of memory");
		return;
	}
	page_init(&ap->pg, t, &annotate_ops);
	spec.select = model_select(&t->m);
	spec.select.images = spec.select.symbols = (struct name_list){ NULL, 0 };
	spec.what = NULL;
	spec.pick = pick;
	spec.code = true;
	if (annotate_build(t->m.r, &spec, &ap->a, &err) < 0)
		tui_complain(t, &err);
	if (!ap->a || !ap->a->units.n) {
		page_close(&ap->pg);
		return;
	}
	ap->a->spec.pick = NULL;	/* it belongs to the caller */
	ap->u = ap->a->units.v[0];
	if (!has_something(ap)) {
		page_close(&ap->pg);
		return;
	}
	begin(ap, line);
	page_push(&ap->pg);
}
