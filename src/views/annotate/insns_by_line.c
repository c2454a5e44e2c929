// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the instructions to show below each source line. */
#include <stdlib.h>

#include "views/annotate/annotate_rows.h"

static uint64_t key_of(uint32_t file, uint32_t line)
{
	return (uint64_t)file << 32 | line;
}

static int by_key(const void *x, const void *y)
{
	const struct annot_place *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->insn < b->insn ? -1 : a->insn > b->insn;
}

int annotate_places_find(struct annot_places *p, const struct annotation *a,
			 const struct annot_unit *u, size_t ncodes)
{
	for (uint32_t c = 0; c < ncodes; c++) {
		const struct annot_code *code = &a->codes.v[u->code + c];

		for (uint32_t i = 0; i < code->ninsns; i++) {
			uint32_t f = annot_unit_frame(
				a, u, a->insns.v[code->insn + i].frame);
			struct annot_place place = { 0, c, i };

			if (f == PROF_NONE)
				continue;
			place.key = key_of(a->p->frames.v[f].file,
					   a->p->frames.v[f].line);
			if (vec_push(&p->v, place) < 0)
				return -ERR_NOMEM;
		}
	}
	if (p->v.n)
		qsort(p->v.v, p->v.n, sizeof(*p->v.v), by_key);
	return 0;
}

const struct annot_place *annotate_places_at(const struct annot_places *p,
					     uint32_t file, uint32_t line,
					     size_t *n)
{
	uint64_t key = key_of(file, line);
	size_t lo = 0, hi = p->v.n, first;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->v.v[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (first = lo; lo < p->v.n && p->v.v[lo].key == key; lo++)
		;
	*n = lo - first;
	return p->v.n ? p->v.v + first : NULL;
}
