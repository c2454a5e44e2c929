// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally history`: shows the cost of functions, commit by commit. */
#include "cmd/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/git.h"
#include "base/path.h"
#include "base/text.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "cmd/page.h"
#include "history/show.h"

enum {
	LOG_MAX = 64 << 20,
	GIT_MS = 30000,		/* limit for an answer */
};

struct history_opts {
	const char *store, *commit, *benchmark, *repo, *event, *json, *html;
	struct cmd_reading reading;
	uint64_t top;
	bool no_inline, keep;
};

#define AT(field) offsetof(struct history_opts, field)

static const struct opt history_opt_table[] = {
	{ OPT_STR, 0, "store", "DIR", AT(store),
	  "Directory of the history. Default: tally-history." },
	{ OPT_STR, 0, "benchmark", "NAME", AT(benchmark),
	  "Name of the benchmark; batches are compared within one benchmark. "
	  "Default: default; list and report show all." },
	{ OPT_STR, 0, "repo", "DIR", AT(repo),
	  "The git repository of the commits, for their order, times and "
	  "subjects." },

	OPT_TITLE("Options for add"),
	{ OPT_STR, 0, "commit", "REVISION", AT(commit),
	  "The recorded commit. Default: from the recordings." },
	{ OPT_STR, 'e', "event", "EVENT", AT(event),
	  "The event whose cost is stored. Default: the first event in each "
	  "file." },
	{ OPT_FLAG, 0, "keep", NULL, AT(keep),
	  "Copy the recordings into the history, so that the report can "
	  "compare them. Default: only their paths are stored." },
	OPT_ROW_NO_INLINE(AT(no_inline)),
	READING_DIRS_ROW(struct history_opts, "For recordings without symbols: "),
	READING_ROWS(struct history_opts),

	OPT_TITLE("Options for report"),
	{ OPT_UINT, 0, "top", "N", AT(top),
	  "Show this many functions. Default: 20." },
	{ OPT_STR, 0, "json", "FILE", AT(json),
	  "Write all results as JSON; - is standard output, here and below." },
	{ OPT_STR, 0, "html", "FILE", AT(html),
	  "Write a page with a curve for each function. Where the recordings "
	  "of a change exist, pages that compare them are written beside it." },
	OPT_END
};

bool commit_resolve(const char *repo, const char *revision, struct buf *name,
		    int64_t *time)
{
	const char *words[] = { GIT_LOG_ARGS, "-1", "--format=%H %ct",
				"--end-of-options", revision, "--" };
	struct buf out = { 0 };
	const char *space;
	int rc = -1;

	if (repo && *revision)
		rc = git_ask(repo, words, COUNT(words),
			     4096, GIT_MS, &out, NULL);
	space = rc == 0 ? strchr(buf_cstr(&out), ' ') : NULL;
	if (space) {
		buf_bytes(name, out.p, (size_t)(space - (char *)out.p));
		*time = strtoll(space + 1, NULL, 10);
	}
	buf_fini(&out);
	return space;
}

/* Parses lines of the form "ID<tab>SUBJECT", newest first.  Commits get their rank, or
 * are aside if they have none yet. */
static int take_log(struct commit_log *l, struct history *h, char *text, bool aside)
{
	char *save = NULL, *line;
	uint32_t rank = HISTORY_ASIDE;

	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *tab = strchr(line, '\t');
		uint32_t id;

		rank--;
		if (!tab)
			continue;
		*tab = '\0';
		id = strtab_find(&h->str, line);
		if (id == UINT32_MAX)
			continue;
		if (aside && u64map_get(&l->order, id) != U64MAP_NONE)
			continue;
		if (u64map_put(&l->order, id, aside ? HISTORY_ASIDE : rank) < 0 ||
		    u64map_put(&l->subject, id, (uint32_t)l->text.n) < 0)
			return -ERR_NOMEM;
		buf_bytes(&l->text, tab + 1, strlen(tab + 1) + 1);
	}
	return l->text.failed ? -ERR_NOMEM : 0;
}

