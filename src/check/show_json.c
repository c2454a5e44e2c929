// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the check as JSON, schema 1 (doc/tally-check.schema.json).  Rows are
 * ordered by image and name, so that equal files give equal bytes. */
#include <math.h>

#include "base/json.h"
#include "check/show.h"
#include "views/query/names.h"

static const char *const side_names[] = { "baseline", "new" };

static void put_options(const struct check *c, struct json *j)
{
	const struct judge_options *o = &c->o.judge;

	json_object(j, "options");
	json_fixed(j, "alpha", o->alpha, 6);
	json_fixed(j, "margin", o->margin, 6);
	json_fixed(j, "threshold", c->judge.single &&
		   o->single_threshold > o->threshold ? o->single_threshold
						      : o->threshold, 6);
	/* null: the total cannot fail the check */
	json_fixed(j, "total_threshold", o->total_threshold < 0 ? NAN
		   : o->total_threshold, 6);
	json_fixed(j, "min_share", o->min_share, 6);
	json_fixed(j, "min_impact", o->min_impact, 6);
	json_fixed(j, "require_mde", c->o.require_mde < 0 ? NAN
		   : c->o.require_mde, 6);
	json_str(j, "by", c->o.runs.by_line ? "line" : "function");
	json_end(j);
}

static void put_inputs(const struct check *c, struct json *j)
{
	static const char *const keys[] = { "hostname", "cpu", "cpus_online",
					    "arch", "kernel", "revision" };

	json_array_lines(j, "inputs");
	for (size_t i = 0; i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];
		const struct prof_event *e = &f->p->events.v[f->event];

		json_object(j, NULL);
		json_str(j, "file", f->path);
		json_str(j, "side", side_names[f->side]);
		json_uints(j, { "runs", f->p->runs.n }, { "samples", f->samples },
			   { "lost", f->lost }, { "throttled", f->throttled });
		json_str(j, "event", profile_cstr(f->p, e->actual));
		json_uint(j, "freq", e->freq);
		json_uint(j, "period", e->period);
		for (size_t k = 0; k < COUNT(keys); k++)
			json_str(j, keys[k], profile_fact(f->p, keys[k]));
		json_end(j);
	}
	json_end(j);
}

/* Writes changes that are not in a row's own lines (PROF_NONE: of the total). */
static void put_edits(const struct check *c, uint32_t row, struct json *j)
{
	static const char *const names[] = { "self", "caller", "file",
					     "sampled", "other" };
	static const char *const kinds[] = { "changed", "removed", "submodule" };
	bool any = false;

	for (size_t i = 0; i < c->edits.n; i++) {
		const struct check_edit *e = &c->edits.v[i];

		if (e->row != row)
			continue;
		if (!any) {
			json_uint(j, "places_changed", e->of);
			json_array(j, "changed_elsewhere");
		}
		any = true;
		json_object(j, NULL);
		json_str(j, "function", e->name);
		json_str(j, "file", e->path);
		json_uint(j, "line", e->line);
		json_str(j, "change", kinds[e->kind]);
		json_str(j, "relation", names[e->relation]);
		if (e->id) {
			json_str(j, "commit", e->id);
			json_str(j, "subject", e->subject);
		}
		json_end(j);
	}
	if (any)
		json_end(j);
}

static void put_total(const struct check *c, struct json *j)
{
	const struct judge_total *t = &c->judge.total;

	json_object(j, "total");
	json_fixed(j, "base", check_cost(c, t->base), 1);
	json_fixed(j, "new", check_cost(c, t->now), 1);
	json_fixed(j, "ratio", t->ratio, 6);
	json_fixed(j, "low", t->low, 6);
	json_fixed(j, "high", t->high, 6);
	json_fixed(j, "p", t->p, 8);
	json_fixed(j, "visible", t->visible, 6);
	json_fixed(j, "cv_base", t->cv_base, 6);
	json_fixed(j, "cv_new", t->cv_now, 6);
	json_str(j, "method", !t->tested ? "none" : t->paired ? "paired t"
							      : "Welch");
	json_bool(j, "fails", c->total_fails);
	json_str(j, "status", c->total_fails ? "regressed"
		 : c->total_reason ? "allowed" : t->improved ? "improved"
		 : t->regressed ? "slower" : "same");
	if (c->total_reason)
		json_str(j, "reason", c->total_reason);
	put_edits(c, PROF_NONE, j);
	json_end(j);
}

