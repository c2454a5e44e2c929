// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes numbers, names and verdicts as text: see show.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "check/show.h"
#include "symbolize/demangle/demangle.h"
#include "views/query/names.h"

/* Longest name, path or text of one instruction that is shown, in columns. */
enum { NAME_COLUMNS = 200 };

/* Appends foreign text, safe, and no longer than names may be. */
static void put_cut(const char *text, struct buf *out)
{
	struct buf safe = { 0 };

	text_safe(&safe, text);
	text_cut(out, buf_cstr(&safe), NAME_COLUMNS);
	buf_close(&safe, out);
}

static void safe_name(const char *name, bool kernel, bool full,
		      struct buf *out)
{
	struct buf b = { 0 };

	if (kernel)
		buf_str(out, "[k] ");
	if (full) {
		text_safe(out, name);
	} else {
		name_shorten(name, &b);
		put_cut(buf_cstr(&b), out);
	}
	buf_fini(&b);
}

static void describe_func(const struct check *c, uint32_t func, bool full,
			  struct buf *out)
{
	const struct compare_func *f = &c->runs.match.funcs.v[func];
	struct buf b = { 0 };

	check_func_name(&c->runs, func, &b);
	safe_name(buf_cstr(&b), f->kernel, full || !f->name, out);
	buf_fini(&b);
}

/* Appends the place of a part, safe: "lex.c:12", "lex+0x1c" or the caller's
 * name. */
static void put_part(const struct check *c, const struct check_part *p,
		     struct buf *out)
{
	struct buf name = { 0 };

	switch (p->kind) {
	case PART_CALLER:
		describe_func(c, p->func, false, out);
		break;
	case PART_LINE:
		put_cut(check_str(&c->runs, p->name), out);
		buf_printf(out, ":%u", p->line);
		break;
	default:
		demangle(check_str(&c->runs, p->name), &name);
		safe_name(buf_cstr(&name), false, false, out);
		buf_printf(out, "+0x%" PRIx64, p->offset);
		if (p->text) {
			buf_str(out, " (");
			put_cut(check_str(&c->runs, p->text), out);
			buf_str(out, ")");
		}
	}
	buf_close(&name, out);
}

static void put_kind(const struct check *c, const struct check_row *r, int kind,
		     const struct part_style *s, struct buf *out)
{
	static const char *const titles[] = { "lines that gained",
		"instructions that gained", "callers that gained" };
	const struct check_parts *l = &r->parts[kind];
	size_t shown = 0;

	for (; shown < l->n && shown < s->most; shown++) {
		const struct check_part *p = &c->parts.v[l->first + shown];
		struct buf name = { 0 };

		if (p->now <= p->base)
			break;
		if (shown)
			buf_str(out, s->between);
		else
			buf_printf(out, "%s%s: ", s->before, titles[kind]);
		put_part(c, p, &name);
		if (s->markdown)
			describe_markdown(buf_cstr(&name), out);
		else
			buf_str(out, buf_cstr(&name));
		buf_close(&name, out);
		buf_u8(out, ' ');
		describe_cost(c, check_cost(c, p->now - p->base), true, out);
	}
	if (shown)
		buf_str(out, s->after);
}

void describe_parts(const struct check *c, const struct check_row *r,
		    const struct part_style *s, struct buf *out)
{
	for (int k = 0; k < PART_KINDS; k++)
		put_kind(c, r, k, s, out);
}

/* Appends one entry of describe_commits and releases its text. */
static void put_entry(struct buf *text, const struct part_style *s,
		      struct buf *out)
{
	buf_str(out, s->before);
	if (s->markdown)
		describe_markdown(buf_cstr(text), out);
	else
		text_safe(out, buf_cstr(text));
	buf_str(out, s->after);
	buf_close(text, out);
}

