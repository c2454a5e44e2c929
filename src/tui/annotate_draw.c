// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws the page of an annotated function. */
#include <stdlib.h>

#include "base/text.h"
#include "tui/annotate_page.h"
#include "views/query/framekey.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

enum {
	NUMBER = 9, SURE = 13, SAMPLES = 9,
	WIDE = 100,		/* minimum width with confidence intervals */
};

static double share(const struct annotate_page *ap, struct cell c)
{
	struct cell all = annot_all(ap->a, annotate_page_column(ap));

	return all.weight ? line_share(c.weight, all.weight)
			  : line_share(c.count, all.count);
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

/* Appends the text in ap->words.line, scrolled horizontally. */
static void put_words(struct annotate_page *ap, unsigned int look,
		      struct strip *s)
{
	const char *p = buf_cstr(&ap->words.line);
	size_t skip = ap->shift;

	while (*p && skip) {
		p++;
		while (((uint8_t)*p & 0xc0) == 0x80)
			p++;
		skip--;
	}
	strip_put(s, look, p);
}

static void put_line(struct annotate_page *ap, const struct code_row *row,
		     bool cost, struct strip *s)
{
	const struct source_file *src;
	struct span text;

	if (!row->line) {
		strip_put(s, STYLE_DIM, "     -  (code without a line)");
		return;
	}
	strip_printf(s, STYLE_DIM, "%6u  ", row->line);
	src = sources_get(&ap->a->sources, row->file, PROF_NONE);
	buf_reset(&ap->words.line);
	if (src && ap->pg.t->writing &&
	    !source_is_for_others(&ap->a->sources, src))
		buf_str(&ap->words.line, "(not included in files for others: "
				"see --repo)");
	else if (src && source_line(&ap->a->sources, src, row->line, &text))
		annotate_source_words(&ap->words, text);
	put_words(ap, cost ? STYLE_BOLD : STYLE_PLAIN, s);
}

/* Returns the jump arrows of an instruction.  They are drawn when the code is
 * first shown. */
static const uint8_t *lanes_of(struct annotate_page *ap, uint32_t code,
			       uint32_t insn)
{
	if (!ap->lanes)
		ap->lanes = calloc(ap->u.ncodes + 1, sizeof(*ap->lanes));
	if (ap->lanes && !ap->lanes[code])
		ap->lanes[code] = jump_arrows_draw(
			ap->a, annotate_page_code(ap, code));
	return ap->lanes && ap->lanes[code] ? ap->lanes[code][insn] : NULL;
}

static void put_insn(struct annotate_page *ap, const struct code_row *row,
		     bool cost, struct strip *s)
{
	const struct annot_code *c = annotate_page_code(ap, row->code);
	const struct annot_insn *in = &ap->a->insns.v[c->insn + row->insn];
	const uint8_t *lanes = NULL;
	struct buf *line = &ap->words.line;
	bool leads = in->jump != PROF_NONE || in->has_target;

	if (ap->mode == SHOW_CODE)
		lanes = lanes_of(ap, row->code, row->insn);
	buf_reset(line);
	if (lanes)
		jump_arrows_put(&ap->words, lanes,
				jump_arrows_width(ap->a, c));
	else if (ap->mode == SHOW_BOTH)
		buf_str(line, "          ");
	buf_printf(line, "%8llx  ", (unsigned long long)in->vaddr);
	annotate_insn_words(&ap->words, c, in);
	if (ap->mode == SHOW_CODE &&
	    (!row->insn || in[-1].frame != in->frame) &&
	    annotate_has_place(ap->a, in->frame)) {
		buf_str(line, "  ; ");
		annotate_place(&ap->words, in->frame);
	}
	put_words(ap, leads ? STYLE_LINK : cost ? STYLE_BOLD
				  : ap->mode == SHOW_BOTH ? STYLE_DIM
							  : STYLE_PLAIN, s);
}

void annotate_page_row(struct page *pg, size_t i, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);
	const struct code_row *row = &ap->rows.v[i];
	struct annot_cost c = annotate_page_cost(ap, i);
	bool cost = annot_sum(&c).count && !annotate_page_noise(ap, &c);

	if (row->sort == ROW_NOTE) {
		strip_put(s, STYLE_DIM, (const char *)ap->notes.p + row->note);
		return;
	}
	put_numbers(ap, i, s);
	strip_pad(s, s->columns + 1);
	if (row->sort == ROW_FOLD)
		strip_put(s, STYLE_DIM, "     \u22ee");
	else if (row->sort == ROW_LINE)
		put_line(ap, row, cost, s);
	else
		put_insn(ap, row, cost, s);
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

/* Shows the event.  In views with instructions it also tells where samples
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
