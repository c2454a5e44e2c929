// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of `tally check`. */
#include <stdlib.h>
#include <string.h>

#include "cmd/check.h"
#include "cmd/show_options.h"
#include "cmd/debug_dirs.h"
#include "cmd/source_options.h"

#define AT(field) offsetof(struct check_opts, field)

const struct opt check_opt_table[] = {
	{ OPT_HEADING, 0, NULL, NULL, "What to compare", 0 },
	{ OPT_WORDS, 0, "baseline", "FILE [FILE...]",
	  "Recordings of how it was; each run in them counts.", AT(baseline) },
	{ OPT_WORDS, 0, "new", "FILE [FILE...]",
	  "Recordings of how it is now.", AT(new) },
	{ OPT_STRS, 'e', "event", "EVENT",
	  "Compare (and with --run record) this event. Default: the first one "
	  "in each file.", AT(events) },
	{ OPT_STR, 0, "by", "function|line",
	  "Judge functions or single lines. Default: function.", AT(by) },
	{ OPT_NOFLAG, 0, "inline", NULL,
	  "Inlined functions are functions (the default).", AT(no_inline) },
	{ OPT_FLAG, 0, "no-inline", NULL,
	  "Count inlined functions for the one they were inlined into.",
	  AT(no_inline) },
	{ OPT_FLAG, 0, "inclusive", NULL,
	  "Show too what changed with what it called; it explains and never "
	  "fails the check.", AT(inclusive) },
	{ OPT_STRS, 0, "debug-dir", "DIR",
	  "For recordings that hold no symbols: " DEBUG_DIR_HELP,
	  AT(debug_dirs) },

	{ OPT_HEADING, 0, NULL, NULL, "Or record both sides now, interleaved", 0 },
	{ OPT_STR, 0, "run", "CMD",
	  "The new side: this command, by sh.", AT(run) },
	{ OPT_STR, 0, "against", "CMD",
	  "The baseline: this command, by sh.", AT(against) },
	{ OPT_FLAG, 0, "calibrate", NULL,
	  "Compare --run (default: a loop of sh) with itself: shows what this "
	  "machine's noise lets a check see.", AT(calibrate) },
	{ OPT_UINT, 'n', "runs", "N", "Runs of each side. Default: 10.",
	  AT(runs) },
	{ OPT_FLAG, 0, "early", NULL,
	  "Of 8 and more runs make no more than it takes to be sure.",
	  AT(early) },
	{ OPT_UINT, 'F', "freq", "HZ",
	  "Samples a second. Default: 4999.", AT(freq) },
	{ OPT_FLAG, 'g', NULL, NULL,
	  "Record call stacks too, by frame pointers.", AT(graph) },
	{ OPT_FLAG, 0, "user", NULL, "Sample user space only.", AT(user) },
	{ OPT_STR, 0, "keep", "DIR",
	  "Keep the recordings there: baseline-01.tally, new-01.tally and so on.",
	  AT(keep) },

	{ OPT_HEADING, 0, NULL, NULL, "Or compare with the commits before", 0 },
	{ OPT_STR, 0, "history", "DIR",
	  "The baseline: the last batches of a history (tally-history(1)) from "
	  "machines of this kind. With --run a second batch is recorded where "
	  "the first one leaves a doubt.", AT(history) },
	{ OPT_WORDS, 0, "again", "FILE [FILE...]",
	  "A second batch of the same commit, recorded because of the first.",
	  AT(again) },
	{ OPT_STR, 0, "benchmark", "NAME",
	  "The benchmark of the history to compare with. Default: default.",
	  AT(benchmark) },
	{ OPT_STR, 0, "commit", "REVISION",
	  "What was recorded; batches of the same commit are no baseline. "
	  "Default: what the recordings say.", AT(commit) },

	{ OPT_HEADING, 0, NULL, NULL, "When it fails", 0 },
	{ OPT_STR, 0, "alpha", "P",
	  "How often an unchanged program may fail the check. Default: 0.01.",
	  AT(alpha) },
	{ OPT_STR, 0, "threshold", "PERCENT",
	  "Slowdowns estimated below this are no regression. Default: 3%; "
	  "with one run a side at least 10%.", AT(threshold) },
	{ OPT_STR, 0, "margin", "PERCENT",
	  "A regression is surely slower by more than this, which a program's "
	  "layout alone may cause. Default: 1%.", AT(margin) },
	{ OPT_STR, 0, "min-share", "PERCENT",
	  "Functions of a smaller share are judged together. Default: 0.4%.",
	  AT(min_share) },
	{ OPT_STR, 0, "min-impact", "PERCENT",
	  "Slowdowns that add less than this to the total are no regression. "
	  "Default: 0.1%.", AT(min_impact) },
	{ OPT_STR, 0, "total-threshold", "PERCENT|off",
	  "The same as --threshold for the cost of a whole run. Default: 3%.",
	  AT(total_threshold) },
	{ OPT_STR, 0, "require-mde", "PERCENT|off",
	  "Be inconclusive (exit status 3) if a slowdown that adds this to a run, "
	  "in one function or in all, might have gone unseen. Default: 10%.",
	  AT(require_mde) },
	{ OPT_STR, 0, "allow", "FILE",
	  "Changes that are known: lines \"FUNCTION [+PERCENT%] -- REASON\"; "
	  "* and ? match any text and character, [total] is the total.",
	  AT(allow) },
	{ OPT_FLAG, 0, "gate-kernel", NULL,
	  "Let the kernel's scheduling, interrupts, page faults and idle fail "
	  "it, too, where both sides were interleaved.", AT(gate_kernel) },
	{ OPT_FLAG, 0, "any-outcome", NULL,
	  "Judge costs also where new runs ended otherwise than the baseline's, "
	  "or did less than a fifth of its work.", AT(any_outcome) },
	{ OPT_FLAG, 0, "warn-only", NULL,
	  "Say everything, but exit with 0 unless the files cannot be "
	  "compared.", AT(warn_only) },

	{ OPT_HEADING, 0, NULL, NULL, "How to show it", 0 },
	{ OPT_STR, 0, "format", "text|none", "On standard output. Default: "
	  "text.", AT(format) },
	{ OPT_STR, 0, "json", "FILE",
	  "Write everything as JSON; - is standard output, here and below.",
	  AT(json) },
	{ OPT_STR, 0, "junit", "FILE",
	  "Write a test case for each function, as GitLab and Jenkins read "
	  "them.", AT(junit) },
	{ OPT_STR, 0, "markdown", "FILE",
	  "Write a summary for a pull request, at most 60 kB.", AT(markdown) },
	{ OPT_STR, 0, "html", "FILE",
	  "Write a page: what failed first, a flame graph by change, and source "
	  "and instructions of both sides beside each other.", AT(html) },
	{ OPT_STR, 0, "openmetrics", "FILE",
	  "Write costs and changes as metrics.", AT(openmetrics) },
	{ OPT_FLAG, 0, "github", NULL,
	  "Print annotations for GitHub at file and line.", AT(github) },
	{ OPT_STR, 0, "repo", "DIR",
	  "Name the commits in this git repository, between the revisions that "
	  "both sides were recorded at, that touched what got slower; source "
	  "files that are missing at their paths are taken from there.",
	  AT(repo) },
	{ OPT_UINT, 0, "top", "N",
	  "List this many unchanged functions. Default: 5.", AT(top) },
	{ OPT_FLAG, 0, "full-names", NULL,
	  "Show template arguments and parameters in full.", AT(full_names) },
	OPT_ROW_MAX_MEMORY(offsetof(struct check_opts, max_memory)),
	OPT_ROW_TRUST(offsetof(struct check_opts, trust)),
	OPT_END
};

