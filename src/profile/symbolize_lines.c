// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds all lines of hot functions.  One batch asks the symbolizer for the
 * sampled locations and for every byte of the functions that contain most of
 * them.  So each unit is read once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/symbolize_internal.h"

/* Maximum bytes of code requested for one image, hottest functions first. */
enum { ASK_MAX = 1 << 20 };

struct span_of_code {
	uint64_t start, end, self_samples;
};

struct spans {
	struct span_of_code *v;
	size_t n, cap;
};

/* Collects the sampled functions of an image, ascending, without overlap. */
static int hit_functions(struct symbolize_run *f,
			 const struct symbolize_item *part,
			 struct symbolizer *s, struct spans *out)
{
	for (size_t i = 0; i < part->n; i++) {
		const struct symbolize_loc *l = &f->locs[part->at + i];
		uint64_t self_samples = f->o->self_samples[l->loc];
		struct span_of_code *last = out->n ? &out->v[out->n - 1] : NULL;
		uint64_t start, size;
		const char *name;

		if (!self_samples)
			continue;
		if (last && l->vaddr < last->end) {
			last->self_samples += self_samples;
			continue;
		}
		if (!symbolizer_extent(s, l->vaddr, &name, &start, &size) ||
		    size > UINT64_MAX - start || l->vaddr - start >= size)
			continue;
		if (last && start < last->end)
			start = last->end;
		if (vec_push(out, (struct span_of_code){ start,
				      start + size, self_samples }) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int hotter(const void *a, const void *b)
{
	const struct span_of_code *x = a, *y = b;

	return descending(x->self_samples, y->self_samples) ?:
	       ascending(x->start, y->start);
}

static int by_start(const void *a, const void *b)
{
	const struct span_of_code *x = a, *y = b;

	return ascending(x->start, y->start);
}

/* Keeps the hot functions that fit.  Returns their bytes. */
static size_t keep_hot(const struct symbolize_run *f, struct spans *s)
{
	size_t kept = 0, bytes = 0;

	vec_sort(s, hotter);
	for (size_t i = 0; i < s->n; i++) {
		uint64_t size = s->v[i].end - s->v[i].start;

		if (!symbolize_is_hot(f, s->v[i].self_samples, size) ||
		    size > ASK_MAX - bytes)
			continue;
		bytes += size;
		s->v[kept++] = s->v[i];
	}
	s->n = kept;
	sort_rows(s->v, kept, by_start);
	return bytes;
}

static void add(struct symbolize_addrs *a, uint64_t vaddr, uint32_t loc)
{
	a->vaddrs[a->n] = vaddr;
	a->locs[a->n++] = loc;
}

/* Merges locations and bytes of code in ascending order, locations first. */
static void merge(const struct symbolize_run *f,
		  const struct symbolize_item *part, const struct spans *s,
		  struct symbolize_addrs *a)
{
	const uint64_t *v = f->vaddrs + part->at;
	size_t i = 0;

	for (size_t k = 0; k < s->n; k++)
		for (uint64_t at = s->v[k].start; at < s->v[k].end; at++) {
			for (; i < part->n && v[i] <= at; i++)
				add(a, v[i], (uint32_t)i);
			add(a, at, SYMBOLIZE_NO_LOC);
		}
	for (; i < part->n; i++)
		add(a, v[i], (uint32_t)i);
}

int symbolize_addrs_init(struct symbolize_run *f,
			 const struct symbolize_item *part,
			 struct symbolizer *s, struct symbolize_addrs *a)
{
	struct spans spans = { NULL, 0, 0 };
	size_t bytes;
	int rc = 0;

	*a = (struct symbolize_addrs){ .last = PROF_NONE };
	if (f->o->self_samples)
		rc = hit_functions(f, part, s, &spans);
	bytes = keep_hot(f, &spans);
	a->vaddrs = malloc((part->n + bytes + 1) * sizeof(*a->vaddrs));
	a->locs = malloc((part->n + bytes + 1) * sizeof(*a->locs));
	if (!rc && a->vaddrs && a->locs)
		merge(f, part, &spans, a);
	else
		rc = -ERR_NOMEM;
	free(spans.v);
	return rc;
}

void symbolize_addrs_fini(struct symbolize_addrs *a)
{
	free(a->vaddrs);
	free(a->locs);
	a->vaddrs = NULL;
	a->locs = NULL;
}

static int push_line(struct symbolize_run *f, const struct symbolize_item *part,
		     uint64_t vaddr, uint32_t frame)
{
	struct prof_line l = { part->image, vaddr, frame };

	return vec_push(&f->p->lines, l) < 0 ? -ERR_NOMEM : 0;
}

int symbolize_end_lines(struct symbolize_run *f,
			const struct symbolize_item *part,
			struct symbolize_addrs *a)
{
	int rc = 0;

	if (a->end && a->last != PROF_NONE)
		rc = push_line(f, part, a->end, PROF_NONE);
	a->end = 0;
	a->last = PROF_NONE;
	return rc;
}

int symbolize_add_line(struct symbolize_run *f,
		       const struct symbolize_item *part,
		       struct symbolize_addrs *a, const struct sym_result *r,
		       uint32_t frame)
{
	/* Adjacent functions need no row between them. */
	if (r->vaddr != a->end && symbolize_end_lines(f, part, a) < 0)
		return -ERR_NOMEM;
	a->end = r->vaddr + 1;
	if (frame == a->last)
		return 0;
	a->last = frame;
	return push_line(f, part, r->vaddr, frame);
}
