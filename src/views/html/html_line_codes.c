// SPDX-License-Identifier: GPL-2.0-or-later
/* Which instructions a page holds: see html_lines.c. */
#include <stdlib.h>
#include <string.h>

#include "views/html/html_lines.h"

/* The same code in another recording of the same side: runs of one program. */
static uint32_t same_code(const struct html_data *d, uint32_t source,
			  const struct annot_code *c)
{
	const struct profile *p = html_rep(d, source)->p;
	const struct prof_symbol *s = &p->symbols.v[c->symbol];
	const struct prof_image *im = &p->images.v[s->image];

	for (size_t i = 0; i < d->lines.codes.n; i++) {
		const struct html_code *x = &d->lines.codes.v[i];
		const struct annot_code *y =
			&d->src[x->source].in.lines->codes.v[x->at];
		const struct profile *q = html_rep(d, x->source)->p;
		const struct prof_symbol *t = &q->symbols.v[y->symbol];
		const struct prof_image *jm = &q->images.v[t->image];

		if (x->source != source && s->vaddr == t->vaddr &&
		    s->size == t->size && y->ninsns == c->ninsns &&
		    d->src[x->source].in.side == d->src[source].in.side &&
		    build_id_equal(&im->build_id, &jm->build_id) &&
		    !strcmp(profile_cstr(p, im->path),
			    profile_cstr(q, jm->path)))
			return (uint32_t)i;
	}
	return PROF_NONE;
}

/* The instruction that covers vaddr; PROF_NONE: none. */
static uint32_t find_insn(const struct annotation *a,
			  const struct annot_code *c, uint64_t vaddr)
{
	size_t lo = 0, hi = c->ninsns;
	const struct annot_insn *in;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->insns.v[c->insn + mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return PROF_NONE;
	in = &a->insns.v[c->insn + lo - 1];
	return vaddr - in->vaddr < in->size ? (uint32_t)lo - 1 : PROF_NONE;
}

/* The code that the locations taken are in, dearest first, and all locations in
 * it: its instructions show all of their cost. */
int html_take_codes(struct html_chooser *k, uint32_t source, size_t *insns)
{
	struct html_data *d = k->d;
	struct html_source *s = &d->src[source];
	const struct annotation *a = s->in.lines;
	uint8_t *hit = calloc(a->p->symbols.n + 1, 1);
	int rc = hit ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < a->locs.n; i++)
		if (a->locs.v[i].symbol != PROF_NONE &&
		    s->loc_of[a->locs.v[i].loc] != PROF_NONE)
			hit[a->locs.v[i].symbol] = 1;
	for (size_t i = 0; !rc && i < a->codes.n; i++) {
		const struct annot_code *c = &a->codes.v[i];
		struct html_code code = { source, i, c->ninsns };

		if (!hit[c->symbol])
			continue;
		hit[c->symbol] = 2;
		s->code_of[c->symbol] = same_code(d, source, c);
		if (s->code_of[c->symbol] != PROF_NONE)
			continue;
		s->code_of[c->symbol] = (uint32_t)d->lines.codes.n;
		if (*insns + c->ninsns > HTML_INSNS)
			code.insns = 0;
		*insns += code.insns;
		rc = vec_push(&d->lines.codes, code);
	}
	for (size_t i = 0; !rc && i < a->locs.n; i++)
		if (a->locs.v[i].symbol != PROF_NONE &&
		    hit[a->locs.v[i].symbol] == 2)
			rc = html_take_location(k, source, a->locs.v[i].loc);
	free(hit);
	return rc;
}

void html_place_locations(struct html_data *d)
{
	for (uint32_t s = 0; s < d->nsrc; s++) {
		const struct annotation *a = d->src[s].in.lines;

		for (size_t i = 0; a && i < a->locs.n; i++) {
			const struct annot_loc *l = &a->locs.v[i];
			uint32_t at = d->src[s].loc_of[l->loc], code;
			const struct html_code *c;

			if (at == PROF_NONE || l->symbol == PROF_NONE)
				continue;
			code = d->src[s].code_of[l->symbol];
			if (code == PROF_NONE)
				continue;
			c = &d->lines.codes.v[code];
			if (!c->insns)
				continue;
			a = d->src[c->source].in.lines;
			d->lines.locs.v[at].code = code;
			d->lines.locs.v[at].insn = find_insn(
				a, &a->codes.v[c->at], l->vaddr);
			a = d->src[s].in.lines;
		}
	}
}
