// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the commit that is checked out: see revision.h. */
#include "record/revision.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

enum { PATH_BYTES = 4096, SMALL_FILE = 4096, PACKED_REFS = 64 << 20 };

/* Reads a file's text without its trailing white space. */
static bool read_text(const char *path, size_t limit, struct buf *out)
{
	buf_reset(out);
	if (io_read_file(path, limit, out, NULL) < 0)
		return false;
	while (out->n && isspace(out->p[out->n - 1]))
		out->n--;
	buf_cstr(out);
	return !out->failed && out->n;
}

static bool join(char *to, const char *dir, const char *name)
{
	int n = *name == '/' ? snprintf(to, PATH_BYTES, "%s", name)
			     : snprintf(to, PATH_BYTES, "%s/%s", dir, name);

	return n > 0 && n < PATH_BYTES;
}

/* Finds the repository's own folder: .git, or the target of a file .git (work trees,
 * submodules). */
static bool git_dir(const char *dir, char *out, struct buf *tmp)
{
	char path[PATH_BYTES];
	struct stat st;

	if (!join(path, dir, ".git") || stat(path, &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return join(out, dir, ".git");
	return read_text(path, SMALL_FILE, tmp) &&
	       !strncmp(buf_cstr(tmp), "gitdir: ", 8) &&
	       join(out, dir, buf_cstr(tmp) + 8);
}

static bool is_commit(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return (n == 40 || n == 64) && !s[n];
}

/* Looks up a name in lines "COMMIT NAME". */
static bool packed_ref(const char *common, const char *name, struct buf *tmp,
		       struct buf *out)
{
	size_t len = strlen(name);
	char path[PATH_BYTES];
	const char *p;

	if (!join(path, common, "packed-refs") ||
	    !read_text(path, PACKED_REFS, tmp))
		return false;
	for (p = buf_cstr(tmp); p; p = strchr(p, '\n')) {
		size_t n;

		p += *p == '\n';
		n = strspn(p, "0123456789abcdef");
		if ((n == 40 || n == 64) && p[n] == ' ' &&
		    !strncmp(p + n + 1, name, len) &&
		    (!p[n + 1 + len] || p[n + 1 + len] == '\n')) {
			buf_bytes(out, p, n);
			return true;
		}
	}
	return false;
}

static bool loose_ref(const char *dir, const char *name, struct buf *tmp,
		      struct buf *out)
{
	char path[PATH_BYTES];

	if (!join(path, dir, name) || !read_text(path, SMALL_FILE, tmp) ||
	    !is_commit(buf_cstr(tmp)))
		return false;
	buf_str(out, buf_cstr(tmp));
	return true;
}

static void read_head(const char *git, struct buf *out)
{
	char path[PATH_BYTES], shared[PATH_BYTES];
	struct buf head = { 0 }, tmp = { 0 };
	const char *common = git, *ref;

	/* work trees share their branches */
	if (join(path, git, "commondir") &&
	    read_text(path, SMALL_FILE, &tmp) &&
	    join(shared, git, buf_cstr(&tmp)))
		common = shared;
	if (join(path, git, "HEAD") && read_text(path, SMALL_FILE, &head)) {
		ref = buf_cstr(&head);
		if (is_commit(ref))
			buf_str(out, ref);
		else if (!strncmp(ref, "ref: refs/", 10) &&
			 !strstr(ref, "..") &&
			 !loose_ref(git, ref + 5, &tmp, out) &&
			 !loose_ref(common, ref + 5, &tmp, out))
			packed_ref(common, ref + 5, &tmp, out);
	}
	buf_fini(&head);
	buf_fini(&tmp);
}

void revision_find(const char *dir, struct buf *out)
{
	char at[PATH_BYTES], git[PATH_BYTES];
	struct buf tmp = { 0 };

	if (snprintf(at, sizeof(at), "%s", dir) >= (int)sizeof(at))
		return;
	for (;;) {
		char *slash;

		if (git_dir(at, git, &tmp)) {
			read_head(git, out);
			break;
		}
		slash = strrchr(at, '/');
		if (!slash || !at[0] || !at[1])
			break;
		slash[slash == at] = '\0';
	}
	buf_fini(&tmp);
}
