// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally check --history`: compares new recordings with those of earlier commits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/check.h"
#include "cmd/history.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "history/show.h"

struct against {
	struct cmd_io *io;
	const struct check_opts *o;
	struct history h;
	struct verdict_options vo;
	VEC(uint32_t) fresh;	/* indices of batches in h */
	struct history_classes classes;
	size_t class;		/* class of the new batches */
	struct verdict verdict;
};

static int add_fresh(struct against *a, const struct opt_strs *files,
		     struct error *err)
{
	const struct check_opts *o = a->o;
	struct batch_files b = { .files = files,
		.event = o->events.n ? o->events.v[0] : NULL,
		.reading = &o->reading, .commit = o->commit,
		.benchmark = o->benchmark, .repo = o->repo,
		.no_inline = o->limits.runs.no_inline };
	uint32_t id = (uint32_t)a->h.batches.n;
	int rc = cmd_add_batch(a->io, &a->h, &b, err);

	if (!rc && vec_push(&a->fresh, id) < 0)
		rc = error_nomem(err);
	return rc;
}

static bool is_fresh(const struct against *a, uint32_t batch)
{
	for (size_t i = 0; i < a->fresh.n; i++)
		if (a->fresh.v[i] == batch)
			return true;
	return false;
}

/* Finds the class of the new batches, and its batches of other commits. */
static int find_class(struct against *a, uint32_t *stored, size_t *n,
		      struct error *err)
{
	uint32_t commit = a->h.batches.v[a->fresh.v[0]].commit;
	size_t found = 0;

	*n = 0;
	for (size_t i = 0; i < a->classes.v.n; i++) {
		const struct history_class *c = &a->classes.v.v[i];
		size_t here = 0;

		for (size_t k = 0; k < c->batches.n; k++)
			here += is_fresh(a, c->batches.v[k]);
		if (!here)
			continue;
		a->class = i;
		found = here;
		for (size_t k = 0; k < c->batches.n; k++)
			if (!is_fresh(a, c->batches.v[k]) &&
			    a->h.batches.v[c->batches.v[k]].commit != commit)
				stored[(*n)++] = c->batches.v[k];
	}
	if (found != a->fresh.n)
		return error_set(err, ERR_USAGE, "--new and --again must be "
				 "batches of one commit, but their machines, "
				 "events or rates differ");
	return 0;
}

/* Returns the commit of a revision as a str of the history. */
static uint32_t find_commit(struct against *a, const char *revision)
{
	struct buf name = { 0 };
	int64_t time;
	uint32_t id;

	if (!commit_resolve(a->o->repo, revision, &name, &time))
		buf_str(&name, revision);
	id = strtab_add(&a->h.str, buf_cstr(&name));
	buf_fini(&name);
	return id;
}

/* Limits the stored batches to those up to the commit of a revision, or to those from
 * it on.  A commit without batches needs a repository that knows its place. */
static int limit(struct against *a, const struct commit_log *log,
		 const char *option, const char *revision, uint32_t commit,
		 bool up_to, uint32_t *stored, size_t *n, struct error *err)
{
	uint32_t rank = u64map_get(&log->order, commit);
	size_t first = *n, last = 0, kept = 0;

	for (size_t i = 0; i < *n; i++)
		if (a->h.batches.v[stored[i]].commit == commit) {
			first = first < i ? first : i;
			last = i + 1;
		}
	if (!last && rank == HISTORY_ASIDE)
		return error_set(err, ERR_NOTFOUND, "%s %s: is on another branch: "
				 "neither the judged commit nor one of its first "
				 "parents", option, revision);
	if (!last && rank == U64MAP_NONE)
		return error_set(err, ERR_NOTFOUND, "%s %s: the history has no "
				 "batch of this commit; with --repo, its place "
				 "among the others is known", option, revision);
	for (size_t i = 0; i < *n; i++) {
		uint32_t r = u64map_get(&log->order,
					a->h.batches.v[stored[i]].commit);
		bool use = last ? (up_to ? i < last : i >= first)
			 : r < HISTORY_ASIDE && (up_to ? r <= rank : r >= rank);

		if (use)
			stored[kept++] = stored[i];
	}
	*n = kept;
	return 0;
}

static int limit_all(struct against *a, const struct commit_log *log,
		     const uint32_t *commits, uint32_t *stored, size_t *n,
		     struct error *err)
{
	const struct check_opts *o = a->o;
	int rc = 0;

	if (o->from)
		rc = limit(a, log, "--from", o->from, commits[0], false, stored,
			   n, err);
	if (!rc && o->since)
		rc = limit(a, log, "--since", o->since, commits[1], true,
			   stored, n, err);
	return rc;
}

static int judge(struct against *a, struct error *err)
{
	/* before the log is read, which knows only commits of the history */
	uint32_t commits[2] = {
		a->o->from ? find_commit(a, a->o->from) : 0,
		a->o->since ? find_commit(a, a->o->since) : 0,
	};
	uint32_t *stored = calloc(a->h.batches.n + 1, sizeof(*stored));
	struct commit_log log = { .text = { 0 } };
	size_t n;
	const char *commit = history_str(&a->h, a->h.batches.v[a->fresh.v[0]].commit);
	int rc = stored ? commit_log_read(&log, &a->h, a->o->repo, commit, err)
			: error_nomem(err);

	history_classes_fini(&a->classes);
	verdict_fini(&a->verdict);
	if (!rc)
		rc = history_classify(&a->h,
				      a->o->benchmark ? a->o->benchmark : "default",
				      &log.order, &a->classes, err) ?:
		     find_class(a, stored, &n, err) ?:
		     limit_all(a, &log, commits, stored, &n, err) ?:
		     verdict_reach(&a->h, stored, n, a->fresh.v, a->fresh.n, &a->vo,
				   &a->verdict, err);
	commit_log_fini(&log);
	free(stored);
	return rc;
}

