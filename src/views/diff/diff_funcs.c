// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches functions of both sides, and labels functions with the same name. */
#include <stdlib.h>

#include "views/diff/diff_internal.h"

struct summing {
	const struct profile *p;
	struct compare_input *in;
};

static void add_leaf(void *ctx, uint32_t node, uint32_t event, struct cell c)
{
	const struct summing *s = ctx;
	uint32_t loc = s->p->nodes.v[node].loc, frame, func;

	(void)event;
	if (!c.count || loc >= s->p->locs.n)
		return;
	frame = profile_loc_frame(s->p, loc);
	func = frame == PROF_NONE ? PROF_NONE : s->p->frames.v[frame].func;
	if (func < s->p->funcs.n)
		s->in->samples[func] += (double)c.count;
}

/* Sums costs as samples of any event, because a rough measure is enough. */
static int sum_side(const struct diff *d, int side, struct compare_input *in)
{
	const struct diff_side *s = &d->side[side];
	struct summing sum = { s->p, in };

	*in = (struct compare_input){ s->p, &s->rep->keys.same, (uint8_t)side,
				      NULL, NULL };
	in->cost = in->samples = calloc(s->p->funcs.n + 1, sizeof(*in->cost));
	if (!in->cost)
		return -ERR_NOMEM;
	aggregate_each(&s->rep->agg, add_leaf, &sum);
	return 0;
}

int diff_funcs(struct diff *d)
{
	struct compare_input in[DIFF_SIDES] = { { .p = NULL } };
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = sum_side(d, s, &in[s]);
	if (!rc)
		rc = compare_match_init(&d->match, &d->names.str, in, DIFF_SIDES,
					d->keys.mask & KEY_BIT(KEY_IMAGE));
	for (int s = 0; s < DIFF_SIDES; s++) {
		free(in[s].cost);
		if (rc)
			continue;
		d->side[s].image_of = d->match.image_of[s];
		d->side[s].func_of = d->match.func_of[s];
	}
	return rc;
}

/* Marks the functions of keys that are in a stack. */
static int find_seen(const struct diff *d, int side, uint8_t *seen)
{
	const struct frame_keys *k = &d->side[side].rep->keys;
	const struct profile *p = d->side[side].p;
	uint8_t *done = calloc(p->frames.n + p->locs.n + 1, 1);

	if (!done)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->locs.n; i++)
		for (uint32_t s = k->head[i]; s != PROF_NONE && !done[s];
		     s = k->steps[s].outer) {
			uint32_t fk = k->steps[s].fk, func;

			done[s] = 1;
			func = fk == PROF_NONE ? 0
				: d->keys.keys.v[d->side[side].key_of[fk]].func;
			if (func)
				seen[func - 1] = 1;
		}
	free(done);
	return 0;
}

/* Marks the old versions of functions, because they are shown beside them. */
static void see_before(const struct diff *d, uint8_t *seen)
{
	for (size_t i = 0; i < d->match.funcs.n; i++) {
		uint32_t before = d->match.funcs.v[i].before;

		if (seen[i] && before != COMPARE_NONE)
			seen[before] = 1;
	}
}

int diff_labels(struct diff *d)
{
	size_t nstr = d->names.str.str.n + 1, nfuncs = d->match.funcs.n, n = 0;
	struct label_func *v = calloc(nfuncs + 1, sizeof(*v));
	uint8_t *seen = calloc(nfuncs + 1, 1);
	struct labels *l = &d->keys.labels;
	int rc = v && seen ? 0 : -ERR_NOMEM;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = find_seen(d, s, seen);
	if (!rc)
		see_before(d, seen);
	for (uint32_t i = 0; !rc && i < nfuncs; i++) {
		const struct compare_func *f = &d->match.funcs.v[i];

		if (seen[i])
			v[n++] = (struct label_func){
				.id = i + 1, .name = f->name,
				.image = f->image, .line = f->line,
				.file = f->file, .vaddr = f->vaddr,
				.kernel = f->kernel };
	}
	/* images already have distinct names */
	if (!rc)
		rc = labels_images(l, NULL, 0, nstr);
	if (!rc)
		rc = labels_funcs(l, v, n, nfuncs + 1, d->names.str.str.v);
	free(seen);
	free(v);
	return rc;
}

void diff_name(const struct diff *d, uint32_t key, struct buf *out)
{
	name_symbol(&d->names, &d->keys, &d->keys.keys.v[key], 0, out);
}

void diff_name_alone(const struct diff *d, uint32_t key, struct buf *out)
{
	name_symbol(&d->names, &d->keys, &d->keys.keys.v[key], NAME_ALONE,
		    out);
}

void diff_name_stable(const struct diff *d, uint32_t key, struct buf *out)
{
	const struct frame_key *k = &d->keys.keys.v[key];
	const struct compare_func *f = k->func ? &d->match.funcs.v[k->func - 1]
					       : NULL;

	name_id(profile_cstr(&d->names, f ? f->image : k->image),
		label_within(&d->keys.labels, k->func),
		f ? f->file : "", profile_cstr(&d->names, k->name),
		k, out);
}
