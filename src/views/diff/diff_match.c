// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Matches images and functions (compare/match.h), source files and lines of
 * both sides.
 *
 * Source files are matched by path, or else by its end (compare/paths.h), and
 * lines by their text (line_match.h).  Code without names is matched by address
 * if both sides ran the same build; otherwise all of it in an image counts as
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "compare/paths.h"
#include "symbolize/demangle/clones.h"
#include "views/diff/diff_internal.h"

/* Fills diff_side.file_of. */
static int diff_files(struct diff *d)
{
	const struct profile *const p[] = { d->side[0].p, d->side[1].p };
	uint32_t *file_of[DIFF_SIDES];
	int rc = files_pair(&d->names.str, p, file_of);

	for (int s = 0; s < DIFF_SIDES; s++)
		d->side[s].file_of = file_of[s];
	return rc;
}

/* Costs are samples of any event, because a rough measure is enough. */
static void add_cell(void *ctx, uint32_t stack, const struct slot *slot,
		     struct cell c)
{
	struct diff_side *s = ctx;
	struct compare_cell *to = &s->cells.v[s->rep->agg.leaf_of[stack] - 1];

	(void)slot;
	to->stack = stack;
	to->weight += c.count;
	to->count += c.count;
}

static int collect_cells(struct diff_side *s)
{
	const struct aggregate *a = &s->rep->agg;

	if (vec_reserve(&s->cells, a->leaves.n + 1) < 0)
		return -ERR_NOMEM;
	s->cells.n = a->leaves.n;
	memset(s->cells.v, 0, s->cells.n * sizeof(*s->cells.v));
	aggregate_each(a, add_cell, s);
	return 0;
}

/* Fills diff.match. */
static int diff_funcs(struct diff *d)
{
	struct compare_input in[DIFF_SIDES];
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		struct diff_side *side = &d->side[s];

		rc = collect_cells(side);
		in[s] = (struct compare_input){ side->p, &side->rep->keys.same,
			(uint8_t)s, side->cells.v, side->cells.n };
	}
	if (!rc)
		rc = compare_match_init(&d->match, &d->names.str, in, DIFF_SIDES,
					d->keys.mask & KEY_BIT(KEY_IMAGE),
					!d->spec.no_inline);
	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
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

/* Labels functions with the same name by the keys. */
static int diff_labels(struct diff *d)
{
	uint8_t *seen = calloc(d->match.funcs.n + 1, 1);
	int rc = seen ? 0 : -ERR_NOMEM;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = find_seen(d, s, seen);
	if (!rc) {
		see_before(d, seen);
		rc = compare_labels(&d->match, seen, &d->keys.labels);
	}
	free(seen);
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
		profile_cstr(&d->names, f ? f->file : 0),
		profile_cstr(&d->names, k->name),
		k, out);
}

#define NO_NAME "[no name]"

struct matcher {
	struct diff *d;
	/* by matched image: hash of its build, 0 if a side has no build ID */
	uint64_t *build[DIFF_SIDES];
};

/* Returns whether addresses in an image mean the same on both sides. */
static bool addresses_match(const struct matcher *m, uint32_t image)
{
	return m->build[0][image] && m->build[0][image] == m->build[1][image];
}

static int match_lines(struct diff *d)
{
	struct line_side side[DIFF_SIDES];

	if (!(d->spec.keys.mask & KEY_BIT(KEY_LINE)))
		return 0;
	for (int s = 0; s < DIFF_SIDES; s++)
		side[s] = (struct line_side){ d->side[s].p, &d->spec.where[s],
					      d->side[s].file_of };
	return line_map_init(&d->lines, side);
}

/* Translates one side's key to the diff's strings and numbers. */
static int common_key(struct matcher *m, int side, const struct frame_key *k,
		      struct frame_key *out)
{
	struct diff_side *s = &m->d->side[side];
	const char *name = profile_cstr(s->p, k->name);

	*out = *k;
	out->im = 0;
	out->func = k->func ? s->func_of[k->func - 1] + 1 : 0;
	out->image = k->im ? s->image_of[k->im - 1] : 0;
	out->file = k->file ? s->file_of[k->file] : 0;
	if (side == DIFF_OLD && k->line && k->line < LINE_REMOVED)
		out->line = line_map_get(&m->d->lines, out->file, k->line);
	if (k->name)
		out->name = strtab_add_n(&m->d->names.str, name,
					 clone_base(name));
	if (out->func) {	/* it may have been renamed */
		const struct compare_func *f =
			&m->d->match.funcs.v[out->func - 1];

		out->name = f->name;
		out->image = out->image ? f->image : 0;
	}
	if (k->kind == FRAME_ADDR && !addresses_match(m, out->image)) {
		out->kind = FRAME_FUNC;
		out->name = profile_str(&m->d->names, NO_NAME);
		out->vaddr = 0;
	}
	return out->name == PROF_NONE ? -ERR_NOMEM : 0;
}