/* Records a batch of --run and judges with it.  Returns CHECK_BROKEN if there is nothing
 * to judge, which was reported then. */
static int record_batch(struct against *a, struct error *err)
{
	struct check_recordings made = { .dir = NULL };
	int rc = check_record(a->io, a->o, check_planned(a->o),
			      &made, NULL, NULL, err);

	if (!rc && made.broken)
		rc = check_write_broken(a->io, a->o, made.broken, err)
			     ?: CHECK_BROKEN;
	if (!rc)
		rc = add_fresh(a, &made.files[CHECK_NEW], err);
	check_recordings_fini(&made);
	return rc ? rc : judge(a, err);
}

static int show(struct against *a, struct error *err)
{
	const struct check_opts *o = a->o;
	struct findings found = { .total_fails = false };
	struct buf out = { 0 };
	int rc = 0;

	if (!o->no_text) {
		verdict_text(&a->h, &a->verdict, &a->vo, &a->classes, a->class,
			     &out);
		rc = cmd_output_last(a->io, NULL, &out, err);
	}
	if (!rc && o->json) {
		verdict_json(&a->h, &a->verdict, &a->vo, &a->classes, a->class,
			     &out);
		rc = cmd_output_last(a->io, o->json, &out, err);
	}
	if (!rc && o->markdown) {
		verdict_markdown(&a->h, &a->verdict, &a->vo, &out);
		rc = cmd_output_last(a->io, o->markdown, &out, err);
	}
	if (!rc && verdict_findings(&a->h, &a->verdict, &a->vo, &found) < 0)
		rc = error_nomem(err);
	if (!rc)
		rc = check_write_findings(a->io, o, &found, err);
	findings_fini(&found);
	return rc;
}

static int words(const struct check_opts *o, struct error *err)
{
	const struct opt_strs *new = &o->sides.files[CHECK_NEW];
	const char *bad = o->sides.files[CHECK_BASE].n ? "--baseline" : o->against
		? "--against" : o->calibrate ? "--calibrate" : o->html
		? "--html" : o->openmetrics ? "--openmetrics"
		: o->limits.inclusive ? "--inclusive" : o->early ? "--early"
		: o->budget > 0 ? "--budget"
		: o->by_line ? "--by line" : NULL;

	if (bad)
		return error_set(err, ERR_USAGE, "%s cannot be combined with "
				 "--history, which stores only the costs of "
				 "functions", bad);
	if (!new->n == !o->run)
		return error_set(err, ERR_USAGE, "--history requires either "
				 "--new FILE... or --run CMD");
	if (o->run && o->again.n)
		return error_set(err, ERR_USAGE, "--again requires --new; "
				 "--run records a second batch by itself");
	return cmd_named_once(new, &o->again, err)
		       ?: cmd_named_once(&o->again, &o->again, err);
}

int check_history(struct cmd_io *io, const struct check_opts *o,
		  const struct check_options *limits,
		  const struct allow_list *allow, struct error *err)
{
	struct against a = { .io = io, .o = o, .vo = verdict_defaults() };
	int rc = words(o, err);

	a.vo.margin = limits->judge.margin;
	a.vo.threshold = limits->judge.threshold;
	a.vo.total_threshold = limits->judge.total_threshold;
	a.vo.least_share = limits->judge.min_share;
	a.vo.min_impact = limits->judge.min_impact;
	a.vo.require_mde = limits->require_mde;
	a.vo.any_outcome = limits->any_outcome;
	a.vo.allow = allow;
	if (o->alpha != ALPHA_NOT_GIVEN)
		a.vo.budget = limits->judge.alpha;
	if (!rc)
		rc = history_init(&a.h, err) ?: history_read(&a.h, o->history, err);
	if (!rc && o->run) {
		do
			rc = record_batch(&a, err);
		while (!rc && !a.verdict.broken && (a.verdict.suspects ||
			       (a.verdict.slower && a.fresh.n < 2)));
	} else if (!rc) {
		rc = add_fresh(&a, &o->sides.files[CHECK_NEW], err);
		for (size_t i = 0; !rc && i < o->again.n; i++) {
			struct opt_strs one = { .v = &o->again.v[i], .n = 1 };

			rc = add_fresh(&a, &one, err);
		}
		if (!rc)
			rc = judge(&a, err);
	}
	if (!rc)
		rc = show(&a, err);
	if (!rc)
		rc = a.verdict.broken ? CHECK_BROKEN
		   : a.verdict.answer == VERDICT_REGRESSED ? CHECK_REGRESSED
		   : a.verdict.answer == VERDICT_INCONCLUSIVE
			     ? CHECK_INCONCLUSIVE : CHECK_PASS;
	verdict_fini(&a.verdict);
	history_classes_fini(&a.classes);
	vec_fini(&a.fresh);
	history_fini(&a.h);
	return rc;
}
