// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which functions may have received code from which
 * (compare_related). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare/match.h"

/* Two functions may have been one before a change to one of them if they share at least
 * this part of the larger one's mnemonic sequences; the same as for renamed functions. */
#define FOLDED_SHARE 0.7

struct compare_calls {
	struct u64map tab;	/* function << 32 | caller */
	VEC(uint32_t) callers;	/* chained by `next` */
	VEC(uint32_t) next;
	uint32_t *first;	/* by function: index in `callers`, or COMPARE_NONE */
};

void compare_calls_free(struct compare_calls *c)
{
	if (!c)
		return;
	u64map_fini(&c->tab);
	vec_fini(&c->callers);
	vec_fini(&c->next);
}

static int add_call(struct compare_calls *c, uint32_t func, uint32_t caller)
{
	size_t n = c->callers.n;
	uint32_t at = u64map_row(&c->tab, &c->callers, (uint64_t)func << 32 | caller,
				 &caller);

	if (at < n)
		return 0;
	if (at == U64MAP_NONE || vec_push(&c->next, c->first[func]) < 0)
		return -ERR_NOMEM;
	c->first[func] = at;
	return 0;
}

/* Marks the functions of a stack as run, up to a node that another stack
 * marked. */
static void mark(struct compare_match *m, size_t recording, uint32_t node,
		 uint8_t *seen)
{
	const struct compare_input *in = &m->in[recording];
	const struct profile *p = in->p;

	for (; node && !seen[node]; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc;
		uint32_t at = prof_is_mark(loc) ? PROF_NONE
						: profile_loc_frame(p, loc);

		seen[node] = 1;
		for (; at != PROF_NONE; at = p->frames.v[at].outer)
			if (p->frames.v[at].func < p->funcs.n)
				m->funcs.v[m->func_of[recording][
					p->frames.v[at].func]].ran |=
					(uint8_t)(1u << in->side);
	}
}

/* Finds the innermost function and its caller.  Returns false if either is
 * unknown. */
static bool find_call(const struct compare_match *m, size_t recording,
		      uint32_t node, uint32_t *self, uint32_t *caller)
{
	const struct profile *p = m->in[recording].p;

	*self = COMPARE_NONE;
	for (; node; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc;
		uint32_t at = prof_is_mark(loc) ? PROF_NONE
						: profile_loc_frame(p, loc);

		if (at == PROF_NONE)
			return false;
		for (; at != PROF_NONE; at = p->frames.v[at].outer) {
			uint32_t func = p->frames.v[at].func;

			if (!m->inlined && p->frames.v[at].outer != PROF_NONE)
				continue;
			if (func >= p->funcs.n)
				return false;
			*caller = m->func_of[recording][func];
			if (*self == COMPARE_NONE)
				*self = *caller;
			/* a recursive call does not identify the caller */
			if (*caller != *self)
				return true;
		}
	}
	return false;
}

/* Records which functions are in the stacks of a recording, and which function called
 * the innermost one. */
static int read_recording(struct compare_match *m, size_t recording)
{
	const struct compare_input *in = &m->in[recording];
	uint8_t *seen = calloc(in->p->nodes.n + 1, 1);	/* nodes that are marked */
	int rc = seen ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < in->ncells; i++) {
		uint32_t stack = in->cells[i].stack, self, caller;

		mark(m, recording, stack, seen);
		if (find_call(m, recording, stack, &self, &caller))
			rc = add_call(m->calls, self, caller);
	}
	free(seen);
	return rc;
}

static int read_stacks(struct compare_match *m)
{
	struct compare_calls *c = arrays_new(&m->arrays, 1, sizeof(*c));
	uint32_t *first = arrays_new(&m->arrays, m->funcs.n, sizeof(*first));
	int rc = 0;

	m->calls = c;
	if (m->arrays.failed)
		return -ERR_NOMEM;
	c->first = memset(first, 0xff, m->funcs.n * sizeof(*first));
	for (size_t r = 0; !rc && r < m->n; r++)
		rc = read_recording(m, r);
	return rc;
}

