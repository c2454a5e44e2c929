// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes histories and verdicts as text: see show.h. */
#include "history/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "check/show.h"
#include "symbolize/demangle/demangle.h"
#include "views/query/names.h"

enum { COMMIT_SHOWN = 12, ROWS_SHOWN = 10 };

int history_report_build(struct history_report *r,
			 const struct history_classes *classes,
			 struct error *err)
{
	r->aside = classes->aside.n;
	for (size_t i = 0; i < classes->v.n; i++) {
		struct history_view v = { .class = &classes->v.v[i] };
		int rc = series_build(r->h, v.class->batches.v, v.class->batches.n, 0,
				      0.004, &v.series, err) ?:
			 changes_find(&v.series, &v.changes, err);

		if (!rc && vec_push(&r->views, v) < 0)
			rc = error_nomem(err);
		if (rc) {
			changes_fini(&v.changes);
			series_fini(&v.series);
			return rc;
		}
	}
	return 0;
}

void history_report_fini(struct history_report *r)
{
	for (size_t i = 0; i < r->views.n; i++) {
		changes_fini(&r->views.v[i].changes);
		series_fini(&r->views.v[i].series);
	}
	vec_fini(&r->views);
}

void show_func(const struct history *h, uint32_t func, struct buf *out)
{
	struct buf name = { 0 }, tmp = { 0 };

	history_name(h, func, &name);
	name_shorten(buf_cstr(&name), &tmp);
	text_safe(out, buf_cstr(&tmp));
	buf_close(&name, out);
	buf_close(&tmp, out);
}

static void show_commit(const struct history *h, uint32_t commit,
			struct buf *out)
{
	const char *s = history_str(h, commit);
	struct buf cut = { 0 };

	buf_bytes(&cut, s, strnlen(s, COMMIT_SHOWN));
	text_safe(out, buf_cstr(&cut));
	buf_fini(&cut);
}

static uint32_t commit_of(const struct history_view *v, size_t batch)
{
	return v->series.h->batches.v[v->series.batch[batch]].commit;
}

static void show_subject(const struct history_report *r, uint32_t commit,
			 struct buf *out)
{
	const char *s = r->subject ? r->subject(r->ctx, commit) : "";

	if (!*s)
		return;
	buf_str(out, " \"");
	text_safe(out, s);
	buf_str(out, "\"");
}

/* Appends the commit or commits that may have caused a change. */
static void show_span(const struct history_report *r, const struct history_view *v,
		      size_t from, size_t to, struct buf *out)
{
	uint32_t first = commit_of(v, from), last = commit_of(v, to);
	size_t n = 1, missing;

	for (size_t i = from + 1; i <= to; i++)
		n += commit_of(v, i) != commit_of(v, i - 1);
	missing = r->between && from
		? r->between(r->ctx, commit_of(v, from - 1), last) : 0;
	missing = missing > n - 1 ? missing - (n - 1) : 0;
	if (n > 1) {
		buf_printf(out, "one of %zu commits, ", n + missing);
		show_commit(r->h, first, out);
		buf_str(out, " to ");
	}
	show_commit(r->h, last, out);
	if (n == 1)
		show_subject(r, last, out);
	if (missing)
		buf_printf(out, " (%zu before it %s not recorded)", missing,
			   missing == 1 ? "was" : "were");
}

void show_when(const struct history_report *r, const struct history_view *v,
	       const struct change_group *g, struct buf *out)
{
	if (!g->slope) {
		show_span(r, v, g->from, g->to, out);
		return;
	}
	buf_str(out, "gradually, from ");
	show_commit(r->h, commit_of(v, g->from), out);
	buf_str(out, " to ");
	show_commit(r->h, commit_of(v, g->to), out);
	buf_printf(out, " (%zu batches); no single commit stands out",
		   g->to - g->from);
}

void show_class(const struct history *h, const struct history_class *c,
		struct buf *out)
{
	const char *cpu = history_str(h, c->cpu);

	text_safe(out, *cpu ? cpu : "unknown processor");
	buf_str(out, ", kernel ");
	text_safe(out, history_str(h, c->kernel));
	buf_str(out, ", ");
	text_safe(out, history_str(h, c->event));
	buf_str(out, ", ");
	text_safe(out, history_str(h, c->settings));
}