void check_defaults(void *opts)
{
	struct check_opts *o = opts;

	o->format = "text";
	o->by = "function";
	o->top = 5;
	o->runs = 10;
	o->freq = 4999;
}

/* "3%" or "3": 0.03. */
static int percent(const char *text, const char *name, double *out,
		   struct error *err)
{
	char *end;
	double x;

	if (!text)
		return 0;
	x = strtod(text, &end);
	if (end != text && *end == '%')
		end++;
	if (end == text || *end || !(x >= 0) || x > 1e6)
		return error_set(err, ERR_USAGE, "%s %s: want a percentage, "
				 "for example 3%%", name, text);
	*out = x / 100;
	return 0;
}

static int probability(const char *text, double *out, struct error *err)
{
	char *end;

	if (!text)
		return 0;
	*out = strtod(text, &end);
	if (end == text || *end || !(*out > 0) || !(*out < 0.5))
		return error_set(err, ERR_USAGE, "--alpha %s: want a "
				 "probability below 0.5, for example 0.01",
				 text);
	return 0;
}

static int set_limits(const struct check_opts *o, struct check_options *out,
		      struct error *err)
{
	struct judge_options *j = &out->judge;
	int rc = probability(o->alpha, &j->alpha, err);

	if (!rc)
		rc = percent(o->threshold, "--threshold", &j->threshold, err);
	if (!rc)
		rc = percent(o->margin, "--margin", &j->margin, err);
	if (!rc)
		rc = percent(o->min_share, "--min-share", &j->min_share, err);
	if (!rc)
		rc = percent(o->min_impact, "--min-impact", &j->min_impact,
			     err);
	if (o->require_mde && !strcmp(o->require_mde, "off"))
		out->require_mde = -1;
	else if (!rc)
		rc = percent(o->require_mde, "--require-mde",
			     &out->require_mde, err);
	if (o->total_threshold && !strcmp(o->total_threshold, "off"))
		j->total_threshold = -1;
	else if (!rc)
		rc = percent(o->total_threshold, "--total-threshold",
			     &j->total_threshold, err);
	if (j->suspect < j->alpha)
		j->suspect = j->alpha;
	return rc;
}

int check_set_options(struct cmd_io *io, const struct check_opts *o, struct check_options *out,
		       struct error *err)
{
	struct source_opts sources = { .repo = o->repo, .no_debuginfod = true };
	int rc;

	*out = (struct check_options){
		.judge = judge_defaults(),
		.runs = { .event = o->events.n ? o->events.v[0] : NULL, .no_inline = o->no_inline,
			  .by_line = !strcmp(o->by, "line") },
		.require_mde = 0.1,
		.inclusive = o->inclusive,
		.gate_kernel = o->gate_kernel,
		.any_outcome = o->any_outcome,
	};
	if (o->events.n > 1)
		return error_set(err, ERR_USAGE, "one --event at a time");
	if (!out->runs.by_line && strcmp(o->by, "function"))
		return error_set(err, ERR_USAGE, "--by %s: want function or "
				 "line", o->by);
	if (strcmp(o->format, "text") && strcmp(o->format, "none"))
		return error_set(err, ERR_USAGE, "--format %s: want text or "
				 "none", o->format);
	rc = cmd_sources(io, &sources, NULL, SOURCES_FOR_OTHERS, &out->runs.where,
			 err);
	return rc ? rc : set_limits(o, out, err);
}
