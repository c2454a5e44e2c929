// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally check`: finds out whether a program became slower, and which functions. */
#include "cmd/check.h"

#include <string.h>

#include "cmd/open.h"
#include "cmd/source_options.h"

#define AT(field) offsetof(struct check_opts, field)

static const struct opt check_opt_table[] = {
	OPT_TITLE("What to compare"),
	SIDE_OPTION_ROWS(struct check_opts, ", and only runs that have some; as "
			 "for --label of tally report."),
	{ OPT_STRS, 'e', "event", "EVENT", AT(events),
	  "Compare this event; with --run, record it. Default: the first event "
	  "in each file." },
	{ OPT_CHOICE, 0, "by", "function|line", AT(by_line),
	  "Test functions or single lines. Default: function." },
	OPT_ROWS_INLINE(AT(limits.runs.no_inline),
		"Treat inlined functions as functions (the default)."),
	{ OPT_FLAG, 0, "inclusive", NULL, AT(limits.inclusive),
	  "Also show changes of functions including what they called; never "
	  "fails the check." },
	READING_DIRS_ROW(struct check_opts, "For recordings without symbols: "),

	OPT_TITLE("Recording both sides now, interleaved"),
	{ OPT_STR, 0, "run", "CMD", AT(run),
	  "Command of the new side, run by sh." },
	{ OPT_STR, 0, "against", "CMD", AT(against),
	  "Command of the baseline, run by sh." },
	{ OPT_FLAG, 0, "calibrate", NULL, AT(calibrate),
	  "Compare --run (default: a shell loop) with itself, to show what a "
	  "check can detect despite the noise of this machine." },
	{ OPT_UINT, 'n', "runs", "N", AT(runs),
	  "Runs on each side. Default: as many as the verdict needs, 3 to "
	  "16." },
	{ OPT_FLAG, 0, "early", NULL, AT(early),
	  "With -n: stop when the verdict is certain, and add up to 60% more "
	  "runs while it is not." },
	{ OPT_SECONDS, 0, "budget", "TIME", AT(budget),
	  "Stop after this time (30s, 10m); until then, add up to 60 runs "
	  "(with -n: 6 N) while the verdict is not certain." },
	{ OPT_UINT, 'F', "freq", "HZ", AT(freq),
	  "Sampling rate in Hz. Default: 4999." },
	{ OPT_FLAG, 'g', NULL, NULL, AT(graph),
	  "Also record call stacks, by frame pointers." },
	{ OPT_FLAG, 0, "user", NULL, AT(user), "Sample user space only." },
	{ OPT_STR, 0, "keep", "DIR", AT(keep),
	  "Keep the recordings in DIR, as baseline-01.tally, new-01.tally and "
	  "so on." },

	OPT_TITLE("Comparing with earlier commits"),
	{ OPT_STR, 0, "history", "DIR", AT(history),
	  "Use the last batches of a history (tally-history(1)) from machines "
	  "of this kind as the baseline. With --run, record up to 5 more "
	  "batches while they are inconclusive." },
	{ OPT_WORDS, 0, "again", "FILE [FILE...]", AT(again),
	  "More batches of the same commit, one per file, requested by the "
	  "first check." },
	{ OPT_STR, 0, "benchmark", "NAME", AT(benchmark),
	  "The benchmark of the history to compare with. Default: default." },
	{ OPT_STR, 0, "commit", "REVISION", AT(commit),
	  "The recorded commit; its batches are not used as a baseline. "
	  "Default: from the recordings." },
	{ OPT_STR, 0, "since", "REVISION", AT(since),
	  "Compare with the costs at this commit, for example the last "
	  "release: newer batches of the history are not used." },
	{ OPT_STR, 0, "from", "REVISION", AT(from),
	  "Accept the costs since this commit: older batches of the history "
	  "are not used." },

	OPT_TITLE("Criteria"),
	{ OPT_DOUBLE, 0, "alpha", "P", AT(alpha),
	  "False alarm rate of the check. Default: 0.01." },
	{ OPT_PERCENT, 0, "threshold", "PERCENT", AT(limits.judge.threshold),
	  "Ignore slowdowns smaller than this. Default: 3%; with one run on "
	  "each side at least 10%." },
	{ OPT_PERCENT, 0, "margin", "PERCENT", AT(limits.judge.margin),
	  "Require slowdowns significantly larger than this, which memory "
	  "layout alone may cause. Default: 1%." },
	{ OPT_PERCENT, 0, "min-share", "PERCENT", AT(limits.judge.min_share),
	  "Test functions with a smaller share together. Default: 0.4%." },
	{ OPT_PERCENT, 0, "min-impact", "PERCENT", AT(limits.judge.min_impact),
	  "Ignore slowdowns that add less than this to the total. Default: "
	  "0.1%." },
	{ OPT_PERCENT, 0, "total-threshold", "PERCENT|off",
	  AT(limits.judge.total_threshold),
	  "Threshold for the cost of a whole run. Default: 3%." },
	{ OPT_PERCENT, 0, "require-mde", "PERCENT|off", AT(limits.require_mde),
	  "Be inconclusive (exit status 3) if a slowdown that adds this to a "
	  "run, in one function or in all, might have been missed. Default: "
	  "10%." },
	{ OPT_STR, 0, "allow", "FILE", AT(allow),
	  "Read accepted changes from FILE: lines \"FUNCTION [+PERCENT%] -- "
	  "REASON\"; * and ? match any text and any character, [total] is the "
	  "total." },
	{ OPT_FLAG, 0, "gate-kernel", NULL, AT(limits.gate_kernel),
	  "Let scheduling, interrupts, page faults and idle in the kernel fail "
	  "the check, too, if both sides were interleaved." },
	{ OPT_FLAG, 0, "any-outcome", NULL, AT(limits.any_outcome),
	  "Compare costs even if new runs ended differently from the "
	  "baseline's or did less than a fifth of its work." },
	{ OPT_FLAG, 0, "warn-only", NULL, AT(warn_only),
	  "Report everything, but exit with 0 unless the files cannot be "
	  "compared." },

	OPT_TITLE("How to show it"),
	{ OPT_CHOICE, 0, "format", "text|none", AT(no_text),
	  "Format of standard output. Default: text." },
	{ OPT_STR, 0, "json", "FILE", AT(json),
	  "Write all results as JSON; - is standard output, here and below." },
	{ OPT_STR, 0, "junit", "FILE", AT(junit),
	  "Write a test case for each function, for GitLab and Jenkins." },
	{ OPT_STR, 0, "sarif", "FILE", AT(sarif),
	  "Write slower functions with file and line as SARIF, for GitHub's "
	  "code scanning." },
	{ OPT_STR, 0, "code-quality", "FILE", AT(code_quality),
	  "Write the same as GitLab's Code Quality report." },
	{ OPT_STR, 0, "markdown", "FILE", AT(markdown),
	  "Write a summary for a pull request, at most 60 kB." },
	{ OPT_STR, 0, "html", "FILE", AT(html),
	  "Write a page: functions, failed ones first, a flame graph by "
	  "change, and source and instructions of both sides." },
	{ OPT_STR, 0, "openmetrics", "FILE", AT(openmetrics),
	  "Write costs and changes as metrics." },
	{ OPT_FLAG, 0, "github", NULL, AT(github),
	  "Print GitHub annotations at file and line of each regression." },
	{ OPT_STR, 0, "repo", "DIR", AT(repo),
	  "List the commits of this git repository, between the recorded "
	  "revisions of both sides, that touched a regression; if there are "
	  "none, list what else changed. Also read missing source files from "
	  "it." },
	{ OPT_UINT, 0, "top", "N", AT(top),
	  "List this many unchanged functions. Default: 5." },
	OPT_ROW_FULL_NAMES(AT(full_names)),
	READING_ROWS(struct check_opts),
	OPT_END
};

