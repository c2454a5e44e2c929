// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Matches source files of both sides.
 *
 * Files are matched by path.  Builds in two places have files whose path is on
 * one side only.  These are matched by the longest common end of their paths,
 * which includes at least the last component.
 */
#include <stdlib.h>
#include <string.h>

#include "views/diff/diff_internal.h"

struct one_sided {
	uint32_t id;		/* str of diff.names */
	uint8_t side;
	bool taken;
	const char *path;
	size_t n;
};

struct neighbours {
	size_t a, b;		/* indexes in `one_sided` */
	size_t common;		/* bytes of their common end */
};

/* Sorts by the path read backwards. */
static int by_end(const void *x, const void *y)
{
	const struct one_sided *a = x, *b = y;

	for (size_t i = 1; i <= a->n && i <= b->n; i++) {
		uint8_t c = (uint8_t)a->path[a->n - i];
		uint8_t e = (uint8_t)b->path[b->n - i];

		if (c != e)
			return c < e ? -1 : 1;
	}
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return a->side < b->side ? -1 : a->side > b->side;
}

static int most_common(const void *x, const void *y)
{
	const struct neighbours *a = x, *b = y;

	if (a->common != b->common)
		return a->common > b->common ? -1 : 1;
	return a->a < b->a ? -1 : a->a > b->a;
}

/* Returns the length of the common end of two paths, in whole components; 0 if
 * not even the file names are equal. */
static size_t common_end(const struct one_sided *a, const struct one_sided *b)
{
	size_t most = 0, i;

	for (i = 1; i <= a->n && i <= b->n; i++) {
		if (a->path[a->n - i] != b->path[b->n - i])
			break;
		if (a->path[a->n - i] == '/')
			most = i;
	}
	if (i > a->n && (i > b->n || b->path[b->n - i] == '/'))
		most = a->n;
	else if (i > b->n && a->path[a->n - i] == '/')
		most = b->n;
	return most;
}

static void rename_files(struct diff *d, const uint32_t *to)
{
	struct diff_side *s = &d->side[DIFF_OLD];

	for (size_t i = 0; i < s->p->str.str.n; i++)
		if (to[s->file_of[i]])
			s->file_of[i] = to[s->file_of[i]];
}

/* Pairs neighbours in the order of path ends, longest common end first. */
static int pair(struct diff *d, struct one_sided *v, size_t n)
{
	struct neighbours *near = malloc((n + 1) * sizeof(*near));
	uint32_t *to = calloc(d->names.str.str.n + 1, sizeof(*to));
	size_t k = 0;

	if (!near || !to) {
		free(near);
		free(to);
		return -ERR_NOMEM;
	}
	if (n)
		qsort(v, n, sizeof(*v), by_end);
	for (size_t i = 0; i + 1 < n; i++) {
		struct neighbours p = { i, i + 1,
					common_end(&v[i], &v[i + 1]) };

		if (v[i].side != v[i + 1].side && p.common)
			near[k++] = p;
	}
	if (k)
		qsort(near, k, sizeof(*near), most_common);
	for (size_t i = 0; i < k; i++) {
		struct one_sided *a = &v[near[i].a], *b = &v[near[i].b];

		if (a->taken || b->taken)
			continue;
		a->taken = b->taken = true;
		to[a->side == DIFF_OLD ? a->id : b->id] =
			a->side == DIFF_OLD ? b->id : a->id;
	}
	rename_files(d, to);
	free(near);
	free(to);
	return 0;
}

/* Numbers the files that frames are in, by path. */
static int name_files(struct diff *d, int side)
{
	struct diff_side *s = &d->side[side];

	s->file_of = calloc(s->p->str.str.n + 1, sizeof(*s->file_of));
	if (!s->file_of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < s->p->frames.n; i++) {
		uint32_t file = s->p->frames.v[i].file;

		if (!file || file >= s->p->str.str.n || s->file_of[file])
			continue;
		s->file_of[file] = diff_str(d, side, file);
		if (s->file_of[file] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

int diff_files(struct diff *d)
{
	VEC(struct one_sided) v = { 0 };
	uint8_t *on = NULL;
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = name_files(d, s);
	if (!rc && !(on = calloc(d->names.str.str.n + 1, 1)))
		rc = -ERR_NOMEM;
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		for (size_t i = 0; i < d->side[s].p->str.str.n; i++)
			on[d->side[s].file_of[i]] |= (uint8_t)(1u << s);
	for (uint32_t i = 1; !rc && i < d->names.str.str.n; i++) {
		const char *path = profile_cstr(&d->names, i);
		struct one_sided one = { i, on[i] == 2, false, path,
					 strlen(path) };

		if (on[i] == 1 || on[i] == 2)
			rc = vec_push(&v, one);
	}
	if (!rc)
		rc = pair(d, v.v, v.n);
	vec_fini(&v);
	free(on);
	return rc;
}
