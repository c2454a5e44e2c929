// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the folders of debug files: see debug_dirs.h. */

#include <errno.h>
#include <unistd.h>

#include "cmd/open.h"
#include "symbolize/debuginfod.h"

/* Adds debuginfod's cache, so that files fetched by hand or by gdb are used. */
static void add_cache(struct buf *out)
{
	struct buf b = { 0 };

	debuginfod_cache(&b);
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
