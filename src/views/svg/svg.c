// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph as one SVG file: no scripts, no styles from outside; a title for
 * each frame, which browsers show as a tooltip.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"
#include "views/query/names.h"
#include "views/svg/svg.h"
#include "views/svg/svg_frame.h"
#include "views/tree/flame.h"

enum { HEAD = 56 };

struct drawer {
	const struct flame *f;
	const struct svg_style *style;
	struct buf *out;
	struct svg_names names;
	uint32_t *depth;
	uint64_t *used;		/* by node: of its width, by children drawn */
	double *left;		/* by node: pixels */
	uint32_t deepest;
	bool by_count;		/* samples without weights */
};

static uint64_t amount(const struct drawer *d, size_t node)
{
	struct cell c = d->f->total[node * d->f->ncols];

	return d->by_count ? c.count : c.weight;
}

static double width_of(const struct drawer *d, size_t node)
{
	uint64_t all = amount(d, 0), part = amount(d, node);

	/* sums of a hostile file may have run over */
	if (part > all)
		part = all;
	return all ? (d->style->width - 2.0 * SVG_MARGIN) * (double)part /
			     (double)all
		   : 0;
}

/* Colours by image, the kernel's apart; frames that were inlined are lighter. */
static void put_color(struct drawer *d, const struct flame_node *n)
{
	const struct frame_keys *k = &d->f->rep->keys;
	uint32_t hue = 40, sat = 70, light = n->inlined ? 80 : 70;

	if (n->fk >= FLAME_SPECIAL) {
		sat = 0;
		light = 82;
	} else if (k->keys.v[n->fk].kernel) {
		hue = 8;
	} else {
		const char *path = profile_cstr(d->f->rep->p,
						k->keys.v[n->fk].image);

		hue = 35 + (uint32_t)(hash_bytes(path, strlen(path)) % 270);
		sat = 55;
	}
	buf_printf(d->out, "hsl(%u,%u%%,%u%%)", hue, sat, light);
}

static void put_title(struct drawer *d, size_t i)
{
	const struct flame_node *n = &d->f->nodes.v[i];
	const struct report *rep = d->f->rep;
	struct cell c = d->f->total[i * d->f->ncols];
	struct buf count = { 0 };

	text_count(&count, c.count);
	buf_str(d->out, "<title>");
	text_xml(d->out, buf_cstr(&d->names.full));
	if (n->inlined)
		buf_str(d->out, " (inlined)");
	buf_str(d->out, "\n");
	if (n->fk < FLAME_SPECIAL && rep->keys.keys.v[n->fk].image) {
		buf_again(&d->names.tmp);
		name_image(rep->p, &rep->keys, &rep->keys.keys.v[n->fk], false,
			   &d->names.tmp);
		text_xml(d->out, buf_cstr(&d->names.tmp));
		buf_str(d->out, "\n");
	}
	buf_printf(d->out, "%s samples, %.2f%%</title>", buf_cstr(&count),
		   line_share(amount(d, i), amount(d, 0)));
	d->out->failed |= count.failed;
	buf_fini(&count);
}

static void put_frame(struct drawer *d, size_t i)
{
	const struct flame_node *n = &d->f->nodes.v[i];
	double w = width_of(d, i), x = d->left[i];
	unsigned int row = d->style->icicle ? d->depth[i]
					    : d->deepest - d->depth[i];
	unsigned int y = HEAD + row * SVG_ROW;

	svg_names_reset(&d->names);
	flame_name(d->f->rep, n->fk, &d->names.name);
	svg_names_make(&d->names);
	svg_frame_begin(d->out, x, y, w);
	put_color(d, n);
	buf_str(d->out, "\"/>");
	put_title(d, i);
	svg_frame_end(d->out, &d->names, n->inlined, x, y, w);
}

