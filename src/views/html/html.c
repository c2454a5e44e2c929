// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a report as one HTML file. */
#include "views/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"
#include "views/html/html_data.h"

static void put_hash(struct buf *out, const char *text)
{
	uint8_t hash[SHA256_BYTES];

	sha256(text, strlen(text), hash);
	buf_str(out, "'sha256-");
	base64(out, hash, sizeof(hash));
	buf_u8(out, '\'');
}

/* Forbids everything except the page's own script: nothing may be loaded or
 * sent (Content Security Policy Level 3). */
static void put_policy(struct buf *out)
{
	buf_str(out, "default-src 'none'; script-src ");
	put_hash(out, html_script());
	buf_str(out, "; style-src ");
	put_hash(out, html_style());
	buf_str(out, "; base-uri 'none'; form-action 'none'");
}

static void put_title(struct buf *out, const struct html_data *d)
{
	struct buf text = { 0 }, cut = { 0 };
	const struct profile *p = d->src[d->nsrc - 1].in.rep->p;

	if (d->style->compare)
		text_safe(&text, "compared: ");
	if (p->runs.n)
		text_safe(&text, quality_run_title(p, &p->runs.v[0]));
	text_cut(&cut, buf_cstr(&text), 200);
	text_xml(out, cut.n ? buf_cstr(&cut) : "recording");
	buf_close(&text, out);
	buf_close(&cut, out);
}

/* Fills the template, in which @WORD@ stands for a part. */
static void put_page(const struct html_data *d, const struct buf *data,
		     struct buf *out)
{
	const char *at = html_page(), *mark;

	while ((mark = strstr(at, "@@"))) {
		buf_bytes(out, at, (size_t)(mark - at));
		at = mark + 3;
		if (mark[2] == 'P')
			put_policy(out);
		else if (mark[2] == 'T')
			put_title(out, d);
		else if (mark[2] == 'S')
			buf_str(out, html_style());
		else if (mark[2] == 'D')
			base64(out, data->p, data->n);
		else if (mark[2] == 'J')
			buf_str(out, html_script());
	}
	buf_str(out, at);
}

/* Returns whether the columns fit, by an estimate of their size. */
static bool fits(const struct html_data *d)
{
	uint64_t entries = d->entries.v.n + d->lines.entries.v.n +
			   d->lines.call_entries.v.n;
	uint64_t cost = (uint64_t)d->tree.nodes.n * HTML_NODE_COST +
			entries * HTML_ENTRY_COST;

	return d->tree.nodes.n <= HTML_NODES &&
	       d->entries.v.n <= HTML_ENTRIES && cost <= 10ull * HTML_BYTES;
}

/* Merges branches below d->share, and their samples. */
static int prune(struct html_data *d, struct error *err)
{
	uint32_t *moved = NULL;
	int rc = calltree_prune(&d->tree, d->share, &moved, err);

	for (size_t i = 0; !rc && i < d->entries.v.n; i++)
		d->entries.v.v[i].node = moved[d->entries.v.v[i].node];
	free(moved);
	if (rc)
		return rc;
	d->entries.nodes = d->tree.nodes.n;
	return html_entries_merge(&d->entries) < 0 ? error_nomem(err) : 0;
}

/* Makes the data one step smaller.  Alternates between coarser time, as long as
 * it remains readable, and merging the smallest branches, which are visible
 * only when zoomed in.  Of many labels, the rarest values are summed first, so that
 * they do not cost branches. */
static int shrink(struct html_data *d, struct error *err)
{
	uint64_t shown = 0;
	double one;

	for (size_t i = 0; i < d->nsrc; i++)
		shown += d->src[i].in.rep->quality.shown;
	one = shown ? 1.0 / (double)shown : 1;
	if (d->buckets > HTML_BUCKETS / 2 ||
	    (d->share > 8 * one && d->buckets > HTML_BUCKETS / 4))
		return html_coarsen(d) < 0 ? error_nomem(err) : 0;
	if (d->labels.cohorts.n > HTML_COHORTS_KEPT &&
	    d->entries.v.n > d->tree.nodes.n)
		return html_fewer_cohorts(d) < 0 ? error_nomem(err) : 0;
	if (d->share > 0)
		d->share += d->share > 5 * one ? 0.2 * d->share : one;
	else
		d->share = 1.5 * one;
	return prune(d, err);
}

static int bound(struct html_data *d, struct error *err)
{
	int rc = 0;

	while (!rc && !fits(d) && d->share < 1)
		rc = shrink(d, err);
	return rc;
}

/* Encodes the data, and shrinks it further if it is too large once
 * compressed. */
static int encode(struct html_data *d, struct buf *out, struct error *err)
{
	int rc = html_encode(d, out, err);

	while (!rc && out->n > HTML_BYTES && d->share < 0.01) {
		buf_reset(out);
		rc = shrink(d, err) ?: html_encode(d, out, err);
	}
	return rc;
}

static int build(struct html_data *d, struct buf *block, struct error *err)
{
	int rc = html_functions(d, err) ?:
		 html_tree(d, err) ?:
		 page_threads(d, err) ?:
		 html_labels(d, err) ?:
		 html_lines(d, err);

	if (!rc && d->style->compare)
		rc = html_pairs(d, err);
	if (!rc && d->lines.failed)
		rc = error_nomem(err);
	if (!rc)
		rc = html_waits(d, err) ?:
		     html_samples(d, err) ?:
		     bound(d, err) ?:
		     encode(d, block, err);
	return rc;
}

static void data_fini(struct html_data *d)
{
	for (size_t i = 0; d->src && i < d->nsrc; i++) {
		struct html_source *s = &d->src[i];

		free(s->func_of);
		free(s->node_of);
		free(s->lane_of);
		free(s->thread_samples);
		free(s->col_of);
		free(s->frame_of);
		free(s->loc_of);
		free(s->call_of);
		free(s->code_of);
		free(s->kind_of);
	}
	free(d->src);
	free(d->sums);
	vec_fini(&d->funcs);
	calltree_fini(&d->tree);
	vec_fini(&d->lanes);
	vec_fini(&d->entries.v);
	html_labels_fini(&d->labels);
	html_lines_fini(&d->lines);
	html_waits_fini(&d->waits);
}

int html_write(const struct html_input *in, size_t n,
	       const struct html_style *style, struct buf *out,
	       struct error *err)
{
	struct html_data d = { .style = style, .nsrc = n };
	struct buf block = { 0 };
	int rc;

	if (!n || n > HTML_INPUTS)
		return error_set(err, ERR_USAGE, "%zu recordings do not fit in "
				 "a page: use 1 to %d", n, HTML_INPUTS);
	d.src = calloc(n, sizeof(*d.src));
	if (!d.src)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++)
		d.src[i].in = in[i];
	rc = build(&d, &block, err);
	if (!rc)
		put_page(&d, &block, out);
	data_fini(&d);
	buf_fini(&block);
	return rc;
}
