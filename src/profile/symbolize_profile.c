// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbolizes a profile: locations are sorted by image and address, each image
 * is opened once, and the symbolizer's results become rows.  See
 * symbolize_profile.h.
 */
#include "profile/symbolize_profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/search.h"
#include "profile/symbolize_internal.h"
#include "symbolize/demangle/demangle.h"

static int loc_compare(const void *a, const void *b)
{
	const struct symbolize_loc *x = a, *y = b;

	return ascending(x->vaddr, y->vaddr);
}

enum { LOC_BITS = 16 };	/* two passes for most images */

/* Sorts one image's locations by vaddr; spare has room for n. */
static void sort_part(struct symbolize_loc *v, size_t n, struct symbolize_loc *spare,
		      uint32_t *count)
{
	struct radix r = { v, spare, n, sizeof(*v), LOC_BITS, count };

	if (n < 20000)
		sort_rows(v, n, loc_compare);
	else
		radix_sort(&r, offsetof(struct symbolize_loc, vaddr),
			   sizeof(v->vaddr));
}

/* Sorts all locations and sets parts[i] to the range of image i. */
static int sort_locs(struct symbolize_run *f, struct symbolize_item *parts)
{
	const struct profile *p = f->p;
	struct symbolize_loc *spare = malloc((p->locs.n + 1) * sizeof(*spare));
	uint32_t *count = malloc(sizeof(*count) << LOC_BITS);
	size_t i, at = 0;

	for (i = 0; i < p->locs.n; i++)
		if (p->locs.v[i].image < p->images.n)
			parts[p->locs.v[i].image].n++;
	for (i = 0; i < p->images.n; i++) {
		parts[i].image = (uint32_t)i;
		parts[i].at = at;
		at += parts[i].n;
		parts[i].n = 0;
	}
	for (i = 0; i < p->locs.n; i++) {
		uint32_t image = p->locs.v[i].image;

		if (image < p->images.n)
			f->locs[parts[image].at + parts[image].n++] =
				(struct symbolize_loc){ p->locs.v[i].vaddr,
						   (uint32_t)i };
	}
	for (i = 0; spare && count && i < p->images.n; i++)
		sort_part(f->locs + parts[i].at, parts[i].n, spare, count);
	for (i = 0; i < at; i++)
		f->vaddrs[i] = f->locs[i].vaddr;
	i = spare && count;
	free(spare);
	free(count);
	return i ? 0 : symbolize_nomem(f);
}

static int fill_run(struct symbolize_run *f)
{
	struct profile *p = f->p;
	struct symbolize_item *parts = calloc(p->images.n + 1, sizeof(*parts));
	size_t i;
	int rc;

	f->locs = malloc((p->locs.n + 1) * sizeof(*f->locs));
	f->vaddrs = malloc((p->locs.n + 1) * sizeof(*f->vaddrs));
	f->order = malloc((p->images.n + 1) * sizeof(*f->order));
	if (!parts || !f->locs || !f->vaddrs || !f->order ||
	    vec_reserve(&p->loc_frame, p->locs.n) < 0) {
		free(parts);
		return symbolize_nomem(f);
	}
	for (i = 0; i < p->locs.n; i++)
		p->loc_frame.v[i] = PROF_NONE;
	p->loc_frame.n = p->locs.n;
	f->all_self_samples = f->o->self_samples_elsewhere;
	for (i = 0; f->o->self_samples && i < p->locs.n; i++)
		f->all_self_samples += f->o->self_samples[i];
	rc = sort_locs(f, parts) ?: symbolize_images(f, parts);
	if (!rc && f->old)
		rc = keep_old_restore(f, f->old);
	if (!rc)
		rc = symbolize_choose_code(f);
	if (!rc && f->old)
		rc = keep_old_code(f, f->old);
	if (!rc && f->old)
		rc = keep_old_texts(f, f->old);
	if (!rc && f->o->embed_source && !f->p->texts.n)
		rc = embed_source(f);
	free(parts);
	return rc;
}

/* The budget covers a few dozen functions in addition to hot ones, otherwise
 * half a byte for each sample.  Code must not dominate the size of a file. */
size_t symbolize_code_budget(uint64_t samples)
{
	enum { LEAST = 16 << 10, MOST = 4 << 20 };

	samples /= 2;
	return samples < LEAST ? LEAST : samples > MOST ? MOST : samples;
}

void symbolize_run_end(struct symbolize_run *f)
{
	/* After an error, its thread still reads the addresses. */
	symbolize_kernel_end(f);
	keep_old_free(f->old);
	free(f->locs);
	free(f->vaddrs);
	free(f->order);
	u64map_fini(&f->strings);
	u64map_fini(&f->symbols);
	vec_fini(&f->codes);
	vec_fini(&f->self_samples);
	buf_fini(&f->bytes);
	pthread_cond_destroy(&f->moved);
	pthread_mutex_destroy(&f->lock);
}

int profile_symbolize(struct profile *p, const struct symbolize_options *o,
		      struct error *err)
{
	struct symbolize_run f = { .p = p, .o = o, .err = err,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .moved = PTHREAD_COND_INITIALIZER };
	int rc;

	if (p->foreign)
		return 0;
	if (keep_old_take(p, &f.old) < 0)
		return symbolize_nomem(&f);
	rc = profile_begin_symbols(p) < 0 ? symbolize_nomem(&f) : fill_run(&f);
	symbolize_run_end(&f);
	return rc;
}
