// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encodes the block of data in a page: zlib (RFC 1950) over
 *
 *	u32	n, little-endian
 *	n bytes	JSON for small tables (see put_meta)
 *	columns	values of each column as ULEB128, column after column
 *
 * Columns of the nodes, in pre-order without the root:
 *	- number of levels that a node is above a child of the previous node
 *	- function * 2 + inlined
 * Columns of the cohorts of threads, if the page has labels:
 *	- thread; for each label the value
 * Columns of the entries, by node, event, cohort, kind of wait and time:
 *	- distance to the previous node, event, cohort (without labels its thread)
 *	- what is waited for, if the page has kinds of waits
 *	- time slice, or its distance to the previous one if all else is equal
 *	- samples; weights if an event's samples differ in weight
 * Columns of the functions, for each event:
 *	- self samples, total samples; weights likewise
 * Columns of lines and instructions follow (html_encode_lines.c).
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "symbolize/demangle/demangle.h"
#include "views/html/html_data.h"
#include "views/query/names.h"

enum {
	/* maximum length of data quality text, which the page folds */
	TEXT_COLUMNS = 4000,
	SPECIALS = CALLTREE_ROOT - CALLTREE_SPECIAL + 1,
};

static uint32_t number(struct html_encoder *e, struct strtab *t,
		       const char *text)
{
	uint32_t id = strtab_add(t, text);

	e->failed |= id == UINT32_MAX;
	return id;
}

static const struct frame_keys *func_keys(const struct html_encoder *e,
					  size_t func)
{
	return &html_rep(e->d, e->d->funcs.v[func].source)->keys;
}

static const struct frame_key *func_key(const struct html_encoder *e,
					size_t func)
{
	return &func_keys(e, func)->keys.v[e->d->funcs.v[func].fk];
}

static const struct profile *func_profile(const struct html_encoder *e,
					  size_t func)
{
	return html_rep(e->d, e->d->funcs.v[func].source)->p;
}

static uint32_t func_number(const struct html_encoder *e, uint32_t fk)
{
	return fk >= CALLTREE_SPECIAL
		       ? (uint32_t)e->d->funcs.n + fk - CALLTREE_SPECIAL : fk;
}

/* Leaves no constant weight where an entry's weight is another. */
static void compare_weights(struct html_data *d, const struct html_entries *e)
{
	for (size_t i = 0; i < e->v.n; i++) {
		const struct html_entry *x = &e->v.v[i];
		uint64_t *per = &d->cols[x->event].per;

		if (*per * x->c.count != x->c.weight &&
		    d->tree.total[x->event].weight)
			*per = 0;
	}
}

/* Finds the constant weight of an event's samples, which makes columns of
 * weights unnecessary. */
static void find_weights(struct html_data *d)
{
	for (size_t c = 0; c < d->ncols; c++) {
		struct cell all = d->tree.total[c];

		/* samples without weights are counted */
		d->cols[c].per = all.weight ? all.weight / all.count : 1;
	}
	compare_weights(d, &d->entries);
	compare_weights(d, &d->lines.entries);
}

