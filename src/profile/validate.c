// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a loaded model safe to walk: every reference points to an existing row.
 * An intact file needs no repair; in a damaged or hostile one, invalid
 * references are redirected to rows that say so.
 */
#include "base/error.h"
#include "profile/format.h"

/* Rows that replace invalid references; created when first needed. */
struct validator {
	struct profile *p;
	size_t bad;
	uint32_t image, run, event;
};

static uint32_t damaged_image(struct validator *m)
{
	struct prof_image im = { .path = PROF_STR_DAMAGED,
				 .kind = PROF_IMAGE_UNKNOWN };

	if (m->image == PROF_NONE && !vec_push(&m->p->images, im))
		m->image = (uint32_t)m->p->images.n - 1;
	return m->image;
}

static uint32_t damaged_run(struct validator *m)
{
	struct prof_run run = { .command = PROF_STR_DAMAGED,
				.exit_status = -1 };

	if (m->run == PROF_NONE && !vec_push(&m->p->runs, run))
		m->run = (uint32_t)m->p->runs.n - 1;
	return m->run;
}

static uint32_t damaged_event(struct validator *m)
{
	struct prof_event ev = { .name = PROF_STR_DAMAGED,
				 .actual = PROF_STR_DAMAGED };

	if (m->event == PROF_NONE && !vec_push(&m->p->events, ev))
		m->event = (uint32_t)m->p->events.n - 1;
	return m->event;
}

/* Returns the value to use instead of `v`: v itself if it is valid. */
static uint64_t mend(struct validator *m, uint64_t v, enum ref ref, size_t id)
{
	const struct profile *p = m->p;

	switch (ref) {
	case REF_NONE:
		return v;
	case REF_STR:
		return v < p->str.str.n ? v : 0;
	case REF_RUN:
		return v < p->runs.n ? v : damaged_run(m);
	case REF_RUN_OPT:
		return v < p->runs.n ? v : PROF_NONE;
	case REF_EVENT:
		return v < p->events.n ? v : damaged_event(m);
	case REF_EVENT_OPT:
		return v < p->events.n ? v : PROF_NONE;
	case REF_IMAGE:
		return v < p->images.n ? v : damaged_image(m);
	case REF_IMAGE_OPT:
		return v < p->images.n ? v : PROF_NONE;
	case REF_NODE:
		return v < p->nodes.n ? v : 0;
	case REF_LOC:
		return v < p->locs.n || (id && prof_is_mark((uint32_t)v))
			? v : PROF_MARK_DAMAGED;
	case REF_FUNC:
		return v < p->funcs.n ? v : PROF_NONE;
	case REF_FRAME_OPT:
		return v < p->frames.n ? v : PROF_NONE;
	case REF_BACK:
		return v < id ? v : PROF_NONE;
	}
	return v;
}

/* Returns the number of rows that a reference may name; those below are valid. */
static uint64_t count_rows(const struct profile *p, enum ref ref)
{
	switch (ref) {
	case REF_STR:
		return p->str.str.n;
	case REF_RUN:
	case REF_RUN_OPT:
		return p->runs.n;
	case REF_EVENT:
	case REF_EVENT_OPT:
		return p->events.n;
	case REF_IMAGE:
	case REF_IMAGE_OPT:
		return p->images.n;
	case REF_NODE:
		return p->nodes.n;
	case REF_LOC:
		return p->locs.n;
	case REF_FUNC:
		return p->funcs.n;
	case REF_FRAME_OPT:
		return p->frames.n;
	case REF_BACK:
	case REF_NONE:
		break;
	}
	return 0;
}

/* Returns the first row whose reference may be invalid, of a column of 32 bits.  Mostly
 * there is none. */
static size_t first_doubt(const struct profile *p, const struct table *t,
			  const struct column *c, uint64_t rows)
{
	size_t n = table_rows(p, t), i = t->section == SECTION_NODES;
	const size_t size = t->row;
	const char *at;
	/* PROF_NONE + 1 is 0 */
	uint32_t none = c->ref == REF_RUN_OPT || c->ref == REF_EVENT_OPT ||
			c->ref == REF_IMAGE_OPT || c->ref == REF_FRAME_OPT ||
			c->ref == REF_BACK;
	uint64_t end = rows + none;
	uint32_t v;

	if (i >= n)
		return n;
	at = (const char *)table_row(p, t, i) + c->offset;
	for (; i < n; i++, at += size) {
		memcpy(&v, at, sizeof(v));
		if ((uint32_t)(v + none) >= (c->ref == REF_BACK ? i + none : end))
			break;
	}
	return i;
}

