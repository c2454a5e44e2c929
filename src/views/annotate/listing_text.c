// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the rows of annotated code as text, without their costs. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/annotate/listing.h"
#include "views/query/lines.h"

enum {
	LINE_BYTES = 4000,	/* bytes of a source line */
	TARGET_MOST = 60,	/* columns of the name of an address */
	PLACE_MOST = 40,	/* columns of the function in a place */
	TAB = 8,
	COPIES_SHOWN = 5,
	BELOW = 10,		/* indent of instructions below a line */
};

/* --- jumps */

/* Shape drawn in one lane at one instruction.  The page draws the same shapes
 * (html/lines.js). */
enum {
	DRAW_NONE, DRAW_DOWN, DRAW_TOP, DRAW_BOTTOM, DRAW_SELF,
	DRAW_KIND = 7,
	DRAW_LOOP = 8,		/* heavy line for a loop */
	DRAW_ARROW = 16,	/* end of the jump */
};

static void draw_jump(const struct annot_jump *j, jump_arrows *rows)
{
	uint32_t lo = j->from < j->to ? j->from : j->to;
	uint32_t hi = j->from < j->to ? j->to : j->from;
	uint8_t loop = j->loop ? DRAW_LOOP : 0;

	for (uint32_t i = lo + 1; i < hi; i++)
		rows[i][j->lane] = DRAW_DOWN | loop;
	rows[lo][j->lane] = DRAW_TOP | loop;
	rows[hi][j->lane] = (lo == hi ? DRAW_SELF : DRAW_BOTTOM) | loop;
	rows[j->to][j->lane] |= DRAW_ARROW;
}

int listing_draw_jumps(const struct listing *l, struct listing_group *g)
{
	const struct annotation *a = l->spec.a[0];
	const struct annot_code *c = &a->codes.v[g->code[0]];

	g->arrows = calloc(c->ninsns + 1, sizeof(*g->arrows));
	for (size_t i = 0; g->arrows && i < c->njumps; i++) {
		const struct annot_jump *j = &a->jumps.v[c->jump + i];

		if (j->lane >= ANNOT_LANES)
			continue;
		draw_jump(j, g->arrows);
		if (j->lane >= g->arrows_width)
			g->arrows_width = j->lane + 1;
	}
	return g->arrows ? 0 : -ERR_NOMEM;
}

/* Appends a row of arrows in width + 2 columns. */
static void put_arrows(const uint8_t *row, int width, struct buf *out)
{
	static const char *const light[] = { " ", "\u2502", "\u250c", "\u2514",
					     "\u21ba" };
	static const char *const heavy[] = { " ", "\u2503", "\u250f", "\u2517",
					     "\u21ba" };
	int tail = -1;
	bool arrow = false, loop = false;

	for (int i = 0; i < width; i++) {
		if ((row[i] & DRAW_KIND) < DRAW_TOP)
			continue;
		tail = i;
		loop = row[i] & DRAW_LOOP;
		arrow |= row[i] & DRAW_ARROW;
	}
	for (int i = width - 1; i >= 0; i--) {
		const char *const *set = row[i] & DRAW_LOOP ? heavy : light;

		if (row[i] & DRAW_KIND)
			buf_str(out, set[row[i] & DRAW_KIND]);
		else
			buf_str(out, i >= tail ? " "
				: loop ? "\u2501" : "\u2500");
	}
	if (width)
		buf_str(out, arrow ? "> " : tail < 0 ? "  "
			     : loop ? "\u2501 " : "\u2500 ");
}

/* --- rows */

static const struct annot_code *code_of(const struct listing *l,
					const struct listing_row *r, int side)
{
	return &l->spec.a[side]->codes.v[r->code[side]];
}

static const struct annot_insn *insn_of(const struct listing *l,
					const struct listing_row *r, int side)
{
	return &l->spec.a[side]->insns.v[code_of(l, r, side)->insn +
					 r->at[side]];
}

void listing_number(const struct listing *l, const struct listing_row *r,
		    int side, struct buf *out)
{
	const struct annotation *a = l->spec.a[side];
	const struct listing_group *g;
	uint64_t addr;

	if (r->kind == LISTING_LINE && r->at[side] != PROF_NONE) {
		if (r->at[side])
			buf_printf(out, "%6u  ", r->at[side]);
		else
			buf_str(out, "     -  ");
	}
	if (r->kind != LISTING_INSN || r->at[side] == PROF_NONE)
		return;
	g = &l->groups.v[r->group];
	addr = insn_of(l, r, side)->vaddr;
	if (r->below)
		line_pad(out, BELOW);
	else if (g->arrows)
		put_arrows(g->arrows[r->at[side]], g->arrows_width, out);
	if (listing_is_pair(l))
		buf_printf(out, "%6llx  ", (unsigned long long)(
			addr - a->p->symbols.v[code_of(l, r, side)->symbol]
				       .vaddr));
	else
		buf_printf(out, "%8llx  ", (unsigned long long)addr);
}

static void put_source(const struct listing *l, const struct listing_row *r,
		       int side, struct buf *out)
{
	const struct source_file *f = l->groups.v[r->group].source[side];
	struct buf raw = { 0 }, wide = { 0 };
	size_t column = 0;

	if (!r->at[side])
		buf_str(out, "(code without a line)");
	else if (source_text(&l->spec.a[side]->sources, f, r->at[side],
			     LINE_BYTES, &raw))
		for (const char *s = buf_cstr(&raw); *s; s++) {
			size_t n = *s == '\t' ? TAB - column % TAB : 1;

			if (*s == '\t')
				line_pad(&wide, n);
			else
				buf_u8(&wide, (uint8_t)*s);
			column += n;
		}
	text_safe(out, buf_cstr(&wide));
	buf_close(&raw, out);
	buf_close(&wide, out);
}

