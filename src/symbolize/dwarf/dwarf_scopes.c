// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the namespaces, classes and functions that contain a DIE.  DIEs do not
 * refer to their parents, so the first lookup reads the unit in one pass.  What is
 * inside classes and functions, most of a unit, is left out where DW_AT_sibling
 * allows it.  The pass only stores the scopes whose inside it reads (namespaces) and
 * the place of every 64th DIE.  A lookup continues from such a place to the DIE; if
 * that is in a scope that was left out, this scope is read in the same way.
 * Few units are looked up (those with functions without a linkage name).
 */
#include <dwarf.h>

#include "base/cursor.h"
#include "base/search.h"
#include "symbolize/dwarf/dwarf.h"

enum { MAX_DEPTH = 256, MARK_DIES = 64 };

static bool is_scope(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

struct open_dies {
	uint32_t scope[MAX_DEPTH];	/* innermost scope at each depth */
	uint32_t depth;
};

/* Closes the innermost open DIE, whose children end before `at`. */
static void close_die(struct scope_index *x, struct open_dies *o, uint32_t at)
{
	uint32_t now = o->scope[o->depth], outer;

	if (!o->depth)
		return;
	outer = o->scope[--o->depth];
	if (now != outer)
		x->v.v[now].end = at;
}

/* Opens a DIE. */
static bool open_die(struct scope_index *x, struct open_dies *o, uint16_t tag,
		     uint32_t at, uint32_t unit_end)
{
	uint32_t in = o->scope[o->depth];

	if (o->depth + 1 >= MAX_DEPTH)
		return false;
	if (is_scope(tag)) {
		struct scope s = { .start = at, .end = unit_end, .parent = in };

		in = (uint32_t)x->v.n;
		if (vec_push(&x->v, s) < 0)
			return false;
	}
	o->scope[++o->depth] = in;
	return true;
}

/* Returns the end of a DIE, whose abbreviation is stored (NULL: it ends a list of children);
 * NULL if it is damaged.  *jump is that of abbrev_run. */
static inline const uint8_t *skip_die(const struct dwarf_unit *u, const uint8_t *p,
				      const uint8_t *end, const struct abbrev **a,
				      bool *jump)
{
	uint64_t code;

	p = dwarf_read_code(p, end, &code);
	*a = p && code ? abbrev_of(u->abbrevs, code) : NULL;
	if (!*a) {
		*jump = false;
		return code ? NULL : p;
	}
	if ((*a)->flags & ABBREV_VARIABLE)
		return abbrev_run(u->abbrevs, *a, p, dwarf_unit_section(u)->p + u->off, end,
				  jump);
	*jump = false;
	return (size_t)(end - p) < (*a)->size ? NULL : p + (*a)->size;
}

/* Makes the pass over the DIEs inside scope `in`.  Returns false if some of them could not be
 * read. */
static bool collect(struct scope_index *x, const struct dwarf_unit *u, uint32_t in)
{
	const uint8_t *unit = dwarf_unit_section(u)->p + u->off, *at, *p;
	const uint8_t *end = unit + x->v.v[in].end;
	struct open_dies o = { { in }, 0 };
	const struct abbrev *a;
	bool jump = false;
	size_t n;

	p = skip_die(u, unit + x->v.v[in].start, end, &a, &jump);
	for (n = 0; p && p < end; n++) {
		at = p;
		if (n % MARK_DIES == 0 && vec_push(&x->marks, (uint32_t)(at - unit)) < 0)
			return false;
		jump = true;
		p = skip_die(u, at, end, &a, &jump);
		if (!p)
			return false;
		if (!a)
			close_die(x, &o, (uint32_t)(p - unit));
		else if (!jump && (a->flags & ABBREV_CHILDREN) &&
			 !open_die(x, &o, a->tag, (uint32_t)(at - unit),
				   (uint32_t)(end - unit)))
			return false;
	}
	return p != NULL;
}

static void collect_once(struct scope_index *x, const struct dwarf_unit *u, uint32_t in)
{
	uint32_t first = (uint32_t)x->v.n, first_mark = (uint32_t)x->marks.n;
	struct scope *s;

	if (x->v.v[in].collected)
		return;
	if (!collect(x, u, in)) {
		x->v.n = first;
		x->marks.n = first_mark;
	}
	s = &x->v.v[in];
	s->collected = true;
	s->first = first;
	s->last = (uint32_t)x->v.n;
	s->first_mark = first_mark;
	s->last_mark = (uint32_t)x->marks.n;
}

static struct scope_index *index_of(struct dwarf *d, struct dwarf_unit *u)
{
	const struct span *s = dwarf_unit_section(u);
	uint64_t size = u->end - u->off;
	struct scope_index *x;

	if (u->scopes)
		return u->scopes;
	if (!u->abbrevs || u->root >= u->end || u->end > s->n ||
	    size > UINT32_MAX || size > d->spell_left)
		return NULL;
	x = calloc(1, sizeof(*x));
	if (!x || vec_push(&x->v, (struct scope){ .start = (uint32_t)(u->root - u->off),
						  .end = (uint32_t)size }) < 0) {
		free(x);
		return NULL;
	}
	abbrev_finish(u->abbrevs);
	d->spell_left -= size;
	dwarf_name_reads(d, size);
	u->scopes = x;
	return x;
}

/* Returns the innermost of the scopes stored by the pass inside scope `in` that contains a
 * DIE, or `in`. */
static uint32_t innermost(const struct scope_index *x, uint32_t in, uint32_t at)
{
	uint32_t first = x->v.v[in].first, last = x->v.v[in].last, next;

	lower_bound(next, first, last, x->v.v[next].start < at);
	if (next == first)
		return in;
	/* the last scope that starts before, or one that encloses it */
	for (next--; next != in && at >= x->v.v[next].end;)
		next = x->v.v[next].parent;
	return next;
}

/* Returns the scope in `outer` that contains a DIE and that the pass inside scope `in` left
 * out; UNIT_SCOPE if there is none. */
static uint32_t left_out(struct scope_index *x, const struct dwarf_unit *u, uint32_t in,
			 uint32_t outer, uint32_t at)
{
	const uint8_t *unit = dwarf_unit_section(u)->p + u->off, *p, *die;
	uint32_t first = x->v.v[in].first_mark, last = x->v.v[in].last_mark, next;
	const struct abbrev *a;
	struct scope s;
	bool jump;

	lower_bound(next, first, last, x->marks.v[next] < at);
	if (next == first)
		return UNIT_SCOPE;
	p = unit + x->marks.v[next - 1];
	do {
		die = p;
		jump = true;
		p = skip_die(u, die, unit + x->v.v[in].end, &a, &jump);
	} while (p && p < unit + at);
	if (!p || p == unit + at || !jump || !is_scope(a->tag))
		return UNIT_SCOPE;
	s = (struct scope){ .start = (uint32_t)(die - unit), .end = (uint32_t)(p - unit),
			    .parent = outer };
	next = u64map_row(&x->left_out, &x->v, s.start, &s);
	return next == U64MAP_NONE ? UNIT_SCOPE : next;
}

uint32_t dwarf_scope_of(struct dwarf *d, struct dwarf_unit *u, uint64_t off,
			const struct scope_index **out)
{
	struct scope_index *x = index_of(d, u);
	uint32_t at = (uint32_t)(off - u->off), next = UNIT_SCOPE, in, i;

	*out = x;
	if (!x)
		return UNIT_SCOPE;
	do {
		in = next;
		collect_once(x, u, in);
		i = innermost(x, in, at);
		next = left_out(x, u, in, i, at);
	} while (next != UNIT_SCOPE);
	return i;
}

void dwarf_scopes_read(struct dwarf *d, struct dwarf_unit *u)
{
	struct scope_index *x = index_of(d, u);

	if (x)
		collect_once(x, u, UNIT_SCOPE);
}

void dwarf_scopes_free(struct dwarf_unit *u)
{
	struct scope_index *x = u->scopes;

	if (!x)
		return;
	vec_fini(&x->v);
	vec_fini(&x->marks);
	u64map_fini(&x->left_out);
	free(x);
	u->scopes = NULL;
}
