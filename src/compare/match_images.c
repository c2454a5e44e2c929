// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches images of all recordings by file name and path, and finds renamed
 * ones. */
#include <stdlib.h>

#include "base/search.h"
#include "compare/func_match.h"
#include "compare/labels.h"
#include "compare/match_internal.h"
#include "symbolize/demangle/clones.h"

enum { PAIRS_TRIED = 256 };

/* Functions with one name in an image, which count as one here. */
struct named {
	uint32_t image, name;	/* str */
	double cost[COMPARE_SIDES];
};

struct image_cost {
	uint32_t image;		/* str */
	double cost[COMPARE_SIDES];
	bool kernel, taken;
};

struct pairing {
	struct compare_match *m;
	struct function_cost *const *cost;
	VEC(struct named) funcs;
	VEC(struct image_cost) images;
	struct u64map func_tab, image_tab;
};

/* Lists one item per image of each recording.  at[recording][image] is its
 * item. */
static int list_images(struct compare_match *m, struct match_item *v,
		       uint32_t **at, size_t *n)
{
	*n = 0;
	for (uint32_t r = 0; r < m->n; r++) {
		const struct profile *p = m->in[r].p;

		for (uint32_t i = 0; i < p->images.n; i++) {
			const struct prof_image *im = &p->images.v[i];
			const char *path = profile_cstr(p, im->path);
			uint64_t build = compare_build_of(im);
			uint32_t name;

			if (m->in[r].same->image[i] != i)
				continue;
			name = strtab_add(m->str, path_base(path));
			if (name == UINT32_MAX)
				return -ERR_NOMEM;
			at[r][i] = (uint32_t)*n;
			v[(*n)++] = (struct match_item){
				.name = name, .recording = r, .vaddr = build,
				.build = build, .file = path };
		}
	}
	return 0;
}

/* Names an image by its file name, or by a label if a recording has several of
 * that name. */
static int name_images(struct compare_match *m, const struct match_item *v,
		       size_t nids, uint32_t *const *at)
{
	struct label_image *im = calloc(nids + 1, sizeof(*im));
	struct labels l = { .nfuncs = 0 };
	int rc = im ? 0 : -ERR_NOMEM;

	for (size_t r = 0; !rc && r < m->n; r++) {
		const struct profile *p = m->in[r].p;

		for (uint32_t i = 0; i < p->images.n; i++) {
			const struct match_item *x = &v[at[r][i]];

			if (m->in[r].same->image[i] == i)
				im[x->id] = (struct label_image){
					x->id + 1, x->file,
					p->images.v[i].build_id.bytes,
					p->images.v[i].build_id.len };
		}
	}
	if (!rc)
		rc = labels_images(&l, im, nids, nids + 1);
	for (size_t r = 0; !rc && r < m->n; r++) {
		const uint32_t *same = m->in[r].same->image;

		for (uint32_t i = 0; !rc && i < m->in[r].p->images.n; i++) {
			uint32_t id = v[at[r][same[i]]].id;
			const char *label = label_image(&l, id + 1);

			m->image_of[r][i] = strtab_add(m->str, *label ? label
						: path_base(im[id].path));
			rc = m->image_of[r][i] == UINT32_MAX ? -ERR_NOMEM : 0;
		}
	}
	labels_fini(&l);
	free(im);
	return rc;
}

static int match_by_name(struct compare_match *m)
{
	uint32_t **at = calloc(m->n + 1, sizeof(*at)), nids = 0;
	struct match_item *v;
	size_t n = 0;
	int rc = at ? 0 : -ERR_NOMEM;

	for (size_t r = 0; r < m->n; r++)
		n += m->in[r].p->images.n;
	v = calloc(n + 1, sizeof(*v));
	for (size_t r = 0; at && r < m->n; r++) {
		at[r] = calloc(m->in[r].p->images.n + 1, sizeof(**at));
		if (!at[r])
			rc = -ERR_NOMEM;
	}
	if (!v)
		rc = -ERR_NOMEM;
	if (!rc)
		rc = list_images(m, v, at, &n);
	if (!rc)
		rc = match_items(v, n, &nids);
	if (!rc)
		rc = name_images(m, v, nids, at);
	for (size_t r = 0; at && r < m->n; r++)
		free(at[r]);
	free(at);
	free(v);
	return rc;
}

static int sum_functions(struct pairing *x, size_t recording)
{
	struct compare_match *m = x->m;
	const struct compare_input *in = &m->in[recording];

	for (size_t i = 0; i < in->p->funcs.n; i++) {
		const struct prof_func *f = &in->p->funcs.v[i];
		const char *name = profile_cstr(in->p, f->name);
		struct named new = { .image = m->image_of[recording][f->image] };
		uint32_t *slot;

		new.name = strtab_add_n(m->str, name, clone_base(name));
		slot = new.name == UINT32_MAX ? NULL
			: u64map_slot(&x->func_tab,
				      (uint64_t)new.image << 32 | new.name);
		if (!slot)
			return -ERR_NOMEM;
		if (*slot == U64MAP_NONE) {
			*slot = (uint32_t)x->funcs.n;
			if (vec_push(&x->funcs, new) < 0)
				return -ERR_NOMEM;
		}
		x->funcs.v[*slot].cost[in->side] += x->cost[recording][i].cost;
	}
	return 0;
}

