// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of a function with the cost of its lines and instructions: it shows a
 * listing, and opens what a row calls. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/page.h"
#include "views/annotate/listing.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

enum {
	SHIFT = 8,
	CODES = 8,		/* maximum number of codes of the unit */
	/* rows shown around each row with cost, in the short form */
	AROUND = 3,
	MARGIN = 2,		/* lines before and after a function's code */
	NUMBER = 9, SURE = 13, SAMPLES = 9,
	WIDE = 100,		/* minimum width with confidence intervals */
	TARGETS_MAX = 100,	/* functions that a row leads to */
};

enum annotate_mode { SHOW_SOURCE, SHOW_CODE, SHOW_BOTH, SHOW_MODES };

struct annotate_page {
	struct page pg;
	struct annotation *a;
	struct annot_unit u;
	enum annotate_mode mode;
	bool near;		/* show only rows near rows with cost */
	size_t shift;		/* horizontal scroll offset, in columns */
	struct listing list;
	struct buf line;	/* text of the row that is drawn */
	bool inlined;		/* some line has cost of inlined code */
	bool calls;		/* some line has cost of calls made there */
	uint64_t most;		/* weight of the most expensive row */
	VEC(size_t) back;	/* rows from which jumps were followed */
};

static struct annotate_page *annotate_page(struct page *pg)
{
	return (struct annotate_page *)pg;
}

/* Returns the column of the event that is shown. */
static size_t shown_column(const struct annotate_page *ap)
{
	return ap->pg.t->m.event < ap->a->ncols ? ap->pg.t->m.event : 0;
}

/* Returns the cost of a row in that column, 0 if it has none. */
static struct annot_cost cost_of(const struct annotate_page *ap, size_t row)
{
	const struct annot_cost none = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	const struct annot_cost *c =
		listing_cost(&ap->list, &ap->list.shown.v[row], 0);

	return c && ap->a->ncols ? c[shown_column(ap)] : none;
}

static bool is_noise(const struct annotate_page *ap, const struct annot_cost *c)
{
	size_t col = shown_column(ap);
	struct cell sum = annot_sum(c);

	cell_add(&sum, c->called);
	return interval_hides(annot_event(ap->a, col), sum,
			      annot_all(ap->a, col));
}

/* Returns whether n and N stop at a row: one above noise, or any with cost if
 * `any`. */
static bool is_hot(const struct annotate_page *ap, size_t i, bool any)
{
	struct annot_cost c = cost_of(ap, i);

	return annot_sum(&c).count && (any || !is_noise(ap, &c));
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
	struct annot_cost c = cost_of(ap, i);

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
		struct annot_cost c = cost_of(ap, i);

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

/* Finds the row of a line (`file` PROF_NONE: in any file), or of an instruction.  Returns
 * SIZE_MAX if it is not shown. */
static size_t find_row(const struct annotate_page *ap, const struct listing_row *like,
		       uint32_t file)
{
	for (size_t i = 0; i < ap->list.shown.n; i++) {
		const struct listing_row *r = &ap->list.shown.v[i];

		if (r->kind == like->kind && r->at[0] == like->at[0] &&
		    ((r->kind == LISTING_LINE && (file == PROF_NONE ||
		      ap->list.groups.v[r->group].file[0] == file)) ||
		     (r->kind == LISTING_INSN && r->code[0] == like->code[0])))
			return i;
	}
	return SIZE_MAX;
}

/* Rebuilds the rows for another mode and keeps the selected line or
 * instruction. */
static void refill(struct annotate_page *ap)
{
	struct listing_row was = { .kind = LISTING_NOTE };
	uint32_t file = 0;
	size_t at;

	if (ap->pg.cursor < ap->list.shown.n)
		was = ap->list.shown.v[ap->pg.cursor];
	if (was.kind == LISTING_LINE)
		file = ap->list.groups.v[was.group].file[0];
	fill(ap);
	at = find_row(ap, &was, file);
	if (at != SIZE_MAX) {
		page_go(&ap->pg, at);
	} else {
		ap->pg.cursor = 0;
		next_by_cost(ap, false);
	}
}

/* --- drawing: see struct page_ops */

static double share(const struct annotate_page *ap, struct cell c)
{
	return annot_share(ap->a, shown_column(ap), c);
}

static bool is_wide(const struct annotate_page *ap)
{
	return ap->pg.t->columns >= WIDE;
}

static void put_numbers(struct annotate_page *ap, size_t i, struct strip *s)
{
	struct annot_cost c = cost_of(ap, i);
	size_t col = shown_column(ap);
	struct interval sure = { 0, 0 };
	bool noise = is_noise(ap, &c);
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

static void page_row(struct page *pg, size_t i, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);
	const struct listing_row *row = &ap->list.shown.v[i];
	struct annot_cost c = cost_of(ap, i);
	bool cost = annot_sum(&c).count && !is_noise(ap, &c);

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

static void page_heads(struct page *pg, struct strip *s)
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
		size_t col = shown_column(ap);

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
static void page_status(struct page *pg, struct strip *s)
{
	struct annotate_page *ap = annotate_page(pg);
	const struct annotation *a = ap->a;
	const struct prof_event *e;

	if (!a->ncols)
		return;
	e = &a->p->events.v[a->agg.cols.v[shown_column(ap)]];
	strip_put_unsafe(s, STYLE_PLAIN, profile_cstr(a->p, e->actual));
	strip_put(s, STYLE_PLAIN, ap->mode == SHOW_SOURCE
		? ": ~ marks lines that are not significant" : ": ");
	if (ap->mode != SHOW_SOURCE)
		strip_put(s, STYLE_PLAIN, annot_skid(e));
}

/* --- what a row calls */

/* Functions that a row leads to. */
struct targets {
	struct annot_pick v[TARGETS_MAX];
	size_t n;
};

static void add_target(struct targets *t, struct annot_pick pick)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].kind == pick.kind && t->v[i].id == pick.id)
			return;
	if (t->n < TARGETS_MAX)
		t->v[t->n++] = pick;
}

