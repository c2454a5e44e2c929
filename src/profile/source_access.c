// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which source files may be read: see source_access.h. */
#include "profile/source_access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/io.h"

enum { PARTS_MAX = 256 };	/* maximum number of components of a path */

bool source_path_clean(const char *path, struct buf *out)
{
	size_t at[PARTS_MAX], parts = 0;

	if (*path != '/')
		return false;
	while (*path) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 2 && !strncmp(path, "..", 2)) {
			if (parts)
				out->n = at[--parts];
		} else if (n && !(n == 1 && *path == '.')) {
			if (parts == PARTS_MAX)
				return false;
			at[parts++] = out->n;
			buf_u8(out, '/');
			buf_bytes(out, path, n);
		}
		path += n;
	}
	return parts && !out->failed;
}

static int nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for source folders");
}

/* Adds a root folder.  `path` is absolute; a folder may have several names. */
static int add_name(struct source_access *a, int dir, const char *path,
		    struct error *err)
{
	struct source_root root = { .fd = -1 };
	struct buf clean = { 0 };

	if (!source_path_clean(path, &clean))
		buf_u8(&clean, '/');
	for (size_t i = 0; !clean.failed && i < a->roots.n; i++)
		if (!strcmp(a->roots.v[i].name, buf_cstr(&clean))) {
			buf_fini(&clean);
			return 0;
		}
	root.name = clean.failed ? NULL : strdup(buf_cstr(&clean));
	buf_fini(&clean);
	if (!root.name)
		return nomem(err);
	root.fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	if (root.fd >= 0 && !vec_push(&a->roots, root))
		return 0;
	if (root.fd >= 0)
		close(root.fd);
	free(root.name);
	return root.fd < 0 ? error_errno(err, errno, "%s", path) : nomem(err);
}

/* Returns the working directory under the name that the shell and compilers
 * use. */
static const char *logical_cwd(void)
{
	const char *pwd = getenv("PWD");
	struct stat st, here;

	return pwd && *pwd == '/' && !stat(pwd, &st) && !stat(".", &here) &&
	       st.st_dev == here.st_dev && st.st_ino == here.st_ino ? pwd
								    : NULL;
}

static int add_relative(struct source_access *a, int dir, const char *cwd,
			const char *folder, struct error *err)
{
	struct buf path = { 0 };
	int rc;

	if (*folder != '/')
		buf_printf(&path, "%s/", cwd);
	buf_str(&path, folder);
	rc = path.failed ? nomem(err)
			 : add_name(a, dir, buf_cstr(&path), err);
	buf_fini(&path);
	return rc;
}

int source_access_add(struct source_access *a, const char *folder,
		      struct error *err)
{
	int dir = *folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	const char *logical = logical_cwd();
	char *real = NULL, *cwd = NULL;
	int rc = 0;

	if (dir < 0)
		return 0;
	/* the name that the user knows comes first */
	if (logical || *folder == '/')
		rc = add_relative(a, dir, logical, folder, err);
	else if ((cwd = getcwd(NULL, 0)))
		rc = add_relative(a, dir, cwd, folder, err);
	real = rc ? NULL : realpath(folder, NULL);
	if (real)
		rc = add_name(a, dir, real, err);
	free(real);
	free(cwd);
	close(dir);
	return rc;
}

/* Returns whether a folder is the user's home, which may be a work tree as a
 * whole. */
static bool is_home(const struct stat *top)
{
	const char *home = getenv("HOME");
	struct stat st;

	return home && !stat(home, &st) && st.st_dev == top->st_dev &&
	       st.st_ino == top->st_ino;
}

/* Returns whether the folder is the top of a work tree: 0 or 1; -1 if no folder
 * above it can be one either. */
static int is_top(const char *folder)
{
	struct buf git = { 0 };
	struct stat st, in;
	int is = -1;

	buf_printf(&git, "%s/.git", folder);
	if (!git.failed && !stat(folder, &st) && st.st_uid == geteuid() &&
	    !is_home(&st))
		is = !lstat(buf_cstr(&git), &in);
	if (is > 0 && in.st_uid != geteuid())
		is = -1;
	buf_fini(&git);
	return is;
}

/* Adds the work tree that contains `cwd`, which has no symbolic links and is
 * truncated by this function. */
static int add_work_tree(struct source_access *a, char *cwd, struct error *err)
{
	char *slash;
	int is = is_top(cwd);

	if (is > 0)
		return 0;	/* already allowed */
	while (!is && (slash = strrchr(cwd, '/')) && slash > cwd) {
		*slash = 0;
		is = is_top(cwd);
	}
	return is > 0 ? source_access_add(a, cwd, err) : 0;
}

int source_access_init(struct source_access *a, enum source_use use,
		       struct error *err)
{
	char *cwd = getcwd(NULL, 0);
	bool all = !cwd || !strcmp(cwd, "/");
	int rc = 0;

