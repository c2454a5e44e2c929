// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions with code of one unit: a single flat pass over its DIEs.  Depth
 * does not matter here (nested functions count too), so the pass is: read a
 * code, add a size.
 */
#include <dwarf.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

/* The unit that code belongs to and the one that describes it, which is another
 * one in split DWARF. */
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

static inline const uint8_t *read_code(const uint8_t *p, const uint8_t *end,
				       uint64_t *code)
{
	struct cursor c;

	*code = *p;
	if (*code < 0x80)
		return p + 1;
	if (end - p >= 2 && p[1] < 0x80) {
		*code = (*code & 0x7f) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	c = cursor_of(p, (size_t)(end - p));
	*code = cursor_uleb(&c);
	return c.bad ? NULL : c.p;
}

/* Where the children of a function end: classes before that may hold code. */
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

/* Returns where reading stopped: the end, unless the unit is damaged. */
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

		next = read_code(p, end, &code);
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
	if (b->abbrevs->users == 1)	/* otherwise that was done */
		abbrev_finish(b->abbrevs);
	stop = scan(&k, s->p, s->p + b->root, s->p + b->end);
	if (stop != s->p + b->end)
		dwarf_work_damage(w, ".debug_info: bad entry",
				  (uint64_t)(stop - s->p));
	if (range_index_sort(&u->funcs) < 0)
		w->nomem = true;
	dwarf_touched(b->set, b->end - b->off, w);
}
