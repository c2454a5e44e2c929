// SPDX-License-Identifier: GPL-2.0-or-later
/* A report as one HTML file: see html.h. */
#include "views/html.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"
#include "views/html_data.h"

void xml_text(struct buf *out, const char *s)
{
	struct buf safe = { 0 };

	text_safe(&safe, s);
	for (const char *c = buf_cstr(&safe); *c; c++) {
		switch (*c) {
		case '&':
			buf_str(out, "&amp;");
			break;
		case '<':
			buf_str(out, "&lt;");
			break;
		case '>':
			buf_str(out, "&gt;");
			break;
		case '"':
			buf_str(out, "&quot;");
			break;
		case '\'':
			buf_str(out, "&#39;");
			break;
		default:
			buf_u8(out, (uint8_t)*c);
		}
	}
	out->failed |= safe.failed;
	buf_fini(&safe);
}

static void put_hash(struct buf *out, const char *text)
{
	uint8_t hash[SHA256_BYTES];

	sha256(text, strlen(text), hash);
	buf_str(out, "'sha256-");
	base64(out, hash, sizeof(hash));
	buf_u8(out, '\'');
}

/* Nothing may be loaded or sent, and nothing run but the page's own script:
 * Content Security Policy Level 3. */
static void put_policy(struct buf *out)
{
	buf_str(out, "default-src 'none'; script-src ");
	put_hash(out, html_script());
	buf_str(out, "; style-src ");
	put_hash(out, html_style());
	buf_str(out, "; base-uri 'none'; form-action 'none'");
}

static void put_title(struct buf *out, const struct report *rep)
{
	const struct profile *p = rep->p;
	struct buf text = { 0 }, cut = { 0 };

	if (p->runs.n)
		text_safe(&text, truth_run_title(p, &p->runs.v[0]));
	text_cut(&cut, buf_cstr(&text), 200);
	xml_text(out, cut.n ? buf_cstr(&cut) : "recording");
	out->failed |= text.failed || cut.failed;
	buf_fini(&text);
	buf_fini(&cut);
}

/* Fills the template: @WORD@ stands for a part. */
static void put_page(const struct report *rep, const struct buf *data,
		     struct buf *out)
{
	const char *at = html_page(), *mark;

	while ((mark = strstr(at, "@@"))) {
		buf_bytes(out, at, (size_t)(mark - at));
		at = mark + 3;
		if (mark[2] == 'P')
			put_policy(out);
		else if (mark[2] == 'T')
			put_title(out, rep);
		else if (mark[2] == 'S')
			buf_str(out, html_style());
		else if (mark[2] == 'D')
			base64(out, data->p, data->n);
		else if (mark[2] == 'J')
			buf_str(out, html_script());
	}
	buf_str(out, at);
}

/* What the columns will take, about. */
static bool fits(const struct html_data *d)
{
	uint64_t cost = (uint64_t)d->flame.nodes.n * HTML_NODE_COST +
			(uint64_t)d->entries.n * HTML_ENTRY_COST;

	return d->flame.nodes.n <= HTML_NODES &&
	       d->entries.n <= HTML_ENTRIES && cost <= 10ull * HTML_BYTES;
}

static int merge(struct html_data *d, struct error *err)
{
	if (html_entries_merge(d) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for the page");
	return 0;
}

static int halve_buckets(struct html_data *d, struct error *err)
{
	d->buckets /= 2;
	d->width_ns *= 2;
	for (size_t i = 0; i < d->entries.n; i++)
		d->entries.v[i].bucket /= 2;
	return merge(d, err);
}

/* Sums branches below d->share, and their samples with them. */
static int prune(struct html_data *d, struct error *err)
{
	uint32_t *moved = NULL;
	int rc = flame_prune(&d->flame, d->share, &moved, err);

	for (size_t i = 0; !rc && i < d->entries.n; i++)
		d->entries.v[i].node = moved[d->entries.v[i].node];
	free(moved);
	return rc ? rc : merge(d, err);
}

/* One step smaller: time by and by as coarse as can still be read, the smallest
 * branches, those that can be seen only when zoomed in. */
static int shrink(struct html_data *d, struct error *err)
{
	double one = d->rep->truth.shown
			     ? 1.0 / (double)d->rep->truth.shown : 1;

	if (d->buckets > HTML_BUCKETS / 2 ||
	    (d->share > 8 * one && d->buckets > HTML_BUCKETS / 4))
		return halve_buckets(d, err);
	d->share = d->share > 0 ? d->share * 1.5 : 1.5 * one;
	return prune(d, err);
}

static int bound(struct html_data *d, struct error *err)
{
	int rc = 0;

	while (!rc && !fits(d) && d->share < 1)
		rc = shrink(d, err);
	return rc;
}

/* The same for what could not be known before it was compressed. */
static int encode(struct html_data *d, struct buf *out, struct error *err)
{
	int rc = html_encode(d, out, err);

	while (!rc && out->n > HTML_BYTES && d->share < 0.01) {
		buf_reset(out);
		rc = shrink(d, err);
		if (!rc)
			rc = html_encode(d, out, err);
	}
	return rc;
}

int html_write(struct reader *r, const struct report *rep,
	       const struct html_style *style, struct buf *out,
	       struct error *err)
{
	struct html_data d = { .rep = rep, .style = style };
	struct buf block = { 0 };
	int rc = 0;

	if (rep->agg.ncols > HTML_EVENTS)
		return error_set(err, ERR_USAGE,
				 "%zu events do not fit in a page: choose some "
				 "with --event", rep->agg.ncols);
	rc = flame_build(&d.flame, rep, err);
	if (!rc)
		rc = html_samples(&d, r, err);
	if (!rc)
		rc = bound(&d, err);
	if (!rc)
		rc = encode(&d, &block, err);
	if (!rc)
		put_page(rep, &block, out);
	flame_fini(&d.flame);
	vec_fini(&d.lanes);
	vec_fini(&d.entries);
	free(d.lane_of);
	buf_fini(&block);
	return rc;
}
