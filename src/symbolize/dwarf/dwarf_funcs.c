// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collects the functions with code of one unit in a single flat pass over its
 * DIEs.  Depth does not matter here (nested functions are included), so the
 * pass only reads a code and adds a size.
 */
#include <dwarf.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

/* The unit that the code belongs to and the unit that describes it, which
 * differ in split DWARF. */
struct scan {
	const struct dwarf *d;
	struct dwarf_unit *u;
	const struct dwarf_unit *body;
	struct dwarf_work *w;
};

static void add_func(struct scan *s, const struct dwarf_die *die, uint64_t off)
{
	struct dwarf_work *w = s->w;
	size_t i;

	dwarf_die_ranges(s->d, s->body, die, w);
	for (i = 0; i < w->pairs.n; i++) {
		struct dwarf_pair r = w->pairs.v[i];

		if (dwarf_wants(w, r.lo, r.hi) &&
		    range_index_add(&s->u->funcs, r.lo, r.hi,
				    dwarf_unit_die(s->body, off)) < 0)
			w->nomem = true;
	}
}

/* Returns the end of a function's children: classes before it may contain
 * code. */
static const uint8_t *body_end(const struct dwarf_unit *u,
			       const struct dwarf_die *die, const uint8_t *sec,
			       const uint8_t *p, const uint8_t *end)
{
	uint64_t to;

	if (!(die->flags & ABBREV_CHILDREN))
		return p;
	to = DIE_OFFSET(dwarf_reference(u, die, SLOT_SIBLING));
	return to > u->end || sec + to < p ? end : sec + to;
}

/* Returns where reading stopped: the end, or the position of the damage. */
static const uint8_t *scan(struct scan *s, const uint8_t *sec, const uint8_t *p,
			   const uint8_t *end)
{
	const struct abbrev_table *t = s->body->abbrevs;
	const uint8_t *unit = sec + s->body->off;
	const uint8_t *body = p, *to;	/* end of the outermost function */
	struct dwarf_die die;

	while (p < end) {
		const uint8_t *at = p, *next;
		const struct abbrev *a;
		uint64_t code;
		bool jump;

		next = dwarf_read_code(p, end, &code);
		if (!next)
			return at;
		p = next;
		if (!code)
			continue;
		a = abbrev_of(t, code);
		if (!a)
			return at;
		if (a->flags & ABBREV_FUNC) {
			next = dwarf_read_die(t, a, p, sec, end, &die);
			if (!next)
				return at;
			to = body_end(s->body, &die, sec, next, end);
			body = to > body ? to : body;
			if (dwarf_has(&die, SLOT_LOW) ||
			    dwarf_has(&die, SLOT_RANGES))
				add_func(s, &die, (uint64_t)(at - sec));
		} else if (a->flags & ABBREV_VARIABLE) {
			jump = !(a->flags & ABBREV_CLASS) ||
			       (s->body->gnu && p >= body);
			next = abbrev_run(t, a, p, unit, end, &jump);
		} else {
			next = (size_t)(end - p) < a->size ? NULL
							   : p + a->size;
		}
		if (!next)
			return at;
		p = next;
	}
	return end;
}

void dwarf_read_funcs(const struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w)
{
	const struct dwarf_unit *b = dwarf_body(u);
	const struct span *s = dwarf_unit_section(b);
	struct scan k = { d, u, b, w };
	const uint8_t *stop;

	if (!b->abbrevs || b->root >= b->end)
		return;
	if (b->abbrevs->users == 1)	/* otherwise already done */
		abbrev_finish(b->abbrevs);
	stop = scan(&k, s->p, s->p + b->root, s->p + b->end);
	if (stop != s->p + b->end)
		dwarf_work_damage(w, ".debug_info: bad entry",
				  (uint64_t)(stop - s->p));
	if (range_index_sort(&u->funcs) < 0)
		w->nomem = true;
	dwarf_touched(b->set, b->end - b->off, w);
}

/*
 * Walks the tree of inlined calls in one function (DW_TAG_inlined_subroutine)
 * once for all wanted addresses in it.  A call that covers none of them is
 * skipped with everything inlined into it.
 */

enum { MAX_DEPTH = 4096 };

struct walk {
	const struct dwarf *d;
	const struct dwarf_unit *u;
	struct dwarf_work *w;
	const uint8_t *sec, *end;
	const uint64_t *addrs;
	uint32_t *call;
	size_t n;
	uint32_t depth, dead;	/* dead: depth of a skipped subtree, 0 if none */
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

/* Marks the addresses that an inlined call covers.  Returns false if there are
 * none. */
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
			/* another call covers it; valid calls never overlap */
			if (k->call[j] != outer && !dwarf_spend(w, 1))
				return found;
			k->call[j] = id;
		}
	}
	return found;
}

/* Enters the children of an inlined call that covers wanted addresses. */
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
	/* DWARF 2 gives a call in several pieces the range of one of them, so what is
	 * inlined into it may lie outside. */
	if (!hit && k->u->version < 3)
		hit = add_call(k, &die);
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

/* Handles a DIE that is not such an inlined call. */
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
		k->dead = k->depth;	/* a nested function is a separate one */
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
		const uint8_t *next;
		const struct abbrev *a;
		uint64_t code;

		next = dwarf_read_code(p, k->end, &code);
		if (!next)
			break;
		p = next;
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
