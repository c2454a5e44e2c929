// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a call tree, or the flame graph of a report, as one SVG file without
 * scripts or external styles.
 *
 * Each frame has a title, which browsers show as a tooltip.
 */
#include "views/svg/svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"
#include "views/query/names.h"
#include "views/svg/svg_draw.h"

enum { NAME_COLUMNS = 300, REPORT_HEAD = 56 };

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
	text_safe(&d->brief,
		  buf_cstr(d->text.n ? &d->text : &d->frame.name));
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

int svg_draw(const struct svg_picture *pic, struct buf *out, struct error *err)
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
	return rc ? error_set(err, ERR_NOMEM,
			      "out of memory for the flame graph") : 0;
}

void svg_line(struct buf *out, unsigned int width, unsigned int y, int size,
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
	out->failed |= cut.failed;
	buf_fini(&cut);
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
	out->failed |= line.failed;
	buf_fini(&line);
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
