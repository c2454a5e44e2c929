// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the folders of debug files: see debug_dirs.h. */
#include "cmd/debug_dirs.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Adds debuginfod's cache (debuginfod-find(1), CACHE), so that files fetched by
 * hand or by gdb are used. */
static void add_cache(struct buf *out)
{
	const char *path = getenv("DEBUGINFOD_CACHE_PATH");
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct buf b = { 0 };

	if (path && *path)
		buf_str(&b, path);
	else if (xdg && *xdg)
		buf_printf(&b, "%s/debuginfod_client", xdg);
	else if (home && *home)
		buf_printf(&b, "%s/.cache/debuginfod_client", home);
	if (b.n && !access(buf_cstr(&b), R_OK | X_OK))
		buf_printf(out, "%s:", buf_cstr(&b));
	buf_fini(&b);
}

int cmd_debug_dirs(const struct opt_strs *named, struct buf *out,
		   struct error *err)
{
	for (size_t i = 0; named && i < named->n; i++) {
		/* Refuse a missing folder; otherwise it would seem to contain
		 * nothing useful. */
		if (access(named->v[i], R_OK) != 0)
			return error_errno(err, errno, "--debug-dir %s",
					   named->v[i]);
		buf_printf(out, "%s:", named->v[i]);
	}
	add_cache(out);
	buf_str(out, "/usr/lib/debug");
	if (out->failed)
		return error_nomem(err);
	return 0;
}