void annot_target_name(const struct annotation *a, const struct annot_code *c,
		       const struct annot_insn *in, struct buf *out)
{
	const struct prof_symbol *s = &a->p->symbols.v[c->symbol];

	if (!in->has_target && !in->has_data)
		return;
	if (in->target - s->vaddr < s->size)
		buf_printf(out, "+0x%llx",
			   (unsigned long long)(in->target - s->vaddr));
	else
		annot_address_name(a, s->image, in->target, out);
}

/* Appends "vec.c:12" and the name of a function inlined there. */
static void put_place(const struct annotation *a, uint32_t frame,
		      struct buf *out)
{
	const struct profile *p = a->p;
	const struct prof_frame *f = &p->frames.v[frame];
	struct annot_unit u = { .kind = UNIT_FUNCTION, .func = f->func };
	struct buf name = { 0 }, safe = { 0 };

	text_safe(out, path_base(profile_cstr(p, f->file)));
	buf_printf(out, ":%u", f->line);
	if (f->outer != PROF_NONE) {
		annot_unit_name(a, &u, false, &name);
		text_safe(&safe, buf_cstr(&name));
		buf_str(out, " ");
		line_cut_symbol(out, buf_cstr(&safe), PLACE_MOST);
	}
	buf_close(&name, out);
	buf_close(&safe, out);
}

/* Returns the frame of an instruction if its line is known and is not that of
 * the row before; otherwise PROF_NONE. */
static uint32_t new_place(const struct listing *l, const struct listing_row *r)
{
	const struct annotation *a = l->spec.a[0];
	uint32_t frame;

	/* in a pair, side 0 may lack the instruction */
	if (listing_is_pair(l) || r->below)
		return PROF_NONE;
	frame = insn_of(l, r, 0)->frame;
	if (frame == PROF_NONE ||
	    !a->p->frames.v[frame].file || !a->p->frames.v[frame].line ||
	    (r > l->shown.v && r[-1].kind == LISTING_INSN &&
	     r[-1].code[0] == r->code[0] &&
	     insn_of(l, r - 1, 0)->frame == frame))
		return PROF_NONE;
	return frame;
}

static void put_insn(const struct listing *l, const struct listing_row *r,
		     int side, struct buf *out)
{
	const struct annotation *a = l->spec.a[side];
	const struct annot_insn *in = insn_of(l, r, side);
	struct buf name = { 0 }, safe = { 0 };
	uint32_t frame;

	text_safe(out, (const char *)a->text.p + in->text);
	annot_target_name(a, code_of(l, r, side), in, &name);
	if (name.n) {
		text_safe(&safe, buf_cstr(&name));
		buf_str(out, " <");
		text_cut(out, buf_cstr(&safe), TARGET_MOST);
		buf_u8(out, '>');
	}
	buf_close(&name, out);
	buf_close(&safe, out);
	frame = new_place(l, r);
	if (frame != PROF_NONE) {
		buf_str(out, "  ; ");
		put_place(a, frame, out);
	}
}

static void put_fold(const struct listing *l, const struct listing_row *r,
		     struct buf *out)
{
	bool code = r->below || l->groups.v[r->group].is_code;

	line_pad(out, r->below ? BELOW : code ? 0 : 5);
	buf_str(out, "\u22ee");
	if (r->hidden)
		buf_printf(out, " %u %s%s", r->hidden,
			   code ? "instruction" : "line",
			   r->hidden > 1 ? "s" : "");
}

void listing_text(const struct listing *l, const struct listing_row *r,
		  int side, struct buf *out)
{
	if (r->kind == LISTING_NOTE)
		buf_str(out, listing_note_text(l, r));
	else if (r->kind == LISTING_FOLD)
		put_fold(l, r, out);
	else if (r->at[side] == PROF_NONE)
		return;
	else if (r->kind == LISTING_LINE)
		put_source(l, r, side, out);
	else
		put_insn(l, r, side, out);
}

void annot_paid_by(const struct annotation *a, const struct annot_unit *u,
		   bool full, struct buf *out)
{
	if (u->kind != UNIT_FUNCTION || !u->ncopies ||
	    (u->ncopies == 1 && a->copies.v[u->copy].caller == PROF_NONE))
		return;
	for (size_t i = 0; i < u->ncopies && i < COPIES_SHOWN; i++) {
		uint32_t caller = a->copies.v[u->copy + i].caller;
		struct annot_unit in = { .kind = UNIT_FUNCTION, .func = caller };

		buf_printf(out, "%s%.2f%% ", i ? ", " : "paid by: ",
			   annot_percent(a, annot_costs(
				   a, a->copies.v[u->copy + i].cost)));
		if (caller == PROF_NONE) {
			buf_str(out, "not inlined");
		} else {
			buf_str(out, "inlined into ");
			annot_unit_name(a, &in, full, out);
		}
	}
	if (u->ncopies > COPIES_SHOWN)
		buf_printf(out, ", and %zu more", u->ncopies - COPIES_SHOWN);
}
