// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the check for people at a terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/show.h"
#include "views/query/lines.h"

enum { CHANGE = 8, INTERVAL = 18, P = 8, COST = 11,
       SHARE = 7, SEEN = 9, LEFT = CHANGE + INTERVAL + P + COST + SHARE +
       SEEN + 5 };

/* Appends a right-aligned cell of the given width in columns. */
static void cell(struct buf *line, struct buf *text, size_t width)
{
	size_t n = text_columns(buf_cstr(text));

	line_pad(line, n < width ? width - n : 0);
	buf_str(line, buf_cstr(text));
	buf_str(line, " ");
	buf_reset(text);
}

static void put_name(const struct check *c, const struct check_row *r,
		     const struct check_style *s, struct buf *out)
{
	const char *image = check_row_image(c, r);
	size_t room = s->columns > LEFT + 20 ? (size_t)s->columns - LEFT : 20;
	struct buf name = { 0 };

	describe_name(c, r, s->full_names, &name);
	if (*image && strcmp(image, "[kernel]")) {
		buf_str(&name, " (");
		text_safe(&name, image);
		buf_str(&name, ")");
	}
	if (s->columns)
		text_cut(out, buf_cstr(&name), room);
	else
		buf_str(out, buf_cstr(&name));
	buf_fini(&name);
}

static void head(struct buf *out)
{
	static const struct {
		const char *title;
		size_t width;
	} cells[] = { { "CHANGE", CHANGE }, { "95% INTERVAL", INTERVAL },
		      { "P", P }, { "PER RUN", COST }, { "SHARE", SHARE },
		      { "MDE", SEEN } };
	struct buf text = { 0 };

	for (size_t i = 0; i < COUNT(cells); i++) {
		buf_str(&text, cells[i].title);
		cell(out, &text, cells[i].width);
	}
	buf_str(out, "FUNCTION\n");
	buf_fini(&text);
}

static void row(const struct check *c, const struct check_row *r,
		const struct check_style *s, struct buf *out)
{
	struct buf t = { 0 };

	if (r->j.status == JUDGE_NEW || r->j.status == JUDGE_REMOVED)
		buf_str(&t, check_status_name(r->j.status == JUDGE_NEW
					      ? CHECK_ADDED : CHECK_REMOVED));
	else
		describe_change(r->j.ratio, &t);
	cell(out, &t, CHANGE);
	describe_interval(r->j.low, r->j.high, &t);
	cell(out, &t, INTERVAL);
	describe_p(describe_deciding(r), &t);
	cell(out, &t, P);
	describe_cost(c, describe_gain(c, r), true, &t);
	cell(out, &t, COST);
	buf_printf(&t, "%.1f%%", 100 * r->j.share);
	cell(out, &t, SHARE);
	if (describe_tested(r))
		describe_change(1 + r->j.visible, &t);
	else
		buf_str(&t, "-");
	cell(out, &t, SEEN);
	put_name(c, r, s, out);
	buf_str(out, "\n");
	buf_fini(&t);
}

static void declared(const struct check *c, const struct check_row *r,
		     struct buf *out)
{
	const struct compare_func *f;

	if (r->unit.func == PROF_NONE)
		return;
	f = &c->runs.match.funcs.v[r->unit.func];
	if (!f->file)
		return;
	buf_str(out, "    at ");
	text_safe(out, check_str(&c->runs, f->file));
	if (f->line)
		buf_printf(out, ":%u", f->line);
	buf_str(out, "\n");
}

static const struct part_style style = {
	.before = "    ", .between = "; ", .after = "\n", .most = 5,
};

static void evidence(const struct check *c, uint32_t at, struct buf *out)
{
	const struct check_row *r = &c->rows.v[at];

	declared(c, r, out);
	describe_parts(c, r, &style, out);
	describe_commits(c, at, &style, out);
}

static void section(const struct check *c, const struct check_style *s,
		    enum check_status status, bool fails, const char *title,
		    struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < c->order.n; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];

		/* failures form one section, whatever their status */
		if (fails ? !r->fails : r->fails || r->status != status)
			continue;
		if (!any) {
			buf_printf(out, "\n%s\n", title);
			head(out);
		}
		any = true;
		row(c, r, s, out);
		if (describe_explained(c, r)) {
			buf_str(out, "    ");
			describe_status(c, r, out);
			buf_str(out, "\n");
		}
		if (fails || r->status == CHECK_SUSPECT)
			evidence(c, c->order.v[i], out);
	}
}

static void unchanged(const struct check *c, const struct check_style *s,
		      struct buf *out)
{
	size_t shown = 0, all = 0;

	for (size_t i = 0; i < c->order.n; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];

