// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the commits that changed the lines that became slower, by running git.  If
 * there are none, finds what else changed between the sides: the reason is often in
 * another function, such as a hash that makes the search of its table longer.  The
 * revisions come from recordings, which are untrusted.  Only hexadecimal names are
 * therefore passed to git.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/git.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/search.h"
#include "check/edits.h"
#include "check/repo_files.h"
#include "cmd/check.h"
#include "record/revision.h"

/* --- what git says about the commits and changes between two revisions of a repository.
 * All questions together have a limit of time, and no question is asked twice. */

enum { CHECK_GIT_MS = 30000 };

/* An answer: lines "ID<tab>SUBJECT", newest first. */
struct check_git_log {
	char *path;
	uint32_t first, last;	/* lines of the new revision; 0: all of the file */
	struct buf commits;
	bool of_file;		/* git could not tell which commits changed the lines:
				 * these changed the file */
};

struct check_git {
	int folder;
	uint64_t end_ns;	/* when no more is asked, by clock_now() */
	bool out_of_time;
	bool cut;		/* commits between the revisions are missing */
	const char *old, *new;	/* revisions: hexadecimal, as recordings are not
				 * trusted */
	struct repo_files files;	/* of the new revision */
	VEC(struct check_git_log) logs;
};

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

/*
 * Opens a folder of a repository with both revisions.  Appends to `why` what is wrong
 * and the smallest fix, if it cannot be asked or something is missing.  Returns 1 if it
 * can be asked, 0 if not, or -ERR_NOMEM.  Call check_git_close in any case.
 */
static int check_git_open(struct check_git *g, const char *repo, struct buf *why)
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

static void check_git_close(struct check_git *g)
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

/* Returns the commits that changed lines of a file, or the file if `first` is 0; none if
 * git cannot tell.  Valid until the next call; NULL without memory. */
static const struct check_git_log *check_git_log(struct check_git *g,
						 const char *path,
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

/* Adds what changed between the revisions.  Appends to `why` what is wrong.  Returns 0
 * or -ERR_NOMEM. */
static int check_git_edits(struct check_git *g, struct edits *e, struct buf *why)
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

/* --- what it means for the rows of the check */

enum {
	COMMITS_SHOWN = 5,
	EDITS_SHOWN = 5,
	ROWS_ASKED = 20,
	SUBJECT_MAX = 200,	/* bytes */
};

/* A recorded function: its name without parameters, and its file in the repository. */
struct recorded {
	char *name;
	const char *last;	/* `name` without scopes */
	const char *path;	/* NULL: none */
	bool has_file;		/* the recording names its file */
};

/* Asks about the commits between the revisions of the two sides. */
struct question {
	struct check *c;
	char *old, *new;	/* revisions */
	struct check_git git;
	struct u64map paths;	/* str of a recorded file: index in git.files */
	struct edits edits;
	bool read;		/* `edits` were read */
	VEC(struct recorded) funcs;	/* like c->runs.funcs */
	VEC(uint32_t) by_last;	/* their indices, sorted by `last` */
};

/* Adds a note, once. */
static int note(struct check *c, const char *text)
{
	char *copy;

	for (size_t i = 0; i < c->notes.n; i++)
		if (!strcmp(c->notes.v[i], text))
			return 0;
	copy = strdup(text);
	if (copy && vec_push(&c->notes, copy) == 0)
		return 0;
	free(copy);
	return -ERR_NOMEM;
}

/* Adds a note of --repo, if there is one, and releases its text. */
static int note_of(struct question *q, struct buf *why)
{
	struct buf text = { 0 };
	int rc = why->failed ? -ERR_NOMEM : 0;

	if (!rc && why->n) {
		buf_printf(&text, "--repo: %s", buf_cstr(why));
		rc = text.failed ? -ERR_NOMEM : note(q->c, buf_cstr(&text));
	}
	buf_fini(&text);
	buf_fini(why);
	return rc;
}

static bool is_revision(const char *s)
{
	size_t n = s ? strlen(s) : 0;

	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return n >= 7 && n <= 64;
}

/* Adds the revision of the checkout that holds a recording's programs and libraries.
 * Returns false if they are in checkouts of several revisions. */
static bool built_in(const struct profile *p, struct buf *out)
{
	struct buf one = { 0 };
	bool same = true;

	for (size_t i = 0; same && i < p->images.n; i++) {
		const char *path = profile_cstr(p, p->images.v[i].path);
		const char *slash = strrchr(path, '/');
		char *dir = *path == '/' && slash
				    ? strndup(path, (size_t)(slash - path)) : NULL;

		buf_reset(&one);
		if (dir)
			revision_find(dir, &one);
		if (one.n && !out->n)
			buf_str(out, buf_cstr(&one));
		same = !one.n || !strcmp(buf_cstr(&one), buf_cstr(out));
		free(dir);
	}
	buf_fini(&one);
	return same;
}

/* Returns the single revision that the programs of a side were built from, as a string
 * to free, or NULL.  Only for recordings made by this check. */
static char *built_revision(const struct check *c, enum check_side side)
{
	struct buf found = { 0 };
	bool same = true;
	char *copy;

	for (size_t i = 0; same && i < c->runs.files.n; i++)
		if (c->runs.files.v[i].side == side)
			same = built_in(c->runs.files.v[i].p, &found);
	copy = same && found.n && is_revision(buf_cstr(&found))
		       ? strdup(buf_cstr(&found)) : NULL;
	buf_fini(&found);
	return copy;
}

/* Returns the single revision that the recordings of a side name, or NULL. */
static const char *recorded_revision(const struct check *c, enum check_side side)
{
	const char *found = NULL;

	for (size_t i = 0; i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];
		const char *r;

		if (f->side != side)
			continue;
		r = profile_env(f->p, PROF_NONE, "revision");
		if (!is_revision(r) || (found && strcmp(found, r)))
			return NULL;
		found = r;
	}
	return found;
}

