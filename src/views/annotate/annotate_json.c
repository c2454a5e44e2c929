// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes an annotation as JSON, schema 1:
 *
 *	{"schema":1,"header":{…},"units":[{"kind","name","symbol","image",
 *	 "cost":[…],"paid_by":[{"caller","cost":[…]}],
 *	 "files":[{"file","found","newer","lines":[
 *	   {"line","source","noise","cost":[…]}]}],
 *	 "codes":[{"symbol","image","vaddr","size","missing","cost":[…],
 *	   "instructions":[{"vaddr","size","text","flow","target","name","jump",
 *	     "file","line","inlined","cost":[…]}]}]}]}
 *
 * "cost" has a member for each event with cost: {"event","self","inlined",
 * "called"}.  "called" is the cost of calls; only lines and units have it.  Each
 * is {"samples","weight","percent"}.  "self" also has {"low","high"}, the 95 %
 * confidence interval of its share.  A member is absent if it is zero, unknown
 * or false.
 */
#include "base/json.h"
#include "disasm/disasm.h"
#include "views/annotate/listing.h"
#include "views/query/interval.h"

enum { LINE_BYTES = 1000 };

struct annotate_writer {
	struct annotation *a;
	const struct annotate_style *style;
	struct json j;
	struct buf tmp;
};

static void put_cell(struct annotate_writer *w, const char *key, size_t col,
		     struct cell c)
{
	struct cell all = annot_all(w->a, col);
	struct interval i = interval_of(annot_event(w->a, col), c, all);

	if (!c.count)
		return;
	json_object(&w->j, key);
	json_uint(&w->j, "samples", c.count);
	json_uint(&w->j, "weight", c.weight);
	json_fixed(&w->j, "percent", annot_share(w->a, col, c), 4);
	json_fixed(&w->j, "low", 100 * i.lo, 4);
	json_fixed(&w->j, "high", 100 * i.hi, 4);
	json_end(&w->j);
}

static void put_cost(struct annotate_writer *w, const struct annot_cost *cost)
{
	const struct profile *p = w->a->p;

	if (!annot_has_cost(w->a, cost))
		return;
	if (annot_is_noise(w->a, cost))
		json_bool(&w->j, "noise", true);
	json_array(&w->j, "cost");
	for (size_t c = 0; c < w->a->ncols; c++) {
		if (!annot_sum(&cost[c]).count && !cost[c].called.count)
			continue;
		json_object(&w->j, NULL);
		json_str(&w->j, "event", profile_cstr(
				p, p->events.v[w->a->agg.cols.v[c]].name));
		put_cell(w, "self", c, cost[c].self);
		put_cell(w, "inlined", c, cost[c].inlined);
		put_cell(w, "called", c, cost[c].called);
		json_end(&w->j);
	}
	json_end(&w->j);
}

static const char *unit_name(struct annotate_writer *w,
			     const struct annot_unit *u)
{
	buf_reset(&w->tmp);
	annot_unit_name(w->a, u, true, &w->tmp);
	return buf_cstr(&w->tmp);
}

static void put_copies(struct annotate_writer *w, const struct annot_unit *u)
{
	json_array(&w->j, "paid_by");
	for (size_t i = u->copy; i < u->copy + u->ncopies; i++) {
		struct annot_unit caller = {
			.kind = UNIT_FUNCTION,
			.func = w->a->copies.v[i].caller };

		json_object(&w->j, NULL);
		if (caller.func != PROF_NONE)
			json_str(&w->j, "caller", unit_name(w, &caller));
		put_cost(w, annot_costs(w->a, w->a->copies.v[i].cost));
		json_end(&w->j);
	}
	json_end(&w->j);
}

/* Writes the lines of a file that have code. */
static void put_file(struct annotate_writer *w, const struct listing *l,
		     const struct listing_group *g)
{
	struct annotation *a = w->a;
	const struct source_file *f = g->source[0];

	json_object(&w->j, NULL);
	json_str(&w->j, "file", profile_cstr(a->p, g->file[0]));
	json_str(&w->j, "found", source_place_word(f));
	if (f->origin)
		json_str(&w->j, "origin", f->origin);
	if (f->newer)
		json_bool(&w->j, "newer", true);
	json_array(&w->j, "lines");
	for (size_t i = g->row; i < g->row + g->nrows; i++) {
		const struct listing_row *r = &l->rows.v[i];

		if (r->cost[0] == SIZE_MAX)
			continue;
		json_object(&w->j, NULL);
		json_uint(&w->j, "line", r->at[0]);
		buf_reset(&w->tmp);
		if (source_text(&a->sources, f, r->at[0], LINE_BYTES, &w->tmp))
			json_str(&w->j, "source", buf_cstr(&w->tmp));
		put_cost(w, listing_cost(l, r, 0));
		json_end(&w->j);
	}
	json_end(&w->j);
	json_end(&w->j);
}

static void put_files(struct annotate_writer *w, const struct annot_unit *u)
{
	struct listing_spec spec = { .a = { w->a }, .u = { u }, .all = true };
	struct listing l;

	listing_init(&l, &spec);
	json_array(&w->j, "files");
	if (listing_add_files(&l) < 0)
		w->tmp.failed = true;
	for (size_t i = 0; !w->tmp.failed && i < l.groups.n; i++)
		put_file(w, &l, &l.groups.v[i]);
	json_end(&w->j);
	listing_fini(&l);
}

