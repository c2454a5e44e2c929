// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs and libraries whose file was named otherwise: prog-old and prog-new,
 * libx.so.1.2 and libx.so.1.3.  Two images are one when each occurs on one side
 * only and they are the programs that were recorded, or most of the cost of both
 * is in functions that both have.
 */
#include <stdlib.h>

#include "check/runs_internal.h"

struct image_cost {
	uint32_t image;		/* str */
	double cost[2];
	bool kernel;
};

struct pairing {
	struct check_runs *c;
	double *cost[2];	/* by side and function */
	VEC(struct image_cost) images;
};

static int sum_costs(struct pairing *p)
{
	struct check_runs *c = p->c;
	struct u64map map = { 0 };
	int rc = 0;

	for (size_t i = 0; i < c->files.n; i++) {
		const struct check_file *f = &c->files.v[i];

		for (size_t k = 0; k < f->cells.n; k++) {
			uint32_t fk = check_leaf(f, f->cells.v[k].stack);

			if (fk != PROF_NONE)
				p->cost[f->side][f->func[fk]] +=
					(double)f->cells.v[k].weight;
		}
	}
	for (size_t i = 0; !rc && i < c->funcs.n; i++) {
		const struct check_func *f = &c->funcs.v[i];
		uint32_t *id = u64map_slot(&map, f->image);
		struct image_cost new = { .image = f->image,
					  .kernel = f->kernel };

		if (id && *id == U64MAP_NONE) {
			*id = (uint32_t)p->images.n;
			rc = vec_push(&p->images, new);
		}
		if (!id || rc) {
			rc = -ERR_NOMEM;
			break;
		}
		for (int s = 0; s < 2; s++)
			p->images.v[*id].cost[s] += p->cost[s][i];
	}
	u64map_fini(&map);
	return rc;
}

static uint64_t func_hash(uint32_t image, const struct check_func *f)
{
	return hash_mix((uint64_t)image << 32 | f->name, f->which);
}

/* The function of an image that has the name of another one's. */
static uint32_t find_func(const struct check_runs *c, uint32_t image,
			  const struct check_func *f,
			  const struct u64map *by_key)
{
	uint32_t id = u64map_get(by_key, func_hash(image, f));

	return id != U64MAP_NONE && c->funcs.v[id].name == f->name &&
	       c->funcs.v[id].which == f->which ? id : U64MAP_NONE;
}

/* Share of an image's cost on its side that is in functions which the other
 * image has too. */
static double shared(const struct pairing *p, uint32_t image, uint32_t other,
		     int side, const struct u64map *by_key)
{
	const struct check_runs *c = p->c;
	double all = 0, both = 0;

	for (size_t i = 0; i < c->funcs.n; i++) {
		if (c->funcs.v[i].image != image || !c->funcs.v[i].name)
			continue;
		all += p->cost[side][i];
		if (find_func(c, other, &c->funcs.v[i], by_key) != U64MAP_NONE)
			both += p->cost[side][i];
	}
	return all > 0 ? both / all : 0;
}

static void make_alias(const struct pairing *p, uint32_t from, uint32_t to,
		       const struct u64map *by_key)
{
	struct check_runs *c = p->c;

	for (uint32_t i = 0; i < c->funcs.n; i++) {
		struct check_func *f = &c->funcs.v[i];
		uint32_t id;

		if (f->image != from)
			continue;
		id = find_func(c, to, f, by_key);
		if (id != U64MAP_NONE)
			c->alias[i] = id;
		else
			f->image = to;
	}
}

enum { PAIR_IMAGES_MAX = 64 };

/* Whether they are what the recordings of both sides started. */
static bool are_programs(const struct check_runs *c, uint32_t old, uint32_t now)
{
	for (size_t i = 0; i < c->files.n; i++)
		if (!path_is_program(c->files.v[i].p, check_str(
				c, c->files.v[i].side == CHECK_BASE ? old
								    : now)))
			return false;
	return true;
}

static void pair_all(const struct pairing *p, const struct u64map *by_key)
{
	const struct image_cost *im = p->images.v;
	size_t tries = 0;

	for (size_t a = 0; a < p->images.n; a++) {
		if (im[a].kernel || !(im[a].cost[CHECK_BASE] > 0) ||
		    im[a].cost[CHECK_NEW] > 0 || tries++ > PAIR_IMAGES_MAX)
			continue;
		for (size_t b = 0; b < p->images.n; b++) {
			if (im[b].kernel || im[b].cost[CHECK_BASE] > 0 ||
			    !(im[b].cost[CHECK_NEW] > 0))
				continue;
			if (!are_programs(p->c, im[a].image, im[b].image) &&
			    (shared(p, im[a].image, im[b].image, CHECK_BASE,
				    by_key) < 0.5 ||
			     shared(p, im[b].image, im[a].image, CHECK_NEW,
				    by_key) < 0.5))
				continue;
			make_alias(p, im[a].image, im[b].image, by_key);
			break;
		}
	}
}

int runs_pair_images(struct check_runs *c)
{
	size_t n = c->funcs.n + 1;
	struct pairing p = { .c = c };
	struct u64map by_key = { 0 };
	int rc = -ERR_NOMEM;

	c->alias = malloc(n * sizeof(*c->alias));
	p.cost[0] = calloc(n, sizeof(double));
	p.cost[1] = calloc(n, sizeof(double));
	if (c->alias && p.cost[0] && p.cost[1])
		rc = sum_costs(&p);
	for (uint32_t i = 0; !rc && i < c->funcs.n; i++) {
		const struct check_func *f = &c->funcs.v[i];
		uint32_t *id = u64map_slot(&by_key, func_hash(f->image, f));

		if (id)
			*id = i;
		else
			rc = -ERR_NOMEM;
		c->alias[i] = i;
	}
	if (!rc)
		pair_all(&p, &by_key);
	u64map_fini(&by_key);
	vec_fini(&p.images);
	free(p.cost[0]);
	free(p.cost[1]);
	return rc;
}
