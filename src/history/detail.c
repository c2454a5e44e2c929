// SPDX-License-Identifier: GPL-2.0-or-later
/* Gathers and compares lines, callers and code of functions: see detail.h. */
#include "history/detail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/search.h"

/* Minimum share of the tested hashes that must be common if code moved, as that of
 * code_came_from; and their minimum number. */
#define MOVED_SHARE 0.4
enum { MOVED_MIN = 3, NEAR = 3 };

/* The samples of a line or a caller of a function. */
struct part {
	uint32_t func, key;
	bool caller;
	double samples;
};
struct parts {
	struct u64map tab[2];	/* lines, callers: by function and key */
	VEC(struct part) v;
};

static int add_part(struct parts *x, const struct part *p)
{
	struct part new = { p->func, p->key, p->caller, 0 };
	uint32_t at = u64map_row(&x->tab[p->caller], &x->v,
				 (uint64_t)p->func << 32 | p->key, &new);

	if (at == U64MAP_NONE)
		return -ERR_NOMEM;
	x->v.v[at].samples += p->samples;
	return 0;
}

/* Adds the line of a sample, if it is one of the function's own file. */
static int add_line(struct parts *x, const struct check_runs *runs,
		    const struct check_file *f, const struct frame_key *k,
		    struct part p)
{
	const struct compare_func *fn = &runs->match.funcs.v[p.func];

	if (!k->line || !fn->line || k->line < fn->line ||
	    strcmp(path_base(profile_cstr(f->p, k->file)),
		   path_base(check_str(runs, fn->file))))
		return 0;
	p.key = k->line - fn->line;
	return add_part(x, &p);
}

static int sum_parts(struct parts *x, const struct check_runs *runs,
		     const uint8_t *wanted, double per_sample)
{
	int rc = 0;

	for (size_t i = 0; i < runs->files.n; i++) {
		const struct check_file *f = &runs->files.v[i];

		for (size_t k = 0; !rc && k < f->cells.n; k++) {
			const struct compare_cell *c = &f->cells.v[k];
			uint32_t fk = check_leaf(f, c->stack);
			struct part p = { .samples = (double)c->weight /
						     per_sample };

			if (fk == PROF_NONE || !wanted[f->func[fk]])
				continue;
			p.func = f->func[fk];
			rc = add_line(x, runs, f, &f->keys.keys.v[fk], p);
			p.caller = true;
			p.key = check_caller(f, c->stack);
			if (!rc && p.key != PROF_NONE)
				rc = add_part(x, &p);
		}
	}
	return rc;
}

static int by_func(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return ascending(x->func, y->func) ?: ascending(x->caller, y->caller) ?:
	       descending(x->samples, y->samples) ?: ascending(x->key, y->key);
}

/* Adds the parts of a function with most samples. */
static int keep_parts(struct history *h, const struct check_runs *runs,
		      const struct parts *x, uint32_t func,
		      struct history_detail *d)
{
	size_t at, taken[2] = { 0, 0 };

	lower_bound(at, 0, x->v.n, x->v.v[at].func < func);
	d->first_part = (uint32_t)h->parts.n;
	for (; at < x->v.n && x->v.v[at].func == func; at++) {
		const struct part *p = &x->v.v[at];
		struct history_part to = { p->caller, p->key, p->samples };

		if (p->samples < HISTORY_MIN || taken[p->caller]++ >=
		    (p->caller ? DETAIL_CALLERS : DETAIL_LINES))
			continue;
		if (p->caller)
			to.key = strtab_add(&h->str, check_str(runs,
					runs->match.funcs.v[p->key].name));
		if (to.key == UINT32_MAX || vec_push(&h->parts, to) < 0)
			return -ERR_NOMEM;
		d->nparts++;
	}
	return 0;
}

static int keep_code(struct history *h, struct check_runs *runs, uint32_t func,
		     struct history_detail *d)
{
	const struct code_ngrams *code;
	uint32_t last = 0;

	d->first_hash = (uint32_t)h->hashes.n;
	if (!check_func_named(runs, func))
		return 0;
	code = compare_code_of(&runs->match, func, COMPARE_NEW);
	d->code = compare_code_hash(&runs->match, func, COMPARE_NEW);
	for (size_t i = 0; code && i < code->nkind &&
			   d->nhashes < DETAIL_HASHES; i++) {
		uint32_t x = (uint32_t)(code->kind[i] >> 32);

		if (i && x == last)
			continue;
		if (vec_push(&h->hashes, x) < 0)
			return -ERR_NOMEM;
		d->nhashes++;
		last = x;
	}
	return runs->match.failed ? -ERR_NOMEM : 0;
}