/* Returns the function with a name in an image (PROF_NONE: in any image). */
static uint32_t find_func(const struct profile *p, const char *name, size_t n,
			  uint32_t image)
{
	for (uint32_t i = 0; i < p->funcs.n; i++) {
		const char *x = profile_cstr(p, p->funcs.v[i].name);

		if ((image == PROF_NONE || p->funcs.v[i].image == image) &&
		    strlen(x) == n && !memcmp(x, name, n))
			return i;
	}
	return PROF_NONE;
}

/* Adds the function at an address.  A stub leads to the function of its
 * name. */
static void add_address(const struct annotate_page *ap, uint32_t image,
			uint64_t vaddr, struct targets *to)
{
	const struct profile *p = ap->a->p;
	const struct prof_symbol *s = NULL;
	uint32_t id = PROF_NONE, func;
	const char *name;
	size_t n;

	for (uint32_t i = 0; i < p->symbols.n && !s; i++)
		if (p->symbols.v[i].image == image &&
		    vaddr - p->symbols.v[i].vaddr < p->symbols.v[i].size) {
			s = &p->symbols.v[i];
			id = i;
		}
	if (!s)
		return;
	name = profile_cstr(p, s->name);
	n = strlen(name);
	if (n > 4 && !strcmp(name + n - 4, "@plt"))
		func = find_func(p, name, n - 4, PROF_NONE);
	else
		func = n ? find_func(p, name, n, image) : PROF_NONE;
	if (func != PROF_NONE)
		add_target(to, (struct annot_pick){ UNIT_FUNCTION, func });
	else
		add_target(to, (struct annot_pick){ UNIT_CODE, id });
}

static void add_insn(const struct annotate_page *ap, size_t code,
		     uint32_t insn, struct targets *to)
{
	const struct annot_code *c = &ap->a->codes.v[code];
	const struct prof_symbol *s = &ap->a->p->symbols.v[c->symbol];
	const struct annot_insn *in = &ap->a->insns.v[c->insn + insn];

	if (in->has_target && in->target - s->vaddr >= s->size)
		add_address(ap, s->image, in->target, to);
}

/* Adds the function that was inlined directly at the line of `frame`. */
static void add_inlined(const struct annotate_page *ap, uint32_t inner,
			uint32_t frame, struct targets *to)
{
	const struct profile *p = ap->a->p;

	while (inner != PROF_NONE && p->frames.v[inner].outer != frame)
		inner = p->frames.v[inner].outer;
	if (inner != PROF_NONE)
		add_target(to, (struct annot_pick){ UNIT_FUNCTION,
						    p->frames.v[inner].func });
}

/* Adds the functions that a source line's instructions call, and those inlined
 * there. */