static void show_day(int64_t seconds, struct buf *out)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (gmtime_r(&t, &tm))
		buf_printf(out, "%04d-%02d-%02d", tm.tm_year + 1900,
			   tm.tm_mon + 1, tm.tm_mday);
}

/* Appends "; WORDS: NAME +4.1%, NAME +2.0%" for lines or callers. */
static void put_parts(const struct history *h, const struct evidence *e, bool callers,
		      double impact, struct buf *out)
{
	const char *sep = callers ? "; callers with" : "; lines with";

	for (size_t i = 0; i < e->v.n; i++) {
		const struct evidence_part *p = &e->v.v[i];
		struct buf name = { 0 };

		if (p->caller != callers)
			continue;
		if (*sep == ';')
			buf_printf(out, "%s %s of it: ", sep,
				   impact > 0 ? "most" : "less");
		else
			buf_str(out, sep);
		sep = ", ";
		if (callers)
			demangle(history_str(h, p->name), &name);
		else
			buf_printf(&name, "%s:%u", history_str(h, p->name),
				   p->line);
		text_safe(out, buf_cstr(&name));
		buf_printf(out, " %+.1f%%", 100 * (p->now - p->base));
		buf_fini(&name);
	}
}

void show_evidence(const struct history_view *v, const struct change *c,
		   struct buf *out)
{
	static const char *const codes[] = {
		[EVIDENCE_UNKNOWN] = "",
		[EVIDENCE_SAME_CODE] = "; its code is the same",
		[EVIDENCE_NEW_CODE] = "; its code changed",
	};
	const struct history *h = v->series.h;
	struct buf text = { 0 };
	struct evidence e;

	if (evidence_find(&v->series, &v->changes, c, &e) < 0)
		out->failed = true;
	if (e.moved_from != UINT32_MAX) {
		buf_str(&text, "; moved from ");
		show_func(h, e.moved_from, &text);
	}
	buf_str(&text, codes[e.code]);
	put_parts(h, &e, false, c->impact, &text);
	put_parts(h, &e, true, c->impact, &text);
	if (text.n > 2)
		buf_str(out, buf_cstr(&text) + 2);
	buf_close(&text, out);
	evidence_fini(&e);
}

void show_sides(const struct history_view *v, const struct change_group *g,
		size_t *from, size_t *to)
{
	size_t last = g->slope ? g->from : g->at ? g->at - 1 : 0;
	size_t first = g->slope && g->to < v->series.n ? g->to : g->at;

	*from = v->series.batch[last];
	*to = v->series.batch[first];
}

void show_command(const struct history_report *r, size_t from, size_t to,
		  struct buf *out)
{
	const struct history *h = r->h;
	const size_t side[2] = { from, to };
	struct buf text = { 0 };

	buf_str(&text, "tally diff");
	for (int i = 0; i < 2; i++) {
		const struct batch *b = &h->batches.v[side[i]];

		buf_str(&text, i ? " --new" : " --baseline");
		for (uint32_t k = 0; k < b->nrecordings; k++) {
			struct buf path = { 0 };
			char *words[] = { NULL, NULL };

			if (!history_recording_path(h, b->first_recording + k,
						    r->store, &path)) {
				buf_fini(&path);
				buf_fini(&text);
				return;
			}
			words[0] = (char *)(uintptr_t)buf_cstr(&path);
			buf_u8(&text, ' ');
			shell_quote(&text, words);
			buf_fini(&path);
		}
		if (!b->nrecordings)
			buf_reset(&text);
	}
	if (text.n > 16)
		text_safe(out, buf_cstr(&text));
	buf_fini(&text);
}

static void put_change(const struct history_view *v, const struct change *c,
		       struct buf *out)
{
	struct buf why = { 0 };

	const char *word = c->ratio > 1 ? "slower" : "faster";