/* Sets the limits, and refuses contradictory options. */
static int check_set_options(struct cmd_io *io, const struct check_opts *o,
			     struct check_options *out, struct error *err)
{
	struct source_opts sources = { .repo = o->repo, .no_debuginfod = true };

	*out = o->limits;
	out->runs.event = o->events.n ? o->events.v[0] : NULL;
	out->runs.by_line = o->by_line;
	if (o->events.n > 1)
		return error_set(err, ERR_USAGE, "use --event only once");
	if (o->alpha != ALPHA_NOT_GIVEN && !(o->alpha > 0 && o->alpha < 0.5))
		return error_set(err, ERR_USAGE, "--alpha %g: not a probability "
				 "below 0.5; use for example 0.01", o->alpha);
	if (o->alpha != ALPHA_NOT_GIVEN)
		out->judge.alpha = o->alpha;
	if (out->judge.suspect < out->judge.alpha)
		out->judge.suspect = out->judge.alpha;
	return cmd_sources(io, &sources, NULL, SOURCES_FOR_OTHERS,
			   &out->runs.where, err);
}

enum { STATUS_PASS, STATUS_REGRESSED, STATUS_INCONCLUSIVE = 3,
       STATUS_BROKEN };

struct side_adder {
	struct check_runs *runs;
	enum check_side side;
};

