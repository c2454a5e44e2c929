// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes an annotation as text. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/annotate/annotate_rows.h"
#include "views/query/framekey.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

enum {
	LINE_BYTES = 1000,	/* bytes of a source line */
	TAB = 8,
	COPIES_SHOWN = 5,
	CODES_SHOWN = 3,	/* number of codes of a unit */
};

void annotate_source_words(struct annotate_rows *r, struct span s)
{
	struct buf copy = { 0 };
	size_t n = s.n < LINE_BYTES ? s.n : LINE_BYTES, column = 0;

	for (size_t i = 0; i < n && s.p[i]; i++) {
		if (s.p[i] == '\r' && i + 1 == s.n)
			break;
		if (s.p[i] != '\t') {
			buf_u8(&copy, s.p[i]);
			column++;
			continue;
		}
		line_pad(&copy, TAB - column % TAB);
		column += TAB - column % TAB;
	}
	text_safe(&r->line, buf_cstr(&copy));
	if (s.n > LINE_BYTES)
		buf_str(&r->line, "\u2026");
	r->line.failed |= copy.failed;
	buf_fini(&copy);
}

struct unit_text {
	struct annotate_rows *r;
	const struct annot_unit *u;
	const struct source_file *f;
	struct annot_places places;
};

static size_t codes_shown(const struct annot_unit *u)
{
	return u->ncodes < CODES_SHOWN ? u->ncodes : CODES_SHOWN;
}

static void put_places(struct unit_text *t, uint32_t file, uint32_t line)
{
	uint32_t code = PROF_NONE, insn = 0;
	size_t n;
	const struct annot_place *p = annotate_places_at(&t->places, file, line,
							 &n);

	for (; n--; p++) {
		if (p->code == code && p->insn != insn + 1) {
			annotate_row(t->r, NULL);
			buf_str(&t->r->line, "          \u22ee");
			annotate_row_end(t->r, NULL);
		}
		annotate_text_insn(t->r, &t->r->a->codes.v[t->u->code + p->code],
				   p->insn, "          ");
		code = p->code;
		insn = p->insn;
	}
}

static void put_line(struct unit_text *t, uint32_t file, uint32_t line,
		     const struct annot_cost *cost)
{
	struct annotate_rows *r = t->r;
	struct span text;

	annotate_row(r, cost);
	if (line)
		buf_printf(&r->line, "%6u  ", line);
	else
		buf_str(&r->line, "     -  (code without a line)");
	if (line && source_line(&r->a->sources, t->f, line, &text))
		annotate_source_words(r, text);
	annotate_row_end(r, cost);
	if (r->style->code && !r->style->automatic)
		put_places(t, file, line);
}

static const struct annot_cost *line_cost(const struct annotation *a, size_t i)
{
	return annot_costs(a, a->line_cost.v[i]);
}

/* Returns the last line to show in one block with the i-th line, which has
 * cost. */
static uint32_t range_end(const struct unit_text *t, size_t *i, size_t end)
{
	const struct annotation *a = t->r->a;
	uint32_t around = t->r->style->context;
	uint64_t last = (uint64_t)a->lines.v[*i].line + around;

	for ((*i)++; *i < end; (*i)++) {
		uint32_t next = a->lines.v[*i].line;

		if (!annotate_has_cost(a, line_cost(a, *i)) &&
		    !t->r->style->all)
			continue;
		if (next > last + around + 2)
			break;
		last = (uint64_t)next + around;
	}
	return last < UINT32_MAX ? (uint32_t)last : UINT32_MAX;
}

static void put_fold(struct unit_text *t)
{
	annotate_row(t->r, NULL);
	buf_str(&t->r->line, "     \u22ee");
	annotate_row_end(t->r, NULL);
}

/* Writes lines [from, to] of the file.  Their costs are in [first, end) of the
 * unit's. */
static void put_range(struct unit_text *t, size_t first, size_t end,
		      uint32_t from, uint32_t to)
{
	const struct annotation *a = t->r->a;
	uint32_t file = a->lines.v[first].file;
	size_t i = first;
	struct span text;

	for (uint32_t l = from; l <= to && l < UINT32_MAX; l++) {
		while (i < end && a->lines.v[i].line < l)
			i++;
		if (i < end && a->lines.v[i].line == l)
			put_line(t, file, l, line_cost(a, i));
		else if (source_line(&a->sources, t->f, l, &text))
			put_line(t, file, l, NULL);
	}
}

/* Returns the line where the function is declared; 0 if it is not in this
 * file. */
