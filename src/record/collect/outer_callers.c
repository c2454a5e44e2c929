// SPDX-License-Identifier: GPL-2.0-or-later
/* Remembers the callers of functions whose frames cross the end of a stack's copy. */
#include "record/collect/outer_callers.h"

#include <string.h>

#include "base/hash.h"

enum { LONG = 4 };	/* required lengths of a run until a change of callers is
			 * forgotten */

static struct outer_place *place_of(struct outer_callers *o,
				    const struct outer_view *v)
{
	uint64_t h = hash_mix(hash_mix(v->function, v->sp), v->tid);

	return &o->places[h % OUTER_PLACES];
}

static bool is_place(const struct outer_place *p, const struct outer_view *v)
{
	return p->row && p->pid == v->pid && p->tid == v->tid &&
	       p->space == v->space && p->function == v->function &&
	       p->sp == v->sp;
}

/* Returns the counter of the function's changes of callers; it may hold another
 * function's. */
static struct outer_function *function_of(struct outer_callers *o,
					  const struct outer_view *v)
{
	uint64_t h = hash_mix(v->function, v->pid);

	return &o->functions[h % OUTER_FUNCTIONS];
}

static bool is_function(const struct outer_function *f,
			const struct outer_view *v)
{
	return f->function == v->function && f->pid == v->pid &&
	       f->space == v->space;
}

static uint32_t changes_of(const struct outer_function *f,
			   const struct outer_view *v)
{
	return is_function(f, v) ? f->changes : 0;
}

static uint32_t row_needed(uint32_t changes)
{
	return (uint32_t)OUTER_ROW << 2 * changes;
}

static void note_change(struct outer_function *f, const struct outer_view *v)
{
	if (!is_function(f, v))
		*f = (struct outer_function){ v->function, v->pid, v->space,
					      0 };
	if (f->changes < OUTER_CHANGES)
		f->changes++;
}

static size_t kept(const struct outer_view *v)
{
	return v->n < OUTER_FRAMES ? v->n : OUTER_FRAMES;
}

/* Hashes everything that is not kept individually. */
static uint64_t rest_hash(const struct outer_view *v)
{
	uint64_t h = v->n;

	for (size_t i = 0; i < v->n; i++)
		h = hash_mix(h, v->sps[i]);
	for (size_t i = kept(v); i < v->n; i++)
		h = hash_mix(h, v->pc[i]);
	return h;
}

static void take(struct outer_place *p, const struct outer_view *v,
		 uint32_t batch)
{
	/* a call that is over says nothing new */
	for (size_t i = 0; !v->in_place && i < kept(v); i++) {
		if (v->call(v->ctx, i, v->pc[i]) == OUTER_CALL_OTHER) {
			p->row = 0;
			return;
		}
	}
	*p = (struct outer_place){ .pid = v->pid, .tid = v->tid,
				   .space = v->space, .batch = batch,
				   .function = v->function, .sp = v->sp,
				   .rest = rest_hash(v), .row = 1 };
	memcpy(p->pc, v->pc, kept(v) * sizeof(*p->pc));
}

/* Returns whether caller i, now at another address, is the same caller in another
 * call. */
static bool is_elsewhere(const struct outer_place *p,
			 const struct outer_view *v, size_t i)
{
	enum outer_call now = v->call(v->ctx, i, v->pc[i]);

	if (v->in_place || now == OUTER_CALL_THIS ||
	    !v->same_function(v->ctx, v->pc[i], p->pc[i]))
		return false;
	return now == OUTER_CALL_OTHER ||
	       v->call(v->ctx, i, p->pc[i]) == OUTER_CALL_THIS;
}

enum seen { SEEN_SAME, SEEN_ELSEWHERE, SEEN_CHANGED };

static enum seen compare(const struct outer_place *p, const struct outer_view *v)
{
	enum seen seen = SEEN_SAME;

	if (p->rest != rest_hash(v))
		return SEEN_CHANGED;
	for (size_t i = 0; i < kept(v); i++) {
		if (p->pc[i] == v->pc[i])
			continue;
		if (!is_elsewhere(p, v, i))
			return SEEN_CHANGED;
		seen = SEEN_ELSEWHERE;
	}
	return seen;
}

/* Extends the run by one batch. */
static void lengthen(struct outer_place *p, struct outer_function *f,
		     const struct outer_view *v, uint32_t batch)
{
	uint32_t changes = changes_of(f, v);

	if (p->batch == batch || p->row == UINT32_MAX)
		return;
	p->batch = batch;
	p->row++;
	if (changes && p->row / LONG >= row_needed(changes))
		f->changes--;
}

bool outer_callers_see(struct outer_callers *o, const struct outer_view *v,
		       uint32_t batch)
{
	struct outer_place *p = place_of(o, v);
	struct outer_function *f = function_of(o, v);

	if (!is_place(p, v)) {
		take(p, v, batch);
		return v->in_place && !changes_of(f, v);
	}
	switch (compare(p, v)) {
	case SEEN_CHANGED:
		note_change(f, v);
		take(p, v, batch);
		return false;
	case SEEN_ELSEWHERE:
		memcpy(v->pc, p->pc, kept(v) * sizeof(*p->pc));
		break;
	case SEEN_SAME:
		lengthen(p, f, v, batch);
	}
	return (v->in_place && !changes_of(f, v)) ||
	       p->row >= row_needed(changes_of(f, v));
}
