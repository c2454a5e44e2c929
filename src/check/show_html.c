// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the check as an HTML page (views/html.h): all runs of both sides together,
 * failures first.  Functions are those of the check.
 */
#include <stdlib.h>
#include <string.h>

#include "check/show.h"
#include "views/html/html.h"

enum { CODES = 200 };

struct page {
	const struct check *c;
	size_t n;		/* number of inputs */
	uint32_t unknown;	/* number of keys so far that the check does not
				 * know */
	struct report **rep;
	uint32_t **match;
	struct html_input *in;
	struct html_scale scale[2];	/* by enum check_side */
	VEC(struct row_verdict) verdicts;
	VEC(char *) notes;
	struct buf head, how;
	struct arrays arrays;
};

/* Maps a report's frame keys to the check's functions, so that corresponding keys
 * count as one. */
static int match_keys(struct page *x, size_t i)
{
	const struct check_file *f = &x->c->runs.files.v[i];
	struct frame_keys *k = &x->rep[i]->keys;
	size_t n = k->keys.n, steps = k->nframes + f->p->locs.n;
	uint32_t *first = arrays_new(&x->arrays, x->c->runs.match.funcs.n + 1,
				     sizeof(*first));

	x->match[i] = arrays_new(&x->arrays, n, sizeof(**x->match));
	if (x->arrays.failed)
		return -ERR_NOMEM;
	memset(first, 0xff, (x->c->runs.match.funcs.n + 1) * sizeof(*first));
	/* a key that the check does not know corresponds to no other */
	for (size_t fk = 0; fk < n; fk++)
		x->match[i][fk] = UINT32_MAX / 2 + x->unknown++;
	for (size_t s = 0; s < steps; s++) {
		uint32_t fk = k->steps[s].fk, theirs = f->keys.steps[s].fk;
		uint32_t func;

		if (fk == PROF_NONE || theirs == PROF_NONE)
			continue;
		func = f->func[theirs];
		if (func >= x->c->runs.match.funcs.n)
			continue;
		if (first[func] == PROF_NONE)
			first[func] = fk;
		k->steps[s].fk = first[func];
		x->match[i][first[func]] = func;
	}
	return 0;
}

static int make_input(struct page *x, size_t i, struct error *err)
{
	const struct check_file *f = &x->c->runs.files.v[i];
	const char *event = profile_cstr(f->p,
					 f->p->events.v[f->event].name);
	struct report_spec spec = {
		.select = { .events = { &event, 1 } },
		.no_inline = x->c->o.runs.no_inline };
	struct annotate_spec lines = { .select = spec.select, .top = CODES,
				       .code = true, .by_symbol = true,
				       .intel = true,
				       .where = x->c->o.runs.where };
	int rc = key_list_parse("image,symbol", &spec.keys, err) ?:
		 report_prepare(f->reader, &spec, &x->rep[i], err);

	if (!rc && match_keys(x, i) < 0)
		rc = error_nomem(err);
	if (!rc)
		rc = report_complete(x->rep[i], err);
	if (rc)
		return rc;
	x->in[i] = (struct html_input){
		.r = f->reader, .rep = x->rep[i], .label = f->path,
		.side = f->side == CHECK_BASE ? HTML_BASE : HTML_NEW,
		.match = x->match[i], .scale = &x->scale[f->side],
	};
	return annotate_build(f->reader, &lines, &x->in[i].lines, err);
}

static void put_verdict(const struct check *c, uint32_t at, struct buf *out)
{
	const struct check_row *r = &c->rows.v[at];

	bool sentence = describe_explained(c, r) || r->status == CHECK_SUSPECT;

	describe_status(c, r, out);
	if (describe_tested(r)) {
		buf_str(out, sentence ? ", " : " ");
		describe_estimate(r, "; ", out);
	}
	buf_str(out, ", ");
	describe_cost(c, describe_gain(c, r), true, out);
	buf_str(out, " per run");
	if (r->fails)
		describe_parts(c, r, &(struct part_style){
			.before = "; ", .between = ", ", .after = "", .most = 3,
		}, out);
	describe_commits(c, at, &(struct part_style){ .before = "; ",
						      .after = "" }, out);
}