static void put_edit(const struct check_edit *e, struct buf *out)
{
	struct buf path = { 0 };

	put_cut(e->path, &path);
	buf_str(out, e->relation == EDIT_SELF ? "changed" : "changed elsewhere");
	if (e->kind == EDIT_SUBMODULE)
		buf_printf(out, ": submodule %s", buf_cstr(&path));
	else if (*e->name)
		buf_printf(out, ": %s (%s:%u)", e->name, buf_cstr(&path), e->line);
	else
		buf_printf(out, ": %s:%u", buf_cstr(&path), e->line);
	if (e->kind == EDIT_REMOVED)
		buf_str(out, ", removed");
	if (e->relation == EDIT_CALLER)
		buf_str(out, ", which calls it");
	else if (e->relation == EDIT_FILE)
		buf_str(out, ", in the same file");
	if (e->id)
		buf_printf(out, ", commit %s %s", e->id, e->subject);
	buf_close(&path, out);
}

void describe_commits(const struct check *c, uint32_t row,
		      const struct part_style *s, struct buf *out)
{
	size_t shown = 0, of = 0;
	struct buf text = { 0 };

	for (size_t i = 0; i < c->commits.n; i++) {
		const struct check_commit *k = &c->commits.v[i];

		if (k->row != row)
			continue;
		shown++;
		of = k->of;
		buf_printf(&text, "commit %s %s%s", k->id,
			   k->of_file ? "changed the file, perhaps not these lines: "
				      : "", k->subject);
		put_entry(&text, s, out);
	}
	if (of > shown) {
		buf_printf(&text, "%zu more commit%s", of - shown,
			   plural(of - shown, "s"));
		put_entry(&text, s, out);
	}
	shown = of = 0;
	for (size_t i = 0; i < c->edits.n; i++) {
		if (c->edits.v[i].row != row)
			continue;
		shown++;
		of = c->edits.v[i].of;
		put_edit(&c->edits.v[i], &text);
		put_entry(&text, s, out);
	}
	if (of > shown) {
		buf_printf(&text, "changed elsewhere: %zu more place%s",
			   of - shown, plural(of - shown, "s"));
		put_entry(&text, s, out);
	}
}

void describe_name(const struct check *c, const struct check_row *r, bool full,
		   struct buf *out)
{
	if (r->unit.func == PROF_NONE) {
		check_row_name(c, r, out);
		return;
	}
	describe_func(c, r->unit.func, full, out);
	if (r->unit.base) {
		buf_str(out, " ");
		put_cut(check_str(&c->runs, r->unit.base), out);
		buf_printf(out, ":%u", check_line_number(r->unit.line));
	}
}

/* Returns whether @, # or the - of GH-1 begins a mention or a reference at this
 * character.  Forges look for them after they decoded entities. */
static bool mentions(const char *text, const char *p)
{
	return *p == '@' || *p == '#' ||
	       (*p == '!' && p[1] >= '0' && p[1] <= '9') ||
	       (*p == '-' && p - text >= 2 && !strncasecmp(p - 2, "gh", 2));
}

/* Returns whether a character completes what GitHub Flavored Markdown makes a link
 * without brackets: "://", or "www." (6.9). */
static bool makes_link(const char *text, const char *p)
{
	return *p == ':' ? p[1] == '/'
	       : *p == '.' && p - text >= 3 && !strncasecmp(p - 3, "www", 3);
}

void describe_markdown(const char *text, struct buf *out)
{
	struct buf safe = { 0 };

	text_safe(&safe, text);
	for (const char *p = buf_cstr(&safe); *p; p++) {
		if (*p == '<')
			buf_str(out, "&lt;");
		else if (*p == '>')
			buf_str(out, "&gt;");
		else if (*p == '&')
			buf_str(out, "&amp;");
		else if (*p == '@')
			buf_str(out, "&#64;");
		else if (strchr("\\`*_{}[]()#+!|~$", *p) ||
			 makes_link((const char *)safe.p, p))
			buf_printf(out, "&#%u;", (unsigned int)*p);
		else
			buf_u8(out, (uint8_t)*p);
		/* a zero-width space, as the bots of forges write it */
		if (mentions((const char *)safe.p, p))
			buf_str(out, "&#8203;");
	}
	buf_fini(&safe);
}

