// SPDX-License-Identifier: GPL-2.0-or-later
/* .debug_cu_index and .debug_tu_index of .dwp files (DWARF 5 §7.3.5; version 2 is
 * GNU's for DWARF 4): each unit's own part of every section. */
#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

enum {
	SECT_INFO = 1, SECT_TYPES = 2, SECT_ABBREV = 3, SECT_LINE = 4,
	SECT_STR_OFFSETS = 6, SECT_RNGLISTS = 8, SECT_COUNT = 16
};

struct unit_index {
	const uint8_t *hashes, *rows, *parts;
	uint32_t columns, units, slots;
	int column[SECT_COUNT];		/* -1: no such column */
};

static bool read_header(struct span s, struct unit_index *x)
{
	struct cursor c = cursor_of(s.p, s.n);
	uint32_t version = cursor_u32(&c) & 0xffff, i;
	uint32_t kind;

	for (i = 0; i < SECT_COUNT; i++)
		x->column[i] = -1;
	x->columns = cursor_u32(&c);
	x->units = cursor_u32(&c);
	x->slots = cursor_u32(&c);
	x->hashes = cursor_take(&c, 8 * (uint64_t)x->slots);
	x->rows = cursor_take(&c, 4 * (uint64_t)x->slots);
	if (c.bad || (version != 2 && version != 5) || x->columns > 64)
		return false;
	for (i = 0; i < x->columns; i++) {
		kind = cursor_u32(&c);
		if (kind < SECT_COUNT)
			x->column[kind] = (int)i;
	}
	x->parts = cursor_take(&c, 4 * (uint64_t)x->columns * x->units);
	return !c.bad;
}

/* Where a unit's part of a section begins; row counts from 1. */
static uint64_t part(const struct unit_index *x, uint32_t row, int kind)
{
	if (x->column[kind] < 0)
		return 0;
	return dwarf_fixed(x->parts + 4 * ((uint64_t)(row - 1) * x->columns +
					   (uint32_t)x->column[kind]), 4);
}

static int add_unit(struct dwarf *d, struct dwarf_set *s,
		    const struct unit_index *x, uint32_t row, uint64_t id)
{
	bool types = x->column[SECT_TYPES] >= 0;
	uint64_t off = part(x, row, types ? SECT_TYPES : SECT_INFO);
	struct dwarf_unit *u = dwarf_unit_at(d, s->id | off |
					     (types ? DIE_IN_TYPES : 0));
	uint32_t *slot;

	if (!u || u->off != off || u->placed)
		return 0;
	u->placed = true;
	u->abbrev_off += part(x, row, SECT_ABBREV);
	u->str_part = part(x, row, SECT_STR_OFFSETS);
	u->rng_part = part(x, row, SECT_RNGLISTS);
	u->line_part = part(x, row, SECT_LINE);
	slot = u64map_slot(&s->signatures, id);
	if (!slot)
		return -ERR_NOMEM;
	*slot = (uint32_t)(u - s->units.v);
	return 0;
}

int dwarf_read_index(struct dwarf *d, struct dwarf_set *s, struct image *img,
		     bool types)
{
	struct span sec = image_section(img, types ? ".debug_tu_index"
						   : ".debug_cu_index");
	struct unit_index x = { 0 };
	uint32_t i, row;

	if (!sec.n)
		return 0;
	if (!read_header(sec, &x)) {
		dwarf_damage(d, types ? ".debug_tu_index" : ".debug_cu_index",
			     0);
		return 0;
	}
	for (i = 0; i < x.slots; i++) {
		row = (uint32_t)dwarf_fixed(x.rows + 4 * (uint64_t)i, 4);
		if (!row || row > x.units)
			continue;
		if (add_unit(d, s, &x, row,
			     dwarf_fixed(x.hashes + 8 * (uint64_t)i, 8)) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}
