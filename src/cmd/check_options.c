// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines and checks the options of `tally check`. */
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
	  "Recordings of the old state; each run in them counts.",
	  AT(baseline) },
	{ OPT_WORDS, 0, "new", "FILE [FILE...]",
	  "Recordings of the new state.", AT(new) },
	{ OPT_STRS, 0, "old-label", "NAME=VALUE",
	  "Only samples with this label in recordings of the baseline, and only "
	  "runs that have some; as for --label of tally report.",
	  AT(old_labels) },
	{ OPT_STRS, 0, "new-label", "NAME=VALUE",
	  "The same for recordings of the new state.", AT(new_labels) },
	{ OPT_STRS, 'e', "event", "EVENT",
	  "Compare this event; with --run, record it. Default: the first event "
	  "in each file.", AT(events) },
	{ OPT_STR, 0, "by", "function|line",
	  "Test functions or single lines. Default: function.", AT(by) },
	OPT_ROWS_INLINE(AT(no_inline),
		"Treat inlined functions as functions (the default)."),
	{ OPT_FLAG, 0, "inclusive", NULL,
	  "Also show changes of functions including what they called; never "
	  "fails the check.", AT(inclusive) },
	{ OPT_STRS, 0, "debug-dir", "DIR",
	  "For recordings without symbols: " DEBUG_DIR_HELP,
	  AT(debug_dirs) },

	{ OPT_HEADING, 0, NULL, NULL, "Recording both sides now, interleaved",
	  0 },
	{ OPT_STR, 0, "run", "CMD",
	  "Command of the new side, run by sh.", AT(run) },
	{ OPT_STR, 0, "against", "CMD",
	  "Command of the baseline, run by sh.", AT(against) },
	{ OPT_FLAG, 0, "calibrate", NULL,
	  "Compare --run (default: a shell loop) with itself, to show what a "
	  "check can detect despite the noise of this machine.",
	  AT(calibrate) },
	{ OPT_UINT, 'n', "runs", "N", "Runs on each side. Default: as many as "
	  "the verdict needs, 3 to 16.",
	  AT(runs) },
	{ OPT_FLAG, 0, "early", NULL,
	  "With -n: stop when the verdict is certain, and add up to 60% more "
	  "runs while it is not.", AT(early) },
	{ OPT_SECONDS, 0, "budget", "TIME",
	  "Stop after this time (30s, 10m); until then, add up to 60 runs (with "
	  "-n: 6 N) while the verdict is not certain.", AT(budget) },
	{ OPT_UINT, 'F', "freq", "HZ",
	  "Sampling rate in Hz. Default: 4999.", AT(freq) },
	{ OPT_FLAG, 'g', NULL, NULL,
	  "Also record call stacks, by frame pointers.", AT(graph) },
	{ OPT_FLAG, 0, "user", NULL, "Sample user space only.", AT(user) },
	{ OPT_STR, 0, "keep", "DIR",
	  "Keep the recordings in DIR, as baseline-01.tally, new-01.tally and "
	  "so on.",
	  AT(keep) },

	{ OPT_HEADING, 0, NULL, NULL, "Comparing with earlier commits", 0 },
	{ OPT_STR, 0, "history", "DIR",
	  "Use the last batches of a history (tally-history(1)) from machines "
	  "of this kind as the baseline. With --run, record up to 5 more batches "
	  "while they are inconclusive.", AT(history) },
	{ OPT_WORDS, 0, "again", "FILE [FILE...]",
	  "More batches of the same commit, one per file, requested by the first "
	  "check.",
	  AT(again) },
	{ OPT_STR, 0, "benchmark", "NAME",
	  "The benchmark of the history to compare with. Default: default.",
	  AT(benchmark) },
	{ OPT_STR, 0, "commit", "REVISION",
	  "The recorded commit; its batches are not used as a baseline. "
	  "Default: from the recordings.", AT(commit) },
	{ OPT_STR, 0, "since", "REVISION",
	  "Compare with the costs at this commit, for example the last release: "
	  "newer batches of the history are not used.", AT(since) },
	{ OPT_STR, 0, "from", "REVISION",
	  "Accept the costs since this commit: older batches of the history are "
	  "not used.", AT(from) },

	{ OPT_HEADING, 0, NULL, NULL, "Criteria", 0 },
	{ OPT_STR, 0, "alpha", "P",
	  "False alarm rate of the check. Default: 0.01.",
	  AT(alpha) },
	{ OPT_STR, 0, "threshold", "PERCENT",
	  "Ignore slowdowns smaller than this. Default: 3%; with one run on "
	  "each side at least 10%.", AT(threshold) },
	{ OPT_STR, 0, "margin", "PERCENT",
	  "Require slowdowns significantly larger than this, which memory "
	  "layout alone may cause. Default: 1%.", AT(margin) },
	{ OPT_STR, 0, "min-share", "PERCENT",
	  "Test functions with a smaller share together. Default: 0.4%.",
	  AT(min_share) },
	{ OPT_STR, 0, "min-impact", "PERCENT",
	  "Ignore slowdowns that add less than this to the total. Default: "
	  "0.1%.", AT(min_impact) },
	{ OPT_STR, 0, "total-threshold", "PERCENT|off",
	  "Threshold for the cost of a whole run. Default: 3%.",
	  AT(total_threshold) },
	{ OPT_STR, 0, "require-mde", "PERCENT|off",
	  "Be inconclusive (exit status 3) if a slowdown that adds this to a "
	  "run, in one function or in all, might have been missed. Default: "
	  "10%.",
	  AT(require_mde) },
	{ OPT_STR, 0, "allow", "FILE",
	  "Read accepted changes from FILE: lines \"FUNCTION [+PERCENT%] -- "
	  "REASON\"; * and ? match any text and any character, [total] is the "
	  "total.",
	  AT(allow) },
	{ OPT_FLAG, 0, "gate-kernel", NULL,
	  "Let scheduling, interrupts, page faults and idle in the kernel fail "
	  "the check, too, if both sides were interleaved.", AT(gate_kernel) },
	{ OPT_FLAG, 0, "any-outcome", NULL,
	  "Compare costs even if new runs ended differently from the "
	  "baseline's or did less than a fifth of its work.", AT(any_outcome) },
	{ OPT_FLAG, 0, "warn-only", NULL,
	  "Report everything, but exit with 0 unless the files cannot be "
	  "compared.", AT(warn_only) },

	{ OPT_HEADING, 0, NULL, NULL, "How to show it", 0 },
	{ OPT_STR, 0, "format", "text|none", "Format of standard output. "
	  "Default: text.", AT(format) },
	{ OPT_STR, 0, "json", "FILE",
	  "Write all results as JSON; - is standard output, here and below.",
	  AT(json) },
	{ OPT_STR, 0, "junit", "FILE",
	  "Write a test case for each function, for GitLab and Jenkins.",
	  AT(junit) },
	{ OPT_STR, 0, "sarif", "FILE",
	  "Write slower functions with file and line as SARIF, for GitHub's "
	  "code "
	  "scanning.", AT(sarif) },
	{ OPT_STR, 0, "code-quality", "FILE",
	  "Write the same as GitLab's Code Quality report.", AT(code_quality) },
	{ OPT_STR, 0, "markdown", "FILE",
	  "Write a summary for a pull request, at most 60 kB.", AT(markdown) },
	{ OPT_STR, 0, "html", "FILE",
	  "Write a page: functions, failed ones first, a flame graph by "
	  "change, and source and instructions of both sides.", AT(html) },
	{ OPT_STR, 0, "openmetrics", "FILE",
	  "Write costs and changes as metrics.", AT(openmetrics) },
	{ OPT_FLAG, 0, "github", NULL,
	  "Print GitHub annotations at file and line of each regression.",
	  AT(github) },
	{ OPT_STR, 0, "repo", "DIR",
	  "List the commits of this git repository, between the recorded "
	  "revisions of both sides, that touched a regression, or what else "
	  "they changed; also read missing source files from it.",
	  AT(repo) },
	{ OPT_UINT, 0, "top", "N",
	  "List this many unchanged functions. Default: 5.", AT(top) },
	OPT_ROW_FULL_NAMES(AT(full_names)),
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
	o->runs = UINT64_MAX;
	o->freq = 4999;
}

/* Parses a percentage: "3%" or "3" is 0.03. */
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
		return error_set(err, ERR_USAGE, "%s %s: not a percentage; use "
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
		return error_set(err, ERR_USAGE, "--alpha %s: not a "
				 "probability below 0.5; use for example 0.01",
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
		return error_set(err, ERR_USAGE, "use --event only once");
	if (!out->runs.by_line && strcmp(o->by, "function"))
		return error_set(err, ERR_USAGE, "--by %s: use function or "
				 "line", o->by);
	if (strcmp(o->format, "text") && strcmp(o->format, "none"))
		return error_set(err, ERR_USAGE, "--format %s: use text or "
				 "none", o->format);
	rc = cmd_sources(io, &sources, NULL, SOURCES_FOR_OTHERS, &out->runs.where,
			 err);
	return rc ? rc : set_limits(o, out, err);
}
