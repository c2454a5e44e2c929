// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a call tree as an SVG flame graph: one file without scripts or external
 * styles.
 *
 * The width of a frame is its node's cost in the first column.  Each frame has a
 * title, which browsers show as a tooltip.  All lengths are in pixels.  Names may come
 * from hostile files; they are escaped as text.
 */
#include "views/svg/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"
#include "views/query/names.h"
#include "views/tree/calltree.h"

enum {
	NAME_COLUMNS = 300,
	SVG_ROW = 17,		/* height of a frame, including its gap */
	SVG_MARGIN = 10,
	SVG_TEXT = 11,		/* height of a frame's text */
	SVG_TITLE = 15,
	REPORT_HEAD = 56,	/* height of the lines above a picture */
	DIFF_HEAD = 92,
};
#define SVG_MIN_WIDTH 0.6	/* narrower frames are not drawn */
/* Width of a monospace character at SVG_TEXT, slightly overestimated. */
#define SVG_CHAR_WIDTH 6.7

struct svg_frame {
	struct buf name;	/* readable, unsafe */
	struct buf color;	/* CSS colour */
	struct buf detail;	/* XML after the name in the tooltip */
};

struct svg_picture {
	const struct calltree *t;
	unsigned int width;
	unsigned int head;	/* height of what put_head writes */
	bool icicle;		/* the root is on top */
	void *ctx;		/* argument of both functions */
	void (*put_head)(void *ctx, struct buf *out);
	/* Fills an empty frame for a node. */
	void (*describe)(void *ctx, size_t node, struct svg_frame *frame);
};

struct drawer {
	const struct svg_picture *pic;
	struct buf *out;
	struct svg_frame frame;
	struct buf safe, brief, text;
	double all;		/* cost of the root */
	double *left;		/* by node: cost to the left of it */
	double *used;		/* by node: cost of the children placed so far */
	uint32_t *depth;
	uint32_t deepest;	/* depth of the deepest drawn frame */
};

/* Returns a width.  Sums of a hostile file may have overflowed, so no part is
 * wider than the whole. */
static double pixels(const struct drawer *d, double cost)
{
	double wide = d->pic->width - 2.0 * SVG_MARGIN;

	return d->all > 0 ? wide * (cost < d->all ? cost : d->all) / d->all : 0;
}

static double width_of(const struct drawer *d, size_t node)
{
	return pixels(d, calltree_cost(d->pic->t, node, 0));
}

/* Computes where each frame begins, and how deep visible frames go. */
static int place(struct drawer *d)
{
	const struct calltree *t = d->pic->t;
	size_t n = t->nodes.n;

	d->left = calloc(n + 1, sizeof(*d->left));
	d->used = calloc(n + 1, sizeof(*d->used));
	d->depth = calloc(n + 1, sizeof(*d->depth));
	if (!d->left || !d->used || !d->depth)
		return -ERR_NOMEM;
	for (size_t i = 1; i < n; i++) {
		uint32_t up = t->nodes.v[i].parent;

		d->depth[i] = d->depth[up] + 1;
		d->left[i] = d->left[up] + d->used[up];
		d->used[up] += calltree_cost(t, i, 0);
		if (d->depth[i] > d->deepest &&
		    width_of(d, i) >= SVG_MIN_WIDTH)
			d->deepest = d->depth[i];
	}
	return 0;
}

static void put_text(struct drawer *d, bool italic, double x, unsigned int y,
		     double width)
{
	size_t room = width > 8 ? (size_t)((width - 6) / SVG_CHAR_WIDTH) : 0;

	if (room < 3)
		return;
	buf_again(&d->text);
	buf_again(&d->brief);
	name_shorten(buf_cstr(&d->frame.name), &d->text);
	text_safe(&d->brief, buf_cstr(&d->text));
	buf_again(&d->text);
	line_cut_symbol(&d->text, buf_cstr(&d->brief), room);
	buf_printf(d->out, "<text x=\"%.1f\" y=\"%u\"%s>", x + 3, y + 12,
		   italic ? " font-style=\"italic\"" : "");
	text_xml(d->out, buf_cstr(&d->text));
	buf_str(d->out, "</text>");
}

static void put_frame(struct drawer *d, size_t i)
{
	const struct svg_picture *pic = d->pic;
	double w = width_of(d, i), x = SVG_MARGIN + pixels(d, d->left[i]);
	unsigned int row = pic->icicle ? d->depth[i]
				       : d->deepest - d->depth[i];
	unsigned int y = pic->head + row * SVG_ROW;

	buf_again(&d->frame.name);
	buf_again(&d->frame.color);
	buf_again(&d->frame.detail);
	pic->describe(pic->ctx, i, &d->frame);
	buf_printf(d->out, "<g><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
		   "height=\"%d\" fill=\"%s\"/><title>", x, y,
		   w > 1 ? w - 0.5 : w, SVG_ROW - 1, buf_cstr(&d->frame.color));
	buf_again(&d->safe);
	buf_again(&d->text);
	text_safe(&d->safe, buf_cstr(&d->frame.name));
	text_cut(&d->text, buf_cstr(&d->safe), NAME_COLUMNS);
	text_xml(d->out, buf_cstr(&d->text));
	buf_bytes(d->out, d->frame.detail.p, d->frame.detail.n);
	buf_str(d->out, "</title>");
	put_text(d, pic->t->nodes.v[i].inlined, x, y, w);
	buf_str(d->out, "</g>\n");
}