static int require_repository(const char *repo, struct error *err)
{
	static const char *const words[] = { "rev-parse", "--git-dir" };
	struct buf out = { 0 };
	int rc = git_ask(repo, words, 2, 4096, GIT_MS, &out, err);

	buf_fini(&out);
	return rc > 0 ? error_set(err, ERR_NOTFOUND, "--repo %s: is not a git "
				  "repository", repo) : rc;
}

/* Asks for the first parents of a commit, or for all commits of branches. */
static int ask_log(struct commit_log *l, struct history *h, const char *repo,
		   const char *newest, bool all)
{
	const char *words[] = { GIT_LOG_ARGS, "--topo-order",
		"--max-count=200000", "--format=%H%x09%s",
		all ? "--all" : "--first-parent", "--end-of-options", newest, "--" };
	struct buf out = { 0 };
	int rc = 0;

	if (git_ask(repo, words, COUNT(words), LOG_MAX, GIT_MS,
		    &out, NULL) == 0) {
		buf_u8(&out, '\0');
		rc = out.failed ? -ERR_NOMEM
				: take_log(l, h, (char *)out.p, all);
	}
	buf_fini(&out);
	return rc;
}

int commit_log_read(struct commit_log *l, struct history *h, const char *repo,
		    const char *newest, struct error *err)
{
	struct buf name = { 0 };
	int64_t time;
	int rc;

	*l = (struct commit_log){ .text = { 0 } };
	if (!repo)
		return 0;
	rc = require_repository(repo, err);
	if (rc)
		return rc;
	if (!newest || !commit_resolve(repo, newest, &name, &time))
		buf_str(&name, "HEAD");
	for (int all = 0; !rc && all < 2; all++)
		rc = ask_log(l, h, repo, buf_cstr(&name), all);
	buf_fini(&name);
	return rc ? error_nomem(err) : 0;
}

void commit_log_fini(struct commit_log *l)
{
	u64map_fini(&l->order);
	u64map_fini(&l->subject);
	buf_fini(&l->text);
}

/* The callbacks of history_report; ctx is the log. */
static const char *commit_log_subject(void *ctx, uint32_t commit)
{
	const struct commit_log *l = ctx;
	uint32_t at = u64map_get(&l->subject, commit);

	return at == U64MAP_NONE ? "" : (const char *)l->text.p + at;
}

static size_t commit_log_between(void *ctx, uint32_t older, uint32_t newer)
{
	const struct commit_log *l = ctx;
	uint32_t a = u64map_get(&l->order, older);
	uint32_t b = u64map_get(&l->order, newer);

	return a >= HISTORY_ASIDE || b >= HISTORY_ASIDE || b <= a
		       ? 0 : b - a - 1;
}

static int add_recording(void *runs, const char *name, struct reader *r,
			 struct error *err)
{
	return check_runs_add(runs, CHECK_NEW, name, r, err);
}

static int read_runs(struct cmd_io *io, const struct batch_files *b,
		     struct check_runs *runs, struct error *err)
{
	struct check_runs_options o = { .event = b->event,
					.no_inline = b->no_inline };

	return cmd_open_files(io, b->reading, b->files, NULL, add_recording, runs,
			      err) ?:
	       check_runs_finish(runs, &o, err) ?:
	       check_runs_usable(runs, false, err);
}

int cmd_add_batch(struct cmd_io *io, struct history *h,
		  const struct batch_files *b, struct error *err)
{
	struct batch_facts facts = { .benchmark = b->benchmark };
	struct check_runs runs;
	struct buf name = { 0 };
	const char *said = b->commit;
	int rc = check_runs_init(&runs, err);

	if (!rc && b->repo)
		rc = require_repository(b->repo, err);
	if (!rc)
		rc = read_runs(io, b, &runs, err);
	if (!rc && !said)
		said = profile_env(runs.files.v[0].p, PROF_NONE, "revision");
	if (!rc && said &&
	    !commit_resolve(b->repo, said, &name, &facts.time)) {
		if (b->repo && b->commit)
			rc = error_set(err, ERR_NOTFOUND, "%s: no commit of "
				       "the repository %s", said, b->repo);
		buf_str(&name, said);
	}
	facts.commit = name.n ? buf_cstr(&name) : NULL;
	if (!rc)
		rc = history_gather(h, &runs, &facts, err);
	check_runs_fini(&runs);
	buf_fini(&name);
	return rc;
}

