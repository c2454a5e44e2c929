// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the executable mappings of an address space, shared by forks. */
#include "record/source/mapset.h"

#include <string.h>

#include "base/error.h"
#include "base/search.h"

struct mapset *mapset_new(uint32_t *generation)
{
	struct mapset *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->refs = 1;
	s->generation = ++*generation;
	return s;
}

struct mapset *mapset_get(struct mapset *s)
{
	s->refs++;
	return s;
}

void mapset_put(struct mapset *s)
{
	if (!s || --s->refs)
		return;
	vec_fini(&s->maps);
	free(s);
}

size_t mapset_lower(const struct mapset *s, uint64_t addr)
{
	size_t at;

	lower_bound(at, 0, s->maps.n, s->maps.v[at].end <= addr);
	return at;
}

/* Makes *s the only holder of its set. */
static int mapset_own(struct mapset **s, uint32_t *generation)
{
	struct mapset *old = *s, *copy;

	if (old->refs == 1)
		return 0;
	copy = mapset_new(generation);
	if (!copy)
		return -ERR_NOMEM;
	if (vec_reserve(&copy->maps, old->maps.n + 1) < 0) {
		mapset_put(copy);
		return -ERR_NOMEM;
	}
	if (old->maps.n)
		memcpy(copy->maps.v, old->maps.v,
		       old->maps.n * sizeof(*old->maps.v));
	copy->maps.n = old->maps.n;
	mapset_put(old);
	*s = copy;
	return 0;
}

static bool map_equal(const struct map *a, const struct map *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->delta == b->delta && a->image == b->image;
}

int mapset_insert(struct mapset **set, const struct map *m,
		  uint32_t *generation)
{
	size_t lo = mapset_lower(*set, m->start), hi = lo, keep = 0;
	struct map parts[3];
	struct mapset *s = *set;

	if (m->start >= m->end || s->maps.n >= MAPSET_MAX)
		return 0;
	/* mprotect(2) reports known mappings again. */
	if (lo < s->maps.n && map_equal(&s->maps.v[lo], m))
		return 0;
	while (hi < s->maps.n && s->maps.v[hi].start < m->end)
		hi++;
	/* [lo, hi) overlap; the parts outside `m` on both sides stay. */
	if (lo < hi && s->maps.v[lo].start < m->start) {
		parts[keep] = s->maps.v[lo];
		parts[keep++].end = m->start;
	}
	parts[keep++] = *m;
	if (lo < hi && s->maps.v[hi - 1].end > m->end) {
		parts[keep] = s->maps.v[hi - 1];
		parts[keep++].start = m->end;
	}
	if (mapset_own(set, generation) < 0)
		return -ERR_NOMEM;
	s = *set;
	if (vec_reserve(&s->maps, s->maps.n + 2) < 0)
		return -ERR_NOMEM;
	memmove(s->maps.v + lo + keep, s->maps.v + hi,
		(s->maps.n - hi) * sizeof(*s->maps.v));
	memcpy(s->maps.v + lo, parts, keep * sizeof(*parts));
	s->maps.n = s->maps.n - (hi - lo) + keep;
	s->generation = ++*generation;
	s->last = 0;
	return 0;
}

const struct map *mapset_find(struct mapset *s, uint64_t addr)
{
	const struct map *m;
	size_t i;

	if (s->last < s->maps.n) {
		m = &s->maps.v[s->last];
		if (addr >= m->start && addr < m->end)
			return m;
	}
	i = mapset_lower(s, addr);
	if (i >= s->maps.n || addr < s->maps.v[i].start)
		return NULL;
	s->last = i;
	return &s->maps.v[i];
}
