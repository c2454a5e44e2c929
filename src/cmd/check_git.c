// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs git for `tally check --repo`: see check_git.h. */
#include "cmd/check_git.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/git.h"

enum { OUTPUT_MAX = 64 << 20, SHORT = 12 };

#define FETCH_ALL "fetch all of it (git fetch --unshallow; fetch-depth: 0 of " \
		  "actions/checkout; GIT_DEPTH: 0 of GitLab)"

/* Runs git for as long as there is time.  Returns its exit status or a negative error. */
static int ask(struct check_git *g, const char *const *words, size_t n,
	       struct buf *out, struct error *err)
{
	uint64_t now = clock_now();
	int rc = -ERR_STOPPED;

	if (!g->out_of_time && now < g->end_ns)
		rc = git_ask_in(g->folder, words, n, OUTPUT_MAX,
				1 + (int)((g->end_ns - now) / 1000000), out, err);
	g->out_of_time |= rc == -ERR_STOPPED;
	return out->failed ? -ERR_NOMEM : rc;
}

static bool has(const char *folder, const char *name)
{
	struct buf path = { 0 };
	struct stat st;
	bool found;

	buf_printf(&path, "%s/%s", folder, name);
	found = !path.failed && !lstat(buf_cstr(&path), &st);
	buf_fini(&path);
	return found;
}

/* Cuts an absolute path to the nearest folder that looks like a repository (with a work
 * tree or without).  Returns false if there is none. */
static bool cut_to_repository(char *path)
{
	while (!has(path, ".git") && !(has(path, "HEAD") && has(path, "objects"))) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return false;
		*slash = 0;
	}
	return true;
}

/* Explains why git does not read a repository. */
static void explain(const char *repo, struct buf *why)
{
	char *path = realpath(repo, NULL);
	struct buf git = { 0 };
	struct stat st, own;

	if (!path || !cut_to_repository(path)) {
		buf_printf(why, "%s is not in a git repository: name a checkout of "
			   "the program", repo);
		free(path);
		return;
	}
	buf_printf(&git, "%s/.git", path);
	if (!stat(path, &st) && (st.st_uid != geteuid() ||
	    (!stat(buf_cstr(&git), &own) && own.st_uid != geteuid())))
		buf_printf(why, "git does not read %s, which belongs to another "
			   "user: git config --global --add safe.directory %s",
			   path, path);
	else
		buf_printf(why, "git cannot read the repository in %s: git -C %s "
			   "status shows why", path, path);
	buf_fini(&git);
	free(path);
}

/* Appends why a question has no answer.  Returns 0, or -ERR_NOMEM for that. */
static int no_answer(const struct check_git *g, const char *command, int rc,
		     const struct error *err, struct buf *why)
{
	if (rc == -ERR_NOMEM)
		return rc;
	if (g->out_of_time)
		return 0;	/* said once, at the end */
	if (rc == -ERR_NOTFOUND)
		buf_str(why, "there is no program git in PATH: install git");
	else if (rc < 0)
		buf_printf(why, "git %s failed: %s", command, err->msg);
	else
		/* objects are not fetched here: no network */
		buf_printf(why, "git %s failed with exit status %d; in a partial "
			   "clone, fetch all objects: git fetch --refetch "
			   "--no-filter", command, rc);
	return 0;
}

/* Reads the folder's place in the repository, and whether it is a shallow clone. */
static int find_place(struct check_git *g, const char *repo, bool *shallow,
		      struct buf *why)
{
	static const char *const words[] = { "rev-parse", "--show-prefix",
					     "--is-shallow-repository" };
	struct buf out = { 0 };
	struct error err = { 0 };
	int rc = ask(g, words, COUNT(words), &out, &err);
	const char *end = "";
	char *path;

	if (rc) {
		buf_fini(&out);
		if (rc < 0)
			return no_answer(g, "rev-parse", rc, &err, why);
		explain(repo, why);
		return 0;
	}
	/* the prefix may hold newlines */
	while (out.n && out.p[out.n - 1] == '\n')
		out.n--;
	buf_cstr(&out);
	while (out.n && out.p[out.n - 1] != '\n')
		out.n--;
	end = (const char *)out.p + out.n;
	*shallow = !strcmp(end, "true");
	buf_bytes(&g->files.prefix, out.p, out.n ? out.n - 1 : 0);
	buf_fini(&out);
	path = realpath(repo, NULL);
	if (path)
		buf_str(&g->files.folder, path);
	free(path);
	return 1;
}

/* Returns 1 if the repository has a revision, else 0 with the reason. */
static int find_revision(struct check_git *g, const char *revision,
			 const char *side, bool shallow, struct buf *why)
{
	struct buf commit = { 0 }, out = { 0 };
	struct error err = { 0 };
	int rc;

	buf_printf(&commit, "%s^{commit}", revision);
	const char *const words[] = { "cat-file", "-e", buf_cstr(&commit) };

	rc = commit.failed ? -ERR_NOMEM
			   : ask(g, words, COUNT(words), &out, &err);
	buf_fini(&commit);
	buf_fini(&out);
	if (!rc)
		return 1;
	if (rc < 0)
		return no_answer(g, "cat-file", rc, &err, why);
	buf_printf(why, "the repository does not contain the recorded revision "
		   "%.*s of the %s: ", SHORT, revision, side);
	if (shallow)
		buf_str(why, "it is a shallow clone; " FETCH_ALL);
	else
		buf_printf(why, "git fetch origin %s", revision);
	return 0;
}

static void set_range(const struct check_git *g, char *range, size_t n)
{
	snprintf(range, n, "%s..%s", g->old, g->new);
}

/* Finds out whether the history ends between the revisions, as in shallow clones.  The
 * first commit there is would seem to have changed all lines. */
