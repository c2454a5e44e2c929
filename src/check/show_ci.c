// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the check in formats for continuous integration: JUnit, GitHub
 * annotations, OpenMetrics. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "check/show.h"

/* Text that is safe for a terminal contains nothing that XML 1.0 forbids.  Five
 * characters still need escapes (XML 1.0 §2.4). */
static void put_xml(struct buf *out, const char *safe)
{
	for (; *safe; safe++)
		switch (*safe) {
		case '<': buf_str(out, "&lt;"); break;
		case '>': buf_str(out, "&gt;"); break;
		case '&': buf_str(out, "&amp;"); break;
		case '"': buf_str(out, "&quot;"); break;
		case '\'': buf_str(out, "&apos;"); break;
		default: buf_u8(out, (uint8_t)*safe);
		}
}

/* U+FFFE and U+FFFF are valid in UTF-8, but not in XML. */
static void put_xml_any(struct buf *out, const char *text)
{
	struct buf safe = { 0 };
	char *p;

	text_safe(&safe, text);
	buf_cstr(&safe);
	for (p = (char *)safe.p; p && (p = strstr(p, "\xef\xbf")); p += 3)
		if ((uint8_t)p[2] >= 0xbe)
			memcpy(p, "???", 3);
	put_xml(out, buf_cstr(&safe));
	buf_fini(&safe);
}

void describe_sentence(const struct check *c, const struct check_row *r,
		       struct buf *out)
{
	if (describe_tested(r)) {
		describe_estimate(r, ", ", out);
		buf_str(out, ", ");
	} else {
		buf_printf(out, "%s, ", check_status_name(r->status));
	}
	describe_cost(c, describe_gain(c, r), true, out);
	buf_str(out, " a run");
	if (describe_explained(c, r) || r->status == CHECK_SUSPECT) {
		buf_str(out, "; ");
		describe_status(c, r, out);
	}
}

static void junit_details(const struct check *c, const struct check_row *r,
			  struct buf *out)
{
	const struct check_parts *l = &r->parts[PART_LINE];

	for (size_t i = l->first; i < l->first + l->n && i < l->first + 5;
	     i++) {
		const struct check_part *p = &c->parts.v[i];
		struct buf t = { 0 };

		if (p->now <= p->base)
			break;
		describe_cost(c, check_cost(c, p->now - p->base), true, &t);
		put_xml_any(out, check_str(&c->runs, p->name));
		buf_printf(out, ":%u %s\n", p->line, buf_cstr(&t));
		buf_fini(&t);
	}
}

static void junit_row(const struct check *c, const struct check_row *r,
		      struct buf *out)
{
	struct buf t = { 0 };
	const char *image = check_row_image(c, r);

	buf_str(out, "    <testcase classname=\"");
	put_xml_any(out, *image ? image : "all");
	buf_str(out, "\" name=\"");
	check_row_name(c, r, &t);
	put_xml_any(out, buf_cstr(&t));
	buf_reset(&t);
	buf_str(out, "\"");
	if (r->unit.func != PROF_NONE &&
	    c->runs.funcs.v[r->unit.func].line) {
		const struct check_func *f = &c->runs.funcs.v[r->unit.func];

		buf_str(out, " file=\"");
		put_xml_any(out, check_str(&c->runs, f->file));
		buf_printf(out, "\" line=\"%u\"", f->line);
	}
	/* seconds of a run, which viewers show as the duration of the test case */
	if (c->is_time)
		buf_printf(out, " time=\"%.6f\"",
			   check_cost(c, r->j.now) / 1e9);
	describe_sentence(c, r, &t);
	if (r->fails) {
		buf_str(out, ">\n      <failure type=\"regressed\" message=\"");
		put_xml(out, buf_cstr(&t));
		buf_str(out, "\">");
		junit_details(c, r, out);
		buf_str(out, "</failure>\n    </testcase>\n");
	} else if (describe_changed(r)) {
		buf_str(out, ">\n      <system-out>");
		put_xml(out, buf_cstr(&t));
		buf_str(out, "</system-out>\n    </testcase>\n");
	} else {
		buf_str(out, "/>\n");
	}
	buf_fini(&t);
}

void check_junit(const struct check *c, struct buf *out)
{
	size_t cases = 1, failures = c->failing + c->total_fails;
	bool blind = c->verdict == CHECK_INCONCLUSIVE;
	struct buf t = { 0 };

	for (size_t i = 0; i < c->rows.n; i++)
		cases += c->rows.v[i].status != CHECK_SMALL;
	buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_printf(out, "<testsuites tests=\"%zu\" failures=\"%zu\">\n"
		   "  <testsuite name=\"tally check\" tests=\"%zu\" "
		   "failures=\"%zu\" errors=\"%d\" skipped=\"%d\">\n", cases,
		   failures, cases, failures, c->verdict == CHECK_BROKEN, blind);
	buf_str(out, "    <testcase classname=\"all\" name=\"[total]\">");
	describe_total(c, &t);
	if (c->verdict == CHECK_BROKEN) {
		buf_str(out, "<error type=\"broken\" message=\"");
		put_xml_any(out, c->broken);
		buf_str(out, "\"/>");
	}
	if (c->total_fails) {
		buf_str(out, "<failure type=\"regressed\" message=\"");
		put_xml_any(out, buf_cstr(&t));
		buf_str(out, "\"/>");
	} else if (blind) {
		buf_reset(&t);
		describe_verdict(c, &t);
		buf_str(out, "<skipped message=\"");
		put_xml_any(out, buf_cstr(&t));
		buf_str(out, "\"/>");
	}
	buf_str(out, "</testcase>\n");
	for (size_t i = 0; i < c->rows.n; i++)
		if (c->rows.v[i].status != CHECK_SMALL)
			junit_row(c, &c->rows.v[i], out);
	buf_str(out, "  </testsuite>\n</testsuites>\n");
	buf_fini(&t);
}