/* Where each frame begins, and how deep those go that can be seen. */
static int place(struct drawer *d)
{
	size_t n = d->f->nodes.n;

	d->depth = calloc(n + 1, sizeof(*d->depth));
	d->left = calloc(n + 1, sizeof(*d->left));
	d->used = calloc(n + 1, sizeof(*d->used));
	if (!d->depth || !d->left || !d->used)
		return -ERR_NOMEM;
	d->left[0] = SVG_MARGIN;
	for (size_t i = 1; i < n; i++) {
		uint32_t up = d->f->nodes.v[i].parent;
		double all = (double)amount(d, 0);

		d->depth[i] = d->depth[up] + 1;
		d->left[i] = d->left[up];
		if (all > 0)
			d->left[i] += (d->style->width - 2.0 * SVG_MARGIN) *
				      (double)d->used[up] / all;
		d->used[up] += amount(d, i);
		if (d->depth[i] > d->deepest &&
		    width_of(d, i) >= SVG_LEAST_WIDTH)
			d->deepest = d->depth[i];
	}
	return 0;
}

static void put_head(struct drawer *d)
{
	const struct report *rep = d->f->rep;
	const struct profile *p = rep->p;
	unsigned int w = d->style->width;
	unsigned int h = HEAD + (d->deepest + 1) * SVG_ROW + SVG_MARGIN;
	struct buf title = { 0 }, cut = { 0 }, count = { 0 };

	if (p->runs.n)
		text_safe(&title, quality_run_title(p, &p->runs.v[0]));
	text_cut(&cut, buf_cstr(&title), w / 9);
	text_count(&count, d->f->total[0].count);
	svg_begin(d->out, w, h);
	buf_printf(d->out, "<text x=\"%d\" y=\"22\" font-size=\"15\">",
		   SVG_MARGIN);
	text_xml(d->out, buf_cstr(&cut));
	buf_printf(d->out, "</text>\n<text x=\"%d\" y=\"42\" fill=\"#555\">",
		   SVG_MARGIN);
	buf_printf(d->out, "%s samples of ", buf_cstr(&count));
	text_xml(d->out, profile_cstr(
		p, p->events.v[rep->agg.cols.v[0]].actual));
	buf_str(d->out, d->style->inverted ? ", from functions to their callers"
					   : "");
	if (rep->quality.lost || rep->quality.broken || rep->quality.cut)
		buf_printf(d->out, "; %" PRIu64 " lost, %.1f%% of stacks broken"
			   " or cut", rep->quality.lost,
			   line_share(rep->quality.broken + rep->quality.cut,
				      rep->quality.shown));
	buf_str(d->out, "</text>\n");
	d->out->failed |= title.failed || cut.failed || count.failed;
	buf_fini(&title);
	buf_fini(&cut);
	buf_fini(&count);
}

static int draw(const struct flame *f, const struct svg_style *style,
		struct buf *out, struct error *err)
{
	struct drawer d = { .f = f, .style = style, .out = out };
	int rc;

	d.by_count = !f->total[0].weight;
	rc = place(&d);
	if (!rc) {
		put_head(&d);
		for (size_t i = 0; i < f->nodes.n; i++)
			if (!i || width_of(&d, i) >= SVG_LEAST_WIDTH)
				put_frame(&d, i);
		buf_str(out, "</svg>\n");
	}
	svg_names_fini(&d.names, out);
	free(d.depth);
	free(d.left);
	free(d.used);
	return rc ? error_set(err, ERR_NOMEM,
			      "out of memory for the flame graph") : 0;
}

int svg_write(const struct report *rep, const struct svg_style *style,
	      struct buf *out, struct error *err)
{
	/* callers of all functions are many: those of a pixel at least */
	double least = (style->inverted ? 1 : SVG_LEAST_WIDTH) /
		       (style->width - 2.0 * SVG_MARGIN);
	struct flame f, upside;
	int rc;

	if (!rep->agg.ncols || !rep->quality.shown)
		return error_set(err, ERR_NOTFOUND,
				 "no samples to draw a flame graph of");
	rc = flame_build(&f, rep, err);
	if (rc < 0)
		return rc;
	if (style->inverted) {
		rc = flame_invert(&f, least, &upside, err);
		if (!rc)
			rc = draw(&upside, style, out, err);
		flame_fini(&upside);
	} else {
		rc = flame_prune(&f, least, NULL, err);
		if (!rc)
			rc = draw(&f, style, out, err);
	}
	flame_fini(&f);
	return rc;
}
