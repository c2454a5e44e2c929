// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit headers (DWARF 5 §7.5.1) and root DIEs: read once when the DWARF is
 * opened, so that an address leads to its unit without touching anything else.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "symbolize/dwarf.h"

/* Real DWARF is walked a few times at most; hostile DWARF may share lists and
 * tables so that the work multiplies. */
enum { WORK_FACTOR = 32, WORK_FREE = 1 << 20 };

void dwarf_work_damage(struct dwarf_work *w, const char *what, uint64_t at)
{
	if (w->damage)
		return;
	w->damage = what;
	w->damage_at = at;
}

void dwarf_damage(struct dwarf *d, const char *what, uint64_t at)
{
	if (!d->damage[0])
		snprintf(d->damage, sizeof(d->damage),
			 "%s at offset 0x%llx", what, (unsigned long long)at);
}

void dwarf_work_init(const struct dwarf *d, struct dwarf_work *w)
{
	memset(w, 0, sizeof(*w));
	w->budget = WORK_FREE +
		    WORK_FACTOR * (uint64_t)(d->info.n + d->line.n +
					     d->ranges.n + d->rnglists.n);
}

void dwarf_work_fini(struct dwarf_work *w)
{
	vec_fini(&w->pairs);
	vec_fini(&w->open);
	vec_fini(&w->calls);
}

const struct span *dwarf_unit_section(const struct dwarf *d,
				      const struct dwarf_unit *u)
{
	return u->in_types ? &d->types : &d->info;
}

/* The unit's length field; off_size becomes 4 or 8. */
static uint64_t read_length(struct cursor *c, uint8_t *off_size)
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

static uint64_t read_offset(struct cursor *c, uint8_t size)
{
	return size == 8 ? cursor_u64(c) : cursor_u32(c);
}

/* Fills u from the header at c; false when the rest of the section is lost. */
static bool read_header(struct cursor *c, struct dwarf_unit *u)
{
	uint64_t n;
	struct cursor h;
	bool is_type;

	u->off = cursor_offset(c);
	n = read_length(c, &u->off_size);
	h = cursor_sub(c, n);
	if (h.bad)
		return false;
	u->end = cursor_offset(c);
	u->version = (uint8_t)cursor_u16(&h);
	u->type = u->in_types ? DW_UT_type : DW_UT_compile;
	if (u->version >= 5) {
		u->type = cursor_u8(&h);
		u->addr_size = cursor_u8(&h);
		u->abbrev_off = read_offset(&h, u->off_size);
	} else {
		u->abbrev_off = read_offset(&h, u->off_size);
		u->addr_size = cursor_u8(&h);
	}
	is_type = u->type == DW_UT_type || u->type == DW_UT_split_type;
	if (is_type) {
		u->signature = cursor_u64(&h);
		u->type_die = u->off + read_offset(&h, u->off_size);
	} else if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile) {
		cursor_u64(&h);		/* DWO id */
	}
	u->root = u->end - cursor_left(&h);
	if (h.bad || u->version < 2 || u->version > 5 ||
	    (u->addr_size != 4 && u->addr_size != 8))
		u->root = u->end;	/* known by length only */
	return true;
}

static int read_section(struct dwarf *d, struct span s, bool types)
{
	struct cursor c = cursor_of(s.p, s.n);

	while (cursor_left(&c) > 4 && d->units.n < UINT32_MAX - 1) {
		struct dwarf_unit u = { .in_types = types, .base = 0,
					.stmt_list = UINT64_MAX };

		if (!read_header(&c, &u)) {
			dwarf_damage(d, types ? ".debug_types: bad unit"
					      : ".debug_info: bad unit",
				     u.off);
			break;
		}
		if (u.root == u.end)
			dwarf_damage(d, ".debug_info: unit of unknown kind",
				     u.off);
		if (vec_push(&d->units, u) < 0)
			return -ERR_NOMEM;
		if (u.signature) {
			uint32_t *slot = u64map_slot(&d->signatures,
						     u.signature);

			if (!slot)
				return -ERR_NOMEM;
			if (*slot == U64MAP_NONE)
				*slot = (uint32_t)(d->units.n - 1);
		}
	}
	return 0;
}

struct dwarf_unit *dwarf_unit_at(struct dwarf *d, uint64_t die)
{
	bool types = die & DIE_IN_TYPES;
	uint64_t off = die & ~DIE_IN_TYPES;
	size_t lo = types ? d->ninfo : 0;
	size_t hi = types ? d->units.n : d->ninfo;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->units.v[mid].end <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == (types ? d->units.n : d->ninfo) || off < d->units.v[lo].off)
		return NULL;
	return &d->units.v[lo];
}

static bool is_gnu(const char *producer)
{
	return producer && !strncmp(producer, "GNU ", 4) &&
	       (!strncmp(producer + 4, "C", 1) ||
		!strncmp(producer + 4, "GIMPLE", 6));
}

int dwarf_unit_root(struct dwarf *d, struct dwarf_unit *u, struct dwarf_work *w)
{
	struct dwarf_die die;
	uint64_t base;

	if (u->rooted)
		return 0;
	u->rooted = true;
	if (u->root >= u->end)
		return 0;
	u->abbrevs = abbrev_table_get(d, u);
	if (!u->abbrevs || !dwarf_die_at(d, u, u->root, &die)) {
		u->abbrevs = NULL;
		dwarf_work_damage(w, "unit without a readable first entry",
				  u->off);
		return 0;
	}
	u->str_base = dwarf_number(&die, SLOT_STR_BASE, 0);
	u->addr_base = dwarf_number(&die, SLOT_ADDR_BASE, 0);
	u->rng_base = dwarf_number(&die, SLOT_RNG_BASE, 0);
	u->stmt_list = dwarf_number(&die, SLOT_STMT_LIST, UINT64_MAX);
	u->comp_dir = dwarf_string(d, u, &die, SLOT_COMP_DIR);
	if (dwarf_address(d, u, &die, SLOT_LOW, &base))
		u->base = base;
	if (is_gnu(dwarf_string(d, u, &die, SLOT_PRODUCER))) {
		u->gnu = true;
		u->abbrevs = abbrev_table_get(d, u);
	}
	dwarf_die_ranges(d, u, &die, w);
	return 0;
}