static void check_column(struct validator *m, const struct table *t,
			 const struct column *col)
{
	size_t n = table_rows(m->p, t);
	uint64_t rows = count_rows(m->p, col->ref);
	size_t i = col->width == sizeof(uint32_t)
		   ? first_doubt(m->p, t, col, rows) : 0;
	char *row = i < n ? table_row(m->p, t, i) : NULL;

	/* mend adds rows to other tables only */
	for (; i < n; i++, row += t->row) {
		uint64_t v, w;

		if (!i && t->section == SECTION_NODES)
			continue;
		v = column_get(row, col);
		if (v < rows)
			continue;
		w = mend(m, v, col->ref, i);
		if (v == w)
			continue;
		column_set(row, col, w);
		/* An absent optional reference is PROF_NONE. */
		m->bad += v != PROF_NONE;
	}
}

static void check_table(struct validator *m, const struct table *t)
{
	for (size_t c = 0; c < t->ncolumns; c++)
		if (t->columns[c].ref != REF_NONE)
			check_column(m, t, &t->columns[c]);
}

enum { MAX_STACK_DEPTH = 1 << 21, MAX_INLINE_DEPTH = 512 };

/*
 * Checks that marks are children of the root; a node without a parent becomes a
 * child of the root.  Depths are bounded so that walking every stack is bounded
 * by the size of the file.  Parents come before children, so one pass computes
 * all depths.
 */
static int check_nodes(struct profile *p)
{
	VEC(uint32_t) depth = { 0 };

	for (size_t i = 1; i < p->nodes.n; i++) {
		struct prof_node *n = &p->nodes.v[i];

		if (n->parent == PROF_NONE || prof_is_mark(n->loc))
			n->parent = 0;
	}
	if (p->nodes.n <= MAX_STACK_DEPTH)	/* too few for a stack that deep */
		return 0;
	if (vec_reserve(&depth, p->nodes.n) < 0)
		return -ERR_NOMEM;
	depth.v[0] = 0;
	for (size_t i = 1; i < p->nodes.n; i++) {
		struct prof_node *n = &p->nodes.v[i];

		if (depth.v[n->parent] >= MAX_STACK_DEPTH)
			n->parent = 0;
		depth.v[i] = depth.v[n->parent] + 1;
	}
	vec_fini(&depth);
	return 0;
}

/* Checks chains of frames; a chain with a missing function leaves its location
 * unresolved. */
static int check_frames(struct profile *p)
{
	enum { BAD = UINT16_MAX };
	VEC(uint16_t) depth = { 0 };

	if (vec_reserve(&depth, p->frames.n + 1) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->frames.n; i++) {
		struct prof_frame *f = &p->frames.v[i];
		uint16_t outer = f->outer == PROF_NONE ? 0 : depth.v[f->outer];

		if (f->func == PROF_NONE || outer >= MAX_INLINE_DEPTH)
			depth.v[i] = BAD;
		else
			depth.v[i] = outer + 1;
		if (depth.v[i] == BAD) {
			f->outer = PROF_NONE;
			f->func = f->func == PROF_NONE ? 0 : f->func;
		}
	}
	for (size_t i = 0; i < p->loc_frame.n; i++)
		if (p->loc_frame.v[i] != PROF_NONE &&
		    depth.v[p->loc_frame.v[i]] == BAD)
			p->loc_frame.v[i] = PROF_NONE;
	for (size_t i = 0; i < p->lines.n; i++)
		if (p->lines.v[i].frame != PROF_NONE &&
		    depth.v[p->lines.v[i].frame] == BAD)
			p->lines.v[i].frame = PROF_NONE;
	vec_fini(&depth);
	return 0;
}

int profile_validate(struct profile *p, size_t *bad)
{
	struct validator m = { .p = p, .image = PROF_NONE, .run = PROF_NONE,
			    .event = PROF_NONE };

	for (size_t i = 0; i < format_ntables; i++)
		check_table(&m, &format_tables[i]);
	*bad = m.bad;
	return check_nodes(p) < 0 || check_frames(p) < 0 ? -ERR_NOMEM : 0;
}
