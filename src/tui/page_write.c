// SPDX-License-Identifier: GPL-2.0-or-later
/* A page as a text file: see page.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "tui/page.h"

enum { COLUMNS = 400, FILES_MAX = 1000 };

static void put_strip(struct strip *s, struct buf *out)
{
	strip_text(s, out);
	while (out->n && out->p[out->n - 1] == ' ')
		out->n--;
	buf_u8(out, '\n');
}

/* All rows, as they are on a wide screen. */
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

/* A file of its own: nothing is ever overwritten. */
static int open_new(char *name, size_t n, struct error *err)
{
	for (int i = 1; i <= FILES_MAX; i++) {
		int fd;

		snprintf(name, n, i == 1 ? "tally.txt" : "tally-%d.txt", i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			break;
	}
	return error_errno(err, errno, "%s", name);
}

void page_write(struct page *pg)
{
	struct error err = { 0 };
	struct buf out = { 0 };
	char name[32];
	int fd, rc;

	put_page(pg, &out);
	fd = out.failed ? error_set(&err, ERR_NOMEM, "out of memory")
			: open_new(name, sizeof(name), &err);
	if (fd >= 0) {
		rc = io_write_all(fd, name, out.p, out.n, &err);
		if (close(fd) < 0 && !rc)
			error_errno(&err, errno, "%s", name);
	}
	if (err.msg[0])
		tui_complain(pg->t, &err);
	else
		tui_say(pg->t, "wrote %s", name);
	buf_fini(&out);
}