/* Finds the lines of the new revision that have the row's cost. */
static void line_range(const struct check *c, const struct check_row *r,
		       unsigned int *first, unsigned int *last)
{
	const struct compare_func *f = &c->runs.match.funcs.v[r->unit.func];
	const struct check_parts *l = &r->parts[PART_LINE];

	*first = *last = r->unit.line ? check_line_number(r->unit.line)
				       : f->line;
	for (size_t i = l->first; i < l->first + l->n; i++) {
		const struct check_part *p = &c->parts.v[i];

		/* only lines of the file that declares the function */
		if (!(p->now > 0) ||
		    strcmp(check_str(&c->runs, p->name),
			   path_base(check_str(&c->runs, f->file))))
			continue;
		if (!*first || p->line < *first)
			*first = p->line;
		if (p->line > *last)
			*last = p->line;
	}
}

/* Returns a subject as one line of at most SUBJECT_MAX bytes, as a string to free. */
static char *cut_subject(const char *s)
{
	static const char more[] = "\xe2\x80\xa6";
	size_t n = strlen(s);
	struct buf out = { 0 };
	char *copy;

	if (n > SUBJECT_MAX) {
		n = SUBJECT_MAX - (sizeof(more) - 1);
		/* not within a character */
		while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
		buf_bytes(&out, s, n);
		buf_str(&out, more);
	} else {
		buf_bytes(&out, s, n);
	}
	copy = out.failed ? NULL : strdup(buf_cstr(&out));
	buf_fini(&out);
	return copy;
}

/* Reads "ID<tab>SUBJECT" at *at and moves behind the line.  Returns 1, 0 at the end, or
 * -ERR_NOMEM. */
static int next_commit(const char **at, char **id, char **subject)
{
	const char *end = *at, *tab;
	char *line;

	end += strcspn(end, "\n");
	tab = memchr(*at, '\t', (size_t)(end - *at));
	if (!tab)
		return 0;
	*id = strndup(*at, (size_t)(tab - *at));
	line = strndup(tab + 1, (size_t)(end - tab - 1));
	*subject = line ? cut_subject(line) : NULL;
	free(line);
	*at = end + (*end == '\n');
	if (*id && *subject)
		return 1;
	free(*id);
	free(*subject);
	return -ERR_NOMEM;
}

static size_t count_commits(const struct check_git_log *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->commits.n; i++)
		n += l->commits.p[i] == '\n';
	return n;
}

