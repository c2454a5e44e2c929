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

struct aligned_writer {
	struct diff_annotation *x;
	struct json j;
	struct buf tmp;
};

static void put_cost(struct aligned_writer *w, const size_t *rows,
		     const struct diff_change *c)
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

static void begin_part(struct aligned_writer *w, const struct diff_part *p)
{
	json_object(&w->j, NULL);
	json_str(&w->j, "how", how_name(p->how));
}

static void end_part(struct aligned_writer *w, size_t part)
{
	const struct diff_part *p = &w->x->parts.v[part];

	put_cost(w, p->cost, &w->x->changes[part * w->x->d->cols.n]);
	json_end(&w->j);
}

static void put_line(struct aligned_writer *w, const struct diff_file *f,
		     size_t part)
{
	const struct diff_part *p = &w->x->parts.v[part];

	begin_part(w, p);
	for (int s = 0; s < DIFF_SIDES; s++) {
		if (p->at[s] == PROF_NONE)
			continue;
		json_object(&w->j, side_names[s]);
		json_uint(&w->j, "line", p->at[s]);
		buf_again(&w->tmp);
		if (diff_line_text(w->x, f, s, p->at[s], &w->tmp))
			json_str(&w->j, "source", buf_cstr(&w->tmp));
		json_end(&w->j);
	}
	end_part(w, part);
}

/* Writes the lines that have code, and those between them. */
static void put_file(struct aligned_writer *w, const struct diff_file *f)
{
	const struct diff_part *v = w->x->parts.v;
	size_t first = SIZE_MAX, last = 0;

	json_object(&w->j, NULL);
	for (int s = 0; s < DIFF_SIDES; s++) {
		if (!f->source[s])
			continue;
		json_object(&w->j, side_names[s]);
		json_str(&w->j, "file", profile_cstr(w->x->d->side[s].p,
						     f->file[s]));
		json_bool(&w->j, "found", f->source[s]->place != SOURCE_NONE);
		json_str(&w->j, "from", source_place_word(f->source[s]));
		if (f->source[s]->newer)
			json_bool(&w->j, "newer", true);
		json_end(&w->j);
	}
	for (size_t i = f->part; i < f->part + f->nparts; i++)
		if (v[i].cost[0] != SIZE_MAX || v[i].cost[1] != SIZE_MAX) {
			first = first == SIZE_MAX ? i : first;
			last = i;
		}
	json_array_lines(&w->j, "lines");
	for (size_t i = first; first != SIZE_MAX && i <= last; i++)
		put_line(w, f, i);
	json_end(&w->j);
	json_end(&w->j);
}

static void put_insn(struct aligned_writer *w, const struct diff_code *c,
		     size_t part)
{
	const struct diff_part *p = &w->x->parts.v[part];

	begin_part(w, p);
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct annotation *a = w->x->a[s];
		const struct annot_code *code;

		if (p->at[s] == PROF_NONE)
			continue;
		code = &a->codes.v[c->code[s]];
		json_object(&w->j, side_names[s]);
		json_hex(&w->j, "offset",
			 a->insns.v[code->insn + p->at[s]].vaddr -
			 a->p->symbols.v[code->symbol].vaddr);
		buf_again(&w->tmp);
		diff_insn_text(w->x, c, s, p->at[s], &w->tmp);
		json_str(&w->j, "text", buf_cstr(&w->tmp));
		json_end(&w->j);
	}
	end_part(w, part);
}

static void put_code(struct aligned_writer *w, const struct diff_code *c)
{
	json_object(&w->j, NULL);
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct annotation *a = w->x->a[s];
		const struct annot_code *code;
		const struct prof_symbol *sym;

		if (c->code[s] == SIZE_MAX)
			continue;
		code = &a->codes.v[c->code[s]];
		sym = &a->p->symbols.v[code->symbol];
		json_object(&w->j, side_names[s]);
		json_str(&w->j, "symbol", profile_cstr(a->p, sym->name));
		json_hex(&w->j, "vaddr", sym->vaddr);
		if (code->missing)
			json_str(&w->j, "missing", code->missing);
		json_end(&w->j);
	}
	json_array_lines(&w->j, "instructions");
	for (size_t i = c->part; i < c->part + c->nparts; i++)
		put_insn(w, c, i);
	json_end(&w->j);
	json_end(&w->j);
}

static void put_unit(struct aligned_writer *w, const struct diff_unit *u,
		     const struct diff_annotate_style *style)
{
	const struct diff_annotation *x = w->x;
	struct diff_change c[REPORT_COLUMNS_MAX];
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
	json_array(&w->j, "files");
	for (size_t i = u->file; style->source && i < u->file + u->nfiles; i++)
		put_file(w, &x->files.v[i]);
	json_end(&w->j);
	json_array(&w->j, "codes");
	for (size_t i = u->code; style->code && i < u->code + u->ncodes; i++)
		put_code(w, &x->codes.v[i]);
	json_end(&w->j);
	json_end(&w->j);
}

void diff_annotate_json(struct diff_annotation *x,
			const struct diff_annotate_style *style,
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
