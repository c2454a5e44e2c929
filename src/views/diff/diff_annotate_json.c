// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes two annotations side by side as JSON, schema 1:
 *
 *	{"schema":1,"header":{…as of a diff…},
 *	 "units":[{"name","image","cost":[…],
 *	   "files":[{"old":{"file","found","newer"},"new":{…},
 *	     "lines":[{"how","old":{"line","source"},"new":{…},"cost":[…]}]}],
 *	   "codes":[{"old":{"symbol","vaddr","missing"},"new":{…},
 *	     "instructions":[{"how","old":{"offset","text"},"new":{…},
 *	       "cost":[…]}]}]}]}
 *
 * "how" is same, changed, old or new.  "cost" has a member for each event with
 * cost: {"event","old":{"samples","cost"},"new":{…},"change","low","high",
 * "beyond_noise"}.  A side without the file, code or line is absent.
 */
#include "base/json.h"
#include "views/diff/diff_annotate.h"
#include "views/diff/diff_internal.h"

static const char *const side_names[] = { "old", "new" };

enum { LINE_BYTES = 4000 };

struct aligned_writer {
	struct diff_annotation *x;
	struct json j;
	struct buf tmp;
};

static void put_cost(struct aligned_writer *w, const size_t *rows,
		     const struct cost_change *c)
{
	const struct diff *d = w->x->d;
	struct json *j = &w->j;

	json_array(j, "cost");
	for (size_t k = 0; k < d->cols.n; k++) {
		struct cell x[DIFF_SIDES];

		for (int s = 0; s < DIFF_SIDES; s++)
			x[s] = diff_part_cell(w->x, s, rows[s], k);
		if (!x[0].count && !x[1].count)
			continue;
		json_object(j, NULL);
		json_str(j, "event", diff_event_name(d, k));
		for (int s = 0; s < DIFF_SIDES; s++) {
			json_object(j, side_names[s]);
			json_uint(j, "samples", x[s].count);
			json_fixed(j, "cost", c[k].cost[s], 4);
			json_end(j);
		}
		json_fixed(j, "change", c[k].change, 4);
		json_fixed(j, "low", c[k].low, 4);
		json_fixed(j, "high", c[k].high, 4);
		json_bool(j, "beyond_noise", c[k].real);
		json_end(j);
	}
	json_end(j);
}

static const char *how_name(uint8_t how)
{
	static const char *const names[] = { "same", "changed", "old", "new" };

	return names[how & 3];
}

/* Writes one side of a line or an instruction. */
static void put_side(struct aligned_writer *w, const struct listing *l,
		     const struct listing_row *r, int s)
{
	const struct listing_group *g = &l->groups.v[r->group];
	const struct annotation *a = l->spec.a[s];
	const struct annot_code *code = g->is_code ? &a->codes.v[r->code[s]]
						   : NULL;
	const struct annot_insn *in = code ? &a->insns.v[code->insn + r->at[s]]
					   : NULL;
	struct buf name = { 0 };

	buf_again(&w->tmp);
	if (!in) {
		json_uint(&w->j, "line", r->at[s]);
		if (source_text(&a->sources, g->source[s], r->at[s],
				LINE_BYTES, &w->tmp))
			json_str(&w->j, "source", buf_cstr(&w->tmp));
		return;
	}
	json_hex(&w->j, "offset",
		 in->vaddr - a->p->symbols.v[code->symbol].vaddr);
	buf_str(&w->tmp, (const char *)a->text.p + in->text);
	annot_target_name(a, code, in, &name);
	if (name.n)
		buf_printf(&w->tmp, " <%s>", buf_cstr(&name));
	buf_close(&name, &w->tmp);
	json_str(&w->j, "text", buf_cstr(&w->tmp));
}

static void put_rows(struct aligned_writer *w, const struct diff_unit *u,
		     const struct listing_group *g)
{
	json_array_lines(&w->j, g->is_code ? "instructions" : "lines");
	for (size_t i = g->shown; i < g->shown + g->nshown; i++) {
		const struct listing_row *r = &u->list.shown.v[i];

		if (r->kind == LISTING_NOTE)
			continue;
		json_object(&w->j, NULL);
		json_str(&w->j, "how", how_name(r->how));
		for (int s = 0; s < DIFF_SIDES; s++) {
			if (r->at[s] == PROF_NONE)
				continue;
			json_object(&w->j, side_names[s]);
			put_side(w, &u->list, r, s);
			json_end(&w->j);
		}
		put_cost(w, r->cost, diff_row_changes(w->x, u, r));
		json_end(&w->j);
	}
	json_end(&w->j);
}

