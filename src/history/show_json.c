// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes histories and verdicts as JSON: see show.h. */
#include <math.h>

#include "base/json.h"
#include "history/show.h"

static void put_name(const struct history *h, uint32_t func, struct json *j)
{
	const struct history_func *f = &h->funcs.v[func];
	struct buf name = { 0 };

	history_name(h, func, &name);
	json_str(j, "name", buf_cstr(&name));
	json_str(j, "symbol", history_str(h, f->name));
	json_str(j, "image", history_str(h, f->image));
	buf_close(&name, j->out);
}

static void put_class(const struct history *h, const struct history_class *c,
		      struct json *j)
{
	json_str(j, "benchmark", history_str(h, c->benchmark));
	json_str(j, "cpu", history_str(h, c->cpu));
	json_str(j, "kernel", history_str(h, c->kernel));
	json_str(j, "event", history_str(h, c->event));
	json_str(j, "settings", history_str(h, c->settings));
}

static void put_batches(const struct history_view *v, struct json *j)
{
	const struct history *h = v->series.h;

	json_array_lines(j, "batches");
	for (size_t i = 0; i < v->series.n; i++) {
		const struct batch *b = &h->batches.v[v->series.batch[i]];

		json_object(j, NULL);
		json_str(j, "commit", history_str(h, b->commit));
		json_int(j, "time", b->time);
		json_int(j, "recorded", b->recorded);
		json_uint(j, "runs", b->runs);
		json_fixed(j, "cost", exp(v->series.total[i]), 0);
		json_fixed(j, "kernel_share", v->series.kernel[i], 4);
		json_end(j);
	}
	json_end(j);
}