static void put_sensitivity(const struct check *c, struct json *j)
{
	const struct judge_sensitivity *s = &c->sensitivity;
	struct buf name = { 0 };

	json_object(j, "mde");
	/* null: nothing was tested */
	json_fixed(j, "effect", s->row == JUDGE_NOWHERE ? NAN : s->mde, 6);
	if (s->row == JUDGE_TOTAL)
		buf_str(&name, "[total]");
	else if (s->row != JUDGE_NOWHERE)
		check_row_name(c, &c->rows.v[s->row], &name);
	json_str(j, "where", buf_cstr(&name));
	json_fixed(j, "runs_needed", s->runs ? (double)s->runs : NAN, 0);
	if (c->o.runs_most)
		json_uint(j, "runs_most", c->o.runs_most);
	json_end(j);
	buf_fini(&name);
}

static void put_noise(const struct check *c, struct json *j)
{
	json_object(j, "noise");
	json_bool(j, "assumed", c->judge.single);
	json_bool(j, "interleaved", c->interleaved);
	json_bool(j, "same_machine", c->o.judge.same_machine);
	json_fixed(j, "kappa", c->judge.kappa, 4);
	json_fixed(j, "tau", c->judge.tau, 6);
	json_fixed(j, "common_shift", c->judge.shifted ? c->judge.shift : 0,
		   6);
	json_end(j);
}

static void put_part(const struct check *c, const struct check_part *p,
		     struct json *j)
{
	struct buf name = { 0 };

	json_object(j, NULL);
	if (p->kind == PART_CALLER) {
		check_func_name(&c->runs, p->func, &name);
		json_str(j, "function", buf_cstr(&name));
	} else if (p->kind == PART_LINE) {
		json_str(j, "file", check_str(&c->runs, p->name));
		json_uint(j, "line", p->line);
		json_fixed(j, "q", p->p, 8);
	} else {
		json_str(j, "symbol", check_str(&c->runs, p->name));
		json_uint(j, "offset", p->offset);
		if (p->text)
			json_str(j, "text", check_str(&c->runs, p->text));
	}
	json_fixed(j, "base", check_cost(c, p->base), 1);
	json_fixed(j, "new", check_cost(c, p->now), 1);
	json_end(j);
	buf_fini(&name);
}

static void put_parts(const struct check *c, const struct check_row *r,
		      struct json *j)
{
	static const char *const keys[] = { "lines", "instructions",
					    "callers" };
	enum { PARTS_MAX = 20 };

	for (int k = 0; k < PART_KINDS; k++) {
		const struct check_parts *l = &r->parts[k];

		if (!l->n)
			continue;
		json_array(j, keys[k]);
		for (size_t i = 0; i < l->n && i < PARTS_MAX; i++)
			put_part(c, &c->parts.v[l->first + i], j);
		json_end(j);
	}
}

static void put_statistics(const struct check *c, const struct judge_row *r,
			   struct json *j)
{
	json_fixed(j, "share", r->share, 6);
	json_fixed(j, "base", check_cost(c, r->base), 1);
	json_fixed(j, "new", check_cost(c, r->now), 1);
	json_fixed(j, "ratio", r->ratio, 6);
	json_fixed(j, "low", r->low, 6);
	json_fixed(j, "high", r->high, 6);
	json_fixed(j, "p", r->p, 8);
	json_fixed(j, "q", r->q, 8);
	json_fixed(j, "q_faster", r->q_faster, 8);
	json_fixed(j, "df", r->change.df, 2);
	json_fixed(j, "visible", r->visible, 6);
	json_str(j, "method", r->absolute ? "absolute" : "relative");
	json_bool(j, "paired", r->paired);
	json_bool(j, "bursty", r->bursty);
}

/* Writes the function's ID as `tally report` writes it for all recordings. */
static void put_id(const struct check *c, uint32_t func, struct json *j)
{
	const struct compare_func *f = &c->runs.match.funcs.v[func];
	struct frame_key k = { .kind = f->name ? FRAME_FUNC : FRAME_UNKNOWN };
	struct buf id = { 0 };

	name_id(check_str(&c->runs, f->image), check_func_which(&c->runs, func),
		check_str(&c->runs, f->file), check_str(&c->runs, f->name), &k,
		&id);
	json_buf(j, "id", &id);
}

