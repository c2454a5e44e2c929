// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes an annotation of one side as text:
 *
 *	    SELF 95% CI       INLINED   CALLS    LINE  SOURCE
 *	  63.73% 56.74-70.18                       18          for (i = 0; i < n; i++) {
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "views/annotate/listing.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

enum {
	SELF_WIDTH = 8,
	INTERVAL_WIDTH = 12,
	INLINED_WIDTH = 9,
	CALLS_WIDTH = 8,
	COUNT_WIDTH = 10,
	CODES_SHOWN = 3,	/* number of codes of a unit */
};

struct writer {
	struct annotation *a;
	const struct annotate_style *style;
	struct buf *out;
	struct name_set names;	/* of units */
	bool inlined;		/* there is a column of inlined cost */
	bool calls;		/* there is a column of the cost of calls */
	struct buf line;	/* the current row, cut when it ends */
	struct buf tmp;
};

static void comment(struct writer *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a line that begins with "# ". */
static void comment(struct writer *r, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_again(&r->tmp);
	text_safe(&r->tmp, text);
	line_comment(r->out, buf_cstr(&r->tmp), r->style->columns);
}

static void put_percent(struct writer *r, size_t col, struct cell c,
			int width)
{
	if (c.count)
		buf_printf(&r->line, "%*.2f%%", width - 1,
			   annot_share(r->a, col, c));
	else
		line_pad(&r->line, (size_t)width);
}

static void put_cell(struct writer *r, size_t col,
		     const struct annot_cost *c)
{
	struct interval ci = interval_of(annot_event(r->a, col), c->self,
					 annot_all(r->a, col));

	if (c->self.count) {
		buf_printf(&r->line, "%*.2f%% %5.2f-%-5.2f", SELF_WIDTH - 1,
			   annot_share(r->a, col, c->self), 100 * ci.lo,
			   100 * ci.hi);
	} else {
		line_pad(&r->line, SELF_WIDTH + INTERVAL_WIDTH);
	}
	if (r->inlined)
		put_percent(r, col, c->inlined, INLINED_WIDTH);
	if (r->calls)
		put_percent(r, col, c->called, CALLS_WIDTH);
	if (r->style->samples && annot_sum(c).count)
		buf_printf(&r->line, "%*llu", COUNT_WIDTH,
			   (unsigned long long)annot_sum(c).count);
	else if (r->style->samples)
		line_pad(&r->line, COUNT_WIDTH);
}

static size_t numbers_width(const struct writer *r)
{
	return SELF_WIDTH + INTERVAL_WIDTH + (r->inlined ? INLINED_WIDTH : 0) +
	       (r->calls ? CALLS_WIDTH : 0) +
	       (r->style->samples ? COUNT_WIDTH : 0);
}

/* Begins a row with a cost, or blanks if it is NULL or 0. */
static void begin_row(struct writer *r, const struct annot_cost *cost)
{
	buf_again(&r->line);
	if (!cost || !annot_has_cost(r->a, cost)) {
		line_pad(&r->line, 1 + numbers_width(r) * r->a->ncols + 2);
		return;
	}
	buf_u8(&r->line, annot_is_noise(r->a, cost) ? '~' : ' ');
	for (size_t c = 0; c < r->a->ncols; c++)
		put_cell(r, c, &cost[c]);
	line_pad(&r->line, 2);
}

/* Ends a row: cuts it to the width and dims it if its cost is noise. */
static void end_row(struct writer *r, const struct annot_cost *cost)
{
	const char *color = !cost || !annot_has_cost(r->a, cost) ? ""
			    : annot_is_noise(r->a, cost) ? LINE_DIM
			    : annot_percent(r->a, cost) >= 1 ? LINE_RED : "";
	size_t n;

	while (r->line.n && r->line.p[r->line.n - 1] == ' ')
		r->line.n--;
	if (r->style->color)
		buf_str(r->out, color);
	n = r->style->columns > 0 ? (size_t)r->style->columns : SIZE_MAX;
	text_cut(r->out, buf_cstr(&r->line), n);
	if (r->style->color && *color)
		buf_str(r->out, LINE_OFF);
	buf_u8(r->out, '\n');
	r->out->failed |= r->line.failed;
}

static void put_event_names(struct writer *r)
{
	for (size_t c = 0; c < r->a->ncols; c++) {
		const struct prof_event *e =
			&r->a->p->events.v[r->a->agg.cols.v[c]];
		size_t width = numbers_width(r), n;

		buf_again(&r->tmp);
		text_safe(&r->tmp, profile_cstr(r->a->p, e->name));
		n = text_columns(buf_cstr(&r->tmp));
		buf_u8(&r->line, ' ');
		text_cut(&r->line, buf_cstr(&r->tmp), width - 1);
		line_pad(&r->line, n < width - 1 ? width - 1 - n : 0);
	}
}

static void put_heads(struct writer *r, const char *what)
{
	buf_again(&r->line);
	if (r->a->ncols > 1) {
		buf_u8(&r->line, ' ');
		put_event_names(r);
		end_row(r, NULL);
		buf_again(&r->line);
	}
	buf_u8(&r->line, ' ');
	for (size_t c = 0; c < r->a->ncols; c++) {
		buf_printf(&r->line, "%*s %-*s", SELF_WIDTH, "SELF",
			   INTERVAL_WIDTH - 1, "95% CI");
		if (r->inlined)
			buf_printf(&r->line, "%*s", INLINED_WIDTH, "INLINED");
		if (r->calls)
			buf_printf(&r->line, "%*s", CALLS_WIDTH, "CALLS");
		if (r->style->samples)
			buf_printf(&r->line, "%*s", COUNT_WIDTH, "SAMPLES");
	}
	buf_printf(&r->line, "  %s", what);
	if (r->style->color)
		buf_str(r->out, LINE_BOLD);
	end_row(r, NULL);
	if (r->style->color)
		buf_str(r->out, LINE_OFF);
}

static void put_row(struct writer *r, const struct listing *l,
		    const struct listing_row *row)
{
	const struct annot_cost *cost = listing_cost(l, row, 0);

	if (row->kind == LISTING_NOTE) {
		line_comment(r->out, listing_note_text(l, row),
			     r->style->columns);
		return;
	}
	begin_row(r, cost);
	listing_number(l, row, 0, &r->line);
	listing_text(l, row, 0, &r->line);
	end_row(r, cost);
}

static void put_rows(struct writer *r, const struct listing *l)
{
	uint32_t headed = PROF_NONE;	/* group below the last heads */

	for (size_t i = 0; i < l->shown.n; i++) {
		const struct listing_row *row = &l->shown.v[i];
		bool code = row->group != PROF_NONE &&
			    l->groups.v[row->group].is_code;

		/* all files have one head, each code has its own */
		if (row->group != PROF_NONE && row->group != headed &&
		    row->kind != LISTING_NOTE) {
			if (code || headed == PROF_NONE)
				put_heads(r, code ? "ADDRESS, INSTRUCTION"
						  : "  LINE  SOURCE");
			headed = row->group;
		}
		put_row(r, l, row);
	}
}

static void put_unit_head(struct writer *r, const struct annot_unit *u)
{
	const struct annotation *a = r->a;
	const struct annot_cost *cost = annot_costs(a, u->total);
	struct buf text = { 0 };

	buf_str(&text, buf_cstr(&r->names.brief[u - a->units.v]));
	if (u->kind != UNIT_FILE) {
		buf_str(&text, " in ");
		buf_str(&text, path_base(profile_cstr(
				a->p, a->p->images.v[u->image].path)));
	}
	for (size_t c = 0; c < a->ncols; c++) {
		struct cell all = annot_all(a, c), sum = annot_sum(&cost[c]);
		struct interval ci = interval_of(annot_event(a, c), sum, all);

		buf_str(&text, c ? "; " : ": ");
		if (a->ncols > 1)
			buf_printf(&text, "%s ", profile_cstr(a->p,
				   a->p->events.v[a->agg.cols.v[c]].name));
		buf_printf(&text, "%.2f%% (%.2f-%.2f), ",
			   annot_share(a, c, sum),
			   100 * ci.lo, 100 * ci.hi);
		text_count(&text, sum.count);
		buf_str(&text, sum.count == 1 ? " sample" : " samples");
		cell_add(&sum, cost[c].called);
		if (cost[c].called.count)
			buf_printf(&text, ", %.2f%% including callees",
				   annot_share(a, c, sum));
	}
	buf_u8(r->out, '\n');
	comment(r, "%s", buf_cstr(&text));
	buf_again(&text);
	annot_paid_by(a, u, r->style->full_names, &text);
	if (text.n)
		comment(r, "%s", buf_cstr(&text));
	buf_close(&text, r->out);
}

static void put_unit(struct writer *r, const struct annot_unit *u)
{
	const struct annotate_style *s = r->style;
	bool lines = s->source && annot_unit_has_lines(r->a, u);
	bool both = s->code && !s->automatic;
	struct listing_spec spec = {
		.a = { r->a }, .u = { u }, .codes = CODES_SHOWN, .below = both,
		.all = s->all, .full_names = s->full_names,
		.advice = both ? NULL : "; --asm shows its instructions",
	};
	struct listing l;
	int rc = 0;

	put_unit_head(r, u);
	if (s->source && !lines)
		comment(r, "no lines are known: %s",
			s->code ? "its instructions instead"
				: "--asm shows its instructions");
	r->inlined = lines;
	r->calls = lines && r->a->has_calls;
	listing_init(&l, &spec);
	if (lines)
		rc = listing_add_files(&l);
	else if (s->code)
		rc = listing_add_codes(&l);
	if (!rc)
		rc = listing_fold(&l, s->context, s->all);
	if (!rc)
		put_rows(r, &l);
	r->out->failed |= rc < 0;
	listing_fini(&l);
}

static void put_notes(struct writer *r)
{
	const struct annotation *a = r->a;

	comment(r, "percentages are relative to all samples; 95%% CI: "
			 "binomial (Wilson); ~: not significantly different "
			 "from a line without samples%s", !a->has_calls ? "" :
			 "; CALLS: spent in what the line called");
	if (!r->style->code)
		return;
	for (size_t c = 0; c < a->ncols; c++) {
		const struct prof_event *e =
			&a->p->events.v[a->agg.cols.v[c]];

		comment(r, "%s: %s", profile_cstr(a->p, e->actual),
				 annot_skid(e));
	}
}

void annotate_text(struct annotation *a, const struct annotate_style *style,
		   struct buf *out)
{
	struct writer r = { .a = a, .style = style, .out = out };

	if (!style->no_header) {
		quality_text(&a->quality, style->columns, out);
		put_notes(&r);
	}
	annot_unit_names(a, style->full_names, &r.names);
	for (size_t i = 0; i < r.names.n; i++)
		put_unit(&r, &a->units.v[i]);
	out->failed |= name_set_fini(&r.names);
	if (!a->units.n)
		comment(&r, "%s", !a->quality.got
				 ? "the recording contains no samples"
				 : !a->quality.shown
				 ? "no sample passes the filters"
				 : "no function reaches the limit");
	if (a->hidden && !style->no_header && !a->spec.what)
		comment(&r, "%zu cheaper functions are not shown "
				 "(--top 0 --percent-limit 0 shows all)",
				 a->hidden);
	out->failed |= r.line.failed || r.tmp.failed;
	buf_fini(&r.line);
	buf_fini(&r.tmp);
}
