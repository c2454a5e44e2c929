// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of inlined calls in one function (DW_TAG_inlined_subroutine), walked
 * once for all wanted addresses in it.  A call that covers none of them is
 * stepped over with everything that was inlined into it.
 */
#include <dwarf.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

enum { MAX_DEPTH = 4096 };

struct walk {
	const struct dwarf *d;
	const struct dwarf_unit *u;
	struct dwarf_work *w;
	const uint8_t *sec, *end;
	const uint64_t *addrs;
	uint32_t *call;
	size_t n;
	uint32_t depth, dead;	/* dead: depth of a subtree without interest,
				 * 0 if none */
};

static bool add_call(struct walk *k, const struct dwarf_die *die)
{
	struct dwarf_work *w = k->w;
	struct inline_call c = {
		.origin = dwarf_reference(k->u, die, SLOT_ORIGIN),
		.outer = w->open.n ? w->open.v[w->open.n - 1].call : NO_CALL,
		.file = (uint32_t)dwarf_number(die, SLOT_CALL_FILE, 0),
		.line = (uint32_t)dwarf_number(die, SLOT_CALL_LINE, 0),
		.column = (uint32_t)dwarf_number(die, SLOT_CALL_COLUMN, 0),
	};

	if (w->calls.n >= NO_CALL || vec_push(&w->calls, c) < 0) {
		w->nomem = true;
		return false;
	}
	return true;
}

/* Marks the addresses that an inlined call covers; false when there are none. */
static bool mark(struct walk *k, const struct dwarf_die *die)
{
	struct dwarf_work *w = k->w;
	uint32_t id = (uint32_t)w->calls.n;
	uint32_t outer = w->open.n ? w->open.v[w->open.n - 1].call : NO_CALL;
	bool found = false;
	size_t i, j;

	dwarf_die_ranges(k->d, k->u, die, w);
	for (i = 0; i < w->pairs.n; i++) {
		struct dwarf_pair r = w->pairs.v[i];

		j = dwarf_at_least(k->addrs, k->n, r.lo);
		for (; j < k->n && k->addrs[j] < r.hi; j++) {
			if (!found && !add_call(k, die))
				return false;
			found = true;
			/* another call has it: real ones never overlap */
			if (k->call[j] != outer && !dwarf_spend(w, 1))
				return found;
			k->call[j] = id;
		}
	}
	return found;
}

/* Enters the children of an inlined call that matters. */
static void open_call(struct walk *k)
{
	struct inline_open o = { (uint32_t)k->w->calls.n - 1, k->depth };

	if (k->w->open.n >= MAX_DEPTH || vec_push(&k->w->open, o) < 0)
		k->dead = k->depth;
}

static const uint8_t *walk_inlined(struct walk *k, const struct abbrev *a,
				   const uint8_t *p)
{
	const uint8_t *unit = k->sec + k->u->off;
	struct dwarf_die die;
	uint64_t to;
	bool hit;

	p = dwarf_read_die(k->u->abbrevs, a, p, k->sec, k->end, &die);
	if (!p)
		return NULL;
	hit = mark(k, &die);
	if (!(a->flags & ABBREV_CHILDREN))
		return p;
	to = DIE_OFFSET(dwarf_reference(k->u, &die, SLOT_SIBLING));
	if (!hit && to <= k->u->end && to > (uint64_t)(p - k->sec) &&
	    k->sec + to > unit)
		return k->sec + to;
	k->depth++;
	if (hit)
		open_call(k);
	else
		k->dead = k->depth;
	return p;
}

/* One DIE that is not an inlined call of interest. */
static const uint8_t *walk_other(struct walk *k, const struct abbrev *a,
				 const uint8_t *p)
{
	bool jumped = !(a->flags & ABBREV_CLASS) || k->u->gnu;

	if (a->flags & ABBREV_VARIABLE)
		p = abbrev_run(k->u->abbrevs, a, p, k->sec + k->u->off, k->end,
			       &jumped);
	else {
		p = (size_t)(k->end - p) < a->size ? NULL : p + a->size;
		jumped = false;
	}
	if (!p || jumped || !(a->flags & ABBREV_CHILDREN))
		return p;
	k->depth++;
	if (!k->dead && (a->flags & ABBREV_SUBPROGRAM))
		k->dead = k->depth;	/* a nested function is another one */
	return p;
}

static void close_children(struct walk *k)
{
	struct dwarf_work *w = k->w;

	if (k->dead == k->depth)
		k->dead = 0;
	else if (w->open.n && w->open.v[w->open.n - 1].depth == k->depth)
		w->open.n--;
	k->depth--;
}

static void walk_children(struct walk *k, const uint8_t *p)
{
	const uint8_t *start = p;
	uint64_t total = (uint64_t)(k->end - p);

	k->depth = 1;
	while (p && p < k->end && k->depth) {
		struct cursor c = cursor_of(p, (size_t)(k->end - p));
		uint64_t code = cursor_uleb(&c);
		const struct abbrev *a;

		if (c.bad)
			break;
		p = c.p;
		if (!code) {
			close_children(k);
			continue;
		}
		a = abbrev_of(k->u->abbrevs, code);
		if (!a)
			break;
		if ((a->flags & ABBREV_INLINED) && !k->dead)
			p = walk_inlined(k, a, p);
		else
			p = walk_other(k, a, p);
	}
	if (!dwarf_spend(k->w, p ? (uint64_t)(p - start) : total))
		dwarf_work_damage(k->w, ".debug_info: functions overlap too much",
				  (uint64_t)(start - k->sec));
}

void dwarf_read_inlines(const struct dwarf *d, const struct dwarf_unit *u,
			uint64_t die, const uint64_t *addrs, size_t n,
			uint32_t *call, struct dwarf_work *w)
{
	const struct dwarf_unit *b = dwarf_body(u);
	const struct span *s = dwarf_unit_section(b);
	struct walk k = { .d = d, .u = b, .w = w, .sec = s->p,
			  .end = s->p + b->end, .addrs = addrs, .call = call,
			  .n = n };
	const struct abbrev *a;
	struct dwarf_die self;
	const uint8_t *p;
	struct cursor c;
	size_t i;

	die = DIE_OFFSET(die);
	for (i = 0; i < n; i++)
		call[i] = NO_CALL;
	if (!w->budget || die >= b->end)
		return;
	c = cursor_of(s->p + die, (size_t)(b->end - die));
	a = abbrev_of(b->abbrevs, cursor_uleb(&c));
	if (c.bad || !a || !(a->flags & ABBREV_CHILDREN))
		return;
	p = dwarf_read_die(b->abbrevs, a, c.p, s->p, k.end, &self);
	w->open.n = 0;
	if (p)
		walk_children(&k, p);
}
