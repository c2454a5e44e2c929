// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A differential flame graph as one SVG file: no scripts, no styles from outside.
 *
 * A frame is as wide as the mean of what it cost on both sides, so that what is
 * new and what is gone can both be seen, and children fit their parents.  Red
 * grew and blue shrank, the deeper the more, up to twice or half; grey changed
 * within noise.  Red and blue are told apart by all common kinds of colour
 * blindness; titles say the figures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/diff/diff_internal.h"
#include "views/tree/flame.h"
#include "views/svg/svg.h"
#include "views/svg/svg_frame.h"

enum {
	HEAD = 92,
	LEGEND = 5,		/* colours explained */
};
#define SURE_P 0.01

struct diff_drawer {
	const struct flame_diff *f;
	const struct diff *d;
	const struct diff_svg_style *style;
	struct buf *out;
	struct svg_names names;
	double all;		/* width of the root, as `amount` */
	double *left, *used;	/* by node */
	uint32_t *depth;
	uint32_t deepest;
};

static double amount(const struct diff_drawer *w, size_t node)
{
	const struct flame_diff *f = w->f;

	return diff_cost(w->d, DIFF_OLD, 0, f->total[0][node * f->ncols]) +
	       diff_cost(w->d, DIFF_NEW, 0, f->total[1][node * f->ncols]);
}

static double pixels(const struct diff_drawer *w, double part)
{
	return w->all > 0 ? (w->style->width - 2.0 * SVG_MARGIN) *
				    (part < w->all ? part : w->all) / w->all
			  : 0;
}

/* -1: gone or halved, 0: the same, 1: new or doubled. */
static double growth(const struct diff_change *c)
{
	double r;

	if (!(c->p <= SURE_P) || c->change == 0)
		return 0;
	if (!(c->cost[DIFF_OLD] > 0))
		return 1;
	r = log2(c->cost[DIFF_NEW] / c->cost[DIFF_OLD]);
	return r > 1 ? 1 : r >= -1 ? r : -1;
}

static void put_color(double t, bool noise, struct buf *out)
{
	static const double red[] = { 214, 96, 77 }, blue[] = { 67, 147, 195 };
	const double *end = t > 0 ? red : blue;
	/* what grew a little is still seen to have grown */
	double k = t != 0 ? 0.2 + 0.8 * fabs(t) : 0;
	int rgb[3];

	for (int i = 0; i < 3; i++)
		rgb[i] = (int)lround(228 + (end[i] - 228) * k);
	if (noise)
		rgb[0] = rgb[1] = rgb[2] = 228;
	buf_printf(out, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255,
		   rgb[2] & 255);
}

static void put_cost(struct diff_drawer *w, double cost, bool sign)
{
	put_cost_scaled(w->d, 0, cost, sign, w->out);
}

static void put_title(struct diff_drawer *w, size_t i,
		      const struct diff_change *c)
{
	const struct flame_diff_node *n = &w->f->nodes.v[i];
	static const char *const inlined[] = {
		"", " (inlined in the old one)", " (inlined in the new one)",
		" (inlined)" };

	buf_str(w->out, "<title>");
	text_xml(w->out, buf_cstr(&w->names.full));
	buf_str(w->out, inlined[n->inlined & 3]);
	buf_u8(w->out, '\n');
	if (n->key < FLAME_SPECIAL && w->d->keys.keys.v[n->key].image) {
		text_xml(w->out, profile_cstr(
			&w->d->names, w->d->keys.keys.v[n->key].image));
		buf_u8(w->out, '\n');
	}
	put_cost(w, c->cost[DIFF_OLD], false);
	buf_str(w->out, " -&gt; ");
	put_cost(w, c->cost[DIFF_NEW], false);
	buf_str(w->out, ", ");
	put_cost(w, c->change, true);
	if (!(c->cost[DIFF_OLD] > 0))
		buf_str(w->out, " (new)");
	else if (!(c->cost[DIFF_NEW] > 0))
		buf_str(w->out, " (gone)");
	else
		buf_printf(w->out, " (%+.1f%%)",
			   100 * c->change / c->cost[DIFF_OLD]);
	buf_str(w->out, "\n95%: ");
	put_cost(w, c->low, true);
	buf_str(w->out, " to ");
	put_cost(w, c->high, true);
	if (!(c->p <= SURE_P))
		buf_str(w->out, ", within noise");
	buf_str(w->out, "</title>");
}

static void put_frame(struct diff_drawer *w, size_t i, double wide)
{
	unsigned int row = w->style->icicle ? w->depth[i]
					    : w->deepest - w->depth[i];
	unsigned int y = HEAD + row * SVG_ROW;
	double x = SVG_MARGIN + pixels(w, w->left[i]);
	struct diff_change c;

	flame_diff_sure(w->f, i, 0, &c);
	svg_names_reset(&w->names);
	flame_diff_name(w->f, i, &w->names.name);
	svg_names_make(&w->names);
	svg_frame_begin(w->out, x, y, wide);
	put_color(growth(&c), growth(&c) == 0, w->out);
	buf_str(w->out, "\"/>");
	put_title(w, i, &c);
	svg_frame_end(w->out, &w->names, w->f->nodes.v[i].inlined, x, y, wide);
}