/* The ranges of every unit's root DIE. */
static int index_roots(struct dwarf *d, struct dwarf_work *w)
{
	size_t i, k;

	for (i = 0; i < d->ninfo; i++) {
		struct dwarf_unit *u = &d->units.v[i];

		if (u->type == DW_UT_type || u->type == DW_UT_split_type)
			continue;
		w->pairs.n = 0;
		dwarf_unit_root(d, u, w);
		for (k = 0; k < w->pairs.n; k++) {
			u->ranged = true;
			if (range_index_add(&d->cover, w->pairs.v[k].lo,
					    w->pairs.v[k].hi, i) < 0)
				return -ERR_NOMEM;
		}
	}
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
	uint64_t n = read_length(c, &off_size), at;
	struct cursor h = cursor_sub(c, n);
	size_t head;

	cursor_u16(&h);		/* version */
	at = read_offset(&h, off_size);
	addr_size = cursor_u8(&h);
	seg = cursor_u8(&h);
	if (h.bad || seg || (addr_size != 4 && addr_size != 8))
		return 0;
	u = dwarf_unit_at(d, at);
	if (!u || has_ranges(u) || u->off != at)
		return 0;
	head = (off_size == 8 ? 12 : 4) + cursor_offset(&h);
	cursor_skip(&h, (2u * addr_size - head % (2u * addr_size)) %
			(2u * addr_size));
	while (!h.bad) {
		uint64_t lo = read_offset(&h, addr_size);
		uint64_t len = read_offset(&h, addr_size);

		if (h.bad || (!lo && !len))
			break;
		if (dwarf_is_code(d, lo, lo + len) &&
		    range_index_add(&d->cover, lo, lo + len,
				    (uint64_t)(u - d->units.v)) < 0)
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

	for (i = 0; i < d->ninfo && has_ranges(&d->units.v[i]); i++)
		;
	if (i == d->ninfo)
		return 0;
	s = image_section(img, ".debug_aranges");
	c = cursor_of(s.p, s.n);
	while (cursor_left(&c) > 4)
		if (read_arange_set(d, &c) < 0)
			return -ERR_NOMEM;
	for (i = 0; i < d->cover.n; i++)
		d->units.v[d->cover.v[i].id].ranged = true;
	return 0;
}

/* A string section, cut so that it ends with NUL. */
static struct span string_section(struct image *img, const char *name)
{
	struct span s = image_section(img, name);

	while (s.n && s.p[s.n - 1])
		s.n--;
	return s;
}

static void open_sections(struct dwarf *d, struct image *img)
{
	static const char *const wanted[] = {	/* large ones first */
		".debug_info", ".debug_line", ".debug_str", ".debug_rnglists",
		".debug_ranges", ".debug_abbrev", ".debug_line_str",
		".debug_str_offsets", ".debug_addr",
	};

	image_prefetch(img, wanted, sizeof(wanted) / sizeof(*wanted));
	d->info = image_section(img, ".debug_info");
	d->types = image_section(img, ".debug_types");
	d->abbrev = image_section(img, ".debug_abbrev");
	d->line = image_section(img, ".debug_line");
	d->line_str = string_section(img, ".debug_line_str");
	d->str = string_section(img, ".debug_str");
	d->str_offsets = image_section(img, ".debug_str_offsets");
	d->addr = image_section(img, ".debug_addr");
	d->ranges = image_section(img, ".debug_ranges");
	d->rnglists = image_section(img, ".debug_rnglists");
}

int dwarf_open(struct dwarf *d, struct image *img)
{
	struct dwarf_work w;
	int rc;

	open_sections(d, img);
	d->abbrev_budget = WORK_FREE + 4 * (uint64_t)d->abbrev.n;
	if (!image_code_range(img, &d->code_lo, &d->code_hi))
		d->code_lo = d->code_hi = 0;
	dwarf_work_init(d, &w);
	rc = read_section(d, d->info, false);
	d->ninfo = d->units.n;
	if (!rc)
		rc = read_section(d, d->types, true);
	if (!rc)
		rc = index_roots(d, &w);
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

static void unit_fini(struct dwarf_unit *u)
{
	range_index_fini(&u->funcs);
	vec_fini(&u->lines.dirs);
	vec_fini(&u->lines.files);
	vec_fini(&u->lines.seqs);
	range_index_fini(&u->lines.index);
	vec_fini(&u->lines.offsets);
	vec_fini(&u->lines.rows);
}

void dwarf_fini(struct dwarf *d)
{
	size_t i;

	for (i = 0; i < d->units.n; i++)
		unit_fini(&d->units.v[i]);
	for (i = 0; i < d->abbrevs.n; i++)
		abbrev_table_free(d->abbrevs.v[i]);
	vec_fini(&d->units);
	vec_fini(&d->abbrevs);
	vec_fini(&d->names);
	range_index_fini(&d->cover);
	u64map_fini(&d->abbrev_tab);
	u64map_fini(&d->signatures);
	u64map_fini(&d->name_tab);
	arena_fini(&d->strings);
}
