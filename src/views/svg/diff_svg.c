// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a differential flame graph as one SVG file, without scripts or
 * external styles.
 *
 * The width of a frame is the mean of its cost on both sides.  So both new and
 * removed frames are visible, and children fit their parents.  Red frames grew
 * and blue frames shrank.  The colour deepens up to twice or half the cost, and
 * grey means within noise.  Red and blue are distinguishable with all common
 * kinds of colour blindness; titles contain the figures.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "views/svg/svg.h"
#include "views/svg/svg_draw.h"

enum {
	HEAD = 92,
	LEGEND = 5,		/* number of colours in the legend */
};
#define SIGNIFICANT_P 0.01

struct painter {
	const struct diff *d;
	const struct calltree *t;
	unsigned int width;
};

/* Returns -1 if gone or halved, 0 if unchanged, 1 if new or doubled. */
static double growth(const struct cost_change *c)
{
	double r;

	if (!(c->p <= SIGNIFICANT_P) || c->change == 0)
		return 0;
	if (!(c->cost[DIFF_OLD] > 0))
		return 1;
	r = log2(c->cost[DIFF_NEW] / c->cost[DIFF_OLD]);
	return r > 1 ? 1 : r >= -1 ? r : -1;
}

static void put_color(double t, struct buf *out)
{
	static const double red[] = { 214, 96, 77 }, blue[] = { 67, 147, 195 };
	const double *end = t > 0 ? red : blue;
	/* keeps small changes visible */
	double k = t != 0 ? 0.2 + 0.8 * fabs(t) : 0;
	int rgb[3];

	for (int i = 0; i < 3; i++)
		rgb[i] = (int)lround(228 + (end[i] - 228) * k);
	buf_printf(out, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255,
		   rgb[2] & 255);
}

static void describe(void *ctx, size_t node, struct svg_frame *f)
{
	static const char *const inlined[] = {
		"", " (inlined in the old one)", " (inlined in the new one)",
		" (inlined)" };
	const struct painter *w = ctx;
	const struct diff *d = w->d;
	const struct calltree_node *n = &w->t->nodes.v[node];
	struct buf *out = &f->detail;
	struct cost_change c;

	diff_change_of(d, 0, calltree_cell(w->t, node, DIFF_OLD, 0),
		       calltree_cell(w->t, node, DIFF_NEW, 0), &c);
	diff_tree_name(d, n->func, &f->name);
	put_color(growth(&c), &f->color);
	buf_str(out, inlined[n->inlined & 3]);
	buf_u8(out, '\n');
	if (n->func < CALLTREE_SPECIAL && d->keys.keys.v[n->func].image) {
		text_xml(out, profile_cstr(&d->names,
					   d->keys.keys.v[n->func].image));
		buf_u8(out, '\n');
	}
	put_cost_scaled(d, 0, c.cost[DIFF_OLD], false, out);
	buf_str(out, " -&gt; ");
	put_cost_scaled(d, 0, c.cost[DIFF_NEW], false, out);
	buf_str(out, ", ");
	put_cost_scaled(d, 0, c.change, true, out);
	if (!(c.cost[DIFF_OLD] > 0))
		buf_str(out, " (new)");
	else if (!(c.cost[DIFF_NEW] > 0))
		buf_str(out, " (gone)");
	else
		buf_printf(out, " (%+.1f%%)",
			   100 * c.change / c.cost[DIFF_OLD]);
	buf_str(out, "\n95%: ");
	put_cost_scaled(d, 0, c.low, true, out);
	buf_str(out, " to ");
	put_cost_scaled(d, 0, c.high, true, out);
	if (!(c.p <= SIGNIFICANT_P))
		buf_str(out, ", within noise");
}

static void put_legend(unsigned int y, struct buf *out)
{
	static const struct {
		double t;
		const char *words;
	} parts[LEGEND] = {
		{ -1, "gone or halved" }, { -0.2, "shrank" },
		{ 0, "within noise" }, { 0.2, "grew" },
		{ 1, "new or doubled" },
	};
	double x = SVG_MARGIN;

	for (int i = 0; i < LEGEND; i++) {
		buf_printf(out, "<rect x=\"%.1f\" y=\"%u\" width=\"12\" "
			   "height=\"12\" fill=\"", x, y - 10);
		put_color(parts[i].t, out);
		buf_printf(out, "\"/><text x=\"%.1f\" y=\"%u\">%s</text>\n",
			   x + 17, y, parts[i].words);
		x += 17 + SVG_CHAR_WIDTH * (double)strlen(parts[i].words) + 14;
	}
}

static void put_head(void *ctx, struct buf *out)
{
	const struct painter *w = ctx;
	const struct cost_change *t = &w->d->cols.v[0].total;
	struct buf title = { 0 }, line = { 0 };

	text_safe(&title, w->d->side[DIFF_OLD].path);
	buf_str(&title, " -> ");
	text_safe(&title, w->d->side[DIFF_NEW].path);
	svg_line(out, w->width, 22, SVG_TITLE, NULL, buf_cstr(&title));
	buf_printf(&line, "Normalised by %s (%s); ", diff_norm_name(w->d->norm),
		   w->d->why);
	text_safe(&line, diff_event_name(w->d, 0));
	if (w->d->norm != DIFF_NORM_TOTAL) {
		buf_str(&line, ": ");
		put_cost_scaled(w->d, 0, t->cost[DIFF_OLD], false, &line);
		buf_str(&line, " -> ");
		put_cost_scaled(w->d, 0, t->cost[DIFF_NEW], false, &line);
		buf_str(&line, w->d->norm == DIFF_NORM_RUN ? " per run"
							   : " per second");
	}
	svg_line(out, w->width, 42, SVG_TEXT, "#555", buf_cstr(&line));
	svg_line(out, w->width, 58, SVG_TEXT, "#555",
		 "The width of a frame is the mean of its cost on both sides.");
	put_legend(78, out);
	out->failed |= title.failed || line.failed;
	buf_fini(&title);
	buf_fini(&line);
}

int diff_svg(const struct diff *d, const struct diff_svg_style *style,
	     struct buf *out, struct error *err)
{
	struct calltree t;
	struct painter w = { .d = d, .t = &t, .width = style->width };
	struct svg_picture pic = {
		.t = &t, .width = style->width, .head = HEAD,
		.icicle = style->icicle, .ctx = &w, .put_head = put_head,
		.describe = describe
	};
	int rc = diff_tree(d, &t, err);

	if (!rc && !(calltree_cost(&t, 0, 0) > 0))
		rc = error_set(err, ERR_NOTFOUND, "no samples to draw a flame "
			       "graph of");
	if (!rc)
		rc = calltree_prune(&t, SVG_MIN_WIDTH /
				    (style->width - 2.0 * SVG_MARGIN), NULL,
				    err);
	if (!rc)
		rc = svg_draw(&pic, out, err);
	calltree_fini(&t);
	return rc;
}