/* Adds the commits of an answer. */
static int add_commits(struct check *c, uint32_t row, const struct check_git_log *l)
{
	struct check_commit k = { .row = row, .of_file = l->of_file,
				  .of = count_commits(l) };
	const char *at = (const char *)l->commits.p;

	for (size_t n = 0; n < COMMITS_SHOWN; n++) {
		int rc = next_commit(&at, &k.id, &k.subject);

		if (rc <= 0)
			return rc;
		if (vec_push(&c->commits, k) < 0) {
			free(k.id);
			free(k.subject);
			return -ERR_NOMEM;
		}
	}
	return 0;
}

/* Adds the commits that changed the lines of a row which cost something.  Returns 1 if
 * there are some, 0 if not, or -ERR_NOMEM. */
static int own_commits(struct question *q, uint32_t row, const char *path)
{
	const struct check_git_log *l;
	unsigned int first, last;

	line_range(q->c, &q->c->rows.v[row], &first, &last);
	if (!first)
		return 0;
	l = check_git_log(&q->git, path, first, last);
	if (!l || add_commits(q->c, row, l) < 0)
		return -ERR_NOMEM;
	return l->commits.n && !l->of_file;
}

/* Returns the file of the repository that a recording names, in *path; NULL if there is
 * none. */
static int find_path(struct question *q, uint32_t file, const char **path)
{
	const char *recorded = check_str(&q->c->runs, file), *list;
	uint32_t *slot = u64map_slot(&q->paths, file);

	*path = NULL;
	if (!slot)
		return -ERR_NOMEM;
	list = (const char *)q->git.files.list.p;
	if (*slot == U64MAP_NONE) {
		struct repo_match m = repo_files_find(&q->git.files, recorded);

		*slot = m.path ? 1 + (uint32_t)(m.path - list) : 0;
	}
	if (*slot)
		*path = list + *slot - 1;
	return 0;
}

/* Says that a recorded file may be one of several. */
static int note_several(struct question *q, uint32_t file)
{
	const char *recorded = check_str(&q->c->runs, file);
	struct repo_match m = repo_files_find(&q->git.files, recorded);
	struct buf why = { 0 };

	if (m.several)
		buf_printf(&why, "the recorded file %s may be %s or %zu other%s, so "
			   "no commits are listed for it; build in the checkout, so "
			   "that its whole path is recorded", recorded, m.like,
			   m.several - 1, m.several == 2 ? "" : "s");
	return note_of(q, &why);
}

static const char *without_scopes(const char *name)
{
	const char *scope = strrchr(name, ':');

	return scope ? scope + 1 : name;
}

/* Compares with qsort_r(3) by names without scopes. */
static int by_last(const void *a, const void *b, void *funcs)
{
	const struct recorded *f = funcs;

	return strcmp(f[*(const uint32_t *)a].last, f[*(const uint32_t *)b].last);
}

static int read_func(struct question *q, uint32_t func)
{
	struct recorded r = { .has_file = q->c->runs.match.funcs.v[func].file != 0 };
	struct buf full = { 0 };
	const char *path = NULL;

	check_func_name(&q->c->runs, func, &full);
	r.name = full.failed ? NULL : edits_name(buf_cstr(&full), full.n);
	buf_fini(&full);
	if (!r.name)
		return -ERR_NOMEM;
	r.last = without_scopes(r.name);
	if (vec_push(&q->funcs, r) < 0) {
		free(r.name);
		return -ERR_NOMEM;
	}
	if ((r.has_file &&
	     find_path(q, q->c->runs.match.funcs.v[func].file, &path) < 0) ||
	    vec_push(&q->by_last, func) < 0)
		return -ERR_NOMEM;
	q->funcs.v[func].path = path;
	return 0;
}

/* Reads what changed between the sides, and the recorded functions. */
static int read_edits(struct question *q)
{
	struct buf why = { 0 };
	int rc;

	if (q->read)
		return 0;
	q->read = true;
	rc = check_git_edits(&q->git, &q->edits, &why);
	if (note_of(q, &why) < 0)
		rc = -ERR_NOMEM;
	for (uint32_t f = 0; !rc && q->edits.v.n && f < q->c->runs.match.funcs.n; f++)
		rc = read_func(q, f);
	if (!rc)
		vec_sort_r(&q->by_last, by_last, q->funcs.v);
	return rc;
}