int details_gather(struct history *h, struct check_runs *runs,
		   const struct detail_func *v, size_t n, double per_sample)
{
	uint8_t *wanted = calloc(runs->match.funcs.n + 1, sizeof(*wanted));
	struct parts x = { .v = { 0 } };
	int rc = wanted ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		wanted[v[i].func] = 1;
	if (!rc)
		rc = sum_parts(&x, runs, wanted, per_sample);
	vec_sort(&x.v, by_func);
	for (size_t i = 0; !rc && i < n; i++) {
		const struct compare_func *f = &runs->match.funcs.v[v[i].func];
		struct history_detail d = { .cost = v[i].cost, .line = f->line };

		d.file = strtab_add(&h->str, path_base(check_str(runs, f->file)));
		rc = d.file == UINT32_MAX ? -ERR_NOMEM
		   : keep_parts(h, runs, &x, v[i].func, &d);
		if (!rc)
			rc = keep_code(h, runs, v[i].func, &d) ?:
			     vec_push(&h->details, d);
	}
	free(wanted);
	u64map_fini(&x.tab[0]);
	u64map_fini(&x.tab[1]);
	vec_fini(&x.v);
	return rc ? -ERR_NOMEM : 0;
}

const struct history_detail *detail_find(const struct history *h, uint32_t batch,
					 uint32_t func)
{
	const struct batch *b = &h->batches.v[batch];

	for (size_t i = 0; i < b->ndetails; i++) {
		const struct history_detail *d =
			&h->details.v[b->first_detail + i];

		if (h->costs.v[d->cost].func == func)
			return d;
	}
	return NULL;
}

static bool has_hash(const struct history *h, const struct history_detail *d,
		     uint32_t x)
{
	const uint32_t *v = h->hashes.v + d->first_hash;
	size_t at;

	lower_bound(at, 0, d->nhashes, v[at] < x);
	return at < d->nhashes && v[at] == x;
}

/* Returns the largest hash that a sketch would contain. */
static uint32_t reach_of(const struct history *h, const struct history_detail *d)
{
	return d->nhashes < DETAIL_HASHES ? UINT32_MAX
	     : h->hashes.v[d->first_hash + d->nhashes - 1];
}

bool detail_moved(const struct history *h, const struct history_detail *now,
		  const struct history_detail *before,
		  const struct history_detail *other)
{
	uint32_t reach = reach_of(h, now);
	size_t tested = 0, common = 0;

	if (now->code && now->code == other->code)
		return !before || before->code != now->code;
	if (before && reach_of(h, before) < reach)
		reach = reach_of(h, before);
	if (reach_of(h, other) < reach)
		reach = reach_of(h, other);
	/* of a new function its own code, of one that was there what it gained */
	for (size_t i = 0; i < now->nhashes; i++) {
		uint32_t x = h->hashes.v[now->first_hash + i];

		if (x > reach || (before && has_hash(h, before, x)))
			continue;
		tested++;
		common += has_hash(h, other, x);
	}
	return common >= MOVED_MIN &&
	       (double)common >= MOVED_SHARE * (double)tested;
}

void evidence_fini(struct evidence *e)
{
	vec_fini(&e->v);
}

/* Returns the details of a function in one of the batches from `from` to `to`, both
 * included, the first of them if `forward`. */
static const struct history_detail *detail_near(const struct cost_series *s,
						size_t func, size_t from,
						size_t to)
{
	const struct history_detail *d = NULL;
	long step = from <= to ? 1 : -1;

	for (long i = (long)from; !d; i += step) {
		d = detail_find(s->h, s->batch[i], s->funcs.v[func].func);
		if (i == (long)to)
			break;
	}
	return d;
}

static double samples_of(const struct history *h, const struct history_detail *d,
			 const struct batch *b)
{
	double sum = 0;

	for (uint32_t r = 0; r < b->runs; r++)
		sum += h->counts.v[h->costs.v[d->cost].counts + r];
	return sum;
}

