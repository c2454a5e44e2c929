// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks as paths that share their outer parts (see paths.h). */
#include "export/paths.h"

#include <stdlib.h>
#include <string.h>

int export_paths_init(struct export_paths *p, struct export *x,
		      enum export_path_kind kind, struct error *err)
{
	*p = (struct export_paths){ .x = x, .kind = kind };
	p->of = calloc(x->p->nodes.n + 1, 2 * sizeof(*p->of));
	if (!p->of || vec_push(&p->v, (struct export_path){ 0 }) < 0)
		return error_nomem(err);
	return 0;
}

void export_paths_fini(struct export_paths *p)
{
	vec_fini(&p->v);
	idtab_fini(&p->tab);
	vec_fini(&p->steps);
	idtab_fini(&p->step_tab);
	free(p->of);
	vec_fini(&p->way);
}

void export_paths_clear(struct export_paths *p)
{
	p->v.n = 1;
	p->steps.n = 0;
	idtab_fini(&p->tab);
	idtab_fini(&p->step_tab);
	memset(p->of, 0, 2 * p->x->p->nodes.n * sizeof(*p->of));
}

static uint32_t identity(const struct export_paths *p, uint32_t what)
{
	return p->kind == EXPORT_PATH_NAMES ? p->x->name_of[what] : what;
}

static bool path_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct export_paths *p = ctx;
	const struct export_path *a = &p->v.v[id], *b = key;

	return a->up == b->up && identity(p, a->what) == identity(p, b->what);
}

static uint32_t below(struct export_paths *p, uint32_t up, uint32_t what)
{
	struct export_path key = { up, what, p->v.v[up].depth + 1 };

	if (p->kind == EXPORT_PATH_NAMES)
		export_name(p->x, what);
	return idtab_row(&p->tab, &p->v, hash_mix(up, identity(p, what)), path_eq, p,
			 &key);
}

static bool step_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct export_paths *p = ctx;
	const struct export_path_step *a = &p->steps.v[id], *b = key;

	return a->up == b->up && a->place == b->place;
}

/* Returns the path of all functions of a place. */
static uint32_t functions_below(struct export_paths *p, uint32_t up,
				uint32_t place)
{
	struct export_path_step key = { up, place, up };
	uint64_t h = hash_mix(up, place);
	uint32_t id = idtab_find(&p->step_tab, h, step_eq, p, &key);

	if (id != IDTAB_NONE)
		return p->steps.v[id].path;
	if (export_place(p->x, place) < 0)
		return PROF_NONE;
	for (size_t i = p->x->frames.n; i-- && key.path != PROF_NONE;)
		key.path = below(p, key.path, p->x->frames.v[i].fk);
	if (vec_push(&p->steps, key) < 0 ||
	    idtab_add(&p->step_tab, h, (uint32_t)p->steps.n - 1) < 0)
		return PROF_NONE;
	return key.path;
}

static uint32_t place_below(struct export_paths *p, uint32_t up, uint32_t place)
{
	if (p->kind != EXPORT_PATH_PLACES)
		return functions_below(p, up, place);
	return p->skip && p->skip(p->ctx, place) ? up : below(p, up, place);
}

/* Returns the path of all of x->places. */
static uint32_t places_path(struct export_paths *p)
{
	uint32_t path = 0;

	for (size_t i = p->x->places.n; i-- && path != PROF_NONE;)
		path = place_below(p, path, p->x->places.v[i]);
	return path;
}

/* Returns the slot for a node's path in stacks that leave out as many frames as its
 * own stack, or half a stack more. */
static uint32_t *kept(const struct export_paths *p, uint32_t node,
		      uint32_t left_out)
{
	return &p->of[2 * (size_t)node +
		      (export_left_out(p->x, node) != left_out)];
}

uint32_t export_path(struct export_paths *p, uint32_t node)
{
	struct export *x = p->x;
	const struct prof_node *nodes = x->p->nodes.v;
	uint32_t left_out = export_left_out(x, node), path = 0;

	if (!node || prof_is_mark(nodes[node].loc))
		return export_places(x, node) < 0 ? PROF_NONE : places_path(p);
	p->way.n = 0;
	for (; node && x->depth[node] > left_out && !*kept(p, node, left_out);
	     node = nodes[node].parent)
		if (vec_push(&p->way, node) < 0)
			return PROF_NONE;
	if (node && x->depth[node] > left_out)
		path = *kept(p, node, left_out) - 1;
	else if (left_out)
		path = place_below(p, 0, (uint32_t)x->p->locs.n + EXPORT_DEEPER);
	for (size_t i = p->way.n; i-- && path != PROF_NONE;) {
		uint32_t place = export_node_place(x, p->way.v[i]);

		if (place != PROF_NONE)
			path = place_below(p, path, place);
		if (path != PROF_NONE)
			*kept(p, p->way.v[i], left_out) = path + 1;
	}
	return path;
}
