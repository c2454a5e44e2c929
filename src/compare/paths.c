// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs paths of two sides by their common end: see paths.h. */
#include "compare/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/error.h"
#include "base/search.h"

struct neighbours {
	size_t a, b;		/* indexes of paths */
	size_t common;		/* bytes of their common end */
};

/* Sorts by the path read backwards. */
static int by_end(const void *x, const void *y)
{
	const struct side_path *a = x, *b = y;
	size_t n = strlen(a->path), m = strlen(b->path);

	for (size_t i = 1; i <= n && i <= m; i++) {
		uint8_t c = (uint8_t)a->path[n - i];
		uint8_t e = (uint8_t)b->path[m - i];

		if (c != e)
			return ascending(c, e);
	}
	return ascending(n, m) ?: ascending(a->side, b->side);
}

static int most_common(const void *x, const void *y)
{
	const struct neighbours *a = x, *b = y;

	return descending(a->common, b->common) ?: ascending(a->a, b->a);
}

/* Returns the length of the common end of two paths, in whole components; 0 if
 * not even the file names are equal. */
static size_t common_end(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), most = 0, i;

	for (i = 1; i <= n && i <= m; i++) {
		if (a[n - i] != b[m - i])
			break;
		if (a[n - i] == '/')
			most = i;
	}
	if (i > n && (i > m || b[m - i] == '/'))
		most = n;
	else if (i > m && a[n - i] == '/')
		most = m;
	return most;
}

int paths_pair(struct side_path *v, size_t n)
{
	struct neighbours *near = malloc((n + 1) * sizeof(*near));
	size_t k = 0;

	if (!near)
		return -ERR_NOMEM;
	sort_rows(v, n, by_end);
	for (size_t i = 0; i + 1 < n; i++) {
		struct neighbours p = { i, i + 1, common_end(v[i].path,
							     v[i + 1].path) };

		if (v[i].side != v[i + 1].side && p.common)
			near[k++] = p;
	}
	/* the longest common end first */
	sort_rows(near, k, most_common);
	for (size_t i = 0; i < k; i++) {
		struct side_path *a = &v[near[i].a], *b = &v[near[i].b];

		if (a->paired || b->paired)
			continue;
		a->paired = b->paired = true;
		a->pair = b->id;
		b->pair = a->id;
	}
	free(near);
	return 0;
}

/* Numbers the files of a profile by path. */
static int name_files(struct strtab *str, const struct profile *p,
		      uint32_t *file_of)
{
	for (size_t i = 0; i < p->frames.n; i++) {
		uint32_t file = p->frames.v[i].file;

		if (!file || file >= p->str.str.n || file_of[file])
			continue;
		file_of[file] = strtab_add(str, profile_cstr(p, file));
		if (file_of[file] == UINT32_MAX)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Lists the files that are on one side only. */
static int list_lone(const struct strtab *str, const uint8_t *on,
		     struct side_path *v, size_t *n)
{
	for (uint32_t i = 1; i < str->str.n; i++)
		if (on[i] == 1 || on[i] == 2)
			v[(*n)++] = (struct side_path){
				.id = i, .side = on[i] == 2,
				.path = strtab_get(str, i) };
	return paths_pair(v, *n);
}

int files_pair(struct strtab *str, const struct profile *const p[2],
	       uint32_t *file_of[2])
{
	struct arrays a = { 0 };
	struct side_path *v;
	uint32_t *to;
	uint8_t *on;		/* by file: bit 1 << side is set if a side has it */
	size_t n = 0;
	int rc = 0;

	for (int s = 0; s < 2; s++) {
		file_of[s] = calloc(p[s]->str.str.n + 1, sizeof(**file_of));
		if (!file_of[s])
			rc = -ERR_NOMEM;
	}
	for (int s = 0; !rc && s < 2; s++)
		rc = name_files(str, p[s], file_of[s]);
	v = arrays_new(&a, str->str.n, sizeof(*v));
	to = arrays_new(&a, str->str.n, sizeof(*to));
	on = arrays_new(&a, str->str.n, 1);
	if (a.failed)
		rc = -ERR_NOMEM;
	for (int s = 0; !rc && s < 2; s++)
		for (size_t i = 0; i < p[s]->str.str.n; i++)
			on[file_of[s][i]] |= (uint8_t)(1u << s);
	if (!rc)
		rc = list_lone(str, on, v, &n);
	for (size_t i = 0; !rc && i < n; i++)
		if (v[i].paired && !v[i].side)
			to[v[i].id] = v[i].pair;
	for (size_t i = 0; !rc && i < p[0]->str.str.n; i++)
		if (to[file_of[0][i]])
			file_of[0][i] = to[file_of[0][i]];
	arrays_fini(&a);
	return rc;
}