static int history_add(struct cmd_io *io, const struct history_opts *o,
		       const struct opt_strs *files, struct error *err)
{
	struct batch_files b = { .files = files, .event = o->event,
		.reading = &o->reading, .commit = o->commit,
		.benchmark = o->benchmark, .repo = o->repo,
		.no_inline = o->no_inline };
	struct history h;
	int rc = history_init(&h, err) ?:
		 cmd_add_batch(io, &h, &b, err) ?:
		 history_write(&h, 0, o->store, err);

	if (rc >= 0 && o->keep) {
		int kept = history_keep(&h, 0, o->store, err);

		rc = kept < 0 ? kept : rc;
	}
	if (rc >= 0) {
		struct buf line = { 0 };

		buf_str(&line, rc ? "already there: " : "added: ");
		text_safe(&line, history_str(&h, h.batches.v[0].commit));
		buf_printf(&line, ", %u run%s, %u function%s\n",
			   h.batches.v[0].runs, plural(h.batches.v[0].runs, "s"),
			   h.batches.v[0].n, plural(h.batches.v[0].n, "s"));
		rc = cmd_output_last(io, NULL, &line, err);
	}
	history_fini(&h);
	return rc < 0 ? rc : 0;
}

/* The pages beside a report. */
struct pages {
	struct cmd_io *io;
	const struct history_report *report;
	const char *html;	/* path of the report */
	size_t n;
};

/* Adds the paths of a batch's recordings, which `text` holds.  Returns false if some of
 * them do not exist. */
static bool add_paths(const struct pages *p, size_t batch, struct buf *text,
		      struct opt_strs *out)
{
	const struct batch *b = &p->report->h->batches.v[batch];
	size_t *at = calloc(b->nrecordings + 1, sizeof(*at));
	bool found = at && b->nrecordings;

	for (uint32_t i = 0; found && i < b->nrecordings; i++) {
		at[i] = text->n;
		found = history_recording_path(p->report->h,
					       b->first_recording + i,
					       p->report->store, text);
		buf_u8(text, '\0');
	}
	out->v = found ? calloc(b->nrecordings, sizeof(*out->v)) : NULL;
	for (uint32_t i = 0; out->v && !text->failed && i < b->nrecordings; i++)
		out->v[out->n++] = (const char *)text->p + at[i];
	free(at);
	return out->n;
}

/* Writes REPORT-1.html and so on: the callback `compare` of history_report. */
static bool write_comparison(void *ctx, size_t from, size_t to, struct buf *link)
{
	struct pages *p = ctx;
	const char *base = path_base(p->html), *end = strrchr(base, '.');
	int stem = (int)(end && end > base ? end - base : (long)strlen(base));
	struct buf path = { 0 }, text[2] = { { 0 } };
	struct opt_strs side[2] = { { 0 } };
	struct error err;
	bool ok = add_paths(p, from, &text[0], &side[0]) &&
		  add_paths(p, to, &text[1], &side[1]);

	buf_printf(&path, "%.*s%.*s-%zu.html", (int)(base - p->html), p->html,
		   stem, base, p->n + 1);
	ok = ok && !path.failed &&
	     cmd_diff_page(p->io, side, buf_cstr(&path), &err) == 0;
	if (ok) {
		buf_str(link, path_base(buf_cstr(&path)));
		p->n++;
	}
	for (int i = 0; i < 2; i++) {
		free(side[i].v);
		buf_fini(&text[i]);
	}
	buf_fini(&path);
	return ok;
}

static int show_report(struct cmd_io *io, const struct history_opts *o,
		       struct history_report *r, struct error *err)
{
	struct pages pages = { io, r, o->html, 0 };
	struct buf out = { 0 };
	int rc = 0;