/* Writes the lines of e->tmp as strings of the open array. */
static void put_lines(struct html_encoder *e, struct json *j)
{
	char *save = NULL, *text = (char *)buf_cstr(&e->tmp);

	for (char *l = strtok_r(text, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		l += *l == '#';
		l += *l == ' ';
		if (*l)
			json_str(j, NULL, l);
	}
}

/* Returns whether a recording represents its side: with many recordings, only
 * the first of each side does. */
static bool represents_side(const struct html_data *d, size_t i)
{
	return d->nsrc <= 4 || !i ||
	       d->src[i].in.side != d->src[i - 1].in.side;
}

/* Writes the header of the last recording, which is one of the new side. */
static void put_header(struct html_encoder *e, struct json *j)
{
	const struct html_data *d = e->d;
	const struct report *rep = html_rep(d, (uint32_t)d->nsrc - 1);

	json_object(j, "header");
	quality_json(&rep->quality, j);
	json_end(j);
	json_array(j, "quality");
	for (size_t i = 0; i < d->nsrc; i++) {
		if (!represents_side(d, i))
			continue;
		buf_again(&e->tmp);
		if (d->nsrc > 1)
			json_str(j, NULL, html_safe_text(e, d->src[i].in.label
						? d->src[i].in.label : ""));
		quality_text(&d->src[i].in.rep->quality, TEXT_COLUMNS, &e->tmp);
		put_lines(e, j);
	}
	json_end(j);
	buf_again(&e->tmp);
	missing_text(&rep->missing, d->style->missing, TEXT_COLUMNS, &e->tmp);
	json_array(j, "missing");
	put_lines(e, j);
	json_end(j);
}

/* Returns the factor that makes a column's values comparable with the new
 * side's.  Values in the page are samples if all weigh the same. */
static double page_scale(const struct html_data *d, const struct html_col *col)
{
	const struct profile *p = html_rep(d, col->source)->p;
	const char *name = profile_cstr(p, p->events.v[col->event].actual);
	double mine = col->per ? (double)col->per : 1, other = 1;

	for (size_t c = 0; c < d->ncols; c++) {
		const struct profile *q = html_rep(d, d->cols[c].source)->p;

		if (d->cols[c].side == HTML_NEW && d->cols[c].per &&
		    !strcmp(name, profile_cstr(
			    q, q->events.v[d->cols[c].event].actual)))
			other = (double)d->cols[c].per;
	}
	return col->scale.by * mine / other;
}

static void put_events(struct html_encoder *e, struct json *j)
{
	json_array(j, "events");
	for (size_t c = 0; c < e->d->ncols; c++) {
		const struct html_col *col = &e->d->cols[c];
		const struct report *rep = html_rep(e->d, col->source);
		const struct prof_event *ev = &rep->p->events.v[col->event];

		json_object(j, NULL);
		json_str(j, "name",
			 html_safe_text(e, profile_cstr(rep->p, ev->name)));
		json_str(j, "actual",
			 html_safe_text(e, profile_cstr(rep->p, ev->actual)));
		json_str(j, "unit", ev->unit == PROF_UNIT_NS ? "ns" : "count");
		if (prof_is_wait(ev))
			json_bool(j, "wait", true);
		/* not a part of all time */
		if (prof_is_waking(ev) || prof_is_latency(ev))
			json_bool(j, "apart", true);
		json_str(j, "skid", annot_skid(ev));
		json_uints(j, { "side", col->side }, { "samples", col->all.count },
			   { "weight", col->all.weight }, { "per", col->per });
		if (e->d->style->compare) {
			json_fixed(j, "scale", page_scale(e->d, col), 9);
			json_fixed(j, "tau", col->scale.tau, 6);
		}
		json_end(j);
	}
	json_end(j);
}

static void put_lanes(struct html_encoder *e, struct json *j)
{
	const struct html_data *d = e->d;
	const struct html_source *last = &d->src[d->nsrc - 1];

	json_array_lines(j, "lanes");
	for (size_t i = 0; i < d->lanes.n; i++) {
		const struct page_thread *l = &d->lanes.v[i];

		json_object(j, NULL);
		json_uint(j, "side", d->src[l->source].in.side);
		if (d->nsrc > 1)
			json_uint(j, "source", l->source);
		json_uints(j, { "run", l->run + 1ull }, { "pid", l->pid },
			   { "tid", l->tid });
		json_str(j, "comm", html_safe_text(e, l->comm ? l->comm : ""));
		json_uint(j, "samples", l->samples);
		json_uint(j, "others", l->others);
		json_end(j);
	}
	json_end(j);
	json_object(j, "time");
	json_uint(j, "start_ns", d->style->compare ? 0 : last->start_ns -
				 profile_start_ns(last->in.rep->p));
	json_uint(j, "width_ns", d->width_ns);
	json_uint(j, "buckets", d->buckets);
	json_end(j);
}

static void put_small(struct html_encoder *e, struct json *j)
{
	const struct calltree *t = &e->d->tree;
	struct cell all = { 0, 0 };

	for (size_t i = 0; t->ncols && i < t->nodes.n; i++)
		if (t->nodes.v[i].func == CALLTREE_OTHER)
			for (size_t c = 0; c < t->ncols; c++)
				cell_add(&all, t->total[i * t->ncols + c]);
	json_object(j, "small");
	json_fixed(j, "share", e->d->share, 9);
	json_uint(j, "nodes", t->pruned);
	json_bool(j, "folded", t->folded);
	json_uint(j, "depth", CALLTREE_FOLD);
	json_uint(j, "samples", all.count);
	json_end(j);
}

static const char *func_label(struct html_encoder *e, size_t func)
{
	return name_label(func_profile(e, func), func_keys(e, func), func_key(e, func),
			  NAME_ALONE);
}

/* Puts the full name without its label into e->tmp. */
static const char *bare_name(void *ctx, size_t func)
{
	struct html_encoder *e = ctx;

	buf_again(&e->tmp);
	name_symbol(func_profile(e, func), func_keys(e, func), func_key(e, func),
		    NAME_ALONE | NAME_BARE, &e->tmp);
	return buf_cstr(&e->tmp);
}

/* Writes e->tmp and a label.  html_safe_text may cut the name, which does not matter to a
 * page. */
static void put_labelled(struct html_encoder *e, struct json *j, const char *label)
{
	if (e->tmp.n && *label)
		buf_printf(&e->tmp, " (%s)", label);
	json_str(j, NULL, html_safe_text(e, buf_cstr(&e->tmp)));
}

/* The names of functions, and their short names; these are empty if they are the
 * name. */
static void put_names(struct html_encoder *e, struct json *j)
{
	struct short_names *brief = short_names_new(e->d->funcs.n);

	if (!brief) {
		e->failed = true;
		return;
	}
	json_array(j, "name");
	for (size_t i = 0; i < e->d->funcs.n; i++) {
		const char *bare = bare_name(e, i);

		short_names_add(brief, func_key(e, i)->kind == FRAME_FUNC ? bare : "");
		put_labelled(e, j, func_label(e, i));
	}
	for (uint32_t i = 0; i < SPECIALS; i++) {
		buf_again(&e->tmp);
		calltree_func_name(html_rep(e->d, 0), CALLTREE_SPECIAL + i, &e->tmp);
		json_str(j, NULL, buf_cstr(&e->tmp));
	}
	json_end(j);
	short_names_apart(brief, bare_name, e);
	json_array(j, "short");
	for (size_t i = 0; i < e->d->funcs.n; i++) {
		buf_again(&e->tmp);
		buf_str(&e->tmp, short_names_get(brief, i));
		put_labelled(e, j, func_label(e, i));
	}
	json_end(j);
	e->failed |= short_names_free(brief);
}

/* Finds functions whose declaration this recording knows and no earlier one
 * does. */
static void find_places(struct html_encoder *e, uint32_t source,
			const struct prof_func **at, uint32_t *from)
{
	const struct report *rep = html_rep(e->d, source);

	for (size_t i = 0; i < rep->p->frames.n; i++) {
		uint32_t fk = rep->keys.steps[i].fk, f;
		uint32_t func = rep->p->frames.v[i].func;

		f = fk == PROF_NONE ? PROF_NONE : e->d->src[source].func_of[fk];
		if (f == PROF_NONE || func >= rep->p->funcs.n || at[f])
			continue;
		at[f] = &rep->p->funcs.v[func];
		from[f] = source;
	}
}

/* Writes where functions are declared, according to the first recording of the
 * new side that knows it. */
static void put_places(struct html_encoder *e, struct json *j)
{
	size_t n = e->d->funcs.n;
	const struct prof_func **at = calloc(n + 1, sizeof(*at));
	uint32_t *source = calloc(n + 1, sizeof(*source));

	e->failed |= !at || !source;
	for (int side = HTML_NEW; side <= HTML_BASE; side++)
		for (uint32_t s = 0; !e->failed && s < e->d->nsrc; s++)
			if (e->d->src[s].in.side == (enum html_side)side)
				find_places(e, s, at, source);
	json_array(j, "file");
	for (size_t i = 0; !e->failed && i < n; i++)
		json_uint(j, NULL, !at[i] ? 0 : number(e, &e->files,
			profile_cstr(html_rep(e->d, source[i])->p,
				     at[i]->file)));
	json_end(j);
	json_array(j, "line");
	for (size_t i = 0; !e->failed && i < n; i++)
		json_uint(j, NULL, at[i] ? at[i]->line : 0);
	json_end(j);
	free(at);
	free(source);
}

static void put_functions(struct html_encoder *e, struct json *j)
{
	size_t n = e->d->funcs.n;

	json_object(j, "funcs");
	put_names(e, j);
	json_array(j, "image");
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL,
			  number(e, &e->images, profile_cstr(
				func_profile(e, i), func_key(e, i)->image)));
	json_end(j);
	json_array(j, "kernel");
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL, func_key(e, i)->kernel);
	json_end(j);
	put_places(e, j);
	json_end(j);
}

