// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images of both sides by the name of their file, and where a side has several of
 * that name, by the end of their paths.  Those that are on one side
 * only may have been renamed: prog-old and prog-new, libx.so.1.2 and libx.so.1.3.
 * Two of them are one when they are the programs that were recorded, or when most
 * of the cost of both is in functions that both have.
 */
#include <stdlib.h>
#include <string.h>

#include "symbolize/clones.h"
#include "views/diff_internal.h"
#include "views/func_match.h"

enum { PAIRS_TRIED = 256 };

struct image_cost {
	uint32_t image;
	double cost[DIFF_SIDES];
	bool kernel;
};

struct renames {
	struct diff *d;
	VEC(struct func_cost) funcs;
	VEC(struct image_cost) images;
	struct u64map func_tab, image_tab;
	int side;		/* at hand */
	uint32_t *func_of;	/* by func of its profile */
	bool failed;		/* out of memory */
};

/* The images of both sides, one item each; `at`: by image of a side, its item. */
static size_t list_images(const struct diff *d, struct match_item *v,
			  uint32_t *at[DIFF_SIDES])
{
	size_t n = 0;

	for (uint32_t s = 0; s < DIFF_SIDES; s++) {
		const struct profile *p = d->side[s].p;
		const uint32_t *same = d->side[s].rep->keys.same.image;

		for (uint32_t i = 0; i < p->images.n; i++) {
			const struct prof_image *im = &p->images.v[i];
			uint64_t build = !im->build_id.len ? 0
				: hash_bytes(im->build_id.bytes,
					     im->build_id.len) | 1;

			if (same[i] != i)
				continue;
			at[s][i] = (uint32_t)n;
			v[n++] = (struct match_item){
				.recording = s, .vaddr = build, .build = build,
				.file = profile_cstr(p, im->path) };
		}
	}
	return n;
}

/* An image's file name; where a side has several of it, what tells them apart. */
static int name_matched(struct diff *d, const struct match_item *v, size_t nids,
			uint32_t *at[DIFF_SIDES])
{
	struct label_image *im = calloc(nids + 1, sizeof(*im));
	struct labels l = { .nfuncs = 0 };
	int rc = im ? 0 : -ERR_NOMEM;

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		const struct profile *p = d->side[s].p;
		const uint32_t *same = d->side[s].rep->keys.same.image;

		for (uint32_t i = 0; i < p->images.n; i++) {
			uint32_t id = v[at[s][same[i]]].id;

			if (same[i] == i)	/* the new side's counts */
				im[id] = (struct label_image){
					id + 1, v[at[s][i]].file,
					p->images.v[i].build_id.bytes,
					p->images.v[i].build_id.len };
		}
	}
	if (!rc)
		rc = labels_images(&l, im, nids, nids + 1);
	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		struct diff_side *side = &d->side[s];

		for (uint32_t i = 0; !rc && i < side->p->images.n; i++) {
			uint32_t id = v[at[s][side->rep->keys.same.image[i]]].id;
			const char *label = label_image(&l, id + 1);

			side->image_of[i] = profile_str(&d->names, *label
				? label : path_base(im[id].path));
			rc = side->image_of[i] == PROF_NONE ? -ERR_NOMEM : 0;
		}
	}
	labels_fini(&l);
	free(im);
	return rc;
}

static int name_images(struct diff *d)
{
	size_t n = d->side[0].p->images.n + d->side[1].p->images.n;
	struct match_item *v = calloc(n + 1, sizeof(*v));
	uint32_t *at[DIFF_SIDES], nids = 0;
	int rc = v ? 0 : -ERR_NOMEM;

	for (int s = 0; s < DIFF_SIDES; s++) {
		size_t bytes = d->side[s].p->images.n + 1;

		at[s] = calloc(bytes, sizeof(**at));
		d->side[s].image_of = calloc(bytes, sizeof(uint32_t));
		if (!at[s] || !d->side[s].image_of)
			rc = -ERR_NOMEM;
	}
	n = rc ? 0 : list_images(d, v, at);
	for (size_t i = 0; !rc && i < n; i++) {
		v[i].name = profile_str(&d->names, path_base(v[i].file));
		rc = v[i].name == PROF_NONE ? -ERR_NOMEM : 0;
	}
	if (!rc)
		rc = match_items(v, n, &nids);
	if (!rc)
		rc = name_matched(d, v, nids, at);
	free(at[0]);
	free(at[1]);
	free(v);
	return rc;
}

static struct func_cost *func_cost(struct renames *r, int side, uint32_t func)
{
	const struct diff_side *s = &r->d->side[side];
	const struct prof_func *f = &s->p->funcs.v[func];
	const char *name = profile_cstr(s->p, f->name);
	struct func_cost new = { 0 };
	uint32_t *slot;

	if (r->func_of[func] != PROF_NONE)
		return &r->funcs.v[r->func_of[func]];
	new.image = s->image_of[f->image];
	new.name = strtab_add_n(&r->d->names.str, name, clone_base(name));
	new.file = path_base(profile_cstr(s->p, f->file));
	if (new.name == PROF_NONE)
		return NULL;
	slot = u64map_slot(&r->func_tab, (uint64_t)new.image << 32 | new.name);
	if (!slot)
		return NULL;
	if (*slot == U64MAP_NONE) {
		if (vec_push(&r->funcs, new) < 0)
			return NULL;
		*slot = (uint32_t)r->funcs.n - 1;
	}
	r->func_of[func] = *slot;
	return &r->funcs.v[*slot];
}