static bool calls(const struct compare_match *m, uint32_t caller, uint32_t func)
{
	return u64map_get(&m->calls->tab, (uint64_t)func << 32 | caller) !=
	       U64MAP_NONE;
}

static bool share_caller(const struct compare_match *m, uint32_t a, uint32_t b)
{
	const struct compare_calls *c = m->calls;
	uint32_t i = c->first[a];

	for (; i != COMPARE_NONE; i = c->next.v[i])
		if (calls(m, c->callers.v[i], b))
			return true;
	return false;
}

/* Returns whether a file is a header.  Functions of a header may be inlined
 * anywhere, so a common header does not relate two functions. */
static bool in_header(const char *file)
{
	const char *base = path_base(file), *dot = strrchr(base, '.');

	return *base && (!dot || dot[1] == 'h' || dot[1] == 'H');
}

static bool are_near(const struct compare_match *m, uint32_t a, uint32_t b)
{
	const char *x = strtab_get(m->str, m->funcs.v[a].file);
	const char *y = strtab_get(m->str, m->funcs.v[b].file);

	if (calls(m, a, b) || calls(m, b, a))
		return true;
	if (in_header(x) || in_header(y))
		return false;
	return (*x && !strcmp(path_base(x), path_base(y))) ||
	       share_caller(m, a, b);
}

/* Returns whether a function has no code of its own on a side: it did not run, or
 * its code is too short to be more than a jump. */
static bool is_empty(struct compare_match *m, uint32_t func, int side)
{
	return !(m->funcs.v[func].ran & 1u << side) ||
	       (!compare_code_of(m, func, side) && compare_code_hash(m, func, side));
}

/* Returns whether `whole`, which runs without `part` on this side, may stand for both
 * functions of the other side.  They then have equal code, unless one of them was edited
 * and therefore is no longer folded into the other. */
static bool may_be_folded(struct compare_match *m, uint32_t whole, uint32_t part,
			  int side)
{
	uint64_t a = compare_code_hash(m, whole, side);
	uint64_t b = compare_code_hash(m, part, !side);
	const struct code_ngrams *x, *y;

	if (!is_empty(m, part, side))
		return false;
	if (a && a == b)
		return true;
	x = compare_code_of(m, whole, side);
	y = compare_code_of(m, part, !side);
	if (!x || !y)
		return false;
	/* One function ran on both sides, the other no longer runs: either they were
	 * merged, or the first is called instead of the second.  A merge is likely only
	 * if they are near each other and their code is nearly equal. */
	return side == COMPARE_OLD ? mnemonic_overlap(x, y) >= FOLDED_SHARE
				   : are_near(m, whole, part) &&
					     code_same_text(x, y) >= FOLDED_SHARE;
}

bool compare_related(struct compare_match *m, uint32_t gained, uint32_t lost)
{
	const struct compare_func *a = &m->funcs.v[gained];
	const struct compare_func *b = &m->funcs.v[lost];
	const struct code_ngrams *now, *before, *other;
	bool near;

	if (!m->calls && read_stacks(m) < 0)
		m->failed = true;
	if (m->failed)
		return false;
	near = are_near(m, gained, lost);
	if (may_be_folded(m, lost, gained, COMPARE_OLD) ||
	    may_be_folded(m, gained, lost, COMPARE_NEW))
		return true;
	if (!near && (a->file || a->image != b->image))
		return false;
	now = compare_code_of(m, gained, COMPARE_NEW);
	other = compare_code_of(m, lost, COMPARE_OLD);
	if (!(a->ran & 1u << COMPARE_OLD))
		return now && other ? code_overlaps(now, other) : near;
	before = compare_code_of(m, gained, COMPARE_OLD);
	return now && other && before && code_came_from(now, before, other);
}
