// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of both sides (func_match.h), and what tells those of one name apart.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/clones.h"
#include "views/diff_internal.h"
#include "views/func_match.h"

/* What the function is called in the diff, and in which image; false: out of
 * memory. */
static bool name_item(struct diff *d, int side, const struct prof_func *f,
		      struct match_item *x)
{
	const struct diff_side *s = &d->side[side];
	const char *name = profile_cstr(s->p, f->name);
	size_t n = clone_base(name);
	const struct diff_rename *r;

	x->clone = name[n];
	x->name = strtab_add_n(&d->names.str, name, n);
	x->image = s->image_of[f->image];
	if (x->name == PROF_NONE)
		return false;
	r = side == DIFF_OLD ? diff_rename_of(d, x->name) : NULL;
	if (r) {
		x->name = r->now;
		if (x->image == r->image_before)
			x->image = r->image_now;
	}
	if (d->keys.mask & KEY_BIT(KEY_IMAGE))
		return true;
	/* then functions may be in several images; without source file, they
	 * are told apart by those */
	if (!*x->file)
		x->file = profile_cstr(&d->names, x->image);
	x->image = 0;
	return true;
}

static int list_funcs(struct diff *d, struct match_item *v, size_t *n)
{
	for (uint32_t s = 0; s < DIFF_SIDES; s++) {
		const struct profile *p = d->side[s].p;
		const uint32_t *same = d->side[s].rep->keys.same.func;

		for (uint32_t i = 0; i < p->funcs.n; i++) {
			const struct prof_func *f = &p->funcs.v[i];
			const struct build_id *id =
				&p->images.v[f->image].build_id;

			if (same[i] != i)
				continue;
			v[*n] = (struct match_item){
				.recording = s, .line = f->line,
				.vaddr = f->vaddr,
				.file = profile_cstr(p, f->file),
				.build = !id->len ? 0
					: hash_bytes(id->bytes, id->len) | 1 };
			if (!name_item(d, (int)s, f, &v[*n]))
				return -ERR_NOMEM;
			d->side[s].func_of[i] = (uint32_t)(*n)++;
		}
	}
	return 0;
}

/* func_of leads to items, for the rows that stand for functions. */
static int number_funcs(struct diff *d, const struct match_item *v, size_t nids)
{
	if (vec_reserve(&d->funcs, nids + 1) < 0)
		return -ERR_NOMEM;
	memset(d->funcs.v, 0, (nids + 1) * sizeof(*d->funcs.v));
	d->funcs.n = nids;
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct profile *p = d->side[s].p;
		const uint32_t *same = d->side[s].rep->keys.same.func;
		uint32_t *of = d->side[s].func_of;

		for (uint32_t i = 0; i < p->funcs.n; i++) {
			const struct prof_func *f = &p->funcs.v[i];
			struct diff_func *to;

			if (same[i] != i)
				continue;
			of[i] = v[of[i]].id;
			to = &d->funcs.v[of[i]];
			if (to->file && to->line && !f->line)
				continue;
			*to = (struct diff_func){ profile_cstr(p, f->file),
						  f->line,
						  d->side[s].image_of[f->image],
						  f->vaddr, false };
		}
		for (uint32_t i = 0; i < p->funcs.n; i++)
			if (same[i] != i)
				of[i] = of[same[i]];
	}
	return 0;
}

int diff_funcs(struct diff *d)
{
	size_t n = d->side[0].p->funcs.n + d->side[1].p->funcs.n;
	struct match_item *v = calloc(n + 1, sizeof(*v));
	uint32_t nids = 0;
	int rc = v ? 0 : -ERR_NOMEM;

	for (int s = 0; s < DIFF_SIDES; s++) {
		d->side[s].func_of = calloc(d->side[s].p->funcs.n + 1,
					    sizeof(uint32_t));
		if (!d->side[s].func_of)
			rc = -ERR_NOMEM;
	}
	n = 0;
	if (!rc)
		rc = list_funcs(d, v, &n);
	if (!rc)
		rc = match_items(v, n, &nids);
	if (!rc)
		rc = number_funcs(d, v, nids);
	free(v);
	return rc;
}

static int find_seen(struct diff *d, int side)
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
				d->funcs.v[func - 1].seen = true;
		}
	free(done);
	return 0;
}

int diff_labels(struct diff *d)
{
	size_t nstr = d->names.str.str.n + 1, n = 0;
	struct label_func *v = calloc(d->funcs.n + 1, sizeof(*v));
	struct labels *l = &d->keys.labels;
	int rc = v ? 0 : -ERR_NOMEM;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = find_seen(d, s);
	for (size_t i = 0; !rc && i < d->keys.keys.n; i++) {
		const struct frame_key *k = &d->keys.keys.v[i];
		struct diff_func *f = k->func ? &d->funcs.v[k->func - 1] : NULL;

		if (!f || !f->seen)
			continue;
		f->seen = false;	/* once */
		v[n++] = (struct label_func){
			.id = k->func, .name = k->name, .image = f->image,
			.line = f->line, .file = f->file ? f->file : "",
			.vaddr = f->vaddr, .kernel = k->kernel };
	}
	/* images are called by what tells them apart already */
	if (!rc)
		rc = labels_images(l, NULL, 0, nstr);
	if (!rc)
		rc = labels_funcs(l, v, n, d->funcs.n + 1, d->names.str.str.v);
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
	const struct diff_func *f = k->func ? &d->funcs.v[k->func - 1] : NULL;

	name_id(profile_cstr(&d->names, f ? f->image : k->image),
		label_within(&d->keys.labels, k->func),
		f && f->file ? f->file : "", profile_cstr(&d->names, k->name),
		k, out);
}
