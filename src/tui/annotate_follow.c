// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows a line or an instruction to what it calls. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/annotate_page.h"

enum { TARGETS_MAX = 100 };

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
	uint32_t to = ap->a->insns.v[c->insn + row->at[0]].jump;

	if (to == PROF_NONE)
		return false;
	for (size_t i = 0; i < ap->list.shown.n; i++) {
		const struct listing_row *r = &ap->list.shown.v[i];

		if (r->kind != LISTING_INSN || r->code[0] != row->code[0] ||
		    r->at[0] != to)
			continue;
		if (vec_push(&ap->back, ap->pg.cursor) < 0)
			tui_notice(ap->pg.t, "out of memory");
		page_go(&ap->pg, i);
		return true;
	}
	tui_notice(ap->pg.t, "the target of this jump is hidden: o shows "
			"everything");
	return true;
}

void annotate_page_follow(struct annotate_page *ap)
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