static void put_functions(const struct history_view *v, struct json *j)
{
	const struct cost_series *s = &v->series;

	json_array_lines(j, "functions");
	for (size_t k = 0; k < s->funcs.n; k++) {
		const double *y = series_y(s, k);

		json_object(j, NULL);
		put_name(s->h, s->funcs.v[k].func, j);
		json_fixed(j, "share", s->funcs.v[k].share, 6);
		json_fixed(j, "noise", s->funcs.v[k].noise.typical, 6);
		/* relative to the first batch */
		json_array(j, "relative_cost");
		for (size_t i = 0; i < s->n; i++)
			json_fixed(j, NULL, exp(y[i] - y[0]), 4);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void put_commit(const struct history_view *v, const char *key, size_t i,
		       struct json *j)
{
	const struct history *h = v->series.h;

	json_str(j, key, history_str(h, h->batches.v[v->series.batch[i]]
					       .commit));
}

static void put_evidence(const struct history_view *v, const struct change *c,
			 struct json *j)
{
	const struct history *h = v->series.h;
	struct evidence e;

	if (evidence_find(&v->series, &v->changes, c, &e) < 0)
		j->out->failed = true;
	if (e.code != EVIDENCE_UNKNOWN)
		json_bool(j, "code_changed", e.code == EVIDENCE_NEW_CODE);
	if (e.moved_from != UINT32_MAX) {
		json_object(j, "moved_from");
		put_name(h, e.moved_from, j);
		json_end(j);
	}
	json_array(j, "evidence");
	for (size_t i = 0; i < e.v.n; i++) {
		const struct evidence_part *p = &e.v.v[i];

		json_object(j, NULL);
		json_str(j, p->caller ? "caller" : "file", history_str(h, p->name));
		if (!p->caller)
			json_uint(j, "line", p->line);
		json_fixed(j, "base", p->base, 6);
		json_fixed(j, "new", p->now, 6);
		json_end(j);
	}
	json_end(j);
	evidence_fini(&e);
}

static void put_command(const struct history_report *r, const struct history_view *v,
			const struct change_group *g, struct json *j)
{
	struct buf text = { 0 };
	size_t from, to;

	show_sides(v, g, &from, &to);
	show_command(r, from, to, &text);
	if (text.n)
		json_str(j, "compare", buf_cstr(&text));
	buf_close(&text, j->out);
}

static void put_changes(const struct history_report *r, const struct history_view *v,
			struct json *j)
{
	static const char *const kinds[] = { "changed", "new", "gone" };

	json_array_lines(j, "changes");
	for (size_t g = 0; g < v->changes.groups.n; g++) {
		const struct change_group *x = &v->changes.groups.v[g];

		json_object(j, NULL);
		json_str(j, "kind", x->slope ? "slope" : "step");
		put_commit(v, "commit", x->at, j);
		put_commit(v, "first_commit", x->from, j);
		put_commit(v, "last_commit", x->to, j);
		json_fixed(j, "impact", x->impact, 6);
		json_array(j, "functions");
		for (size_t i = x->first; i < x->first + x->n; i++) {
			const struct change *c = &v->changes.v.v[i];
			double unless;

			json_object(j, NULL);
			if (c->func == SERIES_TOTAL)
				json_str(j, "name", "[total]");
			else
				put_name(v->series.h,
					 v->series.funcs.v[c->func].func, j);
			json_str(j, "status", kinds[c->kind]);
			json_fixed(j, "impact", c->impact, 6);
			/* null if one side has no samples */
			unless = c->kind == CHANGE_COST ? 0 : NAN;
			json_fixed(j, "ratio", c->ratio + unless, 4);
			json_fixed(j, "low", c->low + unless, 4);
			json_fixed(j, "high", c->high + unless, 4);
			put_evidence(v, c, j);
			json_end(j);
		}
		json_end(j);
		put_command(r, v, x, j);
		json_end(j);
	}
	json_end(j);
}

void history_json(const struct history_report *r, struct buf *out)
{
	struct json j = json_on(out);

	json_object(&j, NULL);
	json_uints(&j, { "schema", 1 }, { "damaged_files", r->h->damaged },
		   { "other_branches", r->aside });
	json_array_lines(&j, "classes");
	for (size_t i = 0; i < r->views.n; i++) {
		const struct history_view *v = &r->views.v[i];

		json_object(&j, NULL);
		put_class(r->h, v->class, &j);
		put_batches(v, &j);
		put_functions(v, &j);
		put_changes(r, v, &j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_u8(out, '\n');
}

void verdict_json(const struct history *h, const struct verdict *v,
		  const struct verdict_options *o,
		  const struct history_classes *classes, size_t class,
		  struct buf *out)
{
	struct json j = json_on(out);

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_str(&j, "verdict", verdict_answer_name(v));
	if (v->broken)
		json_str(&j, "broken", v->broken);
	put_class(h, &classes->v.v[class], &j);
	json_uint(&j, "batches", v->fresh);
	json_uint(&j, "stored", v->stored);
	json_bool(&j, "learning", v->learning);
	json_fixed(&j, "budget", o->budget, 6);
	json_fixed(&j, "mde", v->learning ? NAN : v->mde, 6);
	json_array_lines(&j, "functions");
	for (size_t i = 0; i < v->rows.n; i++) {
		const struct verdict_row *r = &v->rows.v[i];

		json_object(&j, NULL);
		put_name(h, r->func, &j);
		json_str(&j, "status", verdict_status_name(r->status));
		json_fixed(&j, "share", r->share, 6);
		json_fixed(&j, "ratio", r->ratio, 4);
		json_fixed(&j, "low", r->low, 4);
		json_fixed(&j, "high", r->high, 4);
		json_fixed(&j, "q", r->q, 6);
		json_fixed(&j, "visible", r->visible, 4);
		json_uint(&j, "against", r->against);
		json_bool(&j, "last_commit_too", r->before);
		if (r->moved_from != UINT32_MAX)
			json_str(&j, "moved_from", history_str(h,
					h->funcs.v[r->moved_from].name));
		json_end(&j);
	}
	json_end(&j);
	if (!v->learning) {
		json_object(&j, "total");
		json_bool(&j, "slower", v->total.slower);
		json_fixed(&j, "ratio", v->total.ratio, 4);
		json_fixed(&j, "low", v->total.low, 4);
		json_fixed(&j, "high", v->total.high, 4);
		json_end(&j);
	}
	json_end(&j);
	buf_u8(out, '\n');
}