	buf_printf(out, "  %s: ", word);
	if (c->func == SERIES_TOTAL)
		buf_str(out, "the whole run");
	else
		show_func(v->series.h, v->series.funcs.v[c->func].func, out);
	if (c->kind == CHANGE_COST) {
		buf_u8(out, ' ');
		describe_change(c->ratio, out);
		buf_str(out, " (95%: ");
		describe_interval(c->low, c->high, out);
		buf_u8(out, ')');
		if (c->func != SERIES_TOTAL)
			buf_printf(out, ", %+.1f%% of the program",
				   100 * c->impact);
	} else {
		buf_printf(out, ", %s, %.1f%% of the program",
			   c->kind == CHANGE_NEW ? "new" : "gone",
			   100 * fabs(c->impact));
	}
	buf_u8(out, '\n');
	show_evidence(v, c, &why);
	if (why.n)
		buf_printf(out, "    %s\n", buf_cstr(&why));
	buf_fini(&why);
}

static void put_group(const struct history_report *r,
		      const struct history_view *v,
		      const struct change_group *g, struct buf *out)
{
	size_t shown = g->n < ROWS_SHOWN ? g->n : ROWS_SHOWN, from, to;
	struct buf command = { 0 };

	show_when(r, v, g, out);
	buf_u8(out, '\n');
	for (size_t i = 0; i < shown; i++)
		put_change(v, &v->changes.v.v[g->first + i], out);
	if (g->n > shown)
		buf_printf(out, "  and %zu more functions\n", g->n - shown);
	show_sides(v, g, &from, &to);
	show_command(r, from, to, &command);
	if (command.n)
		buf_printf(out, "  compare: %s\n", buf_cstr(&command));
	buf_fini(&command);
}

/* Appends functions by their share, with their current cost and their variation. */
static void put_functions(const struct history_view *v, size_t top,
			  struct buf *out)
{
	const struct cost_series *s = &v->series;
	size_t n = s->funcs.n < top ? s->funcs.n : top;
	size_t *order = series_by_share(s);

	out->failed |= !order;
	if (n && order)
		buf_str(out, "\n  share   noise  function\n");
	for (size_t i = 0; order && i < n; i++) {
		const struct series_func *f = &s->funcs.v[order[i]];

		buf_printf(out, "%6.1f%% %6.1f%%  ", 100 * f->share,
			   100 * f->noise.typical);
		show_func(s->h, f->func, out);
		buf_u8(out, '\n');
	}
	free(order);
}

static size_t count_commits(const struct history_view *v)
{
	size_t n = v->series.n > 0;

	for (size_t i = 1; i < v->series.n; i++)
		n += commit_of(v, i) != commit_of(v, i - 1);
	return n;
}

static void put_view(const struct history_report *r,
		     const struct history_view *v, size_t top, struct buf *out)
{
	const struct history *h = r->h;
	size_t commits;

	text_safe(out, history_str(h, v->class->benchmark));
	buf_str(out, ": ");
	show_class(h, v->class, out);
	commits = count_commits(v);
	buf_printf(out, "\n%zu batch%s of %zu commit%s, ", v->series.n,
		   plural(v->series.n, "es"), commits, plural(commits, "s"));
	show_day(h->batches.v[v->series.batch[0]].time, out);
	buf_str(out, " to ");
	show_day(h->batches.v[v->series.batch[v->series.n - 1]].time, out);
	buf_printf(out, "; noise of the whole run: %.1f%%\n\n",
		   100 * v->series.total_noise.typical);
	if (v->series.n < 2 * 3)
		buf_str(out, "Too few batches to tell changes from noise.\n");
	else if (!v->changes.groups.n)
		buf_str(out, "No significant change of 3% or more.\n");
	for (size_t i = 0; i < v->changes.groups.n; i++)
		put_group(r, v, &v->changes.groups.v[i], out);
	put_functions(v, top, out);
}

static void put_damage(const struct history *h, struct buf *out)
{
	if (!h->damaged)
		return;
	buf_printf(out, "skipped %zu damaged %s of the history: ", h->damaged,
		   h->damaged == 1 ? "file" : "files");
	text_safe(out, h->damage);
	buf_u8(out, '\n');
}

static void put_aside(size_t n, const char *done, struct buf *out)
{
	if (n)
		buf_printf(out, "%zu batch%s of commits on other branches %s not "
			   "%s\n", n, plural(n, "es"), n == 1 ? "is" : "are",
			   done);
}

