// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a diff as an HTML page. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/html/html.h"
#include "views/query/names.h"

enum { CODES = 300, VERDICTS = 400 };

struct page {
	struct diff *d;
	struct report *rep[DIFF_SIDES];
	struct html_input in[DIFF_SIDES];
	struct html_scale *scale[DIFF_SIDES];
	VEC(struct row_verdict) verdicts;
	VEC(const char *) notes;
	struct buf head, how, total;
};

static int make_scale(struct page *x, int side, struct error *err)
{
	const struct diff *d = x->d;
	size_t n = x->rep[side]->agg.ncols;
	struct html_scale *v = calloc(n + 1, sizeof(*v));

	x->scale[side] = v;
	if (!v)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++)
		v[i].by = 1;
	for (size_t c = 0; c < d->cols.n; c++) {
		const struct diff_column *k = &d->cols.v[c];

		if (k->col[side] >= n)
			continue;
		v[k->col[side]].tau = k->tau;
		if (side == DIFF_OLD && k->per[DIFF_NEW] > 0)
			v[k->col[side]].by = k->per[DIFF_OLD] /
					     k->per[DIFF_NEW];
	}
	return 0;
}

static int make_side(struct page *x, int side, struct error *err)
{
	const struct diff_side *s = &x->d->side[side];
	struct html_input *in = &x->in[side];
	struct annotate_spec spec = {
		.select = x->d->spec.select, .where = x->d->spec.where[side],
		.top = CODES, .code = true, .by_symbol = true, .intel = true,
	};
	int rc = diff_side_report(x->d, side, &x->rep[side], err) ?:
		 make_scale(x, side, err);

	if (rc)
		return rc;
	*in = (struct html_input){
		.r = s->reader, .rep = x->rep[side],
		.side = side == DIFF_OLD ? HTML_BASE : HTML_NEW,
		.label = s->path, .runs = s->nruns, .match = s->key_of, .scale = x->scale[side],
	};
	return annotate_build(s->reader, &spec, &in->lines, err);
}

static void put_name(struct buf *name, const char *word, struct buf *out)
{
	struct buf shorter = { 0 };

	name_shorten(buf_cstr(name), &shorter);
	buf_str(out, word);
	text_safe(out, buf_cstr(&shorter));
	out->failed |= name->failed || shorter.failed;
	buf_fini(&shorter);
	buf_fini(name);
}

/* Appends the row that a row's cost came from or went to. */
static void put_other(const struct diff *d, uint32_t row, const char *word,
		      struct buf *out)
{
	struct buf name = { 0 };

	if (row == PROF_NONE)
		return;
	diff_name_alone(d, d->rows.v[row].key, &name);
	put_name(&name, word, out);
}

static int add_verdict(struct page *x, uint32_t row)
{
	const struct diff *d = x->d;
	const struct cost_change *c = diff_row_change(d, row, 0, false);
	enum diff_status s = diff_status(d, row, 0, false);
	struct row_verdict v = { .match = d->rows.v[row].key,
				  .bad = s == DIFF_GREW || s == DIFF_ADDED };
	struct buf text = { 0 }, before = { 0 };

	if (s == DIFF_SAME)
		return 0;
	buf_str(&text, diff_status_name(s));
	if (diff_name_before(d, v.match, &before))
		put_name(&before, " from ", &text);
	put_other(d, d->moved_from[row], " from ", &text);
	put_other(d, d->moved_to[row], ", to ", &text);
	buf_str(&text, ": ");
	diff_put_cost(d, 0, c->cost[DIFF_OLD], false, &text);
	buf_str(&text, " to ");
	diff_put_cost(d, 0, c->cost[DIFF_NEW], false, &text);
	buf_printf(&text, " %s", d->cols.v[0].shown_unit);
	if (c->tested) {
		buf_str(&text, " (95%: ");
		diff_put_cost(d, 0, c->low, true, &text);
		buf_str(&text, " to ");
		diff_put_cost(d, 0, c->high, true, &text);
		buf_printf(&text, "; p %s%.4f)", c->q < 0.0001 ? "<" : "",
			   c->q < 0.0001 ? 0.0001 : c->q);
	}
	v.text = strdup(buf_cstr(&text));
	buf_fini(&text);
	return v.text ? vec_push(&x->verdicts, v) : -ERR_NOMEM;
}