void describe_change(double ratio, struct buf *out)
{
	double x = 100 * (ratio - 1);

	if (isnan(ratio))
		buf_str(out, "-");
	else if (isinf(ratio))
		buf_str(out, "new");
	else if (ratio >= 10)
		buf_printf(out, "x%.*f", ratio < 100 ? 1 : 0, ratio);
	else
		buf_printf(out, "%+.1f%%", fabs(x) < 0.05 ? 0.0 : x);
}

void describe_interval(double low, double high, struct buf *out)
{
	if (isnan(low) || isnan(high)) {
		buf_str(out, "-");
		return;
	}
	describe_change(low, out);
	buf_str(out, " to ");
	describe_change(high, out);
}

void describe_p(double p, struct buf *out)
{
	if (isnan(p))
		buf_str(out, "-");
	else if (p < 0.0001)
		buf_str(out, "<0.0001");
	else
		buf_printf(out, "%.*f", p < 0.01 ? 4 : 2, p);
}

double describe_deciding(const struct check_row *r)
{
	return r->j.ratio < 1 ? r->j.q_faster : r->j.q;
}

void describe_estimate(const struct check_row *r, const char *between,
		       struct buf *out)
{
	describe_change(r->j.ratio, out);
	buf_str(out, " (95%: ");
	describe_interval(r->j.low, r->j.high, out);
	buf_printf(out, "%sp ", between);
	describe_p(describe_deciding(r), out);
	buf_str(out, ")");
}

void describe_cost(const struct check *c, double cost, bool sign,
		   struct buf *out)
{
	static const char units[] = " kMGTPE";
	const char *flag = sign ? "+" : "";
	double x = fabs(cost);
	int u = 0, digits;

	if (sign)
		buf_str(out, cost < 0 ? "-" : flag);
	if (c->is_time) {
		x /= 1e6;
		digits = x < 0.0005 ? 0 : x < 1 ? 3 : x < 100 ? 2 : 0;
		buf_printf(out, "%.*f ms", digits, x);
		return;
	}
	while (x >= 1000 && units[u + 1]) {
		x /= 1000;
		u++;
	}
	buf_printf(out, "%.*f", x < 10 ? 2 : x < 100 ? 1 : 0, x);
	if (u)
		buf_printf(out, " %c", units[u]);
}

double describe_gain(const struct check *c, const struct check_row *r)
{
	return check_cost(c, check_now(c, r) - r->j.base);
}

bool describe_changed(const struct check_row *r)
{
	return r->status != CHECK_SAME && r->status != CHECK_SMALL;
}

void describe_shift(const struct check *c, struct buf *out)
{
	double x = c->judge.shift;

	if (!c->judge.shifted || fabs(x) < 0.005)
		return;
	buf_str(out, "all functions ");
	describe_change(1 + x, out);
	buf_str(out, ": a different machine or different compiler flags, not "
		"a single function");
	if (!c->interleaved)
		buf_str(out, " (interleaved runs would show which)");
}

bool describe_explained(const struct check *c, const struct check_row *r)
{
	return r->status == CHECK_MOVED || r->status == CHECK_ALLOWED ||
	       (describe_changed(r) && check_row_renamed(c, r));
}

/* Names the former function of one that was renamed or whose code moved here. */
static void put_before(const struct check *c, const struct check_row *r,
		       struct buf *out)
{
	struct buf name = { 0 };

	if (check_row_renamed(c, r))
		describe_func(c, check_func_before(&c->runs, r->unit.func), false,
			      &name);
	else if (r->status == CHECK_MOVED && r->partner != PROF_NONE)
		describe_name(c, &c->rows.v[r->partner], false, &name);
	if (name.n)
		buf_printf(out, "%s%s", r->status == CHECK_MOVED
			   ? " from " : ", was ", buf_cstr(&name));
	buf_close(&name, out);
}

void describe_status(const struct check *c, const struct check_row *r,
		     struct buf *out)
{
	struct buf tmp = { 0 };