void history_text(const struct history_report *r, size_t top, struct buf *out)
{
	put_damage(r->h, out);
	put_aside(r->aside, "analysed", out);
	for (size_t i = 0; i < r->views.n; i++) {
		if (i)
			buf_u8(out, '\n');
		put_view(r, &r->views.v[i], top, out);
	}
	if (!r->views.n && !r->aside)
		buf_str(out, "The history is empty.\n");
}

static void list_batch(const struct history *h, uint32_t batch, struct buf *out)
{
	const struct batch *b = &h->batches.v[batch];

	buf_str(out, "  ");
	show_day(b->time, out);
	buf_u8(out, ' ');
	show_commit(h, b->commit, out);
	buf_printf(out, "  %u run%s, %u functions\n", b->runs,
		   plural(b->runs, "s"), b->n);
}

void history_list(const struct history *h,
		  const struct history_classes *classes, struct buf *out)
{
	put_damage(h, out);
	for (size_t i = 0; i < classes->v.n; i++) {
		const struct history_class *c = &classes->v.v[i];

		if (i)
			buf_u8(out, '\n');
		text_safe(out, history_str(h, c->benchmark));
		buf_str(out, ": ");
		show_class(h, c, out);
		buf_u8(out, '\n');
		for (size_t k = 0; k < c->batches.n; k++)
			list_batch(h, c->batches.v[k], out);
	}
	if (classes->aside.n)
		buf_printf(out, "%scommits on other branches, which are not "
			   "analysed\n", classes->v.n ? "\n" : "");
	for (size_t k = 0; k < classes->aside.n; k++)
		list_batch(h, classes->aside.v[k], out);
}

const char *verdict_status_name(enum verdict_status s)
{
	static const char *const names[] = { "same", "slower", "suspect",
		"faster", "new", "gone", "unsteady", "allowed", "moved" };

	return names[s];
}

const char *verdict_answer_name(const struct verdict *v)
{
	static const char *const names[] = { "pass", "regressed",
					     "inconclusive", "broken" };

	return names[v->answer];
}

void show_estimate(const struct history *h, const struct verdict_row *r,
		   struct buf *out)
{
	if (r->base < 1 || r->now < 1) {
		buf_printf(out, "%s%.1f%% of the program",
			   r->status == VERDICT_SLOWER ? "new, " : "",
			   100 * r->share);
		if (r->moved_from != UINT32_MAX) {
			buf_str(out, ", moved from ");
			show_func(h, r->moved_from, out);
		}
		return;
	}
	describe_change(r->ratio, out);
	buf_str(out, " (95%: ");
	describe_interval(r->low, r->high, out);
	buf_printf(out, "), %+.1f%% of the program", 100 * (r->ratio - 1) *
		   r->share);
	if (r->status == VERDICT_SLOWER || r->status == VERDICT_SUSPECT) {
		buf_str(out, ", p ");
		describe_p(r->q, out);
	}
	if (r->moved_from != UINT32_MAX) {
		buf_str(out, ", moved from ");
		show_func(h, r->moved_from, out);
	}
	if (r->before)
		buf_str(out, "; the last stored commit is also slower");
	if (r->reason) {
		buf_str(out, " -- ");
		text_safe(out, r->reason);
	}
}

static void put_row(const struct history *h, const struct verdict_row *r,
		    struct buf *out)
{
	bool ratio = r->base >= 1 && r->now >= 1;

	buf_printf(out, "%s: ", verdict_status_name(r->status));
	show_func(h, r->func, out);
	buf_str(out, ratio ? " " : ", ");
	show_estimate(h, r, out);
	buf_u8(out, '\n');
}

/* Returns whether batches of both differ only in how they were recorded. */
static bool only_settings(const struct history_class *a,
			  const struct history_class *b)
{
	return a->benchmark == b->benchmark && a->cpu == b->cpu &&
	       a->kernel == b->kernel && a->event == b->event;
}

