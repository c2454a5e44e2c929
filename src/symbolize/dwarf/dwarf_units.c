// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads unit headers (DWARF 5 §7.5.1, and the GNU forms of DWARF 4) and root
 * DIEs. */
#include <dwarf.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "symbolize/dwarf/dwarf.h"

uint64_t dwarf_read_length(struct cursor *c, uint8_t *off_size)
{
	uint64_t n = cursor_u32(c);

	*off_size = 4;
	if (n == 0xffffffff) {
		*off_size = 8;
		n = cursor_u64(c);
	} else if (n >= 0xfffffff0) {
		cursor_fail(c);
	}
	return n;
}

static bool is_type_unit(const struct dwarf_unit *u)
{
	return u->type == DW_UT_type || u->type == DW_UT_split_type;
}

/* Reads a unit header at c into u.  Returns false if the rest of the section is
 * unusable. */
static bool read_header(struct cursor *c, struct dwarf_unit *u)
{
	struct cursor h;
	uint16_t version;
	uint64_t n;

	u->off = cursor_offset(c);
	n = dwarf_read_length(c, &u->off_size);
	h = cursor_sub(c, n);
	if (h.bad)
		return false;
	u->end = cursor_offset(c);
	version = cursor_u16(&h);
	u->version = version > 5 ? 0 : (uint8_t)version;
	u->type = u->in_types ? DW_UT_type : DW_UT_compile;
	if (u->version >= 5) {
		u->type = cursor_u8(&h);
		u->addr_size = cursor_u8(&h);
		u->abbrev_off = cursor_sized(&h, u->off_size);
	} else {
		u->abbrev_off = cursor_sized(&h, u->off_size);
		u->addr_size = cursor_u8(&h);
	}
	if (is_type_unit(u)) {
		u->signature = cursor_u64(&h);
		u->type_die = u->off + cursor_sized(&h, u->off_size);
	} else if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile) {
		u->signature = cursor_u64(&h);	/* DWO id */
	}
	u->root = u->end - cursor_left(&h);
	if (h.bad || u->version < 2 ||
	    (u->addr_size != 4 && u->addr_size != 8))
		u->root = u->end;	/* only the length is usable */
	return true;
}

static int add_signature(struct dwarf_set *s, const struct dwarf_unit *u)
{
	uint32_t *slot;

	if (!u->signature || u->type == DW_UT_skeleton)
		return 0;
	slot = u64map_slot(&s->signatures, u->signature);
	if (!slot)
		return -ERR_NOMEM;
	if (*slot == U64MAP_NONE)
		*slot = (uint32_t)(s->units.n - 1);
	return 0;
}

/* Returns how many units read_section finds at most. */
static size_t count_units(struct span sec)
{
	struct cursor c = cursor_of(sec.p, sec.n);
	size_t n = 0;

	while (cursor_left(&c) > 4) {
		uint8_t off_size;
		uint64_t bytes = dwarf_read_length(&c, &off_size);

		cursor_skip(&c, bytes);
		if (c.bad)
			break;
		n += bytes > 0;
	}
	return n;
}