/* Returns whether two names are the same as far as both have scopes. */
static bool same_name(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), k = n < m ? n : m;
	const char *longer = n < m ? b : a;

	return k && !strcmp(a + n - k, b + m - k) &&
	       (n == m || longer[strlen(longer) - k - 1] == ':');
}

/* Returns whether an edit is of a recorded function.  Other files have functions of
 * the same name. */
static bool is_of(const struct recorded *f, const struct edit *e)
{
	return f->path && !strcmp(f->path, e->path) && same_name(f->name, e->name);
}

/* Returns whether an edit is of any recorded function, or may be. */
static bool is_sampled(const struct question *q, const struct edit *e)
{
	const char *last = without_scopes(e->name);
	size_t first;

	lower_bound(first, 0, q->by_last.n,
		    strcmp(q->funcs.v[q->by_last.v[first]].last, last) < 0);
	for (; first < q->by_last.n; first++) {
		const struct recorded *f = &q->funcs.v[q->by_last.v[first]];

		if (strcmp(f->last, last))
			return false;
		if (is_of(f, e) || (!f->has_file && same_name(f->name, e->name)))
			return true;
	}
	return false;
}

/* Returns how an edit is related to a row (PROF_NONE: to the total), whose file is
 * `path` (may be NULL). */
static enum check_relation relation(const struct question *q, uint32_t row,
				    const char *path, const struct edit *e)
{
	const struct check *c = q->c;
	const struct check_row *r = row == PROF_NONE ? NULL : &c->rows.v[row];

	if (r && r->unit.func != PROF_NONE && is_of(&q->funcs.v[r->unit.func], e))
		return EDIT_SELF;
	for (size_t i = 0; r && i < r->parts[PART_CALLER].n; i++) {
		uint32_t f = c->parts.v[r->parts[PART_CALLER].first + i].func;

		if (f != PROF_NONE && is_of(&q->funcs.v[f], e))
			return EDIT_CALLER;
	}
	if (path && !strcmp(path, e->path))
		return EDIT_FILE;
	return *e->name && is_sampled(q, e) ? EDIT_SAMPLED : EDIT_OTHER;
}

/* Finds the last commit that changed the place of an edit.  Returns 1, 0 if it is
 * unknown, or -ERR_NOMEM. */
static int last_commit(struct question *q, const struct edit *e, struct check_edit *d)
{
	const struct check_git_log *l = check_git_log(&q->git, e->path, e->at, e->to);
	const char *at;

	/* git knows no lines before the first one: the only commit that changed the
	 * file made this change, too */
	if (l && e->at && (!l->commits.n || l->of_file)) {
		l = check_git_log(&q->git, e->path, 0, 0);
		if (l && count_commits(l) != 1)
			return 0;
	}
	if (!l)
		return -ERR_NOMEM;
	at = (const char *)l->commits.p;
	return next_commit(&at, &d->id, &d->subject);
}

static int add_edit(struct question *q, uint32_t row, enum check_relation how,
		    const struct edit *e)
{
	struct check_edit d = {
		.row = row, .relation = how, .kind = e->kind, .line = e->line,
		.path = strdup(e->path), .name = strdup(e->name),
		.of = q->edits.all,
	};
	int rc = d.path && d.name ? last_commit(q, e, &d) : -ERR_NOMEM;

	if (rc >= 0 && vec_push(&q->c->edits, d) == 0)
		return 0;
	free(d.path);
	free(d.name);
	free(d.id);
	free(d.subject);
	return -ERR_NOMEM;
}

/* Adds the places most closely related to a row that no commit changed itself. */
static int other_edits(struct question *q, uint32_t row, const char *path)
{
	enum check_relation *how;
	size_t shown = 0;
	int rc = read_edits(q);

	if (rc || !q->edits.v.n)
		return rc;
	how = malloc(q->edits.v.n * sizeof(*how));
	if (!how)
		return -ERR_NOMEM;
	for (size_t i = 0; i < q->edits.v.n; i++)
		how[i] = relation(q, row, path, &q->edits.v.v[i]);
	for (int want = EDIT_SELF; want <= EDIT_OTHER; want++)
		for (size_t i = 0; !rc && i < q->edits.v.n && shown < EDITS_SHOWN; i++)
			if ((int)how[i] == want) {
				rc = add_edit(q, row, how[i], &q->edits.v.v[i]);
				shown++;
			}
	free(how);
	return rc;
}

