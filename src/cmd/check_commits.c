// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the commits that changed the lines that became slower, by running git.  If
 * there are none, finds what else changed between the sides: the reason is often in
 * another function, such as a hash that makes the search of its table longer.  The
 * revisions come from recordings, which are untrusted.  Only hexadecimal names are
 * therefore passed to git.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/git.h"
#include "check/edits.h"
#include "cmd/check.h"
#include "record/revision.h"

enum {
	GIT_OUTPUT_MAX = 64 << 20,
	GIT_MS = 30000,		/* limit for an answer */
	COMMITS_SHOWN = 5,
	EDITS_SHOWN = 5,
	ROWS_ASKED = 20,
};

/* Asks about the commits between the revisions of the two sides. */
struct question {
	struct check *c;
	const char *repo;
	char *old, *new;	/* revisions */
	char range[160];	/* OLD..NEW */
	struct buf tree;	/* paths of the new revision */
	struct edits edits;
	bool read;		/* `edits` were read */
	VEC(char *) sampled;	/* sorted names of the recorded functions */
};

/* Runs git.  Returns false if it failed or could not be run. */
static bool ask(const char *repo, const char *const *words, size_t n,
		struct buf *out)
{
	return git_ask(repo, words, n, GIT_OUTPUT_MAX, GIT_MS, out, NULL) == 0;
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

static size_t common_end(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), k = 0, parts = 0;

	while (k < n && k < m && a[n - 1 - k] == b[m - 1 - k]) {
		k++;
		if (k == n || k == m || a[n - 1 - k] == '/')
			parts += (k == m || b[m - 1 - k] == '/') &&
				 (k == n || a[n - 1 - k] == '/');
	}
	return parts;
}

/* Finds the file of the repository whose path has the longest common ending with
 * the recorded path.  The program may have been built in another folder. */
static char *find_path(const struct buf *tree, const char *recorded)
{
	const char *p = (const char *)tree->p, *end = p + tree->n;
	const char *best = NULL;
	size_t most = 0;

	while (p < end) {
		size_t parts = common_end(p, recorded);

		if (parts > most) {
			most = parts;
			best = p;
		}
		p += strlen(p) + 1;
	}
	return best ? strdup(best) : NULL;
}