static void add_line(const struct annotate_page *ap,
		     const struct listing_row *row, struct targets *to)
{
	const struct annotation *a = ap->a;
	uint32_t file = ap->list.groups.v[row->group].file[0];

	for (size_t c = ap->u.code; c < ap->u.code + ap->u.ncodes; c++) {
		const struct annot_code *code = &a->codes.v[c];

		for (uint32_t i = 0; i < code->ninsns; i++) {
			uint32_t inner = a->insns.v[code->insn + i].frame;
			uint32_t f = annot_unit_frame(a, &ap->u, inner);

			if (f == PROF_NONE ||
			    a->p->frames.v[f].file != file ||
			    a->p->frames.v[f].line != row->at[0])
				continue;
			if (f != inner)
				add_inlined(ap, inner, f, to);
			else
				add_insn(ap, c, i, to);
		}
	}
}

static void target_chosen(struct tui *t, const struct choice *c, void *ctx)
{
	struct annot_pick pick = { (uint8_t)atoi(c->value), (uint32_t)c->id };

	(void)ctx;
	annotate_page_open(t, &pick, 0);
}

static void offer(struct annotate_page *ap, const struct targets *to)
{
	struct page *pg = menu_page_new(ap->pg.t, "targets of this line",
					target_chosen, NULL);
	const struct profile *p = ap->a->p;

	for (size_t i = 0; pg && i < to->n; i++) {
		const struct annot_pick *k = &to->v[i];
		struct annot_unit u = { .kind = k->kind, .func = k->id,
					.symbol = k->id };
		struct buf name = { 0 }, safe = { 0 };

		u.image = k->kind == UNIT_FUNCTION ? p->funcs.v[k->id].image
						   : p->symbols.v[k->id].image;
		annot_unit_name(ap->a, &u, false, &name);
		text_safe(&safe, buf_cstr(&name));
		menu_page_add(pg, buf_cstr(&safe), -1,
			      k->kind == UNIT_FUNCTION ? "0" : "2",
			      (int)k->id);
		buf_fini(&name);
		buf_fini(&safe);
	}
	if (pg)
		page_push(pg);
}

/* Follows a jump within the code. */
static bool follow_jump(struct annotate_page *ap, const struct listing_row *row)
{
	const struct annot_code *c = &ap->a->codes.v[row->code[0]];
	struct listing_row to = *row;
	size_t at;

	to.at[0] = ap->a->insns.v[c->insn + row->at[0]].jump;
	if (to.at[0] == PROF_NONE)
		return false;
	at = find_row(ap, &to, PROF_NONE);
	if (at == SIZE_MAX) {
		tui_notice(ap->pg.t, "the target of this jump is hidden: o shows "
				"everything");
		return true;
	}
	if (vec_push(&ap->back, ap->pg.cursor) < 0)
		tui_notice(ap->pg.t, "out of memory");
	page_go(&ap->pg, at);
	return true;
}

static void follow(struct annotate_page *ap)
{
	struct listing_row row = ap->list.shown.v[ap->pg.cursor];
	struct targets to = { .n = 0 };

	if (row.kind == LISTING_INSN) {
		if (follow_jump(ap, &row))
			return;
		add_insn(ap, row.code[0], row.at[0], &to);
	} else if (row.kind == LISTING_LINE) {
		add_line(ap, &row, &to);
	}
	if (!to.n)
		tui_notice(ap->pg.t, "this row has no known call target");
	else if (to.n == 1)
		annotate_page_open(ap->pg.t, &to.v[0], 0);
	else
		offer(ap, &to);
}

/* --- keys */

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
		pg->t->m.event = (shown_column(ap) + 1) %
				 (ap->a->ncols ? ap->a->ncols : 1);
		refill(ap);
		return true;
	case SCREEN_LEFT: case SCREEN_RIGHT:
		shift(ap, key == SCREEN_LEFT);
		return true;
	case SCREEN_ENTER:
		if (pg->cursor < ap->list.shown.n)
			follow(ap);
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
	.row = page_row,
	.title = page_title,
	.heads = page_heads,
	.key = page_keys,
	.status = page_status,
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
	const struct listing_row like = { .kind = LISTING_LINE, .at = { line } };
	size_t at;

	ap->u = ap->a->units.v[0];
	ap->mode = annot_unit_has_lines(ap->a, &ap->u) &&
		   (has_source(ap) || !has_insns(ap))
			   ? SHOW_SOURCE : SHOW_CODE;
	fill(ap);
	next_by_cost(ap, false);
	at = line ? find_row(ap, &like, PROF_NONE) : SIZE_MAX;
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