static int read_section(struct dwarf *d, struct dwarf_set *s, bool types,
			dwarf_each_unit *each_unit, struct dwarf_work *w)
{
	struct span sec = types ? s->types : s->info;
	struct cursor c = cursor_of(sec.p, sec.n);

	while (cursor_left(&c) > 4 && s->units.n < UINT32_MAX - 1) {
		struct dwarf_unit u = { .set = s, .in_types = types,
					.stmt_list = UINT64_MAX };

		if (!read_header(&c, &u)) {
			dwarf_damage(d, types ? ".debug_types: bad unit"
					      : ".debug_info: bad unit",
				     u.off);
			break;
		}
		if (u.end - u.off == 4)
			continue;	/* padding by the linker */
		if (u.root == u.end)
			dwarf_damage(d, ".debug_info: unit of unknown kind",
				     u.off);
		if (vec_push(&s->units, u) < 0 || add_signature(s, &u) < 0)
			return -ERR_NOMEM;
		if (!each_unit)
			dwarf_touched(s, 0, w);
		else if (each_unit(d, &s->units.v[s->units.n - 1], w) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

int dwarf_set_index(struct dwarf *d, struct dwarf_set *s,
		    dwarf_each_unit *each_unit, struct dwarf_work *w)
{
	int rc;

	if (s->indexed)
		return 0;
	s->indexed = true;
	if (vec_reserve(&s->units, count_units(s->info) + count_units(s->types)) < 0)
		return -ERR_NOMEM;
	rc = read_section(d, s, false, each_unit, w);
	s->ninfo = s->units.n;
	return rc ? rc : read_section(d, s, true, each_unit, w);
}

struct dwarf_unit *dwarf_unit_at(struct dwarf *d, uint64_t die)
{
	bool types = die & DIE_IN_TYPES;
	uint64_t off = DIE_OFFSET(die);
	struct dwarf_work w = { 0 };
	struct dwarf_set *s;
	size_t at, end;

	if (DIE_SET(die) >= d->sets.n)
		return NULL;
	s = d->sets.v[DIE_SET(die)];
	if (!s->indexed && dwarf_set_index(d, s, NULL, &w) < 0)
		return NULL;
	end = types ? s->units.n : s->ninfo;
	lower_bound(at, types ? s->ninfo : 0, end, s->units.v[at].end <= off);
	return at == end || off < s->units.v[at].off ? NULL : &s->units.v[at];
}

static bool is_gnu(const char *producer)
{
	return producer && !strncmp(producer, "GNU ", 4) &&
	       (!strncmp(producer + 4, "C", 1) ||
		!strncmp(producer + 4, "GIMPLE", 6));
}

/* Sets the start of a split unit's lists, for which it has no attributes (DWARF
 * 5 §7.26, §7.28: after the header of its part). */
static void root_split(struct dwarf_unit *u)
{
	bool wide = u->off_size == 8;
	const struct dwarf_unit *k = u->skeleton;

	u->str_base = u->str_part;
	if (u->version >= 5) {
		u->str_base += wide ? 16 : 8;
		u->rng_base = u->rng_part + (wide ? 20 : 12);
	}
	if (u->stmt_list != UINT64_MAX)
		u->stmt_list += u->line_part;
	if (!k)
		return;
	u->base = k->base;
	u->addr_base = k->addr_base;
	u->gnu_ranges = k->gnu_ranges;
}

/* Returns the name of a folder or a file; NULL if no system would open it. */
static const char *root_path(const struct dwarf_unit *u,
			     const struct dwarf_die *die, enum dwarf_slot slot)
{
	const char *s = dwarf_string(u, die, slot);

	return s && strnlen(s, DWARF_PATH_MAX) < DWARF_PATH_MAX ? s : NULL;
}

static void root_values(struct dwarf_unit *u, const struct dwarf_die *die)
{
	uint64_t base;

	u->stmt_list = dwarf_number(die, SLOT_STMT_LIST, UINT64_MAX);
	if (u->set->is_split) {
		root_split(u);
	} else {
		u->str_base = dwarf_number(die, SLOT_STR_BASE, 0);
		u->addr_base = dwarf_number(die, SLOT_ADDR_BASE, 0);
		u->rng_base = dwarf_number(die, SLOT_RNG_BASE, 0);
		u->gnu_ranges = dwarf_number(die, SLOT_GNU_RANGES, 0);
		u->dwo_name = root_path(u, die, SLOT_DWO_NAME);
	}
	if (dwarf_has(die, SLOT_DWO_ID))
		u->signature = dwarf_number(die, SLOT_DWO_ID, 0);
	u->comp_dir = root_path(u, die, SLOT_COMP_DIR);
	u->lang = (uint16_t)dwarf_number(die, SLOT_LANGUAGE, 0);
	if (dwarf_address(u, die, SLOT_LOW, &base))
		u->base = base;
}

int dwarf_unit_root(struct dwarf *d, struct dwarf_unit *u, struct dwarf_work *w)
{
	struct dwarf_die die;

	if (u->rooted)
		return 0;
	u->rooted = true;
	if (u->root >= u->end)
		return 0;
	u->abbrevs = abbrev_table_get(u);
	if (!u->abbrevs || !dwarf_die_at(u, u->root, &die)) {
		u->abbrevs = NULL;
		dwarf_work_damage(w, "unit without a readable first entry",
				  u->off);
		return 0;
	}
	u->tag = die.tag;
	root_values(u, &die);
	u->gnu = is_gnu(dwarf_string(u, &die, SLOT_PRODUCER));
	u->abbrevs->users++;
	/* Lookups by address only use the main file. */
	if (u->set == d->main && !is_type_unit(u))
		dwarf_die_ranges(d, u, &die, w);
	return 0;
}

/*
 * Finds the unit that covers an address from the ranges of the root DIEs, which
 * are read once when the DWARF is opened.  So a lookup touches nothing else.
 * .debug_aranges (DWARF 5 §6.1.2) serves units without ranges.
 */

/* Adds the ranges of a unit's root DIE. */
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
	/* Touches one page each of the unit, its abbreviations and its
	 * ranges. */
	dwarf_touched(u->set, 64 * 1024, w);
	return 0;
}

/* Returns whether the unit's own ranges suffice.  They are better than
 * .debug_aranges, but DWARF 2 allowed only one range. */
static bool has_ranges(const struct dwarf_unit *u)
{
	return u->ranged && u->version > 2;
}

/* Reads one set of .debug_aranges (DWARF 5 §6.1.2). */
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

/* Reads .debug_aranges for units whose root DIE lacks some ranges. */
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
	rc = dwarf_set_index(d, d->main, cover_root, &w) ?:
	     index_aranges(d, img) ?:
	     range_index_sort(&d->cover);
	if (w.damage)
		dwarf_damage(d, w.damage, w.damage_at);
	if (w.nomem)
		rc = -ERR_NOMEM;
	dwarf_work_fini(&w);
	return rc;
}
