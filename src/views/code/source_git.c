// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads source files from a git repository. */
#include "views/code/source_git.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/git.h"
#include "base/io.h"

enum {
	ANSWER_MS = 10000,
	ANSWER_BYTES = 64 << 10,
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
	const char *revision = profile_fact(p, "revision");

	*g = (struct source_git){ .access = access, .repo = repo,
				  .folder = { .fd = -1 } };
	if (is_commit(revision))
		memcpy(g->revision, revision, strlen(revision));
}

void source_git_fini(struct source_git *g)
{
	buf_fini(&g->names);
	buf_fini(&g->checked);
	u64map_fini(&g->by_name);
	source_folder_close(&g->folder);
}

void source_git_file_fini(struct source_git_file *f)
{
	buf_fini(&f->text);
	buf_fini(&f->name);
	buf_fini(&f->folder);
}

static void put_name(const struct source_folder *f, struct buf *out)
{
	char *name = io_name_of(f->fd);

	buf_str(out, name ? name : "a folder without a name");
	free(name);
}

/* Opens the nearest folder above the file that contains .git.  Returns how many bytes
 * of `path` name it; 0 if none may be read. */
static size_t open_top(const struct source_git *g, const char *path,
		       struct source_folder *top)
{
	size_t n = strlen(path);
	bool found = false;
	struct buf dir = { 0 };
	struct stat st;

	while (n && !found) {
		while (n && path[n - 1] != '/')
			n--;
		n -= n > 0;	/* drops the slash */
		buf_reset(&dir);
		buf_bytes(&dir, path, n);
		if (!n || source_access_folder(g->access, buf_cstr(&dir), top))
			continue;
		found = !fstatat(top->fd, ".git", &st, AT_SYMLINK_NOFOLLOW);
		if (!found)
			source_folder_close(top);
	}
	buf_fini(&dir);
	return n;
}

static int refuse_repository(const struct source_folder *top,
			     const char *reason, struct error *err)
{
	struct buf name = { 0 };
	int rc;

	put_name(top, &name);
	rc = error_set(err, ERR_PERM, "the git repository in %s %s",
		       buf_cstr(&name), reason);
	buf_fini(&name);
	return rc;
}

/*
 * Requires that git reads the repository of this folder, not that of a folder above it,
 * which has other names for its files.  Unless the user named the folder, its objects
 * must be below the folders that may be read: .git may be a link, or a file that names
 * another folder (submodules, git-worktree(1)).
 */
static int check_repository(const struct source_git *g,
			    const struct source_folder *top, struct error *err)
{
	static const char *const words[] = {
		"rev-parse", "--path-format=absolute", "--show-cdup",
		"--git-common-dir", "--git-path", "objects",
	};
	struct buf answer = { 0 };
	char *line, *next;
	int rc = git_ask_in(top->fd, words, 6, ANSWER_BYTES, ANSWER_MS, &answer,
			    err);

	if (rc > 0 || (!rc && *buf_cstr(&answer) != '\n'))
		rc = refuse_repository(top, "cannot be read by git", err);
	line = rc ? NULL : (char *)buf_cstr(&answer) + 1;
	for (; !rc && (next = strchr(line, '\n')); line = next + 1) {
		*next = 0;
		if (!top->is_root && !top->all &&
		    !source_access_covers(g->access, line))
			rc = refuse_repository(top, "is that of a folder "
				"elsewhere, which --source-map DIR=DIR allows",
				err);
	}
	buf_fini(&answer);
	return rc;
}

/* The same; the last answer is kept, because most files have the same repository. */
static int check_top(struct source_git *g, const struct source_folder *top,
		     struct error *err)
{
	struct buf name = { 0 };
	int rc;

	put_name(top, &name);
	if (g->checked.n && !strcmp(buf_cstr(&name), buf_cstr(&g->checked))) {
		buf_fini(&name);
		return 0;
	}
	rc = check_repository(g, top, err);
	buf_fini(&g->checked);
	if (rc)
		buf_fini(&name);
	g->checked = name;
	return rc;
}

/* Reads an object of a repository as the text of the file `name`. */
static int read_blob(struct source_git *g, const struct source_folder *top,
		     const char *object, const char *name, size_t limit,
		     struct source_git_file *out, struct error *err)
{
	const char *words[3] = { "cat-file", "blob", object };
	int rc;

	put_name(top, &out->folder);
	rc = git_ask_in(top->fd, words, 3, limit, ANSWER_MS, &out->text, err);
	if (rc > 0) {
		buf_reset(&out->text);
		return error_set(err, ERR_NOTFOUND,
				 "the git repository in %s has no '%s' in "
				 "commit %.*s, or git cannot read it",
				 buf_cstr(&out->folder), name, SHORT,
				 g->revision);
	}
	if (!rc)
		buf_printf(&out->name, "git %.*s:%s", SHORT, g->revision, name);
	return rc;
}

