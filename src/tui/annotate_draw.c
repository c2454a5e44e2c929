// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws the page of an annotated function. */
#include <stdlib.h>

#include "base/text.h"
#include "tui/annotate_page.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

enum {
	NUMBER = 9, SURE = 13, SAMPLES = 9,
	WIDE = 100,		/* minimum width with confidence intervals */
};

static double share(const struct annotate_page *ap, struct cell c)
{
	return annot_share(ap->a, annotate_page_column(ap), c);
}

static bool is_wide(const struct annotate_page *ap)
{
	return ap->pg.t->columns >= WIDE;
}

static void put_numbers(struct annotate_page *ap, size_t i, struct strip *s)
{
	struct annot_cost c = annotate_page_cost(ap, i);
	size_t col = ap->a->ncols ? annotate_page_column(ap) : 0;
	struct interval sure = { 0, 0 };
	bool noise = annotate_page_noise(ap, &c);
	unsigned int look = noise ? STYLE_DIM
			    : 2 * annot_sum(&c).weight >= ap->most ? STYLE_HOT
			    : share(ap, annot_sum(&c)) >= 0.5 ? STYLE_WARM
							      : STYLE_PLAIN;
	size_t start = s->columns;

	if (ap->a->ncols)
		sure = interval_of(annot_event(ap->a, col), c.self,
				   annot_all(ap->a, col));
	if (c.self.count)
		strip_printf(s, look, "%c%7.2f%%", noise ? '~' : ' ',
			     share(ap, c.self));
	start += NUMBER;
	strip_pad(s, start);
	if (is_wide(ap)) {
		if (c.self.count)
			strip_printf(s, STYLE_DIM, " %5.2f-%-5.2f",
				     100 * sure.lo, 100 * sure.hi);
		start += SURE;
		strip_pad(s, start);
	}
	if (ap->inlined && c.inlined.count)
		strip_printf(s, look, "%8.2f%%", share(ap, c.inlined));
	start += ap->inlined ? NUMBER : 0;
	strip_pad(s, start);
	if (ap->calls && c.called.count)
		strip_printf(s, look, "%8.2f%%", share(ap, c.called));
	start += ap->calls ? NUMBER : 0;
	strip_pad(s, start);
	if (!ap->pg.t->m.samples)
		return;
	if (annot_sum(&c).count)
		strip_printf(s, look, "%9llu",
			     (unsigned long long)annot_sum(&c).count);
	strip_pad(s, start + SAMPLES);
}

/* Draws a row's text, scrolled horizontally. */
static void put_text(struct annotate_page *ap, const struct listing_row *row,
		     unsigned int look, struct strip *s)
{
	const struct listing_group *g = &ap->list.groups.v[row->group];
	const char *p;

	buf_reset(&ap->line);
	if (row->kind == LISTING_INSN)
		listing_number(&ap->list, row, 0, &ap->line);
	if (row->kind == LISTING_LINE && row->at[0] && ap->pg.t->writing &&
	    !source_is_for_others(&ap->a->sources, g->source[0]))
		buf_str(&ap->line, "(not included in files for others: see "
				   "--repo)");
	else
		listing_text(&ap->list, row, 0, &ap->line);
	p = buf_cstr(&ap->line);
	for (size_t skip = ap->shift; *p && skip; skip--) {
		p++;
		while (((uint8_t)*p & 0xc0) == 0x80)
			p++;
	}
	strip_put(s, look, p);
}

static unsigned int text_style(const struct annotate_page *ap,
			       const struct listing_row *row, bool cost)
{
	const struct annot_insn *in;

	if (row->kind == LISTING_FOLD)
		return STYLE_DIM;
	if (row->kind == LISTING_LINE)
		return cost ? STYLE_BOLD : STYLE_PLAIN;
	in = &ap->a->insns.v[ap->a->codes.v[row->code[0]].insn + row->at[0]];
	if (in->jump != PROF_NONE || in->has_target)
		return STYLE_LINK;
	return cost ? STYLE_BOLD : row->below ? STYLE_DIM : STYLE_PLAIN;
}