	if (o->html && strcmp(o->html, "-")) {
		r->compare = write_comparison;
		r->page_ctx = &pages;
	}

	if (o->json) {
		history_json(r, &out);
		rc = cmd_output_last(io, o->json, &out, err);
	}
	if (!rc && o->html) {
		history_html(r, o->top, &out);
		rc = cmd_output_last(io, o->html, &out, err);
	}
	if (!rc && !o->json && !o->html) {
		history_text(r, o->top, &out);
		rc = cmd_output_last(io, NULL, &out, err);
	}
	r->compare = NULL;
	r->page_ctx = NULL;
	return rc;
}

/* Refuses a benchmark that the history lacks, and names those that it has. */
static int require_benchmark(const struct history *h, const char *benchmark,
			     const struct history_classes *found, struct error *err)
{
	struct buf names = { 0 };
	int rc;

	if (!benchmark || found->v.n || found->aside.n || !h->batches.n)
		return 0;
	for (size_t i = 0; i < h->batches.n; i++) {
		uint32_t id = h->batches.v[i].benchmark;
		size_t k = 0;

		while (h->batches.v[k].benchmark != id)
			k++;
		if (k == i)
			buf_printf(&names, "%s%s", names.n ? ", " : "",
				   history_str(h, id));
	}
	rc = error_set(err, ERR_NOTFOUND, "--benchmark %s: the history has no such "
		       "benchmark; it has %s", benchmark, buf_cstr(&names));
	buf_fini(&names);
	return rc;
}

static int show_history(struct cmd_io *io, const struct history_opts *o,
			bool list, struct history *h, struct error *err)
{
	struct history_classes classes = { .v = { 0 } };
	struct commit_log log;
	struct history_report r = { .h = h, .subject = commit_log_subject,
				    .between = commit_log_between, .ctx = &log,
				    .store = o->store };
	int rc = history_read(h, o->store, err);

	log = (struct commit_log){ .text = { 0 } };
	if (!rc)
		rc = commit_log_read(&log, h, o->repo, NULL, err) ?:
		     history_classify(h, o->benchmark, &log.order, &classes, err) ?:
		     require_benchmark(h, o->benchmark, &classes, err);
	if (!rc && list) {
		struct buf out = { 0 };

		history_list(h, &classes, &out);
		rc = cmd_output_last(io, NULL, &out, err);
	} else if (!rc) {
		rc = history_report_build(&r, &classes, err) ?:
		     show_report(io, o, &r, err);
		history_report_fini(&r);
	}
	history_classes_fini(&classes);
	commit_log_fini(&log);
	return rc;
}

static int run_history(struct cmd_io *io, void *opts, int argc, char **argv,
		       struct error *err)
{
	const struct history_opts *o = opts;
	const char *what = argc ? argv[0] : "report";
	struct opt_strs files = { (const char **)(void *)(argv + 1),
				  argc ? (size_t)argc - 1 : 0, 0 };
	bool list = !strcmp(what, "list");
	struct history h;
	int rc;

	if (!strcmp(what, "add")) {
		if (files.n)
			return history_add(io, o, &files, err);
		return error_set(err, ERR_USAGE, "add: name the recordings of a "
				 "commit");
	}
	if (!list && strcmp(what, "report"))
		return error_set(err, ERR_USAGE, "'%s': use add, list or "
				 "report", what);
	if (files.n)
		return error_set(err, ERR_USAGE, "%s: unexpected argument "
				 "'%s'; --store selects another history",
				 what, files.v[0]);
	rc = history_init(&h, err) ?: show_history(io, o, list, &h, err);
	history_fini(&h);
	return rc;
}

const struct command cmd_history = {
	.name = "history",
	.summary = "store the cost of functions by commit, and find changes",
	.args = "[add FILE... | list | report]",
	.opts = history_opt_table,
	.opts_size = sizeof(struct history_opts),
	.defaults = &(const struct history_opts){
		.store = "tally-history", .top = 20,
	},
	.run = run_history,
};