	*a = (struct source_access){ .use = use };
	if (!all)
		rc = source_access_add(a, ".", err);
	if (!all && !rc)
		rc = add_work_tree(a, cwd, err);
	free(cwd);
	return rc;
}

void source_access_fini(struct source_access *a)
{
	for (size_t i = 0; i < a->roots.n; i++) {
		free(a->roots.v[i].name);
		close(a->roots.v[i].fd);
	}
	vec_fini(&a->roots);
}

/* Returns the part of a clean path below the root, or NULL. */
static const char *below(const struct source_root *r, const char *path)
{
	size_t n = strcmp(r->name, "/") ? strlen(r->name) : 0;

	return !strncmp(path, r->name, n) && path[n] == '/' && path[n + 1]
		       ? path + n + 1 : NULL;
}

static bool is_hidden(const char *rel)
{
	return *rel == '.' || strstr(rel, "/.");
}

static int refuse(const struct source_access *a, struct error *err)
{
	for (size_t i = 0; i < a->roots.n; i++)
		if (!strcmp(a->roots.v[i].name, "/"))
			return error_set(err, ERR_PERM, "it is hidden");
	return error_set(err, ERR_PERM, "it is not below the working directory, "
			 "its git work tree, --repo or --source-map, or is hidden");
}

bool source_access_allows(const struct source_access *a, const char *path)
{
	struct buf clean = { 0 };
	bool ok = a->use == SOURCES_ON_SCREEN;

	if (!ok && source_path_clean(path, &clean))
		for (size_t i = 0; !ok && i < a->roots.n; i++) {
			const char *rel = below(&a->roots.v[i],
						buf_cstr(&clean));

			ok = rel && !is_hidden(rel);
		}
	buf_fini(&clean);
	return ok;
}

bool source_access_covers(const struct source_access *a, const char *path)
{
	for (size_t i = 0; i < a->roots.n; i++)
		if (!strcmp(a->roots.v[i].name, path) ||
		    below(&a->roots.v[i], path))
			return true;
	return false;
}

bool source_is_public(const struct stat *st, mode_t right)
{
	uid_t me = geteuid();

	return st->st_mode & right ||
	       (me && st->st_uid == me && st->st_mode & (right << 3));
}

static int refuse_mode(const char *what, const struct stat *st,
		       struct error *err)
{
	return error_set(err, ERR_PERM, "others may not %s (its mode is "
			 "%04o)", what, (unsigned int)(st->st_mode & 07777));
}

/*
 * Requires that others may search all folders on the path `rel` below `dir`, and read
 * the file at its end.  The path has no symbolic links.  Fails with ERR_NOTFOUND if
 * there is no such file; the folders that exist were checked.
 */
static int check_public(int dir, const char *rel, struct error *err)
{
	int at = dir, rc = 0;

	while (!rc && *rel) {
		size_t n = strcspn(rel, "/");
		char *name = strndup(rel, n);
		int next = name ? openat(at, name, O_PATH | O_NOFOLLOW |
					 O_CLOEXEC) : -1;
		struct stat st;

		rel += n + strspn(rel + n, "/");
		if (!name)
			rc = nomem(err);
		else if (next < 0 || fstat(next, &st) < 0)
			rc = errno == ENOENT || errno == ENOTDIR
			     ? -ERR_NOTFOUND
			     : error_errno(err, errno, "%s", name);
		else if (S_ISLNK(st.st_mode))
			rc = error_set(err, ERR_PERM, "%s is a symbolic link",
				       name);
		else if (S_ISDIR(st.st_mode) && !source_is_public(&st, S_IXOTH))
			rc = refuse_mode("search its folder", &st, err);
		else if (!S_ISDIR(st.st_mode) && !source_is_public(&st, S_IROTH))
			rc = refuse_mode("read it", &st, err);
		free(name);
		if (at != dir)
			close(at);
		at = next;
	}
	if (at >= 0 && at != dir)
		close(at);
	return rc;
}

/* Returns the path of an open file or folder below the root, without symbolic links;
 * NULL if it is unknown.  The caller frees it. */
static char *real_below(const struct source_root *r, int fd)
{
	char *name = io_name_of(fd), *top = io_name_of(r->fd), *rel = NULL;
	size_t n = top && strcmp(top, "/") ? strlen(top) : 0;

	if (name && top && !strcmp(name, top))
		rel = strdup("");
	else if (name && top && !strncmp(name, top, n) && name[n] == '/')
		rel = strdup(name + n + 1);
	free(name);
	free(top);
	return rel;
}

/* Checks an open file that was found at `rel` below the root. */
static int check_modes(const struct source_root *r, int at, const char *rel,
		       struct error *err)
{
	char *real = real_below(r, at);
	int rc = check_public(r->fd, real ? real : rel, err);

