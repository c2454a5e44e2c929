// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of a function with the cost of its lines and instructions. */
#include "tui/annotate_page.h"

#include <stdlib.h>

#include "base/text.h"
#include "views/query/interval.h"

enum {
	SHIFT = 8,
	CODES = 8,		/* maximum number of codes of the unit */
	/* rows shown around each row with cost, in the short form */
	AROUND = 3,
	MARGIN = 2,		/* lines before and after a function's code */
};

size_t annotate_page_column(const struct annotate_page *ap)
{
	return ap->pg.t->m.event < ap->a->ncols ? ap->pg.t->m.event : 0;
}

struct annot_cost annotate_page_cost(const struct annotate_page *ap, size_t row)
{
	const struct annot_cost none = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	const struct annot_cost *c =
		listing_cost(&ap->list, &ap->list.shown.v[row], 0);

	return c && ap->a->ncols ? c[annotate_page_column(ap)] : none;
}

bool annotate_page_noise(const struct annotate_page *ap,
			 const struct annot_cost *c)
{
	size_t col = annotate_page_column(ap);
	struct cell sum = annot_sum(c);

	cell_add(&sum, c->called);
	return interval_hides(annot_event(ap->a, col), sum,
			      annot_all(ap->a, col));
}

/* Returns whether n and N stop at a row: one above noise, or any with cost if
 * `any`. */
static bool is_hot(const struct annotate_page *ap, size_t i, bool any)
{
	struct annot_cost c = annotate_page_cost(ap, i);

	return annot_sum(&c).count && (any || !annotate_page_noise(ap, &c));
}

/* Selects the next row whose cost is above noise, or any row with cost if all
 * are noise.  Returns false if no row has cost. */
static bool next_hot(struct annotate_page *ap, bool back)
{
	size_t n = ap->list.shown.n;

	for (int any = 0; any < 2; any++)
		for (size_t k = 1; k <= n; k++) {
			size_t i = (ap->pg.cursor + (back ? n - k : k)) % n;

			if (!is_hot(ap, i, any))
				continue;
			page_go(&ap->pg, i);
			return true;
		}
	return false;
}

static uint64_t weight_at(const struct annotate_page *ap, size_t i)
{
	struct annot_cost c = annotate_page_cost(ap, i);

	return annot_sum(&c).weight ? annot_sum(&c).weight
				    : annot_sum(&c).count;
}

/* Returns whether row i comes before row k in order of cost, highest first. */
static bool costs_more(const struct annotate_page *ap, size_t i, size_t k)
{
	uint64_t a = weight_at(ap, i), b = weight_at(ap, k);

	return a != b ? a > b : i < k;
}

/* Selects the row that follows (or precedes) the selected one in order of
 * cost.  Selects the most expensive row after the last one, and if no row is
 * selected. */
static void next_by_cost(struct annotate_page *ap, bool back)
{
	size_t best = SIZE_MAX, most = SIZE_MAX, now = ap->pg.cursor;

	for (size_t i = 0; i < ap->list.shown.n; i++) {
		if (!weight_at(ap, i))
			continue;
		if (most == SIZE_MAX || costs_more(ap, i, most))
			most = i;
		if (now >= ap->list.shown.n || i == now ||
		    costs_more(ap, i, now) != back)
			continue;
		if (best == SIZE_MAX || costs_more(ap, i, best) != back)
			best = i;
	}
	if (best == SIZE_MAX || now >= ap->list.shown.n || !weight_at(ap, now))
		best = most;
	if (best != SIZE_MAX)
		page_go(&ap->pg, best);
}

static void measure(struct annotate_page *ap)
{
	ap->most = 0;
	ap->inlined = ap->calls = false;
	for (size_t i = 0; i < ap->list.shown.n; i++) {
		struct annot_cost c = annotate_page_cost(ap, i);

		ap->inlined |= c.inlined.count > 0;
		ap->calls |= c.called.count > 0;
		if (annot_sum(&c).weight > ap->most)
			ap->most = annot_sum(&c).weight;
	}
}

