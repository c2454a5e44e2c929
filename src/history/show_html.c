// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a history as a page: one file, without scripts or external resources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "history/show.h"

enum { WIDE = 640, HIGH = 56, EDGE = 6 };

static const char head[] =
"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
"<meta name=\"viewport\" content=\"width=device-width\">\n"
"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
"style-src 'unsafe-inline'\">\n"
"<title>tally history</title>\n<style>\n"
":root{color-scheme:light dark;--bg:#fff;--fg:#1c1c1c;--dim:#666;--line:#d0d0d0;"
"--up:#b3261e;--down:#1b6e35;--curve:#2a5db0}\n"
"@media(prefers-color-scheme:dark){:root{--bg:#181818;--fg:#e6e6e6;--dim:#9a9a9a;"
"--line:#3a3a3a;--up:#ff8a80;--down:#7ddb95;--curve:#8ab4f8}}\n"
"body{background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif;"
"max-width:60rem;margin:1.5rem auto;padding:0 1rem}\n"
"h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}"
"h3{font-size:1rem;margin:1.2rem 0 .3rem}\n"
".dim{color:var(--dim)}.up{color:var(--up)}.down{color:var(--down)}\n"
"code,.f{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}\n"
"ul{margin:.2rem 0 .8rem;padding-left:1.3rem}\n"
"svg{display:block;width:100%;height:auto;border-bottom:1px solid var(--line)}\n"
".y{fill:none;stroke:var(--curve);stroke-width:1.5}.p{fill:var(--curve)}\n"
".c{stroke-width:1;stroke-dasharray:3 3}.c.up{stroke:var(--up)}"
".c.down{stroke:var(--down)}\n"
"figure{margin:0 0 1rem}figcaption{display:flex;gap:1rem;"
"justify-content:space-between}\n"
"</style></head><body>\n<h1>Cost of functions by commit</h1>\n";

static void put_func(const struct history *h, uint32_t func, struct buf *out)
{
	struct buf name = { 0 };

	show_func(h, func, &name);
	buf_str(out, "<span class=\"f\">");
	text_xml(out, buf_cstr(&name));
	buf_str(out, "</span>");
	buf_close(&name, out);
}

static double place_x(size_t i, size_t n)
{
	return EDGE + (double)(WIDE - 2 * EDGE) * (double)i /
		      (double)(n > 1 ? n - 1 : 1);
}

/* Writes a batch's point on a curve, with a description as a tooltip. */
static void put_point(const struct history_view *v, size_t i, double x,
		      double y, double cost, struct buf *out)
{
	const struct history *h = v->series.h;
	const struct batch *b = &h->batches.v[v->series.batch[i]];
	struct buf text = { 0 };

	buf_bytes(&text, history_str(h, b->commit),
		  strnlen(history_str(h, b->commit), 12));
	buf_printf(out, "<circle class=\"p\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\">"
		   "<title>", x, y);
	text_xml(out, buf_cstr(&text));
	buf_printf(out, ": %.3f</title></circle>", cost);
	buf_fini(&text);
}

/* Writes the curve of a series, relative to its first batch. */
static void put_curve(const struct history_view *v, const double *y, size_t func,
		      struct buf *out)
{
	size_t n = v->series.n;
	double low = y[0], high = y[0];

	for (size_t i = 1; i < n; i++) {
		low = y[i] < low ? y[i] : low;
		high = y[i] > high ? y[i] : high;
	}
	/* less than 5 % must not look like a large change */
	if (high - low < 0.05) {
		double middle = (low + high) / 2;

		low = middle - 0.025;
		high = middle + 0.025;
	}
	buf_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">", WIDE, HIGH);
	for (size_t i = 0; i < v->changes.v.n; i++) {
		const struct change *c = &v->changes.v.v[i];
		double x = place_x(c->at, n);

		if (c->func == func)
			buf_printf(out, "<line class=\"c %s\" x1=\"%.1f\" "
				   "x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>",
				   c->ratio > 1 ? "up" : "down", x, x, HIGH);
	}
	buf_str(out, "<polyline class=\"y\" points=\"");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%.1f,%.1f ", place_x(i, n), HIGH - EDGE -
			   (HIGH - 2 * EDGE) * (y[i] - low) / (high - low));
	buf_str(out, "\"/>");
	for (size_t i = 0; i < n; i++)
		put_point(v, i, place_x(i, n), HIGH - EDGE -
			  (HIGH - 2 * EDGE) * (y[i] - low) / (high - low),
			  exp(y[i] - y[0]), out);
	buf_printf(out, "</svg><figcaption class=\"dim\"><span>lowest %.3f, "
		   "highest %.3f times the first</span>",
		   exp(low - y[0]), exp(high - y[0]));
}

static void put_change(const struct history_view *v, const struct change *c,
		       struct buf *out)
{
	struct buf why = { 0 };

