// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the check as GitHub's and GitLab's Markdown, for a step summary or a
 * comment. */
#include <string.h>

#include "base/text.h"
#include "check/show.h"

/* A GitHub comment holds 65,536 characters. */
enum { MARKDOWN_MAX = 60000, TEXT_COLUMNS = 1000, IMAGE_COLUMNS = 100 };

/* What may still be written. */
struct page {
	struct buf *out;
	size_t most;		/* length, without what always ends the page */
	size_t left;		/* number of rows that had no room */
};

/* Appends an entry if there is room for all of it, and releases it. */
static bool put(struct page *p, struct buf *entry)
{
	bool fits = entry->n <= p->most && p->out->n <= p->most - entry->n;

	p->out->failed |= entry->failed;
	if (fits)
		buf_bytes(p->out, entry->p, entry->n);
	buf_fini(entry);
	return fits;
}

/* Appends foreign text as Markdown, cut to a number of columns, and empties it. */
static void put_text(struct buf *text, size_t columns, struct buf *out)
{
	struct buf safe = { 0 }, cut = { 0 };

	text_safe(&safe, buf_cstr(text));
	text_cut(&cut, buf_cstr(&safe), columns);
	describe_markdown(buf_cstr(&cut), out);
	out->failed |= text->failed || safe.failed || cut.failed;
	buf_fini(&safe);
	buf_fini(&cut);
	buf_reset(text);
}

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
	struct buf text = { 0 };

	buf_printf(out, "| %s | ", sign(r));
	if (describe_tested(r))
		describe_change(r->j.ratio, out);
	else
		buf_str(out, check_status_name(r->status));
	buf_str(out, " | ");
	describe_interval(r->j.low, r->j.high, out);
	buf_str(out, " | ");
	if (describe_deciding(r) < 0.0001)
		buf_str(out, "&lt;0.0001");
	else
		describe_p(describe_deciding(r), out);
	buf_str(out, " | ");
	describe_cost(c, describe_gain(c, r), true, out);
	buf_printf(out, " | %.1f%% | ", 100 * r->j.share);
	if (describe_tested(r))
		describe_change(1 + r->j.visible, out);
	buf_str(out, " | ");
	describe_name(c, r, false, &text);
	put_text(&text, TEXT_COLUMNS, out);
	buf_str(&text, check_row_image(c, r));
	if (text.n) {
		buf_str(out, " (");
		put_text(&text, IMAGE_COLUMNS, out);
		buf_str(out, ")");
	}
	if (describe_explained(c, r)) {
		buf_str(out, " — ");
		describe_status(c, r, &text);
		put_text(&text, TEXT_COLUMNS, out);
	}
	buf_str(out, " |\n");
	buf_fini(&text);
}

static const struct part_style style = {
	.before = "* ", .between = ", ", .after = "\n", .most = 5,
	.markdown = true,
};

static void evidence(const struct check *c, uint32_t at, struct page *p)
{
	const struct check_row *r = &c->rows.v[at];
	struct buf name = { 0 }, entry = { 0 };

	describe_name(c, r, false, &name);
	buf_str(&entry, "\n**");
	put_text(&name, TEXT_COLUMNS, &entry);
	buf_str(&entry, "**\n\n");
	buf_fini(&name);
	describe_parts(c, r, &style, &entry);
	describe_commits(c, at, &style, &entry);
	put(p, &entry);
}

/* Writes rows while there is room. */
static void rows(const struct check *c, bool changed, struct page *p)
{
	bool any = false;

	for (size_t i = 0; i < c->order.n; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];
		struct buf entry = { 0 };

		if (r->status == CHECK_SMALL || describe_changed(r) != changed)
			continue;
		if (!any)
			head(&entry);
		row(c, r, &entry);
		if (put(p, &entry))
			any = true;
		else
			p->left++;
	}
}

static void note(struct page *p, struct buf *text)
{
	struct buf entry = { 0 };

	if (!text->n)
		return;
	buf_str(&entry, "\n> ");
	put_text(text, TEXT_COLUMNS, &entry);
	buf_str(&entry, "\n");
	put(p, &entry);
}

static void notes(const struct check *c, struct page *p)
{
	struct buf t = { 0 };

	describe_shift(c, &t);
	note(p, &t);
	for (size_t i = 0; i < c->notes.n; i++) {
		buf_reset(&t);
		buf_str(&t, c->notes.v[i]);
		note(p, &t);
	}
	buf_fini(&t);
}

/* Appends the verdict and the total. */
static void summary(const struct check *c, struct page *p)
{
	struct buf t = { 0 }, entry = { 0 };

	buf_str(p->out, MARKDOWN_MARK "### tally check: ");
	describe_verdict(c, &t);
	put_text(&t, TEXT_COLUMNS, p->out);
	buf_str(p->out, "\n\n");
	describe_total(c, &t);
	put_text(&t, TEXT_COLUMNS, p->out);
	buf_str(p->out, "\n");
	buf_fini(&t);
	describe_commits(c, PROF_NONE, &style, &entry);
	put(p, &entry);
}

void check_markdown(const struct check *c, struct buf *out)
{
	static const char others[] =
		"\n<details><summary>all other tested functions</summary>\n\n";
	struct buf t = { 0 }, end = { 0 };
	struct page p = { .out = out };

	buf_str(&end, "\n");
	describe_runs(c, &t);
	buf_str(&t, "; ");
	describe_noise(c, &t);
	put_text(&t, TEXT_COLUMNS, &end);
	buf_str(&end, "\n</details>\n");
	buf_fini(&t);
	p.most = out->n + MARKDOWN_MAX - end.n - sizeof(others) -
		 sizeof("\n… and 18446744073709551615 more\n");
	summary(c, &p);
	notes(c, &p);
	buf_str(out, "\n");
	rows(c, true, &p);
	for (size_t i = 0; i < c->order.n; i++)
		if (c->rows.v[c->order.v[i]].fails)
			evidence(c, c->order.v[i], &p);
	buf_str(out, others);
	rows(c, false, &p);
	if (p.left)
		buf_printf(out, "\n… and %zu more\n", p.left);
	buf_bytes(out, end.p, end.n);
	buf_close(&end, out);
}
