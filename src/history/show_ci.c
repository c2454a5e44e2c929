// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports a verdict to continuous integration: findings and Markdown. */
#include "base/text.h"
#include "check/show.h"
#include "history/show.h"

enum { MARKDOWN_ROWS = 100 };

static enum finding_level level_of(const struct verdict_row *r)
{
	switch (r->status) {
	case VERDICT_SLOWER:
		return FINDING_ERROR;
	case VERDICT_SUSPECT:
		return FINDING_WARNING;
	case VERDICT_SAME:
		return FINDING_NONE;
	default:
		return FINDING_NOTE;
	}
}

int verdict_findings(const struct history *h, const struct verdict *v,
		     const struct verdict_options *o, struct findings *out)
{
	for (size_t i = 0; i < v->rows.n; i++) {
		const struct verdict_row *r = &v->rows.v[i];
		const struct history_func *f = &h->funcs.v[r->func];
		struct finding *x = findings_add(out);

		if (!x)
			return -ERR_NOMEM;
		x->level = level_of(r);
		x->slower = true;
		x->rank = i;
		show_func(h, r->func, &x->name);
		history_name(h, r->func, &x->function);
		buf_str(&x->image, history_str(h, f->image));
		show_estimate(h, r, &x->text);
		if (r->against)
			buf_printf(&x->text, ", compared with %zu batch%s",
				   r->against, plural(r->against, "es"));
		if (f->line && *history_str(h, f->file)) {
			buf_str(&x->path, history_str(h, f->file));
			x->line = f->line;
		}
	}
	if (v->broken)
		buf_str(&out->broken, v->broken);
	show_answer(h, v, o, &out->verdict);
	if (!v->learning)
		show_total(v, &out->total);
	out->total_fails = v->total.slower && !v->total.reason;
	out->inconclusive = v->answer == VERDICT_INCONCLUSIVE;
	return 0;
}

static void put_row(const struct history *h, const struct verdict_row *r,
		    struct buf *out)
{
	struct buf t = { 0 };

	buf_printf(out, "| %s | ", r->status == VERDICT_SLOWER ? "❌"
		   : r->status == VERDICT_SUSPECT ? "❓"
		   : r->status == VERDICT_FASTER ? "✅" : "");
	show_func(h, r->func, &t);
	describe_markdown(buf_cstr(&t), out);
	buf_reset(&t);
	buf_printf(out, " | %s | ", verdict_status_name(r->status));
	show_estimate(h, r, &t);
	describe_markdown(buf_cstr(&t), out);
	buf_str(out, " |\n");
	buf_fini(&t);
}

void verdict_markdown(const struct history *h, const struct verdict *v,
		      const struct verdict_options *o, struct buf *out)
{
	struct buf t = { 0 };
	size_t shown = 0, changed = 0;

	buf_str(out, MARKDOWN_MARK "### tally check: ");
	show_answer(h, v, o, &t);
	describe_markdown(buf_cstr(&t), out);
	buf_reset(&t);
	if (!v->learning) {
		buf_str(out, "\n\n");
		show_total(v, &t);
		describe_markdown(buf_cstr(&t), out);
	}
	buf_str(out, "\n\n");
	for (size_t i = 0; i < v->rows.n; i++) {
		if (v->rows.v[i].status == VERDICT_SAME)
			continue;
		if (changed++ >= MARKDOWN_ROWS)
			continue;
		if (!shown++)
			buf_str(out, "| | function | | change |\n"
				     "|---|---|---|---|\n");
		put_row(h, &v->rows.v[i], out);
	}
	if (changed > shown)
		buf_printf(out, "\n… and %zu more\n", changed - shown);
	buf_fini(&t);
}
