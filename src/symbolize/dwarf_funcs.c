// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions with code of one unit: a single flat pass over its DIEs.  Depth
 * does not matter here (nested functions count too), so the pass is: read a
 * code, add a size.
 */
#include <dwarf.h>

#include "base/cursor.h"
#include "symbolize/dwarf.h"

static void add_func(const struct dwarf *d, struct dwarf_unit *u,
		     const struct dwarf_die *die, uint64_t off,
		     struct dwarf_work *w)
{
	size_t i;

	dwarf_die_ranges(d, u, die, w);
	for (i = 0; i < w->pairs.n; i++)
		if (range_index_add(&u->funcs, w->pairs.v[i].lo,
				    w->pairs.v[i].hi, off) < 0)
			w->nomem = true;
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
static const uint8_t *body_end(const struct dwarf *d, const struct dwarf_unit *u,
			       const struct dwarf_die *die, const uint8_t *sec,
			       const uint8_t *p, const uint8_t *end)
{
	uint64_t to;

	if (!(die->flags & ABBREV_CHILDREN))
		return p;
	to = dwarf_reference(d, u, die, SLOT_SIBLING) & ~DIE_IN_TYPES;
	return to > u->end || sec + to < p ? end : sec + to;
}

/* Returns where reading stopped: the end, unless the unit is damaged. */
static const uint8_t *scan(const struct dwarf *d, struct dwarf_unit *u,
			   const uint8_t *sec, const uint8_t *p,
			   const uint8_t *end, struct dwarf_work *w)
{
	const struct abbrev_table *t = u->abbrevs;
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
			to = body_end(d, u, &die, sec, next, end);
			body = to > body ? to : body;
			if (dwarf_has(&die, SLOT_LOW) ||
			    dwarf_has(&die, SLOT_RANGES))
				add_func(d, u, &die, (uint64_t)(at - sec), w);
		} else if (a->flags & ABBREV_VARIABLE) {
			jump = !(a->flags & ABBREV_CLASS) || p >= body;
			next = abbrev_run(t, a, p, sec + u->off, end, &jump);
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
	const struct span *s = dwarf_unit_section(d, u);
	const uint8_t *stop;

	if (!u->abbrevs || u->root >= u->end)
		return;
	stop = scan(d, u, s->p, s->p + u->root, s->p + u->end, w);
	if (stop != s->p + u->end)
		dwarf_work_damage(w, ".debug_info: bad entry",
				  (uint64_t)(stop - s->p));
	if (range_index_sort(&u->funcs) < 0)
		w->nomem = true;
}