static void add_leaf(void *ctx, uint32_t node, uint32_t event, struct cell c)
{
	struct renames *r = ctx;
	const struct profile *p = r->d->side[r->side].p;
	uint32_t loc = p->nodes.v[node].loc, frame;
	struct func_cost *f;

	(void)event;
	if (!c.count || loc >= p->locs.n)
		return;
	frame = profile_loc_frame(p, loc);
	if (frame == PROF_NONE || p->frames.v[frame].func >= p->funcs.n)
		return;
	f = func_cost(r, r->side, p->frames.v[frame].func);
	if (f)
		f->cost[r->side] += (double)c.count;
	r->failed |= !f;
}

/* In samples of any event: a rough measure is enough. */
static int sum_functions(struct renames *r, int side)
{
	size_t n = (r->d->side[side].p->funcs.n + 1) * sizeof(*r->func_of);

	r->side = side;
	r->func_of = malloc(n);
	if (!r->func_of)
		return -ERR_NOMEM;
	memset(r->func_of, 0xff, n);
	aggregate_each(&r->d->side[side].rep->agg, add_leaf, r);
	free(r->func_of);
	r->func_of = NULL;
	return r->failed ? -ERR_NOMEM : 0;
}

static int sum_images(struct renames *r)
{
	for (size_t i = 0; i < r->funcs.n; i++) {
		const struct func_cost *f = &r->funcs.v[i];
		struct image_cost new = { .image = f->image };
		uint32_t *slot = u64map_slot(&r->image_tab, f->image);

		if (!slot)
			return -ERR_NOMEM;
		if (*slot == U64MAP_NONE) {
			*slot = (uint32_t)r->images.n;
			if (vec_push(&r->images, new) < 0)
				return -ERR_NOMEM;
		}
		for (int s = 0; s < DIFF_SIDES; s++)
			r->images.v[*slot].cost[s] += f->cost[s];
	}
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct diff_side *side = &r->d->side[s];

		for (size_t i = 0; i < side->p->images.n; i++) {
			const struct prof_image *im = &side->p->images.v[i];
			uint32_t id = u64map_get(&r->image_tab,
						 side->image_of[i]);

			if (id != U64MAP_NONE && prof_is_kernel(im))
				r->images.v[id].kernel = true;
		}
	}
	return 0;
}

/* Share of an image's cost on its side that is in functions which the other
 * image has too. */
static double shared(const struct renames *r, uint32_t image, uint32_t other,
		     int side)
{
	double all = 0, both = 0;

	for (size_t i = 0; i < r->funcs.n; i++) {
		const struct func_cost *f = &r->funcs.v[i];

		if (f->image != image || !f->name)
			continue;
		all += f->cost[side];
		if (u64map_get(&r->func_tab, (uint64_t)other << 32 | f->name) !=
		    U64MAP_NONE)
			both += f->cost[side];
	}
	return all > 0 ? both / all : 0;
}

static void rename_image(struct renames *r, uint32_t from, uint32_t to)
{
	struct diff_side *s = &r->d->side[DIFF_OLD];

	for (size_t i = 0; i < s->p->images.n; i++) {
		if (s->image_of[i] == from)
			s->image_of[i] = to;
	}
	for (size_t i = 0; i < r->funcs.n; i++)
		if (r->funcs.v[i].image == from)
			r->funcs.v[i].image = to;
}

/* Whether the image was on one side only. */
static bool only_on(const struct image_cost *im, int side)
{
	return !im->kernel && im->cost[side] > 0 && !(im->cost[!side] > 0);
}

static bool are_programs(const struct renames *r, uint32_t old, uint32_t now)
{
	const struct diff *d = r->d;

	return path_is_program(d->side[DIFF_OLD].p,
			       profile_cstr(&d->names, old)) &&
	       path_is_program(d->side[DIFF_NEW].p,
			       profile_cstr(&d->names, now));
}

static void pair(struct renames *r)
{
	struct image_cost *im = r->images.v;
	size_t tries = 0;

	for (size_t a = 0; a < r->images.n; a++) {
		for (size_t b = 0; only_on(&im[a], DIFF_OLD) &&
				   b < r->images.n; b++) {
			if (!only_on(&im[b], DIFF_NEW))
				continue;
			if (tries++ >= PAIRS_TRIED)
				return;
			if (!are_programs(r, im[a].image, im[b].image) &&
			    (shared(r, im[a].image, im[b].image, DIFF_OLD) <
				     0.5 ||
			     shared(r, im[b].image, im[a].image, DIFF_NEW) <
				     0.5))
				continue;
			rename_image(r, im[a].image, im[b].image);
			im[a].kernel = im[b].kernel = true;	/* taken */
		}
	}
}

int diff_images(struct diff *d)
{
	struct renames r = { .d = d };
	int rc = name_images(d);

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = sum_functions(&r, s);
	if (!rc)
		rc = sum_images(&r);
	if (!rc) {
		pair(&r);
		rc = diff_renames(d, r.funcs.v, r.funcs.n);
	}
	vec_fini(&r.funcs);
	vec_fini(&r.images);
	u64map_fini(&r.func_tab);
	u64map_fini(&r.image_tab);
	return rc;
}
