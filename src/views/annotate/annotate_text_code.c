// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes instructions as text, with arrows for jumps between them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "disasm/disasm.h"
#include "views/annotate/annotate_rows.h"
#include "views/query/framekey.h"
#include "views/query/lines.h"

static const struct annot_cost *cost_of(const struct annotation *a,
					const struct annot_code *c,
					uint32_t insn)
{
	return annot_costs(a, a->insn_cost.v[c->insn + insn]);
}

/* Appends the name of the address in an instruction. */
static void put_target(struct annotate_rows *r, const struct annot_code *c,
		       const struct annot_insn *in)
{
	const struct prof_symbol *s = &r->a->p->symbols.v[c->symbol];
	struct buf name = { 0 }, shown = { 0 };

	if (!in->has_target && !in->has_data)
		return;
	if (in->target - s->vaddr < s->size)
		buf_printf(&shown, "+0x%llx",
			   (unsigned long long)(in->target - s->vaddr));
	else if (annot_address_name(r->a, s->image, in->target, &name))
		text_safe(&shown, buf_cstr(&name));
	if (shown.n) {
		buf_str(&r->line, " <");
		text_cut(&r->line, buf_cstr(&shown), 60);
		buf_u8(&r->line, '>');
	}
	r->line.failed |= name.failed || shown.failed;
	buf_fini(&name);
	buf_fini(&shown);
}

void annotate_insn_words(struct annotate_rows *r, const struct annot_code *c,
			 const struct annot_insn *in)
{
	text_safe(&r->line, (const char *)r->a->text.p + in->text);
	put_target(r, c, in);
}

void annotate_text_insn(struct annotate_rows *r, const struct annot_code *c,
			uint32_t insn, const char *indent)
{
	const struct annot_insn *in = &r->a->insns.v[c->insn + insn];
	const struct annot_cost *cost = cost_of(r->a, c, insn);

	annotate_row(r, cost);
	buf_printf(&r->line, "%s%8llx  ", indent, (unsigned long long)in->vaddr);
	annotate_insn_words(r, c, in);
	annotate_row_end(r, cost);
}

/* Shape drawn in one lane at one instruction. */
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

	if (j->lane >= ANNOT_LANES)
		return;
	for (uint32_t i = lo + 1; i < hi; i++)
		rows[i][j->lane] = DRAW_DOWN | loop;
	rows[lo][j->lane] = DRAW_TOP | loop;
	rows[hi][j->lane] = (lo == hi ? DRAW_SELF : DRAW_BOTTOM) | loop;
	rows[j->to][j->lane] |= DRAW_ARROW;
}

jump_arrows *jump_arrows_draw(const struct annotation *a,
			      const struct annot_code *c)
{
	jump_arrows *rows = calloc(c->ninsns + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < c->njumps; i++)
		draw_jump(&a->jumps.v[c->jump + i], rows);
	return rows;
}

void jump_arrows_put(struct annotate_rows *r, const uint8_t *row, int width)
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
			buf_str(&r->line, set[row[i] & DRAW_KIND]);
		else
			buf_str(&r->line, i >= tail ? " "
				: loop ? "\u2501" : "\u2500");
	}
	if (width)
		buf_str(&r->line, arrow ? "> " : tail < 0 ? "  "
				  : loop ? "\u2501 " : "\u2500 ");
}

int jump_arrows_width(const struct annotation *a,
		      const struct annot_code *c)
{
	int width = 0;

	for (size_t i = 0; i < c->njumps; i++) {
		const struct annot_jump *j = &a->jumps.v[c->jump + i];

		if (j->lane < ANNOT_LANES && j->lane >= width)
			width = j->lane + 1;
	}
	return width;
}

void annotate_place(struct annotate_rows *r, uint32_t frame)
{
	const struct profile *p = r->a->p;
	const struct prof_frame *f = &p->frames.v[frame];
	struct annot_unit u = { .kind = UNIT_FUNCTION, .func = f->func };
	struct buf name = { 0 }, safe = { 0 };

	text_safe(&r->line, path_base(profile_cstr(p, f->file)));
	buf_printf(&r->line, ":%u", f->line);
	if (f->outer != PROF_NONE) {
		annot_unit_name(r->a, &u, false, &name);
		text_safe(&safe, buf_cstr(&name));
		buf_str(&r->line, " ");
		line_cut_symbol(&r->line, buf_cstr(&safe), 40);
	}
	r->line.failed |= name.failed || safe.failed;
	buf_fini(&name);
	buf_fini(&safe);
}