static void put_file(struct aligned_writer *w, const struct listing_group *g,
		     int s)
{
	if (!g->source[s])
		return;
	json_object(&w->j, side_names[s]);
	json_str(&w->j, "file", profile_cstr(w->x->d->side[s].p, g->file[s]));
	json_bool(&w->j, "found", g->source[s]->place != SOURCE_NONE);
	json_str(&w->j, "from", source_place_word(g->source[s]));
	if (g->source[s]->newer)
		json_bool(&w->j, "newer", true);
	json_end(&w->j);
}

static void put_code(struct aligned_writer *w, const struct listing_group *g,
		     int s)
{
	const struct annotation *a = w->x->a[s];
	const struct annot_code *code;
	const struct prof_symbol *sym;

	if (g->code[s] == SIZE_MAX)
		return;
	code = &a->codes.v[g->code[s]];
	sym = &a->p->symbols.v[code->symbol];
	json_object(&w->j, side_names[s]);
	json_str(&w->j, "symbol", profile_cstr(a->p, sym->name));
	json_hex(&w->j, "vaddr", sym->vaddr);
	if (code->missing)
		json_str(&w->j, "missing", code->missing);
	json_end(&w->j);
}

/* Writes the files of a unit, or its codes. */
static void put_groups(struct aligned_writer *w, const struct diff_unit *u,
		       bool code, bool shown)
{
	json_array(&w->j, code ? "codes" : "files");
	for (size_t i = 0; shown && i < u->list.groups.n; i++) {
		const struct listing_group *g = &u->list.groups.v[i];

		if (g->is_code != code)
			continue;
		json_object(&w->j, NULL);
		for (int s = 0; s < DIFF_SIDES; s++)
			(code ? put_code : put_file)(w, g, s);
		put_rows(w, u, g);
		json_end(&w->j);
	}
	json_end(&w->j);
}

static void put_unit(struct aligned_writer *w, struct diff_unit *u,
		     const struct annotate_style *style)
{
	const struct diff_annotation *x = w->x;
	struct cost_change c[REPORT_COLUMNS_MAX];
	size_t rows[DIFF_SIDES];
	int side = u->unit[DIFF_NEW] != SIZE_MAX ? DIFF_NEW : DIFF_OLD;
	const struct annotation *a = x->a[side];
	const struct annot_unit *au = &a->units.v[u->unit[side]];

	for (int s = 0; s < DIFF_SIDES; s++)
		rows[s] = u->unit[s] == SIZE_MAX
			? SIZE_MAX : x->a[s]->units.v[u->unit[s]].total;
	for (size_t k = 0; k < x->d->cols.n; k++)
		diff_change_of(x->d, k, diff_part_cell(x, 0, rows[0], k),
			       diff_part_cell(x, 1, rows[1], k), &c[k]);
	json_object(&w->j, NULL);
	buf_again(&w->tmp);
	diff_unit_name(x, u, true, &w->tmp);
	json_str(&w->j, "name", buf_cstr(&w->tmp));
	if (au->kind != UNIT_FILE)
		json_str(&w->j, "image", profile_cstr(
			a->p, a->p->images.v[au->image].path));
	put_cost(w, rows, c);
	/* lines between the first and the last one that have code */
	if (listing_fold(&u->list, 0, true) < 0)
		w->tmp.failed = true;
	put_groups(w, u, false, style->source);
	put_groups(w, u, true, style->code);
	json_end(&w->j);
}

void diff_annotate_json(struct diff_annotation *x,
			const struct annotate_style *style,
			struct buf *out)
{
	struct aligned_writer w = { .x = x, .j = json_on(out) };

	json_object(&w.j, NULL);
	json_uint(&w.j, "schema", 1);
	diff_json_header(x->d, &w.j);
	json_array_lines(&w.j, "units");
	for (size_t i = 0; i < x->units.n; i++)
		put_unit(&w, &x->units.v[i], style);
	json_end(&w.j);
	json_end(&w.j);
	buf_u8(out, '\n');
	out->failed |= w.tmp.failed;
	buf_fini(&w.tmp);
}