static void put_place(const struct check *c, const struct check_row *r,
		      struct json *j)
{
	struct buf name = { 0 };
	const struct compare_func *f;

	if (r->unit.func == PROF_NONE) {
		check_row_name(c, r, &name);
		json_buf(j, "function", &name);
		return;
	}
	f = &c->runs.match.funcs.v[r->unit.func];
	check_func_name(&c->runs, r->unit.func, &name);
	json_str(j, "image", check_row_image(c, r));
	json_str(j, "function", buf_cstr(&name));
	json_str(j, "linkage_name", check_str(&c->runs, f->name));
	put_id(c, r->unit.func, j);
	json_bool(j, "kernel", f->kernel);
	json_str(j, "file", check_str(&c->runs, r->unit.file ? r->unit.file
							     : f->file));
	json_uint(j, "line", r->unit.file ? check_line_number(r->unit.line)
					  : f->line);
	buf_fini(&name);
}

static void put_commits(const struct check *c, uint32_t row, struct json *j)
{
	bool any = false;

	for (size_t i = 0; i < c->commits.n; i++) {
		const struct check_commit *k = &c->commits.v[i];

		if (k->row != row)
			continue;
		if (!any) {
			json_uint(j, "commits_found", k->of);
			json_array(j, "commits");
		}
		any = true;
		json_object(j, NULL);
		json_str(j, "id", k->id);
		json_str(j, "subject", k->subject);
		json_str(j, "changed", k->of_file ? "file" : "lines");
		json_end(j);
	}
	if (any)
		json_end(j);
}

static void put_rows(const struct check *c, struct json *j)
{
	json_array_lines(j, "rows");
	for (uint32_t i = 0; i < c->rows.n; i++) {
		const struct check_row *r = &c->rows.v[i];
		struct buf from = { 0 };

		if (r->status == CHECK_SMALL)
			continue;
		json_object(j, NULL);
		put_place(c, r, j);
		json_str(j, "status", check_status_name(r->status));
		json_bool(j, "fails", r->fails);
		if (r->reason)
			json_str(j, "reason", r->reason);
		if (check_row_before(c, r, &from))
			json_str(j, "moved_from", buf_cstr(&from));
		put_statistics(c, &r->j, j);
		if (describe_changed(r)) {
			put_parts(c, r, j);
			put_commits(c, i, j);
			put_edits(c, i, j);
		}
		json_end(j);
		buf_fini(&from);
	}
	json_end(j);
}

static void put_inclusive(const struct check *c, struct json *j)
{
	static const char *const names[] = { "small", "same", "suspect",
		"regressed", "improved", "new", "gone" };

	json_array_lines(j, "inclusive");
	for (size_t i = 0; i < c->inclusive.nfuncs; i++) {
		const struct judge_row *r = &c->inclusive.rows[i];

		if (r->status == JUDGE_SMALL)
			continue;
		json_object(j, NULL);
		put_place(c, &c->rows.v[i], j);
		json_str(j, "status", names[r->status]);
		put_statistics(c, r, j);
		json_end(j);
	}
	json_end(j);
}

void check_json(const struct check *c, struct buf *out)
{
	struct json j = json_on(out);
	struct buf words = { 0 };

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_str(&j, "verdict", check_verdict_name(c->verdict));
	describe_verdict(c, &words);
	json_buf(&j, "summary", &words);
	json_str(&j, "event", check_event_name(c));
	json_str(&j, "unit", c->is_time ? "ns" : "count");
	json_uints(&j, { "baseline_runs", c->runs.nbase },
		   { "new_runs", c->runs.nnew }, { "tested", c->judge.tested });
	put_options(c, &j);
	put_total(c, &j);
	put_sensitivity(c, &j);
	put_noise(c, &j);
	json_array(&j, "notes");
	for (size_t i = 0; i < c->notes.n; i++)
		json_str(&j, NULL, c->notes.v[i]);
	json_end(&j);
	put_inputs(c, &j);
	put_rows(c, &j);
	if (c->o.inclusive)
		put_inclusive(c, &j);
	json_end(&j);
	buf_str(out, "\n");
}