static void put_picture(struct drawer *d)
{
	const struct svg_picture *pic = d->pic;
	unsigned int w = pic->width;
	unsigned int h = pic->head + (d->deepest + 1) * SVG_ROW + SVG_MARGIN;

	buf_printf(d->out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		   "height=\"%u\" viewBox=\"0 0 %u %u\" font-family=\""
		   "DejaVu Sans Mono,Menlo,Consolas,monospace\" "
		   "font-size=\"%d\" fill=\"#1c1c1c\">\n"
		   "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n",
		   w, h, w, h, SVG_TEXT, w, h);
	pic->put_head(pic->ctx, d->out);
	for (size_t i = 0; i < pic->t->nodes.n; i++)
		if (!i || width_of(d, i) >= SVG_MIN_WIDTH)
			put_frame(d, i);
	buf_str(d->out, "</svg>\n");
}

/* Writes the whole document.  Returns 0 or -ERR_NOMEM; out->failed: out of memory. */
static int svg_draw(const struct svg_picture *pic, struct buf *out, struct error *err)
{
	struct drawer d = { .pic = pic, .out = out,
			    .all = calltree_cost(pic->t, 0, 0) };
	struct buf *const bufs[] = { &d.frame.name, &d.frame.color,
				     &d.frame.detail, &d.safe, &d.brief,
				     &d.text };
	int rc = place(&d);

	if (!rc)
		put_picture(&d);
	for (size_t i = 0; i < COUNT(bufs); i++) {
		out->failed |= bufs[i]->failed;
		buf_fini(bufs[i]);
	}
	free(d.left);
	free(d.used);
	free(d.depth);
	return rc ? error_nomem(err) : 0;
}

/* For put_head: writes a line of text at a height, cut at the picture's width.
 * `fill` is a colour, or NULL for black; `text` is safe for terminals. */
static void svg_line(struct buf *out, unsigned int width, unsigned int y, int size,
		     const char *fill, const char *text)
{
	double wide = SVG_CHAR_WIDTH * size / SVG_TEXT;
	struct buf cut = { 0 };

	text_cut(&cut, text, (size_t)((width - 2.0 * SVG_MARGIN) / wide));
	buf_printf(out, "<text x=\"%d\" y=\"%u\"", SVG_MARGIN, y);
	if (size != SVG_TEXT)
		buf_printf(out, " font-size=\"%d\"", size);
	if (fill)
		buf_printf(out, " fill=\"%s\"", fill);
	buf_str(out, ">");
	text_xml(out, buf_cstr(&cut));
	buf_str(out, "</text>\n");
	buf_close(&cut, out);
}

/* --- flame graph of a report */

struct painter {
	const struct report *rep;
	const struct calltree *t;
	const struct svg_style *style;
	struct buf image;
};

/* Appends a colour by image, with separate ones for the kernel.  Inlined frames
 * are lighter. */
static void put_color(const struct report *rep, const struct calltree_node *n,
		      struct buf *out)
{
	const struct frame_keys *k = &rep->keys;
	uint32_t hue = 40, sat = 70, light = n->inlined ? 80 : 70;

	if (n->func >= CALLTREE_SPECIAL) {
		sat = 0;
		light = 82;
	} else if (k->keys.v[n->func].kernel) {
		hue = 8;
	} else {
		const char *path = profile_cstr(rep->p,
						k->keys.v[n->func].image);

		hue = 35 + (uint32_t)(hash_bytes(path, strlen(path)) % 270);
		sat = 55;
	}
	buf_printf(out, "hsl(%u,%u%%,%u%%)", hue, sat, light);
}

static void describe(void *ctx, size_t node, struct svg_frame *f)
{
	struct painter *w = ctx;
	const struct report *rep = w->rep;
	const struct calltree_node *n = &w->t->nodes.v[node];
	double share = calltree_cost(w->t, node, 0) / calltree_cost(w->t, 0, 0);

	calltree_func_name(rep, n->func, &f->name);
	put_color(rep, n, &f->color);
	if (n->inlined)
		buf_str(&f->detail, " (inlined)");
	buf_str(&f->detail, "\n");
	if (n->func < CALLTREE_SPECIAL && rep->keys.keys.v[n->func].image) {
		buf_again(&w->image);
		name_image(rep->p, &rep->keys, &rep->keys.keys.v[n->func],
			   false, &w->image);
		text_xml(&f->detail, buf_cstr(&w->image));
		buf_str(&f->detail, "\n");
	}
	text_count(&f->detail, calltree_cell(w->t, node, 0, 0).count);
	buf_printf(&f->detail, " samples, %.2f%%", 100 * share);
}

