// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which unit covers an address: the ranges of the root DIEs, read once when the
 * DWARF is opened, so that an address leads to its unit without touching
 * anything else; .debug_aranges (DWARF 5 §6.1.2) for units that do not say.
 */
#include <dwarf.h>

#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

/* The ranges of a unit's root DIE. */
static int cover_root(struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w)
{
	size_t i;

	if (u->type == DW_UT_type || u->in_types)
		return 0;
	w->pairs.n = 0;
	dwarf_unit_root(d, u, w);
	for (i = 0; i < w->pairs.n; i++) {
		u->ranged = true;
		if (range_index_add(&d->cover, w->pairs.v[i].lo,
				    w->pairs.v[i].hi,
				    COVER_ID(u - u->set->units.v)) < 0)
			return -ERR_NOMEM;
	}
	/* A page of the unit, of its abbreviations and of its ranges. */
	dwarf_touched(u->set, 64 * 1024, w);
	return 0;
}

/* The unit's own ranges are better than .debug_aranges, but DWARF 2 had only one
 * range to give. */
static bool has_ranges(const struct dwarf_unit *u)
{
	return u->ranged && u->version > 2;
}

/* One set of .debug_aranges (DWARF 5 §6.1.2). */
static int read_arange_set(struct dwarf *d, struct cursor *c)
{
	uint8_t off_size, addr_size, seg;
	struct dwarf_unit *u;
	uint64_t n = dwarf_read_length(c, &off_size), at;
	struct cursor h = cursor_sub(c, n);
	size_t head;

	cursor_u16(&h);		/* version */
	at = cursor_sized(&h, off_size);
	addr_size = cursor_u8(&h);
	seg = cursor_u8(&h);
	if (h.bad || seg || (addr_size != 4 && addr_size != 8))
		return 0;
	u = at < d->main->info.n ? dwarf_unit_at(d, at) : NULL;
	if (!u || has_ranges(u) || u->off != at)
		return 0;
	head = (off_size == 8 ? 12 : 4) + cursor_offset(&h);
	cursor_skip(&h, (2u * addr_size - head % (2u * addr_size)) %
			(2u * addr_size));
	while (!h.bad) {
		uint64_t lo = cursor_sized(&h, addr_size);
		uint64_t len = cursor_sized(&h, addr_size);

		if (h.bad || (!lo && !len))
			break;
		if (dwarf_is_code(d, lo, lo + len) &&
		    range_index_add(&d->cover, lo, lo + len,
				    COVER_ID(u - d->main->units.v)) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* For units whose root DIE does not tell all ranges. */
static int index_aranges(struct dwarf *d, struct image *img)
{
	struct cursor c;
	struct span s;
	size_t i;

	for (i = 0; i < d->main->ninfo && has_ranges(&d->main->units.v[i]); i++)
		;
	if (i == d->main->ninfo)
		return 0;
	s = image_section(img, ".debug_aranges");
	c = cursor_of(s.p, s.n);
	while (cursor_left(&c) > 4)
		if (read_arange_set(d, &c) < 0)
			return -ERR_NOMEM;
	for (i = 0; i < d->cover.n; i++)
		d->main->units.v[COVER_UNIT(d->cover.v[i].id)].ranged = true;
	return 0;
}

int dwarf_cover_units(struct dwarf *d, struct image *img)
{
	struct dwarf_work w;
	int rc;

	dwarf_work_init(d, &w);
	rc = dwarf_set_index(d, d->main, cover_root, &w);
	if (!rc)
		rc = index_aranges(d, img);
	if (!rc)
		rc = range_index_sort(&d->cover);
	if (w.damage)
		dwarf_damage(d, w.damage, w.damage_at);
	if (w.nomem)
		rc = -ERR_NOMEM;
	dwarf_work_fini(&w);
	return rc;
}