static int read_here(struct source_git *g, const char *path, size_t limit,
		     struct source_git_file *out, struct error *err)
{
	struct source_folder top;
	struct buf object = { 0 };
	size_t n = open_top(g, path, &top);
	int rc;

	if (!n)
		return -ERR_NOTFOUND;
	path += n + 1;
	rc = source_folder_check(&top, path, err) ?: check_top(g, &top, err);
	buf_printf(&object, "%s:%s", g->revision, path);
	if (!rc)
		rc = read_blob(g, &top, buf_cstr(&object), path, limit, out,
			       err);
	buf_fini(&object);
	source_folder_close(&top);
	return rc;
}

static uint64_t hash_name(const char *s)
{
	return hash_bytes(s, strlen(s));
}

static int no_commit(const struct source_git *g, struct error *err)
{
	return error_set(err, ERR_NOTFOUND, "%s is not a git repository with the "
			 "commit %.*s, or git cannot read it", g->repo, SHORT,
			 g->revision);
}

/* Opens `repo`. */
static int open_repo(struct source_git *g, struct error *err)
{
	char *path = realpath(g->repo, NULL);
	int rc = path ? source_access_folder(g->access, path, &g->folder)
		      : -ERR_NOTFOUND;

	free(path);
	return rc ? no_commit(g, err) : 0;
}

/* Indexes the rows of git-ls-tree(1), "MODE TYPE OBJECT<tab>NAME". */
static int index_names(struct source_git *g, struct error *err)
{
	const char *p = buf_cstr(&g->names);

	for (size_t i = 0; i < g->names.n; i += strlen(p + i) + 1) {
		const char *tab = strchr(p + i, '\t');

		if (!tab || strncmp(p + i, "100", 3) ||
		    (size_t)(tab - p) < i + strlen(g->revision))
			continue;	/* no file */
		if (u64map_put(&g->by_name, hash_name(tab + 1),
			       (uint32_t)(tab + 1 - p)) < 0)
			return error_nomem(err);
	}
	return 0;
}

/* Lists the files of the commit in the folder `repo`, which may be one in a
 * repository. */
static int list_files(struct source_git *g, struct error *err)
{
	const char *words[] = { "ls-tree", "-r", "-z", g->revision };
	int rc;

	if (g->listed)
		return 0;
	g->listed = true;
	rc = open_repo(g, err) ?:
	     git_ask_in(g->folder.fd, words, 4, LIST_BYTES, ANSWER_MS, &g->names, err);
	if (rc > 0)
		rc = no_commit(g, err);
	if (!rc)
		rc = index_names(g, err);
	if (rc)
		buf_reset(&g->names);
	return rc;
}

/* Reads the file of `repo` whose name is at `at` in the list. */
static int read_listed(struct source_git *g, uint32_t at, size_t limit,
		       struct source_git_file *out, struct error *err)
{
	const char *name = (char *)g->names.p + at;
	size_t digits = strlen(g->revision);
	char object[sizeof(g->revision)] = "";
	int rc = source_folder_check(&g->folder, name, err);

	memcpy(object, name - 1 - digits, digits);
	return rc ? rc : read_blob(g, &g->folder, object, name, limit, out, err);
}

/* Reads the file of `repo` whose name has the longest common end with the
 * path. */
static int read_repo(struct source_git *g, const char *path, size_t limit,
		     struct source_git_file *out, struct error *err)
{
	int rc = list_files(g, err);

	for (; !rc && path; path = strchr(path, '/')) {
		uint32_t at;

		path += strspn(path, "/");
		at = u64map_get(&g->by_name, hash_name(path));
		if (*path && at != U64MAP_NONE &&
		    !strcmp((char *)g->names.p + at, path))
			return read_listed(g, at, limit, out, err);
	}
	if (!rc)
		rc = error_set(err, ERR_NOTFOUND,
			       "the git repository %s has no such file in "
			       "commit %.*s", g->repo, SHORT, g->revision);
	return rc;
}

int source_git_read(struct source_git *g, const char *path, size_t limit,
		    struct source_git_file *out, struct error *err)
{
	struct buf clean = { 0 };
	int rc = -ERR_NOTFOUND;

	*out = (struct source_git_file){ .text = { 0 } };
	if (!g->revision[0]) {
		if (g->repo)
			error_set(err, ERR_NOTFOUND, "the recording was not "
				  "made in a git repository and has no commit");
		return rc;
	}
	if (source_path_clean(path, &clean) &&
	    source_access_allows(g->access, buf_cstr(&clean)))
		rc = read_here(g, buf_cstr(&clean), limit, out, err);
	if (rc < 0 && g->repo) {
		if (err)
			*err = (struct error){ 0 };
		source_git_file_fini(out);
		path += strspn(path, "./");
		rc = read_repo(g, clean.n ? buf_cstr(&clean) : path, limit, out,
			       err);
	}
	buf_fini(&clean);
	if (rc)
		source_git_file_fini(out);
	return rc;
}