/* Workflow commands end at the end of a line and have their own escapes.  In a
 * property (file=, title=), two more characters are special. */
static void put_command(struct buf *out, const char *text, bool property)
{
	for (; *text; text++)
		if (strchr("%\r\n", *text) ||
		    (property && strchr(":,", *text)))
			buf_printf(out, "%%%02X", (unsigned int)*text);
		else
			buf_u8(out, (uint8_t)*text);
}

static const char *below(const char *root, const char *path)
{
	size_t n = root ? strlen(root) : 0;

	while (n && root[n - 1] == '/')
		n--;
	if (root && *root && !strncmp(path, root, n) && path[n] == '/')
		return path + n + 1;
	return path;
}

uint32_t describe_place(const struct check *c, const struct check_row *r,
			const char *root, struct buf *path)
{
	const struct check_func *f;
	uint32_t file, line;

	if (r->unit.func == PROF_NONE)
		return 0;
	f = &c->runs.funcs.v[r->unit.func];
	file = r->unit.file ? r->unit.file : f->file;
	line = r->unit.file ? check_line_number(r->unit.line) : f->line;
	if (!file || !line)
		return 0;
	text_safe(path, below(root, check_str(&c->runs, file)));
	return line;
}

static void annotation(const struct check *c, const struct check_row *r,
		       const char *root, const char *level, struct buf *out)
{
	struct buf t = { 0 }, name = { 0 };
	uint32_t line = describe_place(c, r, root, &t);

	describe_name(c, r, false, &name);
	buf_printf(out, "::%s ", level);
	if (line) {
		buf_str(out, "file=");
		put_command(out, buf_cstr(&t), true);
		buf_printf(out, ",line=%u,", line);
		buf_reset(&t);
	}
	buf_str(out, "title=");
	put_command(out, buf_cstr(&name), true);
	put_command(out, r->fails ? " is slower" : " may be slower", true);
	buf_str(out, "::");
	describe_sentence(c, r, &t);
	put_command(out, buf_cstr(&name), false);
	buf_str(out, " ");
	put_command(out, buf_cstr(&t), false);
	buf_str(out, "\n");
	buf_fini(&t);
	buf_fini(&name);
}

void check_github(const struct check *c, const char *root, bool warn_only,
		  struct buf *out)
{
	const char *bad = warn_only ? "warning" : "error";
	struct buf t = { 0 };

	for (size_t i = 0; i < c->order.n; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];

		if (r->fails)
			annotation(c, r, root, bad, out);
		else if (r->status == CHECK_SUSPECT)
			annotation(c, r, root, "warning", out);
	}
	if (c->verdict == CHECK_BROKEN) {
		buf_printf(out, "::%s title=the new side is broken::", bad);
		put_command(out, c->broken, false);
		buf_str(out, "\n");
	}
	if (c->total_fails) {
		describe_total(c, &t);
		buf_printf(out, "::%s title=the total is slower::", bad);
		put_command(out, buf_cstr(&t), false);
		buf_str(out, "\n");
		buf_reset(&t);
	}
	describe_verdict(c, &t);
	buf_printf(out, "::%s title=tally check::",
		   c->verdict == CHECK_INCONCLUSIVE ? "warning" : "notice");
	put_command(out, buf_cstr(&t), false);
	buf_str(out, "\n");
	buf_fini(&t);
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

static void metric_rows(const struct check *c, const char *name, enum metric m,
			struct buf *out)
{
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

	buf_printf(out, "# TYPE %s gauge\n", cost);
	if (c->is_time)
		buf_printf(out, "# UNIT %s seconds\n", cost);
	buf_printf(out, "# HELP %s Mean cost of a new run.\n", cost);
	buf_printf(out, "%s{function=\"[total]\"} %.9g\n", cost,
		   check_cost(c, t->now) / (c->is_time ? 1e9 : 1));
	metric_rows(c, cost, METRIC_COST, out);
	buf_str(out, "# TYPE tally_change_ratio gauge\n"
		     "# UNIT tally_change_ratio ratio\n"
		     "# HELP tally_change_ratio New cost over the "
		     "baseline's.\n");
	if (isfinite(t->ratio))
		buf_printf(out, "tally_change_ratio{function=\"[total]\"} "
			   "%.9g\n", t->ratio);
	metric_rows(c, "tally_change_ratio", METRIC_RATIO, out);
	buf_str(out, "# TYPE tally_visible_ratio gauge\n"
		     "# UNIT tally_visible_ratio ratio\n"
		     "# HELP tally_visible_ratio The smallest slowdown that "
		     "would have been seen, as a share.\n");
	if (isfinite(t->visible))
		buf_printf(out, "tally_visible_ratio{function=\"[total]\"} "
			   "%.9g\n", t->visible);
	metric_rows(c, "tally_visible_ratio", METRIC_VISIBLE, out);
	buf_str(out, "# TYPE tally_mde_ratio gauge\n"
		     "# UNIT tally_mde_ratio ratio\n"
		     "# HELP tally_mde_ratio The minimum detectable effect, as a "
		     "share of a run.\n");
	if (isfinite(c->sight.mde))
		buf_printf(out, "tally_mde_ratio %.9g\n", c->sight.mde);
	buf_str(out, "# TYPE tally_regressions gauge\n");
	buf_printf(out, "tally_regressions %zu\n# EOF\n",
		   c->failing + c->total_fails);
}