static int row_commits(struct question *q, uint32_t row)
{
	const struct check *c = q->c;
	uint32_t func = c->rows.v[row].unit.func;
	uint32_t file = func == PROF_NONE ? 0 : c->runs.match.funcs.v[func].file;
	const char *path = NULL;
	int rc = file ? find_path(q, file, &path) : 0;

	if (!rc && path)
		rc = own_commits(q, row, path);
	else if (!rc && file)
		rc = note_several(q, file);
	return rc ? rc : other_edits(q, row, path);
}

/* Sets the revisions of both sides.  Both commands of --run and --against start in the
 * same folder, so there the checkouts that hold their programs count. */
static bool find_revisions(struct question *q, bool made_here)
{
	char **to[] = { [CHECK_BASE] = &q->old, [CHECK_NEW] = &q->new };

	for (int side = CHECK_BASE; side <= CHECK_NEW; side++) {
		const char *recorded = recorded_revision(q->c, side);

		*to[side] = made_here ? built_revision(q->c, side) : NULL;
		if (!*to[side] && recorded)
			*to[side] = strdup(recorded);
	}
	return q->old && q->new;
}

/* Says which answers are missing. */
static int note_limits(struct question *q, size_t asked)
{
	size_t failing = 0;
	struct buf why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < q->c->rows.n; i++)
		failing += q->c->rows.v[i].fails;
	if (q->git.out_of_time) {
		buf_printf(&why, "git took more than %d s: commits and changes may be "
			   "missing; git commit-graph write makes it faster",
			   CHECK_GIT_MS / 1000);
		rc = note_of(q, &why);
	}
	if (!rc && failing > asked) {
		buf_printf(&why, "commits are listed for the first %zu of %zu "
			   "regressed functions", asked, failing);
		rc = note_of(q, &why);
	}
	return rc;
}

static int answer(struct question *q)
{
	const struct check *c = q->c;
	size_t asked = 0;
	int rc = c->total_fails && !c->failing
			 ? other_edits(q, PROF_NONE, NULL) : 0;

	for (size_t i = 0; rc >= 0 && i < c->order.n && asked < ROWS_ASKED; i++) {
		if (!c->rows.v[c->order.v[i]].fails)
			continue;
		asked++;
		rc = row_commits(q, c->order.v[i]);
	}
	return rc < 0 ? rc : note_limits(q, asked);
}

static int look_at(struct question *q, const struct check_opts *o)
{
	struct buf why = { 0 };
	int rc;

	if (!find_revisions(q, o->run != NULL))
		return note(q->c, "--repo: cannot list commits: the recordings "
			    "of a side were not made in a checkout of one "
			    "revision");
	if (!strcmp(q->old, q->new))
		return note(q->c, "--repo: cannot list commits: both sides have "
			    "the same revision");
	q->git.old = q->old;
	q->git.new = q->new;
	rc = check_git_open(&q->git, o->repo, &why);
	if (note_of(q, &why) < 0)
		rc = -ERR_NOMEM;
	if (!rc && q->git.out_of_time)
		rc = note_limits(q, ROWS_ASKED);
	return rc > 0 ? answer(q) : rc;
}

int check_commits(struct check *c, const struct check_opts *o,
		  struct error *err)
{
	struct question q = { .c = c, .git.folder = -1 };
	int rc = 0;

	if (c->failing || c->total_fails)
		rc = look_at(&q, o);
	free(q.old);
	free(q.new);
	check_git_close(&q.git);
	edits_fini(&q.edits);
	for (size_t i = 0; i < q.funcs.n; i++)
		free(q.funcs.v[i].name);
	vec_fini(&q.funcs);
	vec_fini(&q.by_last);
	u64map_fini(&q.paths);
	return rc < 0 ? error_nomem(err) : 0;
}
