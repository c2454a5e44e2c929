// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a page into a text file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/outfile.h"
#include "tui/page.h"

enum { COLUMNS = 400, FILES_MAX = 1000 };

static void put_strip(struct strip *s, struct buf *out)
{
	strip_text(s, out);
	while (out->n && out->p[out->n - 1] == ' ')
		out->n--;
	buf_u8(out, '\n');
}

/* Appends all rows as they look on a wide screen. */
static void put_page(struct page *pg, struct buf *out)
{
	struct strip *s = &pg->t->strip;
	int columns = pg->t->columns;

	pg->t->columns = COLUMNS;
	strip_begin(s, COLUMNS);
	pg->ops->title(pg, s);
	buf_str(out, "# ");
	put_strip(s, out);
	if (pg->ops->heads) {
		strip_begin(s, COLUMNS);
		pg->ops->heads(pg, s);
		put_strip(s, out);
	}
	for (size_t i = 0; i < pg->ops->count(pg) && !out->failed; i++) {
		strip_begin(s, COLUMNS);
		pg->ops->row(pg, i, s);
		put_strip(s, out);
	}
	pg->t->columns = columns;
}

/* Finds an unused file name, so that no file is overwritten. */
static int free_name(char *name, size_t n, struct error *err)
{
	for (int i = 1; i <= FILES_MAX; i++) {
		struct stat st;

		snprintf(name, n, i == 1 ? "tally.txt" : "tally-%d.txt", i);
		if (lstat(name, &st) < 0)
			return errno == ENOENT ? 0
			       : error_errno(err, errno, "%s", name);
	}
	return error_errno(err, EEXIST, "%s", name);
}

void page_write(struct page *pg)
{
	struct error err = { 0 };
	struct buf out = { 0 };
	char name[32];

	pg->t->writing = true;
	put_page(pg, &out);
	pg->t->writing = false;
	if (out.failed)
		error_nomem(&err);
	else if (!free_name(name, sizeof(name), &err))
		outfile_write(name, out.p, out.n, &err);
	if (err.msg[0])
		tui_complain(pg->t, &err);
	else
		tui_notice(pg->t, "wrote %s", name);
	buf_fini(&out);
}
