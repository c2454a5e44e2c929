// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares recorded paths with those of a repository: see repo_files.h. */
#include "check/repo_files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "base/search.h"

/* Ranks of a match, to which the number of common components is added. */
enum { BY_BASE = 1, IN_PART = 1 << 20, IN_FOLDER = 2 << 20, WHOLE = 3 << 20,
       EXACT = 4 << 20 };

static int by_base(const void *a, const void *b)
{
	return strcmp(path_base(*(const char *const *)a),
		      path_base(*(const char *const *)b));
}

int repo_files_sort(struct repo_files *f)
{
	const char *p = buf_cstr(&f->list), *end = p + f->list.n;

	for (; p < end; p += strlen(p) + 1)
		if (vec_push(&f->by_base, p) < 0)
			return -ERR_NOMEM;
	vec_sort(&f->by_base, by_base);
	buf_cstr(&f->folder);
	buf_cstr(&f->prefix);
	return f->list.failed || f->folder.failed || f->prefix.failed ? -ERR_NOMEM
								       : 0;
}

void repo_files_fini(struct repo_files *f)
{
	buf_fini(&f->list);
	buf_fini(&f->folder);
	buf_fini(&f->prefix);
	vec_fini(&f->by_base);
}

/* Returns the part of a path below the folder, NULL if it is not below it. */
static const char *below(const struct repo_files *f, const char *path)
{
	size_t n = f->folder.n;

	return n && !strncmp(path, (const char *)f->folder.p, n) &&
	       path[n] == '/' ? path + n + 1 : NULL;
}

/* Returns the rank of a file with the base name of `recorded`, a path without "." and
 * ".."; 0: they differ. */
static size_t rank(const struct repo_files *f, const char *path,
		   const char *recorded, struct buf *whole)
{
	size_t common = path_common_end(path, recorded);
	const char *here = below(f, recorded), *name;
	bool top;

	if (here && !strcmp(here, path))
		return EXACT;
	buf_again(whole);
	buf_bytes(whole, f->prefix.p, f->prefix.n);
	buf_str(whole, path);
	name = buf_cstr(whole);
	top = path_ends_with(recorded, name) ||
	      (*recorded != '/' && path_ends_with(name, recorded));
	/* one at the top of the repository has nothing else in common */
	if (top && (path_common_end(name, recorded) > 1 || !strcmp(recorded, name)))
		return WHOLE + path_common_end(name, recorded) +
		       !strcmp(recorded, name);
	if (path_ends_with(recorded, path) && common > 1)
		return IN_FOLDER + common;
	if (common > 1 && !here)
		return IN_PART + common;
	return top && !here ? BY_BASE : 0;
}

struct repo_match repo_files_find(const struct repo_files *f, const char *recorded)
{
	struct buf normal = { 0 }, whole = { 0 };
	struct repo_match m = { .path = NULL };
	size_t most = 0, ties = 0, named = 0, first;
	const char *p;

	path_normal(recorded, &normal);
	/* relative to an unknown folder */
	for (p = buf_cstr(&normal); !strncmp(p, "../", 3);)
		p += 3;
	lower_bound(first, 0, f->by_base.n, by_base(&f->by_base.v[first], &p) < 0);
	for (size_t i = first; i < f->by_base.n &&
	     !by_base(&f->by_base.v[i], &p); i++, named++) {
		size_t r = rank(f, f->by_base.v[i], p, &whole);

		ties = r > most ? 1 : ties + (r && r == most);
		if (r > most) {
			most = r;
			m.like = f->by_base.v[i];
		}
	}
	/* others of the name count, too, if there is nothing else to go by */
	if (most == BY_BASE)
		ties = named;
	if (ties == 1 && !whole.failed && !normal.failed)
		m.path = m.like;
	m.several = ties > 1 ? ties : 0;
	buf_fini(&normal);
	buf_fini(&whole);
	return m;
}