static int find_cut(struct check_git *g, struct buf *why)
{
	char range[160];
	const char *const words[] = { "rev-list", "--max-parents=0", range, "--" };
	struct buf out = { 0 };
	struct error err = { 0 };
	int rc;

	set_range(g, range, sizeof(range));
	rc = ask(g, words, COUNT(words), &out, &err);
	g->cut = rc || out.n;
	buf_fini(&out);
	if (rc == -ERR_NOMEM)
		return rc;
	if (g->cut && !g->out_of_time)
		buf_str(why, "cannot list commits: the repository is a shallow clone "
			"that lacks some between both revisions; " FETCH_ALL);
	return 1;
}

static int list_files(struct check_git *g, struct buf *why)
{
	const char *const words[] = { "ls-tree", "-r", "-z", "--name-only", g->new };
	struct error err = { 0 };
	int rc = ask(g, words, COUNT(words), &g->files.list, &err);

	if (rc)
		return no_answer(g, "ls-tree", rc, &err, why);
	return repo_files_sort(&g->files) < 0 ? -ERR_NOMEM : 1;
}

int check_git_open(struct check_git *g, const char *repo, struct buf *why)
{
	bool shallow = false;
	int rc;

	g->end_ns = clock_now() + CHECK_GIT_MS * 1000000ull;
	g->folder = open(repo, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (g->folder < 0) {
		buf_printf(why, "%s: %s", repo, strerror(errno));
		return 0;
	}
	rc = find_place(g, repo, &shallow, why);
	if (rc > 0)
		rc = find_revision(g, g->old, "baseline", shallow, why);
	if (rc > 0)
		rc = find_revision(g, g->new, "new side", shallow, why);
	if (rc > 0)
		rc = list_files(g, why);
	if (rc > 0 && shallow)
		rc = find_cut(g, why);
	return rc;
}

void check_git_close(struct check_git *g)
{
	if (g->folder >= 0)
		close(g->folder);
	for (size_t i = 0; i < g->logs.n; i++) {
		free(g->logs.v[i].path);
		buf_fini(&g->logs.v[i].commits);
	}
	vec_fini(&g->logs);
	repo_files_fini(&g->files);
}

/* Fills in the commits of `l`. */
static int ask_log(struct check_git *g, struct check_git_log *l)
{
	char range[160], *lines = NULL;

	set_range(g, range, sizeof(range));
	const char *const by_file[] = { "--literal-pathspecs", GIT_LOG_ARGS,
		"--encoding=UTF-8", "--format=%h%x09%s", range, "--", l->path };
	int rc = 1;

	if (l->first) {
		if (asprintf(&lines, "-L%u,%u:%s", l->first, l->last, l->path) < 0)
			return -ERR_NOMEM;
		const char *const by_line[] = { GIT_LOG_ARGS, "-s",
			"--encoding=UTF-8", "--format=%h%x09%s", lines, range,
			"--" };

		rc = ask(g, by_line, COUNT(by_line), &l->commits, NULL);
		free(lines);
	}
	/* git before 2.22, or lines that no longer exist */
	l->of_file = rc != 0;
	if (rc > 0) {
		buf_reset(&l->commits);
		rc = ask(g, by_file, COUNT(by_file), &l->commits, NULL);
	}
	if (rc && rc != -ERR_NOMEM)
		buf_reset(&l->commits);
	buf_cstr(&l->commits);
	return rc == -ERR_NOMEM || l->commits.failed ? -ERR_NOMEM : 0;
}

const struct check_git_log *check_git_log(struct check_git *g, const char *path,
					  uint32_t first, uint32_t last)
{
	struct check_git_log l = { .first = first, .last = last };

	for (size_t i = 0; i < g->logs.n; i++)
		if (g->logs.v[i].first == first && g->logs.v[i].last == last &&
		    !strcmp(g->logs.v[i].path, path))
			return &g->logs.v[i];
	l.path = strdup(path);
	buf_cstr(&l.commits);
	if (l.path && (g->cut || ask_log(g, &l) == 0) && !l.commits.failed &&
	    vec_push(&g->logs, l) == 0)
		return &g->logs.v[g->logs.n - 1];
	free(l.path);
	buf_fini(&l.commits);
	return NULL;
}

static int ask_diff(struct check_git *g, const char *context, struct buf *out,
		    struct error *err)
{
	const char *const words[] = { "-c", "core.quotePath=off", "diff",
		"--no-color", "--no-ext-diff", "--no-textconv",
		"--submodule=short", "--ignore-submodules=none", "--relative",
		context, "--inter-hunk-context=0", "-M", "--src-prefix=a/",
		"--dst-prefix=b/", g->old, g->new, "--" };

	buf_reset(out);
	return ask(g, words, COUNT(words), out, err);
}

int check_git_edits(struct check_git *g, struct edits *e, struct buf *why)
{
	struct buf diff = { 0 };
	struct error err = { 0 };
	/* whole files tell comments from code, and functions apart */
	int rc = ask_diff(g, "-U1000000", &diff, &err);

	if (rc == -ERR_FORMAT)
		rc = ask_diff(g, "-U0", &diff, &err);
	if (!rc)
		rc = edits_parse(e, (const char *)diff.p, diff.n);
	else if (rc == -ERR_FORMAT)
		buf_printf(why, "cannot list what else changed: the diff of both "
			   "revisions is larger than %d MB; compare revisions with "
			   "fewer changes, or name a subfolder", OUTPUT_MAX >> 20);
	else if (rc != -ERR_NOMEM)
		rc = no_answer(g, "diff", rc, &err, why);
	buf_fini(&diff);
	return rc == -ERR_NOMEM ? rc : 0;
}