/* Adds the share of each part in some batches, times `weight`, to `base` or `now`. */
static int add_parts(const struct cost_series *s, const struct change *c, size_t from,
		     size_t n, bool new_side, double weight, struct evidence *out)
{
	const struct history *h = s->h;
	size_t known = 0;

	for (size_t i = from; i < from + n; i++)
		known += detail_find(h, s->batch[i],
				     s->funcs.v[c->func].func) != NULL;
	for (size_t i = from; i < from + n; i++) {
		const struct batch *b = &h->batches.v[s->batch[i]];
		const struct history_detail *d = detail_find(
			h, s->batch[i], s->funcs.v[c->func].func);
		double all = d ? samples_of(h, d, b) : 0;

		for (size_t k = 0; all > 0 && k < d->nparts; k++) {
			const struct history_part *p =
				&h->parts.v[d->first_part + k];
			struct evidence_part e = { p->caller,
				p->caller ? p->key : d->file,
				p->caller ? 0 : p->key, 0, 0 };
			size_t at = 0;

			while (at < out->v.n &&
			       (out->v.v[at].caller != e.caller ||
				out->v.v[at].line != e.line ||
				(e.caller && out->v.v[at].name != e.name)))
				at++;
			if (at == out->v.n && vec_push(&out->v, e) < 0)
				return -ERR_NOMEM;
			*(new_side ? &out->v.v[at].now : &out->v.v[at].base) +=
				weight * p->samples / all / (double)known;
		}
	}
	return 0;
}

static double gain_of(const struct evidence_part *e)
{
	return e->now - e->base;
}

static int by_gain(const void *a, const void *b)
{
	const struct evidence_part *x = a, *y = b;

	return ascending(x->caller, y->caller) ?:
	       descending(fabs(gain_of(x)), fabs(gain_of(y))) ?:
	       ascending(x->line, y->line) ?: ascending(x->name, y->name);
}

/* Keeps the parts with a fifth of the change or more. */
static void keep_largest(struct evidence *e, const struct history_detail *now,
			 double change)
{
	size_t n = 0, taken[2] = { 0, 0 };

	vec_sort(&e->v, by_gain);
	for (size_t i = 0; i < e->v.n; i++) {
		struct evidence_part p = e->v.v[i];

		if (gain_of(&p) * change < change * change / 5 ||
		    taken[p.caller]++ >= 2)
			continue;
		if (!p.caller)
			p.line += now->line;
		e->v.v[n++] = p;
	}
	e->v.n = n;
}

/* Finds what lost the code that a function gained. */
static void find_origin(const struct cost_series *s, const struct changes *all,
			const struct change *c, const struct history_detail *now,
			const struct history_detail *before, size_t last,
			struct evidence *out)
{
	const struct change_group *g = &all->groups.v[c->group];
	double most = 0;

	for (size_t i = g->first; i < g->first + g->n; i++) {
		const struct change *x = &all->v.v[i];
		const struct history_detail *d;

		if (x->func == SERIES_TOTAL || x->impact >= most)
			continue;
		d = detail_near(s, x->func, last, last >= NEAR ? last - NEAR : 0);
		if (!d || !detail_moved(s->h, now, before, d))
			continue;
		most = x->impact;
		out->moved_from = s->funcs.v[x->func].func;
	}
}

int evidence_find(const struct cost_series *s, const struct changes *all,
		  const struct change *c, struct evidence *out)
{
	size_t last = c->slope ? c->from : c->at - 1;	/* with the old cost */
	size_t first = c->slope ? c->to : c->at;
	const struct history_detail *now, *before;
	int rc = 0;

	*out = (struct evidence){ .moved_from = UINT32_MAX };
	if (c->func == SERIES_TOTAL || first >= s->n || !c->at)
		return 0;
	now = detail_near(s, c->func, first, first + NEAR < s->n ? first + NEAR
								 : s->n - 1);
	before = detail_near(s, c->func, last, last >= NEAR ? last - NEAR : 0);
	if (now && before && now->code && before->code)
		out->code = now->code == before->code ? EVIDENCE_SAME_CODE
						      : EVIDENCE_NEW_CODE;
	if (now && c->impact > 0 && !c->slope)
		find_origin(s, all, c, now, before, last, out);
	if (!now || !before || c->kind != CHANGE_COST)
		return 0;
	rc = add_parts(s, c, last >= NEAR ? last - NEAR + 1 : 0,
		       last >= NEAR ? NEAR : last + 1, false, c->share, out) ?:
	     add_parts(s, c, first, first + NEAR <= s->n ? NEAR : s->n - first, true,
		       c->share * c->ratio, out);
	keep_largest(out, now, c->impact);
	return rc;
}
