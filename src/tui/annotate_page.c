// SPDX-License-Identifier: GPL-2.0-or-later
/* A function with what its lines and instructions cost. */
#include "tui/annotate_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/framekey.h"
#include "views/interval.h"
#include "views/lines.h"

enum {
	NUMBER = 9, SURE = 13, SAMPLES = 9,
	WIDE = 100,		/* here the intervals have room */
	SHIFT = 8,
};

static size_t column(const struct annotate_page *ap)
{
	return ap->pg.t->m.event < ap->a->ncols ? ap->pg.t->m.event : 0;
}

struct annot_cost annotate_page_cost(const struct annotate_page *ap, size_t row)
{
	const struct annot_cost none = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	size_t cost = ap->rows.v[row].cost;

	if (cost == SIZE_MAX || !ap->a->ncols)
		return none;
	return annot_costs(ap->a, cost)[column(ap)];
}

static double share(const struct annotate_page *ap, struct cell c)
{
	struct cell all = annot_all(ap->a, column(ap));

	return all.weight ? line_share(c.weight, all.weight)
			  : line_share(c.count, all.count);
}

static size_t page_count(struct page *pg)
{
	return annotate_page(pg)->rows.n;
}

static bool is_wide(const struct annotate_page *ap)
{
	return ap->pg.t->columns >= WIDE;
}

static bool is_noise(const struct annotate_page *ap, const struct annot_cost *c)
{
	return interval_is_noise(annot_sum(c).count + c->called.count,
				 annot_all(ap->a, column(ap)).count);
}

static void put_numbers(struct annotate_page *ap, size_t i, struct strip *s)
{
	struct annot_cost c = annotate_page_cost(ap, i);
	uint64_t all = ap->a->ncols ? annot_all(ap->a, column(ap)).count : 0;
	struct interval sure = interval_share(c.self.count, all);
	bool noise = is_noise(ap, &c);
	unsigned int look = noise ? LOOK_DIM
			    : 2 * annot_sum(&c).weight >= ap->most ? LOOK_HOT
			    : share(ap, annot_sum(&c)) >= 0.5 ? LOOK_WARM
							      : LOOK_PLAIN;
	size_t start = s->columns;

	if (c.self.count)
		strip_printf(s, look, "%c%7.2f%%", noise ? '~' : ' ',
			     share(ap, c.self));
	start += NUMBER;
	strip_pad(s, start);
	if (is_wide(ap)) {
		if (c.self.count)
			strip_printf(s, LOOK_DIM, " %5.2f-%-5.2f",
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

/* The text in ap->words.line, moved sideways. */
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
		strip_put(s, LOOK_DIM, "     -  (code without a line)");
		return;
	}
	strip_printf(s, LOOK_DIM, "%6u  ", row->line);
	src = sources_get(&ap->a->sources, row->file, PROF_NONE);
	buf_reset(&ap->words.line);
	if (src && source_line(&ap->a->sources, src, row->line, &text))
		annotate_source_words(&ap->words, text);
	put_words(ap, cost ? LOOK_BOLD : LOOK_PLAIN, s);
}

/* The jumps are drawn when the code is first seen. */
static const uint8_t *lanes_of(struct annotate_page *ap, uint32_t code,
			       uint32_t insn)
{
	if (!ap->lanes)
		ap->lanes = calloc(ap->u.ncodes + 1, sizeof(*ap->lanes));
	if (ap->lanes && !ap->lanes[code])
		ap->lanes[code] = annotate_lanes_draw(
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
		annotate_lanes_put(&ap->words, lanes,
				   annotate_lanes_width(ap->a, c));
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
	put_words(ap, leads ? LOOK_LINK : cost ? LOOK_BOLD
				  : ap->mode == SHOW_BOTH ? LOOK_DIM
							  : LOOK_PLAIN, s);
}

static void page_row(struct page *pg, size_t i, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);
	const struct code_row *row = &ap->rows.v[i];
	struct annot_cost c = annotate_page_cost(ap, i);
	bool cost = annot_sum(&c).count && !is_noise(ap, &c);

	if (row->sort == ROW_NOTE) {
		strip_put(s, LOOK_DIM, (const char *)ap->notes.p + row->note);
		return;
	}
	put_numbers(ap, i, s);
	strip_pad(s, s->columns + 1);
	if (row->sort == ROW_FOLD)
		strip_put(s, LOOK_DIM, "     \u22ee");
	else if (row->sort == ROW_LINE)
		put_line(ap, row, cost, s);
	else
		put_insn(ap, row, cost, s);
}

static void page_heads(struct page *pg, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);

	strip_printf(s, LOOK_BOLD, "%*s", NUMBER, "SELF");
	if (is_wide(ap))
		strip_printf(s, LOOK_BOLD, "%*s", SURE, "95% SURE  ");
	if (ap->inlined)
		strip_printf(s, LOOK_BOLD, "%*s", NUMBER, "INLINED");
	if (ap->calls)
		strip_printf(s, LOOK_BOLD, "%*s", NUMBER, "CALLS");
	if (pg->t->m.samples)
		strip_printf(s, LOOK_BOLD, "%*s", SAMPLES, "SAMPLES");
	strip_put(s, LOOK_BOLD, ap->mode == SHOW_CODE
				? "  ADDRESS, INSTRUCTION" : "    LINE  SOURCE");
}