		if (r->status != CHECK_SAME || ++all > s->top)
			continue;
		if (!shown++) {
			buf_str(out, "\nno significant change (MDE: minimum "
				"detectable effect)\n");
			head(out);
		}
		row(c, r, s, out);
	}
	if (all > s->top)
		buf_printf(out, "%s… %zu more tested\n", shown ? "" : "\n",
			   all - s->top);
}

static void inclusive(const struct check *c, const struct check_style *s,
		      struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < c->inclusive.nfuncs; i++) {
		struct check_row r = c->rows.v[i];

		r.j = c->inclusive.rows[i];
		if (r.j.status != JUDGE_REGRESSED &&
		    r.j.status != JUDGE_IMPROVED)
			continue;
		if (!any) {
			buf_str(out, "\nincluding callees (cannot fail the check)\n");
			head(out);
		}
		any = true;
		row(c, &r, s, out);
	}
	if (!any)
		buf_str(out, "\nincluding callees: no significant change\n");
}

void check_text(const struct check *c, const struct check_style *s,
		struct buf *out)
{
	struct buf shift = { 0 };

	describe_verdict(c, out);
	buf_str(out, "\n");
	describe_runs(c, out);
	buf_str(out, "\n");
	describe_total(c, out);
	buf_str(out, "\n");
	describe_commits(c, PROF_NONE, &style, out);
	describe_mde(c, out);
	buf_str(out, "\n");
	describe_shift(c, &shift);
	if (shift.n)
		buf_printf(out, "%s\n", buf_cstr(&shift));
	buf_fini(&shift);
	for (size_t i = 0; i < c->notes.n; i++) {
		buf_str(out, "note: ");
		text_safe(out, c->notes.v[i]);
		buf_str(out, "\n");
	}
	section(c, s, CHECK_SLOWER, true, "regressed", out);
	section(c, s, CHECK_SUSPECT, false,
		"suspect: possibly slower, more runs are needed", out);
	section(c, s, CHECK_ALLOWED, false, "slower, but allowed", out);
	section(c, s, CHECK_MOVED, false, "moved: same cost, in another "
		"function or under another name",
		out);
	section(c, s, CHECK_ADDED, false, "new", out);
	section(c, s, CHECK_REMOVED, false, "gone", out);
	section(c, s, CHECK_FASTER, false, "improved", out);
	unchanged(c, s, out);
	if (c->o.inclusive)
		inclusive(c, s, out);
	buf_str(out, "\n");
	describe_noise(c, out);
	buf_str(out, "\n");
}

/*
 * --- calibration with identical code: exchanging the sides of some blocks of the
 * existing runs gives more checks that must not report a change
 */

enum { EXCHANGES = 200 };

/* The sequence is always the same, so that results are repeatable. */
static bool coin_flip(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 63;
}

static bool alarms(const struct check *c, const struct judge_input *in)
{
	struct judge j;
	bool any;

	if (judge_run(in, &c->o.judge, &j, NULL) < 0)
		return false;
	any = j.total.gates && (!j.drifted || c->interleaved);
	for (size_t i = 0; i <= j.nfuncs; i++)
		any |= j.rows[i].gates;
	judge_fini(&j);
	return any;
}

static size_t count_alarms(const struct check *c)
{
	size_t n = c->judge.nfuncs, blocks = c->runs.nbase, found = 0;
	double *cost = calloc(2 * blocks * n + 1, sizeof(*cost));
	struct judge_input in = { blocks, blocks, n, cost, NULL, NULL, NULL,
				  NULL };
	uint64_t seed = 1;

	for (int k = 0; cost && k < EXCHANGES; k++) {
		for (size_t b = 0; b < blocks; b++) {
			size_t swap = coin_flip(&seed) ? blocks : 0;

			memcpy(cost + (b + swap) * n, c->cost + b * n,
			       n * sizeof(*cost));
			memcpy(cost + (b + blocks - swap) * n,
			       c->cost + (b + blocks) * n, n * sizeof(*cost));
		}
		found += alarms(c, &in);
	}
	free(cost);
	return found;
}

void check_calibration(const struct check *c, struct buf *out)
{
	struct check_style s = { .top = 20 };
	bool pairs = c->runs.nbase == c->runs.nnew && c->runs.nbase >= 3;
	size_t found = pairs ? count_alarms(c) : 0;

	buf_str(out, c->verdict == CHECK_REGRESSED
			     ? "calibration: identical code looks slower on "
			       "this machine now"
			     : "calibration: identical code passes");
	if (pairs)
		buf_printf(out, "; false alarms in %.1f%% of %d random "
			   "permutations of the runs",
			   100.0 * (double)found / EXCHANGES,
			   EXCHANGES);
	buf_str(out, "\n");
	check_text(c, &s, out);
}
