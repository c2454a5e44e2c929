// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches source files of both sides, by path or by compare/paths.h. */
#include <stdlib.h>

#include "compare/paths.h"
#include "views/diff/diff_internal.h"

/* Gives paired files of the old side the number of their counterpart. */
static int rename_files(struct diff *d, const struct side_path *v, size_t n)
{
	struct diff_side *s = &d->side[DIFF_OLD];
	uint32_t *to = calloc(d->names.str.str.n + 1, sizeof(*to));

	if (!to)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (v[i].paired && v[i].side == DIFF_OLD)
			to[v[i].id] = v[i].pair;
	for (size_t i = 0; i < s->p->str.str.n; i++)
		if (to[s->file_of[i]])
			s->file_of[i] = to[s->file_of[i]];
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
	VEC(struct side_path) v = { 0 };
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
		struct side_path one = { .id = i, .side = on[i] == 2,
					 .path = profile_cstr(&d->names, i) };

		if (on[i] == 1 || on[i] == 2)
			rc = vec_push(&v, one);
	}
	if (!rc)
		rc = paths_pair(v.v, v.n);
	if (!rc)
		rc = rename_files(d, v.v, v.n);
	vec_fini(&v);
	free(on);
	return rc;
}
