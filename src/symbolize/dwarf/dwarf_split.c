// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads split DWARF (DWARF 5 §7.3.2, and GNU's form of it in DWARF 4).  The
 * linked file has skeleton units, whose DIEs are in .dwo files next to the
 * objects or in one .dwp file.  The DWO id identifies files of other code.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

/* .debug_cu_index and .debug_tu_index of .dwp files (DWARF 5 §7.3.5; version 2
 * is GNU's for DWARF 4): each unit's part of every section. */

enum {
	SECT_INFO = 1, SECT_TYPES = 2, SECT_ABBREV = 3, SECT_LINE = 4,
	SECT_STR_OFFSETS = 6, SECT_RNGLISTS = 8, SECT_COUNT = 16
};

struct unit_index {
	const uint8_t *hashes, *rows, *parts;
	uint32_t columns, units, slots;
	int column[SECT_COUNT];		/* -1: missing column */
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

/* Returns the start of a unit's part of a section; row counts from 1. */
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

/* Sets the parts of the units of a .dwp file. */
static int read_index(struct dwarf *d, struct dwarf_set *s,
		      struct image *img, bool types)
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

enum { MAX_MISMATCHED_DWO = 1000 };

/* Indexes DWO ids; in DWARF 4 the id is an attribute of the first DIE. */
static int add_ids(struct dwarf_set *s)
{
	size_t i;

	for (i = 0; i < s->ninfo; i++) {
		struct dwarf_unit *u = &s->units.v[i];
		struct dwarf_die die;
		uint32_t *slot;

		if (u->version >= 5 || u->root >= u->end)
			continue;
		u->abbrevs = abbrev_table_get(u);
		if (!u->abbrevs || !dwarf_die_at(u, u->root, &die) ||
		    !dwarf_has(&die, SLOT_DWO_ID))
			continue;
		slot = u64map_slot(&s->signatures,
				   dwarf_number(&die, SLOT_DWO_ID, 0));
		if (!slot)
			return -ERR_NOMEM;
		if (*slot == U64MAP_NONE)
			*slot = (uint32_t)i;
	}
	return 0;
}

/* Returns the unit with the DWO id that is not yet assigned to a skeleton. */
static struct dwarf_unit *find_id(struct dwarf_set *s, uint64_t id)
{
	uint32_t i = u64map_get(&s->signatures, id);
	struct dwarf_unit *u = i == U64MAP_NONE ? NULL : &s->units.v[i];

	return u && !u->skeleton && u->type != DW_UT_type &&
	       u->type != DW_UT_split_type ? u : NULL;
}

/* Opens one file and searches it for the id. */
static struct dwarf_unit *try_dwo(struct dwarf *d, const char *path,
				  uint64_t id, struct dwarf_work *w)
{
	uint32_t *slot = u64map_slot(&d->dwo_tab,
				     hash_bytes(path, strlen(path)));
	struct dwarf_unit *u = NULL;
	struct dwarf_set *s;
	struct image *img;

	if (!slot)
		return NULL;
	if (*slot != U64MAP_NONE)	/* 0: unusable */
		return *slot ? find_id(d->sets.v[*slot], id) : NULL;
	*slot = 0;
	/* Limit the time spent on files of other code, from a rebuild or from a
	 * thousand paths to one file. */
	if (d->mismatched_dwo >= MAX_MISMATCHED_DWO)
		return NULL;
	img = debug_open(&d->search, path);
	s = img ? dwarf_set_add_split(d, img) : NULL;
	if (!s)
		return NULL;
	if (dwarf_set_index(d, s, NULL, w) == 0 && add_ids(s) == 0)
		u = find_id(s, id);
	if (u) {
		*slot = (uint32_t)DIE_SET(s->id);
	} else {
		d->mismatched_dwo++;
		dwarf_set_drop(d, s);
	}
	return u;
}

static void open_dwp(struct dwarf *d, struct dwarf_work *w)
{
	struct buf path = { 0 };
	struct image *img = NULL;
	unsigned i;

	d->dwp_tried = true;
	for (i = 0; !img && debug_dwp_path(&d->search, i, &path); i++)
		img = debug_open(&d->search, buf_cstr(&path));
	buf_fini(&path);
	d->dwp = img ? dwarf_set_add_split(d, img) : NULL;
	if (d->dwp && (dwarf_set_index(d, d->dwp, NULL, w) < 0 ||
		       read_index(d, d->dwp, img, false) < 0 ||
		       read_index(d, d->dwp, img, true) < 0)) {
		dwarf_set_drop(d, d->dwp);
		d->dwp = NULL;
	}
}

void dwarf_close_splits(struct dwarf *d)
{
	struct dwarf_set *s;
	size_t i;

	for (i = 0; i < d->main->ninfo; i++) {
		struct dwarf_unit *u = &d->main->units.v[i];

		if (!u->split || u->split->set == d->dwp)
			continue;
		u->split = NULL;
		u->split_tried = false;
	}
	/* All other sets were opened before these. */
	for (i = d->sets.n; i-- > 0;) {
		s = d->sets.v[i];
		if (!s->is_split || s == d->dwp)
			break;
		dwarf_set_drop(d, s);
	}
	/* Set numbers will be reused. */
	u64map_clear(&d->dwo_tab);
	u64map_clear(&d->name_tab);
	d->names.n = 0;
}

static struct dwarf_unit *find_unit(struct dwarf *d, const struct dwarf_unit *u,
				    struct dwarf_work *w)
{
	const char *dir = u->comp_dir ? u->comp_dir : "";
	struct dwarf_unit *found = NULL;
	struct buf path = { 0 };
	unsigned i;

	if (!d->dwp_tried)
		open_dwp(d, w);
	if (d->dwp)
		found = find_id(d->dwp, u->signature);
	for (i = 0; !found && debug_dwo_path(&d->search, i, dir, u->dwo_name,
					     &path); i++)
		found = try_dwo(d, buf_cstr(&path), u->signature, w);
	if (!found) {
		d->missing_dwo_units++;
		debug_dwo_path(&d->search, 0, dir, u->dwo_name, &path);
		if (!d->missing_dwo)
			d->missing_dwo = strdup(buf_cstr(&path));
	}
	buf_fini(&path);
	return found;
}

void dwarf_find_split(struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w)
{
	struct dwarf_unit *found;

	if (u->split_tried || !u->dwo_name)
		return;
	u->split_tried = true;
	if (!d->search.dirs)
		return;
	found = find_unit(d, u, w);
	if (!found)
		return;
	found->skeleton = u;
	dwarf_unit_root(d, found, w);
	if (found->abbrevs)
		u->split = found;
}