static void put_frame(struct annotate_writer *w, uint32_t frame)
{
	const struct profile *p = w->a->p;
	const struct prof_frame *f;
	struct annot_unit u = { .kind = UNIT_FUNCTION };

	if (frame == PROF_NONE)
		return;
	f = &p->frames.v[frame];
	u.func = f->func;
	json_str(&w->j, "file", profile_cstr(p, f->file));
	json_uint(&w->j, "line", f->line);
	if (f->outer != PROF_NONE)
		json_str(&w->j, "inlined", unit_name(w, &u));
}

static void put_insn(struct annotate_writer *w, const struct annot_code *c,
		     uint32_t i)
{
	static const char *const flows[] = { "next", "jump", "branch", "call",
					     "return", "trap" };
	const struct annotation *a = w->a;
	const struct annot_insn *in = &a->insns.v[c->insn + i];

	json_object(&w->j, NULL);
	json_hex(&w->j, "vaddr", in->vaddr);
	json_uint(&w->j, "size", in->size);
	json_str(&w->j, "text", (const char *)a->text.p + in->text);
	if (in->flow && in->flow <= FLOW_TRAP)
		json_str(&w->j, "flow", flows[in->flow]);
	if (in->has_target || in->has_data) {
		json_hex(&w->j, "target", in->target);
		buf_reset(&w->tmp);
		if (annot_address_name(a, a->p->symbols.v[c->symbol].image,
				       in->target, &w->tmp))
			json_str(&w->j, "name", buf_cstr(&w->tmp));
	}
	if (in->jump != PROF_NONE)
		json_uint(&w->j, "jump", in->jump);
	put_frame(w, in->frame);
	put_cost(w, annot_costs(a, a->insns.v[c->insn + i].cost));
	json_end(&w->j);
}

static void put_codes(struct annotate_writer *w, const struct annot_unit *u)
{
	const struct annotation *a = w->a;
	const struct profile *p = a->p;

	json_array(&w->j, "codes");
	for (size_t i = u->code; i < u->code + u->ncodes; i++) {
		const struct annot_code *c = &a->codes.v[i];
		const struct prof_symbol *s = &p->symbols.v[c->symbol];
		struct annot_unit code = { .kind = UNIT_CODE,
					   .symbol = c->symbol,
					   .image = s->image };

		json_object(&w->j, NULL);
		json_str(&w->j, "symbol", unit_name(w, &code));
		json_str(&w->j, "image",
			 profile_cstr(p, p->images.v[s->image].path));
		json_hex(&w->j, "vaddr", s->vaddr);
		json_uint(&w->j, "size", s->size);
		if (c->missing)
			json_str(&w->j, "missing", c->missing);
		put_cost(w, annot_costs(a, c->total));
		json_array_lines(&w->j, "instructions");
		for (uint32_t k = 0; k < c->ninsns; k++)
			put_insn(w, c, k);
		json_end(&w->j);
		json_end(&w->j);
	}
	json_end(&w->j);
}

static void put_unit(struct annotate_writer *w, const struct annot_unit *u)
{
	static const char *const kinds[] = { "function", "file", "code" };
	const struct profile *p = w->a->p;

	json_object(&w->j, NULL);
	json_str(&w->j, "kind", kinds[u->kind]);
	json_str(&w->j, "name", unit_name(w, u));
	if (u->kind == UNIT_FUNCTION) {
		const struct prof_func *f = &p->funcs.v[u->func];

		json_str(&w->j, "symbol", profile_cstr(p, f->name));
		json_str(&w->j, "file", profile_cstr(p, f->file));
		json_uint(&w->j, "line", f->line);
	}
	if (u->kind != UNIT_FILE)
		json_str(&w->j, "image",
			 profile_cstr(p, p->images.v[u->image].path));
	put_cost(w, annot_costs(w->a, u->total));
	put_copies(w, u);
	if (w->style->source)
		put_files(w, u);
	if (w->style->code)
		put_codes(w, u);
	json_end(&w->j);
}

void annotate_json(struct annotation *a, const struct annotate_style *style,
		   struct buf *out)
{
	struct annotate_writer w = { .a = a, .style = style,
				     .j = json_on(out) };

	json_object(&w.j, NULL);
	json_uint(&w.j, "schema", 1);
	json_object(&w.j, "header");
	quality_json(&a->quality, &w.j);
	json_array(&w.j, "precision");
	for (size_t c = 0; c < a->ncols; c++) {
		const struct prof_event *e =
			&a->p->events.v[a->agg.cols.v[c]];

		json_object(&w.j, NULL);
		json_str(&w.j, "event", profile_cstr(a->p, e->name));
		json_str(&w.j, "says", annot_skid(e));
		json_end(&w.j);
	}
	json_end(&w.j);
	json_uint(&w.j, "hidden_units", a->hidden);
	json_end(&w.j);
	json_array_lines(&w.j, "units");
	for (size_t i = 0; i < a->units.n; i++)
		put_unit(&w, &a->units.v[i]);
	json_end(&w.j);
	json_end(&w.j);
	buf_u8(out, '\n');
	out->failed |= w.tmp.failed;
	buf_fini(&w.tmp);
}