static int add_key(struct matcher *m, int side, uint32_t fk)
{
	struct diff *d = m->d;
	struct frame_key key;
	uint32_t id;

	if (common_key(m, side, &d->side[side].rep->keys.keys.v[fk], &key) < 0)
		return -ERR_NOMEM;
	id = frame_keys_add(&d->keys, &key);
	if (id == PROF_NONE)
		return -ERR_NOMEM;
	for (int s = 0; s < DIFF_SIDES; s++)
		while (d->key_fk[s].n <= id)
			if (vec_push(&d->key_fk[s], PROF_NONE) < 0)
				return -ERR_NOMEM;
	if (d->key_fk[side].v[id] == PROF_NONE)
		d->key_fk[side].v[id] = fk;
	d->side[side].key_of[fk] = id;
	return 0;
}

static uint32_t counts_as(const struct diff *d, int side, uint32_t fk)
{
	return fk == PROF_NONE
		       ? fk : d->key_fk[side].v[d->side[side].key_of[fk]];
}

/* Merges the frame keys of a side that are one key in the diff.  A stack that
 * contains two of them then counts once. */
static void unify(struct diff *d, int side)
{
	struct frame_keys *k = &d->side[side].rep->keys;
	size_t n = k->nframes + d->side[side].p->locs.n;

	for (size_t i = 0; i < n; i++)
		k->steps[i].fk = counts_as(d, side, k->steps[i].fk);
	k->unknown = counts_as(d, side, k->unknown);
}

static int add_keys(struct matcher *m)
{
	int rc = 0;

	for (int s = 0; s < DIFF_SIDES; s++) {
		struct diff_side *side = &m->d->side[s];
		size_t n = side->rep->keys.keys.n;

		side->key_of = malloc((n + 1) * sizeof(*side->key_of));
		if (!side->key_of)
			return -ERR_NOMEM;
		for (uint32_t i = 0; !rc && i < n; i++)
			rc = add_key(m, s, i);
	}
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		unify(m->d, s);
	return rc;
}

static int find_builds(struct matcher *m)
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct diff_side *side = &m->d->side[s];

		m->build[s] = calloc(m->d->names.str.str.n + 1, sizeof(uint64_t));
		if (!m->build[s])
			return -ERR_NOMEM;
		for (size_t i = 0; i < side->p->images.n; i++)
			m->build[s][side->image_of[i]] =
				compare_build_of(&side->p->images.v[i]);
	}
	return 0;
}

int diff_match(struct diff *d)
{
	struct matcher m = { .d = d };
	int rc;

	d->keys.mask = d->side[0].rep->keys.mask;
	rc = diff_funcs(d) ?:
	     diff_files(d) ?:
	     match_lines(d) ?:
	     find_builds(&m) ?:
	     add_keys(&m) ?:
	     diff_labels(d);
	free(m.build[0]);
	free(m.build[1]);
	return rc;
}

uint32_t diff_line(const struct diff *d, uint32_t key, int side)
{
	uint32_t fk = d->key_fk[side].v[key];

	return fk == PROF_NONE ? 0 : d->side[side].rep->keys.keys.v[fk].line;
}

const struct compare_func *diff_before(const struct diff *d,
				       const struct frame_key *key)
{
	uint32_t before = key->func ? d->match.funcs.v[key->func - 1].before
				    : COMPARE_NONE;

	return before == COMPARE_NONE ? NULL : &d->match.funcs.v[before];
}

bool diff_name_before(const struct diff *d, uint32_t key, struct buf *out)
{
	struct frame_key k = d->keys.keys.v[key];
	const struct compare_func *f = diff_before(d, &k);
	bool alone;

	if (!f)
		return false;
	/* show the image if nothing else differs */
	alone = f->name == k.name &&
		f->image != d->match.funcs.v[k.func - 1].image;
	k.func = (uint32_t)(f - d->match.funcs.v) + 1;
	k.name = f->name;
	name_symbol(&d->names, &d->keys, &k, alone ? NAME_ALONE : 0, out);
	return true;
}