static void put_ids(struct html_encoder *e, struct json *j, const char *key,
		    const struct strtab *t)
{
	json_array(j, key);
	for (size_t i = 0; i < t->str.n; i++)
		json_str(j, NULL, html_safe_text(e, t->str.v[i]));
	json_end(j);
}

/* Returns the number of runs of a side, because costs are shown per run. */
static uint64_t side_runs(const struct html_data *d, enum html_side side)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->nsrc; i++) {
		const struct html_input *in = &d->src[i].in;

		if (in->side == side)
			n += in->runs ? in->runs : in->rep->p->runs.n;
	}
	return n ? n : 1;
}

static void put_compare(struct html_encoder *e, struct json *j)
{
	const struct html_compare *c = e->d->style->compare;

	if (!c)
		return;
	json_object(j, "compare");
	json_str(j, "how", html_safe_text(e, c->how));
	if (c->headline)
		json_str(j, "headline", html_safe_text(e, c->headline));
	json_array(j, "notes");
	for (size_t i = 0; i < c->nnotes; i++)
		json_str(j, NULL, html_safe_text(e, c->notes[i]));
	json_end(j);
	json_array(j, "runs");
	json_uint(j, NULL, side_runs(e->d, HTML_NEW));
	json_uint(j, NULL, side_runs(e->d, HTML_BASE));
	json_end(j);
	json_array(j, "inputs");
	for (size_t i = 0; i < e->d->nsrc; i++)
		json_str(j, NULL, html_safe_text(e, e->d->src[i].in.label
						 ? e->d->src[i].in.label : ""));
	json_end(j);
	json_array_lines(j, "verdicts");
	for (size_t i = 0; c->nverdicts && i < e->d->funcs.n; i++) {
		const struct row_verdict *v =
			html_find_verdict(e->d, &e->d->funcs.v[i]);

		if (!v)
			continue;
		json_object(j, NULL);
		json_uint(j, "func", i);
		json_uint(j, "rank", (uint64_t)(v - c->verdicts));
		json_bool(j, "bad", v->bad);
		json_str(j, "words", html_safe_text(e, v->text));
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_begin(struct html_encoder *e, struct json *j)
{
	static const char *const views[] = { "table", "flame", "lines" };
	const struct html_style *s = e->d->style;
	bool lines = e->d->lines.funcs.n > 0;

	json_object(j, "begin");
	json_str(j, "view", views[s->first]);
	json_bool(j, "inverted", s->inverted);
	json_bool(j, "icicle", s->icicle);
	if (lines && (s->first == HTML_LINES || s->named))
		json_uint(j, "func", e->d->lines.funcs.v[0]);
	json_end(j);
}

/* Writes the summary of sources after the lines, because only writing lines
 * reads sources. */
static void put_sources(struct html_encoder *e, struct json *j)
{
	const struct html_data *d = e->d;
	struct sources **list = calloc(d->nsrc + 1, sizeof(*list));
	struct buf *source_notes = d->style->source_notes;
	size_t n = 0;

	e->failed |= !list;
	for (size_t i = 0; list && i < d->nsrc; i++)
		if (d->src[i].in.lines)
			list[n++] = &d->src[i].in.lines->sources;
	buf_again(&e->tmp);
	if (n)
		sources_summary(list, n, true, &e->tmp);
	json_array(j, "sources");
	put_lines(e, j);
	json_end(j);
	if (source_notes) {
		buf_reset(source_notes);
		sources_summary(list, n, false, source_notes);
		e->failed |= source_notes->failed;
	}
	free(list);
}

static void put_meta(struct html_encoder *e)
{
	const struct profile *p = html_rep(e->d, (uint32_t)e->d->nsrc - 1)->p;
	size_t at = e->out->n;
	uint32_t n;
	struct json j;

	buf_u32(e->out, 0);	/* replaced by the length */
	j = json_on(e->out);
	json_object(&j, NULL);
	json_uint(&j, "schema", 2);
	json_str(&j, "title", p->runs.n
		? html_safe_text(e, quality_run_title(p, &p->runs.v[0])) : "");
	put_begin(e, &j);
	put_header(e, &j);
	put_compare(e, &j);
	put_events(e, &j);
	put_lanes(e, &j);
	html_put_labels(e, &j);
	html_put_waits(e, &j);
	put_small(e, &j);
	put_functions(e, &j);
	put_ids(e, &j, "images", &e->images);
	put_ids(e, &j, "files", &e->files);
	json_uint(&j, "nodes", e->d->tree.nodes.n);
	json_uint(&j, "entries", e->d->entries.v.n);
	html_put_lines(e, &j);
	put_sources(e, &j);
	json_end(&j);
	e->failed |= e->out->failed || e->out->n - at - 4 > UINT32_MAX;
	n = (uint32_t)(e->out->n - at - 4);
	for (size_t i = 0; !e->failed && i < sizeof(n); i++)
		e->out->p[at + i] = (uint8_t)(n >> (8 * i));
}

static void put_nodes(struct html_encoder *e)
{
	const struct calltree *t = &e->d->tree;
	uint32_t *depth = calloc(t->nodes.n + 1, sizeof(*depth));

	if (!depth) {
		e->failed = true;
		return;
	}
	for (size_t i = 1; i < t->nodes.n; i++) {
		depth[i] = depth[t->nodes.v[i].parent] + 1;
		buf_uleb(e->out, depth[i - 1] + 1 - depth[i]);
	}
	free(depth);
	for (size_t i = 1; i < t->nodes.n; i++) {
		const struct calltree_node *n = &t->nodes.v[i];

		buf_uleb(e->out, (uint64_t)func_number(e, n->func) * 2 +
					 n->inlined);
	}
}

static void put_sums(struct html_encoder *e)
{
	size_t n = e->d->funcs.n, nc = e->d->ncols;
	const struct values *v = e->d->sums;

	for (size_t c = 0; c < nc; c++) {
		for (size_t i = 0; i < n; i++)
			buf_uleb(e->out, v[i * nc + c].self.count);
		for (size_t i = 0; i < n; i++)
			buf_uleb(e->out, v[i * nc + c].total.count);
		for (size_t i = 0; !e->d->cols[c].per && i < n; i++)
			buf_uleb(e->out, v[i * nc + c].self.weight);
		for (size_t i = 0; !e->d->cols[c].per && i < n; i++)
			buf_uleb(e->out, v[i * nc + c].total.weight);
	}
}

static void compress_block(struct html_encoder *e, const struct buf *raw,
			   struct buf *out)
{
	uLongf n = compressBound(raw->n);
	uint8_t *to = buf_room(out, n);

	if (to && compress2(to, &n, raw->p, raw->n, 6) == Z_OK)
		out->n += n;
	else
		e->failed = true;
}

static void encoder_fini(struct html_encoder *e)
{
	buf_fini(&e->tmp);
	buf_fini(&e->safe);
	buf_fini(&e->cut);
	strtab_fini(&e->images);
	strtab_fini(&e->files);
}

int html_encode(struct html_data *d, struct buf *out, struct error *err)
{
	struct buf raw = { 0 };
	struct html_encoder e = { .d = d, .out = &raw };

	find_weights(d);
	e.failed = strtab_init(&e.images) < 0 || strtab_init(&e.files) < 0;
	if (!e.failed) {
		put_meta(&e);
		put_nodes(&e);
		html_put_cohorts(&e);
		html_put_entries(&e, &d->entries);
		put_sums(&e);
		html_put_line_columns(&e);
	}
	e.failed |= raw.failed || e.tmp.failed || e.safe.failed ||
		    e.cut.failed;
	if (!e.failed)
		compress_block(&e, &raw, out);
	encoder_fini(&e);
	buf_fini(&raw);
	return e.failed ? error_nomem(err) : 0;
}