static uint32_t head_line(const struct unit_text *t, uint32_t file)
{
	const struct prof_func *f;

	if (t->u->kind != UNIT_FUNCTION)
		return 0;
	f = &t->r->a->p->funcs.v[t->u->func];
	return f->file == file ? f->line : 0;
}

static void put_group(struct unit_text *t, size_t first, size_t end)
{
	const struct annotation *a = t->r->a;
	uint32_t file = a->lines.v[first].file, shown = 0;
	uint32_t head = head_line(t, file), around = t->r->style->context;
	size_t i = first;

	if (a->lines.v[i].line == 0) {
		if (annotate_has_cost(a, line_cost(a, i)))
			put_line(t, file, 0, line_cost(a, i));
		i++;
	}
	while (i < end) {
		uint32_t from, to;

		if (!t->r->style->all &&
		    !annotate_has_cost(a, line_cost(a, i))) {
			i++;
			continue;
		}
		from = a->lines.v[i].line;
		from = from > around ? from - around : 1;
		if (from <= shown)
			from = shown + 1;
		to = range_end(t, &i, end);
		if (head && !shown && head < from) {
			put_range(t, first, end, head, head);
			shown = head;
		}
		if (shown && from > shown + 1)
			put_fold(t);
		put_range(t, first, end, from, to);
		shown = to;
	}
}

static void put_file(struct unit_text *t, size_t first, size_t end)
{
	const struct annot_line *l = &t->r->a->lines.v[first];
	const char *path = profile_cstr(t->r->a->p, l->file);
	struct buf origin = { 0 };

	t->f = sources_get(&t->r->a->sources, l->file, l->image);
	if (!t->f) {
		t->r->out->failed = true;
		return;
	}
	source_origin(&t->r->a->sources, t->f, &origin);
	if (l->file)
		annotate_comment(t->r, origin.n ? "%s (%s)" : "%s", path,
				 buf_cstr(&origin));
	t->r->out->failed |= origin.failed;
	buf_fini(&origin);
	if (t->f->place == SOURCE_NONE && t->f->path &&
	    strcmp(t->f->path, path))
		annotate_comment(t->r, "  looked for at %s", t->f->path);
	if (l->file && t->f->place == SOURCE_NONE)
		annotate_comment(t->r, "  no source: %s (--source-map FROM=TO, "
				 "--repo DIR, or record with --embed-source)%s",
				 t->f->why, t->r->style->code &&
				 !t->r->style->automatic ? "" :
				 "; --asm shows its instructions");
	if (t->f->newer)
		annotate_comment(t->r, "  warning: the source is newer than "
				 "the program: lines may differ");
	put_group(t, first, end);
}

static void put_lines(struct unit_text *t)
{
	const struct annotation *a = t->r->a;
	size_t first = t->u->line, last = first + t->u->nlines, end;

	if (t->r->style->code && !t->r->style->automatic &&
	    annotate_places_find(&t->places, a, t->u, codes_shown(t->u)) < 0)
		t->r->out->failed = true;
	annotate_heads(t->r, "  LINE  SOURCE");
	for (; first < last; first = end) {
		for (end = first + 1; end < last &&
		     a->lines.v[end].file == a->lines.v[first].file; end++)
			;
		if (t->r->style->all || annotate_lines_have_cost(a, first, end))
			put_file(t, first, end);
	}
	vec_fini(&t->places.v);
}

static void put_copies(struct annotate_rows *r, const struct annot_unit *u)
{
	const struct annotation *a = r->a;
	struct buf text = { 0 };
	size_t i, others = 0;

	for (i = 0; i < u->ncopies; i++) {
		const struct annot_copy *c = &a->copies.v[u->copy + i];
		const struct annot_cost *cost =
			annot_costs(a, a->copy_cost.v[u->copy + i]);
		struct annot_unit caller = { .kind = UNIT_FUNCTION,
					     .func = c->caller };

		if (i >= COPIES_SHOWN) {
			others++;
			continue;
		}
		buf_printf(&text, "%s%.2f%% ", i ? ", " : "",
			   annotate_percent(a, cost));
		if (c->caller == PROF_NONE)
			buf_str(&text, "as a function of its own");
		else
			buf_str(&text, "inlined into ");
		if (c->caller != PROF_NONE)
			annot_unit_name(a, &caller, r->style->full_names,
					&text);
	}
	if (others)
		buf_printf(&text, ", and %zu more", others);
	if (u->kind == UNIT_FUNCTION &&
	    (u->ncopies > 1 || (u->ncopies && a->copies.v[u->copy].caller !=
						      PROF_NONE)))
		annotate_comment(r, "paid by: %s", buf_cstr(&text));
	r->out->failed |= text.failed;
	buf_fini(&text);
}