static void put_head(void *ctx, struct buf *out)
{
	const struct painter *w = ctx;
	const struct report *rep = w->rep;
	const struct profile *p = rep->p;
	const struct quality *q = &rep->quality;
	struct buf line = { 0 };

	if (p->runs.n)
		text_safe(&line, quality_run_title(p, &p->runs.v[0]));
	svg_line(out, w->style->width, 22, SVG_TITLE, NULL,
		 buf_cstr(&line));
	buf_again(&line);
	text_count(&line, calltree_cell(w->t, 0, 0, 0).count);
	buf_str(&line, " samples of ");
	text_safe(&line, profile_cstr(p, p->events.v[rep->agg.cols.v[0]]
					       .actual));
	if (w->style->inverted)
		buf_str(&line, ", from functions to their callers");
	if (q->lost || q->broken || q->cut)
		buf_printf(&line, "; %" PRIu64 " lost, %.1f%% of stacks broken"
			   " or cut", q->lost,
			   line_share(q->broken + q->cut, q->shown));
	svg_line(out, w->style->width, 42, SVG_TEXT, "#555", buf_cstr(&line));
	buf_close(&line, out);
}

int svg_write(const struct report *rep, const struct svg_style *style,
	      struct buf *out, struct error *err)
{
	/* callers of all functions are many, so draw only those at least a
	 * pixel wide */
	double least = (style->inverted ? 1 : SVG_MIN_WIDTH) /
		       (style->width - 2.0 * SVG_MARGIN);
	struct calltree t, upside = { 0 };
	struct painter w = { .rep = rep, .style = style, .t = &t };
	struct svg_picture pic = {
		.width = style->width, .head = REPORT_HEAD,
		.icicle = style->icicle, .ctx = &w, .put_head = put_head,
		.describe = describe
	};
	int rc;

	if (!rep->agg.ncols || !rep->quality.shown)
		return error_set(err, ERR_NOTFOUND,
				 "no samples to draw a flame graph of");
	rc = calltree_of(&t, rep, err);
	if (!rc && style->inverted) {
		rc = calltree_invert(&t, least, &upside, err);
		w.t = &upside;
	} else if (!rc) {
		rc = calltree_prune(&t, least, NULL, err);
	}
	pic.t = w.t;
	if (!rc)
		rc = svg_draw(&pic, out, err);
	out->failed |= w.image.failed;
	buf_fini(&w.image);
	calltree_fini(&upside);
	calltree_fini(&t);
	return rc;
}

/*
 * --- differential flame graph
 *
 * The width of a frame is the mean of its cost on both sides.  So both new and
 * removed frames are visible, and children fit their parents.  Red frames grew
 * and blue frames shrank.  The colour deepens up to twice or half the cost, and
 * grey means within noise.  Red and blue are distinguishable with all common
 * kinds of colour blindness; titles contain the figures.
 */

enum { LEGEND = 5 };		/* number of colours in the legend */
#define SIGNIFICANT_P 0.01

struct diff_painter {
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

static void put_growth(double t, struct buf *out)
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

static void describe_change(void *ctx, size_t node, struct svg_frame *f)
{
	static const char *const inlined[] = {
		"", " (inlined in the old one)", " (inlined in the new one)",
		" (inlined)" };
	const struct diff_painter *w = ctx;
	const struct diff *d = w->d;
	const struct calltree_node *n = &w->t->nodes.v[node];
	struct buf *out = &f->detail;
	struct cost_change c;

	diff_change_of(d, 0, calltree_cell(w->t, node, DIFF_OLD, 0),
		       calltree_cell(w->t, node, DIFF_NEW, 0), &c);
	diff_tree_name(d, n->func, &f->name);
	put_growth(growth(&c), &f->color);
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
		put_growth(parts[i].t, out);
		buf_printf(out, "\"/><text x=\"%.1f\" y=\"%u\">%s</text>\n",
			   x + 17, y, parts[i].words);
		x += 17 + SVG_CHAR_WIDTH * (double)strlen(parts[i].words) + 14;
	}
}

static void put_diff_head(void *ctx, struct buf *out)
{
	const struct diff_painter *w = ctx;
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
	buf_close(&title, out);
	buf_close(&line, out);
}

int diff_svg(const struct diff *d, const struct diff_svg_style *style,
	     struct buf *out, struct error *err)
{
	struct calltree t;
	struct diff_painter w = { .d = d, .t = &t, .width = style->width };
	struct svg_picture pic = {
		.t = &t, .width = style->width, .head = DIFF_HEAD,
		.icicle = style->icicle, .ctx = &w, .put_head = put_diff_head,
		.describe = describe_change
	};
	int rc = diff_tree(d, &t, err);

	if (!rc && !(calltree_cost(&t, 0, 0) > 0))
		rc = error_set(err, ERR_NOTFOUND, "no samples to draw a flame "
			       "graph of");
	if (!rc)
		rc = calltree_prune(&t,
				    SVG_MIN_WIDTH / (style->width - 2.0 * SVG_MARGIN),
				    NULL, err) ?:
		     svg_draw(&pic, out, err);
	calltree_fini(&t);
	return rc;
}
