/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_SHOW_H
#define TALLY_CHECK_SHOW_H
/* Reports of a check for people and for programs. */
#include "check/check.h"
#include "check/findings.h"

struct check_style {
	int columns;		/* width to which names are cut; 0: no limit */
	bool full_names;
	size_t top;		/* number of unchanged functions to list */
};

/* Appends text for people. */
void check_text(const struct check *c, const struct check_style *s,
		struct buf *out);
/* Appends what the noise of this machine allows, from a check of identical code. */
void check_calibration(const struct check *c, struct buf *out);
/* Appends JSON of schema 1: doc/tally-check.schema.json. */
void check_json(const struct check *c, struct buf *out);
/* The first line of Markdown, which viewers do not show.  Scripts find the comment that
 * they update by it. */
#define MARKDOWN_MARK "<!-- tally check -->\n"
/* Appends Markdown for a step summary or a comment, at most 60 kB. */
void check_markdown(const struct check *c, struct buf *out);
/* Adds the findings for continuous integration: GitHub, GitLab, JUnit, SARIF.
 * Returns 0 or -ERR_NOMEM; call findings_fini in any case. */
int check_findings(const struct check *c, struct findings *out);
/* Appends a page with failures, a flame graph of changes, and source and
 * instructions of both sides.  c->o.runs.where locates the sources.  `source_notes`
 * receives a summary of the source files that were read (sources_summary). */
int check_html(const struct check *c, struct buf *source_notes, struct buf *out,
	       struct error *err);
/* Appends OpenMetrics 1.0 text for GitLab's metrics reports. */
void check_openmetrics(const struct check *c, struct buf *out);

/* describe.c: functions that the above share */

/* Appends one line without a newline: the verdict and the reason. */
void describe_verdict(const struct check *c, struct buf *out);
/* Appends the safe and shortened name of a row, with [k] for kernel functions. */
void describe_name(const struct check *c, const struct check_row *r, bool full,
		   struct buf *out);
/* Format of the lines, instructions and callers that gained in a row: a list of
 * each kind, such as "lines that gained: lex.c:12 +1.2 ms, …". */
struct part_style {
	const char *before, *between, *after;
	size_t most;		/* parts of each kind */
	bool markdown;
};
/* Appends the lists of a row, safe. */
void describe_parts(const struct check *c, const struct check_row *r,
		    const struct part_style *s, struct buf *out);
/* Appends the commits that changed a row, and changes elsewhere that may explain
 * it, safe; row PROF_NONE: the total.  `before` and `after` surround each. */
void describe_commits(const struct check *c, uint32_t row,
		      const struct part_style *s, struct buf *out);
/* Appends foreign text as Markdown, safe, and escaped so that it cannot become markup,
 * HTML, a mention or a link. */
void describe_markdown(const char *text, struct buf *out);
/* Appends a ratio as "+12.3%" or "x4.2". */
void describe_change(double ratio, struct buf *out);
/* Appends an interval such as "+10.1% to +14.5%". */
void describe_interval(double low, double high, struct buf *out);
/* Appends a difference of costs in the event's unit: "+3.21 ms", "-1.2 M". */
void describe_cost(const struct check *c, double cost, bool sign,
		   struct buf *out);
/* Appends the minimum detectable effect and the one that was required. */
void describe_mde(const struct check *c, struct buf *out);
/* Returns the adjusted p-value of the test in the direction of a row's estimate. */
double describe_deciding(const struct check_row *r);
/* Appends a p-value: "0.0012", "<0.0001". */
void describe_p(double p, struct buf *out);
/* Appends the estimate of a tested row, "+12.3% (95%: +10.1% to +14.5%, p
 * 0.0012)"; `between` precedes the p. */
void describe_estimate(const struct check_row *r, const char *between,
		       struct buf *out);
/* Returns the comparable increase per run in the event's unit. */
double describe_gain(const struct check *c, const struct check_row *r);
/* Appends "all functions +4.1%: …", or nothing without a common change. */
void describe_shift(const struct check *c, struct buf *out);
/* Returns whether a row's status adds to its figures: moved, renamed, allowed. */
bool describe_explained(const struct check *c, const struct check_row *r);
/* Appends the meaning of a row's status, as the end of a sentence. */
void describe_status(const struct check *c, const struct check_row *r,
		     struct buf *out);
/* Appends "10 runs of the baseline, 10 new, interleaved; cpu-clock" or the like. */
void describe_runs(const struct check *c, struct buf *out);
/* Appends the total: "total +1.2% (95%: …), p …; …". */
void describe_total(const struct check *c, struct buf *out);
/* Appends the noise between runs, of the total and of functions. */
void describe_noise(const struct check *c, struct buf *out);
/* Returns whether a row changed in some way instead of merely having a cost. */
bool describe_changed(const struct check_row *r);
/* Returns whether a row was tested by its ratio. */
static inline bool describe_tested(const struct check_row *r)
{
	return r->j.change.df > 0 && r->j.status != JUDGE_NEW &&
	       r->j.status != JUDGE_REMOVED;
}

#endif