void annotate_page_row(struct page *pg, size_t i, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);
	const struct listing_row *row = &ap->list.shown.v[i];
	struct annot_cost c = annotate_page_cost(ap, i);
	bool cost = annot_sum(&c).count && !annotate_page_noise(ap, &c);

	if (row->kind == LISTING_NOTE) {
		strip_put(s, STYLE_DIM, listing_note_text(&ap->list, row));
		return;
	}
	put_numbers(ap, i, s);
	strip_pad(s, s->columns + 1);
	if (row->kind == LISTING_LINE) {
		buf_reset(&ap->line);
		listing_number(&ap->list, row, 0, &ap->line);
		strip_put(s, STYLE_DIM, buf_cstr(&ap->line));
	}
	put_text(ap, row, text_style(ap, row, cost), s);
}

void annotate_page_heads(struct page *pg, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);

	strip_printf(s, STYLE_BOLD, "%*s", NUMBER, "SELF");
	if (is_wide(ap))
		strip_printf(s, STYLE_BOLD, "%*s", SURE, "95% CI  ");
	if (ap->inlined)
		strip_printf(s, STYLE_BOLD, "%*s", NUMBER, "INLINED");
	if (ap->calls)
		strip_printf(s, STYLE_BOLD, "%*s", NUMBER, "CALLS");
	if (pg->t->m.samples)
		strip_printf(s, STYLE_BOLD, "%*s", SAMPLES, "SAMPLES");
	strip_put(s, STYLE_BOLD, ap->mode == SHOW_CODE
				? "  ADDRESS, INSTRUCTION" : "    LINE  SOURCE");
}

void annotate_page_title(struct page *pg, struct strip *s)
{
	static const char *const modes[] = { "source", "instructions",
					     "source and instructions" };
	struct annotate_page *ap = annotate_page(pg);
	const struct annotation *a = ap->a;
	struct buf name = { 0 }, safe = { 0 };
	struct cell sum, all;
	struct interval sure;

	annot_unit_name(a, &ap->u, pg->t->m.full_names, &name);
	text_safe(&safe, buf_cstr(&name));
	if (a->ncols) {
		size_t col = annotate_page_column(ap);

		sum = annot_sum(&annot_costs(a, ap->u.total)[col]);
		all = annot_all(a, col);
		sure = interval_of(annot_event(a, col), sum, all);
		strip_printf(s, STYLE_BOLD, "%.2f%% ", share(ap, sum));
		strip_printf(s, STYLE_PLAIN, "(%.2f-%.2f) ", 100 * sure.lo,
			     100 * sure.hi);
	}
	buf_reset(&name);
	line_cut_symbol(&name, buf_cstr(&safe),
			s->room > 60 ? s->room - 50 : s->room / 2);
	strip_put(s, STYLE_BOLD, buf_cstr(&name));
	if (ap->u.kind != UNIT_FILE) {
		strip_put(s, STYLE_PLAIN, " in ");
		strip_put_unsafe(s, STYLE_PLAIN, path_base(profile_cstr(
			a->p, a->p->images.v[ap->u.image].path)));
	}
	strip_printf(s, STYLE_DIM, "  %s", modes[ap->mode]);
	buf_fini(&name);
	buf_fini(&safe);
}

/* Shows the event.  In views with instructions it also says where samples
 * land. */
void annotate_page_status(struct page *pg, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);
	const struct annotation *a = ap->a;
	const struct prof_event *e;

	if (!a->ncols)
		return;
	e = &a->p->events.v[a->agg.cols.v[annotate_page_column(ap)]];
	strip_put_unsafe(s, STYLE_PLAIN, profile_cstr(a->p, e->actual));
	strip_put(s, STYLE_PLAIN, ap->mode == SHOW_SOURCE
		? ": ~ marks lines that are not significant" : ": ");
	if (ap->mode != SHOW_SOURCE)
		strip_put(s, STYLE_PLAIN, annot_skid(e));
}