static int add_recording(void *ctx, const char *name, struct reader *r,
			 struct error *err)
{
	struct side_adder *x = ctx;

	return check_runs_add(x->runs, x->side, name, r, err);
}

static int status_of(enum check_verdict v, const struct check_opts *o)
{
	if (o->warn_only)
		return STATUS_PASS;
	return v == CHECK_REGRESSED ? STATUS_REGRESSED
	     : v == CHECK_INCONCLUSIVE ? STATUS_INCONCLUSIVE
	     : v == CHECK_BROKEN ? STATUS_BROKEN
						: STATUS_PASS;
}

/* Reads both sides and judges them.  The caller owns `allow`. */
static int judge_sides(struct cmd_io *io, const struct check_opts *o,
		       const struct opt_strs *sides[2], struct allow_list *allow,
		       struct check *c, struct error *err)
{
	int rc = check_runs_init(&c->runs, err);

	if (!rc && o->allow) {
		rc = allow_read(o->allow, allow, err);
		c->o.allow = allow;
	}
	for (int s = 0; !rc && s < 2; s++)
		rc = cmd_open_files(io, &o->reading, sides[s], &o->sides.labels[s],
				    add_recording, &(struct side_adder){
					&c->runs, (enum check_side)s }, err);
	return rc ? rc : check_decide(c, err);
}

static int compare(struct cmd_io *io, const struct check_opts *o,
		   const struct opt_strs *sides[2], struct check *c,
		   struct error *err)
{
	struct allow_list allow = { { 0 } };
	int rc = judge_sides(io, o, sides, &allow, c, err);

	if (!rc && o->repo)
		rc = check_commits(c, o, err);
	if (!rc)
		rc = check_write(io, o, c, err) ?: status_of(c->verdict, o);
	check_fini(c);
	allow_fini(&allow);
	return rc;
}

/* A check while its runs are being recorded. */
struct looking {
	struct cmd_io *io;
	const struct check_opts *o;
	const struct opt_strs *sides[2];
	struct check_options options;	/* alpha is that of the last look */
	struct judge_look look[JUDGE_LOOKS];
	size_t n, next;
};

static int look(void *ctx, size_t runs, struct error *err)
{
	struct looking *l = ctx;
	struct allow_list allow = { { 0 } };
	struct check c = { .o = l->options };
	int rc;

	if (l->next + 1 >= l->n || l->look[l->next].runs != runs)
		return 0;
	c.o.judge.alpha = l->look[l->next].alpha;
	rc = judge_sides(l->io, l->o, l->sides, &allow, &c, err) ?: check_settled(&c);
	check_fini(&c);
	allow_fini(&allow);
	l->next += rc == 0;
	return rc;
}

/* Returns whether the runs so far decide about more. */
static bool stops_itself(const struct check_opts *o)
{
	return !o->calibrate &&
	       (o->early || o->budget > 0 || o->runs == UINT64_MAX);
}

/* Records both sides until a look is certain, or as many runs as requested. */
static int record_and_compare(struct cmd_io *io, const struct check_opts *o,
			      struct check_recordings *made, struct check *c,
			      struct error *err)
{
	struct looking l = { .io = io, .o = o, .options = c->o,
			     .sides = { &made->files[CHECK_BASE],
					&made->files[CHECK_NEW] } };
	size_t planned = check_planned(o), most = planned;
	int rc;