static void put_others(const struct history *h,
		       const struct history_classes *classes, size_t class,
		       struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < classes->v.n; i++) {
		const struct history_class *c = &classes->v.v[i];
		size_t of = c->batches.n;

		if (i == class)
			continue;
		if (!only_settings(c, &classes->v.v[class])) {
			n += of;
			continue;
		}
		buf_printf(out, "%zu batch%s of machines of this kind %s not "
			   "compared, recorded with other settings: ", of,
			   plural(of, "es"), of == 1 ? "is" : "are");
		text_safe(out, history_str(h, c->settings));
		buf_str(out, "; record with the same ones (such as -F)\n");
	}
	if (n)
		buf_printf(out, "%zu batch%s of other machines, kernels, events "
			   "or rates %s not compared: costs differ between "
			   "them\n", n, plural(n, "es"), n == 1 ? "is" : "are");
}

void show_total(const struct verdict *v, struct buf *out)
{
	buf_printf(out, "%s: the whole run ", v->total.slower
		   ? v->total.reason ? "allowed" : "slower" : "total");
	describe_change(v->total.ratio, out);
	buf_str(out, " (95%: ");
	describe_interval(v->total.low, v->total.high, out);
	buf_str(out, ")");
	if (v->total.reason) {
		buf_str(out, " -- ");
		text_safe(out, v->total.reason);
	}
	buf_printf(out, "; kernel %.1f%%, was %.1f%%, cannot fail the check",
		   100 * v->kernel_now, 100 * v->kernel_before);
}

void show_answer(const struct history *h, const struct verdict *v,
		 const struct verdict_options *o, struct buf *out)
{
	if (v->broken) {
		buf_printf(out, "broken: %s", v->broken);
		return;
	}
	if (v->learning) {
		buf_printf(out, "inconclusive: still learning, with %zu of %d "
			   "batches for machines of this kind",
			   v->stored, VERDICT_STORED_MIN);
		return;
	}
	buf_printf(out, "%s: ", verdict_answer_name(v));
	if (v->answer == VERDICT_REGRESSED) {
		if (v->slower)
			buf_printf(out, "%zu function%s", v->slower,
				   plural(v->slower, "s"));
		if (v->total.slower && !v->total.reason)
			buf_printf(out, "%sthe whole run",
				   v->slower ? " and " : "");
	} else if (v->suspects)
		buf_printf(out, "%zu suspect%s: record this commit once more "
			   "and add that batch with --again", v->suspects,
			   plural(v->suspects, "s"));
	else if (isinf(v->mde))
		buf_str(out, "no function had enough samples to be tested");
	else {
		buf_printf(out, "a slowdown of %.1f%% of the program, in ",
			   100 * v->mde);
		show_func(h, v->mde_func, out);
		buf_str(out, v->insensitive ? ", could have gone undetected"
				      : " or another tested function, "
					"would have been detected");
		if (v->insensitive)
			buf_printf(out, " (required: %.1f%%, --require-mde)",
				   100 * o->require_mde);
	}
	buf_printf(out, "; %zu batch%s compared with the last %zu", v->fresh,
		   plural(v->fresh, "es"), v->stored);
}

void verdict_text(const struct history *h, const struct verdict *v,
		  const struct verdict_options *o,
		  const struct history_classes *classes, size_t class,
		  struct buf *out)
{
	size_t shown = 0, hidden = 0, rare = 0;

	put_damage(h, out);
	show_answer(h, v, o, out);
	buf_u8(out, '\n');
	show_class(h, &classes->v.v[class], out);
	buf_u8(out, '\n');
	put_others(h, classes, class, out);
	put_aside(classes->aside.n, "compared", out);
	for (size_t i = 0; i < v->rows.n; i++) {
		const struct verdict_row *r = &v->rows.v[i];

		if (r->status == VERDICT_SAME)
			continue;
		if (r->status == VERDICT_UNSTEADY && r->low < 1 && r->high > 1) {
			rare++;
			continue;
		}
		if (shown++ < ROWS_SHOWN || r->status == VERDICT_SLOWER)
			put_row(h, r, out);
		else
			hidden++;
	}
	if (hidden)
		buf_printf(out, "%zu more changed\n", hidden);
	if (rare)
		buf_printf(out, "not tested: %zu function%s with fewer than "
			   "%d samples per run\n", rare, plural(rare, "s"),
			   VERDICT_SAMPLES_MIN);
	if (!v->learning) {
		show_total(v, out);
		buf_u8(out, '\n');
	}
}