static int place(struct diff_drawer *w)
{
	size_t n = w->f->nodes.n;

	w->left = calloc(n + 1, sizeof(*w->left));
	w->used = calloc(n + 1, sizeof(*w->used));
	w->depth = calloc(n + 1, sizeof(*w->depth));
	if (!w->left || !w->used || !w->depth)
		return -ERR_NOMEM;
	for (size_t i = 1; i < n; i++) {
		uint32_t up = w->f->nodes.v[i].parent;

		w->depth[i] = w->depth[up] + 1;
		w->left[i] = w->left[up] + w->used[up];
		w->used[up] += amount(w, i);
		if (w->depth[i] > w->deepest &&
		    pixels(w, amount(w, i)) >= SVG_LEAST_WIDTH)
			w->deepest = w->depth[i];
	}
	return 0;
}

static void put_legend(struct diff_drawer *w, unsigned int y)
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
		buf_printf(w->out, "<rect x=\"%.1f\" y=\"%u\" width=\"12\" "
			   "height=\"12\" fill=\"", x, y - 10);
		put_color(parts[i].t, parts[i].t == 0, w->out);
		buf_printf(w->out, "\"/><text x=\"%.1f\" y=\"%u\">%s</text>\n",
			   x + 17, y, parts[i].words);
		x += 17 + SVG_CHAR_WIDTH * (double)strlen(parts[i].words) + 14;
	}
}

static void put_line(struct diff_drawer *w, unsigned int y, const char *style,
		     const char *text)
{
	struct buf cut = { 0 };

	text_cut(&cut, text, (size_t)((w->style->width - 2 * SVG_MARGIN) /
				      SVG_CHAR_WIDTH));
	buf_printf(w->out, "<text x=\"%d\" y=\"%u\" %s>", SVG_MARGIN, y, style);
	text_xml(w->out, buf_cstr(&cut));
	buf_str(w->out, "</text>\n");
	w->out->failed |= cut.failed;
	buf_fini(&cut);
}

static void put_head(struct diff_drawer *w)
{
	const struct diff_change *t = &w->d->cols.v[0].total;
	unsigned int wide = w->style->width;
	unsigned int high = HEAD + (w->deepest + 1) * SVG_ROW + SVG_MARGIN;
	struct buf title = { 0 }, line = { 0 };

	text_safe(&title, w->d->side[DIFF_OLD].path);
	buf_str(&title, " -> ");
	text_safe(&title, w->d->side[DIFF_NEW].path);
	svg_begin(w->out, wide, high);
	put_line(w, 22, "font-size=\"15\"", buf_cstr(&title));
	buf_printf(&line, "Normalised by %s (%s); ", diff_norm_name(w->d->norm),
		   w->d->why);
	text_safe(&line, diff_event_name(w->d, 0));
	if (w->d->norm != DIFF_NORM_TOTAL) {
		buf_str(&line, ": ");
		put_cost_scaled(w->d, 0, t->cost[DIFF_OLD], false, &line);
		buf_str(&line, " -> ");
		put_cost_scaled(w->d, 0, t->cost[DIFF_NEW], false, &line);
		buf_str(&line, w->d->norm == DIFF_NORM_RUN ? " a run"
							   : " a second");
	}
	put_line(w, 42, "fill=\"#555\"", buf_cstr(&line));
	put_line(w, 58, "fill=\"#555\"", "The width of a frame is the mean of "
		 "its cost on both sides.");
	put_legend(w, 78);
	w->out->failed |= title.failed || line.failed;
	buf_fini(&title);
	buf_fini(&line);
}

static int draw(struct diff_drawer *w)
{
	int rc = place(w);

	if (rc)
		return rc;
	put_head(w);
	for (size_t i = 0; i < w->f->nodes.n; i++) {
		double wide = pixels(w, amount(w, i));

		if (!i || wide >= SVG_LEAST_WIDTH)
			put_frame(w, i, wide);
	}
	buf_str(w->out, "</svg>\n");
	return 0;
}

int diff_svg(struct diff *d, const struct diff_svg_style *style,
	     struct buf *out, struct error *err)
{
	struct flame_diff f;
	struct diff_drawer w = { .f = &f, .d = d, .style = style, .out = out };
	int rc = flame_diff_build(&f, d, err);

	if (rc < 0)
		return rc;
	w.all = amount(&w, 0);
	if (!(w.all > 0))
		rc = error_set(err, ERR_NOTFOUND, "no samples to draw a flame "
			       "graph of");
	if (!rc)
		rc = flame_diff_prune(&f, SVG_LEAST_WIDTH /
				      (style->width - 2.0 * SVG_MARGIN), err);
	if (!rc && draw(&w) < 0)
		rc = diff_nomem(err);
	svg_names_fini(&w.names, out);
	free(w.left);
	free(w.used);
	free(w.depth);
	flame_diff_fini(&f);
	return rc;
}
