// SPDX-License-Identifier: GPL-2.0-or-later
/* DW_AT_ranges: .debug_ranges (DWARF 4 §2.17.3), .debug_rnglists (DWARF 5
 * §2.17.3), or low and high pc.  Code that the linker dropped is left out. */
#include <dwarf.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

static void pair_add(const struct dwarf *d, struct dwarf_work *w, uint64_t lo,
		     uint64_t hi)
{
	struct dwarf_pair pair = { lo, hi };

	if (dwarf_is_code(d, lo, hi) && vec_push(&w->pairs, pair) < 0)
		w->nomem = true;
}

static void read_old_list(const struct dwarf *d, const struct dwarf_unit *u,
			  uint64_t off, struct dwarf_work *w)
{
	uint64_t top = u->addr_size == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t base = u->base, lo, hi;
	const struct span *s = &u->set->ranges;
	struct cursor c;

	if (off >= s->n)
		return;
	c = cursor_of(s->p + off, s->n - (size_t)off);
	while (dwarf_spend(w, 2 * u->addr_size)) {
		lo = cursor_sized(&c, u->addr_size);
		hi = cursor_sized(&c, u->addr_size);
		if (c.bad || (!lo && !hi))
			return;
		if (lo == top)
			base = hi;
		else if (lo < hi)
			pair_add(d, w, base + lo, base + hi);
	}
}

/* One entry of a range list; false at its end. */
static bool read_entry(const struct dwarf *d, const struct dwarf_unit *u,
		       struct cursor *c, uint64_t *base, struct dwarf_work *w)
{
	uint64_t lo = 0, hi = 0;
	bool ok = true;

	switch (cursor_u8(c)) {
	case DW_RLE_base_addressx:
		return dwarf_address_index(u, cursor_uleb(c), base) &&
		       !c->bad;
	case DW_RLE_startx_endx:
		ok = dwarf_address_index(u, cursor_uleb(c), &lo);
		ok &= dwarf_address_index(u, cursor_uleb(c), &hi);
		break;
	case DW_RLE_startx_length:
		ok = dwarf_address_index(u, cursor_uleb(c), &lo);
		hi = lo + cursor_uleb(c);
		break;
	case DW_RLE_offset_pair:
		lo = *base + cursor_uleb(c);
		hi = *base + cursor_uleb(c);
		break;
	case DW_RLE_base_address:
		*base = cursor_sized(c, u->addr_size);
		return !c->bad;
	case DW_RLE_start_end:
		lo = cursor_sized(c, u->addr_size);
		hi = cursor_sized(c, u->addr_size);
		break;
	case DW_RLE_start_length:
		lo = cursor_sized(c, u->addr_size);
		hi = lo + cursor_uleb(c);
		break;
	default:	/* DW_RLE_end_of_list, or unknown */
		return false;
	}
	if (c->bad)
		return false;
	if (ok)
		pair_add(d, w, lo, hi);
	return true;
}

static void read_new_list(const struct dwarf *d, const struct dwarf_unit *u,
			  uint64_t off, struct dwarf_work *w)
{
	const struct span *s = &u->set->rnglists;
	uint64_t base = u->base;
	struct cursor c;

	if (off >= s->n)
		return;
	c = cursor_of(s->p + off, s->n - (size_t)off);
	while (dwarf_spend(w, 4) && read_entry(d, u, &c, &base, w))
		;
}

/* Where the list is: an offset, in split units added to where theirs begin, or
 * DW_FORM_rnglistx, an index into the offsets at DW_AT_rnglists_base. */
static bool list_offset(const struct dwarf_unit *u, const struct dwarf_die *die,
			uint64_t *off)
{
	const struct span *s = &u->set->rnglists;
	uint64_t v = dwarf_number(die, SLOT_RANGES, UINT64_MAX);

	if (v == UINT64_MAX)
		return false;
	if (die->form[SLOT_RANGES] == DW_FORM_rnglistx) {
		if (u->rng_base >= s->n ||
		    v >= (s->n - u->rng_base) / u->off_size)
			return false;
		v = u->rng_base + dwarf_fixed(s->p + u->rng_base +
					      v * u->off_size, u->off_size);
	} else if (u->set->is_split) {
		v += u->version >= 5 ? u->rng_part : u->gnu_ranges;
	}
	*off = v;
	return true;
}

void dwarf_die_ranges(const struct dwarf *d, const struct dwarf_unit *u,
		      const struct dwarf_die *die, struct dwarf_work *w)
{
	uint64_t off, lo, hi;

	w->pairs.n = 0;
	if (dwarf_has(die, SLOT_RANGES) && list_offset(u, die, &off)) {
		if (u->version >= 5)
			read_new_list(d, u, off, w);
		else
			read_old_list(d, u, off, w);
		return;
	}
	if (dwarf_address(u, die, SLOT_LOW, &lo) &&
	    dwarf_high_pc(u, die, lo, &hi))
		pair_add(d, w, lo, hi);
}
