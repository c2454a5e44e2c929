// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally check`: finds out whether a program became slower, and which functions. */
#include "cmd/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/show.h"
#include "cmd/open.h"
#include "cmd/source_options.h"

enum { STATUS_PASS, STATUS_REGRESSED, STATUS_INCONCLUSIVE = 3,
       STATUS_BROKEN };

static int add_side(struct cmd_io *io, const struct check_opts *o,
		    struct check *c, enum check_side side,
		    const struct opt_strs *files, struct error *err)
{
	const struct opt_strs *labels = side == CHECK_BASE ? &o->old_labels
							   : &o->new_labels;
	struct cmd_reading how = { .debug_dirs = &o->debug_dirs,
				   .max_memory = o->max_memory,
				   .trust = o->trust };
	struct buf name = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < files->n; i++) {
		struct reader *r;

		rc = cmd_open_file(io, &how, files->v[i], &r, err);
		if (!rc)
			rc = cmd_select_labelled(files->v[i], &r, labels, err);
		buf_reset(&name);
		cmd_labelled_name(files->v[i], labels, &name);
		if (!rc && name.failed)
			rc = error_nomem(err);
		if (rc < 0)
			reader_close(r);
		else
			rc = check_runs_add(&c->runs, side, buf_cstr(&name), r,
					    err);
	}
	buf_fini(&name);
	return rc;
}

static int write_to(struct cmd_io *io, const char *path, struct buf *text,
		    struct error *err)
{
	int rc = cmd_output(io, path, text, err);

	buf_fini(text);
	return rc;
}

static int write_text(struct cmd_io *io, const struct check_opts *o,
		      const struct check *c, struct error *err)
{
	struct check_style style = { .columns = io->columns,
				     .full_names = o->full_names,
				     .top = o->top };
	struct buf out = { 0 };

	if (strcmp(o->format, "text"))
		return 0;
	if (o->calibrate)
		check_calibration(c, &out);
	else
		check_text(c, &style, &out);
	return write_to(io, "-", &out, err);
}

int check_write_findings(struct cmd_io *io, const struct check_opts *o,
			 const struct findings *f, struct error *err)
{
	char *root = realpath(o->repo ? o->repo : ".", NULL);
	struct buf out = { 0 };
	int rc = 0;

	if (o->junit) {
		findings_junit(f, &out);
		rc = write_to(io, o->junit, &out, err);
	}
	if (!rc && o->sarif) {
		findings_sarif(f, root, &out);
		rc = write_to(io, o->sarif, &out, err);
	}
	if (!rc && o->code_quality) {
		findings_code_quality(f, root, &out);
		rc = write_to(io, o->code_quality, &out, err);
	}
	if (!rc && o->github) {
		findings_github(f, root, o->warn_only, &out);
		rc = write_to(io, "-", &out, err);
	}
	free(root);
	return rc;
}

static int write_outputs(struct cmd_io *io, const struct check_opts *o,
			 const struct check *c, struct error *err)
{
	const struct {
		const char *path;
		void (*write)(const struct check *c, struct buf *out);
	} files[] = { { o->json, check_json },
		      { o->markdown, check_markdown },
		      { o->openmetrics, check_openmetrics } };
	struct buf out = { 0 }, source_notes = { 0 };
	struct findings found = { .total_fails = false };
	int rc = write_text(io, o, c, err);

	for (size_t i = 0; !rc && i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i].path) {
			files[i].write(c, &out);
			rc = write_to(io, files[i].path, &out, err);
		}
	if (!rc && o->html) {
		rc = check_html(c, &source_notes, &out, err);
		if (!rc)
			rc = write_to(io, o->html, &out, err);
		if (!rc)
			cmd_report_sources(io, &source_notes);
		buf_fini(&source_notes);
		buf_fini(&out);
	}
	if (!rc && check_findings(c, &found) < 0)
		rc = error_set(err, ERR_NOMEM, "out of memory while reporting");
	if (!rc)
		rc = check_write_findings(io, o, &found, err);
	findings_fini(&found);
	return rc;
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
		rc = add_side(io, o, c, (enum check_side)s, sides[s], err);
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
		rc = write_outputs(io, o, c, err);
	if (!rc)
		rc = status_of(c->verdict, o);
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
	rc = judge_sides(l->io, l->o, l->sides, &allow, &c, err);
	if (!rc)
		rc = check_settled(&c);
	check_fini(&c);
	allow_fini(&allow);
	l->next += rc == 0;
	return rc;
}

int check_write_broken(struct cmd_io *io, const struct check_opts *o,
		       const char *why, struct error *err)
{
	struct findings found = { .total_fails = false };
	struct buf out = { 0 };
	int rc = 0;

	buf_str(&found.broken, why);
	buf_printf(&found.verdict, "broken: %s", why);
	if (!strcmp(o->format, "text")) {
		buf_str(&out, "broken: ");
		text_safe(&out, why);
		buf_u8(&out, '\n');
		rc = write_to(io, "-", &out, err);
	}
	if (!rc && o->markdown) {
		buf_str(&out, MARKDOWN_MARK "### tally check: broken: ");
		describe_markdown(why, &out);
		buf_u8(&out, '\n');
		rc = write_to(io, o->markdown, &out, err);
	}
	if (!rc)
		rc = check_write_findings(io, o, &found, err);
	findings_fini(&found);
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
	bool files = o->baseline.n || o->new.n;
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
	if (o->calibrate && (files || o->against))
		return error_set(err, ERR_USAGE, "--calibrate compares --run "
				 "with itself: omit --against, --baseline and "
				 "--new");
	if (o->calibrate)
		return 0;
	if (files && (o->run || o->against))
		return error_set(err, ERR_USAGE, "use either files "
				 "(--baseline, --new) or commands (--run, "
				 "--against)");
	if (files ? !o->baseline.n || !o->new.n : !o->run || !o->against)
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
	const struct opt_strs *files[2] = { &o->baseline, &o->new };
	struct check_recordings made = { .dir = NULL };
	struct check c = { .verdict = CHECK_PASS };
	int rc = check_set_options(io, o, &c.o, err);

	if (!rc)
		rc = check_words(o, argc, argv, err);
	if (!rc && o->history)
		rc = compare_history(io, o, &c.o, err);
	else if (!rc && o->baseline.n)
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
	.defaults = check_defaults,
	.run = run_check,
};
