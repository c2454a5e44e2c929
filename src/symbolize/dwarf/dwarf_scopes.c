// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the namespaces, classes and functions that contain a DIE.  DIEs do not
 * refer to their parents, so the first lookup collects all scopes of the unit
 * in one pass.  Few units are looked up (those with functions without a linkage
 * name).  A batch handles them one after the other, so the scopes of four units
 * are kept.
 */
#include <dwarf.h>

#include "base/cursor.h"
#include "base/search.h"
#include "symbolize/dwarf/dwarf.h"

enum { MAX_DEPTH = 256, KEPT = sizeof(((struct dwarf *)0)->scopes) /
			sizeof(((struct dwarf *)0)->scopes[0]) };

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
	if (now != outer && now != NO_SCOPE)
		x->v.v[now].end = at;
}

static bool open_die(struct scope_index *x, struct open_dies *o, uint16_t tag,
		     uint32_t at, uint32_t unit_end)
{
	uint32_t in = o->scope[o->depth];

	if (o->depth + 1 >= MAX_DEPTH)
		return false;
	if (is_scope(tag)) {
		struct scope s = { at, unit_end, in };

		in = (uint32_t)x->v.n;
		if (vec_push(&x->v, s) < 0)
			return false;
	}
	o->scope[++o->depth] = in;
	return true;
}

/* Makes one pass over all DIEs.  Returns false if some of them could not be
 * read. */
static bool collect(struct scope_index *x, const struct dwarf_unit *u)
{
	const struct span *s = dwarf_unit_section(u);
	const uint8_t *unit = s->p + u->off, *end = s->p + u->end;
	const uint8_t *p = s->p + u->root, *at;
	struct open_dies o = { { NO_SCOPE }, 0 };

	while (p && p < end) {
		struct cursor c = cursor_of(p, (size_t)(end - p));
		uint64_t code = cursor_uleb(&c);
		const struct abbrev *a;
		bool jump;

		at = p;
		p = c.p;
		if (c.bad)
			return false;
		if (!code) {
			close_die(x, &o, (uint32_t)(p - unit));
			continue;
		}
		a = abbrev_find(u->abbrevs, code);
		if (!a)
			return false;
		jump = !(a->flags & (ABBREV_CLASS | ABBREV_SUBPROGRAM));
		if (a->flags & ABBREV_VARIABLE) {
			p = abbrev_run(u->abbrevs, a, p, unit, end, &jump);
		} else {
			p = (size_t)(end - p) < a->size ? NULL : p + a->size;
			jump = false;
		}
		if (p && !jump && (a->flags & ABBREV_CHILDREN) &&
		    !open_die(x, &o, a->tag, (uint32_t)(at - unit),
			      (uint32_t)(u->end - u->off)))
			return false;
	}
	return p != NULL;
}

static const struct scope_index *index_of(struct dwarf *d,
					  const struct dwarf_unit *u)
{
	const struct span *s = dwarf_unit_section(u);
	uint64_t size = u->end - u->off;
	struct scope_index *x;
	size_t i;

	for (i = 0; i < KEPT; i++)
		if (d->scopes[i].unit == u)
			return &d->scopes[i];
	if (!u->abbrevs || u->root >= u->end || u->end > s->n ||
	    size > UINT32_MAX || size > d->spell_left)
		return NULL;
	d->spell_left -= size;
	x = &d->scopes[d->next_scopes++ % KEPT];
	x->unit = u;
	x->v.n = 0;
	if (!collect(x, u))
		x->v.n = 0;
	return x;
}

uint32_t dwarf_scope_of(struct dwarf *d, const struct dwarf_unit *u,
			uint64_t off, const struct scope_index **out)
{
	const struct scope_index *x = index_of(d, u);
	uint32_t at = (uint32_t)(off - u->off), i;
	size_t next;

	*out = x;
	if (!x)
		return NO_SCOPE;
	lower_bound(next, 0, x->v.n, x->v.v[next].start < at);
	/* the last scope that starts before, or one that encloses it */
	for (i = next ? (uint32_t)next - 1 : NO_SCOPE; i != NO_SCOPE;
	     i = x->v.v[i].parent)
		if (at < x->v.v[i].end)
			return i;
	return NO_SCOPE;
}

void dwarf_scopes_fini(struct dwarf *d)
{
	for (size_t i = 0; i < KEPT; i++) {
		vec_fini(&d->scopes[i].v);
		d->scopes[i].unit = NULL;
	}
}
