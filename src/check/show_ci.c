// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the findings of a check for continuous integration, and writes
 * OpenMetrics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/show.h"

/* Appends "+12.3% (95%: +10.1% to +14.5%, p <0.0001), +3.2 ms per run" or the like. */
static void describe_sentence(const struct check *c, const struct check_row *r,
			      struct buf *out)
{
	if (describe_tested(r)) {
		describe_estimate(r, ", ", out);
		buf_str(out, ", ");
	} else {
		buf_printf(out, "%s, ", check_status_name(r->status));
	}
	describe_cost(c, describe_gain(c, r), true, out);
	buf_str(out, " per run");
	if (describe_explained(c, r) || r->status == CHECK_SUSPECT) {
		buf_str(out, "; ");
		describe_status(c, r, out);
	}
}

/* Appends the lines that gained most. */
static void put_details(const struct check *c, const struct check_row *r,
			struct buf *out)
{
	const struct check_parts *l = &r->parts[PART_LINE];

	for (size_t i = l->first; i < l->first + l->n && i < l->first + 5;
	     i++) {
		const struct check_part *p = &c->parts.v[i];

		if (p->now <= p->base)
			break;
		text_safe(out, check_str(&c->runs, p->name));
		buf_printf(out, ":%u ", p->line);
		describe_cost(c, check_cost(c, p->now - p->base), true, out);
		buf_u8(out, '\n');
	}
}

static void put_place(const struct check *c, const struct check_row *r,
		      struct finding *x)
{
	const struct compare_func *f;
	uint32_t file, line;

	if (r->unit.func == PROF_NONE)
		return;
	f = &c->runs.match.funcs.v[r->unit.func];
	file = r->unit.file ? r->unit.file : f->file;
	line = r->unit.file ? check_line_number(r->unit.line) : f->line;
	if (!file || !line)
		return;
	buf_str(&x->path, check_str(&c->runs, file));
	x->line = line;
}

static void fill(const struct check *c, const struct check_row *r,
		 struct finding *x)
{
	x->level = r->fails ? FINDING_ERROR
		 : r->status == CHECK_SUSPECT ? FINDING_WARNING
		 : describe_changed(r) ? FINDING_NOTE : FINDING_NONE;
	x->slower = describe_tested(r);
	describe_name(c, r, false, &x->name);
	check_row_name(c, r, &x->function);
	buf_str(&x->image, check_row_image(c, r));
	describe_sentence(c, r, &x->text);
	put_place(c, r, x);
	if (r->fails) {
		put_details(c, r, &x->details);
		describe_commits(c, (uint32_t)(r - c->rows.v),
				 &(struct part_style){ .before = "",
						       .after = "\n" },
				 &x->details);
	}
	if (c->is_time)
		x->seconds = check_cost(c, r->j.now) / 1e9;
}

int check_findings(const struct check *c, struct findings *out)
{
	size_t *rank = calloc(c->rows.n + 1, sizeof(*rank));

	if (!rank)
		return -ERR_NOMEM;
	for (size_t i = 0; i < c->order.n; i++)
		rank[c->order.v[i]] = i;
	for (size_t i = 0; i < c->rows.n; i++) {
		struct finding *x;

		if (c->rows.v[i].status == CHECK_SMALL)
			continue;
		x = findings_add(out);
		if (!x) {
			free(rank);
			return -ERR_NOMEM;
		}
		fill(c, &c->rows.v[i], x);
		x->rank = rank[i];
	}
	free(rank);
	describe_verdict(c, &out->verdict);
	describe_total(c, &out->total);
	if (c->verdict == CHECK_BROKEN)
		buf_str(&out->broken, c->broken);
	out->total_fails = c->total_fails;
	out->inconclusive = c->verdict == CHECK_INCONCLUSIVE;
	return 0;
}

/* Appends a label with its value (OpenMetrics 1.0, "ABNF": escaped-string). */
static void put_label(struct buf *out, const char *key, const char *text)
{
	struct buf safe = { 0 };

	text_safe(&safe, text);
	buf_printf(out, "%s=\"", key);
	for (const char *p = buf_cstr(&safe); *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_u8(out, '\\');
		buf_u8(out, (uint8_t)*p);
	}
	buf_str(out, "\"");
	buf_fini(&safe);
}

enum metric { METRIC_COST, METRIC_RATIO, METRIC_VISIBLE };

static void metric_head(const char *name, const char *unit, const char *help,
			struct buf *out)
{
	buf_printf(out, "# TYPE %s gauge\n", name);
	if (*unit)
		buf_printf(out, "# UNIT %s %s\n", name, unit);
	if (*help)
		buf_printf(out, "# HELP %s %s\n", name, help);
}

/* Appends a metric of the total, which may be unknown, and of each row. */
static void metric(const struct check *c, const char *name, enum metric m,
		   double total, struct buf *out)
{
	if (isfinite(total))
		buf_printf(out, "%s{function=\"[total]\"} %.9g\n", name, total);
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct check_row *r = &c->rows.v[i];
		struct buf t = { 0 };
		double x = m == METRIC_COST ? check_cost(c, r->j.now) /
					      (c->is_time ? 1e9 : 1)
			 : m == METRIC_RATIO ? r->j.ratio : r->j.visible;

		if (r->status == CHECK_SMALL || !isfinite(x) ||
		    (m != METRIC_COST && !describe_tested(r)))
			continue;
		check_row_name(c, r, &t);
		buf_printf(out, "%s{", name);
		put_label(out, "image", check_row_image(c, r));
		buf_str(out, ",");
		put_label(out, "function", buf_cstr(&t));
		buf_printf(out, "} %.9g\n", x);
		buf_fini(&t);
	}
}

void check_openmetrics(const struct check *c, struct buf *out)
{
	const struct judge_total *t = &c->judge.total;
	const char *cost = c->is_time ? "tally_run_seconds"
				      : "tally_run_events";

	metric_head(cost, c->is_time ? "seconds" : "", "Mean cost of a new run.",
		    out);
	metric(c, cost, METRIC_COST,
	       check_cost(c, t->now) / (c->is_time ? 1e9 : 1), out);
	metric_head("tally_change_ratio", "ratio",
		    "New cost over the baseline's.", out);
	metric(c, "tally_change_ratio", METRIC_RATIO, t->ratio, out);
	metric_head("tally_visible_ratio", "ratio", "Smallest slowdown that would "
		    "have been detected, as a share.", out);
	metric(c, "tally_visible_ratio", METRIC_VISIBLE, t->visible, out);
	metric_head("tally_mde_ratio", "ratio", "The minimum detectable effect, as "
		    "a share of a run.", out);
	if (isfinite(c->sensitivity.mde))
		buf_printf(out, "tally_mde_ratio %.9g\n", c->sensitivity.mde);
	metric_head("tally_regressions", "", "", out);
	buf_printf(out, "tally_regressions %zu\n# EOF\n",
		   c->failing + c->total_fails);
}