	buf_str(out, check_status_name(r->status));
	put_before(c, r, out);
	if (r->status == CHECK_ALLOWED) {
		text_safe(&tmp, r->reason);
		buf_printf(out, ": %s", buf_cstr(&tmp));
	} else if (r->status == CHECK_SUSPECT) {
		buf_str(out, ": more runs are needed");
	}
	buf_fini(&tmp);
}

void describe_runs(const struct check *c, struct buf *out)
{
	struct buf tmp = { 0 };
	uint64_t n[2] = { 0, 0 };

	for (size_t i = 0; i < c->runs.runs.n; i++)
		n[c->runs.runs.v[i].side] += c->runs.runs.v[i].samples;
	text_safe(&tmp, check_event_name(c));
	buf_printf(out, "%zu baseline run%s (%" PRIu64 " samples), %zu new "
		   "run%s (%" PRIu64 " samples)%s, %s", c->runs.nbase,
		   plural(c->runs.nbase, "s"), n[0], c->runs.nnew,
		   plural(c->runs.nnew, "s"), n[1],
		   c->interleaved ? ", interleaved" : "", buf_cstr(&tmp));
	buf_fini(&tmp);
}

void describe_total(const struct check *c, struct buf *out)
{
	const struct judge_total *t = &c->judge.total;

	buf_str(out, "total ");
	describe_change(t->ratio, out);
	buf_str(out, " (");
	describe_cost(c, check_cost(c, t->base), false, out);
	buf_str(out, " to ");
	describe_cost(c, check_cost(c, t->now), false, out);
	buf_str(out, " per run");
	if (t->tested) {
		buf_str(out, "; 95%: ");
		describe_interval(t->low, t->high, out);
		buf_str(out, "; p ");
		describe_p(t->ratio < 1 ? t->p_faster : t->p, out);
		buf_str(out, "; would have detected ");
		describe_change(1 + t->visible, out);
	} else {
		buf_str(out, "; not tested: only one run per side");
	}
	buf_str(out, ")");
	if (c->total_fails) {
		buf_str(out, ": regressed");
	} else if (c->total_reason) {
		buf_str(out, ": allowed: ");
		text_safe(out, c->total_reason);
	} else if (t->regressed) {
		buf_str(out, ": slower, which does not fail the check");
	} else if (t->improved) {
		buf_str(out, ": improved");
	}
}

void describe_noise(const struct check *c, struct buf *out)
{
	const struct judge_total *t = &c->judge.total;

	buf_printf(out, "run-to-run variation of the total: baseline %.1f%%, "
		   "new %.1f%%; of a function: %.1f%% beyond sampling error; "
		   "dispersion of samples: %.2f (chance alone: 1)",
		   100 * t->cv_base, 100 * t->cv_now,
		   100 * c->judge.tau, c->judge.kappa);
}

/* Lists the first failing rows by name. */
static void describe_failing(const struct check *c, struct buf *out)
{
	bool large = false;
	size_t shown = 0;

	for (size_t i = 0; i < c->order.n; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];

		if (!r->fails)
			continue;
		large |= r->j.ratio >= 2;
		if (shown++ == 3) {
			buf_printf(out, ", %zu more", c->failing - 3);
			return;
		}
		buf_str(out, shown > 1 ? ", " : "");
		describe_name(c, r, false, out);
		buf_str(out, " ");
		describe_change(r->j.ratio, out);
		if (r->j.ratio >= 2) {
			buf_str(out, " (");
			describe_cost(c, describe_gain(c, r), true, out);
			buf_str(out, ")");
		}
	}
	if (c->total_fails) {
		buf_str(out, shown ? ", total " : "total ");
		describe_change(c->judge.total.ratio, out);
	} else if (large) {
		/* a large factor of a tiny cost may still be little */
		buf_str(out, "; total ");
		describe_cost(c, check_cost(c, c->judge.total.now -
					    c->judge.total.base), true, out);
		buf_str(out, " per run");
	}
}