/* Appends the total cost before and now. */
static void put_total(struct page *x)
{
	const struct diff *d = x->d;
	const struct cost_change *c = &d->cols.v[0].total;

	if (d->norm == DIFF_NORM_TOTAL) {
		buf_str(&x->total, "shares are compared, not costs");
		return;
	}
	buf_printf(&x->total, "all of %s: ", diff_event_name(d, 0));
	diff_put_cost(d, 0, c->cost[DIFF_OLD], false, &x->total);
	buf_str(&x->total, " to ");
	diff_put_cost(d, 0, c->cost[DIFF_NEW], false, &x->total);
	buf_printf(&x->total, " %s", d->cols.v[0].shown_unit);
	if (c->cost[DIFF_OLD] > 0)
		buf_printf(&x->total, " (%+.1f%%)",
			   100 * c->change / c->cost[DIFF_OLD]);
	if (c->tested && !c->real)
		buf_str(&x->total, ", not significant");
}

static int make_texts(struct page *x, struct error *err)
{
	const struct diff *d = x->d;
	char *save = NULL;
	int rc = 0;

	for (size_t i = 0; d->cols.n && !rc && i < d->order.n &&
			   x->verdicts.n < VERDICTS; i++)
		rc = add_verdict(x, d->order.v[i]);
	buf_printf(&x->how, "by %s%s%s", diff_norm_name(d->norm),
		   d->why && *d->why ? ": " : "", d->why ? d->why : "");
	if (d->cols.n)
		put_total(x);
	diff_head(d, 4000, &x->head);
	for (char *l = strtok_r((char *)buf_cstr(&x->head), "\n", &save);
	     !rc && l; l = strtok_r(NULL, "\n", &save)) {
		l += *l == '#';
		l += *l == ' ';
		rc = *l ? vec_push(&x->notes, l) : 0;
	}
	return rc || x->how.failed || x->head.failed ? error_nomem(err) : 0;
}

int html_diff(struct diff *d, struct buf *source_notes, struct buf *out,
	      struct error *err)
{
	struct page x = { .d = d };
	struct html_compare compare = { .how = "" };
	struct html_style style = { .compare = &compare, .source_notes = source_notes };
	int rc = 0;

	if (d->spec.keys.mask != (KEY_BIT(KEY_IMAGE) | KEY_BIT(KEY_SYMBOL)) ||
	    d->spec.select.symbols.n || d->spec.select.images.n)
		return error_set(err, ERR_USAGE, "a page compares all functions "
				 "and cannot be combined with --by, --symbol or "
				 "--image");
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = make_side(&x, s, err);
	if (!rc)
		rc = make_texts(&x, err);
	if (!rc) {
		compare = (struct html_compare){
			.how = buf_cstr(&x.how),
			.headline = x.total.n ? buf_cstr(&x.total) : NULL,
			.notes = x.notes.v, .nnotes = x.notes.n,
			.verdicts = x.verdicts.v, .nverdicts = x.verdicts.n,
		};
		rc = html_write(x.in, DIFF_SIDES, &style, out, err);
	}
	for (int s = 0; s < DIFF_SIDES; s++) {
		annotate_free(x.in[s].lines);
		report_free(x.rep[s]);
		free(x.scale[s]);
	}
	for (size_t i = 0; i < x.verdicts.n; i++)
		free(x.verdicts.v[i].text);
	vec_fini(&x.verdicts);
	vec_fini(&x.notes);
	buf_fini(&x.head);
	buf_fini(&x.how);
	buf_fini(&x.total);
	return rc;
}