/* Adds the rows of the mode. */
static int add_rows(struct annotate_page *ap)
{
	struct listing *l = &ap->list;
	struct buf text = { 0 };
	int rc = 0;

	annot_paid_by(ap->a, &ap->u, false, &text);
	if (text.n)
		rc = listing_note(l, "%s", buf_cstr(&text));
	rc = text.failed ? -ERR_NOMEM : rc;
	buf_fini(&text);
	if (!rc)
		rc = ap->mode == SHOW_CODE ? listing_add_codes(l)
					   : listing_add_files(l);
	if (!rc && !l->groups.n)
		rc = listing_note(l, ap->mode == SHOW_CODE
			? "the recording does not contain its code"
			: "none of its lines has samples: s shows instructions");
	return rc ? rc : listing_fold(l, ap->near ? AROUND : MARGIN, !ap->near);
}

/* Builds the rows for the mode.  Reports lack of memory in the status line. */
static void fill(struct annotate_page *ap)
{
	const struct listing_spec spec = {
		.a = { ap->a }, .u = { &ap->u }, .codes = CODES,
		.below = ap->mode == SHOW_BOTH,
	};

	listing_fini(&ap->list);
	listing_init(&ap->list, &spec);
	ap->back.n = 0;
	if (add_rows(ap) < 0)
		tui_notice(ap->pg.t, "out of memory: rows are missing");
	measure(ap);
}

static size_t page_count(struct page *pg)
{
	return annotate_page(pg)->list.shown.n;
}

/* Rebuilds the rows for another mode and keeps the selected line or
 * instruction. */
static void refill(struct annotate_page *ap)
{
	struct listing_row was = { .kind = LISTING_NOTE };
	uint32_t file = 0;
	size_t at = SIZE_MAX;

	if (ap->pg.cursor < ap->list.shown.n)
		was = ap->list.shown.v[ap->pg.cursor];
	if (was.kind == LISTING_LINE)
		file = ap->list.groups.v[was.group].file[0];
	fill(ap);
	for (size_t i = 0; i < ap->list.shown.n && at == SIZE_MAX; i++) {
		const struct listing_row *r = &ap->list.shown.v[i];

		if (r->kind == was.kind && r->at[0] == was.at[0] &&
		    ((r->kind == LISTING_LINE &&
		      ap->list.groups.v[r->group].file[0] == file) ||
		     (r->kind == LISTING_INSN && r->code[0] == was.code[0])))
			at = i;
	}
	if (at != SIZE_MAX) {
		page_go(&ap->pg, at);
	} else {
		ap->pg.cursor = 0;
		next_by_cost(ap, false);
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
		if (!ap->list.shown.n || !next_hot(ap, key == 'N'))
			tui_notice(ap->pg.t, "no row has samples");
		return true;
	case 'H':
		/* no row, so that the most expensive one is next */
		ap->pg.cursor = SIZE_MAX;
		next_by_cost(ap, false);
		return true;
	case SCREEN_TAB: case SCREEN_BACK_TAB:
		next_by_cost(ap, key == SCREEN_BACK_TAB);
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
		if (pg->cursor < ap->list.shown.n)
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

	listing_fini(&ap->list);
	vec_fini(&ap->back);
	buf_fini(&ap->line);
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
	for (size_t i = ap->u.code; i < ap->u.code + ap->u.ncodes; i++)
		if (ap->a->codes.v[i].ninsns)
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
		tui_notice(ap->pg.t, "no samples are in %s itself: nothing to "
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
	ap->mode = annot_unit_has_lines(ap->a, &ap->u) &&
		   (has_source(ap) || !has_insns(ap))
			   ? SHOW_SOURCE : SHOW_CODE;
	fill(ap);
	next_by_cost(ap, false);
	for (size_t i = 0; line && i < ap->list.shown.n; i++)
		if (ap->list.shown.v[i].kind == LISTING_LINE &&
		    ap->list.shown.v[i].at[0] == line && at == SIZE_MAX)
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
		tui_notice(t, "out of memory");
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