/* Finds the lines of the new revision that have the row's cost. */
static void line_range(const struct check *c, const struct check_row *r,
		       unsigned int *first, unsigned int *last)
{
	const struct check_func *f = &c->runs.funcs.v[r->unit.func];
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

/* Reads "ID<tab>SUBJECT" from the beginning of *text and moves behind the line.
 * Returns 1, 0 at the end, or -ERR_NOMEM. */
static int next_commit(char **text, char **id, char **subject)
{
	char *line, *tab;

	do {
		line = strsep(text, "\n");
		if (!line)
			return 0;
		tab = strchr(line, '\t');
	} while (!tab);
	*id = strndup(line, (size_t)(tab - line));
	*subject = strdup(tab + 1);
	if (*id && *subject)
		return 1;
	free(*id);
	free(*subject);
	return -ERR_NOMEM;
}

/* Asks for the commits that changed lines of a file, newest first.  Appends a line
 * for each to `out`; none if git cannot tell. */
static void ask_lines(const struct question *q, const char *path,
		      unsigned int first, unsigned int last, struct buf *out)
{
	char *lines;
	/* git before 2.22, or ranges that no longer exist: ask by file */
	const char *const by_file[] = { GIT_LOG_ARGS, "--format=%h%x09%s",
					q->range, "--", path };

	if (asprintf(&lines, "-L%u,%u:%s", first, last, path) < 0) {
		out->failed = true;
		return;
	}
	const char *const by_line[] = { GIT_LOG_ARGS, "-s",
		"--format=%h%x09%s", lines, q->range, "--" };

	if (!ask(q->repo, by_line, sizeof(by_line) / sizeof(*by_line), out)) {
		buf_reset(out);
		if (!ask(q->repo, by_file, sizeof(by_file) / sizeof(*by_file),
			 out))
			buf_reset(out);
	}
	buf_cstr(out);
	free(lines);
}

static int add_commits(struct check *c, uint32_t row, char *text)
{
	struct check_commit k = { .row = row };
	int rc = 1;

	for (size_t n = 0; n < COMMITS_SHOWN; n++) {
		rc = next_commit(&text, &k.id, &k.subject);
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

/* Adds the commits that changed the lines of a row which cost something. */
static int own_commits(struct question *q, uint32_t row, const char *path)
{
	unsigned int first, last;
	struct buf out = { 0 };
	int rc = 0;

	line_range(q->c, &q->c->rows.v[row], &first, &last);
	if (first)
		ask_lines(q, path, first, last, &out);
	if (out.n)
		rc = add_commits(q->c, row, (char *)out.p);
	buf_fini(&out);
	return rc;
}

/* Returns the last part of a function's readable name, without scopes and
 * parameters, as a string to free. */
static char *plain_name(const struct check *c, uint32_t func)
{
	struct buf full = { 0 };
	char *name, *scope;

	check_func_name(&c->runs, func, &full);
	name = edits_name(buf_cstr(&full), full.n);
	buf_fini(&full);
	scope = name ? strrchr(name, ':') : NULL;
	if (scope)
		memmove(name, scope + 1, strlen(scope + 1) + 1);
	return name;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads what changed between the sides, and the names of functions. */
static int read_edits(struct question *q)
{
	const char *const words[] = { "diff", "--no-color", "--no-ext-diff",
		"--no-textconv", "--ignore-submodules", "--relative", "-U0",
		"-M", "--src-prefix=a/", "--dst-prefix=b/", q->old, q->new,
		"--" };
	struct buf diff = { 0 };
	int rc = 0;

	if (q->read)
		return 0;
	q->read = true;
	if (ask(q->repo, words, sizeof(words) / sizeof(*words), &diff))
		rc = edits_parse(&q->edits, (const char *)diff.p, diff.n);
	buf_fini(&diff);
	for (uint32_t f = 0; !rc && f < q->c->runs.funcs.n; f++) {
		char *name = plain_name(q->c, f);

		if (!name || vec_push(&q->sampled, name) < 0) {
			free(name);
			return -ERR_NOMEM;
		}
	}
	if (q->sampled.n)
		qsort(q->sampled.v, q->sampled.n, sizeof(*q->sampled.v),
		      by_name);
	return rc;
}

static bool is_named(const struct check *c, uint32_t func, const char *name)
{
	char *plain = func == PROF_NONE ? NULL : plain_name(c, func);
	bool same = plain && *name && !strcmp(plain, name);

	free(plain);
	return same;
}

/* Returns how an edit is related to a row (PROF_NONE: to the total), whose file is
 * `path` (may be NULL). */
static enum check_relation relation(const struct question *q, uint32_t row,
				    const char *path, const struct edit *e)
{
	const struct check *c = q->c;
	const char *scope = strrchr(e->name, ':');
	const char *name = scope ? scope + 1 : e->name;
	const struct check_row *r = row == PROF_NONE ? NULL : &c->rows.v[row];
	bool same_file = path && !strcmp(path, e->path);

	if (same_file && is_named(c, r->unit.func, name))
		return EDIT_SELF;
	for (size_t i = 0; r && i < r->parts[PART_CALLER].n; i++)
		if (is_named(c, c->parts.v[r->parts[PART_CALLER].first + i].func,
			     name))
			return EDIT_CALLER;
	if (same_file)
		return EDIT_FILE;
	return *name && q->sampled.n &&
		       bsearch(&name, q->sampled.v, q->sampled.n,
			       sizeof(*q->sampled.v), by_name)
		       ? EDIT_SAMPLED : EDIT_OTHER;
}

static int add_edit(struct question *q, uint32_t row, enum check_relation how,
		    const struct edit *e)
{
	struct check_edit d = {
		.row = row, .relation = how, .line = e->line,
		.path = strdup(e->path), .name = strdup(e->name),
		.of = q->edits.v.n,
	};
	struct buf out = { 0 };
	char *text;
	int rc = d.path && d.name ? 0 : -ERR_NOMEM;

	if (!rc)
		ask_lines(q, e->path, e->line, e->line, &out);
	text = (char *)out.p;
	if (!rc && out.n)
		rc = next_commit(&text, &d.id, &d.subject);
	buf_fini(&out);
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
		for (size_t i = 0; !rc && i < q->edits.v.n; i++)
			if ((int)how[i] == want && shown++ < EDITS_SHOWN)
				rc = add_edit(q, row, how[i], &q->edits.v.v[i]);
	free(how);
	return rc;
}

static int row_commits(struct question *q, uint32_t row)
{
	const struct check *c = q->c;
	uint32_t func = c->rows.v[row].unit.func;
	const char *file = func == PROF_NONE ? "" :
		check_str(&c->runs, c->runs.funcs.v[func].file);
	char *path = find_path(&q->tree, file);
	size_t before = c->commits.n;
	int rc = path ? own_commits(q, row, path) : 0;

	if (!rc && c->commits.n == before)
		rc = other_edits(q, row, path);
	free(path);
	return rc;
}

static int note(struct check *c, const char *text, struct error *err)
{
	char *copy = strdup(text);

	if (copy && vec_push(&c->notes, copy) == 0)
		return 0;
	free(copy);
	return error_nomem(err);
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

static int answer(struct question *q)
{
	const struct check *c = q->c;
	size_t asked = 0;
	int rc = c->total_fails && !c->failing
			 ? other_edits(q, PROF_NONE, NULL) : 0;

	for (size_t i = 0; !rc && i < c->order.n && asked < ROWS_ASKED; i++) {
		if (!c->rows.v[c->order.v[i]].fails)
			continue;
		asked++;
		rc = row_commits(q, c->order.v[i]);
	}
	return rc;
}

static int look_at(struct question *q, bool made_here, struct error *err)
{
	const char *list[] = { "ls-tree", "-r", "-z", "--name-only", NULL };

	if (!find_revisions(q, made_here))
		return note(q->c, "--repo: cannot list commits: the recordings "
			    "of a side were not made in a checkout of one "
			    "revision", err);
	if (!strcmp(q->old, q->new))
		return note(q->c, "--repo: cannot list commits: both sides have "
			    "the same revision", err);
	list[4] = q->new;
	if (!ask(q->repo, list, 5, &q->tree) || q->tree.failed)
		return note(q->c, "--repo: the repository does not contain the "
			    "recorded revision", err);
	buf_cstr(&q->tree);
	snprintf(q->range, sizeof(q->range), "%s..%s", q->old, q->new);
	return answer(q) < 0 ? error_nomem(err) : 0;
}

int check_commits(struct check *c, const struct check_opts *o,
		  struct error *err)
{
	struct question q = { .c = c, .repo = o->repo };
	int rc = 0;

	if (c->failing || c->total_fails)
		rc = look_at(&q, o->run != NULL, err);
	free(q.old);
	free(q.new);
	buf_fini(&q.tree);
	edits_fini(&q.edits);
	for (size_t i = 0; i < q.sampled.n; i++)
		free(q.sampled.v[i]);
	vec_fini(&q.sampled);
	return rc;
}