static void put_unit_head(struct annotate_rows *r, const struct annot_unit *u)
{
	const struct annotation *a = r->a;
	const struct annot_cost *cost = annot_costs(a, u->total);
	struct buf text = { 0 };

	annot_unit_name(a, u, r->style->full_names, &text);
	if (u->kind != UNIT_FILE) {
		buf_str(&text, " in ");
		buf_str(&text, path_base(profile_cstr(
				a->p, a->p->images.v[u->image].path)));
	}
	for (size_t c = 0; c < a->ncols; c++) {
		struct cell all = annot_all(a, c), sum = annot_sum(&cost[c]);
		struct interval sure = interval_of(annot_event(a, c), sum, all);

		buf_str(&text, c ? "; " : ": ");
		if (a->ncols > 1)
			buf_printf(&text, "%s ", profile_cstr(a->p,
				   a->p->events.v[a->agg.cols.v[c]].name));
		buf_printf(&text, "%.2f%% (%.2f-%.2f), ",
			   line_share(sum.weight ? sum.weight : sum.count,
				      sum.weight ? all.weight : all.count),
			   100 * sure.lo, 100 * sure.hi);
		text_count(&text, sum.count);
		buf_str(&text, " samples");
		cell_add(&sum, cost[c].called);
		if (cost[c].called.count)
			buf_printf(&text, ", %.2f%% with what it called",
				   line_share(sum.weight ? sum.weight : sum.count,
					      sum.weight ? all.weight
							 : all.count));
	}
	buf_u8(r->out, '\n');
	annotate_comment(r, "%s", buf_cstr(&text));
	r->out->failed |= text.failed;
	buf_fini(&text);
	put_copies(r, u);
}

static void put_codes(struct annotate_rows *r, const struct annot_unit *u)
{
	for (size_t i = 0; i < codes_shown(u); i++)
		annotate_text_code(r, u, &r->a->codes.v[u->code + i]);
	if (u->ncodes > CODES_SHOWN)
		annotate_comment(r, "inlined into %zu more functions: name one "
				 "to see its code",
				 u->ncodes - CODES_SHOWN);
}

static void put_unit(struct annotate_rows *r, const struct annot_unit *u)
{
	struct unit_text t = { .r = r, .u = u };
	bool lines = annot_unit_has_lines(r->a, u);

	put_unit_head(r, u);
	r->inlined = true;
	r->calls = r->a->has_calls;
	if (lines && r->style->source) {
		put_lines(&t);
		return;
	}
	if (r->style->source && !lines)
		annotate_comment(r, "no lines are known: %s",
				 r->style->code ? "its instructions instead"
				 : "--asm shows its instructions");
	r->inlined = r->calls = false;
	if (r->style->code)
		put_codes(r, u);
}

static void put_notes(struct annotate_rows *r)
{
	const struct annotation *a = r->a;

	annotate_comment(r, "percentages are relative to all samples; 95%% CI: "
			 "binomial (Wilson); ~: not significantly different "
			 "from a line without samples%s", !a->has_calls ? "" :
			 "; CALLS: spent in what the line called");
	if (!r->style->code)
		return;
	for (size_t c = 0; c < a->ncols; c++) {
		const struct prof_event *e =
			&a->p->events.v[a->agg.cols.v[c]];

		annotate_comment(r, "%s: %s", profile_cstr(a->p, e->actual),
				 annot_skid(e));
	}
}

void annotate_text(struct annotation *a, const struct annotate_style *style,
		   struct buf *out)
{
	struct annotate_rows r = { .a = a, .style = style, .out = out };

	if (!style->no_header) {
		quality_text(&a->quality, style->columns, out);
		put_notes(&r);
	}
	for (size_t i = 0; i < a->units.n; i++)
		put_unit(&r, &a->units.v[i]);
	if (!a->units.n)
		annotate_comment(&r, "%s", !a->quality.got
				 ? "the recording contains no samples"
				 : !a->quality.shown
				 ? "no sample passes the filters"
				 : "no function reaches the limit");
	if (a->hidden && !style->no_header && !a->spec.what)
		annotate_comment(&r, "%zu cheaper functions are not shown "
				 "(--top 0 --percent-limit 0 shows all)",
				 a->hidden);
	out->failed |= r.line.failed || r.tmp.failed;
	buf_fini(&r.line);
	buf_fini(&r.tmp);
}
