// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the possible paths of debug files: see debug_dirs.h. */
#include "symbolize/dwarf/debug_dirs.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* Maximum number of names read in one folder; a folder of debug files has
 * fewer. */
enum { NAMES_MAX = 4096 };

bool debug_dir_at(const char *list, unsigned int i, struct debug_dir *out)
{
	for (;; list++) {
		out->p = list;
		out->n = (int)strcspn(list, ":");
		list += out->n;
		if (out->n && !i--)
			return true;
		if (!*list)
			return false;
	}
}

bool debug_dir_last(const char *list, struct debug_dir *out)
{
	unsigned int n = 0;

	while (debug_dir_at(list, n, out))
		n++;
	return n && debug_dir_at(list, n - 1, out);
}

bool debug_dir_by_id(struct debug_dir dir, unsigned int i,
		     const struct build_id *id, struct buf *out)
{
	size_t n = id->len < BUILD_ID_MAX ? id->len : BUILD_ID_MAX;

	if (!n || i > 1)
		return false;
	buf_reset(out);
	if (i == 0) {
		buf_printf(out, "%.*s/.build-id/", dir.n, dir.p);
		buf_hex(out, id->bytes, 1);
		buf_str(out, "/");
		buf_hex(out, id->bytes + 1, n - 1);
		buf_str(out, ".debug");
	} else {		/* debuginfod-find(1), CACHE */
		buf_printf(out, "%.*s/", dir.n, dir.p);
		buf_hex(out, id->bytes, n);
		buf_str(out, "/debuginfo");
	}
	return true;
}

bool debug_dir_by_path(struct debug_dir dir, unsigned int i, const char *path,
		       struct buf *out)
{
	const char *base = strrchr(path, '/');

	if (i > 3 || *path != '/')
		return false;
	buf_reset(out);
	buf_printf(out, "%.*s%s%s", dir.n, dir.p, i < 2 ? path : base,
		   i % 2 ? "" : ".debug");
	return true;
}

void debug_dir_each(struct debug_dir dir, debug_try_file *try_file, void *ctx)
{
	struct buf path = { 0 };
	struct dirent *e;
	struct stat st;
	int seen = 0;
	DIR *d;

	buf_printf(&path, "%.*s", dir.n, dir.p);
	d = opendir(buf_cstr(&path));
	if (!d && !stat(buf_cstr(&path), &st) && S_ISREG(st.st_mode))
		try_file(ctx, buf_cstr(&path));
	while (d && (e = readdir(d)) != NULL && seen++ < NAMES_MAX) {
		if (e->d_type != DT_REG && e->d_type != DT_LNK &&
		    e->d_type != DT_UNKNOWN)
			continue;
		buf_reset(&path);
		buf_printf(&path, "%.*s/%s", dir.n, dir.p, e->d_name);
		if (path.failed || !try_file(ctx, buf_cstr(&path)))
			break;
	}
	if (d)
		closedir(d);
	buf_fini(&path);
}
