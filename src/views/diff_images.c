// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images of both sides by the name of their file.  Those that are on one side
 * only may have been renamed: prog-old and prog-new, libx.so.1.2 and libx.so.1.3.
 * Two of them are one when they are the programs that were recorded, or when most
 * of the cost of both is in functions that both have.
 */
#include <stdlib.h>
#include <string.h>

#include "symbolize/clones.h"
#include "views/diff_internal.h"

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

static int name_images(struct diff *d, int side)
{
	struct diff_side *s = &d->side[side];
	size_t n = s->p->str.str.n + 1;

	s->image_of = calloc(n, sizeof(*s->image_of));
	if (!s->image_of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < s->p->images.n; i++) {
		uint32_t path = s->p->images.v[i].path;
		uint32_t id = profile_str(&d->names, path_base(
						profile_cstr(s->p, path)));

		if (id == PROF_NONE)
			return -ERR_NOMEM;
		s->image_of[path] = id;
	}
	return 0;
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
	new.image = s->image_of[s->p->images.v[f->image].path];
	new.name = strtab_add_n(&r->d->names.str, name, clone_base(name));
	new.file = path_base(profile_cstr(s->p, f->file));
	if (new.name == PROF_NONE)
		return NULL;
	slot = u64map_slot(&r->func_tab, (uint64_t)new.image << 32 | new.name);
	if (!slot)
		return NULL;
	if (*slot == U64MAP_NONE) {
		*slot = (uint32_t)r->funcs.n;
		if (vec_push(&r->funcs, new) < 0)
			return NULL;
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
						 side->image_of[im->path]);

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
		uint32_t path = s->p->images.v[i].path;

		if (s->image_of[path] == from)
			s->image_of[path] = to;
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
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = name_images(d, s);
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
