// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the check as GitHub's and GitLab's Markdown, for a step summary or a
 * comment. */
#include <string.h>

#include "base/text.h"
#include "check/show.h"

/* A GitHub comment holds 65,536 characters. */
enum { MARKDOWN_MAX = 60000, RESERVE = 8000, NAME_CHARS_MAX = 200 };

static void head(struct buf *out)
{
	buf_str(out, "| | change | 95 % interval | p | per run | share | "
		"would have detected | function |\n"
		     "|---|--:|:-:|--:|--:|--:|--:|---|\n");
}

static const char *sign(const struct check_row *r)
{
	if (r->fails)
		return "❌";
	return r->status == CHECK_SUSPECT ? "❓"
	     : r->status == CHECK_FASTER ? "✅" : "";
}

static void row(const struct check *c, const struct check_row *r,
		struct buf *out)
{
	const char *image = check_row_image(c, r);
	struct buf name = { 0 }, words = { 0 };

	buf_printf(out, "| %s | ", sign(r));
	if (describe_tested(r))
		describe_change(r->j.ratio, out);
	else
		buf_str(out, check_status_name(r->status));
	buf_str(out, " | ");
	describe_interval(r->j.low, r->j.high, out);
	buf_str(out, " | ");
	if (describe_tested(r) && describe_deciding(r) < 0.0001)
		buf_str(out, "&lt;0.0001");
	else
		describe_p(describe_deciding(r), out);
	buf_str(out, " | ");
	describe_cost(c, describe_gain(c, r), true, out);
	buf_printf(out, " | %.1f%% | ", 100 * r->j.share);
	if (describe_tested(r))
		describe_change(1 + r->j.visible, out);
	buf_str(out, " | ");
	describe_name(c, r, false, &name);
	text_cut(&words, buf_cstr(&name), NAME_CHARS_MAX);
	describe_markdown(buf_cstr(&words), out);
	buf_reset(&words);
	if (*image) {
		buf_str(out, " (");
		describe_markdown(image, out);
		buf_str(out, ")");
	}
	if (describe_explained(c, r)) {
		buf_str(out, " — ");
		describe_status(c, r, &words);
		describe_markdown(buf_cstr(&words), out);
	}
	buf_str(out, " |\n");
	buf_fini(&name);
	buf_fini(&words);
}

static const struct part_style style = {
	.before = "* ", .between = ", ", .after = "\n", .most = 5,
	.markdown = true,
};

static void evidence(const struct check *c, uint32_t at, struct buf *out)
{
	const struct check_row *r = &c->rows.v[at];
	struct buf name = { 0 };

	describe_name(c, r, false, &name);
	buf_str(out, "\n**");
	describe_markdown(buf_cstr(&name), out);
	buf_str(out, "**\n\n");
	buf_fini(&name);
	describe_parts(c, r, &style, out);
	describe_commits(c, at, &style, out);
}

/* Writes rows while there is room.  Returns the number of rows left out. */
static size_t rows(const struct check *c, bool changed, struct buf *out)
{
	bool any = false;
	size_t left = 0;

	for (size_t i = 0; i < c->order.n; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];

		if (r->status == CHECK_SMALL || describe_changed(r) != changed)
			continue;
		if (out->n > MARKDOWN_MAX - RESERVE) {
			left++;
			continue;
		}
		if (!any)
			head(out);
		any = true;
		row(c, r, out);
	}
	return left;
}

static void notes(const struct check *c, struct buf *out)
{
	struct buf t = { 0 };

	describe_shift(c, &t);
	if (t.n) {
		buf_str(out, "\n> ");
		describe_markdown(buf_cstr(&t), out);
		buf_str(out, "\n");
	}
	for (size_t i = 0; i < c->notes.n; i++) {
		buf_str(out, "\n> ");
		describe_markdown(c->notes.v[i], out);
		buf_str(out, "\n");
	}
	buf_fini(&t);
}

void check_markdown(const struct check *c, struct buf *out)
{
	struct buf t = { 0 };
	size_t left;

	buf_str(out, MARKDOWN_MARK "### tally check: ");
	describe_verdict(c, &t);
	describe_markdown(buf_cstr(&t), out);
	buf_reset(&t);
	buf_str(out, "\n\n");
	describe_total(c, &t);
	describe_markdown(buf_cstr(&t), out);
	buf_reset(&t);
	buf_str(out, "\n");
	describe_commits(c, PROF_NONE, &style, out);
	notes(c, out);
	buf_str(out, "\n");
	left = rows(c, true, out);
	for (size_t i = 0; i < c->order.n; i++)
		if (c->rows.v[c->order.v[i]].fails &&
		    out->n < MARKDOWN_MAX - RESERVE)
			evidence(c, c->order.v[i], out);
	buf_str(out, "\n<details><summary>all other tested functions"
		     "</summary>\n\n");
	left += rows(c, false, out);
	if (left)
		buf_printf(out, "\n… and %zu more\n", left);
	buf_str(out, "\n");
	describe_runs(c, &t);
	buf_str(&t, "; ");
	describe_noise(c, &t);
	describe_markdown(buf_cstr(&t), out);
	buf_str(out, "\n</details>\n");
	buf_fini(&t);
}