	if (stops_itself(o)) {
		l.n = judge_looks(planned, o->budget > 0, c->o.judge.alpha,
				  l.look);
		most = l.look[l.n - 1].runs;
		l.options.judge.whole_alpha = c->o.judge.alpha;
		l.options.runs_planned = planned;
		l.options.runs_most = most;
	}
	rc = check_record(io, o, most, made, look, &l, err);
	if (rc)
		return rc;
	if (made->broken)
		return check_write_broken(io, o, made->broken, err)
			       ?: status_of(CHECK_BROKEN, o);
	c->o = l.options;
	c->o.out_of_time = made->out_of_time;
	if (l.n)
		c->o.judge.alpha = l.look[l.next].alpha;
	return compare(io, o, l.sides, c, err);
}

/* Checks that the words are either two sets of files or a command to record. */
static int check_words(const struct check_opts *o, int argc, char **argv,
		       struct error *err)
{
	bool old = o->sides.files[CHECK_BASE].n, new = o->sides.files[CHECK_NEW].n;
	const char *lone = o->again.n ? "--again" : o->benchmark
		? "--benchmark" : o->commit ? "--commit" : o->since
		? "--since" : o->from ? "--from" : NULL;

	if (argc)
		return error_set(err, ERR_USAGE, "which side is '%s' on? Put "
				 "it after --baseline or --new", argv[0]);
	if (o->history)
		return 0;
	if (lone)
		return error_set(err, ERR_USAGE, "%s requires --history", lone);
	if (o->calibrate && (old || new || o->against))
		return error_set(err, ERR_USAGE, "--calibrate compares --run "
				 "with itself: omit --against, --baseline and "
				 "--new");
	if (o->calibrate)
		return 0;
	if ((old || new) && (o->run || o->against))
		return error_set(err, ERR_USAGE, "use either files "
				 "(--baseline, --new) or commands (--run, "
				 "--against)");
	if (old || new ? !old || !new : !o->run || !o->against)
		return error_set(err, ERR_USAGE, "nothing to compare: use "
				 "--baseline FILE... --new FILE..., or --run "
				 "CMD --against CMD");
	return 0;
}

static int compare_history(struct cmd_io *io, const struct check_opts *o,
			   const struct check_options *limits,
			   struct error *err)
{
	struct allow_list allow = { { 0 } };
	int rc = o->allow ? allow_read(o->allow, &allow, err) : 0;

	if (!rc)
		rc = check_history(io, o, limits, &allow, err);
	allow_fini(&allow);
	return rc < 0 ? rc : status_of((enum check_verdict)rc, o);
}

static int run_check(struct cmd_io *io, void *opts, int argc, char **argv,
		     struct error *err)
{
	struct check_opts *o = opts;
	const struct opt_strs *files[2] = { &o->sides.files[CHECK_BASE],
					    &o->sides.files[CHECK_NEW] };
	struct check_recordings made = { .dir = NULL };
	struct check c = { .verdict = CHECK_PASS };
	int rc = check_set_options(io, o, &c.o, err) ?: check_words(o, argc, argv, err);

	if (!rc && o->history)
		rc = compare_history(io, o, &c.o, err);
	else if (!rc && files[CHECK_BASE]->n)
		rc = compare(io, o, files, &c, err);
	else if (!rc)
		rc = record_and_compare(io, o, &made, &c, err);
	check_recordings_fini(&made);
	cmd_sources_free(&c.o.runs.where);
	/* exit status 1 means a regression, so all errors have 2 */
	if (rc < 0 && err->code != ERR_NOMEM)
		err->code = ERR_USAGE;
	return rc;
}

const struct command cmd_check = {
	.name = "check",
	.summary = "compare recordings and fail if something got slower",
	.args = "",
	.opts = check_opt_table,
	.opts_size = sizeof(struct check_opts),
	.defaults = &(const struct check_opts){
		.limits = { .judge = JUDGE_DEFAULTS, .require_mde = 0.1 },
		.alpha = ALPHA_NOT_GIVEN, .top = 5, .runs = UINT64_MAX, .freq = 4999,
	},
	.run = run_check,
};
