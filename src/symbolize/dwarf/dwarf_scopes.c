// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the namespaces, classes and functions that contain a DIE.  DIEs do not
 * refer to their parents, so the first lookup collects the scopes of the unit
 * in one pass.  What is inside classes and functions, most of a unit, is left out
 * where DW_AT_sibling allows it, and collected when a DIE there is looked up.
 * Few units are looked up (those with functions without a linkage name).  A batch
 * handles them one after the other, so the scopes of four units are kept.
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
	if (now != outer)
		x->v.v[now].end = at;
}

/* Opens a DIE, unless its children are left out.  The outermost one is no scope here: it is
 * known. */
static bool open_die(struct scope_index *x, struct open_dies *o, uint16_t tag,
		     struct scope s, bool left_out)
{
	uint32_t in = o->scope[o->depth];

	if (o->depth && is_scope(tag)) {
		s.parent = in;
		s.first = s.last = left_out ? 0 : 1;
		in = (uint32_t)x->v.n;
		if (vec_push(&x->v, s) < 0)
			return false;
	}
	if (left_out)
		return true;
	if (o->depth + 1 >= MAX_DEPTH)
		return false;
	o->scope[++o->depth] = in;
	return true;
}

/* Returns the end of a DIE's attributes, which begin at p; if *jump allows it, the end of its
 * children, where DW_AT_sibling tells it.  Sets *jump to whether it does. */
static const uint8_t *skip_die(const struct dwarf_unit *u, const struct abbrev *a,
			       const uint8_t *p, const uint8_t *end, bool *jump)
{
	const uint8_t *sec = dwarf_unit_section(u)->p;
	bool may = *jump;
	struct dwarf_die die;
	uint64_t to;

	if (a->flags & ABBREV_SUBPROGRAM) {
		p = dwarf_read_die(u->abbrevs, a, p, sec, end, &die);
		to = p ? DIE_OFFSET(dwarf_reference(u, &die, SLOT_SIBLING)) : 0;
		*jump = may && p && to > (uint64_t)(p - sec) &&
			to <= (uint64_t)(end - sec);
		return *jump ? sec + to : p;
	}
	if (a->flags & ABBREV_VARIABLE)
		return abbrev_run(u->abbrevs, a, p, sec + u->off, end, jump);
	*jump = false;
	return (size_t)(end - p) < a->size ? NULL : p + a->size;
}

/* Collects the scopes inside scope `in`, in one pass over its DIEs.  Returns false if some of
 * them could not be read. */
static bool collect(struct scope_index *x, const struct dwarf_unit *u, uint32_t in)
{
	const uint8_t *unit = dwarf_unit_section(u)->p + u->off, *at;
	const uint8_t *from = unit + x->v.v[in].start, *p = from;
	const uint8_t *end = unit + x->v.v[in].end;
	struct open_dies o = { { in }, 0 };

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
		jump = at != from;
		p = skip_die(u, a, p, end, &jump);
		if (p && (a->flags & ABBREV_CHILDREN) &&
		    !open_die(x, &o, a->tag, (struct scope){
				.start = (uint32_t)(at - unit),
				.end = (uint32_t)((jump ? p : end) - unit) }, jump))
			return false;
	}
	return p != NULL;
}

static struct scope_index *index_of(struct dwarf *d, const struct dwarf_unit *u)
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
	dwarf_name_reads(d, size);
	x = &d->scopes[d->next_scopes++ % KEPT];
	x->unit = NULL;
	x->v.n = 0;
	if (vec_push(&x->v, (struct scope){ .start = (uint32_t)(u->root - u->off),
					    .end = (uint32_t)size }) < 0)
		return NULL;
	x->unit = u;
	return x;
}

/* Returns the innermost of the collected scopes inside scope `in` that contains a DIE, or
 * `in`. */
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

uint32_t dwarf_scope_of(struct dwarf *d, const struct dwarf_unit *u,
			uint64_t off, const struct scope_index **out)
{
	struct scope_index *x = index_of(d, u);
	uint32_t at = (uint32_t)(off - u->off), in = UNIT_SCOPE, i = UNIT_SCOPE;

	*out = x;
	if (!x)
		return UNIT_SCOPE;
	do {
		in = i;
		if (!x->v.v[in].first) {
			uint32_t first = (uint32_t)x->v.n;

			if (!collect(x, u, in))
				x->v.n = first;
			x->v.v[in].first = first;
			x->v.v[in].last = (uint32_t)x->v.n;
		}
		i = innermost(x, in, at);
	} while (i != in);
	return i;
}

void dwarf_scopes_fini(struct dwarf *d)
{
	for (size_t i = 0; i < KEPT; i++) {
		vec_fini(&d->scopes[i].v);
		d->scopes[i].unit = NULL;
	}
}