/* Appends what a pass means: the slowdowns that the check would have found. */
static void sensitivity(const struct check *c, struct buf *out)
{
	const struct check_row *best = NULL;

	if (c->judge.total.tested) {
		buf_str(out, "would have detected ");
		describe_change(1 + c->judge.total.visible, out);
		buf_str(out, " in the total");
	}
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct check_row *r = &c->rows.v[i];

		if (r->unit.func != PROF_NONE && describe_tested(r) &&
		    (!best || r->j.share > best->j.share))
			best = r;
	}
	if (!best)
		return;
	buf_str(out, c->judge.total.tested ? ", " : "would have detected ");
	describe_change(1 + best->j.visible, out);
	buf_str(out, " in ");
	describe_name(c, best, false, out);
}

/* Names the function with the minimum detectable effect. */
static void put_where(const struct check *c, struct buf *out)
{
	if (c->sensitivity.row == JUDGE_TOTAL)
		buf_str(out, "in the total");
	else {
		buf_str(out, "in ");
		describe_name(c, &c->rows.v[c->sensitivity.row], false, out);
	}
}

void describe_mde(const struct check *c, struct buf *out)
{
	buf_str(out, "minimum detectable effect: ");
	if (c->sensitivity.row == JUDGE_NOWHERE) {
		buf_str(out, "none, no function that may fail the check has "
			"enough samples on both sides");
		return;
	}
	/* two runs that differ much allow any ratio */
	if (c->sensitivity.mde > 10)
		buf_str(out, "more than 1000% of a run, ");
	else
		buf_printf(out, "%.1f%% of a run, ", 100 * c->sensitivity.mde);
	put_where(c, out);
	if (c->o.require_mde >= 0)
		buf_printf(out, " (required: %.4g%%)", 100 * c->o.require_mde);
}

/* Explains why a check was inconclusive and what would help. */
static void describe_insensitivity(const struct check *c, struct buf *out)
{
	buf_printf(out, "a slowdown of %.4g%% of a run could have gone "
		   "undetected (",
		   100 * c->o.require_mde);
	describe_mde(c, out);
	if (c->sensitivity.runs)
		buf_printf(out, "; about %zu runs per side would detect it",
			   c->sensitivity.runs);
	else if (c->sensitivity.row != JUDGE_NOWHERE)
		buf_str(out, "; no number of runs would detect it with these "
			"limits");
	buf_str(out, ")");
}

/* Lists allowed slowdowns, which are still slowdowns. */
static void known(const struct check *c, struct buf *out)
{
	size_t shown = 0;

	for (size_t i = 0; i < c->order.n; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];

		if (r->status != CHECK_ALLOWED)
			continue;
		if (shown++ == 3) {
			buf_str(out, ", …");
			break;
		}
		buf_str(out, shown > 1 ? ", " : "");
		describe_name(c, r, false, out);
		buf_str(out, " ");
		describe_change(r->j.ratio, out);
	}
	if (c->total_reason) {
		buf_str(out, shown ? ", total " : "total ");
		describe_change(c->judge.total.ratio, out);
		shown++;
	}
	buf_str(out, shown ? " allowed, no other regression" : "no regression");
}

void describe_verdict(const struct check *c, struct buf *out)
{
	size_t suspects = 0;

	for (size_t i = 0; i < c->rows.n; i++)
		suspects += c->rows.v[i].status == CHECK_SUSPECT;
	buf_printf(out, "%s: ", check_verdict_name(c->verdict));
	if (c->verdict == CHECK_REGRESSED) {
		describe_failing(c, out);
		return;
	}
	if (c->verdict == CHECK_BROKEN) {
		text_safe(out, c->broken);
		return;
	}
	if (c->verdict == CHECK_INCONCLUSIVE && c->total_unclear) {
		buf_str(out, "the total changed by ");
		describe_change(c->judge.total.ratio, out);
		buf_str(out, ", and all larger functions alike, because of the "
			"machine or the program; record both sides interleaved "
			"(--run, --against)");
		return;
	}
	if (c->verdict == CHECK_INCONCLUSIVE) {
		describe_insensitivity(c, out);
		return;
	}
	known(c, out);
	if (suspects)
		buf_printf(out, ", %zu suspect%s", suspects,
			   plural(suspects, "s"));
	buf_str(out, " (");
	sensitivity(c, out);
	buf_str(out, ")");
}
