// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches functions of several recordings by name, address and source file. */
#include "compare/func_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"
#include "compare/identity.h"

enum {
	PARTS_MAX = 8,		/* path components that are compared */
	PAIRS_MAX = 4096,	/* pairs of paths; beyond, only equal paths match */
};
#define NONE UINT32_MAX

/* A function of one recording, or of all recordings before it. */
struct variant {
	const char *file;
	uint32_t line;
	uint64_t vaddr, build;
	bool clone;		/* only copies have rows */
	uint32_t id;		/* NONE: not yet matched */
	uint32_t stamp;		/* last recording that has it */
	struct match_item **items;	/* its rows in one recording */
	size_t n;
};

struct variants {
	VEC(struct variant) v;
};

struct matcher {
	uint32_t nids;
	struct variants known, here;
	struct u64map places;	/* build and address to index in `known` */
};

/* Sorts by name, recording and place.  Copies follow the function they were
 * made from. */
static int by_place(const void *x, const void *y)
{
	const struct match_item *a = *(struct match_item *const *)x;
	const struct match_item *b = *(struct match_item *const *)y;

	return ascending(a->image, b->image) ?: ascending(a->name, b->name) ?:
	       ascending(a->recording, b->recording) ?:
	       strcmp(a->file, b->file) ?:
	       ascending(a->clone && !a->line, b->clone && !b->line) ?:
	       ascending(a->line, b->line) ?: ascending(a->vaddr, b->vaddr);
}

static bool same_name(const struct match_item *a, const struct match_item *b)
{
	return a->image == b->image && a->name == b->name;
}

/* Returns whether b, which follows a, is another function of the same
 * recording. */
static bool is_other(const struct match_item *a, const struct match_item *b)
{
	if (strcmp(a->file, b->file) != 0)
		return !(b->clone && !b->line && !*b->file);
	if (a->line && b->line)
		return a->line != b->line;
	return !b->clone && a->vaddr != b->vaddr;
}

/* Returns whether places of one build are certainly two functions, not a function and
 * the code of it that a compiler copied or inlined. */
static bool are_apart(const struct variant *a, const struct variant *b)
{
	if (!a->build || a->build != b->build || a->clone || b->clone)
		return false;
	return a->vaddr && b->vaddr && a->vaddr != b->vaddr &&
	       (!a->line || a->line != b->line || strcmp(a->file, b->file) != 0);
}

/* Collects the functions of one recording, whose rows are v[0, n). */
static int find_here(struct matcher *m, struct match_item **v, size_t n)
{
	struct variant *last = NULL;

	m->here.v.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct variant new = { v[i]->file, v[i]->line, v[i]->vaddr,
				       v[i]->build, v[i]->clone, NONE, 0, v + i,
				       1 };

		if (last && !is_other(v[i - 1], v[i])) {
			last->n++;
			continue;
		}
		if (vec_push(&m->here.v, new) < 0)
			return -ERR_NOMEM;
		last = &m->here.v.v[m->here.v.n - 1];
	}
	/* copies without file come first and count for the first function */
	if (m->here.v.n > 1 && !*m->here.v.v[0].file &&
	    (*m->here.v.v[0].items)->clone) {
		struct variant *w = m->here.v.v;

		w[1].n += w[0].n;
		w[1].items = w[0].items;
		memmove(w, w + 1, (m->here.v.n - 1) * sizeof(*w));
		m->here.v.n--;
	}
	return 0;
}

static uint64_t place_hash(const struct variant *f)
{
	uint64_t h = hash_mix(f->build, f->line);

	return hash_mix(hash_mix(h, f->vaddr),
			hash_bytes(f->file, strlen(f->file)));
}

/* Records that function `here` is the same as function `known` of earlier
 * recordings. */
static int take(struct matcher *m, struct variant *here, uint32_t known,
		uint32_t stamp)
{
	struct variant *k = &m->known.v.v[known];
	uint32_t *slot;

	here->id = k->id;
	k->file = here->file;
	k->line = here->line;
	k->vaddr = here->vaddr;
	k->build = here->build;
	k->clone = here->clone;
	k->stamp = stamp;
	for (size_t i = 0; i < here->n; i++)
		here->items[i]->id = k->id;
	if (!here->build)
		return 0;
	slot = u64map_slot(&m->places, place_hash(here));
	if (!slot)
		return -ERR_NOMEM;
	*slot = known;
	return 0;
}

static int take_new(struct matcher *m, struct variant *here, uint32_t stamp)
{
	struct variant new = { .id = m->nids };

	if (vec_push(&m->known.v, new) < 0)
		return -ERR_NOMEM;
	m->nids++;
	return take(m, here, (uint32_t)m->known.v.n - 1, stamp);
}

static int match_builds(struct matcher *m, uint32_t stamp)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < m->here.v.n; i++) {
		struct variant *h = &m->here.v.v[i];
		uint32_t known = h->build ? u64map_get(&m->places,
						       place_hash(h)) : NONE;

		if (known != NONE && m->known.v.v[known].stamp != stamp)
			rc = take(m, h, known, stamp);
	}
	return rc;
}

