// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads source files from a git repository. */
#include "views/code/source_git.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/git.h"

enum {
	ANSWER_MS = 10000,
	LIST_BYTES = 64 << 20,
	SHORT = 12,		/* digits of a commit that are shown */
};

static bool is_commit(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return (n == 40 || n == 64) && !s[n];
}

void source_git_init(struct source_git *g, const struct profile *p,
		     const struct source_access *access, const char *repo)
{
	const char *revision = profile_env(p, PROF_NONE, "revision");

	*g = (struct source_git){ .access = access, .repo = repo };
	if (revision && is_commit(revision))
		memcpy(g->revision, revision, strlen(revision));
}

void source_git_fini(struct source_git *g)
{
	buf_fini(&g->names);
	u64map_fini(&g->by_name);
}

/* Returns how many bytes of `path` name the folder that contains .git; 0 if
 * none. */
static size_t find_top(const char *path)
{
	size_t n = strlen(path);
	struct buf dir = { 0 };
	struct stat st;

	while (n) {
		while (n && path[n - 1] != '/')
			n--;
		n -= n > 0;	/* drops the slash */
		buf_reset(&dir);
		buf_bytes(&dir, path, n);
		buf_str(&dir, "/.git");
		if (n && stat(buf_cstr(&dir), &st) == 0)
			break;
	}
	buf_fini(&dir);
	return n;
}

/* Reads the blob REVISION:NAME of the repository at `dir`. */
static int read_blob(struct source_git *g, const char *dir, const char *name,
		     size_t limit, struct buf *out, struct buf *shown,
		     struct error *err)
{
	struct buf object = { 0 };
	const char *words[3] = { "cat-file", "blob", NULL };
	size_t start = out->n;
	int rc;

	buf_printf(&object, "%s:%s", g->revision, name);
	words[2] = buf_cstr(&object);
	rc = git_ask(dir, words, 3, limit, ANSWER_MS, out, err);
	buf_fini(&object);
	if (rc > 0) {
		out->n = start;
		return error_set(err, ERR_NOTFOUND,
				 "the git repository in %s has no '%s' in "
				 "commit %.*s, or git cannot read it", dir,
				 name, SHORT, g->revision);
	}
	if (!rc)
		buf_printf(shown, "git %.*s:%s", SHORT, g->revision, name);
	return rc;
}

static int read_here(struct source_git *g, const char *path, size_t limit,
		     struct buf *out, struct buf *name, struct error *err)
{
	struct buf dir = { 0 };
	size_t top = find_top(path);
	int rc = -ERR_NOTFOUND;

	if (top) {
		buf_bytes(&dir, path, top);
		rc = read_blob(g, buf_cstr(&dir), path + top + 1, limit, out,
			       name, err);
	}
	buf_fini(&dir);
	return rc;
}

static uint64_t hash_name(const char *s)
{
	return hash_bytes(s, strlen(s));
}

/* Lists all files of the commit in `repo`. */
static int list_files(struct source_git *g, struct error *err)
{
	const char *words[] = { "ls-tree", "-r", "-z", "--name-only",
				"--full-tree", g->revision };
	int rc;

	if (g->listed)
		return 0;
	g->listed = true;
	rc = git_ask(g->repo, words, 6, LIST_BYTES, ANSWER_MS, &g->names, err);
	if (rc > 0)
		rc = error_set(err, ERR_NOTFOUND,
			       "%s is not a git repository with the commit "
			       "%.*s, or git cannot read it", g->repo, SHORT,
			       g->revision);
	buf_cstr(&g->names);
	for (size_t i = 0; !rc && i < g->names.n;
	     i += strlen((char *)g->names.p + i) + 1) {
		uint32_t *slot = u64map_slot(&g->by_name,
			hash_name((char *)g->names.p + i));

		if (!slot)
			rc = error_nomem(err);
		else
			*slot = (uint32_t)i;
	}
	if (rc)
		buf_reset(&g->names);
	return rc;
}

/* Reads the file of `repo` whose name has the longest common end with the
 * path. */
static int read_repo(struct source_git *g, const char *path, size_t limit,
		     struct buf *out, struct buf *name, struct error *err)
{
	int rc = list_files(g, err);

	for (; !rc && path; path = strchr(path, '/')) {
		uint32_t at;

		path += strspn(path, "/");
		at = u64map_get(&g->by_name, hash_name(path));
		if (*path && at != U64MAP_NONE &&
		    !strcmp((char *)g->names.p + at, path))
			return read_blob(g, g->repo, path, limit, out, name,
					 err);
	}
	if (!rc)
		rc = error_set(err, ERR_NOTFOUND,
			       "the git repository %s has no such file in "
			       "commit %.*s", g->repo, SHORT, g->revision);
	return rc;
}

int source_git_read(struct source_git *g, const char *path, size_t limit,
		    struct buf *out, struct buf *name, struct error *err)
{
	struct buf clean = { 0 };
	int rc = -ERR_NOTFOUND;

	if (!g->revision[0]) {
		if (g->repo)
			error_set(err, ERR_NOTFOUND, "the recording was not "
				  "made in a git repository and has no commit");
		return rc;
	}
	if (source_path_clean(path, &clean) &&
	    source_access_allows(g->access, buf_cstr(&clean)))
		rc = read_here(g, buf_cstr(&clean), limit, out, name, err);
	if (rc < 0 && g->repo) {
		if (err)
			*err = (struct error){ 0 };
		path += strspn(path, "./");
		rc = read_repo(g, clean.n ? buf_cstr(&clean) : path, limit,
			       out, name, err);
	}
	buf_fini(&clean);
	return rc;
}