static int add_verdict(struct page *x, uint32_t at)
{
	const struct check_row *r = &x->c->rows.v[at];
	struct row_verdict v = { .match = r->unit.func, .bad = r->fails };
	struct buf text = { 0 };

	if (r->unit.func == PROF_NONE || (!describe_changed(r) && !r->fails))
		return 0;
	put_verdict(x->c, at, &text);
	v.text = text.failed ? NULL : strdup(buf_cstr(&text));
	buf_fini(&text);
	if (!v.text)
		return -ERR_NOMEM;
	if (vec_push(&x->verdicts, v) == 0)
		return 0;
	free(v.text);
	return -ERR_NOMEM;
}

/* Adds a note and takes ownership of its text. */
static int add_note(struct page *x, struct buf *text)
{
	char *copy = text->n && !text->failed ? strdup(buf_cstr(text))
						: NULL;
	int rc = copy ? vec_push(&x->notes, copy) : text->failed;

	if (rc)
		free(copy);
	buf_fini(text);
	return rc;
}

static int make_texts(struct page *x)
{
	static void (*const writers[])(const struct check *, struct buf *) = {
		describe_total, describe_shift, describe_runs, describe_noise };
	const struct check *c = x->c;
	int rc = 0;

	describe_verdict(c, &x->head);
	buf_printf(&x->how, "by run: %zu baseline runs, %zu new runs",
		   c->runs.nbase, c->runs.nnew);
	for (size_t i = 0; !rc && i < COUNT(writers); i++) {
		struct buf text = { 0 };

		writers[i](c, &text);
		rc = add_note(x, &text);
	}
	for (size_t i = 0; !rc && i < c->notes.n; i++) {
		struct buf text = { 0 };

		buf_str(&text, c->notes.v[i]);
		rc = add_note(x, &text);
	}
	for (size_t i = 0; !rc && i < c->order.n; i++)
		rc = add_verdict(x, c->order.v[i]);
	return rc || x->head.failed || x->how.failed ? -ERR_NOMEM : 0;
}

static void page_fini(struct page *x)
{
	for (size_t i = 0; i < x->n; i++) {
		if (x->in)
			annotate_free(x->in[i].lines);
		if (x->rep)
			report_free(x->rep[i]);
	}
	arrays_fini(&x->arrays);
	for (size_t i = 0; i < x->verdicts.n; i++)
		free(x->verdicts.v[i].text);
	for (size_t i = 0; i < x->notes.n; i++)
		free(x->notes.v[i]);
	vec_fini(&x->verdicts);
	vec_fini(&x->notes);
	buf_fini(&x->head);
	buf_fini(&x->how);
}

static int build(struct page *x, struct buf *source_notes, struct buf *out,
		 struct error *err)
{
	struct html_compare compare = { .how = "" };
	struct html_style style = { .compare = &compare, .source_notes = source_notes };
	int rc = make_texts(x) < 0 ? error_nomem(err) : 0;

	for (size_t i = 0; !rc && i < x->n; i++)
		rc = make_input(x, i, err);
	if (rc)
		return rc;
	compare = (struct html_compare){
		.how = buf_cstr(&x->how), .headline = buf_cstr(&x->head),
		.notes = (const char *const *)x->notes.v,
		.nnotes = x->notes.n,
		.verdicts = x->verdicts.v, .nverdicts = x->verdicts.n,
	};
	return html_write(x->in, x->n, &style, out, err);
}

int check_html(const struct check *c, struct buf *source_notes, struct buf *out,
	       struct error *err)
{
	struct page x = { .c = c, .n = c->runs.files.n };
	double runs = (double)c->runs.nnew / (double)c->runs.nbase;
	double by = c->judge.absolute || !(c->scale > 0) ? 1 : c->scale;
	int rc;

	x.scale[CHECK_NEW].by = 1;
	x.scale[CHECK_BASE].by = runs / by;
	x.rep = arrays_new(&x.arrays, x.n, sizeof(*x.rep));
	x.match = arrays_new(&x.arrays, x.n, sizeof(*x.match));
	x.in = arrays_new(&x.arrays, x.n, sizeof(*x.in));
	rc = x.arrays.failed ? error_nomem(err) : build(&x, source_notes, out, err);
	page_fini(&x);
	return rc;
}