	buf_printf(out, "<li><b class=\"%s\">", c->ratio > 1 ? "up" : "down");
	if (c->kind == CHANGE_COST)
		buf_printf(out, "%+.1f%%</b> ", 100 * (c->ratio - 1));
	else
		buf_str(out, c->kind == CHANGE_NEW ? "new</b> " : "gone</b> ");
	if (c->func == SERIES_TOTAL)
		buf_str(out, "the whole run");
	else
		put_func(v->series.h, v->series.funcs.v[c->func].func, out);
	buf_str(out, " <span class=\"dim\">(");
	if (c->kind == CHANGE_COST)
		buf_printf(out, "95%%: %+.1f%% to %+.1f%%)", 100 * (c->low - 1),
			   100 * (c->high - 1));
	else
		buf_printf(out, "%.1f%% of the program)", 100 * fabs(c->impact));
	show_evidence(v, c, &why);
	if (why.n) {
		buf_str(out, "<br>");
		text_xml(out, buf_cstr(&why));
	}
	buf_str(out, "</span></li>\n");
	buf_fini(&why);
}

/* Writes a link to a comparison of the recordings before and after a change, or the
 * command that makes one. */
static void put_compare(const struct history_report *r, const struct history_view *v,
			const struct change_group *g, struct buf *out)
{
	struct buf text = { 0 };
	size_t from, to;

	show_sides(v, g, &from, &to);
	if (r->compare && r->compare(r->page_ctx, from, to, &text)) {
		buf_str(out, "<p><a href=\"");
		text_xml(out, buf_cstr(&text));
		buf_str(out, "\">Compare the recordings before and after it</a></p>\n");
	} else {
		show_command(r, from, to, &text);
		if (text.n) {
			buf_str(out, "<p class=\"dim\">Compare: <code>");
			text_xml(out, buf_cstr(&text));
			buf_str(out, "</code></p>\n");
		}
	}
	buf_fini(&text);
}

static void put_groups(const struct history_report *r,
		       const struct history_view *v, struct buf *out)
{
	if (!v->changes.groups.n)
		buf_str(out, "<p>No significant change of 3% or more.</p>\n");
	for (size_t i = 0; i < v->changes.groups.n; i++) {
		const struct change_group *g = &v->changes.groups.v[i];
		struct buf text = { 0 };

		show_when(r, v, g, &text);
		buf_str(out, "<h3>");
		text_xml(out, buf_cstr(&text));
		buf_str(out, "</h3><ul>\n");
		for (size_t k = 0; k < g->n; k++)
			put_change(v, &v->changes.v.v[g->first + k], out);
		buf_str(out, "</ul>\n");
		put_compare(r, v, g, out);
		buf_fini(&text);
	}
}

static void put_view(const struct history_report *r,
		     const struct history_view *v, size_t top, struct buf *out)
{
	const struct cost_series *s = &v->series;
	size_t *order = series_by_share(s);
	struct buf text = { 0 };

	if (!order) {
		out->failed = true;
		return;
	}
	buf_str(out, "<section><h2>");
	text_xml(out, history_str(r->h, v->class->benchmark));
	show_class(r->h, v->class, &text);
	buf_str(out, "</h2><p class=\"dim\">");
	text_xml(out, buf_cstr(&text));
	buf_printf(out, "; %zu batch%s</p>\n", s->n, plural(s->n, "es"));
	put_groups(r, v, out);
	buf_str(out, "<figure>the whole run");
	put_curve(v, s->total, SERIES_TOTAL, out);
	buf_str(out, "</figcaption></figure>\n");
	for (size_t k = 0; k < s->funcs.n && k < top; k++) {
		buf_str(out, "<figure>");
		put_func(r->h, s->funcs.v[order[k]].func, out);
		put_curve(v, series_y(s, order[k]), order[k], out);
		buf_printf(out, "<span>%.1f%% of the time, noise %.1f%%"
			   "</span></figcaption></figure>\n",
			   100 * s->funcs.v[order[k]].share,
			   100 * s->funcs.v[order[k]].noise.typical);
	}
	buf_str(out, "</section>\n");
	buf_fini(&text);
	free(order);
}

void history_html(const struct history_report *r, size_t top, struct buf *out)
{
	buf_str(out, head);
	buf_str(out, "<p class=\"dim\">Function costs are relative to "
		"unchanged functions, so a slower machine does not affect "
		"them. A dashed line marks a change.</p>\n");
	if (r->aside)
		buf_printf(out, "<p class=\"dim\">Batches of commits on other "
			   "branches, which are not analysed: %zu.</p>\n", r->aside);
	for (size_t i = 0; i < r->views.n; i++)
		put_view(r, &r->views.v[i], top, out);
	buf_str(out, "</body></html>\n");
}
