/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_SHOW_H
#define TALLY_CHECK_SHOW_H
/* A check in words, for people and for programs. */
#include "check/check.h"

struct check_style {
	int columns;		/* cut names so that lines fit; 0: never */
	bool full_names;
	size_t top;		/* unchanged functions to list */
};

void check_text(const struct check *c, const struct check_style *s,
		struct buf *out);
/* Of identical code: what this machine's noise allows. */
void check_calibration(const struct check *c, struct buf *out);
/* Schema 1: doc/tally-check.schema.json. */
void check_json(const struct check *c, struct buf *out);
/* JUnit's XML, as GitLab and Jenkins read it. */
void check_junit(const struct check *c, struct buf *out);
/* For a step summary or a comment: at most 60 kB. */
void check_markdown(const struct check *c, struct buf *out);
/* Workflow commands of GitHub: annotations at file and line.  Paths below `root`
 * (may be NULL) become relative to it. */
void check_github(const struct check *c, const char *root, bool warn_only,
		  struct buf *out);
/* SARIF 2.1.0, one run, for GitHub's code scanning and editors, and GitLab's Code
 * Quality report: what failed or may fail, worst first.  `root` as above. */
void check_sarif(const struct check *c, const char *root, struct buf *out);
void check_code_quality(const struct check *c, const char *root, struct buf *out);
/* A page: what failed, a flame graph by change, source and instructions of both
 * sides; sources as c->o.runs.where says.  `told` gets what source files were read
 * (sources_summary). */
int check_html(const struct check *c, struct buf *told, struct buf *out,
	       struct error *err);
/* OpenMetrics 1.0 text, for GitLab's metrics reports. */
void check_openmetrics(const struct check *c, struct buf *out);

/* describe.c, shared by the above */

/* One line without newline: the verdict and why. */
void describe_verdict(const struct check *c, struct buf *out);
/* Safe and shortened name of a row, with [k] for kernel functions. */
void describe_name(const struct check *c, const struct check_row *r, bool full,
		   struct buf *out);
void describe_func(const struct check *c, uint32_t func, bool full,
		   struct buf *out);
/* Where a part is: "lex.c:12", "lex+0x1c", the caller's name; safe. */
void describe_part(const struct check *c, const struct check_part *p,
		   struct buf *out);
/* "lines that gained" and so on */
const char *describe_part_title(enum check_part_kind k);
/* "+12.3%", "x4.2" from a ratio */
void describe_change(double ratio, struct buf *out);
/* "+10.1% to +14.5%" */
void describe_interval(double low, double high, struct buf *out);
/* "+3.21 ms", "-1.2 M": a difference of costs, in the event's unit */
void describe_cost(const struct check *c, double cost, bool sign,
		   struct buf *out);
/* The minimum detectable effect, and what was wanted. */
void describe_mde(const struct check *c, struct buf *out);
/* The adjusted probability of the test that a row's estimate calls for: of more, or of
 * less. */
double describe_deciding(const struct check_row *r);
/* "0.0012", "<0.0001" */
void describe_p(double p, struct buf *out);
/* "+12.3% (95%: +10.1% to +14.5%, p 0.0012)" of a row that was tested; `between`
 * stands before the p. */
void describe_estimate(const struct check_row *r, const char *between,
		       struct buf *out);
/* Gained a run, comparable: in the event's unit. */
double describe_gain(const struct check *c, const struct check_row *r);
/* "all functions +4.1%: …", or nothing */
void describe_shift(const struct check *c, struct buf *out);
/* Whether a row's status says more than its figures: moved, renamed, allowed. */
bool describe_explained(const struct check *c, const struct check_row *r);
/* What a row's status means, as a sentence's end. */
void describe_status(const struct check *c, const struct check_row *r,
		     struct buf *out);
/* "10 runs of the baseline, 10 new, interleaved; cpu-clock" */
void describe_runs(const struct check *c, struct buf *out);
/* "+12.3% (95%: +10.1% to +14.5%, p <0.0001), +3.2 ms a run" */
void describe_sentence(const struct check *c, const struct check_row *r,
		       struct buf *out);
/* The line of a row in its source file, whose safe path is appended, relative to
 * `root` (may be NULL) where it is below; 0: not known, and nothing is appended. */
uint32_t describe_place(const struct check *c, const struct check_row *r,
			const char *root, struct buf *path);
/* Total: "total +1.2% (95%: …), p …; …" */
void describe_total(const struct check *c, struct buf *out);
void describe_noise(const struct check *c, struct buf *out);
/* A row that changed in some way, not just one that costs something. */
bool describe_changed(const struct check_row *r);
/* A row that was tested by its ratio. */
static inline bool describe_tested(const struct check_row *r)
{
	return r->j.df > 0 && r->j.status != JUDGE_NEW &&
	       r->j.status != JUDGE_GONE;
}

#endif