	free(real);
	return rc == -ERR_NOTFOUND
	       ? error_set(err, ERR_NOTFOUND, "%s was moved", rel) : rc;
}

/* Finds a file below a root.  Returns an O_PATH descriptor. */
static int find_below(const struct source_access *a, const char *path,
		      struct source_read *out, struct error *err)
{
	int fd = -1, e = 0, rc = 0;

	for (size_t i = 0; i < a->roots.n; i++) {
		const struct source_root *r = &a->roots.v[i];
		const char *rel = below(r, path);

		if (!rel || is_hidden(rel))
			continue;
		fd = beneath_find(r->fd, rel);
		if (fd < 0 && (!e || fd != -ENOENT))
			e = -fd;
		rc = fd < 0 ? rc : check_modes(r, fd, rel, err);
		out->root = r->name;
		if (fd >= 0 && !rc)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	out->root = NULL;
	if (rc)
		return rc;
	if (!e)
		return refuse(a, err);
	if (e == EXDEV || e == ELOOP)
		return error_set(err, ERR_PERM, "a symbolic link leads out of "
				 "the working directory, --repo or "
				 "--source-map");
	return error_errno(err, e, "%s: cannot open", path);
}

static int open_below(const struct source_access *a, const char *path,
		      struct source_read *out, struct error *err)
{
	int at = find_below(a, path, out, err), fd;

	if (at < 0)
		return at;
	fd = io_open_at(at);
	close(at);
	if (fd == -EINVAL)
		return error_set(err, ERR_FORMAT, "%s: not a regular file",
				 path);
	return fd < 0 ? error_errno(err, -fd, "%s: cannot open", path) : fd;
}

int source_access_read(const struct source_access *a, const char *path,
		       size_t limit, struct source_read *out,
		       struct error *err)
{
	struct buf clean = { 0 };
	int fd, rc;

	*out = (struct source_read){ .root = NULL };
	if (!source_path_clean(path, &clean))
		fd = error_set(err, ERR_NOTFOUND, "%s: not a path of a file",
			       path);
	else if (a->use == SOURCES_ON_SCREEN)
		fd = io_open_file(path, err);
	else
		fd = open_below(a, buf_cstr(&clean), out, err);
	buf_fini(&clean);
	if (fd < 0)
		return fd;
	rc = fstat(fd, &out->st) < 0
	     ? error_errno(err, errno, "%s: cannot stat", path)
	     : io_read_fd(fd, path, limit, &out->text, err);
	if (!rc) {
		out->name = io_name_of(fd) ?: strdup(path);
		rc = out->name ? 0 : nomem(err);
	}
	close(fd);
	if (rc < 0)
		source_read_fini(out);
	return rc;
}

void source_read_fini(struct source_read *r)
{
	buf_fini(&r->text);
	free(r->name);
	*r = (struct source_read){ .root = NULL };
}

/* Returns the root with the longest name that is the folder or contains it. */
static const struct source_root *root_of(const struct source_access *a,
					 const char *path)
{
	const struct source_root *best = NULL;

	for (size_t i = 0; i < a->roots.n; i++) {
		const struct source_root *r = &a->roots.v[i];
		const char *rel = below(r, path);

		if ((!strcmp(r->name, path) || (rel && !is_hidden(rel))) &&
		    (!best || strlen(r->name) > strlen(best->name)))
			best = r;
	}
	return best;
}

int source_access_folder(const struct source_access *a, const char *path,
			 struct source_folder *out)
{
	const struct source_root *r = root_of(a, path);

	*out = (struct source_folder){ .fd = -1, .root = r };
	if (a->use == SOURCES_ON_SCREEN)
		out->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	else if (r && !strcmp(r->name, path))
		out->fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 3);
	else if (r)
		out->fd = beneath_find(r->fd, below(r, path));
	out->is_root = r && !strcmp(r->name, path);
	out->all = a->use == SOURCES_ON_SCREEN;
	return out->fd < 0 ? -ERR_NOTFOUND : 0;
}

int source_folder_check(const struct source_folder *f, const char *name,
			struct error *err)
{
	struct buf rel = { 0 };
	char *real;
	int rc;

	if (f->all)
		return 0;
	if (is_hidden(name))
		return error_set(err, ERR_PERM, "it is hidden");
	real = real_below(f->root, f->fd);
	if (!real)
		return error_set(err, ERR_PERM, "the name of its folder is not "
				 "known");
	buf_printf(&rel, "%s/%s", real, name);
	rc = rel.failed ? nomem(err)
			: check_public(f->root->fd, buf_cstr(&rel) +
				       strspn(buf_cstr(&rel), "/"), err);
	free(real);
	buf_fini(&rel);
	return rc == -ERR_NOTFOUND ? 0 : rc;
}

void source_folder_close(struct source_folder *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
