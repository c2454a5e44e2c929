// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the commits that changed the lines that became slower, by running git.  The
 * revisions come from recordings, which are untrusted.  Only hexadecimal names are
 * therefore passed to git.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/git.h"
#include "cmd/check.h"

enum {
	GIT_OUTPUT_MAX = 64 << 20,
	GIT_MS = 30000,		/* limit for an answer */
	COMMITS_SHOWN = 5,
	ROWS_ASKED = 20,
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

/* Returns the single revision of a side, or NULL. */
static const char *revision(const struct check *c, enum check_side side)
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

/* Parses lines of the form "ID<tab>SUBJECT". */
static int add_commits(struct check *c, uint32_t row, char *text)
{
	char *save, *line;
	size_t n = 0;

	for (line = strtok_r(text, "\n", &save); line && n < COMMITS_SHOWN;
	     line = strtok_r(NULL, "\n", &save)) {
		char *tab = strchr(line, '\t');
		struct check_commit k = { .row = row };

		if (!tab)
			continue;
		*tab = '\0';
		k.id = strdup(line);
		k.subject = strdup(tab + 1);
		if (!k.id || !k.subject || vec_push(&c->commits, k) < 0) {
			free(k.id);
			free(k.subject);
			return -ERR_NOMEM;
		}
		n++;
	}
	return 0;
}

static int row_commits(struct check *c, uint32_t row, const char *repo,
		       const char *range, const struct buf *tree)
{
	const struct check_row *r = &c->rows.v[row];
	const struct check_func *f = &c->runs.funcs.v[r->unit.func];
	char *path = find_path(tree, check_str(&c->runs, f->file)), *lines;
	unsigned int first, last;
	struct buf out = { 0 };
	int rc = 0;

	if (!path)
		return 0;
	line_range(c, r, &first, &last);
	if (asprintf(&lines, "-L%u,%u:%s", first, last, path) < 0)
		lines = NULL;
	if (lines && first) {
		const char *const by_line[] = { GIT_LOG_ARGS, "-s",
			"--format=%h%x09%s", lines, range, "--" };
		/* git before 2.22, or ranges that no longer exist: ask by file */
		const char *const by_file[] = { GIT_LOG_ARGS,
			"--format=%h%x09%s", range, "--", path };

		if (!ask(repo, by_line, sizeof(by_line) / sizeof(*by_line),
			 &out)) {
			buf_reset(&out);
			if (!ask(repo, by_file,
				 sizeof(by_file) / sizeof(*by_file), &out))
				buf_reset(&out);
		}
		buf_cstr(&out);
		if (out.n)
			rc = add_commits(c, row, (char *)out.p);
	}
	buf_fini(&out);
	free(lines);
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

int check_commits(struct check *c, const char *repo, struct error *err)
{
	const char *old = revision(c, CHECK_BASE);
	const char *new = revision(c, CHECK_NEW);
	const char *const list[] = { "ls-tree", "-r", "-z", "--name-only",
				     new };
	struct buf tree = { 0 };
	char range[160];
	size_t asked = 0;
	int rc = 0;

	if (!c->failing)
		return 0;
	if (!old || !new)
		return note(c, "--repo: cannot list commits: the recordings of "
			    "a side were not made in a checkout of one "
			    "revision", err);
	if (!ask(repo, list, 5, &tree) || tree.failed) {
		buf_fini(&tree);
		return note(c, "--repo: the repository does not contain the "
			    "recorded revision", err);
	}
	buf_cstr(&tree);
	snprintf(range, sizeof(range), "%s..%s", old, new);
	for (size_t i = 0; !rc && i < c->order.n && asked < ROWS_ASKED; i++) {
		const struct check_row *r = &c->rows.v[c->order.v[i]];

		if (!r->fails || r->unit.func == PROF_NONE)
			continue;
		asked++;
		rc = row_commits(c, c->order.v[i], repo, range, &tree);
	}
	buf_fini(&tree);
	return rc < 0 ? error_nomem(err) : 0;
}
