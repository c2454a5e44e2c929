// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that moved: a function was split, renamed or inlined, or handed work to a
 * helper.  What one function gained, related ones lost.  Functions are related
 * that are declared in the same file, share a caller, or call each other (for
 * FBDetect's filter of cost shifts see Zhang et al., SOSP 2024).
 *
 * What fell is spent once: a regression beside moved code stays one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check_internal.h"

/* Of a gain, others must have lost at least so much. */
#define EXPLAINED 0.7
enum { CHANCE_ONE_IN = 20 };

struct shift {
	struct check *c;
	double *budget;		/* by row: what it lost and is not spent */
	size_t *group;		/* rows that are related to the one looked at */
};

static double gain(const struct check *c, const struct check_row *r)
{
	return r->j.now * c->scale - r->j.base;
}

static bool fell(const struct check *c, const struct check_row *r)
{
	if (r->unit.func == PROF_NONE || gain(c, r) >= 0)
		return false;
	return r->status == CHECK_FASTER || r->status == CHECK_GONE ||
	       (r->status == CHECK_SAME && r->j.df > 0 &&
		r->j.p_faster * CHANCE_ONE_IN <= 1);
}

static bool has_caller(const struct check *c, const struct check_row *r,
		       uint32_t func)
{
	const struct check_parts *p = &r->parts[PART_CALLER];

	for (size_t i = 0; i < p->n; i++)
		if (c->parts.v[p->first + i].func == func)
			return true;
	return false;
}

static bool share_caller(const struct check *c, const struct check_row *a,
			 const struct check_row *b)
{
	const struct check_parts *p = &a->parts[PART_CALLER];

	for (size_t i = 0; i < p->n; i++)
		if (has_caller(c, b, c->parts.v[p->first + i].func))
			return true;
	return false;
}

static bool related(const struct check *c, const struct check_row *a,
		    const struct check_row *b)
{
	const struct check_func *f = &c->runs.funcs.v[a->unit.func];
	const struct check_func *g = &c->runs.funcs.v[b->unit.func];
	const char *x = path_base(check_str(&c->runs, f->file));
	const char *y = path_base(check_str(&c->runs, g->file));

	if (a->unit.func == b->unit.func || (*x && !strcmp(x, y)))
		return true;
	/* without debug information a new name is known by its image only */
	if (a->status == CHECK_ADDED && !*x && f->image == g->image)
		return true;
	return has_caller(c, a, b->unit.func) ||
	       has_caller(c, b, a->unit.func) || share_caller(c, a, b);
}

/* Looks for what a row gained; true when it moved. */
static bool explain(struct shift *s, uint32_t row)
{
	struct check *c = s->c;
	struct check_row *r = &c->rows.v[row];
	double want = gain(c, r), have = 0, most = 0;
	struct judge_sum sum;
	size_t n = 0;

	s->group[n++] = row;
	for (uint32_t i = 0; i < c->rows.n; i++) {
		if (i == row || !(s->budget[i] > 0) ||
		    !related(c, r, &c->rows.v[i]))
			continue;
		s->group[n++] = i;
		have += s->budget[i];
		if (s->budget[i] > most) {
			most = s->budget[i];
			r->partner = i;
		}
	}
	if (have < EXPLAINED * want)
		return false;
	sum = judge_together(&c->judge, s->group, n);
	if (!(sum.ratio <= 1 + c->o.judge.threshold))
		return false;
	for (size_t i = 1; i < n; i++)
		s->budget[s->group[i]] *= have > want ? 1 - want / have : 0;
	return true;
}

struct riser {
	bool added;
	double gain;
	uint32_t row;
};

/* New functions first: they are what moved code becomes. */
static int by_gain(const void *a, const void *b)
{
	const struct riser *x = a, *y = b;

	if (x->added != y->added)
		return x->added ? -1 : 1;
	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

int check_moved(struct check *c, struct error *err)
{
	struct shift s = { .c = c };
	struct riser *up = calloc(c->rows.n + 1, sizeof(*up));
	size_t n = 0;

	s.budget = calloc(c->rows.n + 1, sizeof(*s.budget));
	s.group = calloc(c->rows.n + 1, sizeof(*s.group));
	for (uint32_t i = 0; up && s.budget && s.group && i < c->rows.n; i++) {
		const struct check_row *r = &c->rows.v[i];

		if (fell(c, r))
			s.budget[i] = -gain(c, r);
		else if (r->unit.func != PROF_NONE && gain(c, r) > 0 &&
			 (r->status == CHECK_SLOWER ||
			  r->status == CHECK_SUSPECT ||
			  r->status == CHECK_ADDED))
			up[n++] = (struct riser){ r->status == CHECK_ADDED,
						  gain(c, r), i };
	}
	if (n)
		qsort(up, n, sizeof(*up), by_gain);
	for (size_t i = 0; i < n; i++) {
		struct check_row *r = &c->rows.v[up[i].row];

		if (explain(&s, up[i].row)) {
			r->status = CHECK_MOVED;
			r->fails = false;
		} else {
			r->partner = PROF_NONE;
		}
	}
	n = up && s.budget && s.group;
	free(up);
	free(s.budget);
	free(s.group);
	return n ? 0 : check_nomem(err);
}