bool annotate_has_place(const struct annotation *a, uint32_t frame)
{
	return frame != PROF_NONE && a->p->frames.v[frame].file &&
	       a->p->frames.v[frame].line;
}

/* Selects the instructions to show: those with cost, and some around them. */
static uint8_t *choose_shown(const struct annotate_rows *r,
			     const struct annot_unit *u,
			     const struct annot_code *c)
{
	size_t n = c->ninsns, around = r->style->context;
	uint8_t *shown = calloc(n + 1, 1);

	for (size_t i = 0; shown && i < n; i++) {
		const struct annot_insn *in = &r->a->insns.v[c->insn + i];
		bool mine = u->kind == UNIT_CODE ||
			    annot_unit_frame(r->a, u, in->frame) != PROF_NONE;
		size_t k = i > around ? i - around : 0;

		if (r->style->all)
			shown[i] = 1;
		if (r->style->all || !mine ||
		    !annotate_has_cost(r->a, cost_of(r->a, c, (uint32_t)i)))
			continue;
		for (; k <= i + around && k < n; k++)
			shown[k] = 1;
	}
	return shown;
}

static void put_fold(struct annotate_rows *r, size_t n)
{
	annotate_row(r, NULL);
	buf_printf(&r->line, "\u22ee %zu instruction%s", n, n > 1 ? "s" : "");
	annotate_row_end(r, NULL);
}

static void put_insns(struct annotate_rows *r, const struct annot_code *c,
		      const uint8_t *shown, jump_arrows *drawn)
{
	int width = jump_arrows_width(r->a, c);
	uint32_t last = PROF_NONE;
	size_t folded = 0;

	for (uint32_t i = 0; i < c->ninsns; i++) {
		const struct annot_insn *in = &r->a->insns.v[c->insn + i];
		const struct annot_cost *cost = cost_of(r->a, c, i);

		if (!shown[i]) {
			folded++;
			last = PROF_NONE;
			continue;
		}
		if (folded)
			put_fold(r, folded);
		folded = 0;
		annotate_row(r, cost);
		jump_arrows_put(r, drawn[i], width);
		buf_printf(&r->line, "%8llx  ", (unsigned long long)in->vaddr);
		annotate_insn_words(r, c, in);
		if (in->frame != last && annotate_has_place(r->a, in->frame)) {
			buf_str(&r->line, "  ; ");
			annotate_place(r, in->frame);
		}
		last = in->frame;
		annotate_row_end(r, cost);
	}
	if (folded)
		put_fold(r, folded);
}

void annotate_text_code(struct annotate_rows *r, const struct annot_unit *u,
			const struct annot_code *c)
{
	const struct profile *p = r->a->p;
	const struct prof_symbol *s = &p->symbols.v[c->symbol];
	struct annot_unit code = { .kind = UNIT_CODE, .symbol = c->symbol,
				   .image = s->image };
	struct buf name = { 0 };
	jump_arrows *drawn = NULL;
	uint8_t *shown;

	annot_unit_name(r->a, &code, r->style->full_names, &name);
	annotate_comment(r, "code of %s in %s, 0x%llx, %llu bytes: %.2f%%",
			 buf_cstr(&name),
			 path_base(profile_cstr(p, p->images.v[s->image].path)),
			 (unsigned long long)s->vaddr,
			 (unsigned long long)s->size,
			 annotate_percent(r->a, annot_costs(r->a, c->total)));
	r->out->failed |= name.failed;
	buf_fini(&name);
	if (c->missing)
		annotate_comment(r, "no instructions: %s", c->missing);
	if (!c->ninsns)
		return;
	annotate_heads(r, "ADDRESS, INSTRUCTION");
	shown = choose_shown(r, u, c);
	drawn = jump_arrows_draw(r->a, c);
	if (shown && drawn)
		put_insns(r, c, shown, drawn);
	else
		r->out->failed = true;
	free(shown);
	free(drawn);
}