/* Counts the functions of a file, from `first` on, that are not yet matched. */
static size_t count_file(const struct variants *x, size_t first, uint32_t stamp,
			 bool known)
{
	size_t n = 0;

	for (size_t i = first; i < x->v.n; i++)
		n += !strcmp(x->v.v[i].file, x->v.v[first].file) &&
		     (known ? x->v.v[i].stamp != stamp
			    : x->v.v[i].id == NONE);
	return n;
}

/* Returns a known, unmatched function of a file: the one at the same line or,
 * with `in_order`, the next by line and address. */
static uint32_t next_known(const struct matcher *m, const struct variant *h,
			   const char *file, bool in_order, uint32_t stamp)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < m->known.v.n; i++) {
		const struct variant *k = &m->known.v.v[i];
		const struct variant *b = best == NONE ? NULL
						       : &m->known.v.v[best];

		if (k->stamp == stamp || strcmp(k->file, file) != 0 || are_apart(k, h))
			continue;
		if (in_order ? !b || k->line < b->line ||
			       (k->line == b->line && k->vaddr < b->vaddr)
			     : k->line && k->line == h->line)
			best = i;
	}
	return best;
}

/* Matches the functions of a file here with those of a known file. */
static int match_file(struct matcher *m, size_t first, size_t known,
		      uint32_t stamp)
{
	const char *own = m->here.v.v[first].file;
	const char *file = m->known.v.v[known].file;
	bool in_order = count_file(&m->here, first, stamp, false) ==
			count_file(&m->known, known, stamp, true);
	int rc = 0;

	for (size_t i = first; !rc && i < m->here.v.n; i++) {
		struct variant *h = &m->here.v.v[i];
		uint32_t k;

		if (h->id != NONE || strcmp(h->file, own) != 0)
			continue;
		k = next_known(m, h, file, in_order, stamp);
		if (k != NONE)
			rc = take(m, h, k, stamp);
	}
	return rc;
}

static bool alike(const char *a, const char *b, size_t parts)
{
	return parts > PARTS_MAX ? !strcmp(a, b)
				 : *a && *b && path_common_end(a, b) >= parts;
}

static int match_files(struct matcher *m, uint32_t stamp)
{
	size_t pairs = m->here.v.n * m->known.v.n;
	int rc = 0;

	for (size_t parts = PARTS_MAX + 1; !rc && parts; parts--) {
		if (pairs > PAIRS_MAX)
			return 0;
		for (size_t i = 0; !rc && i < m->here.v.n; i++) {
			const struct variant *h = &m->here.v.v[i];

			for (size_t k = 0; !rc && h->id == NONE &&
					   k < m->known.v.n; k++)
				if (m->known.v.v[k].stamp != stamp &&
				    alike(h->file, m->known.v.v[k].file,
					  parts))
					rc = match_file(m, i, k, stamp);
		}
	}
	return rc;
}

/* Matches functions of one name that some recording has several of. */
static int match_variants(struct matcher *m, struct match_item **v, size_t n)
{
	int rc = 0;

	m->known.v.n = 0;
	u64map_fini(&m->places);
	for (size_t i = 0; !rc && i < n;) {
		size_t first = i;
		uint32_t stamp = v[i]->recording + 1;

		while (i < n && v[i]->recording == v[first]->recording)
			i++;
		rc = find_here(m, v + first, i - first) ?: match_builds(m, stamp) ?:
		     match_files(m, stamp);
		for (size_t k = 0; !rc && k < m->here.v.n; k++)
			if (m->here.v.v[k].id == NONE)
				rc = take_new(m, &m->here.v.v[k], stamp);
	}
	return rc;
}

/* Sets *is if there are several functions of v[0, n), which share one name, in a
 * recording or in several of one build. */
static int ambiguous(struct matcher *m, struct match_item **v, size_t n,
		     bool *is)
{
	struct variant before = { .build = 0 };

	*is = false;
	for (size_t i = 0; !*is && i < n;) {
		size_t first = i;

		while (i < n && v[i]->recording == v[first]->recording)
			i++;
		if (find_here(m, v + first, i - first) < 0)
			return -ERR_NOMEM;
		*is = m->here.v.n > 1 || are_apart(&before, m->here.v.v);
		before = *m->here.v.v;
	}
	return 0;
}

int match_items(struct match_item *v, size_t n, uint32_t *nids)
{
	struct match_item **order = malloc((n + 1) * sizeof(*order));
	struct matcher m = { .nids = 0 };
	int rc = order ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		order[i] = &v[i];
	if (!rc)
		sort_rows(order, n, by_place);
	for (size_t i = 0; !rc && i < n;) {
		size_t first = i;
		bool several;

		while (i < n && same_name(order[i], order[first]))
			i++;
		rc = ambiguous(&m, order + first, i - first, &several);
		if (!rc && several)
			rc = match_variants(&m, order + first, i - first);
		for (size_t k = first; !several && k < i; k++)
			order[k]->id = m.nids;
		m.nids += !several;
	}
	*nids = m.nids;
	vec_fini(&m.known.v);
	vec_fini(&m.here.v);
	u64map_fini(&m.places);
	free(order);
	return rc;
}
