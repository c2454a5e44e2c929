// SPDX-License-Identifier: GPL-2.0-or-later
/* Summarizes which source files and programs were read, for the user who receives the
 * output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/strtab.h"
#include "base/text.h"
#include "views/code/sources.h"

enum { NAMES = 20 };	/* maximum number of files named in a line */

struct row {
	/* kind, and string numbers of origin and name */
	uint32_t kind, what, name;
};

struct summary {
	struct strtab str;
	VEC(struct row) rows;
	bool failed;
};

/* Kinds of lines, in order of output. */
enum kind { KIND_READ, KIND_GIT, KIND_SERVER, KIND_REFUSED, KIND_RECORDING, KIND_CODE };

static void add(struct summary *x, enum kind kind, const char *what,
		const char *name)
{
	struct row row = { kind, strtab_add(&x->str, what),
			   strtab_add(&x->str, name) };

	if (row.what == UINT32_MAX || row.name == UINT32_MAX ||
	    vec_push(&x->rows, row) < 0)
		x->failed = true;
}

/* Adds a file that was read, by its name below the folder that allowed it. */
static void add_read(struct summary *x, const struct source_file *f)
{
	size_t n = f->root && f->root[1] ? strlen(f->root) : 0;
	bool below = n && !strncmp(f->path, f->root, n) && f->path[n] == '/';
	struct buf what = { 0 };

	buf_printf(&what, "read on this machine%s%s", f->root ? " below " : "",
		   f->root ? f->root : "");
	add(x, KIND_READ, buf_cstr(&what), f->path + (below ? n + 1 : 0));
	x->failed |= what.failed;
	buf_fini(&what);
}

/* Adds a file that git read, by its name in the repository. */
static void add_git(struct summary *x, const struct source_file *f)
{
	struct buf what = { 0 };

	buf_printf(&what, "read from git in %s", f->folder);
	add(x, KIND_GIT, buf_cstr(&what),
	    f->origin + (strncmp(f->origin, "git ", 4) ? 0 : 4));
	x->failed |= what.failed;
	buf_fini(&what);
}

static void add_file(struct summary *x, const struct sources *s,
		     const struct source_file *f)
{
	const char *name = profile_cstr(s->p, f->file);

	if (f->place == SOURCE_FILE)
		add_read(x, f);
	else if (f->place == SOURCE_GIT)
		add_git(x, f);
	else if (f->place == SOURCE_DEBUGINFOD)
		add(x, KIND_SERVER, "from debuginfod", name);
	else if (f->place == SOURCE_RECORDING)
		add(x, KIND_RECORDING, "from the recording", name);
	else if (f->refused)
		add(x, KIND_REFUSED, "left out (not below the working "
		    "directory, --repo or --source-map, or private)", name);
}

/* Adds the programs whose code was read for this view. */
static void add_programs(struct summary *x, const struct profile *p)
{
	for (size_t i = 0; i < p->code_from.n; i++)
		add(x, KIND_CODE, "read on this machine", profile_cstr(
			p, p->images.v[p->code_from.v[i]].path));
}

static int by_row(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return ascending(x->kind, y->kind) ?:
	       ascending(x->what, y->what) ?:
	       ascending(x->name, y->name);
}

/* Writes rows [i, end) as one line.  The same file may be in several
 * sources. */
static void put_line(const struct summary *x, size_t i, size_t end,
		     struct buf *out)
{
	const struct row *v = x->rows.v;
	size_t n = 0, k;

	for (k = i; k < end; k++)
		n += k == i || v[k].name != v[k - 1].name;
	buf_printf(out, "%s: %zu file%s ",
		   v[i].kind == KIND_CODE ? "code" : "source text", n,
		   plural(n, "s"));
	text_safe(out, strtab_get(&x->str, v[i].what));
	for (k = i, n = 0; k < end; k++) {
		if (k > i && v[k].name == v[k - 1].name)
			continue;
		if (++n > NAMES)
			continue;
		buf_str(out, n > 1 ? ", " : ": ");
		text_safe(out, strtab_get(&x->str, v[k].name));
	}
	if (n > NAMES)
		buf_printf(out, " and %zu more", n - NAMES);
	buf_u8(out, '\n');
}

void sources_summary(struct sources *const *s, size_t n, bool all,
		     struct buf *out)
{
	struct summary x = { .failed = false };
	size_t i, end;

	x.failed = strtab_init(&x.str) < 0;
	for (i = 0; i < n && !x.failed; i++) {
		for (size_t k = 0; k < s[i]->files.n; k++)
			add_file(&x, s[i], s[i]->files.v[k]);
		add_programs(&x, s[i]->p);
	}
	vec_sort(&x.rows, by_row);
	if (all && !x.failed && (!x.rows.n || x.rows.v[0].kind != KIND_READ))
		buf_str(out, "source text: no file was read on this machine\n");
	for (i = 0; i < x.rows.n && !x.failed; i = end) {
		const struct row *r = &x.rows.v[i];

		for (end = i; end < x.rows.n && x.rows.v[end].kind == r->kind &&
			      x.rows.v[end].what == r->what; end++)
			;
		if (all || r->kind != KIND_RECORDING)
			put_line(&x, i, end, out);
	}
	out->failed |= x.failed;
	vec_fini(&x.rows);
	strtab_fini(&x.str);
}