static void page_title(struct page *pg, struct strip *s)
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
		size_t col = column(ap);

		sum = annot_sum(&annot_costs(a, ap->u.total)[col]);
		all = annot_all(a, col);
		sure = interval_share(sum.count, all.count);
		strip_printf(s, LOOK_BOLD, "%.2f%% ", share(ap, sum));
		strip_printf(s, LOOK_PLAIN, "(%.2f-%.2f) ", 100 * sure.lo,
			     100 * sure.hi);
	}
	buf_reset(&name);
	line_cut_symbol(&name, buf_cstr(&safe),
			s->room > 60 ? s->room - 50 : s->room / 2);
	strip_put(s, LOOK_BOLD, buf_cstr(&name));
	if (ap->u.kind != UNIT_FILE) {
		strip_put(s, LOOK_PLAIN, " in ");
		strip_put_unsafe(s, LOOK_PLAIN, path_base(profile_cstr(
			a->p, a->p->images.v[ap->u.image].path)));
	}
	strip_printf(s, LOOK_DIM, "  %s", modes[ap->mode]);
	buf_fini(&name);
	buf_fini(&safe);
}

/* In instructions it matters where samples land. */
static void page_status(struct page *pg, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);
	const struct annotation *a = ap->a;
	const struct prof_event *e;

	if (!a->ncols)
		return;
	e = &a->p->events.v[a->agg.cols.v[column(ap)]];
	strip_put_unsafe(s, LOOK_PLAIN, profile_cstr(a->p, e->actual));
	strip_put(s, LOOK_PLAIN, ap->mode == SHOW_SOURCE
		? ": ~ marks lines with too few samples to tell" : ": ");
	if (ap->mode != SHOW_SOURCE)
		strip_put(s, LOOK_PLAIN, annot_skid(e));
}

/* Rows that n and N stop at: those that are not noise, or all with cost. */
static bool is_hot(const struct annotate_page *ap, size_t i, bool any)
{
	struct annot_cost c = annotate_page_cost(ap, i);

	return annot_sum(&c).count && (any || !is_noise(ap, &c));
}

static bool next_hot(struct annotate_page *ap, bool back)
{
	size_t n = ap->rows.n;

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

/* Whether row i comes before k when rows are ordered by what they cost. */
static bool dearer(const struct annotate_page *ap, size_t i, size_t k)
{
	uint64_t a = weight_at(ap, i), b = weight_at(ap, k);

	return a != b ? a > b : i < k;
}

/* The row that comes after (before) the chosen one by cost; the dearest behind
 * the last. */
static void next_by_cost(struct annotate_page *ap, bool back)
{
	size_t best = SIZE_MAX, dearest = SIZE_MAX, now = ap->pg.cursor;

	for (size_t i = 0; i < ap->rows.n; i++) {
		if (!weight_at(ap, i))
			continue;
		if (dearest == SIZE_MAX || dearer(ap, i, dearest))
			dearest = i;
		if (now >= ap->rows.n || i == now ||
		    dearer(ap, i, now) != back)
			continue;
		if (best == SIZE_MAX || dearer(ap, i, best) != back)
			best = i;
	}
	if (best == SIZE_MAX || now >= ap->rows.n || !weight_at(ap, now))
		best = dearest;
	if (best != SIZE_MAX)
		page_go(&ap->pg, best);
}

/* The line or instruction that was chosen stays so in another mode. */
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
		if (ap->pg.find)	/* next match */
			return false;
		if (!ap->rows.n || !next_hot(ap, key == 'N'))
			tui_say(ap->pg.t, "no row has samples");
		return true;
	case 'H':
		ap->pg.cursor = SIZE_MAX;	/* nowhere: the dearest */
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
		pg->t->m.event = (column(ap) + 1) %
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
	.row = page_row,
	.title = page_title,
	.heads = page_heads,
	.key = page_keys,
	.status = page_status,
	.close = page_close,
};

static bool has_lines(const struct annotate_page *ap)
{
	const struct annotation *a = ap->a;

	for (size_t i = ap->u.line; i < ap->u.line + ap->u.nlines; i++)
		if (a->lines.v[i].file && a->lines.v[i].line)
			return true;
	return false;
}

/* Whether the text of some line is there. */
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

/* Whether there is anything to see; says why not. */
static bool has_something(struct annotate_page *ap)
{
	struct buf name = { 0 }, safe = { 0 };
	bool any = has_lines(ap) || ap->u.ncodes;

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
	ap->mode = has_lines(ap) && (has_source(ap) || !has_insns(ap))
			   ? SHOW_SOURCE : SHOW_CODE;
	annotate_page_fill(ap);
	next_by_cost(ap, false);
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
	ap->a->spec.pick = NULL;	/* the caller's */
	ap->u = ap->a->units.v[0];
	if (!has_something(ap)) {
		page_close(&ap->pg);
		return;
	}
	begin(ap, line);
	page_push(&ap->pg);
}