static int sum_images(struct pairing *x)
{
	const struct compare_match *m = x->m;

	for (size_t i = 0; i < x->funcs.n; i++) {
		const struct named *f = &x->funcs.v[i];
		struct image_cost new = { .image = f->image };
		uint32_t *slot = u64map_slot(&x->image_tab, f->image);

		if (!slot)
			return -ERR_NOMEM;
		if (*slot == U64MAP_NONE) {
			*slot = (uint32_t)x->images.n;
			if (vec_push(&x->images, new) < 0)
				return -ERR_NOMEM;
		}
		for (int s = 0; s < COMPARE_SIDES; s++)
			x->images.v[*slot].cost[s] += f->cost[s];
	}
	for (size_t r = 0; r < m->n; r++)
		for (size_t i = 0; i < m->in[r].p->images.n; i++) {
			uint32_t id = u64map_get(&x->image_tab,
						 m->image_of[r][i]);

			if (id != U64MAP_NONE &&
			    prof_is_kernel(&m->in[r].p->images.v[i]))
				x->images.v[id].kernel = true;
		}
	return 0;
}

/* Returns the share of an image's cost on its side that is in functions that
 * the other image has, too. */
static double shared(const struct pairing *x, uint32_t image, uint32_t other,
		     int side)
{
	double all = 0, both = 0;

	for (size_t i = 0; i < x->funcs.n; i++) {
		const struct named *f = &x->funcs.v[i];

		if (f->image != image || !f->name)
			continue;
		all += f->cost[side];
		if (u64map_get(&x->func_tab, (uint64_t)other << 32 | f->name) !=
		    U64MAP_NONE)
			both += f->cost[side];
	}
	return all > 0 ? both / all : 0;
}

/* Returns whether both images are the program that their side's recordings
 * started. */
static bool are_programs(const struct compare_match *m, uint32_t old,
			 uint32_t now)
{
	for (size_t r = 0; r < m->n; r++) {
		uint32_t image = m->in[r].side == COMPARE_OLD ? old : now;

		if (!path_is_program(m->in[r].p, strtab_get(m->str, image)))
			return false;
	}
	return true;
}

static bool are_same(const struct pairing *x, uint32_t old, uint32_t now)
{
	return are_programs(x->m, old, now) ||
	       (shared(x, old, now, COMPARE_OLD) >= 0.5 &&
		shared(x, now, old, COMPARE_NEW) >= 0.5);
}

static void rename_image(struct compare_match *m, uint32_t from, uint32_t to)
{
	for (size_t r = 0; r < m->n; r++)
		for (size_t i = 0; m->in[r].side == COMPARE_OLD &&
				   i < m->in[r].p->images.n; i++)
			if (m->image_of[r][i] == from)
				m->image_of[r][i] = to;
}

static bool only_on(const struct image_cost *im, int side)
{
	return !im->kernel && !im->taken && im->cost[side] > 0 &&
	       !(im->cost[!side] > 0);
}

static int by_cost(const void *x, const void *y)
{
	const struct image_cost *a = x, *b = y;
	double c = a->cost[0] + a->cost[1], d = b->cost[0] + b->cost[1];

	return descending(c, d) ?: ascending(a->image, b->image);
}

/* Pairs images, the most expensive first, because the number of attempts is
 * limited. */
static void pair(struct pairing *x)
{
	struct image_cost *im = x->images.v;
	size_t n = x->images.n, tries = 0;

	if (n)
		qsort(im, n, sizeof(*im), by_cost);
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b < n && only_on(&im[a], COMPARE_OLD); b++) {
			if (!only_on(&im[b], COMPARE_NEW))
				continue;
			if (tries++ >= PAIRS_TRIED)
				return;
			if (!are_same(x, im[a].image, im[b].image))
				continue;
			rename_image(x->m, im[a].image, im[b].image);
			im[a].taken = im[b].taken = true;
		}
}

int match_images(struct compare_match *m, struct function_cost *const *cost)
{
	struct pairing x = { .m = m, .cost = cost };
	int rc = match_by_name(m);

	for (size_t r = 0; !rc && r < m->n; r++)
		rc = sum_functions(&x, r);
	if (!rc)
		rc = sum_images(&x);
	if (!rc)
		pair(&x);
	vec_fini(&x.funcs);
	vec_fini(&x.images);
	u64map_fini(&x.func_tab);
	u64map_fini(&x.image_tab);
	return rc;
}
