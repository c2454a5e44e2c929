// SPDX-License-Identifier: GPL-2.0-or-later
/* Text rows with costs, for annotations. */
#include "views/annotate/annotate_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "views/query/interval.h"
#include "views/query/lines.h"

#define DIM "\033[2m"
#define BOLD "\033[1m"
#define HOT "\033[31m"
#define OFF "\033[0m"

enum {
	SELF_WIDTH = 8,
	SURE_WIDTH = 12,
	INLINED_WIDTH = 9,
	CALLS_WIDTH = 8,
	COUNT_WIDTH = 10,
};

static double percent(const struct annotation *a, size_t col, struct cell c)
{
	struct cell all = annot_all(a, col);

	if (all.weight)
		return 100.0 * (double)c.weight / (double)all.weight;
	return all.count ? 100.0 * (double)c.count / (double)all.count : 0;
}

double annotate_percent(const struct annotation *a,
			const struct annot_cost *cost)
{
	return a->ncols ? percent(a, 0, annot_sum(cost)) : 0;
}

bool annotate_has_cost(const struct annotation *a,
		       const struct annot_cost *cost)
{
	for (size_t c = 0; c < a->ncols; c++)
		if (cost[c].self.count || cost[c].inlined.count ||
		    cost[c].called.count)
			return true;
	return false;
}

bool annotate_lines_have_cost(const struct annotation *a, size_t first,
			      size_t end)
{
	for (size_t i = first; i < end; i++)
		if (annotate_has_cost(a, annot_costs(a, a->line_cost.v[i])))
			return true;
	return false;
}

/* Returns whether no event distinguishes this row from a row without
 * samples. */
static bool is_noise(const struct annotation *a, const struct annot_cost *cost)
{
	for (size_t c = 0; c < a->ncols; c++) {
		struct cell sum = annot_sum(&cost[c]);

		cell_add(&sum, cost[c].called);
		if (!interval_hides(annot_event(a, c), sum, annot_all(a, c)))
			return false;
	}
	return true;
}

static void put_percent(struct annotate_rows *r, size_t col, struct cell c,
			int width)
{
	if (c.count)
		buf_printf(&r->line, "%*.2f%%", width - 1,
			   percent(r->a, col, c));
	else
		line_pad(&r->line, (size_t)width);
}

static void put_cell(struct annotate_rows *r, size_t col,
		     const struct annot_cost *c)
{
	struct interval sure = interval_of(annot_event(r->a, col), c->self,
					   annot_all(r->a, col));

	if (c->self.count) {
		buf_printf(&r->line, "%*.2f%% %5.2f-%-5.2f", SELF_WIDTH - 1,
			   percent(r->a, col, c->self), 100 * sure.lo,
			   100 * sure.hi);
	} else {
		line_pad(&r->line, SELF_WIDTH + SURE_WIDTH);
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

static size_t numbers_width(const struct annotate_rows *r)
{
	return SELF_WIDTH + SURE_WIDTH + (r->inlined ? INLINED_WIDTH : 0) +
	       (r->calls ? CALLS_WIDTH : 0) +
	       (r->style->samples ? COUNT_WIDTH : 0);
}

void annotate_row(struct annotate_rows *r, const struct annot_cost *cost)
{
	buf_again(&r->line);
	if (!cost || !annotate_has_cost(r->a, cost)) {
		line_pad(&r->line, 1 + numbers_width(r) * r->a->ncols + 2);
		return;
	}
	buf_u8(&r->line, is_noise(r->a, cost) ? '~' : ' ');
	for (size_t c = 0; c < r->a->ncols; c++)
		put_cell(r, c, &cost[c]);
	line_pad(&r->line, 2);
}

void annotate_row_end(struct annotate_rows *r, const struct annot_cost *cost)
{
	bool any = cost && annotate_has_cost(r->a, cost);
	const char *color = !any ? "" : is_noise(r->a, cost) ? DIM
			    : annotate_percent(r->a, cost) >= 1 ? HOT : "";
	size_t n;

	while (r->line.n && r->line.p[r->line.n - 1] == ' ')
		r->line.n--;
	if (r->style->color)
		buf_str(r->out, color);
	n = r->style->columns > 0 ? (size_t)r->style->columns : SIZE_MAX;
	text_cut(r->out, buf_cstr(&r->line), n);
	if (r->style->color && *color)
		buf_str(r->out, OFF);
	buf_u8(r->out, '\n');
	r->out->failed |= r->line.failed;
}

static void put_event_names(struct annotate_rows *r)
{
	for (size_t c = 0; c < r->a->ncols; c++) {
		const struct prof_event *e =
			&r->a->p->events.v[r->a->agg.cols.v[c]];
		size_t width = numbers_width(r), n;

		buf_again(&r->tmp);
		text_safe(&r->tmp, profile_cstr(r->a->p, e->name));
		n = text_columns(buf_cstr(&r->tmp));
		line_pad(&r->line, n < width - 1 ? 1 : 1);
		text_cut(&r->line, buf_cstr(&r->tmp), width - 1);
		line_pad(&r->line, n < width - 1 ? width - 1 - n : 0);
	}
}

void annotate_heads(struct annotate_rows *r, const char *what)
{
	buf_again(&r->line);
	if (r->a->ncols > 1) {
		buf_u8(&r->line, ' ');
		put_event_names(r);
		annotate_row_end(r, NULL);
		buf_again(&r->line);
	}
	buf_u8(&r->line, ' ');
	for (size_t c = 0; c < r->a->ncols; c++) {
		buf_printf(&r->line, "%*s %-*s", SELF_WIDTH, "SELF",
			   SURE_WIDTH - 1, "95% CI");
		if (r->inlined)
			buf_printf(&r->line, "%*s", INLINED_WIDTH, "INLINED");
		if (r->calls)
			buf_printf(&r->line, "%*s", CALLS_WIDTH, "CALLS");
		if (r->style->samples)
			buf_printf(&r->line, "%*s", COUNT_WIDTH, "SAMPLES");
	}
	buf_printf(&r->line, "  %s", what);
	if (r->style->color)
		buf_str(r->out, BOLD);
	annotate_row_end(r, NULL);
	if (r->style->color)
		buf_str(r->out, OFF);
}

void annotate_comment(struct annotate_rows *r, const char *fmt, ...)
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
